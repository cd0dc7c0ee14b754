"""Tensor copies: which are recorded, how the emulator runs them, and the record of a GPU.

python tests/hardware_truth/tma/tensor_copy_cases.py FOLDER              writes cases.txt, the input of record.cu
python tests/hardware_truth/tma/tensor_copy_cases.py FOLDER record.bin   keeps what record.cu wrote, in record.npz
"""

from __future__ import annotations

import ctypes as c
import functools
import hashlib
import random
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[2]), str(HERE.parents[1])]

from emulator import Buffer, Emulator, Result, Value  # noqa: E402

from bench.emulator_library import CError, library  # noqa: E402

RECORD, KERNELS = HERE / "record.npz", HERE / "kernels.ptx"
BYTES = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4]  # of an element, by CUtensorMapDataType
NAMES = ["u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz"]
FLOATS = {NAMES.index(x) for x in ("f16", "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz")}
OPERATIONS = ["store", "add", "min", "max", "inc", "dec", "and", "or", "xor"]
REDUCED = {
    "add": ("u32", "s32", "u64", "f32", "f16", "bf16"),
    "min": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "max": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    **dict.fromkeys(("inc", "dec"), ("u32",)),
    **dict.fromkeys(("and", "or", "xor"), ("u32", "u64")),
}
NO_SWIZZLE, SPANS = 0, (0, 32, 64, 128)  # bytes of a row that swizzling turns


@dataclass(frozen=True)
class Case:
    """A tensor map by the arguments of cuTensorMapEncodeTiled, and one copy of a box of it."""

    kind: str  # map: encode only; load, cluster, store
    type: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]  # bytes, of all dimensions but the first
    box: tuple[int, ...]
    steps: tuple[int, ...]
    interleave: int = 0
    swizzle: int = 0
    l2: int = 0
    fill: int = 0  # 1: NaN
    base: int = 0  # of the tensor, bytes from the start of the buffer
    place: tuple[int, ...] = ()
    more: int = 0  # the operation of a store, the blocks of a cluster

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def counts(self) -> list[int]:
        """Elements of the box that are copied, by dimension. The first one's step is not looked at."""
        return [-(-b // (s if i else 1)) for i, (b, s) in enumerate(zip(self.box, self.steps, strict=True))]

    @property
    def box_bytes(self) -> int:
        count = BYTES[self.type]
        for n in self.counts:
            count *= n
        return count

    @property
    def pitch(self) -> int:
        """Bytes from one row of the box to the next in shared memory: swizzling turns rows of a fixed length."""
        return max(self.box[0] * BYTES[self.type], SPANS[self.swizzle])

    @property
    def words(self) -> int:
        """Of shared memory that a load writes down."""
        room = self.box_bytes // (self.box[0] * BYTES[self.type]) * self.pitch
        return (room + 127) // 128 * 32 + 32

    @property
    def out(self) -> int:
        """Words that are written down."""
        if self.kind == "store":
            return STORE_WORDS
        return 0 if self.kind == "map" else self.words * (4 if self.kind == "cluster" else 1)

    def line(self) -> str:
        numbers = [
            ["map", "load", "cluster", "store"].index(self.kind), self.type, self.rank,
            *padded(self.dims, 5), *padded(self.strides, 4), *padded(self.box, 5), *padded(self.steps, 5),
            self.interleave, self.swizzle, self.l2, self.fill, self.base, *padded(self.place, 5), self.more,
            self.box_bytes if self.kind != "map" else 0, self.words if self.kind != "map" else 0, self.out,
        ]  # fmt: skip
        return " ".join(map(str, numbers))


INPUT_WORDS, STORE_WORDS = 1 << 18, 4096  # of the tensor that is loaded from, and stored to


def padded(values: tuple[int, ...], count: int) -> list[int]:
    return [*values, *[0] * (count - len(values))]


def draw_copy(rng: random.Random, kind: str, of_type: int | None = None, more: int = 0) -> Case:
    """A copy that is within its limits, often at an edge of its tensor."""
    while True:
        kind_of = rng.randrange(len(BYTES)) if of_type is None else of_type
        size, rank = BYTES[kind_of], rng.randint(1, 5)
        swizzle = rng.choice([0, 0, 1, 2, 3])
        inner = rng.choice([16, 32, 48, 64, 96, 128, 256] if not swizzle else [16, 32, 64, 128])
        if swizzle:
            inner = min(inner, SPANS[swizzle])
        if inner // size > 256:
            continue
        box = (inner // size, *(rng.choice([1, 2, 3, 4, 7, 8, 16]) for _ in range(rank - 1)))
        steps = tuple(rng.choice([1, 1, 1, 1, 2, 3, 8]) for _ in range(rank))
        dims = tuple(
            max(1, rng.choice([b, b + 1, 2 * b, b - 1, b // 2, 3 * b + 1, rng.randint(1, 40)])) for b in box
        )
        strides: list[int] = []
        least = dims[0] * size
        for n in dims[1:]:
            strides.append((least + 15) // 16 * 16 + rng.choice([0, 0, 16, 48]))
            least = strides[-1] * n
        base = rng.choice([0, 16, 64, 1024])
        limit = (STORE_WORDS if kind == "store" else INPUT_WORDS) * 4
        place = tuple(
            rng.choice([0, 0, 1, d // 2, d - b, -1, -b // 2, d - 1, rng.randint(-b, d + b), d, -b])
            for d, b in zip(dims, box, strict=True)
        )
        unit = 16 // size  # a row begins at a multiple of 16 bytes
        place = (place[0] // unit * unit, *place[1:])
        fill = int(kind != "store" and kind_of in FLOATS and rng.random() < 0.5)
        case = Case(
            kind, kind_of, dims, tuple(strides), box, steps, 0, swizzle, rng.randrange(4), fill, base, place,
            more,
        )  # fmt: skip
        if base + least <= limit and case.words <= 4096:
            return case


def draw_map(rng: random.Random, ordered: bool) -> Case:
    """A map whose figures are anything; with `ordered`, each stride holds what is below it."""
    kind, rank = rng.randrange(len(BYTES)), rng.randint(1, 5)
    size, swizzle = BYTES[kind], rng.choice([0, 0, 1, 2, 3])
    inner = 16 * rng.randint(1, SPANS[swizzle] // 16 if swizzle else min(16, 16 * size))
    box = (inner // size, *(rng.randint(1, 256) for _ in range(rank - 1)))
    dims = tuple(rng.choice([1, 2**32, rng.randint(1, 2**32), rng.randint(1, 1000)]) for _ in box)
    strides = tuple(
        16 * rng.choice([1, 2**36 - 1, rng.randint(1, 2**36 - 1), rng.randint(1, 4096)]) for _ in box[1:]
    )
    if ordered:
        least, wider = size, []
        dims = tuple(rng.randint(1, 2 ** rng.randint(1, 11 if rank > 3 else 15)) for _ in box)
        for n in dims[:-1]:
            least = (least * n + 15) // 16 * 16
            least = min(least + 16 * rng.choice([0, 0, 1, rng.randint(0, 100)]), 2**40 - 16)
            wider.append(least)
        strides = tuple(wider)
    steps = tuple(rng.randint(1, 8) for _ in box)
    return Case(
        "map", kind, dims, strides, box, steps, 0, swizzle, rng.randrange(4),
        int(kind in FLOATS and rng.random() < 0.5), 16 * rng.randrange(4096),
    )  # fmt: skip


def changed(case: Case, **fields: object) -> Case:
    return Case(**(case.__dict__ | fields))  # type: ignore[arg-type]


def single_changes() -> list[Case]:
    """One figure after the other, from a plain map: each bit of the encoding shows where it comes from."""
    plain = Case("map", 2, (64,) * 5, (256, 16384, 1 << 20, 1 << 26), (8, 4, 4, 4, 4), (1,) * 5)
    cases = [plain]
    for name in ("dims", "box", "steps", "strides"):
        values = list(getattr(plain, name))
        for i in range(len(values)):
            tried = {
                "dims": [1 << b for b in range(33)] + [3, 1000, 0, 2**32 + 1],
                "box": [1, 2, 3, 12, 16, 32, 64, 128, 256, 257, 0],
                "steps": [*range(10)],
                "strides": [1 << b for b in range(4, 41)] + [8, 24, 48, 2**40 - 16, 0],
            }[name]
            cases += [changed(plain, **{name: (*values[:i], v, *values[i + 1 :])}) for v in tried]
    for kind in range(len(BYTES)):
        cases += [changed(plain, type=kind, box=(32 // BYTES[kind], 4, 4, 4, 4), fill=f) for f in (0, 1)]
    for rank in range(1, 6):
        cut = {n: getattr(plain, n)[:rank] for n in ("dims", "box", "steps")}
        cases += [changed(plain, **cut, strides=plain.strides[: rank - 1], l2=l2) for l2 in range(4)]
    cases += [
        changed(plain, swizzle=s, box=(b, 4, 4, 4, 4)) for s in range(4) for b in (4, 8, 12, 16, 32, 36, 64)
    ]
    cases += [changed(plain, base=b) for b in (8, 16, 32, 48, 64, 256, 4096, 65536)]
    cases += [
        changed(plain, dims=(1 << 20, 64), strides=(1 << b,), box=(8, 4), steps=(1, 1)) for b in range(4, 23)
    ]
    return cases


def cases() -> list[Case]:
    """All, the same each time; copies that a GPU refuses come last: f64 sums, rows at odd places."""
    rng = random.Random(20)
    made = single_changes() + [draw_map(rng, i % 3 > 0) for i in range(600)]
    made += [draw_copy(rng, "load") for _ in range(500)]
    for name in OPERATIONS:
        types = REDUCED.get(name, tuple(NAMES))
        made += [
            draw_copy(rng, "store", NAMES.index(t), OPERATIONS.index(name)) for t in types for _ in range(9)
        ]
    made += [draw_copy(rng, "cluster", more=rng.randint(1, 15)) for _ in range(60)]
    made += [draw_copy(rng, "store", NAMES.index("f64"), 1) for _ in range(4)]
    for kind in ("load", "store"):
        aligned = [draw_copy(rng, kind, NAMES.index(t)) for t in ("u8", "f16", "u64")]
        made += [changed(case, place=(case.place[0] + 1, *case.place[1:])) for case in aligned]
    return made


# ---- The emulator ------------------------------------------------------------------------------------------------


class CTensorMap(c.Structure):
    """TensorMap of tensor_map.h."""

    _fields_ = [
        ("address", c.c_uint64),
        ("type", c.c_uint32),
        ("rank", c.c_uint32),
        ("dims", c.c_uint64 * 5),
        ("strides", c.c_uint64 * 4),
        ("box", c.c_uint32 * 5),
        ("steps", c.c_uint32 * 5),
        *((name, c.c_uint32) for name in ("interleave", "swizzle", "l2_promotion", "fill")),
    ]


def encoded(case: Case, address: int) -> tuple[np.ndarray | None, str]:
    """The 32 words of the map of a tensor there, or None and why it is refused."""
    given = CTensorMap(
        address, case.type, case.rank, (c.c_uint64 * 5)(*case.dims), (c.c_uint64 * 4)(*case.strides),
        (c.c_uint32 * 5)(*case.box), (c.c_uint32 * 5)(*case.steps), case.interleave, case.swizzle, case.l2, case.fill,
    )  # fmt: skip
    words, error = (c.c_uint32 * 32)(), CError()
    encode = library().tensor_map_encode
    encode.restype = c.c_bool
    if not encode(c.byref(given), words, c.byref(error)):
        return None, error.message.decode()
    return np.array(words, np.uint32), ""


@functools.cache
def input_words() -> np.ndarray:
    return (np.arange(INPUT_WORDS, dtype=np.uint64) * 2654435761).astype(np.uint32)


def launched(
    e: Emulator, source: Buffer, case: Case, schedule: int = 0, words: np.ndarray | None = None
) -> tuple[np.ndarray, Result]:
    """What the copy wrote, and what came of the launch. `e` has loaded KERNELS; `source` holds input_words()."""
    is_store = case.kind == "store"
    out = e.buffer(
        input_words()[4096 : 4096 + STORE_WORDS] if is_store else np.zeros(case.out, np.uint32), "out"
    )
    if words is None:
        words, why = encoded(case, (out if is_store else source).address + case.base)
        assert words is not None, why
    numbers = [case.more, case.words] if is_store else [case.box_bytes, case.words]
    arguments: list[Buffer | Value] = [
        Value("bytes", words.tobytes()),
        Value("u32", case.rank),
        Value("bytes", struct.pack("<5i", *padded(case.place, 5))),
        *(Value("u32", x) for x in numbers),
        source if is_store else out,
    ]
    if case.kind == "cluster":
        arguments.append(Value("u32", case.more))
    name, blocks = {"load": ("load", 1), "cluster": ("load_for_cluster", 4), "store": ("store", 1)}[case.kind]
    result = e.launch(name, blocks, 64, arguments, shared=case.words * 4, schedule=schedule)
    got = out.read(np.uint32)
    out.free()
    return got, result


# ---- The record --------------------------------------------------------------------------------------------------


def hash_of(words: np.ndarray) -> int:
    return int.from_bytes(hashlib.blake2b(words.astype("<u4").tobytes(), digest_size=8).digest(), "little")


@dataclass(frozen=True)
class Recorded:
    """The answers of a GPU and its driver."""

    case: Case
    is_refused: bool  # the map
    has_failed: bool  # the copy
    map: int  # the hash of the words behind the address
    words: int  # of what the copy wrote


def read_answers(data: bytes) -> Iterator[Recorded]:
    """The file that record.cu writes."""
    at = 0
    for case in cases():
        (status,) = struct.unpack_from("<I", data, at)
        words = np.frombuffer(data, "<u4", 32 + case.out, at + 12)
        at += 12 + words.nbytes
        failed = case.out > 0 and bool((words[32:] == 0xDDDDDDDD).all())
        yield Recorded(case, status != 0, failed, hash_of(words[2:32]), hash_of(words[32:]))
    assert at == len(data)


def keep(answers: Path) -> None:
    recorded = list(read_answers(answers.read_bytes()))
    np.savez_compressed(
        RECORD,
        flags=np.array([r.is_refused + 2 * r.has_failed for r in recorded], np.uint8),
        maps=np.array([0 if r.is_refused else r.map for r in recorded], np.uint64),
        words=np.array([r.words if r.case.out else 0 for r in recorded], np.uint64),
    )


def read_record() -> list[Recorded]:
    """What record.npz holds."""
    with np.load(RECORD) as data:
        flags, maps, words = (data[x].tolist() for x in ("flags", "maps", "words"))
    return [
        Recorded(case, bool(f & 1), bool(f & 2), m, w)
        for case, f, m, w in zip(cases(), flags, maps, words, strict=True)
    ]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    if len(sys.argv) > 2:
        keep(Path(sys.argv[2]))
        sys.exit()
    (folder / "cases.txt").write_text("".join(case.line() + "\n" for case in cases()))
