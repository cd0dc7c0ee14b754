"""The PTX parser, through tests/native/ptx_dump.c: what it makes of text, says of bad text, and survives."""

from __future__ import annotations

import json
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest
from native_build import compiler

ROOT = Path(__file__).resolve().parent.parent
EMULATOR = ROOT / "common" / "emulator"
DATA = ROOT / "tests" / "data" / "ptx"
SOURCES = [
    ROOT / "tests" / "native" / "ptx_dump.c",
    EMULATOR / "arena.c",
    *sorted((EMULATOR / "ptx").glob("*.c")),
]
WARNINGS = ["-std=c17", "-Wall", "-Wextra", "-Werror", "-Wconversion"]
SANITIZE = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]

Module = dict[str, Any]


def build(folder: Path, *flags: str) -> Path:
    program = folder / "ptx_dump"
    subprocess.run(
        [*compiler(), *WARNINGS, *flags, f"-I{EMULATOR.parent}", *map(str, SOURCES), "-o", str(program)],
        check=True,
    )
    return program


@pytest.fixture(scope="session")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("ptx"), "-O2")


@pytest.fixture(scope="session")
def checked_dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return build(tmp_path_factory.mktemp("ptx_checked"), *SANITIZE)
    except subprocess.CalledProcessError:
        pytest.skip("this compiler has no sanitizers")


def run(program: Path, *arguments: object) -> str:
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def parse(program: Path, path: Path) -> Module:
    module: Module = json.loads(run(program, path))
    return module


@pytest.fixture(scope="session")
def grammar(dump: Path) -> Module:
    return parse(dump, DATA / "grammar.ptx")


@pytest.fixture(scope="session")
def kernels(dump: Path) -> Module:
    return parse(dump, DATA / "kernels.ptx")


def named(items: list[Module], name: str) -> Module:
    found = [item for item in items if item["name"] == name]
    assert len(found) == 1, name
    return found[0]


def texts(function: Module) -> list[str]:
    return [instruction["text"] for instruction in function["instructions"]]


# ---- The module ----------------------------------------------------------------------------------------


def test_header(grammar: Module) -> None:
    assert (grammar["version"], grammar["target"], grammar["address_size"]) == ([8, 5], "sm_90a", 64)
    assert grammar["files"] == [[1, 'dir\\k"ernel.cu']]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("scalar", "07000000"),
        ("float32", "0000803f"),
        ("float_from_decimal", "0000c0bf"),
        ("float64", "0000000000000440"),
        ("float_from_int", "00000000000008c0"),
        ("matrix", "010000000200000000000000" + "fdffffff1000000003000000"),
        ("flat", "01000000020000000300000004000000" + "00" * 8),
        ("open", "010002000f00ffff"),
        ("vector", "0000803f0000a0410000404000008040"),
        ("sums", "070000000900000011000000ffffffff00000000fdffffffffffffff20000000"),
        ("wide", "ffffffffffffffff" + "ffffffffffffffff" + "ffffffffffffff7f"),
        ("announced", "01000000" + "00" * 12),
    ],
)
def test_initialisers(grammar: Module, name: str, data: str) -> None:
    variable = named(grammar["variables"], name)
    assert variable["data"] == data
    assert variable["bytes"] * 2 == len(data)
    assert variable["relocations"] == []


def test_relocations(grammar: Module) -> None:
    matrix = {"bytes": 8, "to": "matrix", "generic": True}
    assert named(grammar["variables"], "pointer")["relocations"] == [{**matrix, "offset": 0, "addend": 8}]
    assert named(grammar["variables"], "pointers")["relocations"] == [
        {"offset": 0, "bytes": 8, "addend": 0, "to": "callee"},
        {"offset": 8, "bytes": 8, "addend": 0, "to": "scalar"},
        {**matrix, "offset": 16, "addend": 7},
    ]


def test_masked_bytes_of_an_address_become_one_relocation(grammar: Module) -> None:
    packed = named(grammar["variables"], "packed")
    assert packed["relocations"] == [{"offset": 1, "bytes": 8, "addend": 0, "to": "scalar", "generic": True}]
    assert packed["data"] == "01" + "00" * 8 + "0700"


def test_kinds_of_variables(grammar: Module) -> None:
    variables = grammar["variables"]
    assert named(variables, "managed")["managed"]
    assert named(variables, "outside")["extern"]
    dynamic = named(variables, "dynamic")
    assert (dynamic["space"], dynamic["bytes"], dynamic["align"], dynamic["unsized"]) == (
        "shared",
        0,
        16,
        True,
    )
    announced = named(variables, "announced")
    assert "extern" not in announced
    assert announced["visible"]
    assert named(variables, "vector")["align"] == 16
    assert [variable["index"] for variable in variables] == list(range(len(variables)))


def test_declarations_and_definitions(grammar: Module) -> None:
    functions = grammar["functions"]
    assert [f["name"] for f in functions] == ["vprintf", "stop", "later", "twin_1", "callee", "kernel"]
    assert named(functions, "vprintf")["extern"]
    callee = named(functions, "callee")
    assert callee["body"]
    assert callee["visible"]
    assert "extern" not in callee
    kernel = named(functions, "kernel")
    assert kernel["entry"]
    assert (kernel["maxntid"], kernel["minnctapersm"]) == ([128, 2, 1], 3)
    assert [(p["name"], p["type"], p["parameter"]) for p in kernel["parameters"]] == [
        ("pointer_parameter", "u64", 0),
        ("n", "u32", 1),
    ]


def test_an_entry_stays_one_after_its_declaration(dump: Path, tmp_path: Path) -> None:
    text = HEADER + ".visible .entry k(.param .u32 a);\n.entry k(.param .u32 a)\n.reqntid 32\n{ ret; }\n"
    kernel = parse(dump, written(tmp_path, text))["functions"][0]
    assert kernel["entry"]
    assert kernel["visible"]
    assert kernel["body"]
    assert kernel["reqntid"] == [32, 1, 1]


# ---- Bodies --------------------------------------------------------------------------------------------


def test_operands(grammar: Module) -> None:
    kernel = texts(named(grammar["functions"], "kernel"))
    expected = """
        ld.param.u64 %rd1#14, [param pointer_parameter#0]
        mov.u32 %r1#5, special %tid.x
        mov.u32 %r2#6, special %laneid
        mov.u32 %r3#7, 32
        mov.u64 %rd2#15, global matrix#5+4
        mov.u64 %rd3#16, function callee#4
        mov.u64 %rd3#16, local depot#0
        mov.b32 t#9, 24
        mov.b32 t#9, -1
        mov.b32 t#9, 127U
        mov.b32 t#9, 1
        mov.b32 t#9, -2
        mov.f32 %f1#11, 0fBF800000
        mov.f64 %rd1#14, 0d3FF8000000000000
        mov.f32 %f1#11, 0fBF800000
        ld.global.v2.f32 {%f1#11, _}, [%rd1#14-8]
        ld.global.nc.L1::evict_last.L2::128B.b32 %r1#5, [%rd1#14+4]
        ld.shared.b32 %r1#5, [shared demoted#1]
        ld.shared.b32 %r1#5, [shared tile#19+8]
        ld.global.b32 %r1#5, [124]
        setp.lt.and.s32 %p1#1|odd#3, %r1#5, %r2#6, !%p2#2
        setp.ne.s32 _|%p1#1, %r1#5, 0
        shfl.sync.bfly.b32 %r1#5|%p1#1, %r2#6, 1, 31, -1
        mov.b128 %rq1#18, {%rd1#14, %rd2#15}
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes """
    assert kernel[:24] == [line.strip() for line in expected.strip().splitlines()[:24]]
    assert kernel[24].startswith(expected.strip().splitlines()[24].strip())
    assert kernel[24].endswith("[shared tile#19], [%rd1#14, {%r1#5, %r2#6}], [%r3#7]")
    assert kernel[25] == "atom.global.add.v2.f32 {%f1#11, %f2#12}, [%rd1#14], {%f1#11, %f2#12}"


def test_scopes_of_registers_and_labels(grammar: Module) -> None:
    kernel = named(grammar["functions"], "kernel")
    # Inside the block t and %r1 are its own, LOOP too; DONE and, further in, AFTER belong to what surrounds.
    assert texts(kernel)[26:36] == [
        "@%p1#1 bra label DONE@45",
        "@!odd#3 bra.uni label DONE@45",
        "add.s32 %r1#5, %r1#5, 1",
        "add.s32 t#19, t#19, %r1#20",
        "@%p1#1 bra label LOOP@30",
        "bra label AFTER@33",
        "bra label DONE@45",
        "mov.b64 t#21, 0",
        "bra label AFTER@33",
        "bra label LOOP@28",
    ]
    assert kernel["registers"][:3] == ["pred %p0", "pred %p1", "pred %p2"]
    assert kernel["registers"][19:] == ["b32 t", "b32 %r1", "b64 t"]


def test_tables_calls_and_aliases(grammar: Module) -> None:
    kernel = named(grammar["functions"], "kernel")
    assert kernel["targets"] == {"table": ["LOOP", "DONE", "LOOP"], "tail_table": ["DONE"]}
    # The two LOOPs are told apart by their instruction; twin_1 is an alias of callee.
    assert texts(kernel)[36:] == [
        "brx.idx %r1#5, targets table",
        "brx.idx.uni %r1#5, targets tail_table",
        "st.param.b32 [param argument#2], %r1#5",
        "call.uni (param answer#3), function callee#4, (param argument#2)",
        "call (param answer#3), function callee#4, (param argument#2)",
        "call (param answer#3), %rd3#16, (param argument#2), prototype proto",
        "call (param answer#3), %rd3#16, (param argument#2), prototype list",
        "call function stop#1, (param argument#2)",
        "call.uni function stop#1",
        "ret",
    ]


def test_what_nvcc_makes_of_data(kernels: Module) -> None:
    variables = kernels["variables"]
    assert named(variables, "text")["data"] == b"hello\0".hex()
    assert named(variables, "table")["relocations"][1]["to"] == "_Z11times_threei"
    assert named(variables, "pointer")["relocations"][0] == {
        "offset": 0,
        "bytes": 8,
        "addend": 16,
        "to": "matrix",
        "generic": True,
    }
    assert named(variables, "pair")["relocations"][0]["offset"] == 8
    assert named(variables, "packed")["relocations"][0]["offset"] == 1
    assert named(variables, "packed")["relocations"][0]["bytes"] == 8


def test_what_nvcc_makes_of_inline_asm(kernels: Module) -> None:
    body = texts(named(kernels["functions"], "_Z6scopesPii"))
    outer = next(text for text in body if text.startswith("@p#"))
    inner = next(text for text in body if "special %laneid" in text)
    assert outer.split()[2] != inner.split()[1]  # two registers t
    assert body[body.index(inner) + 2].split(", ")[1] == outer.split()[2].rstrip(",")  # and the first again


def test_every_instruction_of_a_lineinfo_build_has_a_location(kernels: Module) -> None:
    for function in kernels["functions"]:
        assert all(instruction["location"] >= 0 for instruction in function["instructions"]), function["name"]


# ---- Locations -----------------------------------------------------------------------------------------


def chain(module: Module, location: int) -> list[tuple[int, int]]:
    places = []
    while location >= 0:
        _, line, column, location = module["locations"][location]
        places.append((line, column))
    return places


def chains(module: Module, function: str, opcode: str) -> list[list[tuple[int, int]]]:
    body = named(module["functions"], function)["instructions"]
    return [chain(module, i["location"]) for i in body if i["text"].startswith(opcode)]


def test_inlined_into_inlined(dump: Path) -> None:
    module = parse(dump, DATA / "inlining.ptx")
    inner = (3, 71)
    assert chains(module, "_Z3onePii", "ld.global") == [[inner, (5, 5), (9, 5)], [inner, (6, 5), (9, 5)]]
    # The second kernel's chains lead to its own lines, though the first left .locs at the same places.
    assert chains(module, "_Z3twoPii", "ld.global") == [
        [inner, (5, 5), (12, 5)],
        [inner, (6, 5), (12, 5)],
        [inner, (12, 5)],
    ]


def test_inlined_at_its_own_place(dump: Path) -> None:
    module = parse(dump, DATA / "inlining.ptx")
    level = (15, 5)
    assert chains(module, "_Z5threePi", "ld.global") == [
        [level, (19, 5)],
        [level, level, (19, 5)],
        [level, level, level, (19, 5)],
        [(17, 83), level, level, level, (19, 5)],
    ]
    # The additions come back up through the levels.
    assert [len(c) for c in chains(module, "_Z5threePi", "add.s32")] == [4, 3, 2]


def test_a_chain_in_circles_ends(dump: Path, tmp_path: Path) -> None:
    ring = "".join(
        f".loc 1 {i % 3} 1, function_name f, inlined_at 1 {(i + 1) % 3} 1\nret;\n" for i in range(3000)
    )
    module = parse(dump, written(tmp_path, HEADER + '.file 1 "a.cu"\n.entry k()\n{\n' + ring + "}\n"))
    assert max(len(chain(module, i)) for i in range(len(module["locations"]))) <= 66


# ---- Errors --------------------------------------------------------------------------------------------

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
KERNEL = HEADER + ".visible .entry k()\n{\n.reg .b32 %r<5>;\n"


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "bad.ptx"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def message(program: Path, folder: Path, text: str | bytes) -> str:
    done = subprocess.run([program, written(folder, text)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stdout[:1000] + done.stderr
    return done.stdout.rstrip("\n")


STATEMENTS = {
    "mov.b32 %r9, 1;": "register %r9 is not declared: .reg .b32 %r<5> on line 6 declares %r0 to %r4; "
    "raise the number there",
    "mov.b32 %s1, 1;": "register %s1 is not declared; declare it above, as in .reg .b32 %s1;",
    "mov.b32 %r1, x;": "'x' is not declared; a variable or function must be declared above its use",
    "call f;": "function 'f' is not declared; declare it above, as in .extern .func f;",
    "bra X;": "label 'X' is not defined in this function; write 'X:' before its target",
    "bra %r1;": "'%r1' is a register, but a label is needed here",
    "brx.idx %r1, T;": ".branchtargets 'T' is not defined in this function; "
    "write 'T: .branchtargets ...' before its target",
    "@%r1 ret;": "'%r1' is not a predicate: a guard must be declared .reg .pred",
    "mov.b32 %r1 2;": "expected ';' after the operands, found '2'",
    "\tmov.b32\t%r1, \x01;": "byte 0x01 is not allowed here; PTX is plain ASCII text",
    "mov.b32 %r1, é;": "byte 0xc3 is not allowed here; PTX is plain ASCII text",
    "mov.b32 %r1, 12ab;": "'12ab' is not a number: a letter follows it",
    "mov.b32 %r1, 09;": "'09' is not a number: it has a digit beyond its base",
    "mov.f32 %r1, 0f123;": "'0f123' is not a number: 0f takes 8 hexadecimal digits",
    "mov.b64 %r1, 18446744073709551616;": "'18446744073709551616' is not a number: it needs more than 64 bits",
    "mov.b32 %r1, 1/0;": "a division by zero",
    ".reg .b32 %r1;": "'%r1' is declared twice in one scope; line 6 has it as a register",
    ".reg .b32 %r<9>;": "'%r0' is declared twice in one scope; line 6 has it as a register",
    ".reg .b32 %z<2000000>;": "more than 1000000 registers in one file",
    ".shared .b32 x[];": "an array without a size must be .extern or have an initial value",
    ".shared .b32 x = 1;": "only .global and .const variables can have an initial value",
    "/* ret;": "this comment does not end",
    '.pragma "x;': "this string has no closing quote on its line",
    "{{" * 40: "blocks are nested more than 62 deep",
    "mov.b32 %r1, " + "(" * 100: "an expression is nested more than 64 deep",
}


@pytest.mark.parametrize(("statement", "said"), STATEMENTS.items(), ids=[s[:20] for s in STATEMENTS])
def test_messages(dump: Path, tmp_path: Path, statement: str, said: str) -> None:
    first, line, caret = message(dump, tmp_path, KERNEL + statement + "\nret;\n}\n").splitlines()
    place, text = first.split(": ", 1)
    assert text == said
    name, row, column = place.split(":")
    assert (name, row) == ("bad.ptx", "7")
    assert caret == " " * (len(caret) - 1) + "^"
    if len(statement) < 100 and statement.isprintable() and statement.isascii():
        assert line == statement
        assert len(caret) == int(column)


def test_the_whole_message(dump: Path, tmp_path: Path) -> None:
    text = KERNEL + "\tadd.s32 \t%r1, %r2, %q;\n}\n"
    assert message(dump, tmp_path, text) == (
        "bad.ptx:7:21: register %q is not declared; declare it above, as in .reg .b32 %q;\n"
        "        add.s32         %r1, %r2, %q;\n"
        "                                  ^"
    )


def test_control_characters_are_shown_escaped(dump: Path, tmp_path: Path) -> None:
    assert message(dump, tmp_path, KERNEL + "ret; \x1b[31m\x7f\n}\n").splitlines()[1:] == [
        r"ret; \x1b[31m\x7f",
        "     ^",
    ]


def test_long_lines_are_cut_around_the_column(dump: Path, tmp_path: Path) -> None:
    _, line, caret = message(
        dump, tmp_path, KERNEL + "ret; " * 60 + "ret %q; " + "ret; " * 60 + "\n}\n"
    ).splitlines()
    assert line.startswith("...")
    assert line.endswith("...")
    assert len(line) <= 106
    assert line[caret.index("^") :].startswith("%q; ret;")


MODULES = {
    "": "1:1: expected .version, with which PTX text begins, found the end of the text",
    "\x7fELF": "1:1: byte 0x7f is not allowed here; PTX is plain ASCII text",
    ".version 8.0\n\0": "2:1: a NUL byte; PTX is plain ASCII text",
    "// a\0": "1:5: a NUL byte; PTX is plain ASCII text",
    ".version x": "1:10: expected the version of PTX, as in .version 8.0, found 'x'",
    HEADER
    + ".global .u32 a;\n.global .u32 a;": "5:14: 'a' is declared twice in one scope; line 4 has it as a "
    "variable",
    HEADER
    + ".func f() { ret; }\n.func f() { ret; }": "5:7: 'f' is defined twice; its other body is that of line 4",
    HEADER + ".func f();\n.entry f() { ret; }": "5:8: 'f' is declared as a .func on line 4",
    HEADER
    + ".func f(.param .b32 a);\n.func f() { ret; }": "5:7: the parameters of 'f' differ from those on line 4",
    HEADER
    + ".func (.param .b32 f) f();": "4:23: 'f' is the name of the function and of its return parameter",
    HEADER + ".func f()\n{\n  {\nret;\n": "6:3: the text ends before the '}' of this block",
    HEADER
    + ".func f() {\n.loc 7 1 1\n}": "5:6: file 7 is not declared; the text needs a line '.file 7 \"name\"'",
    HEADER + ".global .b8 a[2] = {1, 2, 3};": "4:27: more values than the array has elements",
    HEADER + ".global .b8 a[2] = {1, {2}};": "4:24: more braces than the array has dimensions",
    HEADER + ".global .b8 a[0] = {1};": "4:21: more values than the array has elements",
    HEADER + ".global .b8 a[][0] = {1};": "4:23: more values than the array has elements",
    HEADER + ".global .u16 a = b;": "4:18: 'b' is not declared; "
    "a variable or function must be declared above its use",
    HEADER
    + ".global .u16 a;\n.global .u16 b = a;": "5:18: an address needs 8 bytes, and an element here has 2",
    HEADER + ".global .samplerref t;": "4:9: samplers apart from textures (.samplerref) are not supported",
    HEADER + ".func (.reg .b32 r) f;": "4:8: parameters in registers are not supported; nvcc writes .param",
    HEADER + ".global .align 3 .b8 a;": "4:16: .align takes a power of two",
    HEADER + ".const .b8 a[65536];\n.const .u32 b;": "5:13: the constant variables up to b take 65540 bytes; "
    "constant memory has 65536",
    HEADER
    + ".extern .const .b8 a[65536];\n.const .b8 a[65536];\n.const .b8 b[] = {1};": "6:12: the constant "
    "variables up to b take 65537 bytes; constant memory has 65536",
    HEADER
    + ".global .b8 a[1000000000] = {1};": "4:32: this text and the values of its variables take more than "
    "512 MiB",
    HEADER + ".section .debug_str {": "4:21: this section has no closing brace",
    ".version 8.0\n.target sm_80\n.address_size 32": "3:15: addresses of 32 bits are not supported",
}


@pytest.mark.parametrize(("text", "said"), MODULES.items(), ids=range(len(MODULES)))
def test_messages_of_modules(dump: Path, tmp_path: Path, text: str, said: str) -> None:
    assert message(dump, tmp_path, text).splitlines()[0] == "bad.ptx:" + said


def test_names_of_files_may_be_in_any_script(dump: Path, tmp_path: Path) -> None:
    text = HEADER + '.file 1 "/home/jürgen/k.cu" // ü\n'
    assert parse(dump, written(tmp_path, text))["files"] == [[1, "/home/jürgen/k.cu"]]


# ---- What it survives ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["grammar", "inlining", "kernels"])
def test_every_prefix(checked_dump: Path, name: str) -> None:
    run(checked_dump, "--prefixes", DATA / f"{name}.ptx", 1 if name != "kernels" else 5)


@pytest.mark.parametrize("name", ["grammar", "inlining", "kernels"])
def test_damaged_text(checked_dump: Path, name: str) -> None:
    run(checked_dump, "--mutations", DATA / f"{name}.ptx", 4000)


BODY = HEADER + ".visible .entry k()\n{\n"
SIZE = 20_000_000
HOSTILE = {
    "nested blocks": (BODY, "{"),
    "nested parentheses": (BODY + "mov.b32 ", "("),
    "nested brackets": (BODY + "ld ", "["),
    "signs": (BODY + "mov.b32 ", "-"),
    "a long sum": (BODY + "mov.b32 ", "1+"),
    "a long vector": (BODY + ".reg .b32 a; mov.b32 {", "a,"),
    "a long name": (BODY, "a"),
    "many instructions": (BODY, "ret;\n"),
    "many dotted words": (BODY + "a", ".a"),
    "many scopes": (BODY, "{.reg .b32 a;}"),
    "labels awaited in deep scopes": (BODY + "{" * 61, "bra x;"),
    "a long list of targets": (BODY + "t: .branchtargets ", "a,"),
    "a long initialiser": (HEADER + ".global .b8 x[] = {", "1,"),
    "a huge variable": (HEADER + ".global .b8 x[70000000000000] = {1};", ""),
    "many addresses": (HEADER + ".global .b8 x; .global .b64 y[] = {", "x,"),
    "many declarations": (HEADER, ".func f;"),
    "an endless comment": (HEADER + "/*", "x"),
    "an endless string": (HEADER + '.file 1 "', "x"),
    "an endless section": (HEADER + ".section .x {", "1,"),
    "one long line, bad at its end": (BODY, "ret;"),
    "spaces": ("", " "),
}


def processor_seconds() -> float:
    """What the programs that this process has waited for have taken; on a busy machine the clock says more."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize(("start", "again"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_takes_little_time(dump: Path, tmp_path: Path, start: str, again: str) -> None:
    path = written(tmp_path, start + again * (SIZE // max(len(again), 1)))
    began = processor_seconds()
    done = subprocess.run([dump, path], stdout=subprocess.PIPE, timeout=250)
    seconds = processor_seconds() - began
    path.unlink()
    assert done.returncode in {0, 1}
    assert seconds < 10  # about one each; a quadratic parser takes hours


@pytest.mark.parametrize(
    "item", ["l{0}:", ".reg .b32 a{0};", ".loc 1 {0} 3\n", ".shared .b8 v{0};", "{{ l{0}: bra l{0}; }}"]
)
def test_many_names_take_little_time(dump: Path, tmp_path: Path, item: str) -> None:
    items = "".join(item.format(i) for i in range(600_000))
    path = written(tmp_path, BODY + '.file 1 "a"\n' + items + "ret; }\n")
    began = processor_seconds()
    subprocess.run([dump, "--time", path, "1"], check=True, stdout=subprocess.PIPE, timeout=250)
    seconds = processor_seconds() - began
    path.unlink()
    assert seconds < 10


@pytest.mark.timed
def test_speed(dump: Path) -> None:
    path = DATA / "kernels.ptx"
    seconds = float(run(dump, "--time", path, 50))
    assert seconds * 60e3 / path.stat().st_size < 5e-3  # for 60 KB; about 1 ms on an idle machine


# ---- The installed compiler ----------------------------------------------------------------------------

LIBRARIES = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
struct Base { __device__ virtual int f() { return 1; } int x; };
struct Derived : Base { __device__ int f() override { return x; } };
__global__ void virtual_call(int *o, int k) {
    Derived d; Base b; d.x = k; Base *p = k ? &d : &b; o[0] = p->f();
}
__global__ void groups(float *o) {
    auto grid = cg::this_grid();
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    o[block.thread_rank()] = cg::reduce(tile, o[0], cg::plus<float>());
    grid.sync();
    o[5] += cg::coalesced_threads().size() + __half2float(__float2half(o[6]));
}
"""


@pytest.mark.parametrize(
    "flags", [["-lineinfo", "-arch=compute_90"], ["-arch=compute_75"], ["-G", "-rdc=true"]], ids=str
)
@pytest.mark.parametrize("source", ["kernels.cu", "libraries.cu"])
def test_what_nvcc_writes(dump: Path, nvcc: str, tmp_path: Path, source: str, flags: list[str]) -> None:
    path = DATA / source
    if not path.exists():
        path = tmp_path / source
        path.write_text(LIBRARIES)
    ptx = tmp_path / "out.ptx"
    subprocess.run([nvcc, "-ptx", *flags, str(path), "-o", str(ptx)], check=True, capture_output=True)
    module = parse(dump, ptx)
    assert sum("entry" in function for function in module["functions"]) >= 2
    for function in module["functions"]:
        assert bool(function["instructions"]) == ("body" in function)
