"""Kernels that resemble each other: no disguise of a copy hides it, and no reader takes long."""

import contextlib
import re
import time
from pathlib import Path
from typing import Any

import pytest
from classroom import Classroom
from conftest import ROOT
from whole_kernels import kernel_text

from grader.classroom.similarity.preprocess import TooLongError, preprocessed
from grader.classroom.similarity.words import image_words, source_words
from grader.classroom.views import similar
from grader.core.skeleton import make_skeleton
from grader.core.workbook import Workbook

SOLUTION = next(ROOT.glob("solutions/ch07_*/kernel.cu")).read_text()
SKELETON = make_skeleton(SOLUTION).text
MIB = 1 << 20


def renamed(text: str) -> str:
    """Every variable with a macro for its name, and every keyword with one too."""
    names = sorted(set(re.findall(r"\b[a-z_]{3,}\b", re.sub(r"//.*", "", text))))
    defines = "".join(f"#define z{at} {name}\n" for at, name in enumerate(names))
    code = re.sub(r"//.*|#include.*", "", text)
    for at, name in enumerate(names):
        code = re.sub(rf"\b{name}\b", f"z{at}", code)
    return '#include "warpbook.cuh"\n' + defines + code


def spliced(text: str) -> str:
    """With a line splice within every word of the code."""
    return re.sub(r"\b([a-z]{2})([a-z]+)\b", r"\1\\\n\2", re.sub(r"//.*", "", text))


def digraphs(text: str) -> str:
    for token, other in (("{", "<%"), ("}", "%>"), ("[", "<:"), ("]", ":>"), ("#", "%:"), ("&&", " and ")):
        text = text.replace(token, other)
    return text


BODY = SOLUTION.replace('#include "warpbook.cuh"', "")
DISGUISES = {
    "a long comment": lambda: SOLUTION.replace("{", "{ /*" + "thread " * 10_000 + "*/", 1),
    "a comment in every gap": lambda: SOLUTION.replace(" ", " /**/ "),
    "a macro for every semicolon": lambda: "#define EQ ;\n" + re.sub(r"//.*", "", SOLUTION).replace(";", " EQ "),
    "a macro for everything": lambda: renamed(SOLUTION),
    "line splices": lambda: spliced(SOLUTION),
    "digraphs": lambda: digraphs(SOLUTION),
    "an include of nothing": lambda: SOLUTION.replace("{", '{\n#include "/dev/null"\n'),
    "code that is not compiled": lambda: f"{SOLUTION}\n#if 0\n{BODY.replace('float', 'double') * 40}\n#endif\n",
    "code for another compiler": lambda: f"#ifndef __CUDACC__\n{BODY * 2}\n#else\n{SOLUTION}\n#endif\n",
    "code that a condition computes away": lambda: (
        f"#define N 3\n#if defined(N) && (N * 2 + 1 == 7 ? 1 : 0)\n{SOLUTION}\n#elif 1\nint x;\n#endif\n"
    ),
    "a function-like macro around it": lambda: f"#define ALL(...) __VA_ARGS__\nALL({re.sub('//.*|#.*', '', BODY)})\n",
    "pasted names": lambda: "#define P(a, b) a##b\n" + re.sub(
        r"\bfloat4\b", "P(flo, at4)", re.sub(r"\breturn\b", "P(ret, urn)", re.sub(r"//.*", "", SOLUTION))
    ),
    "a string that looks like a comment": lambda: (
        SOLUTION.replace("{", '{ static_assert(true, R"x(" /* )x");', 1) + "// */"
    ),
    "statements of nothing": lambda: SOLUTION.replace(";\n", ";;;{;}\n"),
    "other line ends": lambda: SOLUTION.replace("\n", "\r"),
    "names and const": lambda: SOLUTION.replace("int ", "const int ").replace("sum", "gesamtsumme"),
}  # fmt: skip


def found(
    folder: Path, texts: dict[str, str], share: float = 0.8, given: similar.Given | None = None
) -> similar.Resemblance:
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    kernels = {"ch07": {name: similar.Kernel(folder / name) for name in texts}}
    return similar.find_similar(kernels, {"ch07": given or similar.Given(SKELETON)}, share)


@pytest.mark.parametrize("name", DISGUISES)
def test_no_disguise_hides_a_copy(tmp_path: Path, name: str) -> None:
    copy = DISGUISES[name]()
    assert copy != SOLUTION
    (pair,) = found(tmp_path, {"ada": SOLUTION, "bob": copy}).pairs
    only_comments = name in ("a comment in every gap", "a long comment", "other line ends")
    assert (pair["students"], pair["in"]) == (["ada", "bob"], "comments" if only_comments else "source")
    assert max(pair["share"]) > 0.9, pair


@pytest.mark.parametrize(
    ("source", "tokens"),
    [
        ("#define A B\n#define B A\nA B", "A B"),  # as the standard asks: none within its own replacement
        ("#define F(x) x F\nF(1)(2)", "1 F ( 2 )"),
        ("#define F(x, y) x #y y##1\nF(a b, c)", 'a b " c1'),
        ("#define F(x, ...) [__VA_ARGS__ | x]\nF(1, 2, (3, 4))", "[ 2 , ( 3 , 4 ) | 1 ]"),
        ("#define F(x) <x>\nF(\n1\n) F", "< 1 > F"),
        ("#define A 1\n#undef A\nA", "A"),
        ("#if 1 - 1 || !defined X && 2 > 1 << 0\nyes\n#else\nno\n#endif", "yes"),
        ("#if 0\n#if 1\na\n#else\nb\n#endif\n#elif 0x10 == 16 && 010 == 8u\nc\n#else\nd\n#endif", "c"),
        ("#if 0 // it's not here\nx\n#endif\n'a' y", '" y'),
        ("#if nonsense +\nread\n#endif", "read"),
        ("a /* // */ b // c \\\n d\ne", "a b e"),
        ("1'000'000 0x1p-3 .5f", "1'000'000 0x1p-3 .5f"),
        ("#ifdef A\n#elifdef __CUDACC__\nx\n#endif\n#endif\n#else\ny", "x y"),
    ],
)
def test_preprocessing(source: str, tokens: str) -> None:
    assert " ".join(preprocessed(source)) == tokens


def test_what_the_reference_has_too_is_said(tmp_path: Path) -> None:
    given = similar.Given(SKELETON, SOLUTION)
    (pair,) = found(tmp_path, {"ada": SOLUTION, "bob": SOLUTION + "// mine"}, given=given).pairs
    assert pair["reference"] == [1, 1]
    other = BODY.replace("sum", "x").replace("float4", "double2").replace("+", "-").replace("/ 4", "% 3")
    (pair,) = found(tmp_path, {"ada": other, "bob": f"{other}// mine"}, given=given).pairs
    assert max(pair["reference"]) < 0.8


def test_the_skeleton_is_what_is_handed_out_and_not_the_checkouts_file(tmp_path: Path) -> None:
    """With the exercise solved in the checkout, its kernel.cu would take every answer for given."""
    from grader.classroom.batch import Batch

    book = tmp_path / "book"
    for name in ("chapters", "solutions"):
        path = next((ROOT / name).glob("ch07_*"))
        (book / name / path.name).mkdir(parents=True)
        (book / name / path.name / "kernel.cu").write_text(SOLUTION)
    (next((book / "chapters").iterdir()) / "chapter.c").touch()
    batch = Batch.__new__(Batch)
    batch.workbook = Workbook(book)
    given = batch.given(batch.workbook.chapters[0])
    assert (given.skeleton, given.reference) == (SKELETON, SOLUTION)
    assert len(found(tmp_path, {"ada": SOLUTION, "bob": SOLUTION + "// mine"}, given=given).pairs) == 1


# ---- Compiled code ------------------------------------------------------------------------------------------------

REFERENCE = [f"ld.global.f{at % 7}/r[r" if at % 3 else f"add.s{at}/rrr" for at in range(60)]


def ptx(words: list[str], registers: str = "%r", *, inline: bool = False) -> bytes:
    """PTX that reads as these words."""
    lines = []
    for at, word in enumerate(words):
        opcode, kinds = word.split("/")
        names = [{"[": "[", "0": str(at)}.get(kind, f"{registers}{at}") for kind in kinds]
        operands = ", ".join(names).replace("[, ", "[") + ("]" if "[" in kinds else "")
        lines += (
            ["\t// begin inline asm"] * inline
            + [f"\t{opcode} \t{operands};"]
            + ["\t// end inline asm"] * inline
        )
    return "\n".join([".visible .entry k(", ")", "{", *lines, "$L__BB0_1:", "\tret;", "}"]).encode()


def own_code(number: int, length: int = 80) -> list[str]:
    """Code like no other's."""
    return [f"mul.b{(number * 7919 + at * at * 31) % 97}/rr0" for at in range(length)]


def compared(folder: Path, codes: dict[str, Any]) -> similar.Resemblance:
    kernels = {}
    for at, (name, code) in enumerate(codes.items()):
        (folder / name).write_text(f"int x{at}();" + "+-*/%&|^"[at] * (at + 1))
        kernels[name] = similar.Kernel(folder / name, code)
    given = similar.Given(SKELETON, SOLUTION, image_words(ptx(REFERENCE)))
    return similar.find_similar({"ch07": kernels}, {"ch07": given}, 0.8)


def test_registers_and_numbers_make_no_difference() -> None:
    assert image_words(ptx(REFERENCE)) == image_words(ptx(REFERENCE, "%rd_9")) == REFERENCE


def test_kernels_that_compile_to_the_same_code_are_a_pair(tmp_path: Path) -> None:
    report = compared(
        tmp_path, {"ada": own_code(1), "bob": [*own_code(3, 3), *own_code(1)], "cy": own_code(2)}
    )
    (pair,) = report.pairs
    assert (pair["students"], pair["in"], pair["reference"]) == (["ada", "bob"], "code", [0, 0])
    assert report.references == []


def test_two_right_answers_that_compile_to_the_reference_are_no_pair(tmp_path: Path) -> None:
    report = compared(tmp_path, {"ada": REFERENCE, "bob": [*REFERENCE, *own_code(1, 10)], "cy": own_code(2)})
    assert report.pairs == []
    assert [(one["student"], one["inline"]) for one in report.references] == [("ada", 0), ("bob", 0)]


def test_the_references_code_as_inline_assembly_is_seen(tmp_path: Path) -> None:
    pasted = image_words(ptx(REFERENCE[:40], "a", inline=True))
    report = compared(tmp_path, {"ada": [*own_code(1), *(pasted or [])], "bob": REFERENCE})
    assert [(one["student"], one["inline"]) for one in report.references] == [("ada", 40), ("bob", 0)]


# ---- Bounds -------------------------------------------------------------------------------------------------------

TRAPS = {
    "comments without end": "/*" * (MIB // 2),
    "raw strings without end": "".join(f'R"{at:x}(' for at in range(MIB // 9)),
    "white space": "\t \n" * (MIB // 3),
    "quotes": '"' * MIB,
    "tokens": "a " * (MIB // 2),
    "nested conditionals": "#if 1\n" * (MIB // 6),
    "a macro bomb": "".join(f"#define A{at} " + f"A{at + 1} " * 6 + "\n" for at in range(7)) + "A0",
    "a bomb of nothing": "#define E\n" + "".join(f"#define E{at + 1} E{at} E{at}\n" for at in range(40)) + "E40",
    "a chain of macros": "".join(f"#define A{at} A{at + 1}\n" for at in range(30_000)) + "A0",
    "nested calls": "#define F(x) x\n" + "F(" * 3000 + ")" * 3000,
    "calls that paste": "#define P(x) x##x##x##x\n" + "P(P(P(P(P(a)))))\n" * 3000,
    "deep parentheses": "#if " + "(" * 9000 + "\n",
    "large shifts": "#if 1 << 63 << 63 * 999999999999\n#endif\n" * 20_000,
    "definitions without calls": ("#define A 1\n" + "A " * 20) * (MIB // 52),
}  # fmt: skip


@pytest.mark.parametrize("name", TRAPS)
@pytest.mark.timed
def test_no_source_takes_its_reader_more_than_seconds(name: str) -> None:
    begun = time.process_time()
    with contextlib.suppress(TooLongError):
        assert len(source_words(TRAPS[name].encode())) <= 12_000
    assert time.process_time() - begun < 4


@pytest.mark.parametrize(
    "text", ["add.f32 a,b;" * 300_000, "@p " * MIB, "add" + " " * 3 * MIB, "x\n" * 2 * MIB]
)
@pytest.mark.timed
def test_no_image_takes_its_reader_more_than_seconds(text: str) -> None:
    begun = time.process_time()
    image_words(text.encode())
    assert time.process_time() - begun < 4
    assert image_words(b";" * (5 * MIB)) is None


def test_what_is_too_long_is_reported(tmp_path: Path) -> None:
    long = "".join(f"int x{at} = {at};\n" for at in range(5000))
    report = found(tmp_path, {"ada": long, "bob": SOLUTION})
    assert report.not_compared == [
        {
            "chapter": "ch07",
            "student": "ada",
            "why": "its source is not compared: it has more than 12,000 tokens after preprocessing",
        }
    ]
    report = compared(tmp_path, {"ada": None, "bob": own_code(1)})
    assert [one["why"] for one in report.not_compared] == [
        "its compiled code is not compared: it is too long"
    ]


def test_the_same_long_file_is_still_the_same(tmp_path: Path) -> None:
    (pair,) = found(tmp_path, {"ada": "int x;" * 9000, "bob": "int x;" * 9000}).pairs
    assert pair["in"] == "file"


# ---- Judged in class ------------------------------------------------------------------------------------------------


@pytest.fixture
def room(built: Path, tmp_path: Path) -> Classroom:
    return Classroom(tmp_path / "class", Workbook(built))


def pasted(ptx: str, kernel: str, source: str) -> str:
    """The source with a kernel's body replaced by that kernel's PTX as inline assembly."""
    found = re.search(rf"\.entry _Z\d+({kernel}\w+)\((.*?)\)\s*\{{\n(.*?)\n\}}", ptx, re.DOTALL)
    assert found
    names = re.findall(r"\w+_param_\d+", found[2])
    head = re.search(rf"void {kernel}\((.*?)\) \{{\n", source, re.DOTALL)
    assert head
    variables = [parameter.split()[-1].lstrip("*") for parameter in head[1].split(",")]
    assert len(names) == len(variables)
    lines = []
    for line in found[3].splitlines():
        text = line.partition("//")[0].strip()
        if text and not text.startswith((".loc", ".file", ".pragma")):
            # Its registers must not hide those of the operands.
            text = re.sub(r"%(r|rd|f|fd|p|rs)(?=[0-9<])", r"%q\1", text).replace("%", "%%")
            for at, name in enumerate(names):
                text = re.sub(rf"ld\.param\.(\w+)(.*)\[{name}\]", rf"mov.\1\2%{at}", text)
            lines.append(f'    "{text}\\n"')
    inputs = ", ".join(
        f'"{"l" if "*" in parameter else "r"}"({name})'
        for parameter, name in zip(head[1].split(","), variables, strict=True)
    )
    body = "\n".join(['asm volatile("{\\n"', *lines, f'    "}}\\n" :: {inputs} : "memory");'])
    end = source.index("\n}\n", head.end())
    return source[: head.end()] + body + source[end:]


def test_the_reference_pasted_as_inline_assembly_is_named(
    room: Classroom, built: Path, tmp_path: Path
) -> None:
    """With the reference's PTX, which only a teacher's workbook has, a kernel passes; the class page says so."""
    from grader.classroom.judge.references import prepare_reference, reference_image
    from grader.core.processes import Processes

    workbook = Workbook(built)
    (chapter,) = workbook.select(["ch04"])
    prepare_reference(workbook, chapter, "emulator", Processes())
    image = reference_image(workbook, chapter)
    assert image
    solution = (ROOT / chapter.solution / "kernel.cu").read_text()
    source = room.kernel(pasted(image.decode(), "sum_shuffle", solution))
    judgement = room.judge(source, "ch04")
    assert judgement.verdict in ("PASS", "SLOW"), judgement.result.message
    kernel = similar.Kernel(source, judgement.code)
    given = similar.Given(make_skeleton(solution).text, solution, image_words(image))
    (near,) = similar.find_similar({"ch04": {"eve": kernel}}, {"ch04": given}, 0.8).references
    assert near["inline"] >= 20


def test_statements_that_compile_to_nothing_hide_no_copy(
    room: Classroom, built: Path, tmp_path: Path
) -> None:
    """They change the source everywhere, and the compiled code nowhere."""
    original = kernel_text("right/ch11/by_shuffles")
    code = re.sub(r"//[^\n]*", "", original)
    nothing = r'if (sizeof(int) * 7 == 3) { asm("trap;"); asm("exit;"); }'
    copy = re.sub(r";\n(\s+)(?=[a-z])", rf";\n\1{nothing}\n\1", code)
    assert copy.count("trap") > 10
    codes = [room.judge(room.kernel(text), "ch11").code for text in (original, copy)]
    solution = next(ROOT.glob("solutions/ch11_*/kernel.cu")).read_text()
    kernels = {}
    for name, text, words in zip(("ada", "bob"), (original, copy), codes, strict=True):
        (tmp_path / name).write_text(text)
        kernels[name] = similar.Kernel(tmp_path / name, words)
    given = similar.Given(make_skeleton(solution).text, solution, image_words(ptx(REFERENCE)))
    (pair,) = similar.find_similar({"ch11": kernels}, {"ch11": given}, 0.98).pairs
    assert (pair["students"], pair["in"]) == (["ada", "bob"], "code")
