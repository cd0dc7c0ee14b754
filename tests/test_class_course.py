"""course.toml: what it says, and that whatever is wrong in it is named with file and key."""

import dataclasses
import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.course import Course, CourseChapter, Late
from grader.classroom.course_file import default_course, read_course
from grader.classroom.submissions.submission import Submission
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
CHAPTER = CourseChapter("ch01", "one", due=DUE)


@pytest.mark.parametrize(("hours", "days"), [(-100, 0), (0, 0), (0.001, 1), (24, 1), (24.001, 2), (72, 3)])
def test_days_begun(hours: float, days: int) -> None:
    received = (DUE + datetime.timedelta(hours=hours)).astimezone(UTC)
    assert OWN.days_late(CHAPTER, Submission("a", "a", received=received)) == days


def test_days_where_little_is_known() -> None:
    assert OWN.days_late(CHAPTER, Submission("a", "a", is_marked_late=True)) == 1
    assert OWN.days_late(CHAPTER, Submission("a", "a")) == 0
    never_due = CourseChapter("ch01", "one")
    assert OWN.days_late(never_due, Submission("a", "a", received=DUE)) == 0


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
