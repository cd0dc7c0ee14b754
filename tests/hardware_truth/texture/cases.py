"""The launches of record.cu: which kernel, on what, and how it is read.

python cases.py FOLDER                 writes there what record.cu reads: cases.txt, patterns.txt and PTX
python cases.py FOLDER record.bin      packs what record.cu wrote into record.npz
"""

from __future__ import annotations

import hashlib
import re
import sys
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
THREADS, KEPT = 512, 24  # launched; of them kept completely
TYPES = {
    "u8": np.uint8,
    "s8": np.int8,
    "u16": np.uint16,
    "s16": np.int16,
    "u32": np.uint32,
    "s32": np.int32,
    "f16": np.float16,
    "f32": np.float32,
}
WRAP, CLAMP, MIRROR, BORDER = range(4)


@dataclass(frozen=True)
class Case:
    """One launch; the fields are the words of a line of cases.txt."""

    kernel: str
    storage: str  # array, linear, pitch, surface; none: no object
    type: str = "f32"
    channels: int = 1
    width: int = 1
    height: int = 0
    depth: int = 0
    layered: int = 0
    cube: int = 0
    modes: tuple[int, int, int] = field(default=(CLAMP, CLAMP, CLAMP))
    filter: int = 0
    normalised: int = 0
    reads_normalised: int = 0
    seed: int = 0
    layers: int = 1

    def line(self) -> str:
        words = [getattr(self, name) for name in self.__dataclass_fields__]
        return " ".join(" ".join(map(str, w)) if isinstance(w, tuple) else str(w) for w in words)

    def texels(self) -> np.ndarray:
        """The bytes of all texels, without gaps."""
        size = np.dtype(TYPES[self.type]).itemsize * self.channels
        count = self.width * max(self.height, 1) * max(self.depth, 1) * size
        h = np.arange(1, (count + 3) // 4 + 1, dtype=np.uint32) * np.uint32(0x9E3779B9)
        for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B), (16, 1)):
            h ^= h >> np.uint32(shift)
            h *= np.uint32(factor)
        if self.type == "f32":
            h = (h & np.uint32(0x807FFFFF)) | (
                np.uint32(120) + (h >> np.uint32(23) & np.uint32(7))
            ) << np.uint32(23)
        if self.type == "f16":
            low = (np.uint32(10) + (h >> np.uint32(10) & np.uint32(7))) << np.uint32(10)
            high = (np.uint32(10) + (h >> np.uint32(26) & np.uint32(7))) << np.uint32(26)
            h = (h & np.uint32(0x83FF83FF)) | low | high
        return h.view(np.uint8)[:count].copy()


SHAPES: dict[str, dict[str, int]] = {
    "tex1d": {"width": 37},
    "tex2d": {"width": 19, "height": 13},
    "tex3d": {"width": 7, "height": 5, "depth": 6},
    "texa1d": {"width": 37, "depth": 3, "layered": 1, "layers": 3},
    "texa2d": {"width": 16, "height": 11, "depth": 3, "layered": 1, "layers": 3},
    "texcube": {"width": 8, "height": 8, "depth": 6, "cube": 1},
    "texacube": {"width": 8, "height": 8, "depth": 12, "cube": 1, "layered": 1, "layers": 2},
    "level2d": {"width": 19, "height": 13},
    "grad2d": {"width": 19, "height": 13},
    "gather0": {"width": 19, "height": 13},
    "gather1": {"width": 19, "height": 13},
    "gather2": {"width": 19, "height": 13},
    "gather3": {"width": 19, "height": 13},
}


def result_of(texel: str, reads_normalised: int) -> str:
    return "float4" if texel[0] == "f" or reads_normalised else "uint4" if texel[0] == "u" else "int4"


def all_cases() -> list[Case]:
    cases: list[Case] = []

    def add(kernel: str, storage: str, **words: object) -> None:
        normalised = int(words.get("normalised", 0))  # type: ignore[call-overload]
        seed = 2 * (len(cases) + 1) + normalised  # the lowest bit tells the kernel how large coordinates are
        cases.append(Case(kernel, storage, seed=seed, **words))  # type: ignore[arg-type]

    for shape, size in SHAPES.items():
        for mode, filtered, normalised in product(range(4), (0, 1), (0, 1)):
            if mode in (WRAP, MIRROR) and not normalised:
                continue
            if shape in ("texcube", "texacube") and not normalised:
                continue
            how = {"modes": (mode,) * 3, "filter": filtered, "normalised": normalised, **size}
            channels = 4 if shape.startswith("gather") else 1
            add(f"{shape}_float4", "array", type="f32", channels=channels, **how)
            if shape == "tex2d":
                add(f"{shape}_float4", "pitch", type="f32", channels=1, **how)
                add(f"{shape}_float4", "array", type="u8", reads_normalised=1, channels=4, **how)
        if shape == "tex2d":
            for modes in (
                (WRAP, CLAMP, CLAMP),
                (MIRROR, BORDER, CLAMP),
                (BORDER, WRAP, CLAMP),
                (CLAMP, MIRROR, WRAP),
            ):
                add("tex2d_float4", "array", modes=modes, filter=1, normalised=1, **size)
        wide = ("tex2d", "tex1d", "gather1")
        for texel, channels in product(TYPES, (1, 2, 4) if shape in wide else (4,)):
            for reads_normalised in (0, 1) if texel in ("u8", "s8", "u16", "s16") else (0,):
                result = result_of(texel, reads_normalised)
                for filtered in (0, 1) if result == "float4" else (0,):
                    words = {"type": texel, "channels": channels, "reads_normalised": reads_normalised}
                    add(
                        f"{shape}_{result}",
                        "array",
                        modes=(WRAP,) * 3,
                        filter=filtered,
                        normalised=1,
                        **words,
                        **size,
                    )
    for texel, channels in product(TYPES, (1, 2, 4)):
        for reads_normalised in (0, 1) if texel in ("u8", "s8", "u16", "s16") else (0,):
            words = {"type": texel, "channels": channels, "reads_normalised": reads_normalised}
            add(f"fetch1d_{result_of(texel, reads_normalised)}", "linear", width=64, **words)
    for mode in (CLAMP, BORDER):
        modes = (mode,) * 3
        add("integer1d", "array", modes=modes, **SHAPES["tex1d"])
        add("integer2d", "array", modes=modes, **SHAPES["tex2d"])
        add("integer2d", "pitch", modes=modes, **SHAPES["tex2d"])
        add("integer3d", "array", modes=modes, **SHAPES["tex3d"])
        add("integera2d", "array", modes=modes, **SHAPES["texa2d"])
    for size, (texel, channels) in {
        1: ("u8", 1),
        2: ("s16", 1),
        4: ("f32", 1),
        8: ("u16", 4),
        16: ("f32", 4),
    }.items():
        for outside in ("clamp", "zero"):
            words = {"type": texel, "channels": channels, "layers": size}
            add(f"surf1_{outside}_{size}", "surface", width=37, **words)
            add(f"surf2_{outside}_{size}", "surface", width=19, height=13, **words)
            add(f"surf3_{outside}_{size}", "surface", width=7, height=5, depth=6, **words)
    cases += [Case("", "none")] * 2  # two that no GPU ran: the numbers of the others stay as they are
    from video import FORMS

    for number in range(len(FORMS)):
        add(f"video_{number}", "none")
    return [case for case in cases if case.kernel]


def patterns() -> list[Case]:
    """The launches of patterns_texture.ptx, which Nsight Compute counts: the start of a name says what it reads."""
    square = {"width": 64, "height": 64}
    what: dict[str, dict[str, object]] = {
        "linear": {"filter": 1, **square},
        "wide": {"channels": 4, **square},
        "gather": {"channels": 4, **square},
        "pitch": {"storage": "pitch", **square},
        "byte": {"type": "u8", **square},
        "layer": {"depth": 2, "layered": 1, "layers": 2, **square},
        "volume": {"width": 8, "height": 8, "depth": 8},
        "fetch": {"storage": "linear", "width": 4096},
        "line": {"width": 512},
        "load": {"storage": "surface", **square},
        "store": {"storage": "surface", **square},
        "load16": {"storage": "surface", "channels": 4, **square},
        "reduce": {"storage": "surface", "type": "u32", **square},
    }
    found = re.findall(r"\.entry (\w+)\(", (HERE / "patterns_texture.ptx").read_text())
    return [
        Case(**{"kernel": name, "storage": "array", **what.get(name.split("_")[0], square)})  # type: ignore[arg-type]
        for name in found
    ]


def pack(results: np.ndarray, path: Path) -> None:
    """Keeps a hash of each launch's results, and some of them whole."""
    hashes = np.array([int(hashlib.sha256(r.tobytes()).hexdigest()[:16], 16) for r in results], np.uint64)
    np.savez_compressed(path, hashes=hashes, kept=results[:, :KEPT])


def main() -> None:
    from video import ptx

    if len(sys.argv) > 2:
        results = np.fromfile(sys.argv[2], np.uint32).reshape(-1, THREADS, 4)
        assert len(results) == len(all_cases()), "the record is of other cases"
        pack(results, HERE / "record.npz")
        return
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("kernels.ptx", "patterns_texture.ptx"):
        (folder / name).write_bytes((HERE / name).read_bytes())
    (folder / "video.ptx").write_text(ptx())
    (folder / "cases.txt").write_text("".join(case.line() + "\n" for case in all_cases()))
    (folder / "patterns.txt").write_text("".join(case.line() + "\n" for case in patterns()))


if __name__ == "__main__":
    main()
