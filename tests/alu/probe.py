"""Runs one instruction of the emulator on 32 lanes, through tests/native/alu_probe.c."""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
from pathlib import Path

import numpy as np
from native_build import compiler

ROOT = Path(__file__).resolve().parents[2]
EMULATOR = ROOT / "common" / "emulator"
BUILD = ROOT / "build" / "tests"
FULL = 0xFFFFFFFF
LANES = 32

RESULTS = ["ok", "unknown opcode", "not arithmetic", "unknown form", "bad operands", "bad width", "bad call"]
WIDTH = {  # bits of a type's value
    **dict.fromkeys(["b8", "u8", "s8"], 8),
    **dict.fromkeys(["b16", "u16", "s16", "f16", "bf16"], 16),
    **dict.fromkeys(["b32", "u32", "s32", "f32", "f16x2", "bf16x2", "tf32"], 32),
    **dict.fromkeys(["b64", "u64", "s64", "f64"], 64),
}


def build_probe() -> ctypes.CDLL:
    """Compile the arithmetic files and the probe into a separate library, unless that is up to date."""
    BUILD.mkdir(parents=True, exist_ok=True)
    sources = [
        ROOT / "tests" / "native" / "alu_probe.c",
        *sorted(EMULATOR.glob("alu/*.c")),
        *sorted(EMULATOR.glob("ptx/*.c")),
        *sorted(EMULATOR.glob("program/**/*.c")),
        EMULATOR / "arena.c",
    ]
    extra = shlex.split(os.environ.get("CFLAGS_EXTRA", ""))
    flags = [
        "-std=gnu17",
        "-O2",
        "-ftree-vectorize",
        "-march=native",
        "-ffp-contract=off",
        "-fno-math-errno",
        "-fPIC",
        f"-I{EMULATOR.parent}",
        *extra,
    ]
    library, recipe = BUILD / "libalu_probe.so", BUILD / "libalu_probe.flags"
    command = [*compiler(), *flags, "-shared", *map(str, sources), "-lm"]
    newest = max(p.stat().st_mtime for p in [*sources, *EMULATOR.rglob("*.h"), *EMULATOR.rglob("*.def")])
    fresh = library.exists() and library.stat().st_mtime > newest and recipe.exists()
    if not fresh or recipe.read_text() != shlex.join(command):
        built = BUILD / f"libalu_probe.{os.getpid()}.so"  # tests run side by side
        done = subprocess.run([*command, "-o", str(built)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        built.replace(library)
        recipe.write_text(shlex.join(command))
    return ctypes.CDLL(str(library))


_library: ctypes.CDLL | None = None


def library() -> ctypes.CDLL:
    global _library
    if _library is None:
        _library = build_probe()
        _library.alu_probe_opcode.restype = ctypes.c_char_p
    return _library


Lanes = list[int]  # 32 raw values, or one 32-bit mask for a predicate


def parts_of(operand: str) -> list[str]:
    return operand.strip("{}").replace("|", ",").split(",")


def lane_array(kind: str, values: Lanes | int) -> np.ndarray:
    if kind == "_":
        return np.zeros(1, np.uint32)
    if kind == "pred":
        return np.array([values], np.uint32)
    return np.array(
        values, {8: np.uint16, 16: np.uint16, 32: np.uint32, 64: np.uint64}[WIDTH[kind.lstrip("#")]]
    )


def execute(
    op: str,
    to: str,
    sources: list[tuple[str, Lanes | int]],
    *,
    before: list[Lanes | int],
    mask: int = FULL,
    carry: int = 0,
    literals: tuple[int, ...] = (),
    alias: int = -1,
    constants: int = 0,
) -> tuple[list[Lanes | int], int, int]:
    """Runs one instruction. Returns the destinations, the carry and the counted floating-point operations."""
    destinations = parts_of(to)
    arrays = [lane_array(kind, v) for kind, v in zip(destinations, before, strict=True)]
    text = [to]
    values: list[tuple[str, Lanes | int]] = []
    for kind, v in sources:
        text.append(kind)
        names = parts_of(kind)
        values += [(kind, v)] if len(names) == 1 else list(zip(names, v, strict=True))  # type: ignore[arg-type]
    arrays += [lane_array(kind, v) for kind, v in values]
    pointers = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
    c, ops = ctypes.c_uint32(carry), ctypes.c_int(0)
    words = (ctypes.c_uint32 * max(1, len(literals)))(*literals)
    status = library().alu_probe(
        op.encode(), " ".join(text).encode(), 1, pointers, ctypes.c_uint32(mask), ctypes.byref(c), words,
        len(literals), alias, ctypes.c_uint32(constants), ctypes.byref(ops),
    )  # fmt: skip
    assert status == 0, f"{op} {text}: {RESULTS[status]}"
    out: list[Lanes | int] = []
    for kind, a in zip(destinations, arrays, strict=False):
        out.append(int(a[0]) if kind in ("pred", "_") else [int(x) for x in a])
    return out, c.value, ops.value


def accepted(op: str, to: str, *sources: str, literals: int = 0) -> bool:
    """Whether a form is known at all."""
    kinds = [(kind, [0] * LANES if kind != "pred" else 0) for kind in sources]
    try:
        execute(op, to, kinds, before=[0 if k in ("pred", "_") else [0] * LANES for k in parts_of(to)],
                literals=(0,) * literals)  # fmt: skip
    except AssertionError:
        return False
    return True
