"""The emulator behind the same few calls as the GPU of gpu.py, and what it traces for the time model."""

from __future__ import annotations

import ctypes as c
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.compiling import entries_of
from bench.gpu import Function, GpuError, find_kernel
from bench.table import ROOT

BINS = 32  # MODEL_BINS


class ModelTime(c.Structure):
    """ModelTime of model.h."""

    _fields_ = [(name, c.c_double) for name in ("cycles", "l2_trips", "dram_trips")]


class ModelWork(c.Structure):
    """ModelWork of model.h."""

    _fields_ = [
        *((name, c.c_double) for name in ("blocks", "warps")),
        *((name, ModelTime) for name in ("block_time", "block_most", "warp_time")),
        *((name, c.c_double) for name in ("regions", "meetings", "meeting_spread")),
        *(
            (name, c.c_double)
            for name in ("issued", "code", "pipe_alu", "pipe_special", "pipe_double", "fused", "lsu")
        ),
        *((name, c.c_double) for name in ("shared_wavefronts", "barriers")),
        *((name, c.c_double) for name in ("load_requests", "load_lines", "load_bytes", "load_sectors")),
        *((name, c.c_double) for name in ("store_requests", "store_lines", "store_sectors")),
        *((name, c.c_double) for name in ("local_loads", "local_stores")),
        *((name, c.c_double) for name in ("first", "again_warp", "again_block", "again_grid")),
        *((name, c.c_double * BINS) for name in ("warp_distance", "block_distance", "grid_distance")),
        *((name, c.c_double) for name in ("first_pairs", "stored_first", "loads_stored")),
        *((name, c.c_double) for name in ("atomic_requests", "atomic_operations", "atomic_sectors")),
        *((name, c.c_double) for name in ("atomic_hottest", "atomic_single", "atomic_waits")),
    ]


class _Error(c.Structure):
    _fields_ = [
        ("status", c.c_int),
        ("line", c.c_int),
        ("column", c.c_int),
        ("file", c.c_char * 256),
        ("source_line", c.c_int),
        ("message", c.c_char * 2048),
    ]


class _Launch(c.Structure):
    _fields_ = [
        ("grid", c.c_uint32 * 3),
        ("block", c.c_uint32 * 3),
        ("dynamic_shared", c.c_uint32),
        ("arguments", c.c_char_p),
        ("argument_bytes", c.c_size_t),
        ("checks", c.c_uint),
        ("count", c.c_bool),
        ("trace", c.c_bool),
        ("flush_float_atomics", c.c_bool),
        ("schedule", c.c_uint64),
        ("max_steps", c.c_uint64),
        ("max_output", c.c_size_t),
        ("max_findings", c.c_int),
        ("cancel", c.c_void_p),
        ("xray_bytes", c.c_size_t),
    ]


class _Parameter(c.Structure):
    _fields_ = [(name, c.c_size_t) for name in ("offset", "bytes", "align")]


class _KernelInfo(c.Structure):
    _fields_ = [
        ("name", c.c_char * 256),
        ("parameter_count", c.c_int),
        ("parameters", _Parameter * 64),
        ("parameter_bytes", c.c_size_t),
        ("static_shared", c.c_size_t),
        ("required_threads", c.c_int * 3),
        ("max_threads", c.c_int * 3),
    ]


class _Result(c.Structure):
    _fields_ = [
        ("completed", c.c_bool),
        ("finding_count", c.c_int),
        ("findings", c.c_void_p),
        ("findings_total", c.c_uint64),
        ("counters", c.c_uint64 * 36),
        ("line_count", c.c_int),
        ("lines", c.c_void_p),
        ("lane_instructions", c.c_uint64),
        ("seconds", c.c_double),
        ("output", c.c_void_p),
        ("output_bytes", c.c_size_t),
        ("work", c.POINTER(ModelWork)),
        ("xray", c.c_void_p),
        ("xray_bytes", c.c_size_t),
    ]


def library() -> c.CDLL:
    """libemulator.so."""
    named = os.environ.get("WARPBOOK_EMULATOR_LIBRARY")
    lib = c.CDLL(named or str(ROOT / "build" / "lib" / "libemulator.so"))
    lib.emulator_open.restype = lib.emulator_find_kernel.restype = c.c_void_p
    lib.emulator_allocate.restype = c.c_uint64
    for name in ("load", "write", "read", "fill", "launch", "set_read_only"):
        getattr(lib, f"emulator_{name}").restype = c.c_bool
    return lib


class EmulatedDevice:
    """The H200's figures, imitated."""

    name = "emulator"

    def __init__(self, figures: dict[str, int]) -> None:
        self.figures = figures
        self._lib = library()
        self._handle = c.c_void_p(self._lib.emulator_open(None))
        self._loaded: Path | None = None
        self.tracing = False
        self.work: list[ModelWork] = []  # of every launch while tracing

    def close(self) -> None:
        """Frees everything."""
        self._lib.emulator_close(self._handle)

    def _call(self, name: str, *arguments: object) -> None:
        error = _Error()
        if not getattr(self._lib, f"emulator_{name}")(self._handle, *arguments, c.byref(error)):
            raise GpuError(f"the emulator: {error.message.decode()}")

    def load(self, image: Path) -> Path:
        """An image; it is loaded anew whenever a kernel of another one is launched."""
        return image

    def function(self, module: Path, name: str, dynamic_shared: int = 0) -> Function:  # noqa: ARG002
        """A kernel of an image, by its name in the source or as nvcc mangled it."""
        mangled = find_kernel(name, entries_of(module))
        return Function(mangled, module, registers=0, shared_bytes=0, local_bytes=0, max_threads=1024)

    def allocate(self, count: int) -> int:
        """Bytes of device memory."""
        error = _Error()
        address = self._lib.emulator_allocate(
            self._handle, c.c_size_t(count), c.c_uint(0), b"a buffer", c.byref(error)
        )
        if not address:
            raise GpuError(f"the emulator: {error.message.decode()}")
        return int(address)

    def fill(self, address: int, pattern: int, count: int) -> None:
        """Sets `count` bytes to a 32-bit pattern."""
        is_initialised = c.c_bool(1)
        self._call("fill", c.c_uint64(address), c.c_uint32(pattern), c.c_size_t(count), is_initialised)

    def read(self, address: int, count: int) -> bytes:
        """Copies from the device."""
        to = c.create_string_buffer(count)
        self._call("read", to, c.c_uint64(address), c.c_size_t(count))
        return to.raw

    def write(self, address: int, data: bytes) -> None:
        """Copies to the device."""
        self._call("write", c.c_uint64(address), data, c.c_size_t(len(data)))

    def launch(
        self,
        function: Function,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[Any],
        shared: int = 0,
    ) -> None:
        """Runs a kernel to its end; while tracing, appends what it did to `work`."""
        image, name = function.handle, function.name
        if image != self._loaded:
            text = image.read_bytes()
            self._call("load", text, c.c_size_t(len(text)), image.name.encode())
            self._loaded = image
        handle = c.c_void_p(self._lib.emulator_find_kernel(self._handle, name.encode()))
        self._lib.emulator_set_registers(handle, function.registers)
        info = _KernelInfo()
        self._lib.emulator_kernel_info(handle, c.byref(info))
        if info.parameter_count != len(arguments):
            raise GpuError(f"{name} takes {info.parameter_count} arguments, not {len(arguments)}")
        packed = bytearray(info.parameter_bytes)
        for place, value in zip(info.parameters, arguments, strict=False):
            packed[place.offset : place.offset + place.bytes] = bytes(value)
        launch = _Launch(
            grid=tuple(grid),
            block=tuple(block),
            dynamic_shared=shared,
            arguments=bytes(packed),
            argument_bytes=len(packed),
            trace=self.tracing,
        )
        result = _Result()
        try:
            self._call("launch", handle, c.byref(launch), c.byref(result))
            if not result.completed:
                raise GpuError(f"{name} did not run to its end on the emulator")
            if self.tracing:
                kept = ModelWork()
                c.memmove(c.byref(kept), result.work, c.sizeof(ModelWork))
                self.work.append(kept)
        finally:
            self._lib.emulator_result_free(c.byref(result))

    def synchronize(self) -> None:
        """Nothing runs behind one's back here."""

    def event(self) -> None:
        """The emulator measures no times."""
