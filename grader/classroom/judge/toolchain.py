"""What compiling a kernel.cu takes of this machine: the CUDA compiler, the C compiler that it preprocesses with."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from ...core.errors import MachineError
from ...core.toolkit import find_compiler, program_of
from ...core.workbook import Workbook

# Parts of a CUDA toolkit, and of a compiler installed outside the system's folders.
_CUDA_PARTS = ("bin", "nvvm", "include", "targets")
_COMPILER_PARTS = ("bin", "lib", "lib64", "libexec", "include")
# What a distribution's own package puts into /usr/bin.
_CUDA_PROGRAMS = ("nvcc", "nvcc.profile", "ptxas", "cudafe++", "fatbinary", "nvlink", "cicc")
_HOST_COMPILERS = ("gcc", "g++", "clang++", "clang", "c++", "cc")
_SCRIPTED = ("dirname",)  # programs that build/ccbin/gcc calls
# What makes a whole program of what the C++ compiler writes, and what finds its lines.
_BINUTILS = ("as", "ld", "addr2line")
_SYSTEM = Path("/usr")
_HEADERS = (Path("/usr/include"), Path("/usr/local/include"))


@dataclass(frozen=True)
class Toolchain:
    """Files and folders to show to the compile stage, and the variables that name them."""

    shown: tuple[Path, ...]  # at their own places, read-only
    environment: dict[str, str]
    stand_in: Path | None  # build/ccbin, where the machine has no C++ compiler


def find_toolchain(workbook: Workbook) -> Toolchain:
    """The compilers that ./chNN would take. Raises MachineError where there are none."""
    compiler = find_compiler(workbook.root)
    if compiler is None:
        raise MachineError(
            "there is no CUDA compiler (nvcc or clang) on this machine; to download one, run: make tools"
        )
    if compiler.name == "clang":
        return _of_clang(compiler.path.resolve())
    nvcc = program_of(compiler.path)
    environment = {"WARPBOOK_COMPILER": "nvcc", "WARPBOOK_NVCC": str(nvcc)}
    shown = [path for path in _HEADERS if path.is_dir()]
    shown += _parts(nvcc, _CUDA_PARTS, _CUDA_PROGRAMS)
    shown += [path.resolve() for path in [nvcc.with_name("nvcc.profile")] if path.is_symlink()]
    folders = ["/usr/bin", "/bin"]
    stand_in = workbook.build / "ccbin"
    wanted = os.environ.get("NVCC_CCBIN", "")  # a program, or the folder of one
    if wanted and (Path(wanted).is_dir() or shutil.which(wanted)):
        environment["NVCC_CCBIN"] = wanted
    beside = f"{wanted}/gcc" if wanted and Path(wanted).is_dir() else wanted
    for name in [beside, *_HOST_COMPILERS]:
        for program in _everywhere(name):
            shown += [program, *_parts(program.resolve(), _COMPILER_PARTS, ())]
            folders.append(str(program.parent))
    shown += [Path(found) for name in _BINUTILS if (found := shutil.which(name, path="/usr/bin:/bin"))]
    if (stand_in / "gcc").is_file():  # a shell script
        shown += [Path(found) for name in _SCRIPTED if (found := shutil.which(name))]
    environment["PATH"] = ":".join(dict.fromkeys(folders))
    return Toolchain(
        tuple(dict.fromkeys(shown)), environment, stand_in if (stand_in / "gcc").is_file() else None
    )


def _of_clang(clang: Path) -> Toolchain:
    """Zig's clang is one file; a distribution's has libraries beside it. Its headers are the workbook's."""
    shown = (clang,) if clang.name == "zig" else (clang, *_parts(clang, _COMPILER_PARTS, ()))
    environment = {"WARPBOOK_COMPILER": "clang", "WARPBOOK_CLANG": str(clang), "PATH": "/usr/bin:/bin"}
    return Toolchain(shown, environment, None)


def _everywhere(name: str) -> list[Path]:
    """All programs of that name on PATH: the first may be a script or a cache that calls the next."""
    if os.sep in name:
        return [Path(found)] if (found := shutil.which(name)) else []
    folders = os.get_exec_path() if name else []
    return [Path(found) for folder in folders if (found := shutil.which(name, path=folder))]


def _parts(program: Path, folders: tuple[str, ...], beside: tuple[str, ...]) -> list[Path]:
    """The files that belong to a program: those named in its folder, or itself and its companions in a system folder.

    The libraries and headers of the system are shown in any case.
    """
    root = program.parent.parent
    if root in (_SYSTEM, Path("/")):
        return [program, *(path for name in beside if (path := program.with_name(name)).exists())]
    if root in homes() or program.is_relative_to("/usr/lib"):
        return [program]
    return [path for name in folders if (path := root / name).is_dir()]


def homes() -> tuple[Path, ...]:
    """Folders of the teacher, from which only a program itself may be shown."""
    try:
        home = Path.home().resolve()
    except RuntimeError:  # no HOME, and a user whom the machine does not know, as in some containers
        return ()
    return home, home / ".local"
