"""`make ladder`: what is gathered, and that terminal and picture say what the JSON says."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from fake_workbook import FakeWorkbook

from grader.core.history import History, Run
from grader.core.workbook import Workbook
from grader.learner.ladder import Ladder, document, ladder_of
from grader.learner.ladder.peers import SCHEMA, bench_record, cub
from grader.learner.ladder.picture import _ticks, picture

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def book(tmp_path: Path) -> FakeWorkbook:
    return FakeWorkbook(tmp_path / "book", dict.fromkeys(("ch01", "ch02", "ch03"), "# right\n"))


def run_of(chapter: str, gb_per_s: float, number: int = 0, verdict: str = "PASS", **timing: Any) -> Run:
    known = {"device": "NVIDIA H200", "n": 2**28, "bytes": 4.0 * 2**28, "peak_gb_per_s": 4814.0,
             "reference_gb_per_s": 4400.0, "gb_per_s": gb_per_s}  # fmt: skip
    identity, time = f"{chapter} {number} {gb_per_s} {timing}", f"2026-11-{number + 1:02}T12:00:00.000+00:00"
    return Run(identity, time, "kernel", chapter, verdict, 10, 10, gb_per_s, str(timing.pop("kind", "modelled")), 1.0,
               {}, "sha", {"name": "emulator"}, 0.5, "0.1.0", None, known | timing)  # fmt: skip


def record(book: FakeWorkbook, runs: list[Run]) -> Workbook:
    workbook = Workbook(book.folder)
    History(workbook.history).add(runs)
    return workbook


def ladder(book: FakeWorkbook, runs: list[Run], gpu: str | None = None) -> Ladder:
    workbook = record(book, runs)
    return ladder_of(workbook, workbook.chapters, gpu)


BENCH = {
    "schema": SCHEMA,
    "device": {"name": "NVIDIA H200"},
    "cases": [
        {"work": "sum", "l2": "cold", "n": 2**28, "results": [
            {"name": "torch.sum", "gb_per_s": 4600.0}, {"name": "CUB", "gb_per_s": 4500.0}]},
        {"work": "sum", "l2": "warm", "n": 2**28, "results": [{"name": "CUB", "gb_per_s": 9999.0}]},
        {"work": "sum", "l2": "cold", "n": 2**20, "results": [{"name": "CUB", "gb_per_s": 800.0}]},
        {"work": "sum", "l2": "cold", "n": 2**10, "results": [{"name": "CUB", "error": "no sample was clean"}]},
        {"work": "rows", "l2": "cold", "n": 2**27, "results": [{"name": "CUB segmented", "gb_per_s": 3600.0}]},
        {"work": "add", "l2": "cold", "n": 2**28, "results": [{"name": "CUB", "gb_per_s": 1.0}]},
    ],
}  # fmt: skip


def bench(book: FakeWorkbook, text: str | None = None) -> None:
    folder = book.folder / "bench" / "records"
    folder.mkdir(parents=True)
    (folder / "NVIDIA-H200.json").write_text(
        '{"schema": "warpbook/record/1", "device": {"name": "NVIDIA H200"}}'
    )
    (folder / "bench-NVIDIA-H200.json").write_text(text or json.dumps(BENCH))


# ---- What is gathered ------------------------------------------------------------------------------------


def test_the_fastest_right_run_counts(book: FakeWorkbook) -> None:
    made = ladder(book, [
        run_of("ch01", 1000.0, 1), run_of("ch01", 3000.0, 2, "SLOW"), run_of("ch01", 2000.0, 3),
        run_of("ch01", 9000.0, 4, "WRONG"), run_of("ch01", 8000.0, 5, "UNTRUSTED_TIME"),
    ])  # fmt: skip
    first = made.rungs[0]
    assert (first.gb_per_s, first.reference_gb_per_s, made.peak_gb_per_s) == (3000.0, 4400.0, 4814.0)
    assert [run.gb_per_s for run in first.runs] == [1000.0, 3000.0, 2000.0]
    assert made.rungs[1].gb_per_s is None
    assert made.top_gb_per_s == 4814.0


def test_one_device_at_a_time(book: FakeWorkbook) -> None:
    runs = [
        run_of("ch01", 4000.0, 1),
        run_of("ch02", 290.0, 2, device="NVIDIA L4", peak_gb_per_s=300.0, reference_gb_per_s=None, kind="measured"),
        run_of("ch01", 280.0, 3, device="NVIDIA L4", kind="modelled"),
    ]  # fmt: skip
    made = ladder(book, runs)
    assert (made.device, made.kind, made.rungs[0].gb_per_s) == ("NVIDIA L4", "modelled", 280.0)
    assert made.rungs[1].gb_per_s is None, "measured and modelled are two things"
    assert any("NVIDIA H200 (modelled)" in remark for remark in made.remarks)
    assert ladder(book, [], "h200").rungs[0].gb_per_s == 4000.0
    done = book.run("ladder", "--gpu", "T4")
    assert done.returncode == 2
    assert "there are: NVIDIA L4, NVIDIA H200" in done.stderr


def test_cub_is_of_the_same_work_and_size(book: FakeWorkbook) -> None:
    bench(book)
    runs = [
        run_of("ch01", 0.2, n=2**20 + 1, bytes=4.0 * 2**20),
        run_of("ch02", 3700.0, n=2**27, bytes=4.0 * 2**27, rows=65536, columns=2048),
        run_of("ch03", 4000.0, bytes=12.0 * 2**28),
    ]
    made = ladder(book, runs)
    assert [rung.cub and (rung.cub.name, rung.cub.gb_per_s) for rung in made.rungs] == [
        ("CUB", 800.0), ("CUB segmented", 3600.0), None,
    ]  # fmt: skip
    assert made.remarks == ["CUB was measured."]
    assert cub(BENCH, {"n": 2**28, "bytes": 4.0 * 2**28}).gb_per_s == 4500.0
    assert cub(BENCH, {"n": 2**23, "bytes": 4.0 * 2**23}) is None, "no size is near"
    assert cub(BENCH, {"n": 2**10, "bytes": 4.0 * 2**10}) is None, "it was not measured there"
    assert cub(BENCH, {}) is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"schema": "warpbook/bench/1", "device": {"name": "NVIDIA T4"}}']
)
def test_without_a_record_it_says_so(book: FakeWorkbook, text: str) -> None:
    if text:
        bench(book, text)
    assert bench_record(book.folder, "NVIDIA H200") is None
    made = ladder(book, [run_of("ch01", 4000.0)])
    assert made.rungs[0].cub is None
    assert "CUB is not shown: bench/records has no record of NVIDIA H200" in " ".join(made.remarks)


def test_nothing_timed_yet(book: FakeWorkbook) -> None:
    done = book.run("ladder")
    assert done.returncode == 0
    assert "nothing has been timed yet" in done.stdout
    drawn = ElementTree.parse(book.folder / "build" / "ladder.svg")
    assert "ch01 Fake ch01: not timed yet" in drawn.findtext(f"{SVG}desc")
    assert book.document("ladder")[1]["device"] is None


def test_what_grading_records_is_on_the_ladder(book: FakeWorkbook) -> None:
    book.kernel("ch02").write_text(
        'result["bandwidth"] |= {"device": "NVIDIA H200", "reference_gb_per_s": 1500.0, "peak_gb_per_s": 4814.0,'
        ' "seconds_of_samples": [1.0]}\n'
    )
    book.run("grade", "ch02")
    (run,) = History(book.folder / "progress" / "history.sqlite").runs("ch02")
    assert "seconds_of_samples" not in (run.timing or {})
    _, told = book.document("ladder")
    assert told["chapters"][1]["reference_gb_per_s"] == 1500.0
    assert told["peak_gb_per_s"] == 4814.0


# ---- What is drawn ---------------------------------------------------------------------------------------


@pytest.fixture
def full(book: FakeWorkbook) -> FakeWorkbook:
    bench(book)
    runs = [run_of("ch01", 0.17, 1, n=2**20), run_of("ch03", 4200.0, 5, bytes=12.0 * 2**28)]
    runs += [run_of("ch02", 500.0 * number, number) for number in range(1, 9)]
    record(book, runs)
    return book


def test_the_terminal_says_what_the_json_says(full: FakeWorkbook) -> None:
    page = full.run("ladder").stdout
    _, told = full.document("ladder")
    assert all(len(line) <= 80 for line in page.splitlines())
    assert "\033" not in page
    for chapter in told["chapters"]:
        (line,) = [line for line in page.splitlines() if line.startswith(f"{chapter['chapter']} Fake")]
        figure, share = line.split("│")[2].split()
        assert float(figure.replace(",", "")) == pytest.approx(chapter["gb_per_s"], rel=0.01)
        assert float(share) == pytest.approx(chapter["gb_per_s"] / chapter["reference_gb_per_s"], abs=0.006)
        bar = line.split("│")[1]
        assert len(bar) == 32
        own = round(32 * chapter["gb_per_s"] / told["peak_gb_per_s"])
        assert len(re.match("█*", bar)[0]) == own or bar[0] in "▏r"
        assert "r" in bar or "*" in bar
        assert ("c" in bar or "*" in bar) == (chapter["cub"] is not None)
    (line,) = [line for line in page.splitlines() if line.startswith("ch02  ")]
    assert line.split()[1:] == [
        "▁▂▃▄▅▆▇█",
        "8",
        "runs",
        "2026-11-02",
        "to",
        "2026-11-09",
        "500",
        "to",
        "4,000",
    ]


def test_the_terminal_in_ascii(full: FakeWorkbook) -> None:
    page = full.run("ladder", env=full.environment() | {"LC_ALL": "C"}).stdout
    assert page.isascii()
    assert "12345678" in page
    assert "|##########" in page


def test_the_picture_says_what_the_json_says(full: FakeWorkbook) -> None:
    workbook = Workbook(full.folder)
    made = ladder_of(workbook, workbook.chapters)
    told = document(made, Path("build/ladder.svg"))
    text = picture(made)
    drawn = ElementTree.fromstring(text)
    assert len(text) < 100_000
    assert "http" not in text.replace("http://www.w3.org/2000/svg", ""), "it stands alone"
    assert "prefers-color-scheme: dark" in text
    words = drawn.findtext(f"{SVG}desc")
    rows = drawn.findall(f"{SVG}g")[1:]
    scale = 400.0 / told["peak_gb_per_s"]
    for row, chapter in zip(rows, told["chapters"], strict=True):
        assert row.findtext(f"{SVG}title") in words
        bar = row.find(f"{SVG}rect")
        assert float(bar.get("width")) == pytest.approx(max(1.5, scale * chapter["gb_per_s"]), abs=0.06)
        assert len(row.findall(f"{SVG}circle")) == len(chapter["runs"])
        marks = {path.get("class"): path.get("d") for path in row.findall(f"{SVG}path")}
        x = float(re.match(r"M([\d.]+)", marks["reference"])[1])
        assert x == pytest.approx(236 + scale * chapter["reference_gb_per_s"], abs=0.06)
        assert ("cub" in marks) == (chapter["cub"] is not None)
        for run, circle in zip(chapter["runs"], row.findall(f"{SVG}circle"), strict=True):
            assert run["time"][:7] in circle.findtext(f"{SVG}title")
    assert "peak 4,814 GB/s" in words


def test_operations_a_second_are_drawn_as_a_share_of_their_peak(book: FakeWorkbook) -> None:
    operations = {"tflop_per_s": 30.0, "peak_tflop_per_s": 60.0}
    record(book, [run_of("ch01", 4000.0), run_of("ch02", 60.0, reference_gb_per_s=80.0, **operations)])
    page = book.run("ladder").stdout
    (line,) = [line for line in page.splitlines() if line.startswith("ch02 Fake")]
    bar, figures = line.split("│")[1:]
    assert figures.split() == ["30.0", "T", "0.75"]
    assert len(re.match("█*", bar)[0]) == 16, "half of the peak, whatever the memory's bandwidth is"
    assert bar.index("r") == round(32 * 40 / 60)
    assert "T is TFLOP/s, drawn as its share of the peak of 60.0." in page
    chapters = book.document("ladder")[1]["chapters"]
    assert [chapter["tflop_per_s"] for chapter in chapters] == [None, 30.0, None]
    workbook = Workbook(book.folder)
    words = ElementTree.fromstring(picture(ladder_of(workbook, workbook.chapters))).findtext(f"{SVG}desc")
    assert "ch02 Fake ch02: 30.0 TFLOP/s; the reference 40.0 TFLOP/s" in words
    assert re.search(r"ch02 Fake ch02 .* 30.0 TFLOP/s .*\n +modelled", book.run("status").stdout)


def test_titles_are_no_markup(full: FakeWorkbook) -> None:
    lesson = full.folder / "chapters/ch01_fake/README.md"
    lesson.write_text("# Chapter 1: a < b & <script>\n")
    workbook = Workbook(full.folder)
    drawn = ElementTree.fromstring(picture(ladder_of(workbook, workbook.chapters)))
    assert not drawn.findall(f".//{SVG}script")
    assert "a < b & <script>" in drawn.findtext(f"{SVG}desc")


@pytest.mark.parametrize("top", [0.17, 0.9, 1.0, 9.9, 10.0, 300.0, 1792.0, 4814.0, 8000.0, 99999.0])
def test_the_scale_has_round_lines(top: float) -> None:
    ticks = _ticks(top)
    assert 4 <= len(ticks) <= 9
    assert ticks[0] == 0
    assert top * 0.6 < ticks[-1] <= top
