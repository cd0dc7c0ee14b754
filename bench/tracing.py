"""What every kernel of the table does at a size, from a few of its blocks on the emulator."""

from __future__ import annotations

import ctypes as c
import dataclasses
from dataclasses import dataclass
from typing import Any

from bench.compiling import compile_one, reads_register
from bench.emulated import EmulatedDevice
from bench.emulator_library import ModelWork, library
from bench.gpu import i32
from bench.record import Bench, Prepared
from bench.shape import LaunchShape
from bench.table import Kernel, TableError

LEAST_BUFFER = 1 << 22  # elements
MOST_THREADS = 1 << 14  # of a smaller grid that stands for one with two dimensions
IMAGE_ELEMENTS, IMAGE_ROWS = 1 << 18, 64  # at least, of the part of an image: those of modelled_runs.c


class ModelShape(c.Structure):
    """ModelShape of model.h."""

    _fields_ = [(name, c.c_double) for name in ("blocks", "block_threads", "registers", "shared_bytes")]


class Run(c.Structure):
    """ModelRun of model.h."""

    _fields_ = [("blocks", c.c_uint64), ("elements", c.c_double), ("is_all_n", c.c_bool)]


@dataclass(frozen=True)
class _Part:
    """A part of a matrix, as a kernel sees it."""

    kernel: Kernel
    elements: int


@dataclass(frozen=True)
class Point:
    """One kernel at one size: what was measured, and what the model needs to know of its launches."""

    kernel: Kernel
    n: int
    seconds: float  # measured; 0 where it was not
    shapes: tuple[ModelShape, ...]
    works: tuple[ModelWork, ...]


class Tracer:
    """The emulator with the buffers that all kernels share."""

    def __init__(self, record: dict[str, Any], kernels: list[Kernel]) -> None:
        self._lib = library()
        figures = dict(record["device"]) | {"l2_bytes": 1 << 16}
        self.device = EmulatedDevice(figures)
        self._bench = Bench(self.device, LEAST_BUFFER)  # type: ignore[arg-type]
        self._bench.prepare(kernels)

    def close(self) -> None:
        """Frees the emulator."""
        self.device.close()

    def _run(
        self, prepared: Prepared, index: int, shape: LaunchShape, grid: tuple[int, ...], registers: int
    ) -> ModelWork:
        prepared.reset()
        self.device.tracing, self.device.work = True, []
        function = dataclasses.replace(prepared.functions[index], registers=registers)
        try:
            self.device.launch(function, grid, shape.block, prepared.arguments[index], shape.shared)
        finally:
            self.device.tracing = False
        return self.device.work[0]

    def point(self, kernel: Kernel, n: int, seconds: float, passes: list[dict[str, Any]]) -> Point:
        """Traces `kernel` at n; `passes` are the record's, of registers and static shared memory."""
        shapes = self._bench.shapes(kernel, n)
        works, told = [], []
        for i, (shape, figures) in enumerate(zip(shapes, passes, strict=True)):
            size = float(n if i == 0 else shapes[i - 1].blocks)
            shared = shape.shared + figures["static_shared"]
            told.append(ModelShape(shape.blocks, shape.block_threads, figures["registers"], shared))
            works.append(self._whole(kernel, i, shape, size, n, figures["registers"]))
        return Point(kernel, n, seconds, tuple(told), tuple(works))

    def _whole(
        self, kernel: Kernel, index: int, shape: LaunchShape, size: float, n: int, registers: int
    ) -> ModelWork:
        runs, works = (Run * 2)(), (ModelWork * 2)()
        if index > 0:  # the passes behind the first are small: as they are
            prepared = Prepared(self._bench, kernel, 1 << 16)
            integers = kernel.integers(n, LaunchShape((int(size), 1, 1), (1, 1, 1), 0))
            arguments = [
                i32(integers[name]) if name in integers else value
                for name, value in zip(kernel.passes[index].args, prepared.arguments[index], strict=True)
            ]
            prepared.arguments[index] = tuple(arguments)
            return self._run(prepared, index, shape, shape.grid, registers)
        if kernel.check == "product":  # some blocks of the whole: each goes through its rows and columns
            blocks = shape.grid[0] * shape.grid[1]
            grid = (min(2, shape.grid[0]), min(2, shape.grid[1]), 1)
            share = max(1, int(n * grid[0] * grid[1] / blocks))
            prepared = Prepared(self._bench, kernel, n, n)
            runs[0] = Run(blocks=grid[0] * grid[1], elements=share)
            works[0] = self._run(prepared, 0, shape, grid, registers)
            count = 1
        elif shape.grid[1] > 1:
            parts = self._parts(kernel, n)
            for k, part in enumerate(parts):
                prepared = Prepared(self._bench, part.kernel, part.elements)
                grid = prepared.shapes[0].grid
                runs[k] = Run(blocks=grid[0] * grid[1], elements=part.elements)
                works[k] = self._run(prepared, 0, shape, grid, registers)
            count = len(parts)
        else:
            entry = kernel.passes[index].kernel
            reads_grid = reads_register(compile_one(kernel.source), entry, "%nctaid")
            threads = c.c_uint64(shape.block_threads)
            count = self._lib.model_plan(
                c.c_uint64(shape.blocks), threads, c.c_double(size), c.c_bool(reads_grid), runs
            )
            for k in range(count):
                elements = max(1, int(runs[k].elements))
                if elements > LEAST_BUFFER:
                    raise TableError(f"{kernel.name}: {elements} elements are too many to emulate")
                prepared = Prepared(self._bench, kernel, elements, n if runs[k].is_all_n else None)
                works[k] = self._run(prepared, 0, shape, (runs[k].blocks, 1, 1), registers)
        whole = ModelWork()
        self._lib.model_whole(
            *(runs, works, count, c.c_uint64(shape.blocks), c.c_double(size), c.byref(whole))
        )
        return whole

    def _parts(self, kernel: Kernel, n: int) -> list[_Part]:
        """Whole rows of an image, as the judge cuts it (modelled_runs.c); or a smaller square."""
        if {"rows", "columns"} <= set(kernel.passes[0].args):
            rows, columns = kernel.matrix(n)
            some = min(rows, max(IMAGE_ROWS, IMAGE_ELEMENTS // columns))
            cut = dataclasses.replace(kernel, columns=columns)
            return [_Part(cut, part * columns) for part in (some // 2, some)]
        small = n
        while small > LEAST_BUFFER or (small > 1 << 16 and self._threads(kernel, small) > MOST_THREADS):
            small //= 4
        return [_Part(kernel, small)]

    def _threads(self, kernel: Kernel, n: int) -> int:
        return self._bench.shapes(kernel, n)[0].threads
