"""Proofs: a change with which a failing kernel is right, and the account of a wrong sum's elements."""

import csv
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT
from repairs import applied
from whole_kernels import kernel_file, kernel_text

# Each compiles a kernel and looks for its repair; tests/kill_rate.csv holds what is proved of the whole corpus.
pytestmark = pytest.mark.by_turns(6)

SCHEMA = json.loads((ROOT / "docs" / "result.schema.json").read_text())
with (Path(__file__).parent / "repairs.csv").open() as file:
    PROVED = [(row["kernel"], row["change"]) for row in csv.DictReader(file)]


def judge(built: Path, kernel: Path, chapter: str, result: Path, *options: str) -> tuple[str, dict[str, Any]]:
    """The page of a kernel on the emulator, in single spaces, and its result."""
    command = [f"./{chapter}", "--device", "emulator", "--kernel", kernel, "--json", result, *options]
    done = subprocess.run(command, cwd=built, capture_output=True, text=True)
    document = json.loads(result.read_text())
    jsonschema.validate(document, SCHEMA)
    return " ".join(done.stdout.split()), document


def judge_named(built: Path, name: str, folder: Path, *options: str) -> tuple[str, dict[str, Any]]:
    """What is said of a kernel, with four times the work of a page unless the options say otherwise: how much of that a
    page reaches is for tests/kill_rate.csv to tell."""
    work = [] if "--repair" in options else ["--repair", "12000"]
    return judge(built, kernel_file(name), name.split("/")[1], folder / "result.json", *options, *work)


@pytest.mark.by_turns(1)  # it only reads
def test_a_hundred_kernels_of_many_kinds_are_repaired() -> None:
    assert len(PROVED) >= 100
    assert len({change for _, change in PROVED}) >= 9
    assert len({name.split("/")[1] for name, _ in PROVED}) >= 10


@pytest.mark.by_turns
@pytest.mark.parametrize(("name", "change"), PROVED, ids=[name for name, _ in PROVED])
def test_the_change_repairs_the_source_too(
    nvcc: str, built: Path, tmp_path: Path, name: str, change: str
) -> None:
    page, result = judge_named(built, name, tmp_path)
    (proved,) = result["proof"]["changes"]
    assert proved["change"] == change
    remark = r"( \(a limit that no int is above\))?"
    assert re.search(
        f"shown with {re.escape(proved['words'])}{remark}, all {result['proof']['cases']} cases", page
    )
    chapter, finding = name.split("/")[1], result["findings"][0]["place"]
    task, verdicts = result["cases"][result["first_failure"]]["task"], []
    for text in applied(proved, kernel_text(name), finding["line"] if finding else 0):
        kernel = tmp_path / "kernel.cu"
        kernel.write_text(text)
        _, repaired = judge(built, kernel, chapter, tmp_path / "repaired.json", "--repair", "0")
        # Another task may have the same mistake, elsewhere.
        cases = [case for case in repaired["cases"] if case["task"] == task]
        verdicts.append(repaired["verdict"])
        if cases and all(case["verdict"] == "PASS" for case in cases):
            return
    pytest.fail(f"{proved['words']}: {verdicts}")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        # The sum of the first line is one of the second in the machine's code, and not in the text.
        (
            "wrong/ch11/short_walk_down",
            r"shown with 64-bit arithmetic in line \d+ \(int from\) and line \d+,",
        ),
        # The compiler calculates the product where the loop begins.
        (
            "wrong/ch19/place_by_ints",
            r"shown with 64-bit arithmetic in line 9, .* also tile: OOB, too; with the same change,",
        ),
        # The end of the round is behind four copies of the loop over rows.
        (
            "wrong/ch11/next_tile_of_the_band",
            r"shown with one more __syncthreads\(\), at a place that no line of kernel.cu stands for,",
        ),
        (
            "wrong/ch09/walks_from_a_later_pair",
            r"shown with \(const double2 \*\)\(start \+ head\) instead of \(const double2 \*\)start \+ head in line",
        ),
        # 25 to 31 repair it, too, but the kernel says 32.
        ("wrong/ch11/one_round_of_eight", r"shown with k < 32 instead of k < 8 in line"),
    ],
)
def test_a_change_is_said_as_the_text_has_it(
    nvcc: str, built: Path, tmp_path: Path, name: str, words: str
) -> None:
    page, _ = judge_named(built, name, tmp_path)
    assert re.search(words, page)


@pytest.mark.parametrize(
    "name",
    [
        "wrong/ch14/atomics_on_the_result",  # each case passes with a 0, but not with one sum in all of them
        "wrong/ch14/loop_without_end_for_many",  # passes where no thread comes to the loop
    ],
)
def test_what_only_hides_a_mistake_repairs_nothing(nvcc: str, built: Path, tmp_path: Path, name: str) -> None:
    page, result = judge_named(built, name, tmp_path)
    assert result["proof"] is None and " shown with " not in page


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "wrong/ch01/stops_before_the_last",
            "at n = 1,023, element 1,022, the last one, reaches no result; the others once",
        ),
        (
            "wrong/ch02/stride_of_a_block",
            "at n = 1,023, elements 256 to 1,022 reach results up to 4 times; the others once",
        ),
        (
            "wrong/ch04/without_16",
            "at n = 1,023, of every 32 elements those from 16 to 31 reach no result; the others once",
        ),
        ("wrong/ch04/stops_at_2", "at n = 1,023, elements 2k + 1 reach no result; the others once"),
        ("wrong/ch04/one_level_too_many", "at n = 1,023, all elements reach a result twice"),
        (
            "wrong/ch12/last_element_again",
            "at n = 1,023, element 1,022, the last one, reaches results 7162 times; the others once",
        ),
        (
            "wrong/ch02/half_the_precision",
            "at n = 1,023, element 0 alone, all others 0: 1 + 2^-8 comes out as 1",
        ),
        (
            "wrong/ch10/w_forgotten",
            "at n = 1,023, elements 4k + 3 take the element 1 further back in a and b; the others are right",
        ),
        (
            "wrong/ch10/tail_never_written",
            "at n = 1,023, elements 1,020 to 1,022 of c are never written; the others are right",
        ),
        (
            "wrong/ch10/tail_from_the_beginning",
            (
                "at n = 1,023, elements 1,016 to 1,022 of c are never written; the others are right; "
                "7 elements are stored to a place that another store writes to as well: line "
            ),
        ),
        (
            "wrong/ch15/half_of_the_bins",
            "at n = 65, values 128 to 255 are counted in no bin; the others in their own",
        ),
        ("wrong/ch10/lower_half_cut_off", "at n = 1,023, every element comes from its own ones"),
        (
            "wrong/ch18/gamma_by_element",
            (
                "in rows of 204, 191 columns take another element of gamma than their own, or none: "
                "column 1 takes gamma[16], column 2 takes gamma[32], column 3 takes gamma[48] and so on"
            ),
        ),
        (
            "wrong/ch17/mean_of_five",
            (
                "in every output the element itself counts 0.2 times, not 0.5 times; "
                "that at row -1, column +0 from it counts 0.2 times, not 0.125 times; "
            ),
        ),
        (
            "wrong/ch11/a_copy",
            "at 31 x 33, 1,020 elements: 1, 2, 3, 4, 5, 6 ... take the element with their own number in in",
        ),
    ],
)
def test_the_elements_of_a_wrong_result_are_accounted_for(
    nvcc: str, built: Path, tmp_path: Path, name: str, words: str
) -> None:
    page, result = judge_named(built, name, tmp_path)
    assert result["accounting"]["words"].startswith(words)
    assert f"elements {words}" in page


@pytest.mark.parametrize(
    ("name", "rule", "mistake"),
    [
        (
            "wrong/ch17/ring_of_sums_kept",
            "an output also contains the output 3 rows above it, if both are in the same 16 rows",
            "sum-not-reset",
        ),
        (
            "wrong/ch09/sum_of_two_rows_kept",
            "an output also contains the output just before it, if both are in the same 2 places",
            "sum-not-reset",
        ),
        (
            "wrong/ch19/columns_of_neighbours",
            (
                "in every 64 columns column x + 16 i holds what belongs in column 4 x + i, "
                "for x below 16 and i below 4"
            ),
            "stored-at-other-places",
        ),
        (
            "wrong/ch19/neighbouring_groups",
            (
                "in every 128 columns column x + 32 i holds what belongs in column x + 4 i, "
                "for x below 32 and i below 4"
            ),
            "stored-at-other-places",
        ),
        (
            "wrong/ch19/registers_turned",
            "in tiles of 64 x 64, blocks of 16 x 16 are right, but rows and columns of blocks are exchanged",
            "stored-at-other-places",
        ),
        (
            "wrong/ch19/tile_stored_turned",
            "tiles of 32 x 32 are at their places, but rows and columns are exchanged in each",
            "stored-at-other-places",
        ),
    ],
)
def test_a_rule_of_outputs_is_that_of_all_values(
    nvcc: str, built: Path, tmp_path: Path, name: str, rule: str, mistake: str
) -> None:
    _, result = judge_named(built, name, tmp_path)
    said = re.fullmatch(r"all [\d,]+ values of (\d+) wrong cases: (.*)", result["accounting"]["words"])
    assert said and int(said[1]) > 1
    assert said[2] == rule
    assert result["diagnosis"]["mistake"] == mistake
    assert result["diagnosis"]["proof"] == "accounting"


@pytest.mark.parametrize("name", ["wrong/ch19/tile_of_b_turned", "wrong/ch19/a_squared"])
def test_a_product_of_several_elements_is_not_said_to_be_of_one(
    nvcc: str, built: Path, tmp_path: Path, name: str
) -> None:
    _, result = judge_named(built, name, tmp_path)
    assert result["accounting"]["words"].endswith("all outputs add products of other elements")


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("wrong/ch02/share_rounded_down", "the last n % blocks elements"),
        ("wrong/ch02/warp_share_rounded_down", "the last n % warps elements"),
        ("wrong/ch12/rounds_of_the_grid_then_one", "in which each thread takes 8 elements"),
        ("wrong/ch16/goes_on_after_a_prefix", "in stretches of 5,120 elements, from the third on"),
    ],
)
def test_a_rule_of_all_sizes_is_stated(nvcc: str, built: Path, tmp_path: Path, name: str, shape: str) -> None:
    page, result = judge_named(built, name, tmp_path)
    assert shape in " ".join(page.split())
    assert "Possibly:" not in page
    assert result["diagnosis"]["proof"]


def test_a_sum_that_is_rounded_is_accounted_for_by_single_values(
    nvcc: str, built: Path, tmp_path: Path
) -> None:
    _, result = judge_named(built, "wrong/ch04/sixteen_bit_shuffle", tmp_path)
    assert result["verdict"] == "WRONG"
    assert result["accounting"]["words"].endswith("element 0 alone, all others 0: 1 + 2^-11 comes out as 1")


def test_a_number_is_mended_and_not_the_condition_that_chooses_it(
    nvcc: str, built: Path, tmp_path: Path
) -> None:
    _, result = judge_named(built, "wrong/ch09/each_row_begins_at_one", tmp_path)
    assert [change["words"] for change in result["proof"]["changes"]] == ["0.0f instead of 1.0f in line 30"]


@pytest.mark.parametrize(
    ("name", "words", "mistake"),
    [
        (
            "wrong/ch07/base_not_looked_at",
            "an access for each element instead of a wide one in line 40",
            "misaligned-base",
        ),
        (
            "wrong/ch07/groups_rounded_up",
            "a test for each element of a wide access in line 41",
            "group-past-the-end",
        ),
        (
            "wrong/ch10/groups_rounded_up",
            "a test before every access, for each element of a wide one, that leaves out what is out of bounds",
            "group-past-the-end",
        ),
        (
            "wrong/ch04/early_return",
            "the condition never true in line 13, and nothing accessed out of bounds",
            "early-return",
        ),
        (
            "wrong/ch01/masked_tail",
            "a test that leaves out what is out of bounds before every access",
            "part-of-a-group",
        ),
        # Not with a term that is added and subtracted.
        ("wrong/ch07/head_else_tail", "4 * groups instead of head + 4 * groups in line 42", ""),
        ("wrong/ch09/2048_built_in", "columns instead of 2048 in line 55", "size-built-in"),
        # Not with another number in line 16: the last block would then add nearly everything.
        (
            "wrong/ch02/last_block_takes_the_rest",
            "a test that leaves out what is out of bounds in line 19",
            "no-bound",
        ),
        (
            "wrong/ch10/groups_counted_in_floats",
            "places that are 4 bytes apart instead of 16 in line 49",
            "group-counted-in-elements",
        ),
        (
            "wrong/ch10/tail_counted_from_the_end",
            "the element before in every access in line 90",
            "one-past-the-end",
        ),
        ("wrong/ch15/signed_bytes", "numbers without a sign in line 37", "byte-with-a-sign"),
        ("wrong/ch17/coefficients_of_the_small_filter", "weights_7 instead of weights_3 in line 77", ""),
        # Not before line 35, which is inside an if.
        (
            "wrong/ch11/barrier_in_the_branch",
            "the __syncthreads() of line 30 moved before line 32",
            "barrier-in-a-branch",
        ),
        ("wrong/ch01/equal_elements", "the condition never true in line 14", ""),
        ("wrong/ch08/a_store_beside_atomics", "the condition never true in line 61", "blocks-share-a-place"),
        (
            "wrong/ch09/single_lanes_return",
            "no thread leaving in line 68, and nothing accessed out of bounds",
            "early-return",
        ),
    ],
)
def test_a_change_inside_the_emulator_proves_the_mistake_that_it_mends(
    nvcc: str, built: Path, tmp_path: Path, name: str, words: str, mistake: str
) -> None:
    page, result = judge_named(built, name, tmp_path)
    assert [change["words"] for change in result["proof"]["changes"]] == [words]
    if mistake:
        assert (result["diagnosis"]["mistake"], result["diagnosis"]["proof"]) == (mistake, "repair")
    else:  # no entry explains the change: nothing is suspected beside it
        assert result["diagnosis"] is None
    assert f"shown with {words}, all" in page


def test_a_wait_that_no_longer_waits_is_no_repair(nvcc: str, built: Path, tmp_path: Path) -> None:
    _, result = judge_named(built, "wrong/ch02/spins_for_its_neighbour", tmp_path)
    assert result["diagnosis"]["mistake"] == "spin-wait"
    assert result["proof"] is None


@pytest.mark.parametrize(
    ("name", "words", "mistake"),
    [
        # max for min in line 17 turns its limit off, and passes too.
        ("wrong/ch02/strides_to_the_end_of_its_chunk", "i < n instead of i < end in line 19", "chunk-and-stride-mixed"),
        # A test in line 18 leaves out what is behind the constant, which only large cases have.
        ("wrong/ch02/size_of_the_example", "i < n instead of i < size in line 17", "size-built-in"),
    ],
)  # fmt: skip
def test_a_change_that_passes_for_another_reason_is_not_shown(
    nvcc: str, built: Path, tmp_path: Path, name: str, words: str, mistake: str
) -> None:
    # With more work than a page has, which may end before the change is found.
    _, result = judge_named(built, name, tmp_path, "--repair", "12000")
    assert [change["words"] for change in result["proof"]["changes"]] == [words]
    assert result["diagnosis"]["mistake"] == mistake


@pytest.mark.parametrize(
    "name",
    # With != for == in the fold of the block, the sum of its first warp is the result.
    ["wrong/ch08/lanes_share_the_elements"],
)
def test_a_change_that_drops_what_threads_have_added_proves_nothing(
    nvcc: str, built: Path, tmp_path: Path, name: str
) -> None:
    page, result = judge_named(built, name, tmp_path)
    assert result["verdict"] == "WRONG"
    assert result["proof"] is None
    assert "shown" not in page
    assert result["accounting"]["repeated"] > 0


@pytest.mark.parametrize(
    "name",
    # It passes without its loop of four groups, as with a bound that none of them is below.
    ["wrong/ch09/stride_of_the_block_for_a_warp"],
)
def test_a_change_that_switches_a_loop_off_proves_nothing(
    nvcc: str, built: Path, tmp_path: Path, name: str
) -> None:
    page, result = judge_named(built, name, tmp_path)
    assert result["verdict"] == "WRONG"
    assert result["proof"] is None
    assert "shown" not in page


def test_a_change_after_which_elements_are_loaded_again_proves_nothing(
    nvcc: str, built: Path, tmp_path: Path
) -> None:
    """Steps of half a tile make up for the half of each tile that is not used; whole tiles are the repair."""
    _, result = judge_named(built, "wrong/ch19/half_a_tile", tmp_path)
    assert "d < SIDE instead of d < SIDE / 2" in result["proof"]["changes"][0]["words"]


def test_two_changes_in_different_lines_prove_nothing(nvcc: str, built: Path, tmp_path: Path) -> None:
    """Another comparison decides how many elements are added, and so does the number that they are divided by."""
    _, result = judge_named(built, "wrong/ch02/slow_memory_is_spared", tmp_path)
    assert result["verdict"] == "WRONG"
    assert result["proof"] is None


def test_a_rule_of_all_tiles_is_not_stated_where_most_of_a_longer_scan_is_right(
    nvcc: str, built: Path, tmp_path: Path
) -> None:
    _, result = judge_named(built, "wrong/ch16/warp_1_without_what_is_before", tmp_path)
    assert "from 32 to 63 lack" in result["accounting"]["words"]
    assert result["diagnosis"] is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wrong/ch19/bounds_exchanged", "m and n exchanged in line 46"),
        ("wrong/ch15/seven_bits_of_a_byte", "word >> bit & 0xff instead of word >> bit & 0x7f in line 51"),
        # The PTX has < there, since the loop is turned round; in the source, < makes it worse.
        ("wrong/ch17/tile_lacks_its_last_row", "(y - 1) <= HEIGHT instead of y <= HEIGHT in line 50"),
    ],
)
def test_another_name_or_number_is_proved(
    nvcc: str, built: Path, tmp_path: Path, name: str, words: str
) -> None:
    _, result = judge_named(built, name, tmp_path)
    assert [change["words"] for change in result["proof"]["changes"]] == [words]


SUM_OF_BLOCK = """\
    __syncthreads();
    if (warp == 0) {
        value = sum_of_warp(lane < blockDim.x / 32 ? sum_of[lane] : 0.0f);
    }
    return value;
"""
EARLY_RETURN = """\
    if (warp > 0) {
        return 0.0f;
    }
    float slot = lane < blockDim.x / 32 ? sum_of[lane] : 0.0f;
    return sum_of_warp(slot);
"""


def judge_edited(
    built: Path, folder: Path, base: str, edit: tuple[str, str]
) -> tuple[list[str], dict[str, Any]]:
    """The lines of a solution with one edit, from 1 on, and its result."""
    text = next((ROOT / "solutions").glob(f"{base}_*/kernel.cu")).read_text()
    before, after = edit
    assert before in text
    text = text.replace(before, after, 1)
    kernel = folder / "kernel.cu"
    kernel.write_text(text)
    _, result = judge(built, kernel, base, folder / "result.json")
    return ["", *text.splitlines()], result


def test_a_change_must_hold_where_the_numbers_of_a_case_differ(
    nvcc: str, built: Path, tmp_path: Path
) -> None:
    """In no case of the plan is n * m a multiple of 16 while n or k is none of 4: with m for k, all of them pass."""
    edit = ("if (n % 4 == 0 && k % 4 == 0) {", "if ((long long)n * k % 16 == 0) {")
    _, result = judge_edited(built, tmp_path, "ch19", edit)
    changes = result["proof"]["changes"] if result["proof"] else []
    assert result["verdict"] == "MISALIGNED"
    assert not [change for change in changes if "n % 4 == 0 && k % 4 == 0" not in change["words"]]


@pytest.mark.parametrize(
    ("base", "edit", "before"),
    [
        ("ch08", (SUM_OF_BLOCK, EARLY_RETURN), "    if (warp > 0) {"),
        (
            "ch19",
            (
                "        __syncthreads();\n        for (int d = 0; d < SIDE; d++) {\n            sum += tile_a",
                "#pragma unroll\n        for (int d = 0; d < SIDE; d++) {\n            sum += tile_a",
            ),
            "#pragma unroll",
        ),
    ],
    ids=["return", "loop"],
)
def test_a_barrier_is_where_all_threads_come_once(
    nvcc: str, built: Path, tmp_path: Path, base: str, edit: tuple[str, str], before: str
) -> None:
    """Neither behind the return of all warps but one, nor in every round of a loop that reads what is there."""
    lines, result = judge_edited(built, tmp_path, base, edit)
    (change,) = result["proof"]["changes"]
    assert change["words"].startswith("__syncthreads() before line ")
    assert lines[change["line"]] == before


@pytest.mark.parametrize(
    ("base", "edit", "words"),
    [
        (
            "ch03",
            ("if (threadIdx.x < stride) {", "if (thread < stride) {"),
            "the thread's number in the block ",
        ),
        (
            "ch05",
            ("if (threadIdx.x == 0) {\n        partial", "if (thread == 0) {\n        partial"),
            "the thread's number in the block ",
        ),
        ("ch03", ("tree[threadIdx.x] = sum;", "tree[thread] = sum;"), "the thread's number in the block "),
        ("ch05", ("(int i = thread; ", "(int i = threadIdx.x; "), "the thread's number in the grid "),
    ],
)
def test_the_number_in_the_grid_is_told_from_that_in_the_block(
    nvcc: str, built: Path, tmp_path: Path, base: str, edit: tuple[str, str], words: str
) -> None:
    lines, result = judge_edited(built, tmp_path, base, edit)
    (change,) = result["proof"]["changes"]
    assert change["words"].startswith(words)
    assert edit[1].splitlines()[0] in lines[change["line"]]


def test_a_case_that_shows_a_stale_read_is_preferred(nvcc: str, built: Path, tmp_path: Path) -> None:
    page, result = judge_named(built, "wrong/ch16/two_stores", tmp_path)
    shown = result["cases"][result["first_failure"]]
    assert [case["verdict"] for case in result["cases"]].count("WRONG") > 1
    assert shown["schedule"] % 4 == 0
    assert "stale read" in page
    assert (result["diagnosis"]["mistake"], result["diagnosis"]["proof"]) == (
        "two-stores-for-one-value",
        "finding",
    )


def test_a_kernel_that_does_not_end_is_repaired_where_it_only_adds_too_much(
    nvcc: str, built: Path, tmp_path: Path
) -> None:
    page, result = judge_named(built, "wrong/ch02/stride_of_block", tmp_path)
    assert (result["verdict"], result["diagnosis"]["proof"]) == ("TIMEOUT", "repair")
    n = result["cases"][result["first_failure"]]["n"]
    assert f"elements pass, and so does that of {n:,}" in page


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "wrong/ch06/registers_not_rounded",
            ["the registers of a warp are not rounded up to a multiple of 256"],
        ),
        (
            "wrong/ch06/registers_by_threads",
            [
                "the registers of a warp are not rounded up to a multiple of 256",
                "the registers of an SM are not divided into quarters",
                "the warps of a block are not rounded up to a multiple of 4 for registers_per_block",
            ],
        ),
        ("wrong/ch12/no_roof", ["what is attainable is intensity times bandwidth above the ridge too"]),
    ],
)
def test_a_formula_that_gives_every_value_of_a_table_is_named(
    nvcc: str, built: Path, tmp_path: Path, name: str, words: list[str]
) -> None:
    page, result = judge_named(built, name, tmp_path)
    values = 2056 if "ch06" in name else 1152
    said = f"all {values:,} values of answer are those of formulas in which {', and '.join(words)}"
    assert result["accounting"]["words"] == said
    assert result["accounting"]["misplaced"] > 0
    assert f"shown {said}" in page
    assert result["diagnosis"]["proof"] == "accounting"
    assert "Possibly" not in page


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wrong/ch18/sum_from_one", "every thread's sum begins at 1"),
        ("wrong/ch18/powers_rounded", "powers are rounded to bfloat16 before they are added"),
        ("wrong/ch18/epsilon_beside_the_root", "epsilon is added to the root of the variance"),
    ],
)
def test_a_formula_that_gives_every_result_of_many_rows_is_named(
    nvcc: str, built: Path, tmp_path: Path, name: str, words: str
) -> None:
    page, result = judge_named(built, name, tmp_path)
    said = re.fullmatch(
        r"all [\d,]+ results of (\d+) cases match a formula in which (.*)",
        result["accounting"]["words"],
    )
    assert said
    assert int(said[1]) > 20
    assert said[2].startswith(words)
    assert 0 < result["accounting"]["misplaced"] <= int(said[1])
    assert f"shown {said[0]}" in page


@pytest.mark.parametrize(
    "name", ["wrong/ch06/copied_table", "wrong/ch12/lanes_of_known_gpus", "wrong/ch18/one_side_rescaled"]
)
def test_no_formula_is_named_that_a_value_contradicts(
    nvcc: str, built: Path, tmp_path: Path, name: str
) -> None:
    page, result = judge_named(built, name, tmp_path)
    assert result["verdict"] == "WRONG"
    assert result["accounting"] is None
    assert "formulas in which" not in page
    assert "formula in which" not in page


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "wrong/ch02/byte_offset_int",
            "64-bit arithmetic in line 20 and line 21, whose results stay in 64 bits",
        ),
        (
            "wrong/ch10/bytes_without_a_sign",
            "64-bit arithmetic in line 16 (unsigned at) and line 18, whose results stay in 64 bits",
        ),
        (
            "wrong/ch02/bytes_in_an_int",
            "64-bit arithmetic in line 15 (int bytes) and line 16, whose results stay in 64 bits",
        ),
        ("wrong/ch02/thousand_rounds", "2147483647 instead of 1024 in line 18"),
        ("wrong/ch05/sixteen_rounds", "at least one thread for every 12 elements"),
    ],
)
def test_a_mistake_that_only_a_large_size_shows_is_repaired_there(
    nvcc: str, built: Path, tmp_path: Path, name: str, words: str
) -> None:
    page, result = judge_named(built, name, tmp_path)
    assert [change["words"] for change in result["proof"]["changes"]] == [words]
    large = min(case["n"] for case in result["cases"] if case.get("sampled"))
    # A wrong number that is repaired by another number could be repaired by luck: more cases are asked for.
    limit = 1 << 22 if "instead of" in words else 1 << 17
    assert f"cases of up to {limit:,} elements and of at least {large:,} pass" in page
    assert result["diagnosis"]["proof"] == "repair"


def test_a_division_by_a_constant_keeps_its_32_bits(nvcc: str, built: Path, tmp_path: Path) -> None:
    """Its product overflows on purpose: in 64 bits, tiles would no longer be left out for another reason."""
    _, result = judge_named(built, "wrong/ch11/third_of_the_tiles_when_large", tmp_path)
    assert result["verdict"] == "WRONG"
    assert [change["change"] for change in result["proof"]["changes"]] == ["one-way"]


def test_a_line_of_a_shared_function_is_no_repair_if_another_kernel_needs_it(
    nvcc: str, built: Path, tmp_path: Path
) -> None:
    """sum_of_block without its second fold leaves the sum of each warp in its lane 0: sum_atomic would be right, and
    sum_blocks wrong."""
    text = kernel_text("right/ch08/used_result")
    wrong = """    int lane = threadIdx.x & 31;
    if (lane == 0)
        atomicAdd(&out[0], sum);
"""
    text, count = re.subn(
        r"    if \(threadIdx\.x == 0\) \{\n.*atomicAdd(.|\n)*?\n    \}\n", wrong, text, count=1
    )
    assert count == 1
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(text)
    _, result = judge(built, kernel, "ch08", tmp_path / "result.json")
    assert result["verdict"] == "WRONG"
    where = text.splitlines().index("__global__ void sum_atomic(const float *in, float *out, int n) {") + 1
    assert all(change["line"] > where for change in (result["proof"] or {}).get("changes", []))


def test_a_repair_that_mends_another_mistake_leaves_no_suspicion(
    nvcc: str, built: Path, tmp_path: Path
) -> None:
    page, result = judge_named(built, "wrong/ch14/fence_behind_ticket", tmp_path)
    assert result["proof"] is not None
    assert result["diagnosis"] is None or result["diagnosis"]["proof"] == "repair"
    assert "Possibly" not in page


@pytest.mark.parametrize(
    ("name", "proof"),
    [
        ("wrong/ch05/no_barrier", "repair"),
        ("wrong/ch04/half_a_mask", "repair"),
        ("wrong/ch02/sixteen_neighbours", "what-if"),
        ("wrong/ch04/barrier_to_be_safe", "counter"),
        ("wrong/ch05/double_through_a_float_fold", "accounting"),
        ("wrong/ch01/misspelt", "message"),
        ("wrong/ch01/index_too_narrow", "repair"),
        ("wrong/ch06/registers_not_rounded", "accounting"),
    ],
)
def test_a_cause_is_proved_or_marked(
    nvcc: str, built: Path, tmp_path: Path, name: str, proof: str | None
) -> None:
    page, result = judge_named(built, name, tmp_path)
    assert result["diagnosis"]["proof"] == proof
    title = result["diagnosis"]["title"]
    assert (f"Possibly: {title}." in page) == (proof is None)
    assert (
        f"{title}." in page or "help: " in page
    )  # which the compiler's message has in place of the entry's words


def test_the_search_can_be_left_out(nvcc: str, built: Path, tmp_path: Path) -> None:
    page, result = judge_named(built, "wrong/ch05/no_barrier", tmp_path, "--repair", "0")
    assert result["proof"] is None
    assert "Two threads use one place, and nothing orders them." in page and "shown with" not in page


def test_the_chapter_that_asks_for_names_shows_none(nvcc: str, built: Path, tmp_path: Path) -> None:
    page, result = judge_named(built, "wrong/ch13/tile_in_one_warp", tmp_path)
    assert result["verdict"] == "RACE"
    assert [change["change"] for change in result["proof"]["changes"]] == ["barrier"]
    assert f"one small change is enough: with it, all {result['proof']['cases']} cases" in page
    assert "shown with" not in page and "barrier is missing" not in page
    _, lines = editor_lines(built, kernel_file("wrong/ch13/tile_in_one_warp"), "ch13")
    assert any("one small change is enough" in line for line in lines)
    assert not any("__syncthreads() " in line for line in lines)


# ---- For editors -----------------------------------------------------------------------------------------------
def editor_lines(built: Path, kernel: Path, chapter: str) -> tuple[int, list[str]]:
    command = [f"./{chapter}", "--device", "emulator", "--kernel", kernel, "--format", "gcc"]
    done = subprocess.run(command, cwd=built, capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


def test_editors_get_a_line_for_each_place(nvcc: str, built: Path) -> None:
    kernel = kernel_file("wrong/ch05/no_barrier")
    status, lines = editor_lines(built, kernel, "ch05")
    shown = kernel.relative_to(ROOT)
    assert status == 1
    assert lines[0].startswith(
        f"{shown}:30:9: error: RACE: thread (32,0,0) of block (0,0,0) writes shared sum_of"
    )
    assert lines[1] == f"{shown}:33:9: note: the other access"
    assert lines[-1].startswith(f"{shown}:32:1: note: with __syncthreads() before line 32, all ")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("wrong/ch01/misspelt", ": error: "),
        ("wrong/ch02/sixteen_neighbours", ":20:1: warning: SLOW: "),
        ("wrong/ch02/stride_of_a_block", ":1:1: error: WRONG: "),
    ],
)
def test_editors_get_lines_of_other_results(nvcc: str, built: Path, name: str, start: str) -> None:
    kernel = kernel_file(name)
    status, lines = editor_lines(built, kernel, name.split("/")[1])
    assert status == 1
    assert f"{kernel.relative_to(ROOT)}:" in lines[0]
    assert start in lines[0]


def test_a_kernel_that_passes_says_nothing_to_editors(nvcc: str, built: Path) -> None:
    assert editor_lines(built, next((ROOT / "solutions").glob("ch04_*/kernel.cu")), "ch04") == (0, [])


def test_another_format_is_refused(built: Path) -> None:
    done = subprocess.run(["./ch04", "--format", "xml"], cwd=built, capture_output=True, text=True)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, 'ch04: --format is page or gcc, not "xml"')


def test_two_changes_are_said_together(nvcc: str, built: Path, tmp_path: Path) -> None:
    page, result = judge_named(built, "wrong/ch04/reads_the_idle_half", tmp_path)
    words = " and ".join(change["words"] for change in result["proof"]["changes"])
    assert len(result["proof"]["changes"]) == 2
    assert f"shown with {words}, all {result['proof']['cases']} cases" in page
    _, lines = editor_lines(built, kernel_file("wrong/ch04/reads_the_idle_half"), "ch04")
    assert [line for line in lines if "cases of up to" in line] == [lines[-1]]
    assert f": note: with {words}, all " in lines[-1]


def test_a_change_that_is_not_needed_is_left_out(nvcc: str, built: Path, tmp_path: Path) -> None:
    _, result = judge_named(built, "wrong/ch11/barrier_in_the_branch", tmp_path)
    assert [change["change"] for change in result["proof"]["changes"]] == ["moved-barrier"]


def test_thread_0_of_a_block_is_one_thread(nvcc: str, built: Path, tmp_path: Path) -> None:
    """Not all those with threadIdx.x == 0: the block has three dimensions."""
    text = kernel_text("wrong/ch03/all_threads_write").replace(
        "launch->block = 256;", "launch->block = dim3(32, 8);"
    )
    text = text.replace("threadIdx.x", "(threadIdx.x + 32 * threadIdx.y)").replace("blockDim.x", "256")
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(text)
    _, result = judge(built, kernel, "ch03", tmp_path / "result.json")
    assert result["verdict"] == "RACE"
    assert [change["change"] for change in result["proof"]["changes"]] == ["one-thread"]


def test_a_change_of_a_value_that_two_lines_share_names_both(nvcc: str, built: Path, tmp_path: Path) -> None:
    # Only a case of 2,200,003 elements fails, and each attempt is much work.
    page, _ = judge_named(built, "wrong/ch10/blocks_overlap", tmp_path, "--repair", "24000")
    assert re.search(
        r"for the block's in line \d+, and for line \d+, which (has|uses) the same value, all", page
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wrong/ch16/seven_warps", " lack elements 4,480 to 5,119; the others are right"),
        ("wrong/ch16/no_carry", " lack all elements before their own 32; the others are right"),
        ("wrong/ch16/inclusive", "all outputs add the element at their own place besides"),
        ("wrong/ch16/group_w_lost", "output 20 lacks 5 elements: 3, 7, 11, 15, 19, output "),
        ("wrong/ch12/whole_groups_only", "all elements of y are never written"),
        ("wrong/ch12/terms_by_heart", "y is the same whatever term holds"),
        ("wrong/ch12/squares", "term[0] is multiplied by the power 8 of x, not 4, term[1] is"),
        ("wrong/ch12/term_0_twice", "counts 324, not 81 times where every element of x is 3"),
    ],
)
def test_what_outputs_of_scans_and_polynomials_are_made_of(
    nvcc: str, built: Path, tmp_path: Path, name: str, words: str
) -> None:
    page, result = judge_named(built, name, tmp_path)
    assert words in result["accounting"]["words"]
    assert words in page


def test_an_account_under_a_schedule_is_of_the_run_that_the_page_shows(
    nvcc: str, built: Path, tmp_path: Path
) -> None:
    page, result = judge_named(built, "wrong/ch16/does_not_wait", tmp_path)
    first, last = (
        int(word.replace(",", "")) for word in re.findall(r"outputs ([\d,]+) to ([\d,]+)", page)[0]
    )
    wrong = re.search(r"(\d+) of\s+\d+ elements are wrong", page)
    assert wrong and last - first + 1 == int(wrong[1])
    assert re.search(r"; with schedule \d+$", result["accounting"]["words"])
    assert result["diagnosis"]["mistake"] == "used-before-it-is-published"


@pytest.mark.parametrize("name", ["wrong/ch10/groups_of_four_bf16", "wrong/ch05/product_for_the_sum"])
def test_one_size_proves_nothing_that_all_sizes_do_not(
    nvcc: str, built: Path, tmp_path: Path, name: str
) -> None:
    """A run with --n shows its own case, and the change that repairs the kernel in all cases of the chapter."""
    _, whole = judge_named(built, name, tmp_path)
    n = whole["cases"][whole["first_failure"]]["n"]
    page, part = judge_named(built, name, tmp_path, "--n", str(n))
    assert {case["n"] for case in part["cases"]} == {n}
    assert part["proof"]["changes"] == whole["proof"]["changes"]
    assert part["proof"]["cases"] >= whole["proof"]["cases"] > len(part["cases"])
    assert f"all {part['proof']['cases']} cases" in page


def test_an_account_that_finds_nothing_leaves_no_row(nvcc: str, built: Path, tmp_path: Path) -> None:
    command = [
        f"{built}/ch15",
        "--device",
        "emulator",
        "--kernel",
        kernel_file("wrong/ch15/four_counters_in_a_word"),
    ]
    page = subprocess.run(command, cwd=built, capture_output=True, text=True).stdout
    assert "That is what counters of 8 bits leave." in " ".join(page.split())
    assert not re.search(r"^  elements *$", page, re.MULTILINE)
