"""The workbook's references as `make bench` runs them: their kernels, and what each gets."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .gpu import POISON, Device, Launch, i32, u64
from .peers import MissingError
from .shape import LaunchShape
from .table import ROOT


@dataclass(frozen=True)
class Pass:
    """One launch. Arguments: names of buffers, or n, n64, rows, columns, blocks (of the pass before)."""

    kernel: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Reference:
    """One solution."""

    name: str
    chapter: str
    work: str  # the key of a class in works.py
    passes: tuple[Pass, ...]
    zeroed_bytes: int = 0  # of out, which must be 0 before the first pass: zeroing them counts
    leaves_partials: bool = False  # out has a float for each block of the first pass
    coefficients: str = ""  # a variable of the image with a filter's, which `coefficient` gives
    is_best: bool = False  # the one that is held against the peers
    note: str = ""


_ROWS = ("in", "out", "rows", "columns")
_NORM = ("in", "gamma", "beta", "out", "rows", "columns")
_PRODUCT = ("in", "in2", "out", "rows", "columns", "columns")  # of square matrices
_ADD = ("in", "in2", "out", "n")


def _histogram(name: str, kernel: str, work: str, *, is_best: bool = False) -> Reference:
    passes = (Pass(kernel, ("in", "out", "n64")),)
    return Reference(name, "ch15", work, passes, zeroed_bytes=1024, is_best=is_best, note="zeroing counts")


def coefficient(k: int) -> float:
    """Number k of a filter's coefficients, row by row: whole numbers from -3 to 3. As in support.cu."""
    return float(5 * k % 7 - 3)


def _filter(name: str, kernel: str, work: str, side: int, *, is_best: bool = False) -> Reference:
    return Reference(
        name, "ch17", work, (Pass(kernel, _ROWS),), coefficients=f"weights_{side}", is_best=is_best
    )


REFERENCES = (
    Reference(
        "ch14 capstone",
        "ch14",
        "sum",
        (Pass("sum", ("in", "out", "mailbox", "n64")),),
        is_best=True,
    ),
    Reference(
        "ch07 float4",
        "ch07",
        "sum",
        (Pass("sum_float4", ("in", "out", "n")),),
        leaves_partials=True,
        note="leaves one partial sum a block",
    ),
    Reference(
        "ch08 atomics",
        "ch08",
        "sum",
        (Pass("sum_atomic", ("in", "out", "n")),),
        zeroed_bytes=4,
        note="zeroing counts",
    ),
    Reference(
        "ch08 two passes",
        "ch08",
        "sum",
        (Pass("sum_blocks", ("in", "partial", "n")), Pass("sum_partials", ("partial", "out", "blocks"))),
        note="both launches count",
    ),
    Reference("ch09 a block a row", "ch09", "rows", (Pass("row_sums_block", _ROWS),), is_best=True),
    Reference("ch09 a warp a row", "ch09", "rows", (Pass("row_sums_warp", _ROWS),)),
    Reference("ch10 float4", "ch10", "add", (Pass("add_float4", _ADD),), is_best=True),
    Reference("ch10 grid-stride", "ch10", "add", (Pass("add", _ADD),)),
    Reference("ch10 bf16x2", "ch10", "add_bf16", (Pass("add_bf16", _ADD),), is_best=True),
    Reference(
        "ch11 several a thread", "ch11", "transpose", (Pass("transpose_several", _ROWS),), is_best=True
    ),
    Reference("ch11 padded tile", "ch11", "transpose", (Pass("transpose_padded", _ROWS),)),
    Reference("ch11 tile", "ch11", "transpose", (Pass("transpose_tile", _ROWS),)),
    Reference("ch11 naive", "ch11", "transpose", (Pass("transpose_naive", _ROWS),)),
    _histogram("ch15 copies", "histogram_copies", "histogram", is_best=True),
    _histogram("ch15 shared", "histogram_shared", "histogram"),
    _histogram("ch15 global", "histogram_global", "histogram"),
    _histogram("ch15 copies", "histogram_copies", "histogram_skewed", is_best=True),
    _histogram("ch15 shared", "histogram_shared", "histogram_skewed"),
    _histogram("ch15 copies", "histogram_copies", "histogram_constant", is_best=True),
    _histogram("ch15 shared", "histogram_shared", "histogram_constant"),
    Reference(
        "ch16 one launch",
        "ch16",
        "scan",
        (Pass("scan_once", ("in", "out", "state", "n")),),
        is_best=True,
        note="zeroing its state counts",
    ),
    _filter("ch17 column", "filter_column_3", "filter_3", 3, is_best=True),
    _filter("ch17 column", "filter_column_7", "filter_7", 7, is_best=True),
    _filter("ch17 constant", "filter_constant", "filter_7", 7),
    Reference("ch18 registers", "ch18", "softmax", (Pass("softmax_registers", _ROWS),), is_best=True),
    Reference("ch19 vectors", "ch19", "product", (Pass("matmul_vectors", _PRODUCT),), is_best=True),
    Reference("ch19 registers", "ch19", "product", (Pass("matmul_registers", _PRODUCT),)),
    Reference("ch19 tile", "ch19", "product", (Pass("matmul_tile", _PRODUCT),)),
    Reference("ch19 naive", "ch19", "product", (Pass("matmul_naive", _PRODUCT),)),
    Reference("ch18 online", "ch18", "softmax", (Pass("softmax_online", _ROWS),)),
    Reference("ch18 three passes", "ch18", "softmax", (Pass("softmax_three_passes", _ROWS),)),
    Reference("ch18 bfloat16", "ch18", "softmax_bf16", (Pass("softmax_bfloat16", _ROWS),), is_best=True),
    Reference("ch18 layer norm", "ch18", "layer_norm", (Pass("layer_norm", _NORM),), is_best=True),
    Reference(
        "ch18 layer norm, bfloat16",
        "ch18",
        "layer_norm_bf16",
        (Pass("layer_norm_bfloat16", _NORM),),
        is_best=True,
    ),
)


@dataclass(frozen=True)
class Problem:
    """The inputs of one size: one set of buffers a slot."""

    n: int
    rows: int
    columns: int
    buffers: tuple[dict[str, int], ...]  # addresses of "in" and "in2"


class Solutions:
    """The solutions' images on a device, compiled once by the tool that ./chNN uses."""

    def __init__(self, device: Device, build: Path, out: Path) -> None:
        self.device, self._build, self._out = device, build, out
        self._modules: dict[str, Any] = {}
        self._scratch: dict[tuple[str, int], int] = {}

    def module(self, chapter: str) -> Any:
        """A chapter's solution, loaded."""
        if chapter not in self._modules:
            found = sorted((ROOT / "solutions").glob(f"{chapter}_*/kernel.cu"))
            if not found:
                raise MissingError(f"there is no solution of {chapter}")
            folder = self._build / "bench" / chapter
            compute = self.device.architecture.removeprefix("sm_")
            done = subprocess.run(
                [
                    *(str(self._out / "bin" / "compile"), str(found[0].relative_to(ROOT)), str(folder)),
                    *("--ptxas", compute, "--cubin", "--quiet"),
                ],
                cwd=ROOT,
                capture_output=True,
                text=True,
            )
            if done.returncode:
                raise MissingError(f"the solution of {chapter} does not compile: {done.stdout}{done.stderr}")
            self._modules[chapter] = self.device.load(folder / "kernel.cubin")
        return self._modules[chapter]

    def scratch(self, name: str, count: int) -> int:
        """A buffer that outlives a case: partial sums, or a mailbox, which is 0 before and after a run."""
        key = name, 1 << (count - 1).bit_length()
        if key not in self._scratch:
            self._scratch[key] = self.device.allocate(key[1])
            self.device.fill(self._scratch[key], 0 if name == "mailbox" else POISON, key[1])
        return self._scratch[key]

    def prepare(self, reference: Reference, problem: Problem) -> Prepared:
        """A reference on the inputs of one size."""
        return Prepared(self, reference, problem)


@dataclass
class Prepared:
    """A reference at one size: its shapes are known; outputs are still to be given."""

    solutions: Solutions
    reference: Reference
    problem: Problem
    shapes: list[LaunchShape] = field(default_factory=list)
    registers: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        device, problem = self.solutions.device, self.problem
        module = self.solutions.module(self.reference.chapter)
        self._functions = []
        if self.reference.coefficients:
            address, count = device.variable(module, self.reference.coefficients)
            values = [coefficient(k) for k in range(count // 4)]
            device.write(address, struct.pack(f"<{len(values)}f", *values))
        for each in self.reference.passes:
            n = self.shapes[-1].blocks if "blocks" in each.arguments else problem.n
            shape = device.launch_shape(module, each.kernel, n, problem.rows, problem.columns)
            self._functions.append(device.function(module, each.kernel, shape.shared))
            self.shapes.append(shape)
        self.registers = [function.registers for function in self._functions]

    @property
    def partials(self) -> int:
        """How many sums the reference leaves, where it leaves partial ones."""
        return self.shapes[0].blocks if self.reference.leaves_partials else 1

    def enqueue(self, outputs: list[int]) -> Callable[[int], None]:
        """All passes on the input of a slot, into the output of that slot."""
        device, slots = self.solutions.device, []
        for buffers, out in zip(self.problem.buffers, outputs, strict=True):
            slots.append(
                [
                    Launch(device, function, shape, [self._argument(name, i, buffers, out) for name in names])
                    for i, (function, shape, names) in enumerate(
                        zip(
                            self._functions,
                            self.shapes,
                            (each.arguments for each in self.reference.passes),
                            strict=True,
                        )
                    )
                ]
            )
        zeroed_bytes = self.reference.zeroed_bytes
        has_state = any("state" in each.arguments for each in self.reference.passes)

        def enqueue(slot: int) -> None:
            if zeroed_bytes:
                device.fill(outputs[slot], 0, zeroed_bytes)
            if has_state:
                device.fill(self._state(), 0, self._state_bytes)
            for launch in slots[slot]:
                launch()

        return enqueue

    @property
    def _state_bytes(self) -> int:
        """A word for each block and one more."""
        return 8 * (1 + max(shape.blocks for shape in self.shapes))

    def _state(self) -> int:
        return self.solutions.scratch("state", self._state_bytes)

    def _argument(self, name: str, index: int, buffers: dict[str, int], out: int) -> Any:
        problem = self.problem
        if name in buffers:
            return u64(buffers[name])
        if name == "out":
            return u64(out)
        if name in ("partial", "mailbox"):
            most = max(shape.blocks for shape in self.shapes)
            return u64(self.solutions.scratch(name, 8 * most))
        if name == "state":
            return u64(self._state())
        if name == "n64":
            return u64(problem.n)
        if name == "blocks":
            return i32(self.shapes[index - 1].blocks)
        return i32({"n": problem.n, "rows": problem.rows, "columns": problem.columns}[name])
