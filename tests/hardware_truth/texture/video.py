"""Video instructions: the forms that are tested, a kernel for each, and what the PTX ISA says that they compute."""

from __future__ import annotations

import random
from dataclasses import dataclass

EDGES = [
    *(0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000),
    *(0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80808080, 0x7F7F7F7F, 0x80008000, 0x00FF01FE),
]
MASK = 0xFFFFFFFF


@dataclass(frozen=True)
class Form:
    """One instruction; selectors are "" where they are left out."""

    name: str  # vadd, vset ...
    elements: int
    types: tuple[str, ...]  # d, a and b; of vset a and b
    words: str = ""  # .sat, .wrap, .eq ...
    second: str = ""  # add, min, max
    d: str = ""
    a: str = ""
    b: str = ""
    third: bool = False
    negated: str = ""  # of vmad: which of a, b and c; p: .po

    def text(self) -> str:
        number = str(self.elements) if self.elements > 1 else ""
        words = ("." + self.words if self.words else "") + ("." + self.second if self.second else "")
        dot = {
            key: "." + value if value else "" for key, value in (("d", self.d), ("a", self.a), ("b", self.b))
        }
        sign = {key: "-" if key in self.negated else "" for key in "abc"}
        c = f", {sign['c']}%c" if self.third else ""
        types = ".".join(self.types) + (".po" if "p" in self.negated else "")
        return (
            f"{self.name}{number}.{types}{words} "
            f"%d{dot['d']}, {sign['a']}%a{dot['a']}, {sign['b']}%b{dot['b']}{c};"
        )


def _forms() -> list[Form]:
    r = random.Random("video")
    types = ("u32", "s32")
    parts = ("", "", "b0", "b1", "b2", "b3", "h0", "h1")
    forms: list[Form] = []
    for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"):
        for number in range(24):
            kind = number % 4  # plain, saturated, with a second operation, merged
            of = [r.choice(types) for _ in range(2 if name == "vset" else 3)]
            words = []
            if name in ("vshl", "vshr"):
                of[2] = "u32"
            if name != "vset" and (kind == 1 or (kind and r.random() < 0.5)):
                words.append("sat")
            if name in ("vshl", "vshr"):
                words.append(r.choice(("clamp", "wrap")))
            if name == "vset":
                words.append(r.choice(("eq", "ne", "lt", "le", "gt", "ge")))
            second = ("add", "min", "max")[number // 4 % 3] if kind == 2 else ""
            d = parts[2 + number // 4] if kind == 3 else ""
            forms.append(
                Form(
                    name, 1, tuple(of), ".".join(words), second, d, r.choice(parts), r.choice(parts), kind > 1
                )
            )
    for number in range(32):
        a_type, b_type = r.choice(types), r.choice(types)
        negated = ("", "a", "b", "c", "p")[number % 5] if number < 20 else ""
        words = [w for w in (("sat" if number % 2 else ""), ("", "shr7", "shr15")[number % 3]) if w]
        signed = "s32" in (a_type, b_type) or bool(negated.strip("p"))
        a, b = r.choice(parts), r.choice(parts)
        forms.append(
            Form(
                "vmad",
                1,
                ("s32" if signed else "u32", a_type, b_type),
                ".".join(words),
                "",
                "",
                a,
                b,
                True,
                negated,
            )
        )
    for elements in (2, 4):
        letter, digits = ("h", 2) if elements == 2 else ("b", 4)
        for name in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"):
            for number in range(12):
                of = [r.choice(types) for _ in range(2 if name == "vset" else 3)]
                words = [] if name != "vset" else [r.choice(("eq", "ne", "lt", "le", "gt", "ge"))]
                if name != "vset" and number % 3 == 1:
                    words.append("sat")
                select = [
                    letter + "".join(str(r.randrange(2 * digits)) for _ in range(digits))
                    if number % 4 > 1
                    else ""
                    for _ in range(2)
                ]
                written = sorted(r.sample(range(digits), r.randrange(1, digits + 1)), reverse=True)
                d = letter + "".join(map(str, written)) if number % 2 else ""
                forms.append(
                    Form(
                        name,
                        elements,
                        tuple(of),
                        ".".join(words),
                        "add" if number % 3 == 2 else "",
                        d,
                        *select,
                        True,
                    )
                )
    return forms


FORMS = _forms()


# ---- What they compute -----------------------------------------------------------------------------------------
def _extended(value: int, bits: int, signed: bool) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def _clamped(value: int, bits: int, signed: bool) -> int:
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def _part(value: int, selector: str, signed: bool) -> int:
    if not selector:
        return _extended(value, 32, signed)
    bits = 8 if selector[0] == "b" else 16
    return _extended(value >> bits * int(selector[1]), bits, signed)


def _computed(form: Form, a: int, b: int) -> int:
    words = form.words.split(".")
    match form.name:
        case "vadd":
            return a + b
        case "vsub":
            return a - b
        case "vabsdiff":
            return abs(a - b)
        case "vmin":
            return min(a, b)
        case "vmax":
            return max(a, b)
        case "vavrg":
            return (a + b + 1) >> 1 if a + b >= 0 else (a + b) >> 1
        case "vset":
            return int(
                {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[words[0]]
            )
    by = b & 31 if "wrap" in words else min(b, 32)
    return a << by if form.name == "vshl" else a >> by


def _multiplied(form: Form, a: int, b: int, c: int) -> int:
    """vmad: c and the results are those of the ISA's pseudocode."""
    signed = "s32" in form.types[1:] or bool(form.negated.strip("p"))
    product, one = a * b, 0
    if form.negated == "p":
        one = 1
    elif form.negated in ("a", "b"):
        product, one = ~product, 1
    elif form.negated == "c":
        c, one = ~c & MASK, 1
    total = product + _extended(c, 32, signed) + one
    words = form.words.split(".")
    total >>= 7 if "shr7" in words else 15 if "shr15" in words else 0
    total = _extended(total, 64, signed)
    return (_clamped(total, 32, signed) if "sat" in words else total) & MASK


def compute(form: Form, a: int, b: int, c: int) -> int:
    signed = [t == "s32" for t in (form.types if len(form.types) == 3 else ("u32", *form.types))]
    saturates = "sat" in form.words.split(".")
    if form.elements == 1:
        x, y = _part(a, form.a, signed[1]), _part(b, form.b, signed[2])
        if form.name == "vmad":
            return _multiplied(form, x, y, c)
        t = _computed(form, x, y)
        bits = 32 if not form.d else 8 if form.d[0] == "b" else 16
        if saturates:
            t = _clamped(t, bits, signed[0])
        third = _extended(c, 32, signed[0])
        t = {"": t, "add": t + third, "min": min(t, third), "max": max(t, third)}[form.second]
        if not form.d:
            return t & MASK
        shift = bits * int(form.d[1])
        hole = ((1 << bits) - 1) << shift
        return (c & ~hole) | (t << shift & hole)
    n, bits = form.elements, 32 // form.elements
    chosen = [
        [int(x) for x in reversed(given[1:])] if given else [first + i for i in range(n)]
        for given, first in ((form.a, 0), (form.b, n))
    ]
    written = [int(x) for x in form.d[1:]] if form.d else range(n)
    both, total, merged = b << 32 | a, c, c
    for i in written:
        t = _computed(
            form,
            _extended(both >> bits * chosen[0][i], bits, signed[1]),
            _extended(both >> bits * chosen[1][i], bits, signed[2]),
        )
        if saturates:
            t = _clamped(t, bits, signed[0])
        total += t
        hole = ((1 << bits) - 1) << bits * i
        merged = (merged & ~hole) | (t << bits * i & hole)
    return (total if form.second else merged) & MASK


# ---- Kernels ---------------------------------------------------------------------------------------------------
def operands(seed: int, thread: int, round_: int) -> list[int]:
    """The a, b and c that the kernel below draws."""
    drawn = []
    for axis in range(3):
        x = (seed * 0x9E3779B9 + thread * 0x85EBCA6B + (3 * round_ + axis) * 0xC2B2AE35) & MASK
        x ^= x >> 16
        x = x * 0x7FEB352D & MASK
        x ^= x >> 15
        x = x * 0x846CA68B & MASK
        x ^= x >> 16
        drawn.append(EDGES[x & 15] if thread % 4 == 0 else x)
    return drawn


PARAMETERS = (
    ".param .u64 object, .param .u32 seed, .param .f32 x, .param .f32 y, .param .f32 z, "
    ".param .u32 layers, .param .u64 out"
)


def _kernel(number: int, form: Form) -> str:
    lines = [f".visible .entry video_{number}({PARAMETERS})\n{{"]
    lines.append(".reg .b32 %a, %b, %c, %d, %x, %y, %t, %s, %r<4>; .reg .b64 %p, %q; .reg .pred %e;")
    lines.append("mov.u32 %t, %ctaid.x; mov.u32 %x, %ntid.x; mov.u32 %y, %tid.x; mad.lo.u32 %t, %t, %x, %y;")
    lines.append("ld.param.u32 %s, [seed]; mul.lo.u32 %s, %s, 0x9e3779b9; mad.lo.u32 %s, %t, 0x85ebca6b, %s;")
    lines.append("and.b32 %x, %t, 3; setp.eq.u32 %e, %x, 0;")
    for result in range(4):
        for axis, to in enumerate(("%a", "%b", "%c")):
            lines.append(
                f"add.u32 %x, %s, {(3 * result + axis) * 0xC2B2AE35 & MASK:#x}; "
                "shr.u32 %y, %x, 16; xor.b32 %x, %x, %y; "
                "mul.lo.u32 %x, %x, 0x7feb352d; shr.u32 %y, %x, 15; xor.b32 %x, %x, %y; "
                f"mul.lo.u32 %x, %x, 0x846ca68b; shr.u32 %y, %x, 16; xor.b32 {to}, %x, %y;"
            )
            lines.append(
                f"and.b32 %x, {to}, 15; mov.u64 %p, edges; mad.wide.u32 %p, %x, 4, %p; @%e ld.const.u32 {to}, [%p];"
            )
        lines.append(f"{form.text()} mov.b32 %r{result}, %d;")
    lines.append("ld.param.u64 %p, [out]; mad.wide.u32 %p, %t, 16, %p;")
    lines.append("st.global.v4.b32 [%p], {%r0, %r1, %r2, %r3}; ret;\n}")
    return "\n".join(lines)


def ptx() -> str:
    edges = ", ".join(f"{e:#x}" for e in EDGES)
    head = f".version 9.0\n.target sm_90\n.address_size 64\n.const .align 4 .u32 edges[16] = {{{edges}}};\n"
    return head + "\n".join(_kernel(i, form) for i, form in enumerate(FORMS)) + "\n"
