"""PTX that the emulator does not know stops with status 3, names the construct, and says where it is, at the moment
a lane reaches it: the instruction itself, or one that uses a declaration.

There is a case here for every place in common/emulator that refuses; the last tests look into the sources, so
that a new place without a case fails.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from emulator import COMMAND

ROOT = Path(__file__).resolve().parents[1]
EMULATOR = ROOT / "common" / "emulator"

HEADER = ".version 9.0\n.target sm_80\n.address_size 64\n"
REGISTERS = (
    ".reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<4>; .reg .pred %p<4>; .reg .b128 %q<2>;"
)


@dataclass(frozen=True)
class Case:
    """A text that is refused, the message, and whether it names a line of the learner's file."""

    name: str
    ptx: str
    says: str
    has_place: bool = True


def inside(name: str, code: str, says: str, *, module: str = "", has_place: bool = True) -> Case:
    """One instruction or declaration in a kernel, at line 12 of lesson.cu."""
    ptx = (
        f'{HEADER}.file 1 "lesson.cu"\n{module}\n.visible .entry kernel(.param .u64 p)\n{{\n'
        f"{REGISTERS}\n.loc 1 12 3\n{code}\nret;\n}}\n"
    )
    return Case(name, ptx, says, has_place)


def outside(name: str, text: str, says: str, *, use: str = "") -> Case:
    """Something at the top of the file, line 4, and a kernel that uses what it would declare."""
    return inside(name, use or "mov.u64 %d1, x;", says, module=text)


GLOBAL = ".global .align 8 .b64 there;\n"

# Messages that only one place writes.
CASES = [
    outside(
        "extern variable", ".extern .global .u32 x;", "the variable x is declared .extern and defined nowhere"
    ),
    Case(
        "32-bit addresses",
        HEADER.replace("size 64", "size 32") + ".visible .entry kernel() { ret; }",
        "addresses of 32 bits",
        has_place=False,
    ),
    outside("module directive", ".tex .u64 x;", "'.tex' is not a known directive"),
    outside("sampler", ".global .samplerref x;", "samplers apart from textures (.samplerref)"),
    outside("constant bank", ".const[2] .b32 x[4];", "constant banks"),
    outside("float arithmetic", ".global .f32 x = 1.5 + 2.5;", "arithmetic between floating-point constants"),
    outside("float in an integer", ".global .u32 x = 1.5;", "a floating-point constant as a .u32"),
    outside(
        "mask of an address", GLOBAL + ".global .b8 x[8] = {0xF0F(there)};", "a mask other than one byte"
    ),
    outside("byte alone", GLOBAL + ".global .b8 x[8] = {0xFF00(there)};", "without the bytes below it"),
    outside(
        "part of an address",
        GLOBAL + ".global .b8 x[2] = {0xFF(there), 0xFF00(there)};",
        "a part of an address",
    ),
    outside(
        "parameter in a register",
        ".func f(.reg .b32 x) { ret; }",
        "parameters in registers",
        use="call f;",
    ),
    Case(
        "header word",
        HEADER + ".visible .entry kernel() .fastest 3 { ret; }",
        "'.fastest' is not a known word",
        has_place=False,
    ),
    outside(
        "shared memory",
        ".shared .b8 a[900000000]; .shared .b8 x[900000000];",
        "the shared variable x does not fit in 1 GiB",
    ),
    inside("vector register", ".reg .v4 .f32 four;", "vector registers"),
    inside("directive in a body", ".branchlist here;", "'.branchlist' is not a known directive inside"),
    inside(
        "offset of a texture",
        "tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%d1, {%r1, %r2}], {%r1, %r2};",
        "tex with an offset, a depth or a predicate is not supported",
    ),
    inside("part of a register", "mov.b32 %r1, %r2.x;", "a part of a register (.x)"),
    inside("special register", "mov.u32 %r1, %pm0;", "the special register %pm0"),
    inside("negated operand", "add.s32 %r1, !%r2, %r3;", "a negated register operand"),
    inside("form of arithmetic", "add.f32x2 %d1, %d2, %d3;", "this form of add is not supported: add.f32x2"),
    inside("opcode", "multimem.red.global.add.u32 [%d1], %r1;", "the instruction multimem"),
    inside(
        "sparse matrix",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1}, %r2, 0;",
        "mma of a sparse matrix (.sp) is not supported",
    ),
    inside("too many registers", ".reg .b64 %many<900000>;", "do not fit", has_place=False),
    inside("call of a kernel", "call other;", "a call of the kernel other", module=".entry other() { ret; }"),
    inside(
        "call of nothing",
        "call other;",
        "a call of other, which this file only declares",
        module=".extern .func other;",
    ),
    inside(
        "kernel that launches a kernel",
        "call __cudaCDP2LaunchDeviceV2;",
        "kernels that launch kernels are not supported",
        module=".extern .func __cudaCDP2LaunchDeviceV2;",
    ),
    inside(
        "another function of the runtime for kernels",
        "call __cudaCDP2EventRecord;",
        "a call of __cudaCDP2EventRecord: this function of the runtime for kernels is not supported",
        module=".extern .func __cudaCDP2EventRecord;",
    ),
    inside("shfl without sync", "shfl.up.b32 %r1, %r2, 1, 0;", "shfl without .sync"),
    inside(
        "atomic type", "atom.global.add.u8 %r1, [%d1], %r2;", "this form of atom is not supported for .u8"
    ),
    Case(
        "parameter of a function",
        f'{HEADER}.file 1 "lesson.cu"\n.func callee(.param .b32 x)\n{{\n.reg .b64 %d1;\n.loc 1 12 3\n'
        "mov.u64 %d1, x;\nret;\n}\n.visible .entry kernel() {\n.reg .b32 %r1;\n{\n.param .b32 a;\n"
        "st.param.b32 [a], %r1;\ncall callee, (a);\n}\nret; }\n",
        "the address of a device function's parameter",
    ),
]

CASES += [
    inside(
        "im2col",
        "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%d1, {%r1, %r1, %r1}], [%r2];",
        "a tensor copy in im2col mode (.im2col_no_offs) is not supported: only .tile is",
    ),
    inside(
        "shape of wgmma",
        "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f1}, %d1, %d2, 1, 1, 1, 0, 0;",
        "wgmma has no shape m64n12k16 of this type",
    ),
]

# "this form of OPCODE is not supported: .WORD", once for every place of lowering/ that says so.
FORMS = [
    inside(
        "word of a load", "ld.global.sideways.b32 %r1, [%d1];", "this form of ld is not supported: .sideways"
    ),
    inside("type of a load", "ld.global.b128 %q1, [%d1];", "this form of ld is not supported: .b128"),
    inside("store to constants", "st.const.b32 [%d1], %r1;", "this form of st is not supported: .const"),
    inside(
        "vector cas", "atom.global.v2.b32.cas {%r1, %r2}, [%d1], {%r3, %r4}, {%r5, %r6};", "this form of atom"
    ),
    inside("cp", "cp.reduce.async.tensor [%d1], [%d2], 16;", "this form of cp is not supported: .reduce"),
    inside(
        "bulk copy", "cp.async.bulk.shared.global [%d1], [%d2], 16, [%d3];", "cp is not supported: .shared"
    ),
    inside("bulk copy to where", "cp.async.bulk.global [%d1], [%d2], 16;", "cp is not supported: .bulk"),
    inside(
        "reduction of floats",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.b32 [%d1], [%d2], 16;",
        "cp is not supported: .b32",
    ),
    inside(
        "bulk copy without an mbarrier",
        "cp.async.bulk.shared::cluster.global.bulk_group [%r1], [%d2], 16;",
        "cp is not supported: .bulk",
    ),
    inside(
        "multicast to global memory",
        "cp.async.bulk.global.shared::cta.bulk_group.multicast::cluster [%d1], [%r2], 16, 3;",
        "cp is not supported: .multicast::cluster",
    ),
    inside("copy by lanes", "cp.async.cx.shared.global [%d1], [%d2], 16;", "cp is not supported: .cx"),
    inside("arrival of copies", "cp.async.mbarrier.arrive.sideways.b64 [%r1];", "supported: .sideways"),
    inside(
        "three spaces",
        "cp.async.bulk.global.shared::cta.global.bulk_group [%d1], [%r2], 16;",
        "cp is not supported: .global",
    ),
    inside(
        "tensor reduction by nothing",
        "cp.reduce.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [%r2];",
        "supported: .(no operation)",
    ),
    inside(
        "tensor copy through three spaces",
        "cp.async.bulk.tensor.1d.global.shared::cta.global [%d1, {%r1}], [%r2];",
        "supported: .global",
    ),
    inside(
        "word of a tensor copy",
        "cp.async.bulk.tensor.1d.sideways [%d1, {%r1}], [%r2];",
        "supported: .sideways",
    ),
    inside(
        "store that counts nothing",
        "st.async.shared::cluster.b32 [%r1], %r2, [%r3];",
        "st is not supported: .b32",
    ),
    inside("wgmma of nothing", "wgmma.wait;", "wgmma is not supported: .wait"),
    inside(
        "types of wgmma",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 {%f1}, %d1, %d2, 1, 1, 1, 0, 0;",
        "wgmma is not supported: .bf16",
    ),
    inside(
        "saturated wgmma",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.satfinite {%f1}, %d1, %d2, 1, 1, 1, 0, 0;",
        "wgmma is not supported: .satfinite",
    ),
    inside("mapa without a type", "mapa.shared::cluster %r1, %r2, 0;", "mapa is not supported: .(no type)"),
    inside(
        "mask of bytes of a load",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.cp_mask [%r1], [%d2], 16, [%r3], 3;",
        "cp is not supported: .cp_mask",
    ),
    inside(
        "tensor copy", "cp.async.bulk.tensor.1d.shared::cluster.global [%d1], [%d2];", "supported: .tensor"
    ),
    inside("mbarrier", "mbarrier.leave.b64 [%d1];", "this form of mbarrier is not supported: .leave"),
    inside(
        "word of an mbarrier", "mbarrier.init.acquire.b64 [%d1], 1;", "mbarrier is not supported: .acquire"
    ),
    inside("cluster barrier", "barrier.cluster.arrive.sideways;", "barrier is not supported: .sideways"),
    inside("mapa", "mapa.f32 %r1, %r2, 0;", "this form of mapa is not supported: .f32"),
    inside("word of a copy", "cp.async.ca.remote.global [%d1], [%d2], 16;", "cp is not supported: .remote"),
    inside("fence", "fence.proxy.sideways;", "this form of fence is not supported: .sideways"),
    inside(
        "brx without idx",
        "L: brx.dir %r1, t; t: .branchtargets L;",
        "this form of brx is not supported: .(no .idx)",
    ),
    inside("word of a barrier", "bar.wave.sync 0;", "this form of bar is not supported: .wave"),
    inside("barrier of nothing", "bar.cta 0;", "this form of bar is not supported: .(no operation)"),
    inside(
        "word of a shuffle", "shfl.sync.rotate.b32 %r1, %r2, 1, 31, -1;", "shfl is not supported: .rotate"
    ),
    inside("vote of nothing", "vote.sync.b32 %r1, %p1, -1;", "vote is not supported: .(no operation)"),
    inside("type of a match", "match.sync.any.b16 %r1, %h1, -1;", "match is not supported: .b16"),
    inside("type of a redux", "redux.sync.add.u64 %d1, %d2, -1;", "redux is not supported: .u64"),
    inside(
        "scaled matrix",
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.f32.e4m3.e4m3.f32 {%r1}, {%r1}, {%r1}, {%r1};",
        "mma is not supported: .kind::mxf8f6f4",
    ),
    inside(
        "shape of a product",
        "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1};",
        "mma is not supported: .f32",
    ),
    inside(
        "wmma of nothing", "wmma.fill.sync.aligned.m16n16k16.f16 {%r1}, %r2;", "wmma is not supported: .fill"
    ),
    inside(
        "operand of wmma",
        "wmma.load.d.sync.aligned.row.m16n16k16.f16 {%r1}, [%d1];",
        "wmma is not supported: .d",
    ),
    inside(
        "shape of a fragment",
        "wmma.load.a.sync.aligned.row.m16n16k32.f16 {%r1}, [%d1];",
        "wmma is not supported: .f16",
    ),
    inside(
        "rounding of wmma",
        "wmma.mma.sync.aligned.row.col.m16n16k16.rn.f16.f16 {%r1}, {%r1}, {%r1}, {%r1};",
        "wmma is not supported: .rn",
    ),
    inside(
        "type of rows",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%d1];",
        "ldmatrix is not supported: .m16n16",
    ),
    inside("movmatrix", "movmatrix.sync.aligned.m8n8.b16 %r1, %r2;", "movmatrix is not supported: .b16"),
    inside(
        "word of a texture",
        "tex.2dms.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%d1, {%r1, %r2}];",
        "tex is not supported: .2dms",
    ),
    inside(
        "type of a texture",
        "tex.2d.v4.f16.s32 {%f0, %f1, %f2, %f3}, [%d1, {%r1, %r2}];",
        "tex is not supported: .f16",
    ),
    inside(
        "word of a surface", "suld.b.2d.b32.twice {%r0}, [%d1, {%r1, %r2}];", "suld is not supported: .twice"
    ),
    inside("formatted surface", "sust.p.2d.b32.trap [%d1, {%r1, %r2}], {%r0};", "sust is not supported: .p"),
    inside("texture query", "txq.force_unnormalized_coords.b32 %r1, [%d1];", "txq is not supported: .force"),
    inside("query of nothing", "suq.b32 %r1, [%d1];", "suq is not supported: .(no query)"),
    inside("word of video", "vadd.u32.u32.u32.half %r1, %r2, %r3;", "vadd is not supported: .half"),
    inside("type of video", "vadd.u32.u32 %r1, %r2, %r3;", "vadd is not supported: .(no type)"),
    inside("part of video", "vadd.u32.u32.u32 %r1, %r2.b4, %r3;", "vadd is not supported: .b4"),
    inside("part of SIMD", "vadd2.u32.u32.u32 %r1, %r2.b10, %r3, %r4;", "vadd2 is not supported: .b10"),
    inside("element of SIMD", "vadd2.u32.u32.u32 %r1, %r2.h94, %r3, %r4;", "vadd2 is not supported: .h94"),
    inside("mask of SIMD", "vadd2.u32.u32.u32 %r1.h3, %r2, %r3, %r4;", "vadd2 is not supported: .h3"),
    inside("stack", "stacksave.u32 %r1;", "stacksave is not supported: .u32"),
    inside("alloca", "alloca.u32 %r1, 16;", "alloca is not supported: .u32"),
    inside("isspacep", "isspacep.heap %p1, %d1;", "isspacep is not supported: .heap"),
    inside("cvta", "cvta.to.heap.u64 %d1, %d2;", "cvta is not supported: .heap"),
]


def arguments(case: Case) -> list[str]:
    return ["--arg", "u64:0"] if "kernel(.param .u64 p)" in case.ptx else []


def refused(case: Case, folder: Path) -> str:
    file = folder / "case.ptx"
    file.write_text(case.ptx)
    done = subprocess.run(
        [COMMAND, file, "kernel", "--grid", "1", "--block", "32", *arguments(case)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 3, (done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


@pytest.mark.parametrize("case", [*CASES, *FORMS], ids=lambda case: case.name)
def test_it_is_named(emulator_built: Path, case: Case, tmp_path: Path) -> None:
    told = refused(case, tmp_path)
    assert "UNSUPPORTED" in told
    assert case.says in told
    assert re.search(r"(case\.ptx|lesson\.cu):\d+", told) or re.search("do not fit|header", told)
    assert ("UNSUPPORTED unsupported at lesson.cu:12" in told) == case.has_place


# ---- Only what is reached is refused ---------------------------------------------------------------------------
UNKNOWN = "multimem.red.global.add.u32 [%d1], %r1;"
UNREACHED = {
    "another kernel": (f".entry other() {{ {REGISTERS} {UNKNOWN} ret; }}", ""),
    "a function that is not called": (f".func f() {{ {REGISTERS} {UNKNOWN} ret; }}", ""),
    "wrong operands in another kernel": (
        f".entry other() {{ {REGISTERS} ld.global.u32 %r1, %r2; ret; }}",
        "",
    ),
    "a directive": (".tex .u64 image;", ""),
    "a constant bank": (".const[2] .b32 bank[4];", ""),
    "an extern variable": (".extern .global .u32 elsewhere;", ""),
    "a managed variable": (
        ".global .attribute(.managed) .u32 both;",
        "mov.u64 %d1, both; st.global.u32 [%d1], 3;",
    ),
    "a variable of another kernel": (
        ".global .u32 x = 1.5;\n.entry other() { .reg .b64 %d<2>; mov.u64 %d1, x; ret; }",
        "",
    ),
    "a body of another kernel": (".entry other() { .reg .v4 .f32 four; add.f32 four, four, four; ret; }", ""),
    "the header of another kernel": (".entry other() .fastest 3, 4 { ret; }", ""),
    "another function": (".func f(.reg .b32 x) { ret; }\n.entry other() { call f, (1); ret; }", ""),
    "shared memory of another kernel": (
        ".entry other() { .shared .b8 a[900000000]; .shared .b8 b[900000000]; ret; }",
        "",
    ),
    "registers of another kernel": (".entry other() { .reg .b64 %many<900000>; ret; }", ""),
    "a declaration": (".extern .func elsewhere(.param .b64 p);", ""),
    "free in a virtual destructor": (
        (
            ".extern .func free(.param .b64 p);\n"
            ".func destructor(.param .b64 self) {\n.reg .b64 %d1; ld.param.b64 %d1, [self];\n"
            "{ .param .b64 a; st.param.b64 [a], %d1; call free, (a); }\nret; }\n"
            ".global .align 8 .u64 table[1] = {destructor};"
        ),
        "mov.u64 %d1, table; ld.global.u64 %d2, [%d1];",
    ),
    "a branch that is not taken": ("", f"mov.u32 %r3, %tid.y; setp.ne.u32 %p1, %r3, 0; @%p1 {UNKNOWN}"),
}


@pytest.mark.parametrize("name", UNREACHED)
def test_what_no_lane_reaches_does_not_matter(emulator_built: Path, tmp_path: Path, name: str) -> None:
    module, code = UNREACHED[name]
    file = tmp_path / "case.ptx"
    file.write_text(inside(name, code, "", module=module).ptx)
    done = subprocess.run(
        [COMMAND, file, "kernel", "--grid", "1", "--block", "32", "--arg", "u64:0"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout, done.stderr)


def test_the_lane_that_reaches_it_is_named(emulator_built: Path, tmp_path: Path) -> None:
    code = f"mov.u32 %r3, %tid.x; setp.eq.u32 %p1, %r3, 7; @%p1 {UNKNOWN}"
    told = refused(inside("lane", code, ""), tmp_path)
    assert "thread (7,0,0) of block (0,0,0) reached code that the emulator cannot run" in told
    assert "the instruction multimem is not supported" in told


# ---- Operands --------------------------------------------------------------------------------------------------
# For every row of opcodes.def that is not arithmetic: an instruction with a wrong number of operands, and its words.
_ROW = re.compile(r'^(?:OPCODE|ALIKE)\((\w+), \w+, (\d), (\d), "([^"]+)", ', re.MULTILINE)
ROWS = _ROW.findall((EMULATOR / "program" / "opcodes.def").read_text())
WORDS = {  # with which the opcode is decoded as far as its operands
    "alloca": "u64",
    **dict.fromkeys(("tex", "tld4"), "2d.v4.f32.f32"),
    **dict.fromkeys(("suld", "sust", "sured"), "b.2d.b32.trap"),
    **dict.fromkeys(("txq", "suq"), "width.b32"),
    **dict.fromkeys(("stacksave", "stackrestore"), "u64"),
    **{row[0]: "u32.u32.u32" for row in ROWS if row[0][0] == "v" and row[0] != "vote"},
    **dict.fromkeys(("vset", "vset2", "vset4"), "u32.u32.eq"),
    "atom": "global.add.u32",
    "bar": "sync",
    "barrier": "sync",
    "brx": "idx",
    "cp": "async.ca.shared.global",
    "cvta": "to.global.u64",
    "getctarank": "u64",
    "isspacep": "global",
    "ld": "global.u32",
    "ldmatrix": "sync.aligned.m8n8.x1.shared.b16",
    "ldu": "global.u32",
    "mapa": "u64",
    "match": "any.sync.b32",
    "mbarrier": "init.b64",
    "wgmma": "mma_async.sync.aligned.m64n8k16.f32.f16.f16",
    "mma": "sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
    "movmatrix": "sync.aligned.m8n8.trans.b16",
    "red": "global.add.u32",
    "redux": "sync.add.u32",
    "shfl": "sync.idx.b32",
    "st": "global.u32",
    "stmatrix": "sync.aligned.m8n8.x1.shared.b16",
    "vote": "sync.any.pred",
    "wmma": "mma.sync.aligned.row.col.m16n16k16.f16.f16",
}


@pytest.mark.parametrize(("opcode", "least", "most", "wanted"), ROWS, ids=[row[0] for row in ROWS])
def test_a_wrong_number_of_operands_is_bad_ptx(
    emulator_built: Path, tmp_path: Path, opcode: str, least: str, most: str, wanted: str
) -> None:
    dotted = ".".join(filter(None, [opcode, WORDS.get(opcode, "")]))
    operands = {"call": ["f"] * 5, "bra": ["L"] * 2, "brx": ["%r1", "t", "t"]}.get(opcode, ["%r1"] * 9)
    for count in {int(least) - 1, int(most) + 1} - {-1}:
        code = f"L: {dotted} {', '.join(operands[:count])}; t: .branchtargets L;"
        told = refused(inside("operands", code, wanted, module=".func f() { ret; }"), tmp_path)
        assert f"{opcode} wants {wanted}\n" in told, code


# ---- Nothing is left out ---------------------------------------------------------------------------------------
CALLS = re.compile(
    r"(?:lower_fail\(l, EMULATOR_UNSUPPORTED, (?:in|&head)|fail\(error, EMULATOR_UNSUPPORTED"
    r"|parser_unsupported\(p, [^,]+)"
    r',\s*"([^"]+)"'
)
# The file of registers is checked when they are declared; this is for those that lowering adds.
WITHOUT_A_CASE = {"%s has too many registers"}


def test_every_message_has_a_case(emulator_built: Path, tmp_path: Path) -> None:
    told = "\n".join(refused(case, tmp_path) for case in [*CASES, *FORMS])
    text = "\n".join(source.read_text() for source in EMULATOR.rglob("*.c"))
    messages = CALLS.findall(text)
    assert len(messages) == len(
        re.findall(r"parser_unsupported\(p, |[( ]EMULATOR_UNSUPPORTED, (?!at->)", text)
    )
    for message in set(messages) - WITHOUT_A_CASE:
        pattern = ".*?".join(re.escape(part) for part in re.split(r"%[.\d]*[sd]", message))
        assert re.search(pattern, told), message


def test_every_form_has_a_case() -> None:
    text = "".join(path.read_text() for path in (EMULATOR / "program").rglob("*.c"))
    # All but one: every 16-bit float that an atomic may add or compare has a handler of add, min and max.
    assert len(re.findall(r"unsupported_form\(l, in,", text)) == len(FORMS) + 1, (
        "a new one wants a case in FORMS"
    )
