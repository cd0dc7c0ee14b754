"""The launches of hardware_truth/texture/cases.py on the emulator."""

from __future__ import annotations

import ctypes as c
import sys

import numpy as np
from emulator import ROOT, Buffer, Emulator, Value

from bench.emulator_library import CTexels, CTexture

TEXTURE = ROOT / "tests" / "hardware_truth" / "texture"
sys.path.insert(0, str(TEXTURE))
import video  # noqa: E402
from cases import THREADS, TYPES, Case, all_cases  # noqa: E402

__all__ = ["TEXTURE", "THREADS", "Case", "all_cases", "run", "texels_of", "texture", "video"]


def texels_of(case: Case) -> CTexels:
    return CTexels(
        type=list(TYPES).index(case.type),
        channels=case.channels,
        width=case.width,
        height=case.height,
        depth=case.depth,
        is_layered=bool(case.layered),
        is_cube=bool(case.cube),
    )


def texture(
    e: Emulator, texels: CTexels, address: int, *, pitch: int = 0, linear: bool = False, **how: object
) -> int:
    modes = how.pop("modes", (1, 1, 1))
    made = CTexture(texels=texels, address=address, is_linear=linear, pitch=pitch, **how)  # type: ignore[arg-type]
    made.address_mode[:] = modes  # type: ignore[index]
    return e.call("create_texture", c.byref(made))


def storage_of(e: Emulator, case: Case) -> tuple[int, Buffer | None]:
    """The handle of the case's texture or surface, and the buffer behind it."""
    if case.storage == "none":
        return 0, None
    texels, data = texels_of(case), case.texels()
    pitch = 512 if case.storage == "pitch" else 0
    if pitch:
        rows = np.zeros((case.height, pitch), np.uint8)
        rows[:, : data.size // case.height] = data.reshape(case.height, -1)
        data = rows
    made = e.buffer(data, "the texels")
    if case.storage == "surface":
        return e.call("create_surface", c.byref(texels), made.address), made
    handle = texture(
        e,
        texels,
        made.address,
        pitch=pitch,
        linear=case.storage in ("linear", "pitch"),
        modes=case.modes,
        is_filtered=bool(case.filter),
        has_normalised_coordinates=bool(case.normalised),
        reads_normalised=bool(case.reads_normalised),
    )
    return handle, made


def run(e: Emulator, case: Case) -> np.ndarray:
    """What the kernel stores: THREADS rows of four words."""
    handle, memory = storage_of(e, case)
    out = e.buffer(THREADS * 16, "out")
    arguments = [
        *(Value("u64", handle), Value("u32", case.seed)),
        *(Value("f32", float(size)) for size in (case.width, case.height, case.depth)),
        *(Value("i32", case.layers), out),
    ]
    result = e.launch(case.kernel, THREADS // 128, 128, arguments, checks=0)
    assert result.completed, (case, result.findings)
    stored = out.read(np.uint32).reshape(THREADS, 4)
    out.free()
    if handle:
        e.call("destroy_texture", handle)
    if memory:
        memory.free()
    return stored
