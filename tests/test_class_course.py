"""course.toml: what it says, and that whatever is wrong in it is named with file and key."""

import dataclasses
import datetime
import zoneinfo
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom import scoring
from grader.classroom.course import ByHand, Case, Course, CourseChapter, Grade, Late
from grader.classroom.course_file import default_course, read_course
from grader.classroom.scoring import Score, days_late
from grader.core.errors import UsageError
from grader.core.workbook import Workbook

UTC = datetime.UTC
ALL = """\
title = "Parallel programming"
chapters = ["ch02", "ch01"]
zone = "Europe/Zurich"
due = 2026-11-20T23:59:00
device = "emulator"
secret = "sixteen characters and more"
own_sizes = 2
time_limit = 60
time_budget = 90.5
schedules = 5
similar = 0.9
roster = "people.csv"

[late]
grace_days = 1
factor_a_day = 0.9
floor = 0.5

[chapter.ch02]
points = 20
weight = 3
due = 2026-12-01T12:00:00+00:00

[slurm]
partition = "gpu"
"""


@pytest.fixture(scope="module")
def workbook(root: Path) -> Workbook:
    return Workbook(root)


def course_of(text: str, workbook: Workbook, folder: Path) -> Course:
    path = folder / "course.toml"
    path.write_text(text)
    return read_course(path, workbook)


def test_everything_in_it(workbook: Workbook, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id\nada\n")
    course = course_of(ALL, workbook, tmp_path)
    assert [one.chapter for one in course.chapters] == ["ch01", "ch02"]
    first, second = course.chapters
    assert first.due is not None and first.due.isoformat() == "2026-11-20T23:59:00+01:00"
    assert (first.points, first.weight) == (10, 1)
    assert (second.points, second.weight) == (20, 3)
    assert second.due == datetime.datetime(2026, 12, 1, 12, tzinfo=UTC)
    assert course.late == Late(1, 0.9, 0.5)
    assert course.roster == tmp_path / "people.csv"
    assert (course.own_sizes, course.time_limit, course.time_budget, course.schedules) == (2, 60, 90.5, 5)
    assert course.slurm.partition == "gpu"


PEOPLE = """\
title = "T"
chapters = ["ch01", "ch02"]
zone = "UTC"
due = 2026-03-01T12:00:00
roster = "people.csv"
received = "times.csv"
choose = "best"

[late]
factor_a_day = 0.5
budget_days = 3

[groups]
team = ["ada", "ben@example.org"]

[owners]
"some file.zip" = "cy"
"two of them" = ["ada", "cy"]
junk = []

[student."ada"]
extension_days = 2.5
excused = ["ch02"]

[student.ben.chapter.ch01]
points = 7.5
comment = "shown in the lab"
author = "Grace"
date = 2026-03-05

[section.B]
due = 2026-03-03T12:00:00
[section.B.chapter.ch02]
due = 2026-03-04T12:00:00

[grade]
curve = [[0, 0], [40, 50], [100, 100]]
cut_offs = { A = 90, B = 70 }
below = "C"
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("id,email,section\nada,,A\nben,ben@example.org,B\ncy,,\n")
    (tmp_path / "times.csv").write_text(
        "submission,received\nsome file.zip,2026-03-02T10:00\nada,2026-03-01T12:00:00+01:00\n"
    )
    return tmp_path


def test_what_it_says_about_people(workbook: Workbook, people: Path) -> None:
    course = course_of(PEOPLE, workbook, people)
    assert course.choose == "best" and course.late == Late(0, 0.5, 0, 3)
    assert course.ownership.groups == {"team": ("ada", "ben")}
    assert course.ownership.owners == {"some file.zip": ("cy",), "two of them": ("ada", "cy"), "junk": ()}
    assert course.ownership.times["some file.zip"] == datetime.datetime(2026, 3, 2, 10, tzinfo=UTC)
    assert course.cases["ada"] == Case(2.5, frozenset({"ch02"}))
    by_hand = ByHand("Grace", datetime.date(2026, 3, 5), "shown in the lab", 7.5)
    assert course.cases["ben"].by_hand == {"ch01": by_hand}
    first, second = course.chapters
    due = {
        name: course.due(second, name, section) for name, section in [("ada", "A"), ("ben", "B"), ("cy", "")]
    }
    day = datetime.datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert due == {
        "ada": day + datetime.timedelta(days=2.5),
        "ben": day + datetime.timedelta(days=3),
        "cy": day,
    }
    assert course.due(first, "ben", "B") == day + datetime.timedelta(days=2)
    assert [course.grade.curved(percent) for percent in (0, 20, 40, 70, 100)] == [0, 25, 50, 75, 100]
    assert [course.grade.letter(percent) for percent in (90, 89.99, 70, 0)] == ["A", "B", "B", "C"]


@pytest.mark.parametrize(
    ("score", "earned", "percent"),
    [
        (8.87, 13.31, 20.48),
        (8.85, 13.28, 20.43),
        (0.01, 0.02, 0.03),
        (0, 0, 0),
    ],  # 13.305 and 13.275, halves up
)
def test_a_percentage_is_of_the_rounded_total(score: float, earned: float, percent: float) -> None:
    """As docs/class.md says: what the gradebook shows can be computed again from what it shows."""
    chapters = (CourseChapter("ch02", "", 20, 1.5), CourseChapter("ch03", "", 35))
    course = Course("T", chapters, grade=Grade(cut_offs=(("A", 50.0),)))
    made = {name: Score(None, 0, 0, 1, False, None, one) for name, one in [("ch02", score), ("ch03", 0)]}
    total = scoring.total(course, made)
    assert total == {"earned": earned, "possible": 65}
    found = scoring.grade(course, total)
    assert found and found["percent"] == percent


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('choose = "best"', 'choose = "worst"', "line 7: choose must be one of latest, best, first"),
        ('["ada", "ben@example.org"]', '["ada", "bem"]', "line 14: groups.team names 'bem', who is not in"),
        ('["ada", "ben@example.org"]', '["ada", "ada"]', "line 14: groups.team names a student twice"),
        (
            '["ada", "ben@example.org"]',
            '["ada"]\nother = ["ada"]',
            "line 15: groups.other has ada, who is in",
        ),
        ('team = ["ada"', 'cy = ["ada"', "line 14: groups.cy is also a student's name"),
        ('"cy"\n', "3\n", "line 17: owners.some file.zip must be a student's id"),
        ('[student."ada"]', "[student.dan]", "line 21: student.dan names 'dan', who is not in the roster"),
        (
            "extension_days = 2.5",
            "extension_days = -1",
            "line 22: student.ada.extension_days must be a number",
        ),
        ("extension_days", "extenson_days", "line 22: student.ada.extenson_days is not known"),
        (
            '["ch02"]\n\n',
            '["ch09"]\n\n',
            "line 23: student.ada.excused must be a list of the course's chapters",
        ),
        ("ben.chapter.ch01", "ben.chapter.ch03", "student.ben.chapter.ch03 is not known"),
        (
            "points = 7.5",
            "points = 11",
            "line 26: student.ben.chapter.ch01.points must be a number from 0 to 10",
        ),
        ('author = "Grace"\n', "", "student.ben.chapter.ch01.author is missing"),
        ("date = 2026-03-05", 'date = "today"', "line 29: student.ben.chapter.ch01.date must be a date"),
        ("[section.B]", "[section.C]", "line 31: section.C is not a section of the roster, which has: A, B"),
        ("[[0, 0], [40, 50]", "[[0, 0], [40, 150]", "line 37: grade.curve must ascend"),
        ("A = 90", "A = 70", "line 38: grade.cut_offs has two grades with the same percentage"),
        ('below = "C"\n', "", "grade.below is missing"),
        ("budget_days = 3", "budget_days = 1.5", "line 11: late.budget_days must be a whole number"),
        ('received = "times.csv"', 'received = "none.csv"', "line 6: received cannot be read"),
    ],
)
def test_what_is_wrong_about_people(workbook: Workbook, people: Path, old: str, new: str, words: str) -> None:
    assert PEOPLE.count(old) >= 1
    with pytest.raises(UsageError) as raised:
        course_of(PEOPLE.replace(old, new, 1), workbook, people)
    message = str(raised.value)
    assert message.startswith(f"{people / 'course.toml'}: ") and words in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("submission,when\nx,y\n", "line 1: it needs the columns submission and received"),
        ("submission,received\nada,yesterday\n", "line 2: received is not a date"),
        (
            "submission,received\nada,2026-03-01\nada,2026-03-01\n",
            "line 3: the submission ada is there twice",
        ),
        ('submission,received\n"ada,2026-03-01\n', "line 2: unexpected end of data"),
    ],
)
def test_times_that_make_no_sense(workbook: Workbook, people: Path, text: str, words: str) -> None:
    (people / "times.csv").write_text(text)
    with pytest.raises(UsageError) as raised:
        course_of(PEOPLE, workbook, people)
    assert str(raised.value).startswith(f"{people / 'times.csv'}: {words}")


# ---- Scores ------------------------------------------------------------------------------------------------------


def scores_of(course: Course, student: str, **facts: scoring.Fact) -> dict[str, scoring.Score]:
    return scoring.scores(course, student, "", facts)


def late_by(days: float, earned: float | None = 10, submission: int = 0) -> scoring.Fact:
    day = datetime.datetime(2026, 3, 1, 12, tzinfo=UTC)
    return scoring.Fact(
        earned, is_handed_in=True, received=day + datetime.timedelta(days=days), submission=submission
    )


def test_late_days_are_taken_in_the_order_of_due_dates() -> None:
    day = datetime.datetime(2026, 3, 1, 12, tzinfo=UTC)
    week = datetime.timedelta(days=7)
    course = Course(
        "T",
        tuple(CourseChapter(f"ch{n:02}", "x", due=due) for n, due in ((1, day + week), (2, day), (3, day))),
        Late(factor_a_day=0.5, budget_days=3),
    )
    made = scores_of(course, "ada", ch01=late_by(9), ch02=late_by(2), ch03=late_by(2))
    # ch02 and ch03 share two days; of two for ch01 one is left
    assert [(one.days_late, one.from_budget, one.score) for one in made.values()] == [
        (2, 1, 5.0), (2, 2, 10.0), (2, 2, 10.0),
    ]  # fmt: skip
    apart = scores_of(course, "ada", ch01=late_by(9), ch02=late_by(2), ch03=late_by(2, submission=1))
    assert [one.from_budget for one in apart.values()] == [0, 2, 1]
    nothing = scores_of(course, "ada", ch01=late_by(9), ch02=late_by(2, 0), ch03=scoring.Fact(0.0))
    assert [one.from_budget for one in nothing.values()] == [2, 0, 0]  # no day for a chapter without points


def test_excused_and_by_hand() -> None:
    by_hand = ByHand("Grace", datetime.date(2026, 3, 5), "", 7)
    day = datetime.datetime(2026, 3, 1, 12, tzinfo=UTC)
    course = Course(
        "T",
        tuple(CourseChapter(f"ch0{n}", "x", weight=n, due=day) for n in (1, 2, 3)),
        Late(factor_a_day=0.5),
        cases={"ada": Case(1, frozenset({"ch02"}), {"ch03": by_hand})},
    )
    made = scores_of(course, "ada", ch01=late_by(2), ch02=late_by(0), ch03=late_by(9, None))
    assert [(one.factor, one.score) for one in made.values()] == [(0.5, 5.0), (1.0, None), (1.0, 7)]
    assert scoring.total(course, made) == {"earned": 5 + 3 * 7, "possible": 10 + 30}
    open_still = scores_of(course, "ben", ch01=late_by(0), ch02=late_by(0), ch03=late_by(0, None))
    assert scoring.total(course, open_still) == {"earned": None, "possible": 60}


@pytest.mark.parametrize(
    ("choose", "facts", "at"),
    [
        ("first", [late_by(0, 1), late_by(1, 10)], 0),
        ("latest", [late_by(0, 10), late_by(1, 1)], 1),
        ("best", [late_by(0, 4), late_by(1, 10)], 1),
        ("best", [late_by(0, 5), late_by(1, 10)], 0),  # 10 points a day late are 5: the earlier one
        ("best", [late_by(0, 10), late_by(0, None)], 0),
        ("best", [late_by(0, 9), late_by(0, None)], 1),  # its score is still open
    ],
)
def test_which_submission_counts(choose: str, facts: list[scoring.Fact], at: int) -> None:
    day = datetime.datetime(2026, 3, 1, 12, tzinfo=UTC)
    chapter = CourseChapter("ch01", "x", due=day)
    course = Course("T", (chapter,), Late(factor_a_day=0.5), choose=choose)
    assert scoring.best_of(course, "ada", "", chapter, facts) == at


def test_a_title_is_enough(workbook: Workbook, tmp_path: Path) -> None:
    course = course_of('title = "T"', workbook, tmp_path)
    assert [one.chapter for one in course.chapters] == [chapter.name for chapter in workbook.chapters]
    assert course.secret_of("ada", "ch01", KERNEL) is None and course.sizes("ada", "ch01") == ()
    assert course == default_course(workbook, "T")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("title = 3", "title must be a text"),
        ("", "title is missing"),
        ('title = ""', "title must be a text"),
        ('title = "T"\ntitel = "T"', "titel is not known; known are: title, chapters"),
        ('title = "T"\nchapters = []', "chapters is empty"),
        ('title = "T"\nchapters = "ch01"', "chapters must be a list"),
        ('title = "T"\nchapters = ["ch99"]', "chapters there is no chapter ch99; there are: ch01"),
        ('title = "T"\nchapters = ["ch01", "1"]', "chapters names a chapter twice"),
        ('title = "T"\ndue = "2026-11-20"', "due must be a date with a time, without quotes"),
        ('title = "T"\ndue = 2026-11-20', "due must be a date with a time"),
        ('title = "T"\ndue = 2026-11-20T23:59:00', "due has no time zone"),
        ('title = "T"\nzone = "Mars/North"', 'zone is not a time zone: "Mars/North"'),
        ('title = "T"\nzone = "../../etc/passwd"', "zone is not a time zone"),
        ('title = "T"\ndevice = "toaster"', 'device must be auto, emulator or gpu, not "toaster"'),
        ('title = "T"\nsecret = "short"', "secret has 5 characters; it needs at least 16"),
        (
            'title = "T"\nsecret = "long enough for anyone"\nsecret_env = "X"',
            "secret_env cannot be combined with secret",
        ),
        ('title = "T"\nsecret_file = "none"', "secret_file cannot be read"),
        ('title = "T"\nsecret_env = "WARPBOOK_NOT_SET"', "secret_env names the environment variable"),
        ('title = "T"\nown_sizes = 2', "own_sizes needs a secret"),
        ('title = "T"\nown_sizes = 2.5', "own_sizes must be a whole number from 0 to 8"),
        ('title = "T"\nown_sizes = true', "own_sizes must be a whole number"),
        ('title = "T"\ntime_limit = 0', "time_limit must be a number from 1 to 86400"),
        ('title = "T"\ntime_limit = nan', "time_limit must be a number"),
        ('title = "T"\ntime_budget = inf', "time_budget must be a number"),
        ('title = "T"\nschedules = -1', "schedules must be a whole number from 0 to 1000"),
        ('title = "T"\nsimilar = 2', "similar must be a number from 0.1 to 1"),
        ('title = "T"\nlate = 3', "late must be a table: [late]"),
        ('title = "T"\n[late]\nfactor_a_day = 1.5', "late.factor_a_day must be a number from 0 to 1"),
        ('title = "T"\n[late]\nfactor = 0.5', "late.factor is not known"),
        ('title = "T"\n[chapter.ch44]\npoints = 1', "chapter.ch44 is not known; known are: ch01"),
        (
            'title = "T"\nchapters = ["ch01"]\n[chapter.ch02]\npoints = 1',
            "chapter.ch02 is not known; known are: ch01",
        ),
        ('title = "T"\n[chapter.ch01]\npoints = 0', "chapter.ch01.points must be a number"),
        ('title = "T"\n[chapter.ch01]\nwieght = 0', "chapter.ch01.wieght is not known"),
        ('title = "T"\n[slurm]\npartitoin = "x"', "[slurm]: there is no 'partitoin'"),
        ('title = "T"\nlate = [}\ndue = 1', "line 2"),
        ('title = "T"\n\n\ntitle = "U"\nzone = 1', "line 4"),
        ('title = "T"\n"\\u001b[31m" = 1', "is not known"),
    ],
)
def test_what_is_wrong_is_named(workbook: Workbook, tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError) as raised:
        course_of(text, workbook, tmp_path)
    message = str(raised.value)
    assert message.startswith(f"{tmp_path / 'course.toml'}: ")
    assert words in message
    assert message.isprintable() and len(message) < 600


def test_what_cannot_be_read(workbook: Workbook, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no course file"):
        read_course(tmp_path / "none.toml", workbook)
    (tmp_path / "latin.toml").write_bytes(b'title = "T"\n# caf\xe9\n')
    with pytest.raises(UsageError, match="line 2 is not UTF-8"):
        read_course(tmp_path / "latin.toml", workbook)
    with pytest.raises(UsageError, match="a folder has that name"):
        read_course(tmp_path, workbook)


def test_secrets_from_elsewhere(workbook: Workbook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLASS_SECRET", "sixteen characters and more")
    (tmp_path / "secret.txt").write_text("sixteen characters and more\n")
    here = course_of('title = "T"\nsecret = "sixteen characters and more"', workbook, tmp_path)
    there = course_of('title = "T"\nsecret_file = "secret.txt"', workbook, tmp_path)
    outside = course_of('title = "T"\nsecret_env = "CLASS_SECRET"', workbook, tmp_path)
    assert here.secret == there.secret == outside.secret


# ---- Each student's own numbers --------------------------------------------------------------------------------

KERNEL = "0" * 64
OWN = Course("T", (CourseChapter("ch01", "one"),), secret=b"sixteen characters and more", own_sizes=3)


def test_numbers_stay_what_they_were() -> None:
    """A new version that draws others would grade a class differently in the middle of a term."""
    assert OWN.secret_of("ada", "ch01", KERNEL) == "4ec7641732dbf0125b7d16137a2ac0f5"
    assert OWN.sizes("ada", "ch01") == (15007, 103662, 171251)


@given(st.text(), st.text())
def test_every_student_has_their_own(one: str, other: str) -> None:
    secret = OWN.secret_of(one, "ch01", KERNEL)
    assert (secret == OWN.secret_of(other, "ch01", KERNEL)) == (one == other)
    assert secret not in (OWN.secret_of(one, "ch02", KERNEL), OWN.secret_of(one, "ch01", "another"))
    shared = dataclasses.replace(OWN, is_shared=True)
    assert shared.secret_of(one, "ch01", KERNEL) == shared.secret_of(other, "ch01", KERNEL)
    assert shared.sizes(one, "ch01") == ()
    sizes = OWN.sizes(one, "ch01")
    assert all(2 <= size <= 200_000 for size in sizes) and list(sizes) == sorted(set(sizes))


# ---- Lateness --------------------------------------------------------------------------------------------------

DUE = datetime.datetime(2026, 11, 20, 23, 59, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))


@pytest.mark.parametrize(("hours", "days"), [(-100, 0), (0, 0), (0.001, 1), (24, 1), (24.001, 2), (72, 3)])
def test_days_begun(hours: float, days: int) -> None:
    received = (DUE + datetime.timedelta(hours=hours)).astimezone(UTC)
    assert days_late(DUE, received, is_marked=False) == days


def wall(text: str, zone: str = "Europe/Berlin", fold: int = 0) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text).replace(tzinfo=zoneinfo.ZoneInfo(zone), fold=fold)


@pytest.mark.parametrize(
    ("due", "received", "days"),
    [
        # Clocks are set back on 25 October: two days by the clock are 49 hours.
        (wall("2026-10-24T12:00"), wall("2026-10-26T12:00"), 2),
        (wall("2026-10-24T12:00"), wall("2026-10-26T12:00:01"), 3),
        # They are set forward on 29 March: two days are 47 hours.
        (wall("2026-03-28T12:00"), wall("2026-03-30T12:00"), 2),
        (wall("2026-03-28T12:00"), wall("2026-03-30T12:00:01"), 3),
        (wall("2026-03-28T18:00"), wall("2026-03-28T18:00:01"), 1),
        # Due at the first 02:30 of that night, received at the second.
        (wall("2026-10-25T02:30"), wall("2026-10-25T02:30", fold=1), 1),
        (wall("2026-10-25T02:30", fold=1), wall("2026-10-25T02:30"), 0),
        (wall("2026-10-24T02:30"), wall("2026-10-25T02:30", fold=1), 2),
        # The other way round in the south, and a zone whose clocks change by half an hour.
        (wall("2026-10-03T12:00", "Australia/Sydney"), wall("2026-10-05T12:00", "Australia/Sydney"), 2),
        (wall("2026-04-04T12:00", "Australia/Lord_Howe"), wall("2026-04-05T12:00", "Australia/Lord_Howe"), 1),
    ],
)
def test_days_end_at_the_same_time_of_day_when_clocks_change(
    due: datetime.datetime, received: datetime.datetime, days: int
) -> None:
    """Whatever zone the platform writes its times in."""
    for zone in (due.tzinfo, UTC, datetime.timezone(datetime.timedelta(hours=-7))):
        assert days_late(due, received.astimezone(zone), is_marked=False) == days


@given(
    st.datetimes(datetime.datetime(2026, 3, 25), datetime.datetime(2026, 11, 1)),
    st.integers(-3 * 24 * 60, 40 * 24 * 60),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"]),
)
def test_days_are_those_that_counting_finds(due: datetime.datetime, minutes: int, name: str) -> None:
    there = due.replace(tzinfo=zoneinfo.ZoneInfo(name))
    received = there.astimezone(UTC) + datetime.timedelta(minutes=minutes)
    days = 0
    while (there + datetime.timedelta(days=days)).astimezone(UTC) < received:
        days += 1
    assert days_late(there, received, is_marked=False) == days


def test_a_due_date_with_an_offset_is_one_of_the_courses_zone(workbook: Workbook, tmp_path: Path) -> None:
    lines = ['title = "x"', 'zone = "Europe/Berlin"', "due = 2026-10-24T10:00:00+00:00"]
    course = course_of("\n".join(lines), workbook, tmp_path)
    due = course.due(course.chapters[0], "ada", "")
    assert due == wall("2026-10-24T12:00") and days_late(due, wall("2026-10-26T12:00"), is_marked=False) == 2


def test_days_where_little_is_known() -> None:
    assert days_late(DUE, None, is_marked=True) == 1
    assert days_late(DUE, None, is_marked=False) == 0
    assert days_late(None, DUE, is_marked=False) == 0


@pytest.mark.parametrize(
    ("late", "days", "factor"),
    [
        (Late(), 9, 1),
        (Late(0, 0.9, 0), 0, 1),
        (Late(0, 0.9, 0), 2, 0.81),
        (Late(2, 0.9, 0), 2, 1),
        (Late(2, 0.9, 0), 3, 0.9),
        (Late(0.5, 0.9, 0), 1, 0.9),
        (Late(0, 0.5, 0.3), 5, 0.3),
        (Late(0, 0, 0), 1, 0),
    ],
)
def test_factor(late: Late, days: int, factor: float) -> None:
    assert late.factor(days) == factor


@given(st.floats(0, 30), st.floats(0, 1), st.floats(0, 1), st.integers(0, 400))
def test_a_factor_never_grows(grace: float, factor: float, floor: float, days: int) -> None:
    late = Late(grace, factor, floor)
    assert 0 <= late.factor(days + 1) <= late.factor(days) <= 1


def test_a_budget_is_shared() -> None:
    assert Course("T", (), time_limit=60).time_for_each(5) == 60
    assert Course("T", (), time_limit=60, time_budget=100).time_for_each(5) == 20
    assert Course("T", (), time_limit=60, time_budget=100).time_for_each(1) == 60
