"""Fetches, surfaces and video instructions as an H200 computed them, and texture counters as it counted them.

hardware_truth/texture/record.npz has a hash of each launch's results and some of them whole. If the emulator is
not equal, REASONS says why and how far apart the results may be.
"""

from __future__ import annotations

import csv
import hashlib
from functools import cache
from pathlib import Path

import numpy as np
import textures
from emulator import Emulator, Value
from textures import TEXTURE, THREADS, Case

Array = np.ndarray


def group(case: Case) -> str:
    """The row of REASONS that a case belongs to."""
    shape = case.kernel.split("_")[0]
    if case.storage == "none":
        return "video"
    if shape == "integer1d":
        return "integer1d"
    if case.filter and not shape.startswith("gather"):
        return "filter " + (
            "s8"
            if case.type == "s8"
            else "3d"
            if shape == "tex3d"
            else "cube"
            if "cube" in shape
            else "plain"
        )
    return (
        "gather s8"
        if shape.startswith("gather") and case.type == "s8"
        else "cube"
        if "cube" in shape
        else shape
    )


# By group: how many of its launches may differ, how far values may be apart (in units of the largest), and why.
REASONS: dict[str, tuple[int, float, str]] = {
    "filter plain": (
        66,
        0.002,
        "sums of floats in another order or with other roundings: the last bit, of f16 too",
    ),
    "filter s8": (
        13,
        0.001,
        "signed bytes become 16 bits in a way that is not known: the last of these bits",
    ),
    "filter 3d": (11, 0.009, "one in twelve weights of the eight corners is off by 1/256"),
    "filter cube": (17, 0.27, "places on faces are a little apart; directions without a length"),
    "cube": (28, 0.2, "directions without a length"),
    "integer1d": (2, 1.0, "integer coordinates on an array of one dimension, which CUDA C++ does not offer"),
    "integera2d": (2, 1.0, "integer coordinates with a layer that the texture does not have"),
    "video": (
        48,
        1.0,
        "merged and saturated results: ptxas does not follow the pseudocode of the PTX ISA in them",
    ),
}


@cache
def record() -> tuple[Array, Array]:
    with np.load(TEXTURE / "record.npz") as data:
        return data["hashes"], data["kept"]


def hashed(results: Array) -> int:
    return int(hashlib.sha256(results.tobytes()).hexdigest()[:16], 16)


def distance(case: Case, mine: Array, theirs: Array) -> float:
    """The largest difference of the results that are kept, in units of the largest texel."""
    if not case.kernel.endswith("float4"):
        return float((mine != theirs).any())
    a, b = mine.view(np.float32).astype(float), theirs.view(np.float32).astype(float)
    return float(np.abs(a - b).max() / 1.99)


def test_results_are_the_hardwares(emulator_built: Path) -> None:
    import video

    hashes, kept = record()
    cases = textures.all_cases()
    assert len(cases) == len(hashes)
    differ: dict[str, int] = {}
    with Emulator() as fetches, Emulator() as instructions:
        fetches.load(TEXTURE / "kernels.ptx")
        instructions.load(video.ptx())
        for case, wanted, some in zip(cases, hashes, kept, strict=True):
            got = textures.run(instructions if case.storage == "none" else fetches, case)
            if hashed(got) == int(wanted):
                continue
            name = group(case)
            assert name in REASONS, case
            differ[name] = differ.get(name, 0) + 1
            assert distance(case, got[: len(some)], some) <= REASONS[name][1], (name, case)
    assert differ == {name: count for name, (count, _, _) in REASONS.items()}


# ---- Counters --------------------------------------------------------------------------------------------------
COUNTER_EXCEPTIONS = {
    # lanes of one reduction that meet in an address are served one after the other
    "reduce_same": (64, 64),
    # a texture of one dimension moves the texel that linear filtering would need, though it does not filter
    "line_linear": (128, 191),
}


def test_requests_and_sectors_are_the_hardwares(emulator_built: Path) -> None:
    from cases import patterns

    with (TEXTURE / "counters.csv").open(newline="") as file:
        wanted = {
            row["kernel"]: (int(row["texture_requests"]), int(row["texture_sectors"]))
            for row in csv.DictReader(file)
        }
    with Emulator() as e:
        e.load(TEXTURE / "patterns_texture.ptx")
        for case in patterns():
            handle, memory = textures.storage_of(e, case)
            assert memory
            out = e.buffer(THREADS * 16, "out")
            sizes = (Value("f32", float(size)) for size in (case.width, case.height, case.depth))
            arguments = [
                Value("u64", handle),
                Value("u32", case.seed),
                *sizes,
                Value("i32", case.layers),
                out,
            ]
            result = e.launch(case.kernel, THREADS // 128, 128, arguments, checks=0, count=True)
            assert result.completed, result.findings
            counted = (result.counters["texture_requests"], result.counters["texture_sectors"])
            expected = COUNTER_EXCEPTIONS.get(case.kernel, wanted[case.kernel])
            assert counted == expected, (case.kernel, wanted[case.kernel])
            out.free()
            memory.free()
