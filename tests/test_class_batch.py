"""A class from end to end: interrupted at any moment and resumed, and never stopped by one submission."""

import contextlib
import copy
import csv
import dataclasses
import fcntl
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
import unicodedata
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

sys.path.insert(0, str(Path(__file__).parent / "class"))

import fake_class
from conftest import one_of_the_long

from grader.classroom import journal
from grader.classroom.exports.command import read_class
from grader.classroom.journal import InvalidEntryError, read_entry
from grader.classroom.judgement import JudgeSettings
from grader.classroom.tasks import Task, read_tasks, write_tasks
from grader.classroom.views import remarks
from grader.core.errors import UsageError
from grader.core.receipts import receipt_of
from grader.core.result import parse_result
from grader.core.workbook import Workbook
from grader.learner.restart import skeleton_of

ROOT = Path(__file__).resolve().parents[1]
FAKE = ROOT / "tests" / "class" / "fake_class.py"

COURSE = """\
title = "Seven students"
chapters = ["ch01", "ch02", "ch03"]
due = 2026-11-20T23:59:00+01:00
secret = "sixteen characters and more"
own_sizes = 2
roster = "roster.csv"

[late]
factor_a_day = 0.9

[chapter.ch02]
points = 20
weight = 2
"""
ROSTER = "id,name,received\nada,Ada,2026-11-19T00:00:00Z\nbob,Bob,2026-11-22T00:00:00Z\ncy,Cy,\nzoe,Zoe,\n"


@dataclass(frozen=True)
class Graded:
    returncode: int
    stdout: str
    stderr: str


class Class:
    """A folder of submissions, and ways to grade it with the judge of fake_class.py."""

    def __init__(self, folder: Path, course: str = COURSE) -> None:
        self.folder = folder
        self.submissions = folder / "submissions"
        self.submissions.mkdir()
        self.course = folder / "course.toml"
        self.course.write_text(course)
        (folder / "roster.csv").write_text(ROSTER)

    def enrol(self, student: str) -> None:
        roster = self.folder / "roster.csv"
        if f"\n{student}," not in roster.read_text():
            roster.write_text(f"{roster.read_text()}{student},,\n")

    def hand_in(self, student: str, **kernels: str) -> None:
        self.enrol(student)
        for chapter, first_line in kernels.items():
            path = self.submissions / student / f"{chapter}_x" / "kernel.cu"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"// {first_line}\n")

    def arguments(self, out: str = "graded", *more: str) -> list[str]:
        return [str(self.submissions), "--out", str(self.folder / out), "--course", str(self.course), *more]

    def start(self, out: str = "graded", *more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, FAKE, *self.arguments(out, *more)],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def grade(self, out: str = "graded", *more: str) -> Graded:
        """In this process: starting Python is what takes longest."""
        told, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(said):
            status = fake_class.main(self.arguments(out, *more))
        return Graded(status, told.getvalue(), said.getvalue())

    def document(self, out: str = "graded") -> dict[str, Any]:
        return json.loads((self.folder / out / "class.json").read_text("utf-8"))

    def judged(self) -> list[str]:
        log = self.folder / "judged.log"
        return log.read_text("ascii").splitlines() if log.exists() else []


@pytest.fixture
def small(tmp_path: Path) -> Class:
    made = Class(tmp_path)
    made.hand_in("ada", ch01="PASS", ch02="SLOW", ch03="PASS")
    made.hand_in("bob", ch01="WRONG", ch02="PASS")
    made.hand_in("cy", ch02="WRONG")
    return made


def timeless(document: dict[str, Any]) -> dict[str, Any]:
    """A class.json without what may change from run to run."""
    kept = {name: value for name, value in document.items() if name != "times"}
    for student in kept["students"]:
        del student["seconds"]
        for chapter in student["chapters"]:
            if chapter["result"]:
                del chapter["result"]["times"], chapter["result"]["build"]
    return kept


def test_a_class(small: Class) -> None:
    done = small.grade()
    assert done.returncode == 0, done.stderr
    assert "3 of 4 handed in" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if "gradebook:" not in line)
    document = small.document()
    schema = json.loads((ROOT / "docs" / "class.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
    students = {student["id"]: student for student in document["students"]}
    verdicts = {name: [one["verdict"] for one in student["chapters"]] for name, student in students.items()}
    assert verdicts == {
        "ada": ["PASS", "SLOW", "PASS"],
        "bob": ["WRONG", "PASS", "MISSING"],
        "cy": ["MISSING", "WRONG", "MISSING"],
        "zoe": ["MISSING", "MISSING", "MISSING"],
    }
    # ch02 is worth 20 points, twice; bob was a day and some hours late.
    assert students["bob"]["submission"]["days_late"] == 2
    assert students["bob"]["score"] == {"earned": round(0.81 * 20 * 2, 2), "possible": 60}
    assert students["ada"]["chapters"][1]["points"]["possible"] == 20
    assert (small.folder / "graded" / "gradebook.csv").read_text("utf-8").count("\n") == 5
    for student in students.values():
        for one in student["chapters"]:
            assert not one["kernel"] or (small.folder / "graded" / one["kernel"]).is_file()
            assert one["result"] is None or one["result"]["options"]["kernel"] == one["kernel"]
    assert not (small.folder / "graded" / "work").exists()
    assert not document["course"]["trusted"] and "sandbox" not in done.stdout


def test_what_is_missing_says_why(small: Class) -> None:
    small.enrol("dan")
    (small.submissions / "dan").mkdir()
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("ch01.cu", "// PASS\n")
    with zipfile.ZipFile(small.submissions / "dan" / "all.zip", "w") as archive:
        archive.writestr("hw/mine.zip", inner.getvalue())
    assert small.grade().returncode == 0
    dan = next(student for student in small.document()["students"] if student["id"] == "dan")
    assert {one["verdict"] for one in dan["chapters"]} == {"MISSING"}
    words = "all.zip/hw/mine.zip is an archive in an archive, and not opened"
    assert all(one["message"].startswith(words) for one in dan["chapters"])
    assert words in (small.folder / "graded" / "feedback" / "dan.html").read_text("utf-8")


def test_a_skeleton_that_nobody_changed_earns_nothing(small: Class) -> None:
    """Nor does it replace what was handed in before; one that is correct and slow would have points."""
    workbook = Workbook(ROOT)
    skeletons = {one.name: skeleton_of(workbook, one) for one in workbook.select(["ch01", "ch02", "ch03"])}
    for student in ("ada-2", "dan"):
        for chapter, text in skeletons.items():
            path = small.submissions / student / f"{chapter}.cu"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"// {student}\n{text}", "utf-8")
    small.enrol("dan")
    assert small.grade().returncode == 0
    students = {student["id"]: student for student in small.document()["students"]}
    dan = students["dan"]
    assert {one["verdict"] for one in dan["chapters"]} == {"MISSING"} and dan["score"]["earned"] == 0
    assert [one["message"] for one in dan["chapters"]] == [
        f"{chapter}.cu is the skeleton, unchanged" for chapter in skeletons
    ]
    assert "ch03.cu is the skeleton" in (small.folder / "graded" / "feedback" / "dan.html").read_text("utf-8")
    assert [one["verdict"] for one in students["ada"]["chapters"]] == ["PASS", "SLOW", "PASS"]
    assert not [line for line in small.judged() if line.startswith("dan")]


def test_a_later_submission_that_cannot_be_opened_is_named(small: Class) -> None:
    """It replaces nothing, and the student has to know."""
    (small.submissions / "bob-2.zip").write_bytes(b"PK\3\4 cut short")
    (small.submissions / "cy-2").mkdir()
    (small.submissions / "cy-2" / "program.cu").write_text("// PASS\n")
    done = small.grade()
    bob = "bob-2.zip is not counted: it is damaged, cut short or no zip or tar archive"
    cy = "cy-2 is not counted: nothing says which chapter program.cu belongs to"
    assert f"bob: {bob}" in " ".join(done.stdout.split()) and f"cy: {cy}" in " ".join(done.stdout.split())
    with open(small.folder / "graded" / "gradebook.csv", encoding="utf-8", newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert rows["bob"]["trouble"].startswith(bob) and rows["cy"]["trouble"].startswith(cy)
    assert rows["ada"]["trouble"] == rows["zoe"]["trouble"] == ""
    assert rows["bob"]["ch02 verdict"] == "PASS" and rows["cy"]["ch02 verdict"] == "WRONG"
    for student, words in (("bob", bob), ("cy", cy)):
        assert words in (small.folder / "graded" / "feedback" / f"{student}.html").read_text("utf-8")
    document = small.document()
    for one in document["students"]:
        said = [remarks.short_text(document, one), remarks.whole_text(document, one)]
        assert all((bob in text) == (one["id"] == "bob") for text in said)


HOSTILE_NAMES = ["=cmd|'calc'!A1", "\x1b]0;x\x07\x1b[2J", "\u202egnp", "<script>alert(1)</script>", "\uff1d1+1",
                 "[red]", "[bold]", "{{ 7 * 7 }}", "-o", "%s%n", "a\nb", "n" * 250, "\udcff", "'\"$(id)`"]  # fmt: skip


def test_names_that_no_student_has(small: Class) -> None:
    """Nothing printed acts on a terminal, and no page, cell or path is anything but what it should be."""
    small.course.write_text(COURSE.replace('roster = "roster.csv"\n', ""))
    for name in HOSTILE_NAMES:
        place = small.submissions / name.replace("/", "|")
        place.mkdir()
        (place / "ch01.cu").write_text("// INFRA\n" if name == "[red]" else "// WRONG\n")
        (place / "ch02.cu").symlink_to("/etc/passwd")
    (small.submissions / "[red]\x1b[2J").write_text("ignored")
    done = small.grade()
    assert done.returncode == 3
    for text in (done.stdout, done.stderr):
        assert all(c.isprintable() or c == "\n" for c in text)
    assert "ignored: [red]\\x1b[2J" in done.stderr
    students = small.document()["students"]
    assert len(students) == len({student["id"] for student in students}) == 3 + len(HOSTILE_NAMES)
    with open(small.folder / "graded" / "gradebook.csv", encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [
        cell for cell in cells if unicodedata.normalize("NFKC", cell).startswith(("=", "+", "-", "@"))
    ]
    pages = list((small.folder / "graded").rglob("*.html"))
    assert len(pages) == 2 + 3 + len(students)  # the class, what is alike, three lessons
    for page in pages:
        text = page.read_text("utf-8")
        assert (
            text.count("<script") == (page.name == "class.html")
            and "\x1b" not in text
            and "\u202e" not in text
        )
    names = {path.name for path in (small.folder / "graded" / "kernels").iterdir()}
    assert all(name.isascii() and not name.startswith(("-", ".")) for name in names)


def test_trust_is_written_down(small: Class) -> None:
    done = small.grade("graded", "--trust")
    assert small.document()["course"]["trusted"] and "kernels were compiled without a sandbox" in done.stdout
    small.grade()
    assert not small.document()["course"]["trusted"]
    assert len(small.judged()) == 12  # a judgement without the sandbox is none with it


def test_every_student_is_judged_with_their_own_numbers(small: Class) -> None:
    small.grade()
    own = [line.split(" ", 2)[2] for line in small.judged()]
    assert len(own) == len(set(own)) == 6


def test_what_is_done_is_not_done_again(small: Class) -> None:
    small.grade()
    first = timeless(small.document())
    assert small.grade().returncode == 0
    assert timeless(small.document()) == first
    assert len(small.judged()) == 6
    small.hand_in("cy", ch02="PASS")
    small.grade()
    assert len(small.judged()) == 7 and small.judged()[-1].startswith("cy ch02")
    small.course.write_text(COURSE.replace("weight = 2", "weight = 3"))
    small.grade()
    assert len(small.judged()) == 7  # weights are counted again, kernels are not judged again
    small.course.write_text(COURSE.replace("sixteen characters", "other characters"))
    small.grade()
    assert len(small.judged()) == 13
    small.grade("graded", "--fresh")
    assert len(small.judged()) == 19


def test_a_kernel_that_is_taken_back_is_gone(small: Class) -> None:
    small.grade()
    (small.submissions / "bob" / "ch02_x" / "kernel.cu").unlink()
    small.grade()
    bob = next(student for student in small.document()["students"] if student["id"] == "bob")
    assert [one["verdict"] for one in bob["chapters"]] == ["WRONG", "MISSING", "MISSING"]
    assert not (small.folder / "graded" / "kernels" / "bob" / "ch02").exists()


def test_the_same_kernel_is_judged_once_where_no_student_has_a_secret(tmp_path: Path) -> None:
    made = Class(tmp_path, 'title = "No secret"\nchapters = ["ch01"]\n')
    for student in ("ada", "bob", "cy"):
        made.hand_in(student, ch01="WRONG")
    made.hand_in("dan", ch01="PASS")
    assert made.grade().returncode == 0
    assert len(made.judged()) == 2
    verdicts = [student["chapters"][0]["verdict"] for student in made.document()["students"]]
    assert verdicts == ["WRONG", "WRONG", "WRONG", "PASS"]
    made.hand_in("eve", ch01="PASS")
    made.grade()
    assert len(made.judged()) == 2


def test_one_that_breaks_stops_nobody(small: Class) -> None:
    small.hand_in("cy", ch01="CRASH", ch03="INFRA")
    small.enrol("dan")
    (small.submissions / "dan.zip").write_bytes(b"no archive")
    done = small.grade()
    assert done.returncode == 3, done.stderr
    assert "cy ch01: not graded: an error in Warpbook itself (ZeroDivisionError" in " ".join(
        done.stdout.split()
    )
    students = {student["id"]: student for student in small.document()["students"]}
    cy = students["cy"]
    assert [one["verdict"] for one in cy["chapters"]] == ["INFRA", "WRONG", "INFRA"]
    assert [one["score"] for one in cy["chapters"]] == [None, 0, None]
    assert cy["score"]["earned"] is None
    assert students["dan"]["trouble"]["verdict"] == "REJECT" and students["dan"]["score"]["earned"] == 0
    assert students["ada"]["score"]["earned"] is not None
    small.hand_in("cy", ch01="PASS")
    small.grade()
    assert sorted(line.split()[:2] for line in small.judged()[-3:]) == [
        ["cy", "ch01"],
        ["cy", "ch03"],
        ["cy", "ch03"],
    ]


def test_what_was_ill_for_a_moment_is_judged_again(small: Class) -> None:
    small.hand_in("cy", ch01="ONCE")
    assert small.grade().returncode == 0
    cy = next(student for student in small.document()["students"] if student["id"] == "cy")
    assert cy["chapters"][0]["verdict"] == "PASS"
    small.hand_in("dan", **{f"ch0{n}": "INFRA" for n in (1, 2, 3)})
    small.hand_in("eve", ch01="INFRA")
    before = len(small.judged())
    assert small.grade().returncode == 3
    assert len(small.judged()) == before + 4  # this many are not an accident


def test_receipts_are_compared_and_earn_nothing(small: Class) -> None:
    small.grade()
    ada = next(student for student in small.document()["students"] if student["id"] == "ada")
    kept = ada["chapters"][0]
    assert kept["receipt"] is None
    result = parse_result(json.dumps(kept["result"]).encode(), "ch01", 0.0)
    receipts = small.submissions / "ada" / "receipts"
    receipts.mkdir()
    (receipts / "ch01.json").write_text(json.dumps(receipt_of(result, kept["kernel_sha256"])))
    (receipts / "ch02.json").write_text('{"points": 1000}')
    (receipts / "ch03.json").write_text(json.dumps(receipt_of(result, "0" * 64) | {"chapter": "ch03"}))
    small.grade()
    compared = next(student for student in small.document()["students"] if student["id"] == "ada")
    assert compared["score"] == ada["score"]
    first, second, third = (one["receipt"] for one in compared["chapters"])
    assert first["agrees"] and not first["differences"] and first["claims"]["verdict"] == "PASS"
    assert not second["agrees"] and "the receipt cannot be read" in second["differences"][0]
    assert not third["agrees"] and "different kernel.cu" in third["differences"][0]


# ---- A term ----------------------------------------------------------------------------------------------------


def students(made: Class, out: str = "graded") -> dict[str, dict[str, Any]]:
    return {student["id"]: student for student in made.document(out)["students"]}


def put(made: Class, name: str, **kernels: str) -> None:
    """A submission under any name, of somebody who may not be in the roster."""
    for chapter, first_line in kernels.items():
        path = made.submissions / name / f"{chapter}_x" / "kernel.cu"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"// {first_line}\n")


def valid(document: dict[str, Any]) -> None:
    schema = json.loads((ROOT / "docs" / "class.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)


def test_resubmissions_groups_and_strangers(small: Class) -> None:
    put(small, "bob-2", ch01="PASS")
    put(small, "cy_zoe", ch03="PASS")
    put(small, "mallory", ch01="PASS")
    done = small.grade()
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "4 of 4 handed in" in said
    assert "1 submission of nobody in the roster, not graded: mallory: nobody in the roster" in said
    valid(small.document())
    found = students(small)
    assert sorted(found) == ["ada", "bob", "cy", "zoe"]
    bob, cy, zoe = found["bob"], found["cy"], found["zoe"]
    # Chapter by chapter: the second submission replaces ch01 only.
    assert [one["verdict"] for one in bob["chapters"]] == ["PASS", "PASS", "MISSING"]
    first, second, _ = bob["chapters"]
    assert (first["of"], first["chosen_as"], bob["submissions"][first["submission"]]["name"]) == (
        2,
        "latest",
        "bob-2",
    )
    assert (second["of"], second["chosen_as"]) == (1, "")
    assert zoe["chapters"][2]["verdict"] == cy["chapters"][2]["verdict"] == "PASS"
    assert zoe["submissions"][0]["with"] == ["cy"]
    assert not [pair for pair in small.document()["similar"] if set(pair["students"]) == {"cy", "zoe"}]
    text = (small.folder / "graded" / "gradebook.csv").read_text("utf-8")
    assert len(text.splitlines()) == 5 + 3 and "mallory,nobody in the roster has this name" in text
    assert "bob-2, received 2026-11-22T00:00:00+00:00: the latest of 2" in text


@pytest.mark.parametrize(
    ("choose", "verdict", "judged"), [("first", "WRONG", 1), ("best", "PASS", 3), ("latest", "SLOW", 1)]
)
def test_which_of_several_counts(tmp_path: Path, choose: str, verdict: str, judged: int) -> None:
    made = Class(tmp_path, f'title = "T"\nchapters = ["ch01"]\nchoose = "{choose}"\nroster = "roster.csv"\n')
    for name, line in (("bob", "WRONG"), ("bob-2", "PASS"), ("bob-3", "SLOW")):
        put(made, name, ch01=line)
    assert made.grade().returncode == 0
    (one,) = students(made)["bob"]["chapters"]
    assert (one["verdict"], one["of"], one["chosen_as"]) == (verdict, 3, choose)
    assert (made.folder / "graded" / one["kernel"]).read_text() == f"// {verdict}\n"
    assert len(made.judged()) == judged
    valid(made.document())
    first = timeless(made.document())
    made.grade()
    assert timeless(made.document()) == first and len(made.judged()) == judged
    (made.submissions / "bob-2" / "ch01_x" / "kernel.cu").unlink()
    (made.submissions / "bob-3" / "ch01_x" / "kernel.cu").unlink()
    made.grade()
    (one,) = students(made)["bob"]["chapters"]
    assert (one["verdict"], one["of"], one["kernel"]) == ("WRONG", 1, "kernels/bob/ch01/kernel.cu")
    kept = [path.parent.name for path in (made.folder / "graded" / "kernels").rglob("kernel.cu")]
    assert kept == ["ch01"]


def test_a_broken_resubmission_takes_nothing_away(small: Class) -> None:
    (small.submissions / "bob-2.zip").write_bytes(b"no archive")
    assert small.grade().returncode == 0
    bob = students(small)["bob"]
    assert bob["trouble"] is None and bob["chapters"][1]["verdict"] == "PASS"
    assert [one["trouble"] and one["trouble"]["verdict"] for one in bob["submissions"]] == [None, "REJECT"]
    valid(small.document())


CASES = """
[grade]
cut_offs = { A = 90, B = 50 }
below = "C"

[student.bob]
extension_days = 3
excused = ["ch03"]

[student.cy.chapter.ch01]
points = 6
comment = "shown in the lab"
author = "Grace"
date = 2026-11-25
"""


def test_individual_cases(small: Class) -> None:
    small.course.write_text(COURSE + CASES)
    small.grade()
    found = students(small)
    bob, cy = found["bob"], found["cy"]
    assert [one["factor"] for one in bob["chapters"]] == [1, 1, 1]
    assert bob["chapters"][1]["due"] == "2026-11-23T23:59:00+01:00"
    assert bob["score"] == {"earned": 40, "possible": 50} and bob["grade"] == {
        "percent": 80, "curved": 80, "letter": "B",
    }  # fmt: skip
    assert (cy["chapters"][0]["score"], cy["chapters"][0]["points"]["earned"]) == (6, 0)
    assert cy["chapters"][0]["by_hand"]["author"] == "Grace"
    page = (small.folder / "graded" / "feedback" / "cy.html").read_text("utf-8")
    assert "6 points (judged: 0), shown in the lab - Grace, 2026-11-25" in page
    valid(small.document())


def test_one_student_is_graded_and_the_rest_stays(small: Class) -> None:
    assert small.grade("graded", "--student", "cy").returncode == 2
    small.grade()
    before = students(small)
    small.hand_in("cy", ch01="PASS")
    small.hand_in("ada", ch01="WRONG")
    small.course.write_text(COURSE.replace("factor_a_day = 0.9", "factor_a_day = 0.5"))
    done = small.grade("graded", "--student", "Cy")
    assert done.returncode == 0, done.stderr
    after = students(small)
    assert after["cy"]["chapters"][0]["verdict"] == "PASS"
    assert {name: after[name] for name in after if name != "cy"} == {
        name: before[name] for name in before if name != "cy"
    }
    assert "cy ch01: 0 MISSING -> 10 PASS" in done.stdout and "ada" not in done.stdout
    assert "do you mean" in small.grade("graded", "--student", "addaa").stderr
    small.grade()
    assert students(small)["ada"]["chapters"][0]["verdict"] == "WRONG"


def test_one_chapter_is_graded_and_the_rest_stays(small: Class) -> None:
    small.grade()
    small.hand_in("ada", ch01="WRONG", ch02="PASS")
    small.grade("graded", "--only", "ch02")
    assert [one["verdict"] for one in students(small)["ada"]["chapters"]] == ["PASS", "PASS", "PASS"]
    small.grade()
    assert [one["verdict"] for one in students(small)["ada"]["chapters"]] == ["WRONG", "PASS", "PASS"]
    assert small.grade("graded", "--only", "ch04").returncode == 2
    valid(small.document())


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "what-if" not in path.parts
    }


def test_what_if_changes_nothing(small: Class) -> None:
    small.grade()
    graded = small.folder / "graded"
    before, judged = everything(graded), len(small.judged())
    small.hand_in("cy", ch01="PASS", ch02="PASS")
    done = small.grade("graded", "--what-if")
    assert done.returncode == 0, done.stderr
    assert everything(graded) == before
    assert len(small.judged()) == judged + 2
    said = done.stdout
    for line in ("cy ch01: 0 MISSING -> 10 PASS", "cy ch02: 0 WRONG -> 20 PASS", "cy total: 0/60 -> 50/60"):
        assert line in said
    assert "bob" not in said and "nothing was written" in said
    done = small.grade()
    assert len(small.judged()) == judged + 2, "the trial's judgements are taken"
    assert students(small)["cy"]["score"]["earned"] == 50
    assert not (graded / "what-if").exists()
    assert "no grade changes" in small.grade("graded", "--what-if").stdout


def test_what_if_lists_who_is_in_no_roster(small: Class) -> None:
    small.hand_in("zoltan", ch01="PASS")
    (small.folder / "roster.csv").write_text(ROSTER)
    said = small.grade("graded", "--what-if").stdout
    assert "zoltan: nobody in the roster has this name" in said and '"zoltan" = "' in said


def test_the_history_grows_when_a_grade_changes(small: Class) -> None:
    def lines() -> list[dict[str, Any]]:
        text = (small.folder / "graded" / "history.jsonl").read_text("utf-8")
        return [json.loads(line) for line in text.splitlines()]

    small.grade()
    small.grade()
    assert len(lines()) == 1
    small.hand_in("cy", ch02="PASS")
    small.grade()
    assert [line["students"]["cy"] for line in lines()] == [0, 40]
    assert [line["chapters"]["ch02"]["passed"] for line in lines()] == [1, 2]


# ---- Interrupted -----------------------------------------------------------------------------------------------


@pytest.fixture
def slow(tmp_path: Path) -> Class:
    made = Class(tmp_path)
    dice = random.Random(3)
    for number in range(8):
        verdicts = dice.choices(["PASS", "WRONG", "SLOW", "OOB", "REJECT"], k=3)
        known = {"OOB": "WRONG"}
        made.hand_in(
            f"s{number}",
            **{f"ch0{n}": f"{known.get(verdict, verdict)} 0.05" for n, verdict in enumerate(verdicts, 1)},
        )
    return made


def test_killed_at_any_moment_and_taken_up_again(slow: Class) -> None:
    begun = time.monotonic()
    whole = slow.start("whole")
    whole.communicate(timeout=120)
    assert whole.returncode == 0
    lasted = time.monotonic() - begun
    dice = random.Random()
    for _ in range(5):
        process = slow.start("killed")
        try:
            process.wait(dice.uniform(0.3, 1) * lasted)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
    done = slow.grade("killed")
    assert done.returncode == 0, done.stderr
    first, killed = slow.folder / "whole", slow.folder / "killed"
    assert (killed / "gradebook.csv").read_bytes() == (first / "gradebook.csv").read_bytes()
    assert timeless(slow.document("killed")) == timeless(slow.document("whole"))
    names = [sorted(str(path.relative_to(top)) for path in top.rglob("*")) for top in (first, killed)]
    assert names[1] == names[0]


def test_half_an_entry_is_no_entry(small: Class) -> None:
    """What no run of ours leaves, but a full disk or a hand might."""
    small.grade()
    first = timeless(small.document())
    journal = small.folder / "graded" / "journal"
    entries = sorted(journal.rglob("*.json"))
    entries[0].write_text(entries[0].read_text("utf-8")[:100])
    entries[1].write_bytes(b"\xff\xfe")
    entries[2].write_text("[]")
    entries[3].unlink()
    entries[3].mkdir()
    done = small.grade()
    assert done.returncode == 3  # a folder is in the place of the entry
    entries[3].rmdir()
    assert small.grade().returncode == 0
    assert timeless(small.document()) == first


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(slow: Class, number: signal.Signals) -> None:
    process = slow.start("graded", "--jobs", "1")
    until = time.monotonic() + 60
    while len(slow.judged()) < 3 and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "of 24 kernels are judged and kept; the same command resumes from there" in said
    assert not (slow.folder / "graded" / "class.json").exists()
    before = len(slow.judged())
    assert before < 24
    assert slow.grade().returncode == 0
    assert 24 <= len(slow.judged()) <= 26  # those that ran when it was interrupted are judged again


# ---- The folder it goes to -------------------------------------------------------------------------------------


def test_folders_that_are_refused(small: Class) -> None:
    def refused(*words: str, **named: str) -> str:
        done = small.grade(*words, **named)
        assert done.returncode == 2 and not done.stdout, done
        return " ".join(done.stderr.split())

    assert "is inside the submissions" in refused("submissions/graded")
    assert "is inside the submissions" in refused("submissions")
    assert "submissions are inside the output folder" in refused(".")
    (small.folder / "full").mkdir()
    (small.folder / "full" / "thesis.tex").touch()
    assert "has other contents" in refused("full")
    (small.folder / "link").symlink_to(small.submissions)
    assert "is inside the submissions" in refused("link")
    small.grade()
    small.course.write_text(COURSE.replace("Seven students", "Another course"))
    assert 'belongs to another course, "Seven students"' in refused("graded")
    (small.folder / "graded" / "course.json").write_text("{}")
    assert "was not written by a graded class" in refused("graded")
    assert sorted(path.name for path in small.submissions.iterdir()) == ["ada", "bob", "cy"]


def test_one_run_at_a_time(small: Class) -> None:
    small.grade()
    with open(small.folder / "graded" / "course.json", "rb+") as mark:
        fcntl.flock(mark, fcntl.LOCK_EX)
        done = small.grade()
    assert done.returncode == 2 and "another run is grading into" in done.stderr


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--engine", "abacus"], "--engine must be local or slurm"),
        (["--device", "toaster"], "--device must be auto, emulator or gpu"),
        (["--", "ch99"], "there is no chapter ch99"),
        (["--", "ch05"], "the course has no such chapter; it has ch01 ch02 ch03"),
    ],
)
def test_wrong_usage(small: Class, more: list[str], words: str) -> None:
    done = small.grade("graded", *more)
    assert done.returncode == 2 and words in done.stderr
    assert not (small.folder / "graded").exists()


def test_make_class_wants_submissions() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(["make", "class"], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 2 and "make class SUBMISSIONS=folder" in done.stderr


# ---- What a cluster's job runs ---------------------------------------------------------------------------------


@pytest.fixture
def tasks(small: Class) -> list[Task]:
    """Those of a class, as a file beside it."""
    made = []
    for number, verdict in enumerate(("PASS", "INFRA", "WRONG"), 1):
        source = small.folder / "kernels" / "ada" / f"ch0{number}" / "kernel.cu"
        source.parent.mkdir(parents=True)
        source.write_text(f"// {verdict}\n")
        out = small.folder / "graded"
        settings = JudgeSettings(secret=f"sixteen-characters-{number}", sizes=(5, number), time_limit=7)
        entry = out / "journal" / "ada" / f"ch0{number}.json"
        made.append(
            Task("ada", f"ch0{number}", source, out / "work" / f"{number}", entry, f"key{number}", settings)
        )
    write_tasks(small.folder / "tasks.json", made)
    return made


def test_tasks_of_a_file(small: Class, tasks: list[Task]) -> None:
    file = str(small.folder / "tasks.json")
    assert read_tasks(small.folder / "tasks.json") == tasks
    assert fake_class.main(["--tasks", file]) == 0
    kept = [read_entry(task) for task in tasks]
    assert [judgement and judgement.verdict for judgement in kept] == ["PASS", "INFRA", "WRONG"]
    assert read_entry(dataclasses.replace(tasks[0], key="another")) is None
    assert list((small.folder / "graded" / "work").iterdir()) == []
    assert fake_class.main(["--tasks", file]) == 0
    assert [line.split()[1] for line in small.judged()] == ["ch01", "ch02", "ch03", "ch02"]


def test_tasks_that_are_ended(small: Class, tasks: list[Task]) -> None:
    tasks[2].source.write_text("// WRONG 60\n")
    command = [sys.executable, FAKE, "--tasks", small.folder / "tasks.json"]
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)})
    until = time.monotonic() + 60
    while len(small.judged()) < 3 and time.monotonic() < until:
        time.sleep(0.02)
    process.terminate()
    assert process.wait(timeout=60) == 130
    assert read_entry(tasks[0]) is not None and read_entry(tasks[2]) is None
    assert list((small.folder / "graded" / "work").iterdir()) == []


@pytest.mark.parametrize("content", ["", "{}", '{"tasks": [{}]}', "[1]"])
def test_no_tasks(tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tasks.json").write_text(content)
    assert fake_class.main(["--tasks", str(tmp_path / "tasks.json")]) == 3
    assert "tasks.json" in capsys.readouterr().err


# ---- The real judge --------------------------------------------------------------------------------------------


@pytest.mark.slow
@one_of_the_long("a class")
def test_a_made_up_class_of_eight(built: Path, tmp_path: Path) -> None:
    """Every verdict as declared, nothing else touched, nobody left running; killed once on the way."""
    command = [sys.executable, ROOT / "tests" / "class" / "drill.py", "--students", "8", "--kills", "1"]
    done = subprocess.run(
        [*command, "--folder", tmp_path / "drill", "--only"], capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 problems" in done.stdout


# ---- Entries that no run wrote -----------------------------------------------------------------------------------


def reseal(entry: dict[str, Any]) -> None:
    """As somebody would who knows how entries are written."""
    entry.pop("seal", None)
    entry["seal"] = journal._seal(entry)


def forged(entry: dict[str, Any], *path: str | int, value: object) -> dict[str, Any]:
    """The entry with one value replaced, and a seal that fits."""
    made = copy.deepcopy(entry)
    place: Any = made
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    reseal(made)
    return made


FORGED: dict[str, tuple[tuple[str | int, ...], object]] = {
    "99 of 10 points": (("document", "points", "earned"), 99),
    "negative points": (("document", "points", "earned"), -1),
    "points as text": (("document", "points", "earned"), "10"),
    "points by truth": (("document", "points", "earned"), True),
    "points that the goals do not add up to": (("document", "points", "earned"), 10),
    "no points": (("document", "points"), None),
    "a verdict with markup": (("document", "verdict"), "<b>WOW"),
    "PASS with a failed case": (("document", "verdict"), "PASS"),
    "SLOW without a missed goal": (("document", "verdict"), "SLOW"),
    "an empty document": (("document",), {}),
    "a goal that is text": (("document", "goals"), ["met"]),
    "goals that are an object": (("document", "goals"), {"met": True}),
    "a goal worth more than it is": (("document", "goals"), [{"state": "met", "earned": 5, "points": 1}]),
    "a goal without points": (("document", "goals"), [{"state": "met"}]),
    "a case with no such verdict": (("document", "cases"), [{"verdict": "GOOD"}]),
    "the hash of another kernel": (("kernel_sha256",), "0" * 64),
    "a document about another kernel": (("document", "build", "source_sha256"), "0" * 64),
    "a document about another chapter": (("document", "chapter"), "ch02"),
    "a document of another version": (("document", "schema"), "warpbook/result/2"),
    "another secret": (("document", "options", "secret"), "0" * 64),
    "a seed": (("document", "options", "seed"), 1),
    "fewer sizes": (("document", "options", "also"), []),
    "no options": (("document", "options"), None),
    "no seconds": (("seconds",), None),
    "negative memory": (("peak_bytes",), -1),
    "a list for the code": (("code",), ["ret"]),
    "another verdict than the document's": (("verdict",), "PASS"),
    "other points than the document's": (("possible",), 1),
}
DAMAGED: dict[str, tuple[str, str]] = {  # what to replace in the file, and by what
    "a point more": ('"earned": 0', '"earned": 9'),
    "NaN": ('"seconds": 0.1', '"seconds": NaN'),
    "infinite": ('"seconds": 0.1', '"seconds": 1e999'),
    "a number of 30 digits": ('"seconds": 0.1', '"seconds": ' + "9" * 30),
    "another message": ('"message": "', '"message": "<script>'),
    "a brace less": ("{", "", ),
    "not UTF-8": ("WRONG", "\udcff"),
}  # fmt: skip


@pytest.fixture(scope="module")
def entry(tmp_path_factory: pytest.TempPathFactory) -> tuple[Task, bytes]:
    """A true entry of a wrong kernel, and its task."""
    made = Class(tmp_path_factory.mktemp("entry"))
    made.hand_in("bob", ch01="WRONG")
    assert made.grade().returncode == 0
    document = made.document()["students"][1]["chapters"][0]
    options = document["result"]["options"]
    graded = made.folder / "graded"
    path = graded / "journal" / "bob" / "ch01.json"
    settings = JudgeSettings(
        secret=options["secret"],
        schedules=options["schedules"],
        sizes=tuple(one["n"] for one in options["also"]),
    )
    key = json.loads(path.read_text())["key"]
    task = Task("bob", "ch01", graded / document["kernel"], graded / "work", path, key, settings)
    assert read_entry(task)
    return task, path.read_bytes()


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_entry_is_not_believed(entry: tuple[Task, bytes], name: str) -> None:
    task, true = entry
    path, value = FORGED[name]
    made = forged(json.loads(true), *path, value=value)
    assert made != json.loads(true)
    task.entry.write_text(json.dumps(made))
    with pytest.raises(InvalidEntryError, match=r"bob/ch01\.json: .+"):
        read_entry(task)
    reseal(made := json.loads(true))
    task.entry.write_text(json.dumps(made))
    assert read_entry(task)  # it was not the seal


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_entry_is_not_believed(entry: tuple[Task, bytes], name: str) -> None:
    task, true = entry
    text = true.decode()
    damaged = text.replace(*DAMAGED[name], 1)
    assert damaged != text
    task.entry.write_bytes(damaged.encode("utf-8", "surrogateescape"))
    with pytest.raises(InvalidEntryError, match=r"bob/ch01\.json[:0-9]*: .+"):
        read_entry(task)


def test_an_invalid_entry_is_judged_again_and_reported(small: Class) -> None:
    small.grade()
    first, before = timeless(small.document()), len(small.judged())
    path = small.folder / "graded" / "journal" / "bob" / "ch01.json"
    path.write_text(path.read_text("utf-8").replace('"earned": 0', '"earned": 10'))
    done = small.grade()
    assert (done.returncode, len(small.judged())) == (0, before + 1)
    assert f"{path}: it was changed after it was written; ch01 of bob is judged again" in " ".join(
        done.stderr.split()
    )
    assert timeless(small.document()) == first


def test_a_class_json_with_other_points_is_not_exported(small: Class) -> None:
    small.grade()
    path = small.folder / "graded" / "class.json"
    document = small.document()
    assert read_class(path) == document
    for change in (
        lambda one: one["points"].update(earned=99),
        lambda one: one.update(score=float("nan")),
        lambda one: one.update(verdict="<b>WOW"),
        lambda one: one["result"]["points"].update(earned=11),
        lambda one: one["result"].update(goals=[{"points": "many"}]),
        lambda one: one["result"].update(verdict="WRONG"),
        lambda one: one.pop("points"),
    ):
        changed = copy.deepcopy(document)
        change(changed["students"][0]["chapters"][0])
        path.write_text(json.dumps(changed))
        with pytest.raises(UsageError, match=r"class\.json is (damaged|not a class\.json)"):
            read_class(path)


def test_no_points_without_a_document(entry: tuple[Task, bytes]) -> None:
    task, true = entry
    for verdict in ("PASS", "SLOW", "<b>WOW", 1, None):
        made = json.loads(true) | {"verdict": verdict, "document": None}
        reseal(made)
        task.entry.write_text(json.dumps(made))
        with pytest.raises(InvalidEntryError, match="without a result of the judge"):
            read_entry(task)
