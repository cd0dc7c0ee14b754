"""The table's files as PTX: the same text goes to the GPU and to the emulator."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.table import ROOT

FOLDER = ROOT / "build" / "record"


class CompileError(Exception):
    """nvcc or ptxas refused."""


def tool(name: str) -> str:
    """A program of the toolkit: beside NVCC, on PATH, or in the usual folders."""
    beside = Path(os.environ.get("WARPBOOK_NVCC") or os.environ.get("NVCC") or "nvcc").parent
    wheels = sorted((ROOT / ".venv").glob("lib/python3*/site-packages/nvidia/cu13/bin"))
    nsight = sorted(Path("/opt/nvidia/nsight-compute").glob("*"), reverse=True)
    for folder in (beside, None, Path("/usr/local/cuda/bin"), *wheels, *nsight):
        found = shutil.which(name, path=folder and str(folder))
        if found:
            return found
    raise CompileError(f"{name} is missing: make doctor says where to get it")


def _run(command: list[str]) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise CompileError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def ptx_of(source: Path) -> Path:
    """Where a file's PTX lies."""
    return FOLDER / f"{source.parent.name}-{source.stem}.ptx"


def compile_one(source: Path) -> Path:
    """Compiles a file unless its PTX is newer than all it includes."""
    output = ptx_of(source)
    needs = [source, *source.parent.glob("*.cuh"), *(ROOT / "common" / "include").glob("*.cuh")]
    if not output.exists() or output.stat().st_mtime < max(path.stat().st_mtime for path in needs):
        FOLDER.mkdir(parents=True, exist_ok=True)
        # Those flags of common/driver/build/compile.c that change the code.
        flags = ["-std=c++17", "-ptx", "-arch=compute_80", "-lineinfo", "-Icommon/include"]
        scratch = output.with_suffix(f".{os.getpid()}.tmp")
        _run([tool("nvcc"), *flags, "-o", str(scratch), str(source.relative_to(ROOT))])
        scratch.replace(output)
    return output


def compile_all(sources: Iterable[Path]) -> dict[Path, Path]:
    """Each file's PTX."""
    wanted = sorted(set(sources))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(wanted, pool.map(compile_one, wanted), strict=True))


def entry_named(name: str, entries: Iterable[str]) -> str | None:
    """The entry that a file calls `name`: by that name, or as C++ mangles it."""
    mangled = f"_Z{len(name)}{name}"
    return next((entry for entry in entries if entry == name or entry.startswith(mangled)), None)


@functools.cache
def entries_of(ptx: Path) -> list[str]:
    """The kernels of a PTX file."""
    return re.findall(r"^\s*(?:\.visible\s+)?\.entry\s+(\w+)\s*\(", ptx.read_text(), re.MULTILINE)


@functools.cache
def _bodies(ptx: Path) -> dict[str, str]:
    parts = re.split(r"\.entry\s+(\w+)\s*\(", ptx.read_text())
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def reads_register(ptx: Path, kernel: str, register: str) -> bool:
    """Whether a kernel, or a function after it in the file, reads a special register."""
    bodies = _bodies(ptx)
    return register in bodies[entry_named(kernel, bodies) or ""]


def ptxas_figures(ptx: Path, architecture: str = "sm_90") -> dict[str, dict[str, int]]:
    """Of every kernel: registers, spilled bytes stored and loaded, bytes of static shared memory."""
    with tempfile.TemporaryDirectory() as folder:  # not /dev/null: ptxas removes its output when it fails
        words = _run([tool("ptxas"), "-v", f"-arch={architecture}", str(ptx), "-o", f"{folder}/cubin"])
    figures: dict[str, dict[str, int]] = {}
    for part in re.split(r"Compiling entry function '", words)[1:]:
        spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", part)
        registers, shared = re.search(r"Used (\d+) registers", part), re.search(r"(\d+) bytes smem", part)
        if not registers:
            raise CompileError(f"{ptx.name}: ptxas tells no registers: {part}")
        figures[part.partition("'")[0]] = {
            "registers": int(registers[1]),
            "spill_store_bytes": int(spills[1]) if spills else 0,
            "spill_load_bytes": int(spills[2]) if spills else 0,
            "static_shared": int(shared[1]) if shared else 0,
        }
    return figures
