"""wgmma.mma_async: the forms that are recorded as kernels, their operands, and the record of a GPU.

python tests/hardware_truth/wgmma/wgmma_forms.py FOLDER            writes kernels.ptx and runs.txt for record.cu
python tests/hardware_truth/wgmma/wgmma_forms.py FOLDER record.bin keeps what record.cu wrote, in record.npz
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[2]), str(HERE.parents[1]), str(HERE.parent / "tensor")]

from emulator import Emulator, Result, Value  # noqa: E402
from forms import operands_library  # noqa: E402

RECORD = HERE / "record.npz"
TYPES = ["F16", "BF16", "TF32", "F32", "F64", "E4M3", "E5M2", "I8", "I4", "B1", "S32"]  # of operands.h
OPERAND_TYPES = {
    "f16": "F16", "bf16": "BF16", "tf32": "TF32", "e4m3": "E4M3", "e5m2": "E5M2", "s8": "I8", "u8": "I8", "b1": "B1",
    "f32": "F32", "s32": "S32",
}  # fmt: skip
BITS = {
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "e4m3": 8,
    "e5m2": 8,
    "s8": 8,
    "u8": 8,
    "b1": 1,
    "f32": 32,
    "s32": 32,
}
FAMILIES = 9
SMALL_INTEGERS, NEAR_ONE, SPECIAL = 0, 1, 6
HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"
A_BYTES, B_BYTES = 8192, 36864  # of the images of both factors in shared memory


@dataclass(frozen=True)
class Form:
    """An instruction: the text of its words, and its immediate operands."""

    d: str
    a: str
    b: str
    n: int
    in_registers: bool = False  # a
    turns: tuple[int, int] = (0, 0)  # 1: a, b are contiguous along m, n
    signs: tuple[int, int] = (1, 1)
    saturates: bool = False

    @property
    def k(self) -> int:
        return 256 // BITS[self.a]

    @property
    def text(self) -> str:
        more = ".and.popc" if self.a == "b1" else ".satfinite" if self.saturates else ""
        return f"wgmma.mma_async.sync.aligned.m64n{self.n}k{self.k}.{self.d}.{self.a}.{self.b}{more}"

    @property
    def name(self) -> str:
        turns = "".join(map(str, self.turns))
        signs = "".join("-" if s < 0 else "+" for s in self.signs).replace("-", "m").replace("+", "p")
        how = ("r" if self.in_registers else "s") + turns + signs + ("sat" if self.saturates else "")
        return f"m64n{self.n}_{self.d}_{self.a}_{self.b}_{how}"

    @property
    def registers(self) -> int:
        """Of the sums, 32 bits each."""
        return self.n // (4 if self.d == "f16" else 2)

    @property
    def immediates(self) -> str:
        if self.d == "s32":
            return ""
        signs = f", {self.signs[0]}, {self.signs[1]}"
        if BITS[self.a] != 16:
            return signs
        turns = self.turns[1:] if self.in_registers else self.turns
        return signs + "".join(f", {t}" for t in turns)

    def ptx(self) -> str:
        """A kernel of 128 threads a block, each of which computes one tile."""
        sums = vector("c", self.registers)
        a = vector("a", 4) if self.in_registers else "da"
        lines = [
            f".reg .b32 a<4>, c<{self.registers}>, t, at, i, x, count, base;",
            ".reg .b64 pa, pb, pc, pd, da, db, wide, tile, to;",
            ".reg .pred p, q;",
            f".shared .align 1024 .b8 sa[{A_BYTES}];",
            f".shared .align 1024 .b8 sb[{B_BYTES}];",
            "mov.u32 t, %tid.x; mov.u32 at, %ctaid.x; cvt.u64.u32 tile, at; mul.wide.u32 wide, t, 4;",
            "ld.param.u64 pa, [ap]; ld.param.u32 count, [aw]; cvt.u64.u32 to, count; mul.lo.u64 to, to, tile;",
            "shl.b64 to, to, 2; add.u64 pa, pa, to;",
        ]
        if self.in_registers:
            lines += ["add.u64 pa, pa, wide;"]
            lines += [f"ld.global.b32 a{r}, [pa+{512 * r}];" for r in range(4)]
        else:
            lines += copied("a")
        lines += [
            "ld.param.u64 pb, [bp]; ld.param.u32 count, [bw]; cvt.u64.u32 to, count; mul.lo.u64 to, to, tile;",
            "shl.b64 to, to, 2; add.u64 pb, pb, to;",
            *copied("b"),
            "fence.proxy.async;",
            "bar.sync 0;",
        ]
        for x in "ab":
            lines += [
                f"mov.u32 base, s{x}; and.b32 base, base, 262143; shr.u32 base, base, 4; cvt.u64.u32 to, base;",
                f"ld.param.u64 d{x}, [d{x}p]; add.u64 d{x}, d{x}, to;",
            ]
        lines += [
            f"ld.param.u64 pc, [cp]; mul.lo.u64 to, tile, {512 * self.registers};",
            "add.u64 pc, pc, to; add.u64 pc, pc, wide;",
            "ld.param.u64 pd, [dp]; add.u64 pd, pd, to; add.u64 pd, pd, wide;",
            *(f"ld.global.b32 c{r}, [pc+{512 * r}];" for r in range(self.registers)),
            "ld.param.u32 x, [scale]; setp.ne.u32 p, x, 0;",
            "wgmma.fence.sync.aligned;",
            f"{self.text} {sums}, {a}, db, p{self.immediates};",
            "wgmma.commit_group.sync.aligned;",
            "wgmma.wait_group.sync.aligned 0;",
            *(f"st.global.b32 [pd+{512 * r}], c{r};" for r in range(self.registers)),
        ]
        body = "\n".join(lines)
        parameters = ", ".join(f".param .u64 {x}" for x in ("ap", "bp", "cp", "dp", "dap", "dbp"))
        parameters += ", .param .u32 scale, .param .u32 aw, .param .u32 bw"
        return f".visible .entry {self.name}({parameters})\n{{\n{body}\nret;\n}}\n"


def vector(name: str, count: int) -> str:
    return "{" + ",".join(f"{name}{r}" for r in range(count)) + "}"


def copied(x: str) -> list[str]:
    """`count` words of a factor go to shared memory."""
    return [
        f"mov.u32 i, t; mov.u32 base, s{x};",
        f"COPY_{x}: setp.ge.u32 q, i, count; @q bra DONE_{x};",
        f"mul.wide.u32 to, i, 4; add.u64 to, to, p{x}; ld.global.b32 x, [to];",
        "mad.lo.u32 at, i, 4, base; st.shared.b32 [at], x; add.u32 i, i, 128;",
        f"bra COPY_{x};",
        f"DONE_{x}:",
    ]


@dataclass(frozen=True)
class Layout:
    """What a descriptor says, in bytes; `size`: of the image."""

    size: int
    leading: int = 0
    stride: int = 0
    swizzle: int = 0  # 1: 128 bytes, 2: 64, 3: 32
    start: int = 0

    @property
    def descriptor(self) -> int:
        return self.start >> 4 | self.leading >> 4 << 16 | self.stride >> 4 << 32 | self.swizzle << 62


def compact(rows: int) -> Layout:
    """No swizzle, k contiguous: the first 16 bytes of all rows, then the others."""
    return Layout(rows * 32, rows * 16, 128)


@dataclass(frozen=True)
class Run:
    """Tiles of one form, with one layout of each factor."""

    form: Form
    number: int
    family: int
    a: Layout
    b: Layout
    scale: int = 1
    tiles: int = 8
    batch: int = 8
    full: int = 1  # complete results that the record of a GPU has

    @property
    def key(self) -> str:
        return f"{self.form.name}_{self.number}"

    @property
    def words(self) -> tuple[int, int, int]:
        return (
            512 if self.form.in_registers else self.a.size // 4,
            self.b.size // 4,
            128 * self.form.registers,
        )

    @property
    def lanes(self) -> tuple[int, int, int]:
        return 128 if self.form.in_registers else 1, 1, 128

    @property
    def types(self) -> list[int]:
        return [TYPES.index(OPERAND_TYPES[t]) for t in (self.form.a, self.form.b, self.form.d)]

    def line(self) -> str:
        numbers = [
            *self.types, *self.words, *self.lanes, self.a.descriptor, self.b.descriptor, self.scale, self.family,
            self.tiles, self.batch, self.full,
        ]  # fmt: skip
        return f"{self.form.name} {self.key} {' '.join(map(str, numbers))}"


def factor_types() -> list[tuple[str, str, str]]:
    eights = ("e4m3", "e5m2")
    return [
        ("f32", "f16", "f16"), ("f16", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "tf32", "tf32"),
        *((d, a, b) for d in ("f32", "f16") for a in eights for b in eights),
        *(("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")),
        ("s32", "b1", "b1"),
    ]  # fmt: skip


def layouts(rows: int, turned: int, k: int) -> list[Layout]:
    """Ways to place a factor of 16-bit elements, or of any if k is contiguous."""
    groups = rows // 8
    if not turned:
        made = [compact(rows), Layout(rows * 48, rows * 16 + 256, 160)]
        for swizzle, span in ((1, 128), (2, 64), (3, 32)):
            made += [Layout(rows * span, 16, 8 * span, swizzle, start) for start in range(0, span, 32)]
            if groups > 1 and rows * span * 2 <= (A_BYTES if rows == 64 else B_BYTES):
                made += [Layout(rows * span * 2, 16, 16 * span, swizzle)]
        return made
    # Blocks of 8 x 8 elements, 128 bytes each: along m or n, then along k, and the other way round.
    made = [Layout(rows * 32, rows * 16, 128), Layout(rows * 32, 128, 256)]
    for swizzle, span in ((1, 128), (2, 64), (3, 32)):
        columns = span // 2
        if rows % columns:
            continue
        block, blocks = 8 * span, rows // columns
        made += [Layout(2 * blocks * block, block, blocks * block, swizzle)]
        made += [Layout(2 * blocks * block, 2 * block, block, swizzle)]
    return made


@functools.cache
def runs() -> list[Run]:
    made: list[tuple[Form, int, Layout, Layout, int, int]] = []  # form, family, layouts, scale, tiles
    for types, in_registers in itertools.product(factor_types(), (False, True)):
        form = Form(*types, 16, in_registers)
        made += [(form, family, compact(64), compact(16), 1, 24) for family in range(FAMILIES)]
        if types[0] == "s32" and types[1] != "b1":
            sat = Form(*types, 16, in_registers, saturates=True)
            made += [(sat, family, compact(64), compact(16), 1, 8) for family in (0, 1)]
    main = [*factor_types()[:4], ("f32", "e4m3", "e5m2")]
    for types in (*main, ("s32", "s8", "s8"), ("s32", "b1", "b1")):
        for n in (8, 32, 64, 96, 128, 256) + ((40, 200) if types[0] != "s32" else ()):
            form = Form(*types, n, n == 64)
            made += [(form, family, compact(64), compact(n), 1, 8) for family in (NEAR_ONE, SPECIAL)]
    for types in main:
        for signs in ((-1, 1), (1, -1), (-1, -1)):
            form = Form(*types, 16, signs=signs)
            made += [(form, family, compact(64), compact(16), 1, 8) for family in (NEAR_ONE, SPECIAL)]
    for types in (*main, ("s32", "s8", "s8"), ("s32", "b1", "b1")):
        for family, in_registers in itertools.product((NEAR_ONE, SPECIAL), (False, True)):
            made += [(Form(*types, 16, in_registers), family, compact(64), compact(16), 0, 8)]
    for types in (("f32", "f16", "f16"), ("f32", "bf16", "bf16")):
        for n, turns in itertools.product((64, 128, 24), itertools.product((0, 1), (0, 1))):
            for a in layouts(64, turns[0], 16):
                made += [(Form(*types, n, turns=turns), SMALL_INTEGERS, a, layouts(n, turns[1], 16)[0], 1, 2)]
            for b in layouts(n, turns[1], 16):
                made += [(Form(*types, n, turns=turns), SMALL_INTEGERS, compact(64), b, 1, 2)]
        for b in layouts(128, 1, 16):
            made += [(Form(*types, 128, True, turns=(0, 1)), SMALL_INTEGERS, compact(64), b, 1, 2)]
    for types in (("f32", "tf32", "tf32"), ("f32", "e4m3", "e4m3"), ("s32", "s8", "u8"), ("s32", "b1", "b1")):
        for a in layouts(64, 0, 0):
            made += [(Form(*types, 32), SMALL_INTEGERS, a, compact(32), 1, 2)]
        for b in layouts(32, 0, 0):
            made += [(Form(*types, 32), SMALL_INTEGERS, compact(64), b, 1, 2)]
    return [
        Run(form, i, family, a, b, scale, tiles, min(8, tiles), 2 if tiles == 24 else 1)
        for i, (form, family, a, b, scale, tiles) in enumerate(made)
    ]


def kernels() -> str:
    seen = {run.form.name: run.form for run in runs()}
    return HEADER + "".join(form.ptx() for form in seen.values())


# ---- The emulator ------------------------------------------------------------------------------------------------


def operands(run: Run) -> list[np.ndarray]:
    """a, b and the sums of all tiles, as words [tile][word]."""
    made = []
    for which, words in enumerate(run.words):
        to = np.zeros((run.tiles, words), np.uint32)
        operands_library().fill_tiles(
            to.ctypes.data_as(ctypes.c_void_p), 32, words, run.lanes[which], run.types[which], which, run.family,
            run.key.encode(), 0, run.tiles,
        )  # fmt: skip
        made.append(to)
    return made


def launched(e: Emulator, run: Run, given: list[np.ndarray], checks: int = 0) -> tuple[np.ndarray, Result]:
    """The emulator's results, as words [tile][word]. `e` has loaded the form's kernel."""
    tiles = len(given[0])
    buffers = [e.buffer(x, name) for x, name in zip(given, "abc", strict=True)]
    out = e.buffer(np.zeros((tiles, run.words[2]), np.uint32), "d")
    numbers = [Value("u64", run.a.descriptor), Value("u64", run.b.descriptor)]
    numbers += [Value("u32", x) for x in (run.scale, *run.words[:2])]
    result = e.launch(run.form.name, tiles, 128, [*buffers, out, *numbers], checks=checks)
    return out.read(np.uint32).reshape(tiles, -1), result


def emulated(run: Run) -> np.ndarray:
    with Emulator() as e:
        e.load(HEADER + run.form.ptx())
        words, result = launched(e, run, operands(run))
        assert not result.findings, result.findings
        return words


# ---- The record --------------------------------------------------------------------------------------------------


def read_answers(data: bytes) -> Iterator[tuple[Run, list[int], np.ndarray]]:
    """The file that record.cu writes: of each run the hashes of its batches, and the words of its first tiles."""
    at = 0
    for run in runs():
        batches = run.tiles // run.batch
        hashes = list(struct.unpack_from(f"<{batches}Q", data, at))
        words = np.frombuffer(data, "<u4", run.full * run.words[2], at + 8 * batches)
        at += 8 * batches + words.nbytes
        yield run, hashes, words.reshape(run.full, -1)
    assert at == len(data)


def keep(answers: Path) -> None:
    """Writes record.npz: the hashes."""
    hashes = [h for _, of_run, _ in read_answers(answers.read_bytes()) for h in of_run]
    np.savez_compressed(RECORD, hashes=np.array(hashes, np.uint64))


def read_record() -> Iterator[tuple[Run, list[int]]]:
    """What record.npz holds."""
    with np.load(RECORD) as data:
        hashes = data["hashes"].tolist()
    for run in runs():
        batches = run.tiles // run.batch
        yield run, hashes[:batches]
        hashes = hashes[batches:]
    assert not hashes


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    if len(sys.argv) > 2:
        keep(Path(sys.argv[2]))
        sys.exit()
    (folder / "kernels.ptx").write_text(kernels())
    (folder / "runs.txt").write_text("".join(run.line() + "\n" for run in runs()))
    print(
        len({r.form.name for r in runs()}),
        "kernels",
        len(runs()),
        "runs",
        sum(r.tiles for r in runs()),
        "tiles",
    )
