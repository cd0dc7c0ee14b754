"""The libraries that the references are measured beside: found where they are, named where they are not."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.core.toolkit import header_folder

from .compiling import CompileError, tool
from .gpu import Device
from .table import ROOT

SOURCE = Path(__file__).with_name("peers.cu")
_ADDRESS, _COUNT = ctypes.c_void_p, ctypes.c_longlong
_SUM = [_ADDRESS, ctypes.c_size_t, _ADDRESS, _ADDRESS, _COUNT, _ADDRESS]
_FUNCTIONS: dict[str, list[Any]] = {
    "peers_cub_sum": _SUM,
    "peers_cub_sum_not_guaranteed": _SUM,
    "peers_thrust_sum": _SUM,
    "peers_cub_row_sums": [_ADDRESS, ctypes.c_size_t, _ADDRESS, _ADDRESS, _COUNT, ctypes.c_int, _ADDRESS],
    "peers_cub_histogram": _SUM,
    "peers_cub_scan": _SUM,
    "peers_copy": [_ADDRESS, _ADDRESS, ctypes.c_size_t, _ADDRESS],
}


class MissingError(Exception):
    """A peer that is not installed here, and what would bring it."""


class PeersError(Exception):
    """A peer that refused."""


# ---- CUB and thrust --------------------------------------------------------------------------------------


def cccl_folders(build: Path) -> list[Path]:
    """Where CCCL's headers may lie besides the toolkit: what CCCL names, what `make bench` fetched."""
    named = os.environ.get("CCCL", "")
    candidates = [Path(named)] if named else []
    candidates.append(build / "bench" / "cccl" / "nvidia" / "cu13" / "include" / "cccl")
    return [folder for folder in candidates if (folder / "cub" / "cub.cuh").is_file()]


def toolkit_cccl() -> Path:
    """The headers that come with nvcc."""
    found = header_folder(Path(tool("nvcc")), "cub/cub.cuh")
    if not found:
        raise MissingError("nvcc came without CUB's headers")
    return found


def cccl_version(folder: Path) -> str:
    """3.0.1, as the headers say it."""
    text = (folder / "cuda" / "std" / "__cccl" / "version.h").read_text()
    found = re.search(r"#\s*define CCCL_VERSION (\d+)", text)
    number = int(found[1]) if found else 0
    return f"{number // 1000000}.{number // 1000 % 1000}.{number % 1000}"


class Library:
    """bench/peers.cu, compiled with one release of CCCL."""

    def __init__(self, device: Device, path: Path, version: str) -> None:
        self.version = version
        self._library = ctypes.CDLL(str(path))
        for name, types in _FUNCTIONS.items():
            getattr(self._library, name).argtypes = types
        self._library.peers_message.restype = ctypes.c_char_p
        self._library.peers_room.restype = ctypes.c_size_t
        self._library.peers_room.argtypes = [_COUNT, _COUNT]
        self._stream = int(device.stream)
        self.has_not_guaranteed = bool(self._library.peers_has_not_guaranteed())

    def room(self, n: int, rows: int = 0) -> int:
        """Bytes of temporary storage that suffice."""
        count = int(self._library.peers_room(n, rows))
        if not count:
            raise PeersError(self._message())
        return count

    def call(self, name: str, *arguments: Any) -> Callable[[], None]:
        """A function of peers.cu with its arguments in place, the stream last."""
        function, stream = getattr(self._library, name), self._stream

        def enqueue() -> None:
            if function(*arguments, stream):
                raise PeersError(self._message())

        return enqueue

    def _message(self) -> str:
        return bytes(self._library.peers_message()).decode(errors="replace")


def compile_peers(build: Path, cccl: Path, architecture: str) -> Path:
    """bench/peers.cu with one release of CCCL, as a shared library; CompileError."""
    output = build / "bench" / f"libpeers-{cccl_version(cccl)}-{architecture}.so"
    newest = max(SOURCE.stat().st_mtime, (cccl / "cub" / "version.cuh").stat().st_mtime)
    if output.exists() and output.stat().st_mtime > newest:
        return output
    output.parent.mkdir(parents=True, exist_ok=True)
    scratch = output.with_suffix(f".{os.getpid()}.tmp")
    command = [
        *(tool("nvcc"), "-std=c++17", "-shared", "-O3", f"-arch={architecture}", "-Xcompiler", "-fPIC"),
        *("-I", str(cccl), "-o", str(scratch), str(SOURCE.relative_to(ROOT))),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise CompileError(f"bench/peers.cu does not compile: {(done.stdout + done.stderr)[-1500:]}")
    scratch.replace(output)
    return output


# ---- PyTorch and Triton ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _OnDevice:
    """Device memory as others take it over: the CUDA Array Interface, version 3."""

    __cuda_array_interface__: dict[str, Any]


class Torch:
    """PyTorch on the same memory and the same stream."""

    def __init__(self, device: Device) -> None:
        try:
            self.module = importlib.import_module("torch")
        except ImportError as error:
            raise MissingError(f"PyTorch is not installed ({error})") from None
        if not self.module.cuda.is_available():
            raise MissingError("PyTorch is installed without CUDA")
        self.module.cuda.set_stream(self.module.cuda.ExternalStream(int(device.stream)))
        self.version = str(self.module.__version__)

    def tensor(self, address: int, shape: tuple[int, ...], element: str = "f32") -> Any:
        """What lies at an address as a tensor; nothing is copied."""
        interface = {
            "shape": shape,
            "typestr": {"f32": "<f4", "bf16": "<i2"}[element],
            "data": (address, False),
            "version": 3,
            "strides": None,
        }
        made = self.module.as_tensor(_OnDevice(interface), device="cuda")
        if made.data_ptr() != address:
            raise PeersError("PyTorch copied what it should have taken over")
        return made.view(self.module.bfloat16) if element == "bf16" else made


class Triton:
    """Triton's vector add, launched through PyTorch's tensors."""

    # (elements a program, warps): the usual one first, then those that are tried.
    usual = (1024, 4)
    tried = (
        (512, 4),
        (1024, 4),
        (1024, 8),
        (2048, 4),
        (2048, 8),
        (4096, 8),
        (4096, 16),
        (8192, 8),
        (8192, 16),
    )

    def __init__(self) -> None:
        try:
            self.version = str(importlib.import_module("triton").__version__)
            self._add = importlib.import_module("bench.triton_add").add
            self._rows = importlib.import_module("bench.triton_rows")
        except ImportError as error:
            raise MissingError(f"Triton is not installed ({error})") from None

    def call(self, a: Any, b: Any, c: Any, n: int, config: tuple[int, int]) -> Callable[[], None]:
        """The kernel with its arguments in place."""
        block, warps = config
        kernel = self._add[(-(-n // block),)]

        def enqueue() -> None:
            kernel(a, b, c, n, BLOCK=block, num_warps=warps)

        return enqueue

    def of_rows(self, kernel: str, arguments: list[Any], rows: int, columns: int) -> Callable[[], None]:
        """A kernel of triton_rows.py with its arguments in place: a program a row, more warps for longer ones."""
        block = 1 << (columns - 1).bit_length()
        warps = min(16, max(1, block // 512))
        launch = getattr(self._rows, kernel)[(rows,)]

        def enqueue() -> None:
            launch(*arguments, columns, BLOCK=block, num_warps=warps)

        return enqueue


def one_line(error: BaseException) -> str:
    """An error's words for a table."""
    return " ".join(str(error).split())[:300]


def driver_version(device: Device) -> str:
    """The driver's release where a file tells it."""
    with contextlib.suppress(OSError):
        found = re.search(r"Module\s+([\d.]+)", Path("/proc/driver/nvidia/version").read_text())
        if found:
            return found[1]
    return f"for CUDA {device.cuda_version}"
