"""Kernels stored as edits: what an edit changes, and the messages for one that does not match its base."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.authoring import edits

BASE = """\
#include "warpbook.cuh"

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

LAUNCH(sum) {
    launch->block = 256;
}
__global__ void sum(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    float value = 0.0f;
    for (int i = thread; i < n; i += threads) {
        value += in[i];
    }
    value = sum_of_warp(value);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = value;
    }
}
"""


def applied(edit: str, base: str = BASE) -> str:
    return edits.apply(edits.parse(edit, "x.patch"), base, "x.patch", "solution/ch01")


def refused(edit: str, base: str = BASE) -> str:
    with pytest.raises(edits.EditError) as raised:
        applied(edit, base)
    return str(raised.value)


# ---- Applying ----------------------------------------------------------------------------------------------


def test_lines_are_replaced() -> None:
    edit = """\
// VERDICT: OOB
// MISTAKE: one-too-far - the loop takes i == n too
@@
-    for (int i = thread; i < n; i += threads) {
+    for (int i = thread; i <= n; i += threads) {
"""
    wanted = "// VERDICT: OOB\n// MISTAKE: one-too-far - the loop takes i == n too\n"
    assert applied(edit) == wanted + BASE.replace("i < n", "i <= n")


def test_the_words_after_the_mark_choose_the_block() -> None:
    wanted = BASE.replace("    }\n    return", "    }\n    // done\n    return")
    assert applied("@@ sum_of_warp(float\n     }\n+    // done\n") == wanted
    both_sums = "@@ LAUNCH(sum)\n-    launch->block = 256;\n+    launch->block = 64;\n"
    assert applied(both_sums) == BASE.replace("256", "64")


def test_three_dots_remove_lines() -> None:
    body = (
        "    float value = 0.0f;\n"
        + BASE.partition("float value = 0.0f;\n")[2].partition("    value = sum_of")[0]
    )
    assert body.count("\n") == 4
    part = "@@ void sum(\n-    float value = 0.0f;\n...\n-    }\n     value = sum_of_warp(value);\n"
    assert applied(part) == BASE.replace(body, "")
    block = BASE.partition("__device__")[0] + "LAUNCH(sum)" + BASE.partition("LAUNCH(sum)")[2]
    assert applied("@@ sum_of_warp(float\n...\n") == block
    tail = "@@ void sum(\n-    value = sum_of_warp(value);\n...\n+}\n"
    assert applied(tail) == BASE.partition("    value = sum_of_warp(value);\n")[0] + "}"
    head = "@@ LAUNCH(sum)\n...\n     launch->block = 256;\n"
    assert applied(head) == BASE.replace("LAUNCH(sum) {\n", "")


def test_lines_without_an_anchor_are_inserted_before_the_block() -> None:
    helper = "__device__ bool yes() { return true; }\n\n"
    assert applied(f"@@ void sum(\n+{helper.splitlines()[0]}\n+\n") == BASE.replace(
        "__global__", helper + "__global__"
    )
    assert applied("@@\n+#include <stdio.h>\n") == "#include <stdio.h>\n" + BASE


def test_hunks_may_have_any_order_and_blank_lines_between_them() -> None:
    edit = "@@\n-    launch->block = 256;\n\n\n@@ sum_of_warp(float\n+// first\n"
    wanted = BASE.replace("    launch->block = 256;\n", "").replace("__device__", "// first\n__device__")
    assert applied(edit) == wanted


def test_a_blank_line_is_quoted_by_an_empty_one() -> None:
    edit = "@@\n     int threads = gridDim.x * blockDim.x;\n\n+    // and now\n     float value = 0.0f;\n"
    assert applied(edit) == BASE.replace("    float value = 0.0f;", "    // and now\n    float value = 0.0f;")


# ---- Edits that do not match -------------------------------------------------------------------------------------


def test_an_anchor_that_occurs_twice_is_ambiguous() -> None:
    said = refused("// RIGHT: x\n@@\n     }\n+    // here\n")
    assert said.startswith("x.patch:2: the anchor is ambiguous: it occurs more than once in solution/ch01, ")
    assert said.endswith(
        "at lines 6, 20, 24. Quote more lines around it, or name its block after @@:\n        }"
    )
    said = refused("@@ void sum(\n     }\n+    // here\n")
    assert "it occurs more than once in solution/ch01, in the block `void sum(`, at lines 20, 24. " in said
    assert "name its block" not in said


def test_the_end_of_a_gap_must_not_be_ambiguous() -> None:
    said = refused("@@ void sum(\n-    int threads = gridDim.x * blockDim.x;\n...\n-    }\n")
    assert "x.patch:1: the anchor is ambiguous" in said
    assert said.endswith("    int threads = gridDim.x * blockDim.x;\n    ...\n        }")


def test_an_anchor_that_the_base_has_lost_is_missing() -> None:
    edit = "@@ sum_of_warp(float\n-    for (int distance = 16; distance > 0; distance /= 2) {\n+    {\n"
    changed = BASE.replace("distance /= 2", "distance >>= 1")
    assert refused(edit, changed) == (
        "x.patch:1: the anchor is missing: `for (int distance = 16; distance > 0; distance /= 2) {` is not in "
        "solution/ch01, in the block `sum_of_warp(float`. Quote the lines exactly; if the base has changed, quote "
        "its present lines:\n        for (int distance = 16; distance > 0; distance /= 2) {"
    )
    assert "its lines do not follow each other in solution/ch01." in refused(
        "@@\n     float value = 0.0f;\n     int threads = gridDim.x * blockDim.x;\n"
    )


def test_the_indentation_is_quoted_too() -> None:
    assert "`launch->block = 256;` is not in solution/ch01" in refused("@@\n-launch->block = 256;\n")


def test_a_block_is_missing_or_ambiguous_too() -> None:
    assert refused("@@ sum_of_block(\n...\n") == (
        "x.patch:1: the block `sum_of_block(` is missing: no unindented line of solution/ch01 has these words. "
        "If the base has changed, write words of one of its blocks after @@"
    )
    assert refused("@@ sum\n...\n") == (
        "x.patch:1: the block `sum` is ambiguous: solution/ch01 has these words in the blocks at lines 3, 10, 13. "
        "Write more of the right line after @@"
    )


def test_two_hunks_about_the_same_lines_are_refused() -> None:
    edit = "@@\n-    launch->block = 256;\n@@ LAUNCH(sum)\n LAUNCH(sum) {\n     launch->block = 256;\n"
    assert (
        refused(edit)
        == "x.patch: the hunks in lines 1 and 3 overlap in solution/ch01: join them into one hunk"
    )


# ---- Edits that cannot be read -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("// VERDICT: OOB\n", "x.patch: the edit changes nothing: no line begins with @@"),
        ("", "x.patch: the edit changes nothing: no line begins with @@"),
        ("// RIGHT: x\nVERDICT: OOB\n@@\n+x\n", "x.patch:2: 'VERDICT: OOB' comes before the first @@: only comment"),
        ("// BASE: a\n// BASE: b\n@@\n+x\n", "x.patch: write one // BASE: line that names a kernel, such as"),
        ("// BASE:\n@@\n+x\n", "x.patch: write one // BASE: line"),
        ("@@\n+x\n@@ sum(\n\n", "x.patch:3: the hunk is empty: no line follows its @@"),
        ("@@\n+x\nfloat y;\n", "x.patch:3: a line of a hunk begins with a space, - or +, or it is ...: 'float"),
    ],
)  # fmt: skip
def test_an_edit_of_another_form_is_refused(text: str, said: str) -> None:
    with pytest.raises(edits.EditError) as raised:
        edits.parse(text, "x.patch")
    assert str(raised.value).startswith(said)


# ---- Making ------------------------------------------------------------------------------------------------

# A small set of lines, so that many occur more than once, and lines that have a meaning in an edit.
LINES = st.sampled_from(
    ["", " ", "a", "b", "    a", "    b", "    }", "}", "f(a) {", "LAUNCH(f) {", "f(b) {", "#pragma c",
     "...", "@@ a", "-a", "+a", "// a", "// BASE: a", "\\", "a\r"]
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=12).map("\n".join) | st.text(max_size=40)


@given(TEXTS, TEXTS, st.sampled_from(["", "right/ch01/plain"]))
def test_a_made_edit_gives_the_target(base: str, target: str, name: str) -> None:
    below = edits.without_header(target)
    header = target.removesuffix(below)
    if below == base and (not header or header.endswith("\n")):
        with pytest.raises(edits.EditError, match="there is nothing to edit"):
            edits.make(base, target, name)
        return
    made = edits.make(base, target, name)
    read = edits.parse(edits.write(made), "x")
    assert (read.header, read.base) == (made.header, name)
    assert edits.apply(read, base, "x", "y") == target


@given(st.lists(LINES, min_size=1, max_size=12), st.data())
def test_a_small_change_of_a_long_text(lines: list[str], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(lines) - 1))
    target = "\n".join([*lines[:number], *data.draw(st.lists(LINES, max_size=2)), *lines[number + 1 :]])
    base = "\n".join(lines)
    if edits.without_header(target) != base:
        assert applied(edits.write(edits.make(base, target)), base) == target


def test_a_made_edit_quotes_little() -> None:
    target = "// RIGHT: x\n" + BASE.replace("i < n", "i <= n").replace("partial[blockIdx.x]", "partial[0]")
    assert edits.write(edits.make(BASE, target)) == (
        "// RIGHT: x\n"
        "@@ sum(\n"
        "-    for (int i = thread; i < n; i += threads) {\n"
        "+    for (int i = thread; i <= n; i += threads) {\n"
        "@@ sum(\n"
        "-        partial[blockIdx.x] = value;\n"
        "+        partial[0] = value;\n"
    )


def test_a_long_removal_is_a_gap() -> None:
    target = BASE.replace(BASE.partition("void sum(")[2].partition("{\n")[2], "}\n")
    made = edits.write(edits.make(BASE, target))
    assert "...\n" in made
    assert made.count("\n") <= 5
    assert applied(made) == target
