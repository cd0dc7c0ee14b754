"""How the kernels of tests/wrong and tests/right are stored: bases, headers, `make kernel`, `make kernel-edit`."""

import re
import textwrap
from pathlib import Path

import pytest
from conftest import ROOT, run_make
from fake_workbook import FakeWorkbook

from grader.authoring import kernels
from grader.core.errors import MachineError
from grader.core.workbook import Workbook

SOLUTION = """\
// SKELETON VERDICT: WRONG
// Chapter 1: what it is about.
#include "warpbook.cuh"

// In a program of your own this reads otherwise.
LAUNCH(sum) {
    launch->block = 256; // 8 warps
}

// in: n floats.
__global__ void sum(const float *in, float *partial, int n) {
    float value = 0.0f;

    // BEGIN SOLUTION
    // TODO 1: add it up.
    // SKELETON: value = in[0];
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        value += in[i]; // one at a time
    }
    // END SOLUTION

    partial[threadIdx.x] = value;
}
"""
COMMENTED = """\
#include "warpbook.cuh"

// In a program of your own this reads otherwise.
LAUNCH(sum) {
    launch->block = 256; // 8 warps
}

// in: n floats.
__global__ void sum(const float *in, float *partial, int n) {
    float value = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        value += in[i]; // one at a time
    }

    partial[threadIdx.x] = value;
}
"""
PLAIN = """\
#include "warpbook.cuh"

LAUNCH(sum) {
    launch->block = 256;
}

__global__ void sum(const float *in, float *partial, int n) {
    float value = 0.0f;

    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        value += in[i];
    }

    partial[threadIdx.x] = value;
}
"""
DENSE = PLAIN.replace("0.0f;\n\n", "0.0f;\n").replace("}\n\n    partial", "}\n    partial")
HEADER = "// VERDICT: OOB\n// MISTAKE: one-too-far - reads one element too many\n// DIAGNOSIS: no-bound\n"
EDIT = """\
@@ sum(
-    for (int i = threadIdx.x; i < n; i += blockDim.x) {
+    for (int i = threadIdx.x; i <= n; i += blockDim.x) {
"""


@pytest.fixture
def book(tmp_path: Path) -> FakeWorkbook:
    """A chapter with its solution, and tests/wrong/ch01/one_too_far.patch."""
    made = FakeWorkbook(tmp_path / "book", {"ch01": "# one\n", "ch02": "# two\n"})
    (made.folder / "solutions" / "ch01_fake" / "kernel.cu").write_text(SOLUTION)
    put(made, "wrong/ch01/one_too_far.patch", HEADER + EDIT)
    return made


def put(book: FakeWorkbook, name: str, text: str) -> Path:
    path = book.folder / "tests" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def read(book: FakeWorkbook, name: str) -> str:
    return kernels.read(Workbook(book.folder), name).content.decode()


def refused(book: FakeWorkbook, name: str = "wrong/ch01/one_too_far") -> str:
    with pytest.raises(MachineError) as raised:
        kernels.read(Workbook(book.folder), name)
    return str(raised.value)


# ---- Bases -------------------------------------------------------------------------------------------------


def test_a_solution_is_a_base_in_three_forms(book: FakeWorkbook) -> None:
    workbook = Workbook(book.folder)
    assert kernels.base(workbook, "solution/ch01") == PLAIN
    assert kernels.base(workbook, "dense/ch01") == DENSE
    assert kernels.base(workbook, "commented/ch01") == COMMENTED


@pytest.mark.parametrize(
    ("named", "base"),
    [("", PLAIN), ("solution/ch01", PLAIN), ("dense/ch01", DENSE), ("commented/ch01", COMMENTED)],
)
def test_an_edit_names_its_base(book: FakeWorkbook, named: str, base: str) -> None:
    put(book, "wrong/ch01/one_too_far.patch", HEADER + (f"// BASE: {named}\n" if named else "") + EDIT)
    assert read(book, "wrong/ch01/one_too_far") == HEADER + base.replace("i < n", "i <= n")


def test_a_right_kernel_is_a_base_without_its_header(book: FakeWorkbook) -> None:
    put(
        book,
        "right/ch01/backwards.cu",
        "// RIGHT: backwards\n// the other way\n" + DENSE.replace("256", "64"),
    )
    put(book, "wrong/ch01/one_too_far.patch", HEADER + "// BASE: right/ch01/backwards\n" + EDIT)
    assert read(book, "wrong/ch01/one_too_far") == HEADER + DENSE.replace("256", "64").replace(
        "i < n", "i <= n"
    )


@pytest.mark.parametrize(
    "named", ["solution/ch03", "right/ch01/nothing", "wrong/ch01/other", "skeleton/ch01", "x"]
)
def test_an_unknown_base_in_an_edit(book: FakeWorkbook, named: str) -> None:
    put(book, "wrong/ch01/one_too_far.patch", f"{HEADER}// BASE: {named}\n{EDIT}")
    assert refused(book).startswith(
        f"tests/wrong/ch01/one_too_far.patch: there is no base {named}: a base is "
    )


def test_an_edit_cannot_be_a_base(book: FakeWorkbook) -> None:
    put(book, "right/ch01/other.patch", "// RIGHT: other\n" + EDIT)
    put(book, "wrong/ch01/one_too_far.patch", HEADER + "// BASE: right/ch01/other\n" + EDIT)
    assert "right/ch01/other is stored as an edit and cannot be a base: edit its base instead" in refused(
        book
    )


# ---- Reading -----------------------------------------------------------------------------------------------


def test_a_solution_that_changes_elsewhere_changes_the_kernel(book: FakeWorkbook) -> None:
    solution = book.folder / "solutions" / "ch01_fake" / "kernel.cu"
    solution.write_text(
        SOLUTION.replace("= 256;", "= 128;").replace("// one at a time", "// another comment")
    )
    wanted = PLAIN.replace("256", "128").replace("i < n", "i <= n")
    assert read(book, "wrong/ch01/one_too_far") == HEADER + wanted


def test_a_solution_that_changes_at_an_anchor_stops_the_kill_rate(book: FakeWorkbook) -> None:
    put(book, "wrong/ch01/another.patch", HEADER + "@@\n-    launch->block = 256;\n")
    put(book, "wrong/ch01/in_full.cu", HEADER + PLAIN)
    solution = book.folder / "solutions" / "ch01_fake" / "kernel.cu"
    solution.write_text(SOLUTION.replace("i < n;", "n > i;").replace("= 256;", "= 128;"))
    said = refused(book)
    assert said.startswith(
        "tests/wrong/ch01/one_too_far.patch:4: the anchor is missing: `for (int i = threadIdx.x; "
    )
    assert "is not in solution/ch01, in the block `sum(`" in said
    assert said.endswith(
        "\n    The base: `make kernel K=solution/ch01` writes it to build/kernels/solution/ch01.cu"
    )
    done = book.run("kill-rate")
    assert done.returncode == 3
    assert "tests/wrong/ch01/one_too_far.patch:4: the anchor is missing" in done.stderr
    assert "tests/wrong/ch01/another.patch:4: the anchor is missing" in done.stderr
    assert not book.ran()


@pytest.mark.parametrize("name", ["one_too_far.patch", "in_full.cu"])
@pytest.mark.parametrize(
    "header",
    [
        "",
        HEADER.replace("OOB", ""),
        HEADER.replace("VERDICT", "Verdict"),
        HEADER.partition("// DIAGNOSIS")[0],
        "// " + HEADER,
    ],
)
def test_a_kernel_has_a_header(book: FakeWorkbook, name: str, header: str) -> None:
    put(book, f"wrong/ch01/{name}", header + (EDIT if name.endswith(".patch") else PLAIN))
    assert refused(book, f"wrong/ch01/{name.partition('.')[0]}") == (
        f"tests/wrong/ch01/{name}: its first lines must be // VERDICT: ..., then // MISTAKE: ..., "
        "then // DIAGNOSIS: ..."
    )
    put(book, "right/ch01/other.cu", PLAIN)
    assert (
        refused(book, "right/ch01/other")
        == "tests/right/ch01/other.cu: its first lines must be // RIGHT: ..."
    )


def test_a_kernel_is_stored_once(book: FakeWorkbook) -> None:
    put(book, "wrong/ch01/one_too_far.cu", HEADER + PLAIN)
    assert (
        "tests/wrong/ch01/one_too_far.cu and tests/wrong/ch01/one_too_far.patch both exist: `make kernel-edit "
        in refused(book)
    )


def test_the_kill_rate_judges_the_kernel_in_full(book: FakeWorkbook) -> None:
    """The kernels of this workbook are Python programs; the record of a run depends on the kernel in full."""
    solution = book.folder / "solutions" / "ch01_fake" / "kernel.cu"
    solution.write_text('verdict = "PASS"\nresult["verdict"] = verdict\n')
    put(book, "wrong/ch01/one_too_far.patch", HEADER + '@@\n-verdict = "PASS"\n+verdict = "OOB"\n')
    put(book, "right/ch01/same.cu", '// RIGHT: same\nverdict = "PASS"\n')

    def judged() -> dict[str, str]:
        status, document = book.document("kill-rate", "ch01")
        assert status == 0
        return {trial["path"]: trial["verdict"] for trial in document["trials"]}

    expected = {"tests/wrong/ch01/one_too_far.patch": "OOB", "tests/right/ch01/same.cu": "PASS"}
    assert judged() == expected
    assert len(book.ran()) == 2
    assert judged() == expected
    assert book.ran() == [], "nothing has changed"
    solution.write_text(solution.read_text() + "# more\n")
    assert judged() == expected
    assert book.ran() == ["ch01"], "the kernel has changed, though its edit has not"
    put(book, "wrong/ch01/one_too_far.cu", read(book, "wrong/ch01/one_too_far"))
    (book.folder / "tests/wrong/ch01/one_too_far.patch").unlink()
    assert judged().keys() == {"tests/wrong/ch01/one_too_far.cu", "tests/right/ch01/same.cu"}
    assert book.ran() == [], "the kernel is the same, however it is stored"


# ---- make kernel -------------------------------------------------------------------------------------------


def test_kernels_are_written_in_full(book: FakeWorkbook) -> None:
    put(book, "wrong/ch01/in_full.cu", HEADER + PLAIN)
    put(book, "right/ch02/other.cu", "// RIGHT: other\n" + PLAIN)
    done = book.run("kernel", "wrong/ch01/one_too_far")
    assert (done.returncode, done.stdout) == (0, "build/kernels/wrong/ch01/one_too_far.cu\n")
    written = book.folder / "build/kernels/wrong/ch01/one_too_far.cu"
    assert written.read_text() == HEADER + PLAIN.replace("i < n", "i <= n")
    both = "build/kernels/wrong/ch01/in_full.cu\nbuild/kernels/wrong/ch01/one_too_far.cu\n"
    for folder in ("wrong/ch01", "tests/wrong/ch01/", "./tests/wrong"):
        assert book.run("kernel", folder).stdout == both
    status, document = book.document("kernel", "right/ch02/other.cu")
    row = {"name": "right/ch02/other", "path": "build/kernels/right/ch02/other.cu"}
    assert (status, document) == (0, {"schema": "warpbook/kernel/1", "kernels": [row]})


def test_bases_are_written_too(book: FakeWorkbook) -> None:
    assert book.run("kernel", "dense/ch01").stdout == "build/kernels/dense/ch01.cu\n"
    assert (book.folder / "build/kernels/dense/ch01.cu").read_text() == DENSE


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            "wrong/ch01/one_to_far",
            "there is no kernel wrong/ch01/one_to_far; did you mean wrong/ch01/one_too_far?",
        ),
        ("wrong/ch1", "there is no kernel wrong/ch1; did you mean wrong/ch01"),
        ("one_too_fair", "there is no kernel one_too_fair; did you mean wrong/ch01/one_too_far?"),
        ("zzz", "there is no kernel zzz; names have the form wrong/ch09/NAME"),
        ("solution/ch09", "there is no base solution/ch09: a base is "),
    ],
)
def test_an_unknown_name_gets_those_like_it(book: FakeWorkbook, asked: str, said: str) -> None:
    done = book.run("kernel", asked)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"warpbook: {said}")


def test_no_name_says_what_to_type(book: FakeWorkbook) -> None:
    done = book.run("kernel")
    assert done.returncode == 2
    assert "no kernel is named: say K=wrong/ch09/NAME, or K=wrong/ch09 for a folder" in done.stderr


def test_make_hands_the_name_on() -> None:
    done = run_make("kernel", "K=wrong/ch11/a_copy", folder=ROOT)
    assert (done.returncode, done.stdout) == (0, "build/kernels/wrong/ch11/a_copy.cu\n")
    done = run_make("kernel", "K=wrong/ch11/a_copi", folder=ROOT)
    assert done.returncode == 2
    assert "did you mean wrong/ch11/a_copy" in done.stderr


# ---- make kernel-edit --------------------------------------------------------------------------------------


def test_a_full_kernel_becomes_the_shortest_edit(book: FakeWorkbook) -> None:
    full = put(book, "wrong/ch01/other.cu", HEADER + DENSE.replace("i < n", "i <= n"))
    done = book.run("kernel-edit", "wrong/ch01/other")
    remark = "tests/wrong/ch01/other.patch: now an edit of dense/ch01, 7 lines instead of 16\n"
    assert (done.returncode, done.stdout) == (0, remark)
    assert full.with_suffix(".patch").read_text() == HEADER + "// BASE: dense/ch01\n" + EDIT
    assert not full.exists()
    assert book.run("kernel-edit", "wrong/ch01/other").stdout.endswith("other.patch: already an edit\n")


def test_an_edit_can_be_replaced(book: FakeWorkbook) -> None:
    put(book, "right/ch01/backwards.cu", "// RIGHT: backwards\n" + DENSE)
    full = put(book, "wrong/ch01/one_too_far.cu", HEADER + PLAIN.replace("i < n", "i <= n + 1"))
    done = book.run("kernel-edit", "--base", "right/ch01/backwards", "wrong/ch01/one_too_far")
    assert done.returncode == 0
    assert not full.exists()
    text = full.with_suffix(".patch").read_text()
    assert "// BASE: right/ch01/backwards\n" in text
    assert read(book, "wrong/ch01/one_too_far") == HEADER + PLAIN.replace("i < n", "i <= n + 1")
    done = book.run("kernel-edit", "right/ch01/backwards")
    assert done.stdout == "tests/right/ch01/backwards.cu: stays in full: the base of 1 edit\n"


def test_a_kernel_with_little_in_common_stays_in_full(book: FakeWorkbook) -> None:
    other = HEADER + "".join(f"constant int number_{number} = {number};\n" for number in range(20))
    full = put(book, "wrong/ch01/other.cu", other)
    done = book.run("kernel-edit", "wrong/ch01/other")
    assert "tests/wrong/ch01/other.cu: stays in full, 23 lines: the shortest edit, of " in done.stdout
    assert full.read_text() == other


def test_a_kernel_need_not_be_utf_8(book: FakeWorkbook) -> None:
    latin = b"// RIGHT: latin\n" + DENSE.encode().replace(b"256;", b"256; // gr\xf6\xdfer")
    path = put(book, "right/ch01/latin.cu", "")
    path.write_bytes(latin)
    assert "latin.patch: now an edit of dense/ch01" in book.run("kernel-edit", "right/ch01/latin").stdout
    assert kernels.read(Workbook(book.folder), "right/ch01/latin").content == latin


def test_a_kernel_that_is_its_base_stays_in_full(book: FakeWorkbook) -> None:
    put(book, "right/ch01/same.cu", "// RIGHT: same\n" + PLAIN)
    done = book.run("kernel-edit", "--base", "solution/ch01", "right/ch01/same")
    remark = "tests/right/ch01/same.cu: stays in full: it differs from solution/ch01 only in its header\n"
    assert (done.returncode, done.stdout) == (0, remark)


def test_an_unknown_base_changes_nothing(book: FakeWorkbook) -> None:
    full = put(book, "wrong/ch01/other.cu", HEADER + PLAIN.replace("i < n", "i <= n"))
    done = book.run("kernel-edit", "--base", "right/ch01/nothing", "wrong/ch01/other")
    assert done.returncode == 2
    assert "there is no base right/ch01/nothing" in done.stderr
    assert full.exists()
    assert not full.with_suffix(".patch").exists()


# ---- The guide ---------------------------------------------------------------------------------------------


def test_the_guide_shows_a_stored_kernel() -> None:
    guide = (ROOT / "docs" / "diagnosis.md").read_text()
    name, example = re.search(r"`(tests/wrong/\S+\.patch)`:\n\n(.*?)\n\n[^ ]", guide, re.DOTALL).groups()
    assert textwrap.dedent(example) + "\n" == (ROOT / name).read_text()
