"""Exports of a graded class: each as its format is published, and nobody's text becomes anything but text."""

import copy
import csv
import io
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from conftest import ROOT
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from grader.classroom.exports import FORMATS, export, left_out
from grader.classroom.exports.classroom50 import result
from grader.classroom.exports.roster import read_roster
from grader.classroom.views.spreadsheet import csv_text, defused, identifier
from grader.core.errors import UsageError

DATA = ROOT / "tests" / "data" / "exports"
CLASS = ROOT / "tests" / "data" / "class" / "class.json"
# What is hostile somewhere: in a spreadsheet, in HTML, XML, JSON lines, a terminal, a page read aloud.
HOSTILE = (
    '=HYPERLINK("http://x","y")</td><script>alert(1)</script>&amp;]]>\x1b[2J\u202eabc\0\n{"scores": {"ch01": 99}}'
    "\n:) ch01 Add: kernel.cu builds"
)


def schema(name: str) -> Any:
    return json.loads((DATA / f"{name}.schema.json").read_text())


def valid(name: str, document: Any) -> None:
    jsonschema.validate(document, schema(name), jsonschema.Draft202012Validator)


def load() -> dict[str, Any]:
    return json.loads(CLASS.read_text("utf-8"))


def student(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in document["students"] if one["id"] == name)


def hostile() -> dict[str, Any]:
    """The class with hostile text wherever a student or a submission can put any."""
    document = load()
    document["course"]["title"] = HOSTILE
    for one in document["students"]:
        one["name"] = one["email"] = one["section"] = HOSTILE
        one["lms"] |= {"sis_login_id": HOSTILE, "moodle_identifier": HOSTILE}
        one["submission"]["path"] = one["submission"]["path"] and HOSTILE
        if one["trouble"]:
            one["trouble"]["message"] = HOSTILE
        for chapter in one["chapters"]:
            chapter["message"] = HOSTILE
            for finding in (chapter["result"] or {}).get("findings", []):
                finding["message"] = HOSTILE
                if finding["place"]:
                    finding["place"]["file"] = HOSTILE
    return document


def empty() -> dict[str, Any]:
    return load() | {"students": [], "similar": []}


def as_json(element: ElementTree.Element) -> dict[str, Any]:
    return {
        "tag": element.tag,
        "attributes": dict(element.attrib),
        "children": [as_json(child) for child in element],
        "text": element.text or "",
    }


def table(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline="")))


CLASSES = pytest.mark.parametrize("document", [load(), hostile(), empty()], ids=["plain", "hostile", "empty"])


# ---- A file for each student -------------------------------------------------------------------------------------


@CLASSES
def test_gradescope(document: dict[str, Any], tmp_path: Path) -> None:
    for path in export(document, tmp_path, ["gradescope"]):
        results = json.loads(path.read_text("utf-8"))
        valid("gradescope", results)
        assert sum(test["score"] for test in results["tests"]) == pytest.approx(results["score"])
        assert all(test["output_format"] == "text" for test in results["tests"])  # never html


def test_gradescope_says_what_the_page_says(tmp_path: Path) -> None:
    export(load(), tmp_path, ["gradescope"])
    results = json.loads((tmp_path / "gradescope" / "dorothy.json").read_text())
    assert results["score"] == 16.2
    ch01, ch02 = results["tests"]
    assert (ch01["score"], ch01["tags"], ch01["status"]) == (0, ["MISSING"], "failed")
    # 10 of 20 points, 0.81 for two days, the chapter's weight 2
    assert (ch02["score"], ch02["max_score"], ch02["number"]) == (16.2, 40, "2")
    for words in (
        "SLOW",
        "16 sectors per load request, goal at most 4: missed",
        "make hint-ch02 STEP=2",
        "late",
    ):
        assert words in ch02["output"]
    assert all(len(line) <= 80 for line in ch02["output"].splitlines())
    ada = json.loads((tmp_path / "gradescope" / "ada.json").read_text())
    assert [test["status"] for test in ada["tests"]] == ["passed", "passed"]
    assert {"name": "ch02 GB/s", "value": 4195.6, "order": "desc"} in ada["leaderboard"]


@CLASSES
def test_autolab(document: dict[str, Any], tmp_path: Path) -> None:
    for path in export(document, tmp_path, ["autolab"]):
        *said, feedback, last = path.read_text("utf-8").splitlines()
        valid("autolab-feedback", json.loads(feedback))
        valid("autolab-scores", json.loads(last))
        assert all(line.isprintable() for line in [*said, feedback, last])
        assert set(json.loads(feedback)) == {"_presentation", "stages", *json.loads(feedback)["stages"]}
        assert not [line for line in said if line.lstrip().startswith("{")]  # nothing else passes for scores
        assert sum(json.loads(last)["scores"].values()) == pytest.approx(json.loads(last)["scoreboard"][0])


def test_autolab_stages(tmp_path: Path) -> None:
    export(load(), tmp_path, ["autolab"])
    feedback = json.loads((tmp_path / "autolab" / "blaise.txt").read_text().splitlines()[-2])
    assert feedback["Build"]["ch02 Coalescing"] == {"passed": True}
    wrong = feedback["Correct"]["ch02 Coalescing"]
    assert wrong["passed"] is False
    assert "256 partials" in wrong["hint"]
    assert not [
        name for name in feedback["Goals"] if name.startswith("ch02")
    ]  # of a wrong kernel none counts


@CLASSES
def test_classroom50(document: dict[str, Any], tmp_path: Path) -> None:
    for path in export(document, tmp_path, ["classroom50"]):
        written = json.loads(path.read_text("utf-8"))
        valid("classroom50", written)
        assert written["score"] == sum(test["score"] for test in written["tests"])
        assert written["max-score"] == sum(test["max-score"] for test in written["tests"]) == 500
        assert written["commit"].endswith("/commit/1f3a") and written["release"].endswith("/releases/2")


def test_classroom50_has_no_row_without_a_commit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = load()
    student(document, "ada")["submissions"][0]["commit"] = ""
    written = export(document, tmp_path, ["classroom50"])
    assert "ada.json" not in {path.name for path in written} and len(written) == 4
    said = capsys.readouterr().err
    assert "no commit is known for Ada Lovelace; add the columns commit and release" in said
    assert said.count("\n") == 1
    assert "Charles" not in said, "nothing was handed in"


@pytest.mark.parametrize(("counts", "expected"), [([0, 0], 0), ([0, 1], 1), ([1, 2], 2), ([None, None], 2)])
def test_classroom50_names_the_submission_that_counted(counts: list[int | None], expected: int) -> None:
    """Of several that count, the latest; where none does, the latest of all."""
    document = load()
    ada = student(document, "ada")
    ada["submissions"] = [
        ada["submissions"][0] | {"name": f"ada-{i}", "commit": f"https://c/{i}", "release": f"https://r/{i}"}
        for i in range(3)
    ]
    for chapter, at in zip(ada["chapters"], counts, strict=True):
        chapter["submission"] = at
    written = result(document, ada, {})
    valid("classroom50", written)
    shown = [written[name] for name in ("submission", "commit", "release")]
    assert shown == [f"ada-{expected}", f"https://c/{expected}", f"https://r/{expected}"]


def test_classroom50_takes_what_its_runner_sets() -> None:
    document = load()
    variables = {
        "CLASSROOM": "cs-parallel", "ASSIGNMENT": "warpbook", "SUBMISSION_TAG": "submit/1", "COMMIT_URL": "https://c",
        "RELEASE_URL": "https://r", "REVIEW_URL": "https://v",
    }  # fmt: skip
    written = result(document, student(document, "dorothy"), variables)
    valid("classroom50", written)
    assert [
        written[name] for name in ("classroom", "assignment", "submission", "commit", "release", "review")
    ] == [*variables.values()]
    assert written["datetime"] == "2026-11-22T08:00:00Z"
    assert (written["score"], written["max-score"]) == (162, 500)


@CLASSES
def test_check50(document: dict[str, Any], tmp_path: Path) -> None:
    for path in export(document, tmp_path, ["check50"]):
        written = json.loads(path.read_text("utf-8"))
        valid("check50", written)
        passed = {check["name"]: check["passed"] for check in written["results"]}
        assert len(passed) == len(written["results"]) == 3 * len(document["course"]["chapters"])
        for check in written["results"]:  # null just where what it waits for has not passed
            waits = check["dependency"] is not None and passed[check["dependency"]] is not True
            assert (check["passed"] is None) == waits


needs_check50 = pytest.mark.skipif(
    not find_spec("check50") and os.environ.get("CI") != "true",
    reason="needs the Python package check50 (requirements/platforms.txt; make test installs it)",
)


@needs_check50
@CLASSES
def test_check50_itself_shows_it_as_text(document: dict[str, Any], tmp_path: Path) -> None:
    from check50.renderer import to_ansi

    for path in export(document, tmp_path, ["check50"]):
        written = json.loads(path.read_text("utf-8"))
        shown = re.sub(r"\x1b\[[0-9;]*m", "", to_ansi(**written, _log=True))  # termcolor's
        assert "\x1b" not in shown, "no student writes to the terminal"
        faces = [line for line in shown.splitlines() if line.startswith(":")]
        assert len(faces) == len(written["results"]), "no student's line passes for a check"
        expected = [f"Results for warpbook generated by check50 v{written['version']}"]
        for check in written["results"]:
            face = {True: ":)", False: ":(", None: ":|"}[check["passed"]]
            cause = check["cause"] or {}
            expected.append(f"{face} {check['description']}")
            expected += [f"    {cause[part]}" for part in ("rationale", "help") if cause.get(part)]
            expected += [f"    {line}" for line in check["log"]]
        assert shown == "\n".join(expected)


class Shown(HTMLParser):
    """The headings of a page, all its text, and its elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.headings: list[str] = []
        self.text = ""
        self.elements: set[str] = set()
        self.inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.elements.add(tag)
        self.inside = tag
        if tag == "h3":
            self.headings.append("")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self.inside = ""

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.inside == "h3":
            self.headings[-1] += data


@needs_check50
@CLASSES
def test_check50_itself_shows_it_as_html(document: dict[str, Any], tmp_path: Path) -> None:
    from check50.renderer import to_html

    for path in export(document, tmp_path, ["check50"]):
        written = json.loads(path.read_text("utf-8"))
        page = Shown(to_html(**written))
        faces = {True: ":)", False: ":(", None: ":|"}
        assert page.headings == [
            f"{faces[check['passed']]} {check['description']}" for check in written["results"]
        ]
        words = page.text.replace("\u00a0", " ")
        for check in written["results"]:
            cause = check["cause"] or {}
            for part in (*check["log"], cause.get("rationale"), cause.get("help")):
                assert (part or "").strip() in words
        assert page.elements <= {
            "html",
            "head",
            "link",
            "title",
            "body",
            "div",
            "h1",
            "h2",
            "h3",
            "hr",
            "p",
            "b",
            "br",
            "samp",
        }


@CLASSES
def test_junit(document: dict[str, Any], tmp_path: Path) -> None:
    (path,) = export(document, tmp_path, ["junit"])
    suites = as_json(ElementTree.fromstring(path.read_text("utf-8")))
    valid("junit", suites)
    assert len(suites["children"]) == len(document["students"])
    for suite, one in zip(suites["children"], document["students"], strict=True):
        cases = [child for child in suite["children"] if child["tag"] == "testcase"]
        inside = [case["children"][0]["tag"] if case["children"] else "" for case in cases]
        counts = {"failures": "failure", "errors": "error", "skipped": "skipped"}
        assert suite["attributes"]["tests"] == str(len(cases))
        assert {name: suite["attributes"][name] for name in counts} == {
            name: str(inside.count(tag)) for name, tag in counts.items()
        }
        verdicts = [chapter["verdict"] for chapter in one["chapters"]]
        assert [tag == "" for tag in inside] == [verdict == "PASS" for verdict in verdicts]
        assert [tag == "error" for tag in inside] == [verdict == "INFRA" for verdict in verdicts]


def test_who_could_not_be_judged_has_no_score_anywhere(tmp_path: Path) -> None:
    document = load()
    assert left_out(document) == ["Leonardo of Pisa"]
    export(document, tmp_path, [])
    assert not list(tmp_path.rglob("fibonacci*"))
    grades = [row for row in table(tmp_path / "nbgrader" / "grades.csv") if row[3] == "fibonacci"]
    assert [row[9] for row in grades] == ["", "0"]  # INFRA, and a REJECT of its author's own making


def test_earlier_exports_of_others_go(tmp_path: Path) -> None:
    document = load()
    export(document, tmp_path, ["gradescope"])
    document["students"] = document["students"][:1]
    export(document, tmp_path, ["gradescope"])
    assert [path.name for path in (tmp_path / "gradescope").iterdir()] == ["ada.json"]


# ---- Tables ------------------------------------------------------------------------------------------------------


def imported(path: Path, *, keyed: str, delimiter: str = ",", encoding: str = "utf-8-sig") -> dict[str, Any]:
    """A table as its schema has it; rows without the column `keyed` are above the students in Canvas."""
    text = path.read_bytes().decode(encoding)
    heading, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    keyed_rows = [dict(zip(heading, row, strict=True)) for row in rows]
    if keyed != "ID":
        return {"heading": heading, "rows": keyed_rows}
    above = [row for row in keyed_rows if not row["ID"].strip()]
    return {"heading": heading, "above": above, "rows": [row for row in keyed_rows if row not in above]}


PLATFORMS = {
    "canvas": ("canvas-roster.csv", "ID", {}),
    "moodle": ("moodle-roster.csv", "Identifier", {}),
    "blackboard": ("blackboard-roster.xls", "Username", {"delimiter": "\t", "encoding": "utf-16"}),
}


@CLASSES
@pytest.mark.parametrize("name", PLATFORMS)
def test_what_a_platform_imports(document: dict[str, Any], name: str, tmp_path: Path) -> None:
    file, keyed, how = PLATFORMS[name]
    assignment = {"canvas": "Lab 1", "moodle": "", "blackboard": "Lab 1"}[name]
    (path,) = export(document, tmp_path, [name], DATA / file, assignment)
    before, after = (imported(one, keyed=keyed, **how) for one in (DATA / file, path))
    valid(name, before)  # the schema describes what the platform writes
    valid(name, after)
    assert [row[keyed] for row in after["rows"]] == [row[keyed] for row in before["rows"]]
    for row in after["rows"]:
        assert not [cell for cell in row.values() if cell.startswith(("=", "+", "@"))]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("canvas", "Gradebook, Export"),
        ("moodle", "Download grading worksheet"),
        ("blackboard", "Work Offline, Download"),
    ],
)
def test_without_a_roster_a_platform_is_refused(name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        export(load(), tmp_path, ["junit", name])
    assert not list(tmp_path.iterdir())


def test_excused_chapters(tmp_path: Path) -> None:
    document = load()
    ada = student(document, "ada")
    ada["chapters"][1] |= {"excused": True, "score": None}
    ada["score"] = {"earned": 10, "possible": 10}
    (path,) = export(document, tmp_path, ["canvas"], DATA / "canvas-roster.csv", "Lab 1")
    grades = {row[1]: (row[6], row[7]) for row in table(path)}
    assert grades["1000"] == ("100", "EX")  # of what counts for her, everything
    (path,) = export(document, tmp_path, ["moodle"], DATA / "moodle-roster.csv")
    assert {row[1]: row[9] for row in table(path)}["Ada Lovelace"] == "ch01 PASS 10/10; ch02 excused"
    export(document, tmp_path, ["gradescope", "autolab"])
    results = json.loads((tmp_path / "gradescope" / "ada.json").read_text())
    assert [test["number"] for test in results["tests"]] == ["1"] and results["score"] == 10


def test_blackboard_round_trip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    roster = DATA / "blackboard-roster.xls"
    (path,) = export(load(), tmp_path, ["blackboard"], roster, "Lab 1")
    assert path.name == "blackboard.xls" and path.read_bytes()[:2] == roster.read_bytes()[:2]
    rows = {
        row["Username"]: row
        for row in imported(path, keyed="Username", delimiter="\t", encoding="utf-16")["rows"]
    }
    lab, chapter = "Lab 1 [Total Pts: 100 Score] |4711", "ch02 Coalescing [Total Pts: 10 Score] |4712"
    assert (rows["ada"][lab], rows["ada"][chapter]) == ("100", "10")
    assert (rows["blaise"][lab], rows["blaise"][chapter]) == ("20", "0")
    assert rows["fibonacci"][lab] == "55.00", "INFRA leaves what is there"
    assert (rows["emmy"][lab], rows["emmy"][chapter]) == ("7.00", "8.00"), "not in the class"
    errors = capsys.readouterr().err
    assert "Charles Babbage is not in the roster" in errors
    assert f"column {lab!r} gets the totals" in errors and f"{chapter!r} gets the points of ch02" in errors
    with pytest.raises(
        UsageError, match=r"blackboard-roster.xls:1: no column is named 'Lab 9'.*There are: Lab 1"
    ):
        export(
            load() | {"course": load()["course"] | {"chapters": []}},
            tmp_path,
            ["blackboard"],
            roster,
            "Lab 9",
        )
    comma = tmp_path / "gc.csv"
    comma.write_text('"Username","ch01 [Total Pts: 5 Score] |9"\n"ada",""\n', "utf-8")
    (path,) = export(load(), tmp_path, ["blackboard"], comma)
    assert (
        path.name == "blackboard.csv"
        and path.read_text() == '"Username","ch01 [Total Pts: 5 Score] |9"\n"ada","5"\n'
    )


def test_canvas_round_trip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    roster = DATA / "canvas-roster.csv"
    document = load()
    student(document, "grace")["lms"] = dict.fromkeys(student(document, "grace")["lms"], "")
    (path,) = export(document, tmp_path, ["canvas"], roster, "Lab 1")
    before, after = table(roster), table(path)
    lab, chapter = 6, 7
    changed = {(y, x) for y, row in enumerate(after) for x, cell in enumerate(row) if cell != before[y][x]}
    grades = {row[1]: (row[lab], row[chapter]) for row in after}
    assert grades["1000"] == ("100", "10")  # of 50 points, where Canvas counts 100; of 20, where it counts 10
    assert grades["1001"] == ("20", "0")
    assert grades["1005"] == ("55.00", "0")  # INFRA leaves what is there; its ch02 is a REJECT
    assert grades["2006"] == ("0", "0")  # found by her address
    assert grades["3000"] == ("7.00", "8.00")  # not in the class
    assert {x for _, x in changed} <= {lab, chapter}
    errors = capsys.readouterr().err
    assert "Charles Babbage is not in the roster" in errors
    assert "Grace" not in errors
    assert "column 'Lab 1 (42)' gets the totals" in errors
    assert "column 'ch02 Coalescing (43)' gets the points of ch02" in errors and errors.count(" gets ") == 2


def test_canvas_roster_without_the_assignment(tmp_path: Path) -> None:
    text = (DATA / "canvas-roster.csv").read_text().replace("ch02 Coalescing (43)", "Lab 2 (43)")
    roster = tmp_path / "roster.csv"
    roster.write_text(text)
    with pytest.raises(
        UsageError, match=r"roster.csv:1: .*'Lab 9'.*Warm-up \(41\), Lab 1 \(42\), Lab 2 \(43\)"
    ):
        export(load(), tmp_path, ["canvas"], roster, "Lab 9")


def test_moodle_round_trip(tmp_path: Path) -> None:
    roster = DATA / "moodle-roster.csv"
    (path,) = export(load(), tmp_path, ["moodle"], roster)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")  # as it came
    before, after = table(roster), table(path)
    grades = {row[1].lstrip("'"): (row[4], row[9]) for row in after}
    assert grades["Ada Lovelace"] == ("100", "ch01 PASS 10/10; ch02 PASS 20/20")
    assert grades["Blaise Pascal"][0] == "20"  # Teilnehmer/in501 is Participant 501
    assert grades["=Évariste Galois"][0] == "0"  # found by the address
    assert "leads out of the archive" in grades["=Évariste Galois"][1]
    assert grades["Leonardo of Pisa"] == ("12.00", "kept")  # INFRA
    assert grades["Grace Hopper"] == ("33.00", "by hand")  # Moodle does not let it be changed
    assert grades["Emmy Noether"] == ("", "")
    kept = [x for x in range(10) if x not in (1, 4, 9)]
    assert [[row[x] for x in kept] for row in after] == [[row[x] for x in kept] for row in before]


def test_moodle_comments_say_what_was_set_by_hand(tmp_path: Path) -> None:
    document = load()
    (ada,) = [one for one in document["students"] if one["id"] == "ada"]
    by_hand = {"points": 7, "comment": "shown in the lab", "author": "Grace", "date": "2026-03-05"}
    ada["chapters"][1] |= {"verdict": "MISSING", "by_hand": by_hand, "score": 7}
    ada["chapters"][1]["points"]["earned"] = 0
    (path,) = export(document, tmp_path, ["moodle"], DATA / "moodle-roster.csv")
    comments = {row[1]: row[9] for row in table(path)}
    decided = "7 points (judged: 0), shown in the lab - Grace, 2026-03-05"
    assert comments["Ada Lovelace"] == f"ch01 PASS 10/10; ch02 MISSING, by hand: {decided}"


def test_moodle_headings_in_small_letters(tmp_path: Path) -> None:
    roster = tmp_path / "worksheet.csv"
    text = (DATA / "moodle-roster.csv").read_text("utf-8")
    roster.write_text(text.replace("Maximum Grade", "Maximum grade"), "utf-8")
    (path,) = export(load(), tmp_path, ["moodle"], roster)
    assert {row[1]: row[4] for row in table(path)}["Blaise Pascal"] == "20"
    assert table(path)[0][5] == "Maximum grade"


def test_moodle_worksheet_without_a_maximum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    roster = tmp_path / "worksheet.csv"
    roster.write_text(
        (DATA / "moodle-roster.csv").read_text("utf-8").replace("Maximum Grade", "Scale"), "utf-8"
    )
    (path,) = export(load(), tmp_path, ["moodle"], roster)
    assert {row[1]: row[4] for row in table(path)}["Ada Lovelace"] == "50"  # the course's points
    assert "has no Maximum Grade for 3 of the class" in capsys.readouterr().err


def test_moodle_worksheet_of_a_chapter(tmp_path: Path) -> None:
    (path,) = export(load(), tmp_path, ["moodle"], DATA / "moodle-roster.csv", "ch01")
    assert {row[1]: row[4] for row in table(path)}["Blaise Pascal"] == "100"
    with pytest.raises(UsageError, match="one of ch01, ch02"):
        export(load(), tmp_path, ["moodle"], DATA / "moodle-roster.csv", "ch09")


@CLASSES
def test_nbgrader(document: dict[str, Any], tmp_path: Path) -> None:
    (path,) = export(document, tmp_path, ["nbgrader"])
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))
    assert len(rows) == 2 * len(document["students"])
    for row in rows:
        assert list(row) == [
            "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
            "raw_score", "late_submission_penalty", "score", "max_score",
        ]  # fmt: skip
        if row["score"]:
            penalty = float(row["late_submission_penalty"])
            assert float(row["raw_score"]) - penalty == pytest.approx(float(row["score"]))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"Student,ID\n\xff\xfe,1\n", r"roster.csv:2: it is not UTF-8"),
        (b"Name,Mark\nAda,1\n", r"roster.csv:1: there is no column 'ID'; there are: Name, Mark"),
        (b"Student,ID\nAda,1,2,3\n", r"roster.csv:2: more cells"),
    ],
)
def test_a_roster_that_is_none(content: bytes, words: str, tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_bytes(content)
    with pytest.raises(UsageError, match=words):
        export(load(), tmp_path, ["canvas"], roster)


def test_a_roster_keeps_its_form(tmp_path: Path) -> None:
    text = '\ufeffStudent;ID;"a;b"\r\n"Lovelace, Ada";7;"two\nlines"\r\n'
    roster = tmp_path / "roster.csv"
    roster.write_bytes(text.encode())
    assert read_roster(roster).bytes() == text.replace('"Lovelace, Ada"', "Lovelace, Ada").encode()


def test_a_name_that_two_share_finds_nobody(tmp_path: Path) -> None:
    document = load()
    twin = copy.deepcopy(student(document, "ada"))
    twin |= {"id": "ada2", "email": "", "lms": dict.fromkeys(twin["lms"], "")}
    student(document, "ada")["lms"] = dict.fromkeys(twin["lms"], "")
    document["students"].append(twin)
    roster = tmp_path / "roster.csv"
    roster.write_text('Student,ID,Lab (1)\n"Lovelace, Ada",9,\n')
    (path,) = export(document, tmp_path, ["canvas"], roster, "Lab")
    assert table(path)[1] == ["Lovelace, Ada", "9", ""]


# ---- Spreadsheets ------------------------------------------------------------------------------------------------


@given(st.text(), st.sampled_from(["\n", "\r\n"]))
def test_no_cell_is_a_formula_and_none_is_lost(text: str, newline: str) -> None:
    written = csv_text([[defused(text), identifier(text), "end"]], newline=newline)
    (row,) = csv.reader(io.StringIO(written, newline=""))
    cell, name, end = row
    assert end == "end"
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert cell in (text.replace("\0", ""), "'" + text.replace("\0", ""))
    assert name == text or not name.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@pytest.mark.parametrize("text", ["-1.00", "ada", "Participant", "a.b@example.edu", "+4930", "@ada"])
def test_plain_ids_stay_as_they_are(text: str) -> None:
    assert identifier(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "=1",
        "=cmd|'/c calc'!A1",
        "+1+cmd|x",
        "@SUM(1)",
        "-2+3",
        " =1",
        "\t=1",
        "\uff1d1",
        "\uff20A1",
        "\u00a0=1",
    ],
)
def test_formulas_do_not(text: str) -> None:
    assert defused(text) == f"'{text}"
    assert identifier(text) == f"'{text}" or text == "-2+3"  # which is a number at most


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(name="\r", message="\r")
@given(name=st.text(max_size=30), message=st.text(max_size=60))
def test_any_text_goes_through_every_format(name: str, message: str, tmp_path: Path) -> None:
    document = load()
    document["students"] = [student(document, "blaise")]
    document["students"][0]["name"] = name.encode("utf-8", "replace").decode()
    document["students"][0]["chapters"][1]["message"] = message.encode("utf-8", "replace").decode()
    for path in export(document, tmp_path, []):
        path.read_text("utf-8")
    valid("gradescope", json.loads((tmp_path / "gradescope" / "blaise.json").read_text("utf-8")))
    valid("junit", as_json(ElementTree.fromstring((tmp_path / "junit.xml").read_text("utf-8"))))


# ---- The command -------------------------------------------------------------------------------------------------


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "grader", "exports", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_command(tmp_path: Path) -> None:
    done = run(CLASS.parent, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path}/out/gradescope: 6 files" in done.stdout
    assert "no score, not judged whole: Leonardo of Pisa; make class again" in done.stderr
    written = {path.relative_to(tmp_path / "out").parts[0] for path in (tmp_path / "out").rglob("*.*")}
    assert written == {
        "gradescope", "autolab", "classroom50", "check50", "junit.xml", "nbgrader",
    }  # fmt: skip
    assert len(written) == len(FORMATS) - 3
    assert "not written: canvas, moodle, blackboard: each needs" in done.stderr
    again = run(CLASS, "--format", "junit,nbgrader", "--out", tmp_path / "again", "--json")
    names = [Path(path).name for path in json.loads(again.stdout)["written"]]
    assert names == ["junit.xml", "grades.csv"]
    assert (tmp_path / "again" / "junit.xml").read_bytes() == (tmp_path / "out" / "junit.xml").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/nowhere"], "there is no graded class in /nowhere"),
        ([CLASS, "--format", "excel"], "there is no format 'excel'; there are: gradescope, autolab"),
        ([CLASS, "--format", "canvas,moodle", "--roster", "x.csv"], "a roster needs one format"),
        ([ROOT / "docs" / "result.schema.json"], 'it has no "schema": "warpbook/class/2"'),
        ([ROOT / "README.md"], "is not a class.json"),
    ],
)
def test_wrong_usage(arguments: list[object], words: str, tmp_path: Path) -> None:
    done = run(*arguments, "--out", tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
