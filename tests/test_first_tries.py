"""What the page says to kernels as a beginner writes them: nothing that the run does not show."""

from pathlib import Path

from conftest import ROOT
from test_repairs import judge


def tried(chapter: str, folder: Path, *edits: tuple[str, str], base: str = "") -> Path:
    """The chapter's solution, or another right kernel, with a mistake."""
    (solution,) = (ROOT / "solutions").glob(f"{chapter}_*/kernel.cu")
    text = (ROOT / base if base else solution).read_text("utf-8")
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    kernel = folder / "kernel.cu"
    kernel.write_text(text, "utf-8")
    return kernel


def test_a_goal_that_its_value_passes_by_says_how_much_is_allowed(
    nvcc: str, built: Path, tmp_path: Path
) -> None:
    right = tried("ch03", tmp_path)
    page, _ = judge(built, right, "ch03", tmp_path / "result.json")
    assert "goal at most 69 met" in page and "past the goal" not in page
    wide = tried("ch03", tmp_path, ("    if (threadIdx.x == 0) {", "    if (thread != 0) {"))
    page, _ = judge(built, wide, "ch03", tmp_path / "result.json")
    assert (
        "76 sectors per block loaded for the tree goal at most 69 met Up to 11 past the goal still count"
        in page
    )


def test_a_store_of_both_branches_has_no_line(nvcc: str, built: Path, tmp_path: Path) -> None:
    store = "        partial[warp] = sum;\n    }"
    twice = (f"    if (lane == 0) {{\n{store}", f"    if (lane == 0)\n{store[:-6]}\n    else {{\n{store}")
    page, result = judge(built, tried("ch04", tmp_path, twice), "ch04", tmp_path / "result.json")
    assert result["verdict"] == "RACE"
    assert result["findings"][0]["place"] is None and result["findings"][0]["other_place"] is None
    assert page.count("in several lines, of which the compiler made one access") == 1
    assert "int thread" not in page


def test_what_is_not_written_at_the_end_is_not_called_forgotten_work(
    nvcc: str, built: Path, tmp_path: Path
) -> None:
    row = (
        "    long long row = blockIdx.x;\n    // END SOLUTION",
        "    long long row = blockIdx.y;\n    // END SOLUTION",
    )
    page, _ = judge(built, tried("ch13", tmp_path, row), "ch13", tmp_path / "result.json")
    assert "of out were never written, out[31] first why They are the last 62 of the buffer. shown" in page


def test_tiles_that_no_block_reaches_are_not_guessed_at(nvcc: str, built: Path, tmp_path: Path) -> None:
    exchanged = [
        (f"int {name} = blockIdx.{old} *", f"int {name} = blockIdx.{new} *")
        for name, old, new in [
            ("column", "y", "x"),
            ("row", "x", "y"),
            ("out_column", "x", "y"),
            ("out_row", "y", "x"),
        ]
    ]
    exchanged = [(old + " WIDE +", new + " WIDE +") for old, new in exchanged]
    page, result = judge(built, tried("ch11", tmp_path, *exchanged), "ch11", tmp_path / "result.json")
    assert (result["diagnosis"]["mistake"], result["diagnosis"]["proof"]) == ("not-all-written", "finding")
    assert "why Some results are never stored." in page and "elements at" in page and "Possibly" not in page


def test_two_warps_of_a_block_store_to_one_result(nvcc: str, built: Path, tmp_path: Path) -> None:
    kernel = tried("ch04", tmp_path, ("    int warp = thread / 32;", "    int warp = blockIdx.x;"))
    page, result = judge(built, kernel, "ch04", tmp_path / "result.json")
    assert (result["verdict"], result["diagnosis"]["mistake"]) == ("RACE", "warps-share-a-slot")
    assert "If each warp has a result, its place is at the number of that result in the whole grid" in page
    assert "only that one should store" not in page


def test_a_negative_index_need_not_come_of_rounding(nvcc: str, built: Path, tmp_path: Path) -> None:
    shift = ("sum += in[i];", "sum += in[i - 1];")
    page, result = judge(
        built, tried("ch01", tmp_path, shift), "ch01", tmp_path / "result.json", "--repair", "0"
    )
    assert result["diagnosis"]["mistake"] == "read-before-the-start"
    assert "Check each part of its index: what is subtracted" in page


def test_rows_of_a_sum_have_no_transpose(nvcc: str, built: Path, tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.cu"
    (solution,) = (ROOT / "solutions").glob("ch09_*/kernel.cu")
    kernel.write_text(
        solution.read_text("utf-8").replace("(long long)row * columns", "(long long)row * rows"), "utf-8"
    )
    page, result = judge(built, kernel, "ch09", tmp_path / "result.json")
    assert result["diagnosis"]["mistake"] == "rows-for-columns"
    assert "so row r begins at element r * columns." in page and "transpose" not in page


def test_what_no_size_writes_is_not_a_remainder(nvcc: str, built: Path, tmp_path: Path) -> None:
    end = "a[i] + b[i];\n    }\n    // END SOLUTION\n}\n\n"
    kernel = tried("ch10", tmp_path, (f"        c[i] = {end}", f"        c[i] == {end}"))
    page, result = judge(built, kernel, "ch10", tmp_path / "result.json")
    assert result["diagnosis"]["mistake"] == "never-written"
    assert "remainder" not in page


def test_the_answer_of_a_list_is_no_repair(nvcc: str, built: Path, tmp_path: Path) -> None:
    name = ("IN_SQUARED_LENGTHS = FLOAT3_TAKEN_FOR_16_BYTES", "IN_SQUARED_LENGTHS = BASE_NOT_ALIGNED")
    page, _ = judge(built, tried("ch13", tmp_path, name), "ch13", tmp_path / "result.json")
    assert "the mistake named in squared_lengths is not the one" in page and " shown " not in page


def test_a_chosen_size_shows_what_was_printed(nvcc: str, built: Path, tmp_path: Path) -> None:
    prints = ("sum += in[i];", 'sum += in[i];\n        printf("%d\\n", i);')
    page, result = judge(built, tried("ch01", tmp_path, prints), "ch01", tmp_path / "result.json", "--n", "5")
    assert result["verdict"] == "PASS"
    assert "printed 0 1 2 3 4 Correct in these cases." in page
    page, result = judge(built, tried("ch01", tmp_path, prints), "ch01", tmp_path / "result.json")
    assert result["verdict"] == "OUTPUT_LIMIT"
