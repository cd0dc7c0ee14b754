"""Litmus tests of the PTX memory model: PTX for each, and which outcomes are weak, allowed and forbidden.

A shape is a list of roles; a role is a list of steps on the locations x and y: `x=1` stores, `0=x` loads into
result 0, `y=r0` stores result 0, `0+y` is atomicAdd(y, 1) into result 0, `F` is the
fence of the column, and `f` the same in a role behind the first that has one. The names
of shapes, accesses and fences are those of hardware_truth/litmus.csv.
"""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from native_build import ROOT, build

TRUTH = Path(__file__).parent / "hardware_truth" / "litmus.csv"
Outcome = str  # the digits of results 0 to 3, then x and y at the end; "4" where nothing was stored


@dataclass(frozen=True)
class Shape:
    """Roles, the weak outcome, and the accesses and fences under which the memory model forbids it."""

    roles: list[str]
    weak: Callable[[Outcome], bool]
    forbidden: tuple[str, ...]  # fences that forbid it if accesses are volatile or relaxed
    always: bool = False  # no fence is needed


ORDERED = ("both", "sc")  # release and acquire are enough
SEQUENTIAL = ("sc",)
SHAPES = {
    "MP": Shape(["x=1 F y=1", "0=y F 1=x"], lambda o: o[:2] == "10", ORDERED),
    "SB": Shape(["x=1 F 0=y", "y=1 F 1=x"], lambda o: o[:2] == "00", SEQUENTIAL),
    "LB": Shape(["0=x F y=1", "1=y F x=1"], lambda o: o[:2] == "11", ORDERED),
    "S": Shape(["x=2 F y=1", "0=y F x=1"], lambda o: o[0] == "1" and o[4] == "2", ORDERED),
    "R": Shape(["x=1 F y=1", "y=2 F 0=x"], lambda o: o[0] == "0" and o[5] == "2", SEQUENTIAL),
    "2+2W": Shape(["x=1 F y=2", "y=1 F x=2"], lambda o: o[4:] == "11", SEQUENTIAL),
    "CoRR": Shape(["x=1", "0=x F 1=x"], lambda o: o[:2] == "10", (), always=True),
    "CoWW": Shape(["x=1 F x=2", "0=x"], lambda o: o[4] != "2", (), always=True),
    "CoWR": Shape(
        ["x=1 F 0=x", "x=2"], lambda o: o[0] == "0" or (o[0] == "2" and o[4] == "1"), (), always=True
    ),
    "CoRW": Shape(
        ["0=x F x=1", "x=2"], lambda o: o[0] == "1" or (o[0] == "2" and o[4] == "2"), (), always=True
    ),
    "WRC": Shape(["x=1", "0=x F y=r0", "1=y f 2=x"], lambda o: o[:3] == "110", ORDERED),
    "IRIW": Shape(["x=1", "y=1", "0=x F 1=y", "2=y f 3=x"], lambda o: o[:4] == "1010", SEQUENTIAL),
    "ticket": Shape(["x=1 F 0+y", "1+y F 2=x"], lambda o: o[1:3] == "10", ORDERED),
}
ACCESSES = {"weak": "weak", "volatile": "volatile", "relaxed": "relaxed.gpu"}
FENCES = {  # of the first role that has one, and of the others
    "none": ("", ""),
    "block scope": ("fence.acq_rel.cta;", "fence.acq_rel.cta;"),
    "writer": ("fence.acq_rel.gpu;", ""),
    "reader": ("", "fence.acq_rel.gpu;"),
    "both": ("fence.acq_rel.gpu;", "fence.acq_rel.gpu;"),
    "sc": ("fence.sc.gpu;", "fence.sc.gpu;"),
}

HEAD = """.version 8.0
.target sm_90
.address_size 64
"""
KERNEL = """.visible .entry {name}(.param .u64 p0, .param .u64 p1, .param .u64 p2) {{
    .reg .b64 %rd<9>;
    .reg .b32 %r<8>, %v<4>;
    .reg .pred %p<5>;
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    ld.param.u64 %rd3, [p2];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    rem.u32 %r3, %r2, {roles};
    div.u32 %r4, %r2, {roles};
    mad.lo.u32 %r5, %r4, 32, %r1;
    mul.wide.u32 %rd4, %r5, 4;
    add.u64 %rd1, %rd1, %rd4;
    add.u64 %rd2, %rd2, %rd4;
    mul.wide.u32 %rd4, %r5, 16;
    add.u64 %rd3, %rd3, %rd4;
{bodies}}}
"""
PLACE = {"x": "[%rd1]", "y": "[%rd2]"}


def _steps(role: str, access: str, fence: str) -> Iterable[str]:
    results = []
    for step in role.split():
        if step in "Ff":
            yield fence
        elif step[1] == "+":
            yield f"atom.global.add.u32 %v{step[0]}, {PLACE[step[2]]}, 1;"
            results.append(step[0])
        elif step[0] in PLACE:
            value = step[2:].replace("r", "%v")
            yield f"st.{access}.global.u32 {PLACE[step[0]]}, {value};"
        else:
            yield f"ld.{access}.global.u32 %v{step[0]}, {PLACE[step[2]]};"
            results.append(step[0])
    for result in results:
        yield f"st.global.u32 [%rd3+{4 * int(result)}], %v{result};"
    yield "ret;"


def _kernel(name: str, shape: Shape, access: str, fences: tuple[str, str]) -> str:
    bodies = ""
    first = next((i for i, role in enumerate(shape.roles) if "F" in role), 0)
    for i, role in enumerate(shape.roles):
        bodies += f"    setp.ne.u32 %p{i}, %r3, {i};\n    @%p{i} bra L{i};\n"
        bodies += "".join(f"    {step}\n" for step in _steps(role, access, fences[i != first]) if step)
        bodies += f"L{i}:\n"
    return KERNEL.format(name=name, roles=len(shape.roles), bodies=bodies + "    ret;\n")


def ptx(shape: str, only_forbidden: bool) -> str:
    """The accesses and fences of a shape; kernel `ACCESS_FENCES_ROLES`, with _ for spaces."""
    of = SHAPES[shape]
    return HEAD + "".join(
        _kernel(f"{access}_{fence.replace(' ', '_')}_{len(of.roles)}", of, ACCESSES[access], FENCES[fence])
        for access in ACCESSES
        for fence in FENCES
        if not only_forbidden or is_forbidden(shape, access, fence)
    )


def run(
    folder: Path, shape: str, schedules: int, *, only_forbidden: bool = False
) -> dict[tuple[str, str], dict[Outcome, int]]:
    """How often each outcome was seen in 32 trials under each of that many weak schedules, by access and fences."""
    file = folder / f"{shape}.ptx"
    file.write_text(ptx(shape, only_forbidden))
    out = subprocess.run(
        [probe(folder), file, "4", str(schedules), "32"], capture_output=True, text=True, check=True
    )
    seen: dict[tuple[str, str], dict[Outcome, int]] = {}
    for line in out.stdout.splitlines():
        name, outcome, count = line.split()
        access, fences = name[:-2].split("_", 1)
        seen.setdefault((access, fences.replace("_", " ")), {})[outcome] = int(count)
    return seen


def probe(folder: Path) -> Path:
    """The program that runs them."""
    made = folder / "litmus_probe"
    if not made.exists():
        libraries = [ROOT / "build" / "lib" / f"lib{name}.a" for name in ("emulator", "support")]
        build(made, [Path(__file__).parent / "native" / "litmus_probe.c", *libraries], "-O2", sanitize=False)
    return made


def weak_outcomes(shape: str, seen: dict[Outcome, int]) -> int:
    return sum(count for outcome, count in seen.items() if SHAPES[shape].weak(outcome))


def is_forbidden(shape: str, access: str, fences: str) -> bool:
    """By the memory model: fences order only strong accesses; coherence needs no fence."""
    of = SHAPES[shape]
    return of.always or (fences in of.forbidden and access != "weak")


def seen_on_h200() -> set[tuple[str, str, str]]:
    with TRUTH.open() as file:
        rows = list(csv.DictReader(file))
    return {(row["shape"], row["access"], row["fences"]) for row in rows if int(row["weak_outcomes"])}
