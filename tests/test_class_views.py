"""The views of a graded class: gradebook, pages, and which kernels resemble each other."""

import base64
import csv
import hashlib
import io
import json
import re
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from grader.classroom import history
from grader.classroom.submissions.submission import file_name
from grader.classroom.views import gradebook, integrity, overview, pages, remarks, similar

CLASS = ROOT / "tests" / "data" / "class" / "class.json"
HOSTILE = '</pre></td><script>alert(1)</script><img src="http://x/y">{{ 7 * 7 }}\x1b[2J\u202e\u2066abc'


def load() -> dict[str, Any]:
    return json.loads(CLASS.read_text("utf-8"))


def student(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in document["students"] if one["id"] == name)


class Page(HTMLParser):
    """What a page consists of: its elements with their attributes, and its text without the style."""

    VOID = {"meta", "br", "img", "rect", "input"}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag, f"</{tag}> closes something else"
        if tag in ("td", "th"):
            self.text += " "

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text += data

    def words(self) -> str:
        return " ".join(self.text.split())


def written(document: dict[str, Any], folder: Path) -> dict[str, Page]:
    pages.write(document, folder)
    found = {name: Page((folder / f"{name}.html").read_text("utf-8")) for name in ("class", "integrity")}
    for path in (folder / "feedback").iterdir():
        found[path.stem] = Page(path.read_text("utf-8"))
    return found


def keep_kernels(document: dict[str, Any], folder: Path, text: str) -> None:
    for one in document["students"]:
        for chapter in one["chapters"]:
            if chapter["kernel"]:
                path = folder / chapter["kernel"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")


# ---- Pages -------------------------------------------------------------------------------------------------------


def test_a_student_reads_what_happened_and_what_to_do(tmp_path: Path) -> None:
    document = load()
    lines = "".join(f"line {number} of grace\n" for number in range(1, 12))
    keep_kernels(document, tmp_path, lines)
    found = written(document, tmp_path)
    dorothy = found["dorothy"].words()
    for words in (
        "16.2 of 50 points", "2 days late", "SLOW", "Neighbouring lanes read far apart", "make hint-ch02 STEP=2",
        "chapters/ch02_coalescing/README.md, The trap", "sectors per load request", "missed", "×0.81",
    ):  # fmt: skip
        assert words in dorothy
    blaise = found["blaise"].words()
    assert "expected 1580602, got 0, difference -1580602, allowed 0" in blaise
    assert "./ch02 --n 31" in blaise
    grace = found["grace"].words()
    assert "kernel.cu:6" in grace
    assert "3 line 3 of grace" in grace and "9 line 9 of grace" in grace  # around line 6
    assert "line 10 of grace" not in grace
    around = "".join(f"{number:4}  line {number} of grace\n" for number in range(3, 10))
    assert around in found["grace"].text  # each on a separate line
    assert "evariste.zip: the member ../../etc/passwd leads out of the archive" in found["evariste"].words()
    assert "the points are not known yet" in found["fibonacci"].words()
    assert "No kernel of this chapter was handed in" in found["charles"].words()


def test_a_late_student_reads_which_days_cost_nothing() -> None:
    document = load()
    document["course"]["late"] |= {"grace_days": 1, "budget_days": 2}
    dorothy = student(document, "dorothy")
    one = dorothy["chapters"][1] | {"days_late": 4, "from_budget": 2, "factor": 0.9}
    dorothy["chapters"][1] = one
    said = remarks.remarks(document, dorothy)[1]
    assert said.lateness == "4 days late, 1 without penalty, 2 of the budget: times 0.9"
    assert ", late: times 0.9" in said.points()
    one["points"] = one["points"] | {"earned": 0.0}
    assert remarks.remarks(document, dorothy)[1].points() == "0/20"


def test_goals_of_several_tasks_say_whose_they_are() -> None:
    goal = {
        "words": "bank conflicts",
        "bound": "exactly",
        "limit": 0,
        "value": 0,
        "state": "met",
        "earned": 1,
        "points": 1,
    }
    one, other = goal | {"task": "floats"}, goal | {"task": "doubles"}
    assert [line.words for line in remarks._goals([one, other])] == [
        "floats: bank conflicts",
        "doubles: bank conflicts",
    ]
    assert [line.words for line in remarks._goals([one, one])] == ["bank conflicts", "bank conflicts"]


def test_a_student_reads_nothing_of_others(tmp_path: Path) -> None:
    document = load()
    found = written(document, tmp_path)
    for one in document["students"]:
        others = [other["name"] for other in document["students"] if other is not one]
        text = found[file_name(one["id"])].text
        assert one["name"] in text
        assert not [name for name in others if name in text]


def test_the_teacher_sees_the_class(tmp_path: Path) -> None:
    document = load()
    keep_kernels(document, tmp_path, "float sum = 0;\nfor (;;) {}\n")
    found = written(document, tmp_path)
    page, alike = found["class"], found["integrity"]
    words = page.words()
    assert "7 students, 6 handed in. 1 could not be opened. 1 could not be judged whole" in words
    assert "Of those who handed in (5 of 7): median 20 %, mean 30 % of what they can earn." in words
    assert "ch02 Coalescing 6 1 4.68/20 REJECT 3" in words
    assert "Mistakes ch02 Coalescing A variable that outlives" in words
    assert "Reported, not judged" in alike.words()
    assert "ch02 Ada Lovelace 91 % Blaise Pascal 88 %" in alike.words()
    links = [str(attributes["href"]) for tag, attributes in page.elements if tag == "a"]
    files = [link.partition("#")[0] for link in links if not link.startswith("#")]
    assert all((tmp_path / link).is_file() for link in files if link != "gradebook.csv")
    assert {"feedback/ada.html", "integrity.html", "gradebook.csv", "tables/mistakes.csv"} <= {
        *files,
        "gradebook.csv",
    }
    bars = [attributes["aria-label"] for tag, attributes in page.elements if tag == "svg"]
    assert bars[:10] == ["1", "0", "0", "0", "0", "0", "1", "1", "0", "2"]  # each bar says its number
    assert sum(tag == "mark" for tag, _ in alike.elements) == 4  # two lines on either side
    assert alike.text.count("float sum = 0;\nfor (;;) {}\n") == 2


def test_pages_are_whole_and_ask_nothing_of_anybody(tmp_path: Path) -> None:
    for name, page in written(load(), tmp_path).items():
        assert not page.open
        scripts = [attributes for tag, attributes in page.elements if tag == "script"]
        assert scripts == ([{}] if name == "class" else [])
        for tag, attributes in page.elements:
            assert tag not in ("link", "img", "iframe", "object", "form")
            assert not {one for one in attributes if one.startswith("on") or one in ("src", "style")}
            assert not str(attributes.get("href", "")).startswith(("http", "//", "javascript"))
    text = (tmp_path / "class.html").read_text("utf-8")
    script = text.partition("<script>")[2].partition("</script>")[0]
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'" in text
    assert "@media (prefers-color-scheme: dark)" in text and "@media print" in text
    assert "url(" not in text and "@import" not in text


def test_a_page_begins_with_what_failed_first(tmp_path: Path) -> None:
    document = load()
    text = written(document, tmp_path)["blaise"].words()
    assert text.index("Next: ch02 Coalescing") < text.index("chapter verdict points")
    assert "Repeat it with ./ch02 --n 31" in text and "The lesson: " in text
    links = [a["href"] for tag, a in written(document, tmp_path)["dorothy"].elements if tag == "a"]
    assert "../lessons/ch02.html#the-trap" in links
    lesson = (tmp_path / "lessons" / "ch02.html").read_text("utf-8")
    assert 'id="the-trap"' in lesson and "data:image/svg+xml;base64," in lesson
    assert not re.findall(r'(?:src|href)="(?!data:|https://|#|ch\d\d\.html)[^"]*"', lesson)


def test_sections_have_their_own_pages(tmp_path: Path) -> None:
    document = load()
    for number, one in enumerate(document["students"]):
        one["section"] = "A/1" if number % 2 else "B"
    pages.write(document, tmp_path)
    names = sorted(path.name for path in (tmp_path / "sections").iterdir())
    assert len(names) == 4 and names[2:] == ["B.csv", "B.html"]
    page = Page((tmp_path / "sections" / "B.html").read_text("utf-8"))
    assert "section B" in page.words() and "4 students" in page.words()
    assert "Blaise Pascal" not in page.words()
    links = [str(a["href"]) for tag, a in page.elements if tag == "a" and not str(a["href"]).startswith("#")]
    assert all((tmp_path / "sections" / link.partition("#")[0]).is_file() for link in links)
    for one in document["students"]:
        one["section"] = "B"
    pages.write(document, tmp_path)
    assert list((tmp_path / "sections").iterdir()) == []


def test_two_texts_side_by_side(tmp_path: Path) -> None:
    document = load()
    ada, blaise = student(document, "ada")["chapters"][1], student(document, "blaise")["chapters"][1]
    ada["result"]["options"]["also"] = [{"n": 137311, "rows": 0, "columns": 0}]
    blaise["result"]["options"]["also"] = [{"n": 4711, "rows": 0, "columns": 0}]
    keep_kernels(document, tmp_path, "if (n == 137'311u) return;  // 4096 1024 0x10000\n")
    claims = {
        "verdict": "PASS",
        "earned": 10,
        "possible": 10,
        "workbook": "0.1.0",
        "kernel_sha256": ada["kernel_sha256"],
    }
    blaise["receipt"] = {
        "agrees": False,
        "differences": ["the receipt belongs to a different kernel.cu"],
        "claims": claims,
    }
    document["similar"][0]["in"] = "comments"
    words = written(document, tmp_path)["integrity"].words()
    assert "source: only comments and layout differ" in words
    assert "ch02, Blaise Pascal the receiptPASS, 10 of 10 points" in words
    assert "the receipt's kernel is the one that was handed in by: Ada Lovelace" in words
    assert "ch02: 137311, a size of Ada Lovelace" in words and "./ch02 --n 137311" in words
    assert "4711" not in words, "his own"
    assert not re.search(r"cheat|plagiar|fraud|dishonest|accus|suspect|guilt|forge", words, re.IGNORECASE)
    table = list(csv.reader((tmp_path / "tables" / "receipts.csv").read_text("utf-8").splitlines()))
    assert [row[:3] for row in table[1:3]] == [
        ["ch02", "blaise", "receipt"],
        ["ch02", "blaise", "size 137311"],
    ]


def test_progress_over_the_term(tmp_path: Path) -> None:
    document = load()
    history.add(tmp_path / "history.jsonl", document)
    student(document, "blaise")["chapters"][1]["verdict"] = "PASS"
    document["times"]["begun"] = "2026-11-28T09:00:00.000+00:00"
    history.add(tmp_path / "history.jsonl", document)
    with open(tmp_path / "history.jsonl", "a") as file:
        file.write('{"schema": "warpbook/class-history/1", "chapters": 3}\nnot JSON\n')
    page = written(document, tmp_path)["class"]
    assert "2026-11-21 to 2026-11-28" in page.words() and "ch02 Coalescing 1 2 6" in page.words()
    lines = [a["points"] for tag, a in page.elements if tag == "polyline"]
    assert len(lines) == 2 and lines[1].split() == ["0.0,16.4", "100.0,13.9"]


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    document = load()
    plain = written(document, tmp_path / "plain")
    document["course"]["title"] = HOSTILE
    keep_kernels(document, tmp_path / "hostile", f"{HOSTILE}\n" * 12)
    for one in document["students"]:
        one["name"] = HOSTILE
        if one["trouble"]:
            one["trouble"]["message"] = HOSTILE
        for chapter in one["chapters"]:
            chapter["message"] = HOSTILE
            chapter["receipt"] = {"agrees": False, "differences": [HOSTILE], "claims": None}
            result = chapter["result"] or {}
            for finding in result.get("findings", []):
                finding["message"] = HOSTILE
            for goal in result.get("goals", []):
                goal["words"] = HOSTILE
            if result.get("diagnosis"):
                result["diagnosis"] |= {"title": HOSTILE, "why": HOSTILE, "lesson": f"ch02#{HOSTILE}"}
    found = written(document, tmp_path / "hostile")
    assert found.keys() == plain.keys()
    for name, page in found.items():
        raw = (
            tmp_path
            / "hostile"
            / (f"{name}.html" if name in ("class", "integrity") else f"feedback/{name}.html")
        ).read_text("utf-8")
        assert not page.open
        scripts = sum(tag == "script" for tag, _ in page.elements)
        assert scripts == (name == "class") and "img" not in {tag for tag, _ in page.elements}
        assert "<script>alert(1)</script>" in page.text  # shown as it is
        assert not set("\x1b\u202e\u2066") & set(raw)
        assert "\\u202e" in page.text and "{{ 7 * 7 }}" in page.text


def test_a_kernel_outside_the_folder_is_not_shown(tmp_path: Path) -> None:
    document = load()
    (tmp_path / "secret.cu").write_text("a secret line\n" * 9)
    student(document, "grace")["chapters"][1]["kernel"] = "../secret.cu"
    assert "secret" not in written(document, tmp_path / "out")["grace"].text


def test_an_empty_class_has_a_page(tmp_path: Path) -> None:
    document = load() | {"students": [], "similar": []}
    page = written(document, tmp_path)["class"].words()
    assert "0 students, 0 handed in." in page
    assert "Nobody has handed in anything" in page
    assert "There are no points to show yet" in page


def test_of_very_many_pairs_the_closest_are_shown(tmp_path: Path) -> None:
    document = load()
    document["similar"] = [
        {"chapter": "ch02", "students": ["ada", "blaise"], "share": [0.8 + i / 1000, 0.5], "identical": False}
        for i in range(130)
    ]
    keep_kernels(document, tmp_path, "int x;\n")
    page = written(document, tmp_path)["integrity"]
    assert "And 30 pairs more" in page.words()
    assert "93 % Blaise" in page.words() and "82 % Blaise" not in page.words()
    assert sum(tag == "details" for tag, _ in page.elements) == 40


def test_the_same_file_is_shown_as_a_group(tmp_path: Path) -> None:
    document = load()
    document["similar"] = [
        {"chapter": "ch01", "students": ["ada", other], "share": [1.0, 1.0], "identical": True}
        for other in ("blaise", "dorothy")
    ]
    assert (
        "ch01: Ada Lovelace; Blaise Pascal; Dorothy Vaughan"
        in written(document, tmp_path)["integrity"].words()
    )


def test_pages_of_those_who_left_go(tmp_path: Path) -> None:
    document = load()
    pages.write(document, tmp_path)
    document["students"] = [student(document, "ada")]
    document["similar"] = []
    pages.write(document, tmp_path)
    assert [path.name for path in (tmp_path / "feedback").iterdir()] == ["ada.html"]


def test_receipts_are_shown(tmp_path: Path) -> None:
    document = load()
    for name, receipt in {
        "ada": {"agrees": True, "differences": [], "claims": None},
        "blaise": {
            "agrees": False,
            "differences": ["The receipt is for another kernel.cu."],
            "claims": None,
        },
    }.items():
        student(document, name)["chapters"][1]["receipt"] = receipt
    found = written(document, tmp_path)
    assert "The receipt handed in agrees." in found["ada"].words()
    assert "does not agree: The receipt is for another kernel.cu." in found["blaise"].words()
    assert found["class"].words().count(" receipt differs ") == 2  # the state to filter by, and the cell


def test_a_receipt_is_compared_in_the_points_of_the_workbook() -> None:
    document = load()
    one = student(document, "ada")["chapters"][1]
    claims = {"verdict": "PASS", "earned": 10, "possible": 10, "workbook": "0.1.0", "kernel_sha256": "0" * 64}
    one["receipt"] = {"agrees": False, "differences": ["another kernel.cu"], "claims": claims}
    assert one["points"] == {"earned": 20, "possible": 20}  # in the course
    (row,) = integrity.receipt_rows(document)
    assert row.claims.startswith("PASS, 10 of 10 points, ")
    assert row.judged.startswith("PASS, 10 of 10 points, ")


@pytest.mark.timed
def test_two_hundred_students_take_a_moment(tmp_path: Path) -> None:
    document = load()
    few = document["students"]
    document["students"] = [few[i % len(few)] | {"id": f"student {i:03}"} for i in range(200)]
    begun = time.process_time()
    pages.write(document, tmp_path)
    gradebook.write(document, tmp_path / "gradebook.csv")
    assert time.process_time() - begun < 20
    assert len(list((tmp_path / "feedback").iterdir())) == 200


def test_ranges_hold_their_borders() -> None:
    document = load()
    scores = [0, 4.99, 5, 29.999, 30, 44.9, 45, 50]
    document["students"] = [
        student(document, "ada") | {"score": {"earned": score, "possible": 50}} for score in scores
    ]
    bars = {bar.label: bar.words for bar in overview.overview(document).scores}
    assert bars == {
        "90 to 100 %": "2", "80 to 89 %": "1", "70 to 79 %": "0", "60 to 69 %": "1", "50 to 59 %": "1",
        "40 to 49 %": "0", "30 to 39 %": "0", "20 to 29 %": "0", "10 to 19 %": "1", "0 to 9 %": "2",
    }  # fmt: skip


def test_every_verdict_has_a_meaning() -> None:
    from grader.classroom.canonical import MISSING
    from grader.core.result import VERDICTS

    assert set(remarks.MEANINGS) == VERDICTS | {MISSING}


# ---- Gradebook ---------------------------------------------------------------------------------------------------


def read(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))


def test_gradebook(tmp_path: Path) -> None:
    document = load()
    gradebook.write(document, tmp_path / "gradebook.csv")
    rows = {row["id"]: row for row in read(tmp_path / "gradebook.csv")}
    assert list(rows) == sorted(rows)
    assert rows["dorothy"] | {} == {
        "id": "dorothy", "name": "Dorothy Vaughan", "email": "dorothy@example.edu", "section": "A",
        "received": "2026-11-22T09:00:00+01:00", "days late": "2", "ch01 verdict": "MISSING", "ch01 points": "0",
        "ch01 score": "0", "ch02 verdict": "SLOW", "ch02 points": "10", "ch02 score": "8.1", "score": "16.2",
        "possible": "50", "trouble": "", "counted submission": "", "set by hand": "",
    }  # fmt: skip
    assert rows["evariste"]["name"] == "'=Évariste Galois"
    assert rows["fibonacci"]["ch01 points"] == rows["fibonacci"]["score"] == ""  # INFRA: not known, no zero


def test_gradebook_shows_what_people_decided_and_who_is_a_stranger(tmp_path: Path) -> None:
    document = load()
    document["course"]["grade"] = {"curve": [], "cut_offs": {"A": 90, "B": 50}, "below": "C"}
    ada, blaise = student(document, "ada"), student(document, "blaise")
    ada["grade"] = {"percent": 87.5, "curved": 91, "letter": "A"}
    ada["chapters"][0] |= {"excused": True, "score": None}
    by_hand = {"points": 7, "comment": "=1+1, shown in the lab", "author": "Grace", "date": "2026-03-05"}
    blaise["chapters"][1] |= {"by_hand": by_hand, "score": 7, "of": 3, "chosen_as": "latest"}
    document["strangers"] = [
        {"name": '=evil,"name"', "why": "nobody in the roster has this name", "lines": ['"x" = "ada"']}
    ]
    gradebook.write(document, tmp_path / "gradebook.csv")
    table = list(csv.reader(io.StringIO((tmp_path / "gradebook.csv").read_text("utf-8"), newline="")))
    gap = table.index([])
    assert gap == len(document["students"]) + 1
    assert table[gap + 1] == ["not in the roster", "why", "line for [owners] of the course file"]
    assert table[gap + 2] == ['\'=evil,"name"', "nobody in the roster has this name", '"x" = "ada"']
    rows = {row["id"]: row for row in csv.DictReader(
        io.StringIO((tmp_path / "gradebook.csv").read_text("utf-8").partition("\n\n")[0], newline=""))}  # fmt: skip
    assert (rows["ada"]["ch01 score"], rows["ada"]["percent"], rows["ada"]["grade"]) == (
        "excused",
        "87.5",
        "A",
    )
    assert (
        rows["blaise"]["set by hand"]
        == "ch02: 7 points (judged: 0), =1+1, shown in the lab - Grace, 2026-03-05"
    )
    assert rows["blaise"]["counted submission"].endswith(": the latest of 3")
    assert rows["blaise"]["grade"] == "" and list(rows["ada"])[-1] == "grade"


def test_gradebook_says_why_a_submission_has_no_kernel(tmp_path: Path) -> None:
    document = load()
    ada, charles = student(document, "ada"), student(document, "charles")
    assert not charles["submission"]["path"]
    for one in ada["chapters"]:
        one |= {"verdict": "MISSING", "message": "there is no kernel in what was handed in"}
    ada["chapters"][0]["message"] = None
    gradebook.write(document, tmp_path / "half.csv")
    ada["chapters"][0]["message"] = ada["chapters"][1]["message"]
    gradebook.write(document, tmp_path / "none.csv")
    troubles = [
        {row["id"]: row["trouble"] for row in csv.DictReader((tmp_path / name).open("r", newline=""))}
        for name in ("half.csv", "none.csv")
    ]
    assert [row["ada"] for row in troubles] == ["", "there is no kernel in what was handed in"]
    assert [row["charles"] for row in troubles] == ["", ""]


def test_feedback_shows_the_points_for_correct_results(tmp_path: Path) -> None:
    document = load()
    (judged,) = [one for one in student(document, "blaise")["chapters"] if one["chapter"] == "ch02"]
    result = judged["result"]
    for verdict, earned, shown in (("SLOW", 5, "4/4"), ("WRONG", 1.5, "1.5/4"), ("WRONG", 0, "0/4")):
        goals = [{"points": 4}, {"points": 2}]
        taken = 1 if verdict == "SLOW" else 0  # of the first goal
        result |= {"verdict": verdict, "points": {"earned": earned, "possible": 10}}
        example = {
            "task": "t",
            "words": "loads",
            "bound": "at most",
            "limit": 4,
            "value": 9,
            "state": "missed",
        }
        result["goals"] = [
            example | goal | {"earned": taken if i == 0 else 0} for i, goal in enumerate(goals)
        ]
        judged["verdict"] = verdict
        words = written(document, tmp_path)["blaise"].words()
        assert f"points of 10 correct results {shown} loads" in " ".join(words.split()), words


def test_gradebook_changes_with_no_clock(tmp_path: Path) -> None:
    document = load()
    gradebook.write(document, tmp_path / "one.csv")
    document["times"] = {"begun": "2030-01-01T00:00:00+00:00", "seconds": 1, "jobs": 9, "peak_bytes": 1}
    for one in document["students"]:
        one["seconds"] = 99.9
    gradebook.write(document, tmp_path / "two.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


# ---- Similar kernels ---------------------------------------------------------------------------------------------

SKELETON = next(ROOT.glob("chapters/ch07_*/kernel.cu"))  # as the checkout has it
SOLUTION = next(ROOT.glob("solutions/ch07_*/kernel.cu"))


def kernels(folder: Path, texts: dict[str, str]) -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.cu").write_text(text, "utf-8")
    return {name: folder / f"{name}.cu" for name in texts}


def pairs(made: dict[str, Path], share: float, chapter: str = "ch07") -> list[dict[str, Any]]:
    kernels = {chapter: {name: similar.Kernel(path) for name, path in made.items()}}
    return similar.find_similar(kernels, {chapter: similar.Given(SKELETON.read_text())}, share).pairs


def own(number: int) -> str:
    """An original kernel, unlike any other."""
    operators = ["+", "-", "*", "/", "&", "|", "^", "<<"]
    lines = []
    for i in range(24):
        seed = number * 7919 + i * 104729
        a, b, c = (operators[(seed // 8**k) % 8] for k in range(3))
        shape = ["while (n {a} {x}) n = n {b} ({x} {c} n);", "if (n {a} {x} {b} n) out[{x}] {c}= n;",
                 "for (int i = n {a} {x}; i {b} n; i += {x}) out[i {c} {x}] = i;"][seed % 3]  # fmt: skip
        lines.append(shape.format(a=a, b=b, c=c, x=seed % 9973))
    return "__global__ void k(float *out, int n) {\n" + "\n".join(lines) + "\n}\n"


def test_pairs(tmp_path: Path) -> None:
    solution = SOLUTION.read_text()
    renamed = "".join(f"{line} // mine\n" for line in solution.replace("sum", "total").splitlines())
    made = kernels(
        tmp_path,
        {
            "copy": solution, "original": solution, "renamed": renamed, "alone": own(1), "other": own(2),
            "untouched": SKELETON.read_text(), "untouched too": SKELETON.read_text(), "empty": "",
        },
    )  # fmt: skip
    found = pairs(made, 0.8)
    assert [(pair["students"], pair["in"]) for pair in found] == [
        (["copy", "original"], "file"),
        (["copy", "renamed"], "source"),
    ]
    assert found[0]["share"] == [1, 1]
    assert min(found[1]["share"]) > 0.9
    assert found[0]["chapter"] == "ch07"


def test_what_the_skeleton_gives_does_not_count(tmp_path: Path) -> None:
    skeleton = SKELETON.read_text()
    made = kernels(tmp_path, {f"s{i}": skeleton + own(i) for i in range(4)})
    assert pairs(made, 0.3) == []


def test_files_that_are_no_text_are_compared_all_the_same(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"\xff\xfe\0" * 100)
    (tmp_path / "c").write_bytes(b"\xff" * 500_000)
    made = {name: tmp_path / name for name in "abc"}
    (pair,) = pairs(made, 0.8)
    assert pair["students"] == ["a", "b"]


@pytest.mark.timed
def test_a_class_of_two_hundred_is_compared_in_seconds(tmp_path: Path) -> None:
    texts = {f"s{i:03}": own(i) if i % 10 else SOLUTION.read_text() for i in range(200)}
    made = kernels(tmp_path, texts)
    begun = time.process_time()
    found = pairs(made, 0.8)
    assert time.process_time() - begun < 12
    assert len(found) == 19  # of twenty who share a file: the first with each other
    assert {pair["students"][0] for pair in found} == {"s000"}


@pytest.mark.parametrize("unit", ["\t \n", "\r", "\x0c\x0b", "\u2003\u00a0", 'R"(', "using \n"])
@pytest.mark.timed
def test_no_text_takes_its_reader_more_than_seconds(tmp_path: Path, unit: str) -> None:
    """Each of these took a minute and more, the grader's own, before its runs of white space were cut."""
    text = own(1) + unit * (60_000 // len(unit.encode()))
    made = kernels(tmp_path, {"trap": text, "other": own(2), "same": own(1) + "\n"})
    begun = time.process_time()
    found = pairs(made, 0.8)
    assert time.process_time() - begun < 12
    assert ["same", "trap"] in [pair["students"] for pair in found]
