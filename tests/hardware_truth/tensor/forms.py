"""The matrix instructions of forms.def as kernels for the emulator, their operands, and the record of a GPU.

python tests/hardware_truth/tensor/forms.py record.bin        keeps what record.cu wrote, in record.npz
python tests/hardware_truth/tensor/forms.py record.bin FIRST  keeps the hashes of other tiles: -DFIRST_TILE=FIRST
"""

from __future__ import annotations

import ctypes
import functools
import re
import struct
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[2]), str(HERE.parents[1])]

from emulator import Emulator  # noqa: E402
from native_build import build  # noqa: E402

RECORD = HERE / "record.npz"
OTHERS = HERE / "other_tiles.npz"
TYPES = ["F16", "BF16", "TF32", "F32", "F64", "E4M3", "E5M2", "I8", "I4", "B1", "S32"]
FAMILIES = 9
HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"


@dataclass(frozen=True)
class Form:
    """One row of forms.def. `words` are those of a, b, c in memory, `out` those of a tile's results."""

    text: str
    is_wmma: bool
    registers: tuple[int, int, int, int]  # d, a, b, c
    bits: int
    words: tuple[int, int, int]
    out: int
    types: tuple[str, str, str]
    loads: tuple[str, str, str, str] = ("", "", "", "")  # a, b, c; store of d
    strides: tuple[int, int, int] = (0, 0, 0)  # of a, b; of c and d

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(f"u{self.bits // 8}")

    @property
    def shape(self) -> tuple[int, int, int]:
        m, n, k = re.search(r"m(\d+)n(\d+)k(\d+)", self.text).groups()
        return int(m), int(n), int(k)

    def ptx(self) -> str:
        """A kernel of one warp a block, each of which computes one tile."""
        d, a, b, c = (vector(x, count) for x, count in zip("dabc", self.registers, strict=True))
        width = self.bits // 8
        lines = [
            f".reg .b{self.bits} a<8>, b<8>, c<8>, d<8>;",
            ".reg .b64 pa, pb, pc, pd, at, lane, fragment;",
            ".reg .b32 t;",
        ]
        lines += ["mov.u32 t, %tid.x;", "cvt.u64.u32 lane, t;", f"mul.lo.u64 lane, lane, {width};"]
        lines += ["mov.u32 t, %ctaid.x;", "cvt.u64.u32 at, t;"]
        for name, words in zip("abcd", (*self.words, self.out), strict=True):
            lines += [
                f"ld.param.u64 p{name}, [{name}p];",
                f"mad.lo.u64 p{name}, at, {words * width}, p{name};",
            ]
        multiply = f"{self.text} {d}, {a}, {b}, {c};"
        if self.is_wmma:
            stride_a, stride_b, stride_c = self.strides
            lines += [
                f"{self.loads[0]} {a}, [pa], {stride_a};",
                f"{self.loads[1]} {b}, [pb], {stride_b};",
                f"{self.loads[2]} {c}, [pc], {stride_c};",
                multiply,
                f"{self.loads[3]} [pd], {d}, {stride_c};",
                f"add.u64 fragment, pd, {(self.out - 32 * sum(self.registers[1:])) * width};",
                "add.u64 fragment, fragment, lane;",
            ]
            stored = [
                (x, r) for x, count in zip("abc", self.registers[1:], strict=True) for r in range(count)
            ]
            lines += [
                f"st.global.b{self.bits} [fragment+{i * 32 * width}], {x}{r};"
                for i, (x, r) in enumerate(stored)
            ]
        else:
            lines += [f"add.u64 p{x}, p{x}, lane;" for x in "abcd"]
            for x, count in zip("abc", self.registers[1:], strict=True):
                lines += [f"ld.global.b{self.bits} {x}{r}, [p{x}+{r * 32 * width}];" for r in range(count)]
            lines += [multiply]
            lines += [
                f"st.global.b{self.bits} [pd+{r * 32 * width}], d{r};" for r in range(self.registers[0])
            ]
        body = "\n".join(lines)
        parameters = ", ".join(f".param .u64 {x}p" for x in "abcd")
        return f"{HEADER}.visible .entry tile({parameters})\n{{\n{body}\nret;\n}}\n"


def vector(name: str, count: int) -> str:
    return "{" + ",".join(f"{name}{r}" for r in range(count)) + "}"


@functools.cache
def forms() -> dict[str, Form]:
    """The forms by the text of their instruction."""
    found = {}
    for line in (HERE / "forms.def").read_text().splitlines():
        row = re.fullmatch(r"(MMA|WMMA)\((.*)\)", line)
        if not row:
            continue
        columns = [c.strip().strip('"') for c in row[2].split(", ")]
        d, a, b, c, bits = map(int, columns[:5])
        types = tuple(columns[-3:])
        if row[1] == "MMA":
            form = Form(columns[5], False, (d, a, b, c), bits, (a * 32, b * 32, c * 32), d * 32, types)
        else:
            words = [int(x) for x in columns[5:9]]
            load_a, stride_a, load_b, stride_b, load_c, text, store_d, stride_c = columns[9:17]
            form = Form(
                text, True, (d, a, b, c), bits, tuple(words[:3]), words[3] + 32 * (a + b + c), types,
                (load_a, load_b, load_c, store_d), (int(stride_a), int(stride_b), int(stride_c)),
            )  # fmt: skip
        found[form.text] = form
    return found


# ---- Operands ----------------------------------------------------------------------------------------------------


TILES_IN_C = """
void fill_tiles(void *to, int bits, int words, int lanes, int type, int which, int family, const char *text,
                int first, int tiles) {
    for (int t = 0; t < tiles; t++)
        fill_operand((char *)to + (long)t * words * (bits / 8), bits, words, lanes, type, which, family,
                     tile_seed(text, family, first + t));
}
uint64_t hash_words(const void *words, int bits, long count) {
    uint64_t sum = 0;
    for (long i = 0; i < count; i++)
        sum += word_hash(bits == 64 ? ((const uint64_t *)words)[i] : ((const uint32_t *)words)[i], (uint64_t)i);
    return sum;
}
"""


@functools.cache
def operands_library() -> ctypes.CDLL:
    """operands.h, compiled."""
    folder = HERE.parents[2] / "build" / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "tensor_operands.c"
        source.write_text(f'#include "{HERE}/operands.h"\n{TILES_IN_C}')
        output = build(folder / "libtensor_operands.so", [source], "-shared", "-fPIC", "-O2", sanitize=False)
    library = ctypes.CDLL(str(output))
    library.hash_words.restype = ctypes.c_uint64
    return library


def operands(form: Form, family: int, tiles: int, first: int = 0) -> list[np.ndarray]:
    """a, b and c of so many tiles, as words [tile][word]."""
    made = []
    for which, words in enumerate(form.words):
        to = np.zeros((tiles, words), form.dtype)
        operands_library().fill_tiles(
            to.ctypes.data_as(ctypes.c_void_p), form.bits, words, 1 if form.is_wmma else 32,
            TYPES.index(form.types[which]), which, family, form.text.encode(), first, tiles,
        )  # fmt: skip
        made.append(to)
    return made


def hash_of(words: np.ndarray) -> int:
    words = np.ascontiguousarray(words)
    return operands_library().hash_words(
        words.ctypes.data_as(ctypes.c_void_p), words.itemsize * 8, ctypes.c_long(words.size)
    )


def emulated(form: Form, given: list[np.ndarray], ptx: str = "") -> np.ndarray:
    """The emulator's results for these operands, as words [tile][word]; `ptx`: in place of the form's."""
    tiles = len(given[0])
    with Emulator() as e:
        e.load(ptx or form.ptx())
        buffers = [e.buffer(x, name) for x, name in zip(given, "abc", strict=True)]
        out = e.buffer(np.zeros((tiles, form.out), form.dtype), "d")
        result = e.launch("tile", tiles, 32, [*buffers, out], checks=0)
        assert not result.findings, result.findings
        return out.read(form.dtype).reshape(tiles, form.out)


# ---- The record --------------------------------------------------------------------------------------------------

NEAR_ONE, SPECIAL = 1, 6  # families whose first tile is kept


@dataclass(frozen=True)
class Recorded:
    """What a GPU answered for one form and one family."""

    form: Form
    family: int
    batch: int  # tiles of a batch
    hashes: list[int]
    tiles: np.ndarray  # complete results of the first ones


def read_answers(data: bytes, *, is_full: bool = False) -> Iterator[Recorded]:
    """The file that record.cu writes."""
    batches, batch, full_tiles, families = struct.unpack_from("<4I", data)
    at = 16
    known = forms()
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        text = data[at + 4 : at + 4 + length].decode()
        at += 4 + length
        bits, out = struct.unpack_from("<2I", data, at)
        at += 8
        for family in range(families):
            hashes: list[int] = []
            if not is_full:
                hashes = list(struct.unpack_from(f"<{batches}Q", data, at))
                at += 8 * batches
            tiles = full_tiles if is_full else 1
            words = np.frombuffer(data, f"<u{bits // 8}", tiles * out, at).reshape(tiles, out)
            at += words.nbytes
            yield Recorded(known[text], family, batch, hashes, words)


def keep(answers: Path) -> None:
    """Writes record.npz: the hashes, and the complete results of some tiles."""
    recorded = list(read_answers(answers.read_bytes()))
    kept = [r for r in recorded if r.family == NEAR_ONE or (r.family == SPECIAL and not r.form.is_wmma)]
    np.savez_compressed(
        RECORD,
        texts=np.array([r.form.text for r in recorded if r.family == 0]),
        hashes=np.array([r.hashes for r in recorded], np.uint64).reshape(
            -1, FAMILIES, len(recorded[0].hashes)
        ),
        batch=np.array(recorded[0].batch),
        kept=np.array([f"{r.family} {r.form.text}" for r in kept]),
        tiles=np.concatenate([r.tiles[0].view(np.uint32) for r in kept]),
    )


def keep_others(answers: Path, first: int) -> None:
    """Writes other_tiles.npz: the hashes of tiles from `first` on, in the order of record.npz."""
    hashes = [r.hashes for r in read_answers(answers.read_bytes())]
    np.savez_compressed(
        OTHERS, hashes=np.array(hashes, np.uint64).reshape(-1, FAMILIES, len(hashes[0])), first=first
    )


def read_others() -> tuple[int, dict[str, list[list[int]]]]:
    """The first tile, and {text: the hashes of its families}."""
    with np.load(RECORD) as data:
        texts = data["texts"].tolist()
    with np.load(OTHERS) as data:
        return int(data["first"]), dict(zip(texts, data["hashes"].tolist(), strict=True))


def read_record() -> Iterator[Recorded]:
    """What record.npz holds."""
    with np.load(RECORD) as data:
        texts, hashes, batch, kept, words = (data[x] for x in ("texts", "hashes", "batch", "kept", "tiles"))
    tiles = {}
    at = 0
    for name in kept:
        family, _, text = str(name).partition(" ")
        form = forms()[text]
        count = form.out * form.bits // 32
        tiles[text, int(family)] = words[at : at + count].view(form.dtype)
        at += count
    for text, of_form in zip(texts, hashes, strict=True):
        form = forms()[str(text)]
        none = np.zeros(0, form.dtype)
        for family, of_family in enumerate(of_form):
            tile = tiles.get((form.text, family), none)
            yield Recorded(form, family, int(batch), of_family.tolist(), tile[None] if tile.size else tile)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        keep_others(Path(sys.argv[1]), int(sys.argv[2]))
    else:
        keep(Path(sys.argv[1]))
