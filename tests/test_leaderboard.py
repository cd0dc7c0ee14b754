"""`make leaderboard`: what is ranked, what is kept apart, and that the page says what the JSON says."""

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from fake_workbook import FakeWorkbook

from grader.core.history import History, Timing
from grader.core.workbook import Workbook
from grader.learner.leaderboard import SIZES, Board, Entrant, board_of, document, setting_of
from grader.learner.leaderboard.board import size_words

TOML = """work = "sum"
reference = "ch14 capstone"
[peers]
"CUB" = "CUB"
"torch.sum" = "torch"
"""
H200 = "NVIDIA H200"

# A right kernel as ./chNN --time and a full run of it say it.
TIMED = """\
import hashlib
own = {{"kind": {kind!r}, "device": {device!r}, "peak_gb_per_s": 4800.0, "reference_gb_per_s": 2000.0}}
result["build"] = {{"source_sha256": hashlib.sha256(open(kernel, "rb").read()).hexdigest()}}
result["bandwidth"] = own | {{"gb_per_s": 3000.0, "n": 2**28, "bytes": 2.0**30}}
if "--time" in arguments:
    sizes = [int(n) for n in arguments["--time"].split(",")]
    result["timings"] = [own | {{"n": n, "gb_per_s": {factor} * min(n / 2**20, 2000.0)}} for n in sizes]
"""


def timed(kind: str = "modelled", device: str = H200, factor: float = 1.0) -> str:
    return TIMED.format(kind=kind, device=device, factor=factor)


def record(device: str = H200) -> dict[str, Any]:
    def case(n: int, l2: str = "cold", **by_name: float) -> dict[str, Any]:
        results: list[dict[str, Any]] = [{"name": "empty launch", "role": "floor", "us": 2.0}]
        results += [{"name": name.replace("_", " ").replace("torch sum", "torch.sum"), "gb_per_s": value}
                    for name, value in by_name.items()]  # fmt: skip
        return {"work": "sum", "l2": l2, "n": n, "bytes": 4 * n + 4, "results": results}

    return {
        "schema": "warpbook/bench/1",
        "date": "2026-11-21",
        "device": {"name": device, "peak_gb_per_s": 4800.0},
        "cases": [
            case(2**10, ch14_capstone=2.0, CUB=1.0, torch_sum=0.5),
            case(2**20, ch14_capstone=900.0, CUB=700.0, torch_sum=500.0),
            case(2**28, ch14_capstone=4500.0, CUB=4400.0, torch_sum=4300.0),
            case(2**20, l2="warm", ch14_capstone=9999.0),
            {"work": "rows", "l2": "cold", "n": 2**27, "results": []},
        ],
    }


@pytest.fixture
def book(tmp_path: Path) -> FakeWorkbook:
    made = FakeWorkbook(tmp_path / "book", {"ch01": "# right\n", "ch02": timed()})
    (made.folder / "chapters/ch02_fake/leaderboard.toml").write_text(TOML)
    (made.folder / "bench/records").mkdir(parents=True)
    (made.folder / "bench/records/bench-NVIDIA-H200.json").write_text(json.dumps(record()))
    return made


def by_name(shown: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(one["name"], one["kind"]): one for one in shown["entrants"]}


# ---- Places ----------------------------------------------------------------------------------------------


def test_others_alone(book: FakeWorkbook) -> None:
    status, shown = book.document("leaderboard")
    assert (status, shown["device"], shown["recorded"], shown["sizes"]) == (
        0,
        H200,
        "2026-11-21",
        [2**10, 2**20, 2**28],
    )
    entrants = by_name(shown)
    assert [entrants[name, "measured"]["place"] for name in ("reference", "CUB", "torch.sum")] == [1, 2, 3]
    assert entrants["reference", "measured"]["geometric_mean_gb_per_s"] == pytest.approx(
        (2 * 900 * 4500) ** (1 / 3)
    )
    assert ("you", "modelled") not in entrants
    assert any("was not judged" in remark for remark in shown["remarks"])
    assert book.ran() == []


def test_what_a_name_does_not_say_stands_below(book: FakeWorkbook) -> None:
    (book.folder / "chapters/ch02_fake/leaderboard.toml").write_text(
        TOML.replace('"CUB" = "CUB"', '"CUB" = "C."') + '[notes]\n"CUB" = "a library by NVIDIA"\n'
    )
    page = book.run("leaderboard").stdout
    assert "CUB (C.): a library by NVIDIA.\n" in page
    assert "torch.sum:" not in page
    assert "cold L2: the cache holds none of the input" in page
    notes = [one["note"] for one in book.document("leaderboard")[1]["entrants"] if one["name"] == "CUB"]
    assert notes == ["a library by NVIDIA"]


def test_the_roofline_is_the_peak_and_no_less_time_than_a_launch(book: FakeWorkbook) -> None:
    roof = by_name(book.document("leaderboard")[1])["roofline", "bound"]
    assert roof["place"] is None
    assert roof["gb_per_s"] == [pytest.approx(4100 / 2e-6 / 1e9), pytest.approx(4194308 / 2e-6 / 1e9), 4800.0]


def test_what_is_modelled_is_not_ranked_among_what_was_measured(book: FakeWorkbook) -> None:
    book.run("grade", "ch02")
    _, shown = book.document("leaderboard")
    entrants = by_name(shown)
    you = entrants["you", "modelled"]
    assert (you["place"], you["gb_per_s"]) == (None, [2.0**-10, 1.0, 3000.0])
    assert entrants["reference", "modelled"]["gb_per_s"] == [2000.0] * 3
    assert [one["place"] for one in shown["entrants"]] == [1, 2, 3, None, None, None]
    page = book.run("leaderboard").stdout
    assert re.search(r"^- +you +modelled, not ranked", page, re.MULTILINE)
    assert "not ranked among measured kernels" in re.sub(r"\s+", " ", page)


def test_what_is_measured_is_ranked(book: FakeWorkbook) -> None:
    book.kernel("ch02").write_text(timed("measured", factor=1.9))
    book.run("grade", "ch02")
    entrants = by_name(book.document("leaderboard")[1])
    you = entrants["you", "measured"]
    assert you["gb_per_s"] == [pytest.approx(1.9 / 1024), 1.9, 3000.0], "the full run counts at its size"
    assert (you["place"], entrants["torch.sum", "measured"]["place"]) == (4, 3)
    assert ("reference", "modelled") not in entrants
    assert "not ranked" not in book.run("leaderboard").stdout


def test_the_best_of_every_size_is_the_learners(book: FakeWorkbook) -> None:
    workbook = Workbook(book.folder)
    rows = [(1, 2**10, 3.0, "measured"), (2, 2**10, 2.0, "measured"), (2, 2**20, 800.0, "measured"),
            (3, 2**28, 4600.0, "measured"), (4, 2**28, 4700.0, "modelled"), (5, 12345, 1.0, "measured")]  # fmt: skip
    made = [
        Timing(
            f"run {i}",
            f"2026-11-{i:02}T12:00:00.000+00:00",
            "ch02",
            "sha",
            kind,
            H200,
            n,
            value,
            None,
            None,
            "0",
        )
        for i, n, value, kind in rows
    ]
    History(workbook.history).add_timings(made)
    entrants = by_name(book.document("leaderboard")[1])
    assert entrants["you", "measured"]["gb_per_s"] == [3.0, 800.0, 4600.0]
    assert entrants["you", "measured"]["place"] == 1
    assert entrants["you", "modelled"]["gb_per_s"] == [None, None, 4700.0]
    assert entrants["you", "modelled"]["geometric_mean_gb_per_s"] is None, "no mean where sizes are missing"


def test_a_wrong_kernel_has_no_speed(book: FakeWorkbook) -> None:
    book.kernel("ch02").write_text(timed() + 'result["verdict"] = "WRONG"; status = 1\n')
    book.run("grade", "ch02")
    book.ran()
    _, shown = book.document("leaderboard")
    assert ("you", "modelled") not in by_name(shown)
    assert any("is WRONG, and wrong kernels are not timed" in remark for remark in shown["remarks"])
    assert book.ran() == []


# ---- Timing ----------------------------------------------------------------------------------------------


def test_a_kernel_is_timed_once(book: FakeWorkbook) -> None:
    book.run("grade", "ch02")
    book.ran()
    book.run("leaderboard")
    assert book.ran() == ["ch02"]
    book.run("leaderboard")
    assert book.ran() == []
    book.run("leaderboard", "--fresh")
    assert book.ran() == ["ch02"]
    book.kernel("ch02").write_text(timed(factor=2.0))
    book.run("leaderboard")
    assert book.ran() == [], "what was not judged is not timed"
    book.run("grade", "ch02")
    book.ran()
    _, shown = book.document("leaderboard")
    assert book.ran() == ["ch02"]
    assert by_name(shown)["you", "modelled"]["gb_per_s"][1] == 2.0


def test_a_program_that_says_nothing(book: FakeWorkbook) -> None:
    book.kernel("ch02").write_text(timed() + 'if "--time" in arguments: sys.exit("no such device")\n')
    book.run("grade", "ch02")
    done = book.run("leaderboard")
    assert (done.returncode, "could not be timed: no such device" in done.stderr) == (3, True)


# ---- Devices ---------------------------------------------------------------------------------------------


def test_a_device_without_a_record(book: FakeWorkbook) -> None:
    book.kernel("ch02").write_text(timed(device="NVIDIA L4"))
    book.run("grade", "ch02")
    status, shown = book.document("leaderboard", "--gpu", "l4")
    assert (status, shown["device"], shown["recorded"], shown["sizes"]) == (0, "NVIDIA L4", None, list(SIZES))
    assert set(by_name(shown)) == {("you", "modelled"), ("reference", "modelled"), ("roofline", "bound")}
    (remark,) = [remark for remark in shown["remarks"] if "no record" in remark]
    assert "make bench writes bench/records/bench-NVIDIA-L4.json" in remark
    assert book.document("leaderboard", "--gpu", "h200")[1]["device"] == H200
    assert book.document("leaderboard")[1]["device"] == "NVIDIA L4", "the one timed last"


def test_a_record_of_another_device(book: FakeWorkbook) -> None:
    (book.folder / "bench/records/bench-NVIDIA-L4.json").write_text(json.dumps(record("NVIDIA L4")))
    status, shown = book.document("leaderboard", "--gpu", "L4")
    assert (status, shown["device"], shown["recorded"]) == (0, "NVIDIA L4", "2026-11-21")


def test_what_has_no_leaderboard(book: FakeWorkbook) -> None:
    assert book.run("leaderboard", "ch01").returncode == 2
    toml = book.folder / "chapters/ch02_fake/leaderboard.toml"
    toml.write_text("work = 3")
    done = book.run("leaderboard")
    assert (done.returncode, "leaderboard.toml is not a leaderboard" in done.stderr) == (3, True)
    toml.unlink()
    assert book.run("leaderboard").returncode == 3


# ---- The page --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [80, 60, 40])
def test_the_page_says_what_the_json_says(book: FakeWorkbook, columns: int) -> None:
    book.kernel("ch02").write_text(timed("measured", factor=1.9))
    book.run("grade", "ch02")
    _, shown = book.document("leaderboard")
    page = book.run("leaderboard", env=book.environment() | {"COLUMNS": str(columns)}).stdout
    assert all(len(line) <= columns for line in page.splitlines())
    assert "\033" not in page
    for one in shown["entrants"]:
        for value in one["gb_per_s"]:
            words = f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
            assert re.search(rf"(?<![\d,.]){re.escape(words)}(?![\d,.])", page), (one["name"], value)
    assert "▕" not in page


def test_the_page_where_the_locale_knows_ascii_alone(book: FakeWorkbook) -> None:
    book.run("grade", "ch02")
    environment = book.environment() | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    page = book.run("leaderboard", env=environment).stdout
    assert page.isascii() and "?" not in page


def test_sizes_in_few_letters() -> None:
    assert [size_words(n) for n in (1024, 3 * 2**20, 2**30, 1000, 1025)] == [
        "1 Ki",
        "3 Mi",
        "1 Gi",
        "1000",
        "1025",
    ]


def test_geometric_mean() -> None:
    one = Entrant("you", "you", "measured", {1: 2.0, 2: 8.0})
    assert one.mean([1, 2]) == pytest.approx(4.0)
    assert (one.mean([1, 3]), one.mean([])) == (None, None)


def test_the_committed_record_and_the_capstone(tmp_path: Path) -> None:
    workbook = Workbook(ROOT)
    workbook.history = tmp_path / "of nobody.sqlite"
    (chapter,) = workbook.select(["ch14"])
    setting = setting_of(workbook, chapter)
    assert setting is not None
    board: Board = board_of(workbook, chapter, setting, H200)
    shown = by_name(document(board))
    names = {name for name, kind in shown if kind == "measured"} - {"you"}
    assert names == {"reference", "CUB", "CUB, not guaranteed", "torch.sum", "thrust::reduce"}
    for one in shown.values():
        known = [
            (value, bound)
            for value, bound in zip(one["gb_per_s"], shown["roofline", "bound"]["gb_per_s"], strict=True)
            if value
        ]
        assert one["kind"] == "modelled" or all(value <= bound * 1.0001 for value, bound in known), one[
            "name"
        ]
    assert math.isfinite(shown["reference", "measured"]["geometric_mean_gb_per_s"])


def test_times_of_the_capstone_are_modelled_on_the_emulator(built: Path, tmp_path: Path) -> None:
    """`./ch14 --time` without a GPU, of which the leaderboard is made."""
    import subprocess

    book = tmp_path / "book"
    book.mkdir()
    (book / "common").symlink_to(built / "common")
    shutil.copytree(built / "chapters/ch14_capstone", book / "chapters/ch14_capstone")
    shutil.copy(built / "build/programs/ch14", book / "ch14")
    image = tmp_path / "image"
    source = built / "solutions/ch14_capstone/kernel.cu"
    subprocess.run([built / "build/bin/compile", source, image, "--quiet"], check=True, cwd=built)
    command = [
        book / "ch14",
        "--device",
        "emulator",
        "--kernel",
        image / "kernel.ptx",
        "--time",
        "1024,268435456",
    ]
    done = subprocess.run(
        [*command, "--json", tmp_path / "out.json"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout
    result = json.loads((tmp_path / "out.json").read_text())
    assert [(one["n"], one["kind"], one["device"]) for one in result["timings"]] == [
        (1024, "modelled", H200),
        (268435456, "modelled", H200),
    ]
    assert 0 < result["timings"][0]["gb_per_s"] < 10 < 3000 < result["timings"][1]["gb_per_s"] < 4815
    assert {case["n"] for case in result["cases"]} == {1024, 1 << 20}, "a large one is checked in part"
    assert "modelled   sum, for NVIDIA H200" in done.stdout
    assert "points" not in done.stdout
