"""The emulator behind the same few calls as the GPU of gpu.py, and what it traces for the time model."""

from __future__ import annotations

import ctypes as c
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.compiling import entries_of
from bench.emulator_library import CError, CKernelInfo, CLaunch, CResult, ModelWork, library
from bench.gpu import Function, GpuError, find_kernel


class EmulatedDevice:
    """The H200's figures, imitated."""

    name = "emulator"

    def __init__(self, figures: dict[str, int]) -> None:
        self.figures = figures
        self._lib = library()
        self._handle = self._lib.emulator_open(None)
        self._loaded: Path | None = None
        self.tracing = False
        self.what_if = 0  # WHAT_IF_* of launch.h, for what is traced
        self.work: list[ModelWork] = []  # of every launch while tracing

    def close(self) -> None:
        """Frees everything."""
        self._lib.emulator_close(self._handle)

    def _call(self, name: str, *arguments: object) -> None:
        error = CError()
        if not getattr(self._lib, f"emulator_{name}")(self._handle, *arguments, c.byref(error)):
            raise GpuError(f"the emulator: {error.message.decode()}")

    def load(self, image: Path) -> Path:
        """An image; it is loaded again whenever a kernel of another one is launched."""
        return image

    def function(self, module: Path, name: str, dynamic_shared: int = 0) -> Function:  # noqa: ARG002
        """A kernel of an image, by its name in the source or as nvcc mangled it."""
        mangled = find_kernel(name, entries_of(module))
        return Function(mangled, module, registers=0, shared_bytes=0, local_bytes=0, max_threads=1024)

    def allocate(self, count: int) -> int:
        """Bytes of device memory."""
        error = CError()
        address = self._lib.emulator_allocate(self._handle, count, 0, b"a buffer", c.byref(error))
        if not address:
            raise GpuError(f"the emulator: {error.message.decode()}")
        return int(address)

    def fill(self, address: int, pattern: int, count: int) -> None:
        """Sets `count` bytes to a 32-bit pattern."""
        is_initialised = True
        self._call("fill", address, pattern, count, is_initialised)

    def read(self, address: int, count: int) -> bytes:
        """Copies from the device."""
        to = c.create_string_buffer(count)
        self._call("read", to, address, count)
        return to.raw

    def write(self, address: int, data: bytes) -> None:
        """Copies to the device."""
        self._call("write", address, data, len(data))

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
            self._call("load", text, len(text), image.name.encode())
            self._loaded = image
        handle = self._lib.emulator_find_kernel(self._handle, name.encode())
        self._lib.emulator_set_registers(handle, function.registers)
        info = CKernelInfo()
        self._lib.emulator_kernel_info(handle, c.byref(info))
        if info.parameter_count != len(arguments):
            raise GpuError(f"{name} takes {info.parameter_count} arguments, not {len(arguments)}")
        packed = bytearray(info.parameter_bytes)
        for place, value in zip(info.parameters, arguments, strict=False):
            packed[place.offset : place.offset + place.bytes] = bytes(value)
        launch = CLaunch(
            grid=tuple(grid),
            block=tuple(block),
            dynamic_shared=shared,
            arguments=bytes(packed),
            argument_bytes=len(packed),
            timing=self.tracing,
            what_if=self.what_if,
        )
        result = CResult()
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
