"""A GPU for Python: a thin layer over NVIDIA's cuda-bindings.

It uses the primary context of the process, so that PyTorch, Triton and the CUDA runtime's libraries work on
the same memory and the same stream. It changes no clock and no setting of the GPU.

    device = Device()
    module = device.load(Path("build/kernel.cubin"))
    kernel = device.function(module, "sum")         # the name in the source, or as nvcc mangled it
    shape = device.launch_shape(module, "sum", n=1 << 20)
    device.launch(kernel, shape.grid, shape.block, [u64(address), u64(1 << 20)], shape.shared)
"""

from __future__ import annotations

import ctypes
import importlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.shape import LaunchShape

i32, u32, i64, u64 = ctypes.c_int32, ctypes.c_uint32, ctypes.c_int64, ctypes.c_uint64
f32, f64 = ctypes.c_float, ctypes.c_double
POISON = 0xFFFFFFFF  # a NaN as a float, two NaN as bfloat16

# Names of CUdevice_attribute and CUfunction_attribute without their beginnings.
_FIGURES = {
    "sm_count": "MULTIPROCESSOR_COUNT",
    "clock_khz": "CLOCK_RATE",
    "memory_clock_khz": "MEMORY_CLOCK_RATE",
    "memory_bus_bits": "GLOBAL_MEMORY_BUS_WIDTH",
    "l2_bytes": "L2_CACHE_SIZE",
    "compute_major": "COMPUTE_CAPABILITY_MAJOR",
    "compute_minor": "COMPUTE_CAPABILITY_MINOR",
    "max_threads_per_block": "MAX_THREADS_PER_BLOCK",
    "max_threads_per_sm": "MAX_THREADS_PER_MULTIPROCESSOR",
    "max_blocks_per_sm": "MAX_BLOCKS_PER_MULTIPROCESSOR",
    "registers_per_sm": "MAX_REGISTERS_PER_MULTIPROCESSOR",
    "shared_per_sm": "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
    "shared_per_block": "MAX_SHARED_MEMORY_PER_BLOCK",
    "shared_per_block_optin": "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
    "shared_reserved_per_block": "RESERVED_SHARED_MEMORY_PER_BLOCK",
}
_FUNCTION_FIGURES = {
    "registers": "NUM_REGS",
    "shared_bytes": "SHARED_SIZE_BYTES",
    "local_bytes": "LOCAL_SIZE_BYTES",
    "max_threads": "MAX_THREADS_PER_BLOCK",
}
_PLAIN_SHARED = 48 << 10  # bytes of shared memory that a block may have without asking for more


class GpuError(Exception):
    """No GPU, no driver, no cuda-bindings, or a call that the driver refused."""


@dataclass(frozen=True)
class Function:
    """A kernel of a loaded image."""

    name: str  # as nvcc mangled it
    handle: Any
    registers: int
    shared_bytes: int  # static, a block
    local_bytes: int  # a thread
    max_threads: int  # in a block


class _ShapeImage(ctypes.Structure):
    """LaunchShape of common/include/warpbook.cuh."""

    _fields_ = [("grid", i64 * 3), ("block", i64 * 3), ("shared", i64)]


class _FiguresImage(ctypes.Structure):
    """GpuFigures of common/include/warpbook.cuh."""

    names = (
        *("sm_count", "max_threads_per_block", "max_threads_per_sm", "max_blocks_per_sm"),
        *("registers_per_sm", "shared_per_sm", "shared_per_block"),
    )
    _fields_ = [*((name, i32) for name in names), ("warp_size", i32)]


class Launch:
    """A launch with its arguments in place, to be enqueued any number of times."""

    def __init__(
        self, device: Device, function: Function, shape: LaunchShape, arguments: Sequence[Any]
    ) -> None:
        self._keep = list(arguments)  # the driver reads them when the launch is enqueued
        pointers = (ctypes.c_void_p * max(1, len(self._keep)))(*(ctypes.addressof(x) for x in self._keep))
        self._pointers = pointers
        self._call = device.driver.cuLaunchKernel
        self._arguments = (
            *(function.handle, *shape.grid, *shape.block, shape.shared),
            *(device.stream, ctypes.addressof(pointers), 0),
        )
        self.function, self.shape = function, shape

    def __call__(self) -> None:
        """Enqueues it on the device's stream."""
        (status,) = self._call(*self._arguments)
        if status:
            raise GpuError(f"{self.function.name} was not launched: {status.name}")


class Device:
    """The first GPU, its primary context and one stream, on which everything here is enqueued."""

    def __init__(self, ordinal: int = 0) -> None:
        self.driver = _bindings()
        try:
            self._call("cuInit", 0)
        except RuntimeError as error:  # cuda-bindings found no libcuda.so.1
            raise GpuError(f"there is no NVIDIA driver: {error}") from None
        self._device = self._call("cuDeviceGet", ordinal)
        self._call("cuCtxSetCurrent", self._call("cuDevicePrimaryCtxRetain", self._device))
        self.stream = self._call("cuStreamCreate", self.driver.CUstream_flags.CU_STREAM_NON_BLOCKING.value)
        self.name = _words(self._call("cuDeviceGetName", 128, self._device))
        version = self._call("cuDriverGetVersion")
        self.cuda_version = f"{version // 1000}.{version % 1000 // 10}"
        attributes = self.driver.CUdevice_attribute
        self.figures = {
            key: int(
                self._call(
                    "cuDeviceGetAttribute", getattr(attributes, f"CU_DEVICE_ATTRIBUTE_{long}"), self._device
                )
            )
            for key, long in _FIGURES.items()
        }
        self.memory_bytes = int(self._call("cuDeviceTotalMem", self._device))
        self.pci_bus_id = _words(self._call("cuDeviceGetPCIBusId", 64, self._device))

    @property
    def peak_bytes_per_second(self) -> float:
        """What the memory could deliver: two transfers a clock over the whole bus."""
        return 2e3 * self.figures["memory_clock_khz"] * self.figures["memory_bus_bits"] / 8

    @property
    def architecture(self) -> str:
        """sm_90, as nvcc calls it."""
        return f"sm_{self.figures['compute_major']}{self.figures['compute_minor']}"

    def _call(self, name: str, *arguments: Any) -> Any:
        """One call of the driver; what it returns besides its status."""
        status, *values = getattr(self.driver, name)(*arguments)
        if status:
            raise GpuError(f"{name}: {status.name}")
        return values[0] if len(values) == 1 else values

    # ---- Images and kernels ------------------------------------------------------------------------------

    def load(self, image: Path | bytes) -> Any:
        """A module from a PTX file or a cubin, or from their bytes."""
        data = image if isinstance(image, bytes) else image.read_bytes()
        text = ctypes.create_string_buffer(data)  # ends with a zero byte, which PTX needs
        return self._call("cuModuleLoadData", ctypes.addressof(text))

    def kernels(self, module: Any) -> dict[str, Any]:
        """The handles of a module's kernels by their names as nvcc mangled them."""
        count = self._call("cuModuleGetFunctionCount", module)
        handles = self._call("cuModuleEnumerateFunctions", count, module)
        return {self._call("cuFuncGetName", handle).decode(): handle for handle in handles}

    def function(self, module: Any, name: str, dynamic_shared: int = 0) -> Function:
        """A kernel by its name in the source or as nvcc mangled it; more than 48 KiB are asked for here."""
        handles = self.kernels(module)
        mangled = find_kernel(name, handles)
        handle = handles[mangled]
        self._call("cuFuncLoad", handle)  # the driver loads lazily, and knows no figures before
        attributes = self.driver.CUfunction_attribute
        figures = {
            key: int(
                self._call("cuFuncGetAttribute", getattr(attributes, f"CU_FUNC_ATTRIBUTE_{long}"), handle)
            )
            for key, long in _FUNCTION_FIGURES.items()
        }
        if figures["shared_bytes"] + dynamic_shared > _PLAIN_SHARED:
            most = attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._call("cuFuncSetAttribute", handle, most, dynamic_shared)
        return Function(mangled, handle, **figures)

    def resident_blocks(self, function: Function, block_threads: int, dynamic_shared: int = 0) -> int:
        """Blocks of that shape that one SM holds at a time, as the driver reckons it."""
        return int(
            self._call(
                "cuOccupancyMaxActiveBlocksPerMultiprocessor", function.handle, block_threads, dynamic_shared
            )
        )

    def launch_shape(self, module: Any, kernel: str, n: int, rows: int = 0, columns: int = 0) -> LaunchShape:
        """The shape that LAUNCH(kernel) of an image asks for, found as common/driver does: by running it."""
        shape = _ShapeImage()
        figures = _FiguresImage(**{name: self.figures[name] for name in _FiguresImage.names}, warp_size=32)
        at, figures_at = self.allocate(ctypes.sizeof(shape)), self.allocate(ctypes.sizeof(figures))
        try:
            self.write(at, bytes(shape))
            self.write(figures_at, bytes(figures))
            function = self.function(module, f"launch_{kernel}")
            arguments = [u64(at), u64(figures_at), i64(n), i64(rows), i64(columns)]
            self.launch(function, (1, 1, 1), (1, 1, 1), arguments)
            shape = _ShapeImage.from_buffer_copy(self.read(at, ctypes.sizeof(shape)))
        finally:
            self.free(at)
            self.free(figures_at)
        return shape_from(kernel, list(shape.grid), list(shape.block), shape.shared)

    # ---- Memory ------------------------------------------------------------------------------------------

    def allocate(self, count: int) -> int:
        """The address of `count` bytes of device memory, at a multiple of 256."""
        return int(self._call("cuMemAlloc", max(1, count)))

    def free(self, address: int) -> None:
        """Gives an allocation back, once the GPU is done with it."""
        self.synchronize()
        self._call("cuMemFree", address)

    def free_bytes(self) -> int:
        """Of device memory, at present."""
        return int(self._call("cuMemGetInfo")[0])

    def fill(self, address: int, pattern: int, count: int) -> None:
        """Sets `count` bytes (a multiple of 4) to a 32-bit pattern, in stream order."""
        self._call("cuMemsetD32Async", address, pattern, count // 4, self.stream)

    def copy(self, to: int, source: int, count: int) -> None:
        """Copies `count` bytes on the device, in stream order."""
        self._call("cuMemcpyDtoDAsync", to, source, count, self.stream)

    def read(self, address: int, count: int) -> bytes:
        """`count` bytes, once everything enqueued is done."""
        to = ctypes.create_string_buffer(max(1, count))
        self.synchronize()
        self._call("cuMemcpyDtoH", ctypes.addressof(to), address, count)
        return to.raw[:count]

    def write(self, address: int, data: bytes) -> None:
        """Puts bytes there, once everything enqueued is done."""
        self.synchronize()
        self._call("cuMemcpyHtoD", address, data, len(data))

    def variable(self, module: Any, name: str) -> tuple[int, int]:
        """The address and the bytes of a variable of a module, such as one in constant memory."""
        address, count = self._call("cuModuleGetGlobal", module, name.encode())
        return int(address), int(count)

    # ---- Running -----------------------------------------------------------------------------------------

    def launch(
        self,
        function: Function,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[Any],
        shared: int = 0,
    ) -> None:
        """Enqueues a launch. Each argument has its C type: u64(address), i32(n)."""
        shape = LaunchShape((grid[0], grid[1], grid[2]), (block[0], block[1], block[2]), shared)
        Launch(self, function, shape, arguments)()

    def synchronize(self) -> None:
        """Waits until everything enqueued on any stream is done."""
        self._call("cuCtxSynchronize")

    def event(self) -> Any:
        """A point in the stream whose time can be asked for."""
        return self._call("cuEventCreate", 0)

    def mark(self, event: Any) -> None:
        """Puts the event behind what is enqueued so far."""
        self._call("cuEventRecord", event, self.stream)

    def is_reached(self, event: Any) -> bool:
        """Whether the GPU has come to the event."""
        (status,) = self.driver.cuEventQuery(event)
        if status == self.driver.CUresult.CUDA_ERROR_NOT_READY:
            return False
        if status:
            raise GpuError(f"cuEventQuery: {status.name}")
        return True

    def seconds(self, begin: Any, end: Any) -> float:
        """Between two events that have been reached."""
        return float(self._call("cuEventElapsedTime", begin, end)) / 1e3

    def profiled(self, *, on: bool) -> None:
        """Where ncu was told to begin with profiling off: on for what comes next."""
        self._call("cuProfilerStart" if on else "cuProfilerStop")


def _bindings() -> Any:
    """cuda.bindings.driver, which needs nothing of a GPU to be imported."""
    try:
        return importlib.import_module("cuda.bindings.driver")
    except ImportError as error:
        raise GpuError(f"cuda-bindings is not installed ({error}): pip install cuda-bindings") from None


def _words(told: bytes) -> str:
    """The text before the first zero byte."""
    return told.partition(b"\0")[0].decode().strip()


def find_kernel(name: str, mangled_names: Sequence[str] | dict[str, Any]) -> str:
    """The mangled name that corresponds to `name`, which may be mangled or as in the source."""
    if name in mangled_names:
        return name
    begins = f"_Z{len(name)}{name}"
    found = [full for full in mangled_names if full.startswith(begins)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(sorted(re.sub(r"^_Z\d+", "", full) for full in mangled_names))
    raise GpuError(
        f"{'several kernels are' if found else 'no kernel is'} called {name}; the image has: {known}"
    )


def shape_from(kernel: str, grid: Sequence[int], block: Sequence[int], shared: int) -> LaunchShape:
    """The shape that a LAUNCH left, or GpuError for one that cannot be launched."""
    if min(grid) < 1 or min(block) < 1 or shared < 0:
        raise GpuError(f"LAUNCH({kernel}) asks for grid {list(grid)}, block {list(block)}, {shared} bytes")
    return LaunchShape((grid[0], grid[1], grid[2]), (block[0], block[1], block[2]), shared)
