"""make doctor: what is installed and what is missing, with a command to fix each problem.

Uses only the standard library, so that it runs before anything is installed.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from ..core.errors import MACHINE, PASSED, USAGE
from ..core.toolkit import broken_nvcc, find_clang, find_compiler, find_nvcc, program_of

_PROBE = '#include "warpbook.cuh"\nLAUNCH(probe) { launch->block = 32; launch->grid = ceil_div(n, 32); }\n'
_GPU_PROBE = """
import ctypes, sys
driver = ctypes.CDLL("libcuda.so.1")
status = driver.cuInit(0)
if status: sys.exit(f"cuInit returns error {status}")
count, version, name = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(128)
driver.cuDeviceGetCount(ctypes.byref(count))
if not count.value: sys.exit("the driver finds no GPU")
driver.cuDriverGetVersion(ctypes.byref(version))
driver.cuDeviceGetName(name, 128, 0)
release = f"{version.value // 1000}.{version.value % 1000 // 10}"
print(f"{name.value.decode(errors='replace')}, driver for CUDA {release}")
"""
_NEEDED_MIB = 1024
_INSTALL = ("-m", "pip", "install", "-r")


@dataclass(frozen=True)
class Check:
    """One check."""

    name: str
    state: str  # "ok", "missing" (must be fixed), "absent" (only for extras), "later" (make installs it)
    detail: str
    remedy: str = ""


def main(arguments: list[str]) -> int:
    """The command `doctor`: run the checks, print a page or (`--json`) a document, and return the exit status."""
    if arguments not in ([], ["--json"]):
        print("warpbook: doctor takes no arguments except --json", file=sys.stderr)
        return USAGE
    root = _root()
    packaged = os.environ.get("WARPBOOK_COMMAND") == "warpbook"  # with its programs ready, and no make
    checks = [look(root) for look in _LOOKS if not (packaged and look in (_look_make, _look_compiler))]
    bad = [check for check in checks if check.state == "missing"]
    if arguments:
        document = {
            "schema": "warpbook/doctor/1",
            "ok": not bad,
            "checks": [asdict(check) for check in checks],
        }
        print(json.dumps(document, indent=2))
        return MACHINE if bad else PASSED
    colours = {"ok": "32", "missing": "1;31", "absent": "2", "later": "2"}
    coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for check in checks:
        word = f"{check.state:<8}"
        if coloured:
            word = f"\033[{colours[check.state]}m{word}\033[0m"
        print(f"  {check.name:<13} {word} {check.detail}")
        if check.remedy:
            print(f"  {'':<13} {'':<8} -> {check.remedy}")
    print(
        "Everything needed is installed."
        if not bad
        else f"{len(bad)} to fix; the command after each arrow fixes it."
    )
    return MACHINE if bad else PASSED


def _root() -> Path:
    here = Path.cwd()
    return here if (here / "common" / "include").is_dir() else Path(__file__).resolve().parents[2]


def _run(command: list[str], seconds: float = 30, folder: Path | None = None) -> tuple[int, str]:
    """Exit status and output; 127 if the program cannot be started, 124 if it does not end."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            cwd=folder,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return 124, f"no answer within {seconds:g} s"
    except OSError as error:
        return 127, str(error)
    return done.returncode, (done.stdout + done.stderr).strip()


def _last(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no output"


def _look_make(root: Path) -> Check:
    status, output = _run(["make", "--version"])
    version = re.search(r"GNU Make (\d+)\.(\d+)", output)
    if status != 0 or not version:
        return Check("make", "missing", "GNU Make is not on PATH", "apt-get install make")
    if (int(version[1]), int(version[2])) < (4, 2):
        return Check(
            "make", "missing", f"{version[0]} is too old; 4.2 or newer is needed", "apt-get install make"
        )
    return Check("make", "ok", version[0])


def _look_compiler(root: Path) -> Check:
    for name in [os.environ.get("CC", ""), "cc", "gcc", "clang"]:
        command = name.split()
        if not command or not shutil.which(command[0]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "probe.c")
            source.write_text(
                '#include <stdio.h>\n#include <math.h>\nint main(void) { return puts("") < 0; }\n'
            )
            libraries = ["-lm", "-lpthread", "-ldl"]
            status, output = _run([*command, "-std=gnu17", "-o", f"{folder}/probe", str(source), *libraries])
        if status == 0:
            version = _run([*command, "--version"])[1].splitlines()
            return Check("C compiler", "ok", f"{name}: {version[0] if version else ''}")
        return Check("C compiler", "missing", f"{name} does not compile a C17 program: {_last(output)}",
                     "apt-get install gcc libc6-dev")  # fmt: skip
    return Check(
        "C compiler", "missing", "none of cc, gcc, clang is on PATH", "apt-get install gcc libc6-dev"
    )


def _look_python(root: Path) -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    return Check("Python", "ok", version)


def _look_environment(root: Path) -> Check:
    folder = os.environ.get("WARPBOOK_VENV", ".venv")
    python = Path(sys.executable) if not folder else root / folder / "bin" / "python"
    if not folder or python.exists():
        status, _ = _run([str(python), "-c", "import jinja2, rich, typer"])
        if status == 0:
            return Check("packages", "ok", f"in {folder}" if folder else f"{python}'s own")
        if not folder:
            return Check("packages", "missing", f"{python} lacks jinja2, rich or typer",
                         shlex.join([str(python), *_INSTALL, "requirements/runtime.txt"]))  # fmt: skip
        # `make ch01` alone makes the environment for a compiler, and leaves the rest to the command that needs it.
        is_whole = _run([str(python), "-c", "import pip"])[0] == 0
        if not is_whole or (root / folder / ".installed-runtime").exists():
            return Check(
                "packages", "missing", f"{folder} is broken", f"rm -rf -- {shlex.quote(folder)} && make setup"
            )
        return Check("packages", "later", f"make installs them in {folder} on first use")
    if _run([sys.executable, "-c", "import venv, ensurepip"])[0] != 0:
        return Check(
            "packages", "missing", "Python's venv module is incomplete", "apt-get install python3-venv"
        )
    return Check("packages", "later", f"make installs them in {folder} on first use")


def _look_screen(root: Path) -> Check:
    folder = os.environ.get("WARPBOOK_VENV", ".venv")
    python = Path(sys.executable) if not folder else root / folder / "bin" / "python"
    status, _ = _run([str(python), "-c", "import prompt_toolkit, watchfiles"])
    if status == 0:
        return Check("make watch", "ok", "prompt_toolkit and watchfiles")
    if folder:
        return Check("make watch", "later", "make installs prompt_toolkit and watchfiles")
    return Check("make watch", "absent", f"{python} lacks prompt_toolkit or watchfiles",
                 shlex.join([str(python), *_INSTALL, "requirements/runtime.txt"]))  # fmt: skip


def _look_nvcc(root: Path) -> Check:
    nvcc, broken = find_nvcc(root), broken_nvcc(root)
    note = f"; {broken} does not work: it does not print its version" if broken else ""
    if nvcc is None:
        asked = os.environ.get("WARPBOOK_COMPILER")
        if asked == "nvcc" and not os.environ.get("WARPBOOK_VENV", ".venv"):
            remedy = shlex.join([sys.executable, *_INSTALL, "requirements/nvcc.txt"])
            return Check("nvcc", "missing", f"not here{note}", remedy)
        if asked == "nvcc":
            return Check("nvcc", "later", f"make installs NVIDIA's wheels on first use (100 MB){note}")
        return Check("nvcc", "absent", f"not needed: clang compiles kernels{note}")
    version = re.search(r"release (\d+)\.(\d+)", _run([str(nvcc), "--version"])[1])
    if not version:
        return Check("nvcc", "missing", f"{nvcc} does not print its version", "unset NVCC WARPBOOK_NVCC")
    if int(version[1]) < 12:
        return Check("nvcc", "missing", f"{nvcc} is release {version[1]}.{version[2]}; 12 or newer is needed",
                     "make COMPILER=clang setup")  # fmt: skip
    return Check("nvcc", "ok", f"{version[1]}.{version[2]} at {nvcc}{note}")


def _look_clang(root: Path) -> Check:
    clang, compiler = find_clang(root), find_compiler(root)
    if clang is None:
        if compiler is not None:
            return Check("clang", "absent", f"not needed: {compiler.name} compiles kernels")
        if os.environ.get("WARPBOOK_VENV", ".venv"):
            return Check(
                "clang", "later", "make installs Zig's, which has the NVPTX target, on first use (100 MB)"
            )
        remedy = shlex.join([sys.executable, *_INSTALL, "requirements/clang.txt"])
        return Check("clang", "missing", "not here", remedy)
    command = [str(clang), *(["clang"] if clang.name == "zig" else []), "--version"]
    version = re.search(r"clang version ([\d.]+)", _run(command)[1])
    if not version:
        return Check("clang", "missing", f"{clang} does not run", "make clean && make setup")
    return Check("clang", "ok", f"{version[1]} at {clang}")


def _look_probe(root: Path) -> Check:
    compiler = find_compiler(root)
    if compiler is None:
        return Check("a kernel", "later", "compiled once a compiler is installed")
    if compiler.name == "clang":
        return _probe_clang(root)
    nvcc = compiler.path
    stand_in = root / "build" / "ccbin"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "probe.cu").write_text(_PROBE)
        # Relative names: nvcc does not accept paths with quotation marks or blanks everywhere.
        (folder / "include").symlink_to(root / "common" / "include")
        command = [str(nvcc), "-ptx", "-arch=compute_80", "-Iinclude", "-o", "probe.ptx", "probe.cu"]
        if (stand_in / "gcc").is_file():
            (folder / "ccbin").symlink_to(stand_in)
            command += ["-ccbin", "ccbin"]
        status, output = _run(["env", "TMPDIR=.", *command], 60, folder)
    if status == 0:
        how = " with the C compiler alone (mk/host)" if (stand_in / "gcc").is_file() else ""
        return Check("a kernel", "ok", f"nvcc compiles one{how}")
    remedy = (
        "apt-get install g++"
        if "cc1plus" in output or "host compiler" in output
        else "make clean && make setup"
    )
    if not (root / "build" / "config.mk").exists() and "cc1plus" in output:
        return Check("a kernel", "later", "no C++ compiler; make sets up its stand-in for nvcc on first use")
    return Check("a kernel", "missing", f"nvcc does not compile one: {_last(output)}", remedy)


def _probe_clang(root: Path) -> Check:
    """The compile step itself, once it is built: it knows the command line."""
    tool = root / "build" / "bin" / "compile"
    if not tool.is_file():
        return Check("a kernel", "later", "compiled with clang once the workbook is built")
    with tempfile.TemporaryDirectory() as name:
        source = Path(name, "kernel.cu")
        source.write_text(_PROBE)
        status, output = _run([str(tool), str(source), f"{name}/out", "--quiet"], 60, root)
    if status == 0:
        return Check("a kernel", "ok", "clang compiles one")
    return Check(
        "a kernel", "missing", f"clang does not compile one: {_last(output)}", "make clean && make setup"
    )


def _look_ptxas(root: Path) -> Check:
    nvcc = find_nvcc(root)
    beside = str(program_of(nvcc).with_name("ptxas")) if nvcc else None
    path = beside if beside and os.access(beside, os.X_OK) else shutil.which("ptxas")
    if path is None:
        if nvcc is None:
            return Check("ptxas", "absent", "comes with nvcc; without it, registers are estimated")
        return Check("ptxas", "missing", "comes with nvcc", "make clean && make setup")
    version = re.search(r"V(\d+\.\d+\.\d+)", _run([path, "--version"])[1])
    if not version and nvcc is None:
        words = f"{path} does not work: it does not print its version; registers are estimated"
        return Check("ptxas", "absent", words)
    return Check("ptxas", "ok", f"{version[1]} at {path}" if version else path)


def _look_gpu(root: Path) -> Check:
    status, output = _run([sys.executable, "-c", _GPU_PROBE], 60)
    if status == 0:
        return Check("GPU", "ok", _last(output))
    why = "no libcuda.so.1 on this machine" if "libcuda.so.1" in output else _last(output)
    return Check("GPU", "absent", f"{why}; the emulator runs everything")


def _look_disk(root: Path) -> Check:
    where = root / "build" if (root / "build").is_dir() else root
    free = shutil.disk_usage(where).free // 2**20
    try:
        with tempfile.TemporaryFile(dir=where):
            pass
    except OSError as error:
        return Check(
            "disk", "missing", f"cannot write to {where}: {error.strerror}", f"sudo chown -R $USER {where}"
        )
    if free < _NEEDED_MIB:
        return Check("disk", "missing", f"{free:,} MiB free; {_NEEDED_MIB:,} are needed", "make clean")
    return Check("disk", "ok", f"{free / 1024:,.0f} GiB free")


def _look_sandbox(root: Path) -> Check:
    try:
        from ..core.sandbox import find_bubblewrap, obstacle
    except ImportError:
        return Check("bubblewrap", "absent", "not needed: there is no class mode in this workbook")
    found = obstacle()
    if found is None:
        version = _run([find_bubblewrap() or "bwrap", "--version"])[1]
        return Check("bubblewrap", "ok", f"{version}; make class compiles and judges in a sandbox")
    return Check("bubblewrap", "absent", f"{found.words}; for make class only", found.remedy)


_LOOKS: list[Callable[[Path], Check]] = [
    _look_make,
    _look_compiler,
    _look_python,
    _look_environment,
    _look_screen,
    _look_nvcc,
    _look_clang,
    _look_probe,
    _look_ptxas,
    _look_gpu,
    _look_disk,
    _look_sandbox,
]
