"""Bubblewrap: a program sees only what it is shown, and ends together with everything that it started.

docs/isolation.md lists what each stage sees, and why.
"""

import functools
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from .errors import MachineError

BOOK = Path("/book")  # where a stage sees its part of the workbook
SCRATCH = Path("/tmp")
NOBODY = "65534"

# What every program needs: the loader and its libraries, a shell, something that copies.
_LIBRARIES = (
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libx32",
    "/usr/libexec",
    "/nix/store",
    "/gnu/store",
)
_ROOT_LINKS = ("/lib", "/lib32", "/lib64", "/libx32")
_PROGRAMS = ("sh", "cat")
_CACHE = "/etc/ld.so.cache"


@dataclass(frozen=True)
class View:
    """What a program sees. Everything is read-only except the scratch folder, which is in memory."""

    book: dict[str, Path | None]  # below BOOK: a file or folder of this machine; None: an empty folder
    system: tuple[Path, ...] = ()  # at their own places
    devices: tuple[Path, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    has_proc: bool = False  # its own processes in /proc; this machine's are in no one's
    scratch_bytes: int = 256 << 20
    hidden: tuple[Path, ...] = ()  # none of which may lie in what is shown of the system


def confine(view: View, command: list[str]) -> list[str]:
    """The command line that runs `command` in BOOK, where it sees only `view`. Raises MachineError."""
    words = [*_base(), "--chdir", str(BOOK)]
    # This comes first, or it would hide what is shown from this machine's folder of that name.
    words += ["--size", str(view.scratch_bytes)] if "--size" in known_options() else []
    words += ["--tmpfs", str(SCRATCH), "--dir", str(SCRATCH / "out")]
    words += ["--proc", "/proc"] if view.has_proc else []
    for device in (Path("/dev/null"), *view.devices):
        words += ["--dev-bind", str(device), str(device)]
    words += ["--symlink", str(SCRATCH), "/dev/shm"]  # LLVM's OpenMP runtime ends a program without it
    for path in view.system:
        _check(path, view.hidden)
        if not any(path.is_relative_to(folder) for folder in _LIBRARIES):  # already visible
            words += ["--ro-bind", str(path), str(path)]
    words += ["--dir", str(BOOK)]
    for name, source in sorted(view.book.items()):
        words += (
            ["--dir", str(BOOK / name)] if source is None else ["--ro-bind", str(source), str(BOOK / name)]
        )
    words += ["--remount-ro", "/"]
    for name, value in sorted(view.environment.items()):
        words += ["--setenv", name, value]
    return [*words, "--", *command]


def _base() -> list[str]:
    """Namespaces, and the parts of the system that every program needs."""
    program = find_bubblewrap()
    if program is None:
        raise MachineError("bubblewrap (bwrap) is not installed: apt-get install bubblewrap")
    words = [program, "--unshare-all", "--unshare-user", "--uid", NOBODY, "--gid", NOBODY]
    words += [
        "--hostname",
        "sandbox",
        "--cap-drop",
        "ALL",
        "--clearenv",
        "--new-session",
        "--die-with-parent",
    ]
    words += ["--disable-userns"] if "--disable-userns" in known_options() else []
    for folder in filter(os.path.isdir, _LIBRARIES):
        words += ["--ro-bind", folder, folder]
    for link in map(Path, _ROOT_LINKS):
        if link.is_symlink():
            words += ["--symlink", str(link.readlink()), str(link)]
        elif link.is_dir():
            words += ["--ro-bind", str(link), str(link)]
    for name in _PROGRAMS:
        found = shutil.which(name, path="/usr/bin:/bin") or f"/bin/{name}"
        words += ["--ro-bind", os.path.realpath(found), f"/bin/{name}"]
    return [*words, *(["--ro-bind", _CACHE, _CACHE] if Path(_CACHE).is_file() else [])]


def _check(path: Path, hidden: tuple[Path, ...]) -> None:
    """Refuse to show a folder that contains anything secret."""
    for secret in hidden:
        if secret.resolve().is_relative_to(path.resolve()):
            raise MachineError(
                f"the compiler in {path} cannot be used in a sandbox: {secret} is in the same folder. "
                "Install the compiler elsewhere, or name another with NVCC_CCBIN or WARPBOOK_NVCC"
            )


def find_bubblewrap() -> str | None:
    """The path of its program, or None."""
    return shutil.which("bwrap")


@functools.cache
def known_options() -> str:
    """The options that the installed version supports."""
    program = find_bubblewrap()
    if program is None:
        return ""
    return subprocess.run([program, "--help"], capture_output=True, text=True, timeout=20).stdout


@dataclass(frozen=True)
class Obstacle:
    """Why this machine cannot make a sandbox, and what to do about it."""

    words: str
    remedy: str


@functools.cache
def obstacle() -> Obstacle | None:
    """What prevents a sandbox here; None if one was just made successfully."""
    if find_bubblewrap() is None:
        return Obstacle("bubblewrap (bwrap) is not installed", "apt-get install bubblewrap")
    try:
        command = confine(View({}, has_proc=True), ["/bin/sh", "-c", "exit 42"])
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Obstacle(f"bubblewrap does not run here ({error})", _NAMESPACES)
    if done.returncode == 42:
        return None
    words = done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"]
    return Obstacle(f"bubblewrap cannot make a sandbox here ({words[-1][:200]})", _NAMESPACES)


def unavailable() -> str | None:
    """The same as sentences for the teacher; None if a sandbox works."""
    found = obstacle()
    if found is None:
        return None
    return (
        f"{found.words}. To fix it: {found.remedy}. To grade without a sandbox, on a machine that holds "
        "nothing to steal or break, trust the submissions: TRUST=1"
    )


# What to do if programs may not create user namespaces.
_NAMESPACES = (
    "allow user namespaces: on Ubuntu 24.04 and newer, sysctl kernel.apparmor_restrict_unprivileged_userns=0; on "
    "Debian, sysctl kernel.unprivileged_userns_clone=1; in Docker, --security-opt seccomp=unconfined --security-opt "
    "systempaths=unconfined --cap-add SYS_ADMIN"
)
