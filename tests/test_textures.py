"""Textures, surfaces and video instructions: against NumPy, and against what the kernels of
hardware_truth/texture store."""

from __future__ import annotations

import ctypes as c
import itertools
from pathlib import Path

import numpy as np
import pytest
import textures
from emulator import COMMAND, Buffer, Emulator, Result, Value
from textures import TEXTURE, TYPES, texture

from bench.emulator_library import CTexels, CVariable

WRAP, CLAMP, MIRROR, BORDER = range(4)
HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"
COUNT = 512


def kernel(code: str, registers: str = "", module: str = "") -> str:
    """Thread t has its number in %t and four coordinates, of `at`, in %x0 to %x3; it stores %r0 to %r3."""
    return (
        f"{HEADER}{module}\n.visible .entry k(.param .u64 object, .param .u64 at, .param .u64 out) {{\n"
        f".reg .b64 %h, %p, %q; .reg .b32 %r<8>, %x<4>, %t; .reg .pred %e; {registers}\n"
        "ld.param.u64 %h, [object]; mov.u32 %t, %tid.x; ld.param.u64 %p, [at]; mad.wide.u32 %p, %t, 16, %p;\n"
        "ld.global.v4.u32 {%x0, %x1, %x2, %x3}, [%p]; ld.param.u64 %q, [out]; mad.wide.u32 %q, %t, 16, %q;\n"
        f"{code}\nst.global.v4.u32 [%q], {{%r0, %r1, %r2, %r3}}; ret; }}\n"
    )


def launch(e: Emulator, handle: int, at: np.ndarray, checks: int = 15) -> tuple[np.ndarray, Result]:
    out = e.buffer(at.nbytes, "out")
    result = e.launch(
        "k", 1, len(at), [Value("u64", handle), e.buffer(at, "at"), out], checks=checks, count=True
    )
    return out.read(np.uint32).reshape(-1, 4), result


# ---- The guide's definitions, in NumPy -------------------------------------------------------------------------
def inside(i: np.ndarray, n: int, mode: int, normalised: bool) -> np.ndarray:
    """Indices of texels by address mode; -1 is the border."""
    if mode == BORDER:
        return np.where((i < 0) | (i >= n), -1, i)
    if mode == CLAMP or not normalised:
        return np.clip(i, 0, n - 1)
    if mode == WRAP:
        return i % n
    i = i % (2 * n)
    return np.where(i < n, i, 2 * n - 1 - i)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a * b + 128) // 256


def corner_weights(f: np.ndarray) -> dict[tuple[int, ...], np.ndarray]:
    """Of 256, as an H200 has them: rounded, and in sum 256."""
    if f.shape[1] == 1:
        return {(0,): 256 - f[:, 0], (1,): f[:, 0]}
    a, b = f[:, 0], f[:, -1]
    both = product(a, b)
    plane = {(0, 0): 256 - a - b + both, (1, 0): a - both, (0, 1): b - both, (1, 1): both}
    if f.shape[1] == 2:
        return plane
    upper = {at: product(w, f[:, 1]) for at, w in plane.items()}
    return {
        (x, y, z): upper[x, z] if y else plane[x, z] - upper[x, z]
        for x in (0, 1)
        for y in (0, 1)
        for z in (0, 1)
    }


def model(texels: np.ndarray, at: np.ndarray, mode: int, filtered: bool, normalised: bool) -> np.ndarray:
    """A fetch from `texels` (z, y, x, channels) at coordinates (count, dimensions)."""
    sizes = texels.shape[2::-1][: at.shape[1]]
    fixed = np.floor(at.astype(np.float64) * 2**21).astype(np.int64) * (np.array(sizes) if normalised else 1)
    if filtered:
        places = (fixed + (1 << 12) >> 13) - 128
        low, fraction = places >> 8, places & 255
    else:
        low, fraction = fixed >> 21, np.zeros(fixed.shape, np.int64)
    total = np.zeros((len(at), texels.shape[3]))
    for corner, weight in corner_weights(fraction).items():
        index = [inside(low[:, k] + step, sizes[k], mode, normalised) for k, step in enumerate(corner)]
        index += [np.zeros(len(at), np.int64)] * (3 - len(index))
        value = texels[index[2], index[1], index[0]].astype(np.float64)
        value[np.minimum.reduce(index) < 0] = 0
        total += weight[:, None] / 256 * value
    if at.shape[1] == 1 and filtered and mode == BORDER:
        total /= 2  # an edge in the dimension that it lacks
    return total.astype(np.float32)


SHAPES = {"1d": (37, 0, 0), "2d": (19, 13, 0), "3d": (7, 5, 6)}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", range(4))
@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("normalised", [False, True])
def test_fetches_are_as_the_guide_defines_them(
    emulator_built: Path, shape: str, mode: int, filtered: bool, normalised: bool
) -> None:
    width, height, depth = SHAPES[shape]
    draw = np.random.default_rng(mode)
    texels = draw.standard_normal((max(depth, 1), max(height, 1), width, 2)).astype(np.float32)
    dimensions = int(shape[0])
    size = np.array([width, height, depth][:dimensions]) if not normalised else 1
    at = np.zeros((COUNT, 4), np.float32)
    at[:, :dimensions] = draw.uniform(-1.5, 2.5, (COUNT, dimensions)) * size
    at[::7, :dimensions] = np.round(at[::7, :dimensions] * 8) / 8
    with Emulator() as e:
        given = ["%x0", "%x1", "%x2", "%x2"][: 1 if dimensions == 1 else 2 if dimensions == 2 else 4]
        e.load(kernel(f"tex.{shape}.v4.f32.f32 {{%r0, %r1, %r2, %r3}}, [%h, {{{', '.join(given)}}}];"))
        made = CTexels(type=7, channels=2, width=width, height=height, depth=depth)
        how = {"modes": (mode,) * 3, "is_filtered": filtered, "has_normalised_coordinates": normalised}
        got, result = launch(e, texture(e, made, e.buffer(texels).address, **how), at)
    assert not result.findings
    expected = model(texels, at[:, :dimensions], mode, filtered, normalised)
    np.testing.assert_allclose(got[:, :2].view(np.float32), expected, rtol=1e-6, atol=1e-9)
    assert (got[:, 2:] == 0).all()  # channels that the texels lack


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_types_and_read_modes(emulator_built: Path, name: str, channels: int) -> None:
    kind = np.dtype(TYPES[name])
    draw = np.random.default_rng(5)
    data = draw.integers(0, 256, 64 * channels * kind.itemsize, np.uint8)
    if kind.kind == "f":
        data = draw.standard_normal(64 * channels).astype(kind).view(np.uint8)
    values = data.view(kind).reshape(64, channels)
    at = np.zeros((96, 4), np.int32)
    at[:, 0] = np.arange(96) - 16
    valid = (at[:, 0] >= 0) & (at[:, 0] < 64)
    with Emulator() as e:
        result_type = {"u": "u32", "i": "s32", "f": "f32"}[kind.kind]
        memory = e.buffer(data)
        texels = CTexels(type=list(TYPES).index(name), channels=channels, width=64)
        for reads_normalised in (False, True) if kind.itemsize < 4 and kind.kind != "f" else (False,):
            words = "f32" if reads_normalised else result_type
            e.load(kernel(f"tex.1d.v4.{words}.s32 {{%r0, %r1, %r2, %r3}}, [%h, {{%x0}}];"))
            handle = texture(e, texels, memory.address, linear=True, reads_normalised=reads_normalised)
            got, result = launch(e, handle, at)
            assert not result.findings
            expected = values.astype(np.float32) if kind.kind == "f" else values
            if reads_normalised:
                expected = np.maximum(values.astype(np.float32) / np.float32(np.iinfo(kind).max), -1)
            elif kind.kind != "f":
                expected = values.astype(np.int64).astype(np.uint32)
            want = np.zeros((96, channels), np.uint32)
            want[valid] = np.ascontiguousarray(expected[at[valid, 0]]).view(np.uint32)
            np.testing.assert_array_equal(got[:, :channels], want)
            assert (got[~valid] == 0).all()


def test_layers_and_cubes(emulator_built: Path) -> None:
    faces = np.arange(12 * 16, dtype=np.float32)
    with Emulator() as e:
        memory = e.buffer(faces)
        e.load(kernel("tex.acube.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x3, %x0, %x1, %x2}];"))
        cubes = CTexels(type=7, channels=1, width=4, height=4, depth=12, is_layered=True, is_cube=True)
        at = np.zeros((14, 4), np.float32)
        for i, layer in enumerate((0, 1)):
            at[6 * i : 6 * i + 6, :3] = np.repeat(np.eye(3), 2, 0) * np.array([1, -1, 1, -1, 1, -1])[:, None]
            at[6 * i : 6 * i + 6, 3] = np.array([layer] * 6, np.uint32).view(np.float32)
        at[12:, 0], at[12:, 1], at[12:, 2] = 1, (0.9, -0.9), -0.6
        got, _ = launch(e, texture(e, cubes, memory.address), at)
        # +x, -x, +y, ... : the texel to the right of and below the centre
        assert got[:12, 0].view(np.float32).tolist() == [16 * face + 10 for face in range(12)]
        # of +x: s is -z and t is -y
        assert got[12:, 0].view(np.float32).tolist() == [3, 15]
        e.load(kernel("tex.a2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x3, %x0, %x1, %x1}];"))
        layers = CTexels(type=7, channels=1, width=4, height=4, depth=12, is_layered=True)
        at = np.zeros((4, 4), np.float32)
        at[:, 0], at[:, 1] = 2.5, 1.5
        at[:, 3] = np.array([3, 11, 12, 2**32 - 1], np.uint32).view(np.float32)
        got, _ = launch(e, texture(e, layers, memory.address), at)
        assert got[:, 0].view(np.float32).tolist() == [54, 182, 182, 182]


def test_gather_takes_one_channel_of_four_texels(emulator_built: Path) -> None:
    with Emulator() as e:
        memory = e.buffer(np.arange(8 * 8 * 4, dtype=np.float32))
        handle = texture(e, CTexels(type=7, channels=4, width=8, height=8), memory.address)
        at = np.full((1, 4), 4.0, np.float32)
        for channel, letter in enumerate("rgba"):
            e.load(kernel(f"tld4.{letter}.2d.v4.f32.f32 {{%r0, %r1, %r2, %r3}}, [%h, {{%x0, %x1}}];"))
            got, _ = launch(e, handle, at)
            texel = [(4 * 8 + 3), (4 * 8 + 4), (3 * 8 + 4), (3 * 8 + 3)]
            assert got.view(np.float32).tolist() == [[4 * t + channel for t in texel]]


def test_levels_gradients_and_queries(emulator_built: Path) -> None:
    with Emulator() as e:
        memory = e.buffer(np.arange(64, dtype=np.float32))
        texels = CTexels(type=7, channels=1, width=8, height=8)
        handle = texture(e, texels, memory.address, has_normalised_coordinates=True)
        at = np.full((1, 4), 0.3, np.float32)
        for word, more in (("level", ", %x0"), ("grad", ", {%x0, %x1}, {%x1, %x0}")):
            e.load(kernel(f"tex.{word}.2d.v4.f32.f32 {{%r0, %r1, %r2, %r3}}, [%h, {{%x0, %x1}}]{more};"))
            got, _ = launch(e, handle, at)
            assert got[0, 0].view(np.float32) == 18
        queries = ("width", "height", "channel_data_type", "normalized_coords")
        e.load(kernel("".join(f"txq.{q}.b32 %r{i}, [%h]; " for i, q in enumerate(queries))))
        assert launch(e, handle, at)[0].tolist() == [[8, 8, 0x20, 1]]


def test_a_texref_holds_a_handle(emulator_built: Path) -> None:
    with Emulator() as e:
        memory = e.buffer(np.arange(64, dtype=np.float32))
        handle = texture(e, CTexels(type=7, channels=1, width=64), memory.address, linear=True)
        code = "tex.1d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [image, {%x0}];"
        e.load(kernel(code, module=".global .texref image;"))
        found = CVariable()
        assert e.lib.emulator_find_variable(e.handle, None, b"image", c.byref(found))
        assert found.is_texture
        e.call("write", found.address, handle.to_bytes(8, "little"), 8)
        at = np.full((1, 4), 7, np.int32)
        assert launch(e, 0, at)[0][0, 0].view(np.float32) == 7


# ---- Surfaces --------------------------------------------------------------------------------------------------
def surface(e: Emulator, width: int, height: int, kind: int = 4) -> tuple[int, Buffer]:
    memory = e.buffer(np.arange(width * height, dtype=np.uint32))
    texels = CTexels(type=kind, channels=1, width=width, height=height)
    return e.call("create_surface", c.byref(texels), memory.address), memory


@pytest.mark.parametrize("outside", ["clamp", "zero"])
def test_surfaces_are_read_and_written(emulator_built: Path, outside: str) -> None:
    at = np.array(list(itertools.product([-8, 0, 4, 28, 32, 400], [-1, 0, 3, 4], [0], [0])), np.int32)
    with Emulator() as e:
        handle, memory = surface(e, 8, 4)
        e.load(
            kernel(
                f"suld.b.2d.b32.{outside} {{%r0}}, [%h, {{%x0, %x1}}]; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;"
            )
        )
        x, y = at[:, 0] // 4, at[:, 1]
        valid = (x >= 0) & (x < 8) & (y >= 0) & (y < 4)
        inner = np.clip(y, 0, 3) * 8 + np.clip(x, 0, 7)
        got, result = launch(e, handle, at)
        assert not result.findings
        assert got[:, 0].tolist() == (inner if outside == "clamp" else np.where(valid, inner, 0)).tolist()
        assert result.counters["texture_requests"] == 3  # 24 lanes
        e.load(kernel(f"sust.b.2d.b32.{outside} [%h, {{%x0, %x1}}], {{%t}};\n{ZEROS}"))
        launch(e, handle, at)
        expected = np.arange(32, dtype=np.uint32)
        for thread, (place, ok) in enumerate(zip(inner, valid, strict=True)):
            if ok or outside == "clamp":
                expected[place] = thread
        assert memory.read(np.uint32).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("operation", "kind", "value"),
    [
        ("add", "u32", 496 + 5),
        ("max", "u32", 31),
        ("max", "s32", 31),
        ("min", "u32", 0),
        ("or", "b32", 31),
        ("and", "b32", 0),
    ],
)
def test_surface_reductions(emulator_built: Path, operation: str, kind: str, value: int) -> None:
    with Emulator() as e:
        handle, memory = surface(e, 8, 4)
        zeros = "".join(f"mov.u32 %r{i}, 0; " for i in range(4))
        e.load(kernel(f"sured.b.{operation}.2d.{kind}.trap [%h, {{20, 0}}], %t; {zeros}"))
        launch(e, handle, np.zeros((32, 4), np.int32))
        assert memory.read(np.uint32)[5] == value


ZEROS = "mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;"


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        (
            "suld.b.2d.b32.trap {%r0}, [%h, {32, 0}];",
            "OUT_OF_BOUNDS",
            "accesses byte 32 of a surface whose last one is 31",
        ),
        (
            "suld.b.2d.b32.trap {%r0}, [%h, {0, 4}];",
            "OUT_OF_BOUNDS",
            "accesses row 4 of a surface whose last one is 3",
        ),
        ("suld.b.2d.b32.trap {%r0}, [%h, {2, 0}];", "MISALIGNED", "x = 2, which counts bytes"),
        (
            "suld.b.1d.b32.trap {%r0}, [%h, {0}];",
            "OUT_OF_BOUNDS",
            "of two dimensions as one that is of one dimension",
        ),
        ("suld.b.2d.b32.trap {%r0}, [%q, {0, 0}];", "OUT_OF_BOUNDS", "which is not a surface object"),
        (
            "tex.2d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%h, {0, 0}];",
            "OUT_OF_BOUNDS",
            "which is not a texture object: create it before the launch",
        ),
        ("txq.width.b32 %r0, [%q];", "OUT_OF_BOUNDS", "asks about"),
    ],
)
def test_wrong_objects_and_places(emulator_built: Path, code: str, kind: str, said: str) -> None:
    with Emulator() as e:
        handle, _ = surface(e, 8, 4)
        e.load(kernel(code + ZEROS))
        _, result = launch(e, handle, np.zeros((1, 4), np.int32))
        assert result.finding.kind == kind
        assert said in result.finding.message


def test_texels_that_nothing_has_written(emulator_built: Path) -> None:
    with Emulator() as e:
        memory = e.buffer(256, "the array")
        texels = CTexels(type=7, channels=1, width=64)
        handle = texture(e, texels, memory.address)
        e.load(kernel("tex.1d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%h, {%x0}];"))
        _, result = launch(e, handle, np.zeros((1, 4), np.int32))
        assert result.finding.kind == "UNINITIALISED"
        assert "the array" in result.finding.message


# ---- Video instructions, and whatever nvcc makes of textures ---------------------------------------------------
def test_video_instructions_compute_what_the_isa_says(emulator_built: Path) -> None:
    import video

    with Emulator() as e:
        e.load(video.ptx())
        for case in textures.all_cases():
            if case.storage != "none":
                continue
            form = video.FORMS[int(case.kernel.removeprefix("video_"))]
            got = textures.run(e, case)
            for thread, result in itertools.product(range(24), range(4)):
                operands = video.operands(case.seed, thread, result)
                wanted = video.compute(form, *operands)
                assert got[thread, result] == wanted, (form.text(), [hex(o) for o in operands])


def test_every_kernel_of_the_record_runs(emulator_built: Path) -> None:
    with Emulator() as e:
        e.load(TEXTURE / "kernels.ptx")
        seen = set()
        for case in textures.all_cases():
            if case.kernel not in seen and case.storage != "none":
                textures.run(e, case)
                seen.add(case.kernel)


def test_the_command_lists_textures(emulator_built: Path, tmp_path: Path) -> None:
    import subprocess

    file = tmp_path / "t.ptx"
    file.write_text(f"{HEADER}.global .texref image;\n")
    told = subprocess.run([COMMAND, file], capture_output=True, text=True, check=True).stdout
    assert told == "texture or surface image: 8 bytes\n"
