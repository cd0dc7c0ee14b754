"""Whose is what: the names that bulk downloads have, rosters, and Gradescope's list of submitters."""

import datetime
import os
import tomllib
from pathlib import Path

import pytest

from grader.classroom.submissions.attribution import Found, Ownership, find_submissions
from grader.classroom.submissions.gradescope import read_metadata
from grader.classroom.submissions.roster import read_roster
from grader.classroom.submissions.submission import Piece, Student
from grader.core.errors import UsageError


def found(folder: Path, roster: str | None = None) -> Found:
    students = []
    if roster is not None:
        path = folder.parent / "roster.csv"
        path.write_text(roster, encoding="utf-8")
        students = read_roster(path)
    return find_submissions(folder, students)


def by_id(folder: Path, roster: str | None = None) -> dict[str, Student]:
    return {one.id: one for one in found(folder, roster).students}


def pieces(student: Student) -> list[Piece]:
    return [piece for one in student.submissions for piece in one.pieces]


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
    assert [one.id for one in result.students] == ["ada", "bob", "cy", "dan", "eve"]
    assert result.ignored == ["notes.txt"]


def test_a_folder_and_an_archive_of_one_student(folder: Path) -> None:
    put(folder, "ada/", "ada.zip")
    (one,) = found(folder).students
    assert [piece.path.name for piece in pieces(one)] == ["ada", "ada.zip"]


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
    assert (jane.name, jane.lms.canvas_id, jane.submissions[0].is_marked_late) == ("doejane", "12345", False)
    assert john.submissions[0].is_marked_late
    assert sorted(piece.name for piece in pieces(john)) == ["ch02.tar.gz", "kernel.cu"]
    assert pieces(students["canvas-333"])[0].name == "a_b_c.zip"


def test_canvas_with_its_gradebook_as_roster(folder: Path) -> None:
    put(folder, "doejane_12345_67890_ch04.zip", "strangerthe_99_1_ch04.zip")
    roster = (
        "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Homework 1 (77)\n"
        "    Points Possible,,,,,10\n"
        '"Doe, Jane",12345,S1,jdoe,Group A,\n'
        '"Absent, Al",555,S2,aal,Group B,\n'
        '"Student, Test",556,,x,Group B,\n'
    )
    (stranger,) = found(folder, roster).strangers
    assert stranger.name == "strangerthe_99_1_ch04.zip"
    assert stranger.why == "nobody in the roster has this name"
    students = by_id(folder, roster)
    assert sorted(students) == ["aal", "jdoe"]
    jane = students["jdoe"]
    assert (jane.name, jane.section, jane.lms.canvas_id, jane.lms.sis_user_id) == (
        "Doe, Jane",
        "Group A",
        "12345",
        "S1",
    )
    assert len(pieces(jane)) == 1
    assert pieces(students["aal"]) == []


def test_moodle(folder: Path) -> None:
    put(folder, "Jane Doe_12345_assignsubmission_file_/", "José_Luis_77_assignsubmission_file_all.zip")
    put(folder, "Jane Doe_12345_assignsubmission_onlinetext_.html")
    result = found(folder)
    students = {one.id: one for one in result.students}
    assert sorted(students) == ["participant-12345", "participant-77"]
    assert students["participant-12345"].name == "Jane Doe"
    assert students["participant-12345"].lms.moodle_identifier == "Participant 12345"
    assert pieces(students["participant-77"])[0].name == "all.zip"
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
    (one,) = found(folder).students
    assert one.id == student and pieces(one)[0].name.startswith("x_77_")


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
    assert {piece.path.name for piece in pieces(students["bo@x.org"])} == {
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
    assert len(pieces(students["jane@example.edu"])) == 1
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
    assert pieces(jane) == pieces(jose)
    assert jane.submissions[0].received == datetime.datetime(
        2026, 11, 20, 1, 2, 39, 613513, tzinfo=datetime.UTC
    )
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
    assert [piece.path.name for piece in pieces(jane)] == ["submission_11"]
    if roster:
        (stranger,) = found(folder, roster).strangers
        assert (stranger.name, stranger.why) == (
            "submission_12",
            "nobody in the roster has this name (Mallory)",
        )
    else:
        assert [piece.path.name for piece in pieces(students["mallory@example.edu"])] == ["submission_12"]


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
    assert len(pieces(students["grace"])) == 1
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
    result = found(folder, "id,name\none,Jane Doe\ntwo,Jane Doe\n")
    assert [one.submissions for one in result.students] == [(), ()]
    (stranger,) = result.strangers
    assert stranger.why == "it may belong to one or two"
    assert stranger.lines == ('"Jane Doe" = "one"', '"Jane Doe" = "two"')


ROSTER = """\
id,name,email,login
s01,Ada Lovelace,ada@example.org,alove
s02,Ben Akiba,ben@example.org,bakiba
s03,"Jing, Chen",chen@example.org,jchen
s04,Dana Scott,dana.scott@example.org,dscott
jean-paul,Jean-Paul Serre,jps@example.org,
"""


@pytest.mark.parametrize(
    ("name", "owners", "number"),
    [
        ("s01.zip", ["s01"], 1),
        ("ALOVE/", ["s01"], 1),
        ("ada@example.org.zip", ["s01"], 1),
        ("dana.scott/", ["s04"], 1),
        ("Ada Lovelace/", ["s01"], 1),
        ("lovelace_ada.tar.gz", ["s01"], 1),
        ("LovelaceAda.zip", ["s01"], 1),
        ("Chen Jing/", ["s03"], 1),
        ("s01-2.zip", ["s01"], 2),
        ("s01_v3/", ["s01"], 3),
        ("s01 (4).zip", ["s01"], 4),
        ("jean-paul/", ["jean-paul"], 1),
        ("jean-paul-2/", ["jean-paul"], 2),
        ("s01_s02/", ["s01", "s02"], 1),
        ("alove-bakiba-jchen.zip", ["s01", "s02", "s03"], 1),
        ("s02+jean-paul.zip", ["s02", "jean-paul"], 1),
        ("s01 and s02/", ["s01", "s02"], 1),
        ("s01_s02-2/", ["s01", "s02"], 2),
        ("canvasname_1_2_ch01.zip", None, 0),
        ("s99/", None, 0),
        ("s01_s99/", None, 0),
        ("s0/", None, 0),
    ],
)
def test_a_name_finds_its_owners(folder: Path, name: str, owners: list[str] | None, number: int) -> None:
    put(folder, name)
    result = found(folder, ROSTER)
    having = {one.id: one.submissions for one in result.students if one.submissions}
    assert len(result.students) == 5, "a stranger is never a member of the class"
    if owners is None:
        assert not having and len(result.strangers) == 1
        return
    assert sorted(having) == sorted(owners) and not result.strangers
    for (one,) in having.values():
        assert (list(one.owners), one.number) == (owners, number)


def test_names_that_may_be_one_person_or_two(folder: Path) -> None:
    put(folder, "ada_lovelace/")
    result = found(folder, "id,name\nada,Ada Byron\nlovelace,Will Lovelace\nx,Ada Lovelace\n")
    (stranger,) = result.strangers
    assert stranger.why == "it may belong to x or ada+lovelace"
    assert stranger.lines == ('"ada_lovelace" = "x"', '"ada_lovelace" = ["ada", "lovelace"]')


def test_the_line_that_is_suggested_works(folder: Path, tmp_path: Path) -> None:
    name = 'ada "the\t\u202eone" lovelace=1'
    put(folder, "s02/", f"{name}/")
    result = found(folder, "id,name\ns1,Ada The One Lovelace\ns02,Ben\n")
    (stranger,) = result.strangers
    line = stranger.lines[0]
    owners = tomllib.loads(line)
    ((given, owner),) = owners.items()
    students = read_roster(tmp_path / "roster.csv")
    again = find_submissions(folder, students, Ownership({given: ("s1",)}))
    assert not again.strangers and not again.unused and owner
    assert next(one for one in again.students if one.id == "s1").submissions[0].matched == "the course file"


def test_the_course_file_says_whose_it_is(folder: Path, tmp_path: Path) -> None:
    put(folder, "mystery.zip", "junk/", "s01/", "team7/", "team7-2/", "s03/")
    (tmp_path / "roster.csv").write_text(ROSTER)
    ownership = Ownership({"mystery": ("s02",), "junk": (), "gone": ("s01",)}, {"Team7": ("s03", "s04")})
    result = find_submissions(folder, read_roster(tmp_path / "roster.csv"), ownership)
    names = {one.id: [handed.name for handed in one.submissions] for one in result.students}
    assert names == {
        "jean-paul": [],
        "s01": ["s01"],
        "s02": ["mystery.zip"],
        "s03": ["s03", "team7", "team7-2"],
        "s04": ["s03", "team7", "team7-2"],
    }
    assert result.ignored == ["junk"] and result.unused == ["gone"] and not result.strangers


def test_submissions_come_in_the_order_of_time(folder: Path, tmp_path: Path) -> None:
    put(folder, "s01/", "s01-2/", "s01-3/")
    (tmp_path / "roster.csv").write_text(ROSTER)
    day = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)
    times = {"s01": day + datetime.timedelta(days=2), "s01-3": day}
    result = find_submissions(folder, read_roster(tmp_path / "roster.csv"), Ownership(times=times))
    ada = next(one for one in result.students if one.id == "s01")
    assert [one.name for one in ada.submissions] == ["s01-2", "s01-3", "s01"]


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
        ("id,name\nada,Lovelace, Ada\n", "line 2: 3 cells, and the heading has 2; put quotes around"),
        ('id,name\nada,"Ada\nben,Ben\n', "line 3: unexpected end of data"),
        ("id,name\nada,A\nben,B\nada,C\n", "line 4: the student ada is there twice; the other is in line 2"),
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
    ids = [one.id for one in found(folder).students]
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
