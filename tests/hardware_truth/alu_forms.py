"""Every form of every arithmetic instruction as a separate kernel, to run on a GPU.

The forms are those of tests/alu. `record_alu.py` runs them on a GPU and keeps the answers;
tests/test_alu_hardware.py asks the emulator the same questions.
"""

from __future__ import annotations

import hashlib
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import alu  # noqa: E402

ROWS = 128  # inputs per form: four warps
ANSWERS = HERE / "alu_answers.npz"


def key(case: alu.Case) -> str:
    return " ".join([case.op, case.to, *case.sources])


def forms() -> dict[str, alu.Case]:
    """The forms that a kernel can be written for, by key. A .b8 register holds nothing but loads."""
    kinds = {"b8", "u8", "s8"}
    return {
        key(c): c
        for c in alu.CASES
        if not kinds & {*c.sources, *alu.parts_of(c.to)}
        and not any(k.startswith(("{", "#")) for k in c.sources)
    }


def inputs(case: alu.Case) -> list[list[int]]:
    """ROWS values for every source: the edges of its type, each other's neighbours, and random bits."""
    draw = random.Random(hashlib.sha256(key(case).encode()).digest())
    columns = []
    for k, kind in enumerate(case.sources):
        if kind == "pred":
            columns.append([draw.getrandbits(1) for _ in range(ROWS)])
            continue
        bits = max(16, alu.WIDTH[kind])
        if k in case.shifts:
            pool = [
                0,
                1,
                2,
                7,
                8,
                15,
                16,
                31,
                32,
                33,
                63,
                64,
                65,
                255,
                256,
                (1 << 31) & ((1 << bits) - 1),
                (1 << bits) - 1,
            ]
            columns.append(
                [draw.choice(pool) if draw.random() < 0.7 else draw.getrandbits(6) for _ in range(ROWS)]
            )
            continue
        edges = [int(e) & ((1 << bits) - 1) for e in alu.edges(kind)]
        column = [draw.choice(edges) if draw.random() < 0.6 else draw.getrandbits(bits) for _ in range(ROWS)]
        if len(case.sources) == 1:
            column[: min(len(edges), ROWS)] = edges[:ROWS]
        columns.append(column)
    return columns


def _register(kind: str) -> str:
    return {16: "h", 32: "r", 64: "d"}[max(16, alu.WIDTH[kind])]


def kernel(name: str, case: alu.Case) -> str:
    """One kernel (in, out): source k of row t at in[k * ROWS + t], results at out likewise, 8 bytes each."""
    lines = [
        f".visible .entry {name}(.param .u64 pin, .param .u64 pout)",
        "{",
        ".reg .pred %p<12>; .reg .b16 %h<12>; .reg .b32 %r<12>; .reg .b64 %d<12>;",
        ".reg .b64 %a<4>; .reg .b64 %v<12>; .reg .u32 %t;",
        "mov.u32 %t, %tid.x; mul.wide.u32 %a2, %t, 8;",
        "ld.param.u64 %a0, [pin]; ld.param.u64 %a1, [pout]; add.u64 %a0, %a0, %a2; add.u64 %a1, %a1, %a2;",
    ]
    operands = []
    for k, kind in enumerate(case.sources):
        lines.append(f"ld.global.u64 %v{k}, [%a0+{k * ROWS * 8}];")
        if kind == "pred":
            lines.append(f"setp.ne.u64 %p{k}, %v{k}, 0;")
            operands.append(f"%p{k}")
            continue
        register = f"%{_register(kind)}{k}"
        move = {
            "h": f"cvt.u16.u64 {register}, %v{k};",
            "r": f"cvt.u32.u64 {register}, %v{k};",
            "d": f"mov.b64 {register}, %v{k};",
        }
        lines.append(move[_register(kind)])
        operands.append(register)
    results = []
    for k, kind in enumerate(alu.parts_of(case.to)):
        results.append("%p" + str(8 + k) if kind == "pred" else f"%{_register(kind)}{8 + k}")
    lines.append(f"{case.op} {'|'.join(results)}, {', '.join(operands)};")
    for k, (kind, register) in enumerate(zip(alu.parts_of(case.to), results, strict=True)):
        if kind == "pred":
            lines.append(f"selp.u64 %v{8 + k}, 1, 0, {register};")
        else:
            widen = {"h": "cvt.u64.u16", "r": "cvt.u64.u32", "d": "mov.b64"}[_register(kind)]
            lines.append(f"{widen} %v{8 + k}, {register};")
        lines.append(f"st.global.u64 [%a1+{k * ROWS * 8}], %v{8 + k};")
    return "\n".join([*lines, "ret;", "}"])


def image(cases: list[tuple[str, alu.Case]], version: str = "8.6", target: str = "sm_90") -> str:
    head = f".version {version}\n.target {target}\n.address_size 64\n"
    return head + "\n".join(kernel(name, c) for name, c in cases) + "\n"


def assemble(cases: list[tuple[str, alu.Case]]) -> tuple[bytes, list[str]]:
    """A cubin of those forms that ptxas accepts, and the keys of those that it does not."""
    refused: list[str] = []
    left = list(cases)
    with tempfile.TemporaryDirectory() as folder:
        ptx, cubin = Path(folder) / "forms.ptx", Path(folder) / "forms.cubin"
        while True:
            text = image(left)
            ptx.write_text(text)
            done = subprocess.run(
                ["ptxas", "-arch=sm_90", "-O1", str(ptx), "-o", str(cubin)], capture_output=True, text=True
            )
            if done.returncode == 0:
                return cubin.read_bytes(), refused
            bad_lines = {int(n) for n in re.findall(r"line (\d+)", done.stderr)}
            owner, bad = "", set()
            for number, line in enumerate(text.splitlines(), 1):
                if line.startswith(".visible .entry "):
                    owner = line.split()[2].partition("(")[0]
                if number in bad_lines:
                    bad.add(owner)
            assert bad, done.stderr[:2000]
            refused += [key(c) for name, c in left if name in bad]
            left = [(name, c) for name, c in left if name not in bad]
