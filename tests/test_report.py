"""`make report`: the page of two learners, every number of it, its pictures, and how it is used."""

import base64
import fcntl
import functools
import importlib
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import learner_book
import pytest
from conftest import ROOT
from fake_workbook import FakeWorkbook
from page_tree import Element, numbers, parse, resolve, says
from whole_kernels import kernel_text

from grader.core.workbook import Workbook
from grader.learner.ladder import ladder_of
from grader.learner.ladder.picture import picture
from grader.learner.report import BYTES_PER_CHAPTER, DETAILS
from grader.learner.report.accesses import accesses
from grader.learner.report.exchange import exchanges
from grader.learner.report.figures import Record
from grader.learner.report.launches import joined, launches, offsets
from grader.learner.report.pictures import banks, sectors
from grader.learner.report.svg import Gallery

SOLVED, BROKEN = "solved", "broken"
LEARNERS = [SOLVED, BROKEN]


class Learner:
    """A made-up learner with a report; files are read when asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.html = (folder / "build" / "report" / "index.html").read_text()
        self.document = json.loads((folder / "report.json").read_text())
        self.workbook = Workbook(folder)
        self.documents: dict[str, Any] = {}
        for chapter in self.workbook.chapters:
            for name, path in (("", "results"), (".trace", "traces")):
                file = folder / "build" / path / f"{chapter.name}.json"
                if file.exists():
                    self.documents[chapter.name + name] = json.loads(file.read_text())

    @functools.cached_property
    def page(self) -> Element:
        return parse(self.html)

    @functools.cached_property
    def sections(self) -> dict[str, Element]:
        return {section.attributes["id"]: section for section in self.page.find("section")}

    def chapter(self, name: str) -> Element:
        return self.sections[name]

    def kernel(self, name: str) -> str:
        (chapter,) = self.workbook.select([name])
        return (self.folder / chapter.kernel).read_text()


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "grader", "report", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture(scope="session")
def learners(built: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Learner]:
    """Both, with their reports; made once, whichever worker of pytest-xdist comes first."""
    base = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent
    with open(base / "learners.lock", "w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not (base / "learners.done").exists():
            finished = learner_book.solved(built, base / SOLVED)
            learner_book.broken(finished, base / BROKEN)
            for name in LEARNERS:
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                done = run(base / name, "--json")
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                assert done.returncode == 0, done.stderr
                (base / name / "report.json").write_text(done.stdout)
                seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
                (base / name / "seconds").write_text(str(seconds))
            (base / "learners.done").touch()
    return {name: Learner(base / name) for name in LEARNERS}


@pytest.fixture(params=LEARNERS)
def learner(learners: dict[str, Learner], request: pytest.FixtureRequest) -> Learner:
    return learners[request.param]


# ---- Numbers -------------------------------------------------------------------------------------------------


def test_every_number_on_the_page_is_that_of_its_source(learner: Learner) -> None:
    found = list(numbers(learner.page))
    assert len(found) > 1500
    for value, source, text in found:
        expected = resolve(learner.documents, source)
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-12), source
        assert says(expected, text), f"{text!r} is shown for {expected} ({source})"


@pytest.mark.usefixtures("nvcc")
def test_a_whole_program_has_a_timeline_and_no_remark_about_a_trace(learners: dict[str, Learner]) -> None:
    text = learners[SOLVED].sections["ch20"].text
    assert "Copies and kernels" in text and "stream 2" in text
    assert "no trace" not in text


# Where digits are not results: code, names of chapters and lines, and quoted words.
PLAIN = {"code", "style", "script", "title", "desc", "time", "svg", "data"}


def test_no_number_on_the_page_is_without_a_source(learner: Learner) -> None:
    for one in learner.page.all():
        inside = list(one.above())
        if any(up.name in PLAIN or {"said", "at"} & set(up.classes) for up in inside):
            continue
        if any(
            set(up.attributes) & {"data-part", "data-summary", "data-last", "data-block"} for up in inside
        ):
            continue
        text = " ".join(child for child in one.children if isinstance(child, str))
        text = re.sub(r"\bch\d\d\b|of \d\d chapters|float4|data-from", "", text)
        if one.name == "td" and one.parent and "data-level" in one.parent.attributes:
            continue  # a line of the tree's table: compared with the trace below
        assert not re.search(r"\d", text), f"<{one.name}>: {text!r}"


def test_words_are_those_of_the_results(learner: Learner) -> None:
    """Text of the class `said` occurs verbatim in the results, the traces, the chapters' names or the commands."""
    known = {
        " ".join(value.split()) for document in learner.documents.values() for value in _strings(document)
    }
    known |= {f"{text}." for text in known} | {chapter.name for chapter in learner.workbook.chapters}
    for one in learner.page.find(class_="said"):
        text = " ".join(one.text.split()).removeprefix("Possibly: ")
        inside = {name for up in one.above() for name in up.classes}
        if not text or "remark" in inside or any(up.attributes.get("data-level") for up in one.above()):
            continue
        parts = re.fullmatch(r"(.*) \((.*)\)", text)
        assert text in known or (parts and set(parts.groups()) <= known), text


def _strings(value: Any) -> Any:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


def test_summary_is_that_of_make_status(learner: Learner) -> None:
    summary, page = learner.document["summary"], learner.page
    for name in ("passed", "points"):
        (one,) = [one for one in page.all() if one.attributes.get("data-summary") == name]
        assert float(one.text) == summary[name]
    (table,) = [section.find("tbody")[0] for section in page.find("section", id="summary")]
    rows = {row.attributes["data-chapter"]: row.text.split() for row in table.find("tr")}
    for chapter in summary["chapters"]:
        assert chapter["state"] in rows[chapter["chapter"]]
        assert chapter["verdict"] is None or chapter["verdict"] in rows[chapter["chapter"]]
        last = [one for one in page.all() if one.attributes.get("data-last") == "earned"]
        assert all(float(one.text) >= 0 for one in last)
    assert len(rows) == len(learner.workbook.chapters)


def test_json_has_the_same_numbers_as_the_page(learner: Learner) -> None:
    figures = dict(_figures(learner.document))
    assert len(figures) > 1000
    for source, value in figures.items():
        assert value == pytest.approx(resolve(learner.documents, source), rel=1e-9, abs=1e-12), source
    shown = {source for _, source, _ in numbers(learner.page)}
    for chapter in learner.document["chapters"]:
        for goal in chapter["goals"]:
            assert {one["from"] for one in (goal["limit"], goal["earned"], goal["points"])} <= shown
        for line in chapter["lines"]:
            for kernel in line["kernels"]:
                assert {one["from"] for one in kernel["counts"].values()} <= shown


def _figures(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"value", "from"}:
        yield value["from"], value["value"]
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _figures(one)


def test_every_counter_of_every_line_is_there(learner: Learner) -> None:
    for name, result in learner.documents.items():
        if name.endswith(".trace") or name == learner_book.EDITED:
            continue
        ours = f"chapters/{learner.workbook.select([name])[0].folder.name}/kernel.cu"
        chapter = learner.chapter(name)
        for i, line in enumerate(result["lines"]):
            tables = chapter.find("tbody", data_at=f"{name}:/lines/{i}/counts")
            assert len(tables) == (line["file"] == ours)
            for table in tables:
                counts = {row.find("th")[0].text: row.find("data")[0].text for row in table.find("tr")[1:]}
                assert counts == {key: f"{value:,}" for key, value in line["counts"].items() if value}


# ---- Pictures ------------------------------------------------------------------------------------------------


def test_every_picture_has_a_name_and_words(learner: Learner) -> None:
    pictures = [one for one in learner.page.find("svg") if "gallery" not in one.classes]
    assert len(pictures) > 150
    for one in pictures:
        has_links = any(part.name == "a" for part in one.all())  # which an image would hide
        assert one.attributes["role"] == ("group" if has_links else "img")
        title, words = (
            next(part for part in one.all() if part.attributes.get("id") == name)
            for name in one.attributes["aria-labelledby"].split()
        )
        assert (title.name, words.name) == ("title", "desc")
        assert len(title.text) > 10
        assert len(words.text) > 10
    ids = [one.attributes["id"] for one in learner.page.all() if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    links = [
        one.attributes["href"] for one in learner.page.all() if one.attributes.get("href", "").startswith("#")
    ]
    assert {link[1:] for link in links} <= set(ids)


def test_accesses_are_drawn_as_the_emulator_counted_them(learners: dict[str, Learner]) -> None:
    """The sectors and the wavefronts that a picture has are as many as the event has."""
    drawn = {"sectors": 0, "wavefronts": 0, "joined": 0, "elsewhere": 0}
    for name, document in learners[SOLVED].documents.items():
        for launch in launches(Record(name, document)) if name.endswith(".trace") else ():
            data = launch.data
            for event in data["events"]:
                instruction = data["instructions"][event["at"]]
                if "object" not in event or instruction["kind"] not in ("load", "store"):
                    continue
                size, object_ = instruction["bytes"], data["objects"][event["object"]]
                places = [None if at is None else at + object_["misalignment"] for at in offsets(event)]
                if "wavefronts" in event:
                    lanes, whole = offsets(event), joined(instruction)
                    if whole:
                        size, lanes = whole.bytes, [None if at is None else at + whole.shift for at in lanes]
                    is_elsewhere = whole is not None and not whole.bytes
                    is_load = instruction["kind"] == "load"
                    found = [] if is_elsewhere else banks.wavefronts(lanes, size, is_load=is_load)
                    assert len(found) == event["wavefronts"], (name, event)
                    drawn["wavefronts"] += 1
                    drawn["joined"] += whole is not None
                    drawn["elsewhere"] += is_elsewhere
                elif instruction["space"] == "global":
                    assert len(sectors.touched(places, size)) == event["sectors"], (name, event)
                    drawn["sectors"] += 1
    assert min(drawn["sectors"], drawn["wavefronts"]) > 200
    assert drawn["joined"] > drawn["elsewhere"] > 0


def test_wavefronts_of_a_warp() -> None:
    assert len(banks.wavefronts([4 * lane for lane in range(32)], 4)) == 1
    assert len(banks.wavefronts([8 * lane for lane in range(32)], 4)) == 2
    assert len(banks.wavefronts([128 * lane for lane in range(32)], 4)) == 32
    assert len(banks.wavefronts([16 * lane for lane in range(32)], 16)) == 4
    assert len(banks.wavefronts([lane // 16 * 16 for lane in range(32)], 16)) == 2
    assert len(banks.wavefronts([lane // 16 * 16 for lane in range(32)], 16, is_load=False)) == 4
    assert len(banks.wavefronts([0] * 32, 4)) == 1
    assert len(banks.wavefronts([0] * 32, 4, one_by_one=True)) == 32
    assert banks.wavefronts([None] * 31 + [12], 4) == [{3: (3, [31])}]


def test_every_recorded_access_of_a_line_can_be_seen(learner: Learner) -> None:
    for name, document in learner.documents.items():
        if not name.endswith(".trace") or name.startswith(learner_book.EDITED):
            continue
        chapter = learner.chapter(name.removesuffix(".trace"))
        ours = document["source"]["file"]
        wanted = {
            instruction["line"]
            for task in document["tasks"]
            for kernel in task["kernels"]
            for event in kernel["events"]
            if "object" in event and event.get("mask")
            for instruction in [kernel["instructions"][event["at"]]]
            if instruction["file"] == ours and instruction["space"] in ("global", "shared")
        }
        shown = {
            int(line.attributes["data-line"])
            for line in chapter.find("details", class_="line")
            if line.find("figure", class_="stepper")
        }
        assert shown == wanted, name
    for stepper in learner.page.find("figure", class_="stepper"):
        steps = json.loads(stepper.attributes["data-steps"])
        patterns = stepper.find("div", class_="pattern")
        assert {step[3] for step in steps["steps"]} == set(range(len(patterns)))
        for step in steps["steps"]:
            title = patterns[step[3]].find("title")[0].text
            for (counter, _, _), count in zip(steps["counts"], step[7:], strict=True):
                assert count == resolve(learner.documents, f"{steps['events']}/{step[4]}/{counter}")
                if counter in ("sectors", "wavefronts") and "atomic" not in stepper.attributes["aria-label"]:
                    assert f" {count} {counter} of 32" in title


def example() -> Record:
    return Record(
        "ch05.trace", json.loads((ROOT / "tests" / "data" / "trace" / "sum_block.json").read_text())
    )


def test_tree_of_a_small_sum() -> None:
    (launch,) = launches(example())
    (first,) = exchanges(launch, "chapters/ch05_shared_memory/kernel.cu", 32)
    levels = [(level.kind, level.line, len(level.active), level.links) for level in first.levels]
    folds = [
        ("shuffle", 7, 64, {(32 * warp + lane + d, 32 * warp + lane) for warp in (0, 1) for lane in range(d)})
        for d in (16, 8, 4, 2, 1)
    ]
    assert levels == [
        ("own", 6, 64, set()),
        *folds,
        ("barrier", 9, 64, set()),
        ("take", 10, 1, {(32, 0)}),
        ("output", 10, 1, set()),
    ]
    assert first.is_complete


def test_a_tree_that_halves_and_one_that_takes_neighbours_differ(learners: dict[str, Learner]) -> None:
    (tree,) = [one for one in learners[SOLVED].document["chapters"][2]["trees"] if one["block"] == 0]
    takes = [level for level in tree["levels"] if level["kind"] == "take"]
    assert [len(level["links"]) for level in takes] == [128, 64, 32, 16, 8, 4, 2, 1]
    for level in takes:
        half = len(level["links"])
        assert level["links"] == [[taker + half, taker] for taker in range(half)]
        assert level["threads"]["value"] == half
    barriers = [level["threads"]["value"] for level in tree["levels"] if level["kind"] == "barrier"]
    assert barriers == [256] * 9
    section = learners[SOLVED].chapter("ch03")
    (drawing,) = section.find("svg", class_="tree")
    assert len(drawing.find("path", class_="wall")) == 9
    (table,) = section.find("figure", class_="tree-figure")
    rows = [[cell.text for cell in row.find("td")] for row in table.find("tbody")[0].find("tr")]
    assert [int(row[2]) for row in rows] == [level["threads"]["value"] for level in tree["levels"]]
    assert [int(row[0] or 0) for row in rows] == [level["line"] for level in tree["levels"]]
    assert "128–255 give to 0–127, 128 apart" in rows[2][3]


def test_the_last_block_takes_from_the_others(learners: dict[str, Learner]) -> None:
    trees = learners[SOLVED].document["chapters"][13]["trees"]
    assert any(level["blocks"] for tree in trees for level in tree["levels"])


def test_a_race_names_both_threads_and_lines(learners: dict[str, Learner]) -> None:
    result = learners[BROKEN].documents["ch03"]
    finding = next(one for one in result["findings"] if one["kind"] == "race")
    drawing = learners[BROKEN].chapter("ch03").find("svg", class_="race")[0]
    words = [text.text for text in drawing.find("text")]
    for which in ("", "other_"):
        assert f"thread {finding[which + 'thread'][0]} of block {finding[which + 'block'][0]}" in words
        assert any(re.search(rf", line {finding[which + 'place']['line']}$", text) for text in words)
    assert any(finding["object"] in text and f"byte {finding['index']}" in text for text in words)
    code = learners[BROKEN].kernel("ch03").splitlines()[finding["place"]["line"] - 1].strip()
    assert any(text and code.startswith(text.removesuffix(" …")) for text in words)


def test_occupancy_names_the_smallest_limit(learners: dict[str, Learner]) -> None:
    shown = 0
    for chapter in learners[SOLVED].document["chapters"]:
        for one in chapter["occupancy"]:
            least = min(limit["value"] for limit in one["limits"].values())
            assert one["blocks"]["value"] == least
            assert set(one["limiter"].split(" and ")) == {
                name for name, limit in one["limits"].items() if limit["value"] == least
            }
            shown += 1
    assert shown > 15
    assert len(learners[SOLVED].page.find("svg", class_="occupancy")) == shown


def test_the_roofline_has_every_right_timed_task(learners: dict[str, Learner]) -> None:
    points = learners[SOLVED].document["roofline"]["points"]
    assert {point["chapter"] for point in points} >= {
        f"ch{i:02}" for i in (1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 14)
    }
    by_task = {(point["chapter"], point["task"]): point["intensity"]["value"] for point in points}
    assert by_task["ch03", "sum_tree"] == pytest.approx(
        1 / 4, rel=0.02
    )  # one addition for each float of 4 bytes
    assert by_task["ch10", "float4"] == pytest.approx(1 / 12, rel=0.02)  # one for three floats
    for point in points:
        assert point["share"]["value"] <= 1
    assert {point["chapter"] for point in learners[BROKEN].document["roofline"]["points"]}.isdisjoint(
        {"ch01", "ch02", "ch03", "ch04"}
    )


def test_the_ladder_is_that_of_make_ladder(learner: Learner) -> None:
    (image,) = learner.page.find("img")
    kind, _, data = image.attributes["src"].partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(data).decode() == picture(ladder_of(learner.workbook, learner.workbook.chapters))


def test_colours_are_those_of_the_lessons_pictures() -> None:
    lessons = re.findall(r"(--[a-z-]+):(#\w+)", (ROOT / "docs" / "pictures" / "canvas.py").read_text())
    report = re.findall(
        r"(--[a-z-]+):(#\w+)", (ROOT / "grader" / "learner" / "report" / "assets" / "colours.css").read_text()
    )
    assert len(lessons) > 20
    assert set(lessons) <= set(report)


# ---- Learners of all kinds -----------------------------------------------------------------------------------


def test_the_source_stands_there_letter_for_letter(learner: Learner) -> None:
    for chapter in learner.workbook.chapters:
        (source,) = learner.chapter(chapter.name).find("div", class_="source")
        lines = [one.text for one in source.find("code")]
        assert [line.rstrip() for line in lines] == [
            line.rstrip() for line in learner.kernel(chapter.name).splitlines()
        ]


def test_what_went_wrong_is_told(learners: dict[str, Learner]) -> None:
    learner = learners[BROKEN]
    verdicts = {chapter["chapter"]: chapter["verdict"] for chapter in learner.document["chapters"]}
    assert [verdicts[f"ch0{i}"] for i in range(1, 6)] == ["BUILD", "REJECT", "RACE", "SYNC", "SLOW"]
    for name, wrong in learner_book.WRONG.items():
        text = learner.chapter(name).text
        diagnosis = learner.documents[name]["diagnosis"]
        assert diagnosis is None or diagnosis["why"] in text, wrong
        assert f"make hint-{name}" in text
    undefined = (
        r"""identifier "summ" is undefined|use of undeclared identifier 'summ'"""  # nvcc's words, and clang's
    )
    assert re.search(undefined, learner.chapter("ch01").text)
    assert not learner.chapter("ch01").find("details", class_="line")
    assert not learner.chapter("ch02").find("figure", class_="stepper")
    assert "bank conflicts" in learner.chapter("ch05").text


def test_what_was_never_run_or_has_changed_shows_no_counters(learners: dict[str, Learner]) -> None:
    learner = learners[BROKEN]
    for name, words in (
        (learner_book.NEVER_RUN, "It was never judged"),
        (learner_book.EDITED, "The file was edited since it was judged"),
    ):
        section = learner.chapter(name)
        (remark,) = section.find("p", class_="remark")
        assert words in remark.text
        assert f"make grade CH={name}" in remark.text
        assert not section.find("details", class_="line")
        assert not section.find("figure")
    assert learner.document["chapters"][6]["state"] == "edited"
    assert learner.document["chapters"][7]["state"] == "new"


def test_a_chapter_that_asks_for_names_is_not_told_them(learners: dict[str, Learner], tmp_path: Path) -> None:
    folder = learner_book.copied(learners[SOLVED].folder, tmp_path / "book")
    (chapter,) = Workbook(folder).select(["ch13"])
    (folder / chapter.kernel).write_text(kernel_text("wrong/ch13/padded_by_two"))
    learner_book.judge_all(folder, "ch13")
    done = run(folder, "--json")
    assert done.returncode == 0, done.stderr
    mistake = json.loads((folder / "build" / "results" / "ch13.json").read_text())["diagnosis"]
    page = (folder / "build" / "report" / "index.html").read_text()
    assert mistake["title"] not in page + done.stdout
    assert mistake["mistake"] not in done.stdout


def test_a_learner_who_has_done_nothing(tmp_path: Path) -> None:
    book = FakeWorkbook(tmp_path / "book", {"ch01": "# <b>new</b>\n", "ch02": "BROKEN"})
    done = run(book.folder)
    assert done.returncode == 0, done.stderr
    page = parse((book.folder / "build" / "report" / "index.html").read_text())
    for name in ("ch01", "ch02"):
        (section,) = page.find("section", id=name)
        assert "It was never judged" in section.text
        assert not section.find("figure")
    assert not page.find("section", id="roofline")
    assert "<b>new</b>" in page.find("section", id="ch01")[0].text
    status, document = book.document("report")
    assert status == 0
    assert [chapter["state"] for chapter in document["chapters"]] == ["new", "new"]
    assert not book.ran()


def test_programs_that_cannot_be_traced_are_no_trouble(tmp_path: Path) -> None:
    """What ./chNN wrote by mistake, or did not write, is a sentence on the page."""
    book = FakeWorkbook(tmp_path / "book", {"ch01": "# right\n", "ch02": "# right\n"})
    assert book.run("grade").returncode == 0
    done = book.run("report")
    assert done.returncode == 0, done.stderr
    page = parse((book.folder / "build" / "report" / "index.html").read_text())
    for name in ("ch01", "ch02"):
        (remark,) = page.find("section", id=name)[0].find("p", class_="remark")
        assert remark.text.startswith("There is no trace of it")
        assert "PASS" in page.find("section", id=name)[0].text


def test_an_access_that_ended_the_kernel_is_drawn_without_counts() -> None:
    record = example()
    kernel = record.document["tasks"][0]["kernels"][0]
    event = kernel["events"][0]
    del event["sectors"], event["requests"]
    event |= {"failed": True, "offset": -4}
    found = accesses(record, "chapters/ch05_shared_memory/kernel.cu", Gallery(), DETAILS[0])
    (access,) = found[6]
    first = access.steps[0]
    assert (first.event, first.first, first.last, first.is_last) == (0, -4, 123, True)
    assert access.step_values["steps"][0][7:] == [None]
    assert access.step_values["steps"][1][7:] == [4]


# ---- Size and time -------------------------------------------------------------------------------------------


def test_the_page_is_small_and_quickly_made(learner: Learner) -> None:
    assert len(learner.html.encode()) <= BYTES_PER_CHAPTER * len(learner.workbook.chapters)
    # Of all processors together, traces of every chapter included.
    assert float((learner.folder / "seconds").read_text()) < 0.9 * len(learner.workbook.chapters)


def test_a_page_with_less_on_it_is_smaller_and_sound(learners: dict[str, Learner]) -> None:
    module = importlib.import_module("grader.learner.report")
    known = importlib.import_module("grader.learner.report.collect").collect(learners[SOLVED].workbook)
    sizes = []
    for step in (0, len(DETAILS) - 1):
        views = [module.view(one, DETAILS[step]) for one in known]
        html, _ = module._made(learners[SOLVED].workbook, known, views, "2026-11-21T12:00:00.000+00:00")
        sizes.append(len(html))
        for value, source, _ in numbers(parse(html)):
            assert value == pytest.approx(resolve(learners[SOLVED].documents, source), rel=1e-9, abs=1e-12)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 0.7 * sizes[0]


def test_traces_are_kept_until_a_kernel_changes(learners: dict[str, Learner], tmp_path: Path) -> None:
    folder = learner_book.copied(learners[SOLVED].folder, tmp_path / "book")
    traces = folder / "build" / "traces"
    before = {path.name: path.stat().st_mtime_ns for path in traces.iterdir()}
    assert run(folder).stdout == "Your report: build/report/index.html\n"
    assert {path.name: path.stat().st_mtime_ns for path in traces.iterdir()} == before
    (chapter,) = Workbook(folder).select(["ch04"])
    kernel = folder / chapter.kernel
    kernel.write_text(kernel.read_text() + "\n// changed\n")
    learner_book.judge_all(folder, "ch04")
    assert run(folder).returncode == 0
    after = {path.name: path.stat().st_mtime_ns for path in traces.iterdir()}
    assert {name for name in after if after[name] != before[name]} == {"ch04.json", "ch04.key.json"}


def test_a_broken_trace_is_taken_anew(learners: dict[str, Learner], tmp_path: Path) -> None:
    folder = learner_book.copied(learners[SOLVED].folder, tmp_path / "book")
    trace = folder / "build" / "traces" / "ch04.json"
    text = trace.read_text()
    trace.write_text(text[: len(text) // 2])
    assert run(folder).returncode == 0
    assert trace.read_text() == text
