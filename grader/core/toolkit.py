"""NVIDIA's compiler on this machine: which nvcc is used, and the toolkit that it belongs to.

Uses only the standard library, because `make doctor` runs before anything is installed.
"""

import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Options that nvcc adds by itself. The workbook never runs the affected programs, so a mistake in them is
# harmless.
_FLAGS = ("NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS")


def find_nvcc(root: Path) -> Path | None:
    """The nvcc that ./chNN would use, or None, for the workbook at `root`, which may contain NVIDIA's wheels."""
    folder = os.environ.get("WARPBOOK_VENV", ".venv") or sys.prefix
    found = [os.environ.get("WARPBOOK_NVCC"), shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"]
    packages = root.joinpath(folder).glob("lib/python3*/site-packages")
    found += [str(path) for package in packages for path in sorted(package.glob("nvidia/cu*/bin/nvcc"))]
    return next(
        (Path(name) for name in found if name and os.access(name, os.X_OK) and Path(name).is_file()), None
    )


@functools.cache
def program_of(nvcc: Path) -> Path:
    """The compiler's real program if `nvcc` is a link or a script that calls it.

    Only nvcc itself knows: it prints the folder that it runs from (_HERE_) first.
    """
    resolved = nvcc.resolve()
    if resolved.name == "nvcc" and not _is_script(resolved):
        return resolved
    # Without a C compiler it prints nothing; it looks only for gcc.
    host = next(filter(None, map(shutil.which, ("gcc", "clang", "cc"))), None)
    command = [str(nvcc), "--dryrun", "-x", "cu", os.devnull, *(["-ccbin", host] if host else [])]
    try:
        done = subprocess.run(
            command, env={name: value for name, value in os.environ.items() if name not in _FLAGS},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=60,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return resolved  # running it reports the reason
    here = re.search(r"^#\$ _HERE_=(.+)$", done.stderr, re.MULTILINE)
    program = Path(here[1], "nvcc").resolve() if here else resolved
    return program if program.is_file() else resolved


def header_folder(nvcc: Path, name: str) -> Path | None:
    """The folder of a header that comes with `nvcc`, such as "cuda.h"; None if it is missing."""
    home = program_of(nvcc).parents[1]
    folders = [home / "include", *sorted(home.glob("targets/*/include")), Path("/usr/include")]
    places = [place for folder in folders for place in (folder / "cccl", folder)]
    return next((place for place in places if (place / name).is_file()), None)


def _is_script(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False
