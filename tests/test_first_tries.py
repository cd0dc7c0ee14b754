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
    assert "of out were never written, out[31] first why They are the last 62 of the buffer. case" in page


def test_tiles_that_no_block_reaches_are_possible_too(nvcc: str, built: Path, tmp_path: Path) -> None:
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
    assert (
        result["diagnosis"]["mistake"] == "part-of-the-tile-left-out" and result["diagnosis"]["proof"] is None
    )
    assert (
        "why Possibly: Only a part of the matrix is moved. Either the blocks do not reach every tile" in page
    )
