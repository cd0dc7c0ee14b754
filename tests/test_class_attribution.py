"""Whose is what: the names that bulk downloads have, rosters, and Gradescope's list of submitters."""

import datetime
import os
from pathlib import Path

import pytest

from grader.classroom.submissions.attribution import Found, find_submissions
from grader.classroom.submissions.gradescope import read_metadata
from grader.classroom.submissions.roster import read_roster
from grader.classroom.submissions.submission import Submission
from grader.core.errors import UsageError


def found(folder: Path, roster: str | None = None) -> Found:
    students = []
    if roster is not None:
        path = folder.parent / "roster.csv"
        path.write_text(roster, encoding="utf-8")
        students = read_roster(path)
    return find_submissions(folder, students)


def by_id(folder: Path, roster: str | None = None) -> dict[str, Submission]:
    return {one.id: one for one in found(folder, roster).submissions}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "submissions"
    made.mkdir()
    return made


def put(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.mkdir() if name.endswith("/") else path.touch()


def test_folders_and_archives(folder: Path) -> None:
    put(folder, "ada/", "bob.zip", "cy.tar.gz", "dan.TGZ", "eve.cu", "notes.txt", ".DS_Store", "__MACOSX/")
    result = found(folder)
    assert [one.id for one in result.submissions] == ["ada", "bob", "cy", "dan", "eve"]
    assert result.ignored == ["notes.txt"]


def test_a_folder_and_an_archive_of_one_student(folder: Path) -> None:
    put(folder, "ada/", "ada.zip")
    (one,) = found(folder).submissions
    assert [piece.path.name for piece in one.pieces] == ["ada", "ada.zip"]


def test_canvas(folder: Path) -> None:
    put(
        folder,
        "doejane_12345_67890_ch04.zip",
        "roejohn_LATE_222_9_kernel-2.cu",
        "roejohn_LATE_222_10_ch02-1.tar.gz",
    )
    put(folder, "van_der_berg_333_4_a_b_c.zip")
    students = by_id(folder)
    assert sorted(students) == ["canvas-12345", "canvas-222", "canvas-333"]
    jane, john = students["canvas-12345"], students["canvas-222"]
    assert (jane.name, jane.lms.canvas_id, jane.is_marked_late) == ("doejane", "12345", False)
    assert john.is_marked_late
    assert sorted(piece.name for piece in john.pieces) == ["ch02.tar.gz", "kernel.cu"]
    assert students["canvas-333"].pieces[0].name == "a_b_c.zip"


def test_canvas_with_its_gradebook_as_roster(folder: Path) -> None:
    put(folder, "doejane_12345_67890_ch04.zip", "strangerthe_99_1_ch04.zip")
    roster = (
        "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Homework 1 (77)\n"
        "    Points Possible,,,,,10\n"
        '"Doe, Jane",12345,S1,jdoe,Group A,\n'
        '"Absent, Al",555,S2,aal,Group B,\n'
        '"Student, Test",556,,x,Group B,\n'
    )
    students = by_id(folder, roster)
    assert sorted(students) == ["aal", "canvas-99", "jdoe"]
    jane = students["jdoe"]
    assert (jane.name, jane.section, jane.lms.canvas_id, jane.lms.sis_user_id) == (
        "Doe, Jane",
        "Group A",
        "12345",
        "S1",
    )
    assert len(jane.pieces) == 1
    assert students["aal"].pieces == ()


def test_moodle(folder: Path) -> None:
    put(folder, "Jane Doe_12345_assignsubmission_file_/", "José_Luis_77_assignsubmission_file_all.zip")
    put(folder, "Jane Doe_12345_assignsubmission_onlinetext_.html")
    result = found(folder)
    students = {one.id: one for one in result.submissions}
    assert sorted(students) == ["participant-12345", "participant-77"]
    assert students["participant-12345"].name == "Jane Doe"
    assert students["participant-12345"].lms.moodle_identifier == "Participant 12345"
    assert students["participant-77"].pieces[0].name == "all.zip"
    assert result.ignored == ["Jane Doe_12345_assignsubmission_onlinetext_.html"]


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("Jane_12_assignsubmission_file_x_77_assignsubmission_file_ch04.cu", "participant-12"),
        ("Jane_12_assignsubmission_file_x_77_88_ch04.cu", "participant-12"),
        ("doejane_12_34_x_77_assignsubmission_file_ch04.cu", "canvas-12"),
        ("doejane_12_34_x_77_88_ch04.cu", "canvas-12"),
    ],
)
def test_nobody_hands_in_for_another(folder: Path, name: str, student: str) -> None:
    """A student chooses the text after the platform's part of the name."""
    put(folder, name)
    (one,) = found(folder).submissions
    assert one.id == student and one.pieces[0].name.startswith("x_77_")


def test_a_students_name_that_looks_like_moodles_mark(folder: Path) -> None:
    """Nobody's work is given to the participant that another student's name mentions."""
    name = "Al_1_assignsubmission_file_Bo"
    put(
        folder,
        f"{name}_2_assignsubmission_file_ch03.cu",
        f"{name}_2_assignsubmission_file_/",
        "Al_1_assignsubmission_file_",
    )
    put(folder, "Al_1_assignsubmission_file_Bo_2_assignsubmission_file_/kernel.cu")
    roster = f"Identifier,Full name,Email address\nParticipant 1,Al,al@x.org\nParticipant 2,{name},bo@x.org\n"
    students = by_id(folder, roster)
    assert {piece.path.name for piece in students["bo@x.org"].pieces} == {
        f"{name}_2_assignsubmission_file_ch03.cu",
        f"{name}_2_assignsubmission_file_",
    }
    assert "participant-2" in by_id(folder), "a folder's name holds nothing that its author chose"


def test_moodle_with_its_worksheet_as_roster(folder: Path) -> None:
    put(folder, "Jane Doe_12345_assignsubmission_file_/")
    roster = (
        'Identifier,"Full name","Email address",Status,Grade\n'
        "Participant 12345,Jane Doe,jane@example.edu,Submitted,\n"
        "Participant 12346,Al Absent,al@example.edu,,\n"
    )
    students = by_id(folder, roster)
    assert sorted(students) == ["al@example.edu", "jane@example.edu"]
    assert len(students["jane@example.edu"].pieces) == 1
    assert students["jane@example.edu"].lms.moodle_identifier == "Participant 12345"


METADATA = """\
submission_11:
  :submitters:
  - :name: Jane Doe
    :sid: '1001'
    :email: jane@example.edu
  - :name: José Roe
    :sid:
    :email: jose@example.edu
  :created_at: 2026-11-19 18:02:39.613513000 -07:00
  :score: 1.0
  :status: graded
submission_12:
  :submitters:
  - :name: Al Alone
    :sid: '1003'
    :email: al@example.edu
  :created_at: 2026-11-21 08:00:00.000000000 Z
"""


def test_gradescope(folder: Path) -> None:
    put(folder, "submission_11/", "submission_12/", "submission_13/")
    (folder / "submission_metadata.yml").write_text(METADATA, encoding="utf-8")
    students = by_id(folder)
    assert sorted(students) == ["1001", "1003", "jose@example.edu", "submission_13"]
    jane, jose = students["1001"], students["jose@example.edu"]
    assert jane.pieces == jose.pieces
    assert jane.received == datetime.datetime(2026, 11, 20, 1, 2, 39, 613513, tzinfo=datetime.UTC)
    assert (jane.name, jane.email, jane.lms.gradescope_submission) == (
        "Jane Doe",
        "jane@example.edu",
        "submission_11",
    )
    assert students["submission_13"].lms.gradescope_submission == "submission_13"


@pytest.mark.parametrize("roster", [None, "id,email\n1001,jane@example.edu\n1002,jose@example.edu\n"])
def test_a_number_that_two_claim_is_nobodys(folder: Path, roster: str | None) -> None:
    """A student who types another's number on Gradescope does not hand in for them."""
    entry = "submission_{}:\n  :submitters:\n  - :name: {}\n    :sid: '1001'\n    :email: {}@example.edu\n"
    (folder / "submission_metadata.yml").write_text(
        entry.format(11, "Jane", "jane") + entry.format(12, "Mallory", "mallory")
    )
    put(folder, "submission_11/", "submission_12/")
    students = by_id(folder, roster)
    jane = students["1001" if roster else "jane@example.edu"]
    assert [piece.path.name for piece in jane.pieces] == ["submission_11"]
    assert [piece.path.name for piece in students["mallory@example.edu"].pieces] == ["submission_12"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("submission_1:\n  :submitters: [\n", "line 3 is not YAML"),
        ("- 1\n- 2\n", "has no submissions"),
        ("submission_1:\n  :score: 1\n", "submission_1 has no :submitters:"),
        ("submission_1: !!python/object/apply:os.system ['touch /tmp/owned']\n", "is not YAML as Gradescope"),
    ],
)
def test_gradescope_metadata_that_is_none(text: str, words: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_metadata(text.encode(), Path("here/submission_metadata.yml"))
    assert str(raised.value).startswith("here/submission_metadata.yml: ") and words in str(raised.value)


def test_a_roster_of_ones_own(folder: Path) -> None:
    put(folder, "ada/", "Grace Hopper.zip")
    roster = "id,name,email,section,canvas_id,received\nada,Ada L,,A,7,\ngrace,Grace Hopper,,,,2026-11-20T12:00:00Z\n"
    students = by_id(folder, roster)
    assert sorted(students) == ["ada", "grace"]
    assert students["ada"].lms.canvas_id == "7"
    assert len(students["grace"].pieces) == 1
    assert students["grace"].received is not None


@pytest.mark.parametrize("first", ["", "sep=;\n", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_roster_with_semicolons(folder: Path, first: str, end: str) -> None:
    """CSV as written by spreadsheets with decimal commas."""
    put(folder, "ada/")
    students = by_id(
        folder, (first + 'id;name;email\nada;"Lovelace, Ada";a@x.edu\nbob;;\n').replace("\n", end)
    )
    assert (students["ada"].name, students["ada"].email) == ("Lovelace, Ada", "a@x.edu")
    assert sorted(students) == ["ada", "bob"]


def test_a_roster_with_tabs(folder: Path) -> None:
    put(folder, "ada/")
    assert (
        by_id(folder, "sep=\t\r\nid\tname\nada\tLovelace, Ada; countess\n")["ada"].name
        == "Lovelace, Ada; countess"
    )


def test_two_of_one_name_are_told_apart(folder: Path) -> None:
    put(folder, "Jane Doe/")
    students = by_id(folder, "id,name\none,Jane Doe\ntwo,Jane Doe\n")
    assert sorted(students) == ["Jane Doe", "one", "two"]
    assert students["one"].pieces == () and students["two"].pieces == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the roster has no students"),
        ("id,name\n", "the roster has no students"),
        ("name,colour\nAda,red\n", "line 1: no column says who a student is"),
        ("sep=;\nname;colour\nAda;red\n", "line 2: no column says who a student is"),
        ("id;name\nada;A\nada;B\n", "line 3: the student ada is there twice"),
        ("id,name\nada,A\nada,B\n", "line 3: the student ada is there twice"),
        ("id,name\n,Nobody\n", "line 2: a student without an id"),
        ("id,received\nada,yesterday\n", "line 2: received is not a date"),
        ("id,received\nada,2026-11-20T12:00\n", "line 2: received has no time zone"),
    ],
)
def test_a_roster_that_makes_no_sense(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "roster.csv").write_text(text)
    with pytest.raises(UsageError) as raised:
        read_roster(tmp_path / "roster.csv")
    assert str(raised.value).startswith(str(tmp_path / "roster.csv")) and words in str(raised.value)


def test_names_that_are_no_text(folder: Path) -> None:
    for raw in (b"jos\xe9", b"jos\xe8", b"jos\\xe9", b"new\nline"):
        os.mkdir(os.fsencode(folder) + b"/" + raw)  # noqa: PTH102 - no Path for bytes
    ids = [one.id for one in found(folder).submissions]
    assert len(set(ids)) == 4
    assert all(one.isprintable() for one in ids)


@pytest.mark.parametrize("kind", ["nothing", "file", "empty"])
def test_no_submissions(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "there"
    if kind == "file":
        place.touch()
    if kind == "empty":
        place.mkdir()
    words = {
        "nothing": "there is no folder",
        "file": "is a file: unpack",
        "empty": "there is no submission in",
    }
    with pytest.raises(UsageError, match=words[kind]):
        find_submissions(place, [])
