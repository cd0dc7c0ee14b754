"""The table of kernels that are measured and modelled: variants/variants.toml."""

from __future__ import annotations

import hashlib
import math
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.shape import LaunchShape

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).resolve().parent / "variants" / "variants.toml"
SIZES = tuple(2**k for k in range(16, 31, 2))

BUFFERS = ("in", "in2", "in64", "out", "scratch", "ticket", "state")
INTEGERS = ("n", "n64", "side", "rows", "columns", "terms", "counts")
CHECKS = (
    *("sum", "sum64", "l1", "rows", "rows64", "transpose", "polynomial"),
    *("add", "add16", "copy", "scattered", "ones", "nothing"),
    *("counts", "tile_scan", "written", "square", "product"),
)
TERMS = 16  # of a polynomial
COLUMNS = 2048  # of a matrix whose rows are summed
GRIDS = ("blocks", "per_sm", "each", "tile", "launch")
KEYS = {
    *("unseen", "most", "name", "kernel", "args", "passes", "block", *GRIDS, "shared", "outputs", "zeroed"),
    *("check", "every", "times", "reads"),
}


class TableError(Exception):
    """An entry of the table that makes no sense."""


@dataclass(frozen=True)
class Pass:
    """One launch."""

    kernel: str
    args: tuple[str, ...]


@dataclass(frozen=True)
class Kernel:
    """One line of the table."""

    name: str
    source: Path
    passes: tuple[Pass, ...]
    block: tuple[int, int, int]
    grid_rule: str
    grid_value: Any
    shared: int
    outputs: str
    zeroed: bool
    check: str
    every: int
    times: int
    reads: float
    is_unseen: bool  # added last: never fitted
    most: int  # the largest n
    columns: int = 0  # of its matrix, where only a part of the rows is run

    @property
    def source_hash(self) -> str:
        """Of the file without its comments and spaces: what a record was made from."""
        text = re.sub(r"//[^\n]*|\s+", "", self.source.read_text())
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def is_solution(self) -> bool:
        """Whether it is a reference of a chapter."""
        return self.source.is_relative_to(ROOT / "solutions")

    @property
    def asks_launch(self) -> bool:
        """Whether the file's LAUNCH kernels tell the shape."""
        return self.grid_rule == "launch"

    def shape(self, n: int, sm_count: int) -> LaunchShape:
        """The shape at n, where the table tells it."""
        threads = self.block[0] * self.block[1]
        value = self.grid_value
        if self.grid_rule == "blocks":
            grid = (value, 1)
        elif self.grid_rule == "per_sm":
            grid = (value * sm_count, 1)
        elif self.grid_rule == "each":
            grid = (max(1, math.ceil(n / (threads * value))), 1)
        else:
            side = side_of(n)
            grid = (-(-side // value[0]), -(-side // value[1]))
        return LaunchShape((*grid, 1), self.block, self.shared)

    def output_count(self, n: int, shape: LaunchShape) -> int:
        """Elements of `out` after the last pass, whose shape this is."""
        counts = {
            "blocks": shape.blocks,
            "warps": shape.blocks * -(-shape.block_threads // 32),
            "threads": shape.threads,
            "n": n,
            "n/2048": n // COLUMNS,
        }
        return counts[self.outputs] if self.outputs in counts else int(self.outputs)

    @property
    def element_bytes(self) -> int:
        """Of what is read and written."""
        return 8 if self.check.endswith("64") else 2 if self.check.endswith("16") else 4

    def bytes_that_must_move(self, n: int, outputs: int) -> float:
        """What is read once and what is written."""
        return self.element_bytes * (self.reads * n + outputs)

    def matrix(self, n: int) -> tuple[int, int]:
        """Rows and columns that n elements make."""
        if self.columns:
            return n // self.columns, self.columns
        square = ("transpose", "square", "product")
        return (side_of(n), side_of(n)) if self.check in square else (n // COLUMNS, COLUMNS)

    def ask_shapes(self, n: int, sm_count: int, ask: Callable[[str, int], LaunchShape]) -> list[LaunchShape]:
        """The shape of every pass; `ask` runs the LAUNCH kernel of a name with an n.

        The second pass works on what the first one left, one element a block.
        """
        shapes: list[LaunchShape] = []
        for each in self.passes:
            count = shapes[-1].blocks if shapes else n
            shapes.append(ask(each.kernel, count) if self.asks_launch else self.shape(n, sm_count))
        return shapes

    def integers(self, n: int, before: LaunchShape | None) -> dict[str, int]:
        """What the integer arguments of a pass are; `before` is the shape of the pass before it."""
        rows, columns = self.matrix(n)
        return {
            "n": n,
            "n64": n,
            "side": side_of(n),
            "rows": rows,
            "columns": columns,
            "terms": TERMS,
            "counts": before.blocks if before else n,
        }


def side_of(n: int) -> int:
    """The side of a square matrix of n elements, where n is a power of 4."""
    return 1 << (n.bit_length() - 1) // 2


def _kernel(path: Path, given: dict[str, Any]) -> Kernel:
    def fail(why: str) -> TableError:
        return TableError(f"{TABLE.name}: {given.get('name', given)}: {why}")

    if unknown := set(given) - KEYS:
        raise fail(f"no key is called {', '.join(sorted(unknown))}")
    # A kernel's own rule for the grid goes before its source's, whichever keys they have.
    rules = [rule for rule in GRIDS if rule in given]
    if len(rules) != 1:
        raise fail(f"one of {', '.join(GRIDS)} says how many blocks, not {len(rules)}")
    passes = given.get("passes") or [{"kernel": given["kernel"], "args": given["args"]}]
    block = given.get("block", 0)
    x, y = block if isinstance(block, list) else (block, 1)
    if x == 0 and rules[0] != "launch":
        raise fail("no block")
    every, times = int(given.get("every", 1)), int(given.get("times", 1))
    if given["check"] not in CHECKS:
        raise fail(f"there is no check called {given['check']}")
    made = Kernel(
        name=given["name"],
        source=path,
        passes=tuple(Pass(p["kernel"], tuple(p["args"])) for p in passes),
        block=(x, y, 1),
        grid_rule=rules[0],
        grid_value=given[rules[0]],
        shared=int(given.get("shared", 0)),
        outputs=str(given["outputs"]),
        zeroed=bool(given.get("zeroed", False)),
        check=given["check"],
        every=every,
        times=times,
        reads=float(given.get("reads", 1 / (every * times))),
        is_unseen=bool(given.get("unseen", False)),
        most=int(given.get("most", 2**30)),
    )
    for each in made.passes:
        if wrong := [a for a in each.args if a not in BUFFERS + INTEGERS]:
            raise fail(f"there is no argument called {', '.join(wrong)}")
    return made


def read_table(path: Path = TABLE) -> list[Kernel]:
    """All kernels of the table, in its order."""
    kernels: list[Kernel] = []
    for source in tomllib.loads(path.read_text())["source"]:
        common = {key: value for key, value in source.items() if key not in ("file", "kernels")}
        for line in source["kernels"]:
            own_rule = any(rule in line for rule in GRIDS)
            inherited = {k: v for k, v in common.items() if not (own_rule and k in GRIDS)}
            kernels.append(_kernel(ROOT / source["file"], inherited | line))
    names = [kernel.name for kernel in kernels]
    if twice := {name for name in names if names.count(name) > 1}:
        raise TableError(f"{path.name}: {', '.join(sorted(twice))} occurs twice")
    return kernels
