"""`make wheel`, and the build backend of pyproject.toml: the workbook as a Python package.

The package holds a tree, warpbook/tree, which is a checkout without tests and with its programs built, and a module
warpbook with the command. grader/packaged.py runs there. A wheel for a named target has programs that `make wheel`
built with zig; `pip install .` and the source distribution build them with this machine's C compiler.

As a backend (PEP 517, PEP 660) this file runs before anything is installed: only the standard library is imported.
"""

import argparse
import base64
import gzip
import hashlib
import io
import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path
from typing import Any

from ..core.distribution import Member, core_members, files_below, in_order, member_of, tar_bytes
from ..core.workbook import Workbook

_ROOT = Path(__file__).resolve().parents[2]
_TREE = "warpbook/tree/"
_PLATFORMS = {"gnu": "manylinux_{version}", "musl": "musllinux_1_2"}
_TARGET = re.compile(r"(x86_64|aarch64)-linux-(gnu|musl)(?:\.(\d+)\.(\d+))?")
_MODULE = '''"""The command warpbook, which is grader/packaged.py of the tree beside this file."""

import sys
from pathlib import Path


def main() -> None:
    """Run it."""
    sys.path.insert(0, str(Path(__file__).resolve().parent / "tree"))
    from grader.packaged import main as run

    run()


def load_ipython_extension(shell):
    """Add the magics of a notebook: %load_ext warpbook."""
    sys.path.insert(0, str(Path(__file__).resolve().parent / "tree"))
    from grader.learner.notebook import register

    register(shell)
'''
_EDITABLE = '''"""The command warpbook of a checkout, as its ./warpbook."""

import os
import sys

CHECKOUT = {root!r}


def main() -> None:
    """Run it."""
    os.environ["WARPBOOK_FOLDER"] = os.getcwd()
    os.chdir(CHECKOUT)
    sys.path.insert(0, CHECKOUT)
    from grader.__main__ import guarded

    sys.exit(guarded(sys.argv[1:]))
'''
_MAIN = "from . import main\n\nmain()\n"


class BuildError(Exception):
    """The programs cannot be built, or are not there."""


# ---- What a distribution contains -----------------------------------------------------------------------------


def source_members(root: Path) -> list[Member]:
    """The files of the tree except what is built; kernel.cu are the skeletons, and solutions are as in a checkout."""
    workbook = Workbook(root)
    members = core_members(workbook, workbook.chapters)
    for folder in ("docs", "solutions", "bench/records"):
        members += files_below(root, folder)
    for pattern in (
        "solutions/*/kernel.cu",
        "docs/experiments/*/*.cu",
        "docs/examples/*.cu",
        "docs/examples/*/*.cu",
    ):
        members += [member_of(root, path.relative_to(root)) for path in root.glob(pattern)]
    members.append(member_of(root, "mkdocs.yml"))
    return in_order(members)


def built_members(root: Path, out: Path) -> list[Member]:
    """The programs and the runtime library that make has put into `out`. Raises BuildError if one is missing."""
    chapters = [chapter.name for chapter in Workbook(root).chapters]
    tools = {"compile", "emulate", "keep"} | {
        path.name for path in (out / "bin").glob("[a-z]*") if "." not in path.name
    }
    names = [*(f"programs/{name}" for name in chapters), *(f"bin/{name}" for name in sorted(tools))]
    missing = [name for name in names if not (out / name).is_file()]
    if missing:
        raise BuildError(f"{out} has no {', '.join(missing)}; make wheel builds them")
    library = out / "lib" / "cudart" / "libcudart.so"
    members = [Member(f"build/{name}", (out / name).read_bytes(), is_program=True) for name in names]
    if library.is_file():
        members += [
            Member(f"build/lib/cudart/{name}", library.read_bytes())
            for name in ("libcudart.so", "libcudart.so.13")
        ]
    return members


# ---- Wheels -----------------------------------------------------------------------------------------------------


def platform_of(target: str) -> str:
    """The platform tag of a target of zig; of this machine for ""."""
    if not target:
        return re.sub(r"[-.]", "_", sysconfig.get_platform())
    match = _TARGET.fullmatch(target)
    if not match or (match[2] == "gnu") != bool(match[3]):
        raise BuildError(
            f"the target is x86_64- or aarch64-linux-musl, or -linux-gnu with a release of glibc, such as "
            f"x86_64-linux-gnu.2.28, not {target}"
        )
    version = f"{match[3]}_{match[4]}"
    return f"{_PLATFORMS[match[2]].format(version=version)}_{match[1]}"


def write_wheel(root: Path, out: Path, platform: str, folder: Path) -> Path:
    """Write the wheel with the programs in `out`; the same files give the same bytes with one release of zlib."""
    members = [
        Member("warpbook/__init__.py", _MODULE.encode()),
        Member("warpbook/__main__.py", _MAIN.encode()),
        *(
            Member(_TREE + member.name, member.content, member.is_program)
            for member in [*source_members(root), *built_members(root, out)]
        ),
    ]
    return _write(root, members, platform, folder)


def _write(root: Path, members: list[Member], platform: str, folder: Path) -> Path:
    project = _project(root)
    stem = f"{project['name']}-{project['version']}"
    tag = f"py3-none-{platform}"
    info = f"{stem}.dist-info"
    pure = "true" if platform == "any" else "false"
    members = in_order(
        [
            *members,
            Member(f"{info}/METADATA", metadata(root).encode()),
            Member(
                f"{info}/WHEEL",
                f"Wheel-Version: 1.0\nGenerator: warpbook\nRoot-Is-Purelib: {pure}\nTag: {tag}\n".encode(),
            ),
            Member(f"{info}/entry_points.txt", b"[console_scripts]\nwarpbook = warpbook:main\n"),
            Member(f"{info}/licenses/LICENSE", (root / "LICENSE").read_bytes()),
        ]
    )
    rows = [f"{member.name},sha256={_digest(member.content)},{len(member.content)}\n" for member in members]
    members.append(Member(f"{info}/RECORD", ("".join(rows) + f"{info}/RECORD,,\n").encode()))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in members:
            entry = zipfile.ZipInfo(member.name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3  # Unix, so that the mode applies
            entry.external_attr = (stat.S_IFREG | (0o755 if member.is_program else 0o644)) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, member.content)
    return path


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def _project(root: Path) -> dict[str, Any]:
    with open(root / "pyproject.toml", "rb") as file:
        found: dict[str, Any] = tomllib.load(file)["project"]
    return found


def metadata(root: Path) -> str:
    """The core metadata (version 2.1) of pyproject.toml's table [project]."""
    project = _project(root)
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Classifier: {one}" for one in project.get("classifiers", [])),
        *(f"Requires-Dist: {one}" for one in project["dependencies"]),
    ]
    for extra, packages in project.get("optional-dependencies", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {one} ; extra == "{extra}"' for one in packages]
    return "\n".join(lines) + "\n"


# ---- The build backend ------------------------------------------------------------------------------------------


def build_wheel(
    wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None
) -> str:
    """Build the programs with this machine's C compiler, and write the wheel (PEP 517)."""
    out = Path("build/wheel/native")
    command = [
        "make",
        "-s",
        f"-j{os.cpu_count() or 1}",
        f"OUT={out}",
        f"PYTHON={sys.executable}",
        "VENV=",
        "LDFLAGS=-s",
        "package-parts",
    ]
    if shutil.which("make") is None:
        raise BuildError(
            "building from source needs make and a C compiler; on Debian or Ubuntu: apt-get install make gcc libc6-dev"
        )
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    }
    done = subprocess.run(command, cwd=_ROOT, env=environment, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise BuildError(f"make ended with status {done.returncode}; see the lines above")
    return write_wheel(_ROOT, _ROOT / out, platform_of(""), Path(wheel_directory)).name


def build_editable(
    wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None
) -> str:
    """Write a wheel whose command runs in this checkout (PEP 660); make builds the programs on first use."""
    members = [
        Member("warpbook/__init__.py", _EDITABLE.format(root=str(_ROOT)).encode()),
        Member("warpbook/__main__.py", _MAIN.encode()),
    ]
    return _write(_ROOT, members, "any", Path(wheel_directory)).name


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    """Write the source distribution (PEP 517)."""
    return write_sdist(_ROOT, Path(sdist_directory)).name


def write_sdist(root: Path, folder: Path) -> Path:
    """The tree as warpbook-VERSION.tar.gz."""
    project = _project(root)
    stem = f"{project['name']}-{project['version']}"
    members = [*source_members(root), Member("PKG-INFO", metadata(root).encode())]
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
        file.write(tar_bytes(members, f"{stem}/"))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}.tar.gz"
    path.write_bytes(packed.getvalue())
    return path


def main(arguments: list[str]) -> int:
    """Write the wheel of a target whose programs are built, or the source distribution."""
    parser = argparse.ArgumentParser(prog="python -m grader.authoring.wheel", description=__doc__)
    parser.add_argument("--target", default="", help="what zig built the programs for")
    parser.add_argument("--programs", type=Path, help="where they are")
    parser.add_argument("--sdist", action="store_true", help="write the source distribution")
    parser.add_argument("--out", type=Path, default=Path("build/dist"), help="where to write")
    asked = parser.parse_args(arguments)
    try:
        if asked.sdist:
            path = write_sdist(_ROOT, asked.out)
        else:
            path = write_wheel(_ROOT, asked.programs, platform_of(asked.target), asked.out)
    except (BuildError, OSError) as error:
        print(f"warpbook: {error}", file=sys.stderr)
        return 3
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
