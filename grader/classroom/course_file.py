"""Reading course.toml. Every error names the file and the key."""

import datetime
import os
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.errors import UsageError, explain_os_error
from ..core.workbook import Chapter, Workbook
from .course import Course, CourseChapter, Late
from .course_people import PEOPLE, read_people
from .course_reader import Reader
from .engines.slurm.options import SlurmOptions

_TOP = (
    "title", "chapters", "due", "zone", "device", "secret", "secret_file", "secret_env", "own_sizes",
    "time_limit", "time_budget", "schedules", "similar", "roster", "late", "chapter", "slurm", *PEOPLE,
)  # fmt: skip
_LEAST_SECRET = 16  # characters
_MOST_OWN_SIZES = 8
_MOST_BYTES = 1 << 20


def default_course(workbook: Workbook, title: str) -> Course:
    """The default course: every chapter, no dates, no secret."""
    return Course(title, tuple(CourseChapter(one.name, one.title) for one in workbook.select([])))


def read_course(path: Path, workbook: Workbook) -> Course:
    """Read a course.toml. Raises UsageError for any error in it."""
    try:
        content = path.read_bytes()[:_MOST_BYTES]
        table = tomllib.loads(content.decode("utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no course file {path}") from None
    except OSError as error:
        raise UsageError(f"the course file cannot be read: {explain_os_error(error)}") from None
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UsageError(f"{path}: line {line} is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}") from None
    return _CourseReader(path, content.decode("utf-8"), workbook).course(table)


class _CourseReader(Reader):
    def __init__(self, path: Path, text: str, workbook: Workbook) -> None:
        super().__init__(path, text)
        self.workbook = workbook

    def course(self, table: dict[str, Any]) -> Course:
        self.check_keys(table, _TOP, "")
        zone = self.zone(table)
        due = self.date(table, "due", "due", zone)
        course = Course(
            title=self.text(table, "title", "title", required=True),
            chapters=self.chapters(table, due, zone),
            late=self.late(table),
            secret=self.secret(table),
            own_sizes=int(self.number(table, "own_sizes", "own_sizes", 0, 0, _MOST_OWN_SIZES, whole=True)),
            time_limit=self.number(table, "time_limit", "time_limit", 180.0, 1, 86_400),
            similar=self.number(table, "similar", "similar", 0.8, 0.1, 1),
            zone=zone,
            slurm=SlurmOptions.from_table(self.table(table, "slurm", "slurm"), f"{self.path}: [slurm]"),
        )
        if "device" in table:
            course = replace(course, device=self.device(table))
        if "time_budget" in table:
            budget = self.number(table, "time_budget", "time_budget", 0, 1, 86_400)
            course = replace(course, time_budget=budget)
        if "schedules" in table:
            course = replace(
                course, schedules=int(self.number(table, "schedules", "schedules", 0, 0, 1000, whole=True))
            )
        if "roster" in table:
            course = replace(course, roster=self.path.parent / self.text(table, "roster", "roster"))
        if course.own_sizes and not course.secret:
            self.wrong("own_sizes", "needs a secret, from which each student's sizes are derived")
        return read_people(self, table, course)

    def chapters(
        self, table: dict[str, Any], due: datetime.datetime | None, zone: datetime.tzinfo | None
    ) -> tuple[CourseChapter, ...]:
        chosen = self.chosen(table)
        own = self.table(table, "chapter", "chapter")
        self.check_keys(own, [chapter.name for chapter in chosen], "chapter.")
        found = []
        for chapter in chosen:
            where = f"chapter.{chapter.name}"
            entry = self.table(own, chapter.name, where)
            self.check_keys(entry, ("points", "weight", "due"), f"{where}.")
            points = self.number(entry, "points", f"{where}.points", 10.0, 0.01, 1e6)
            weight = self.number(entry, "weight", f"{where}.weight", 1.0, 0, 1e6)
            date = self.date(entry, "due", f"{where}.due", zone) or due
            found.append(CourseChapter(chapter.name, chapter.title, points, weight, date))
        return tuple(found)

    def chosen(self, table: dict[str, Any]) -> list[Chapter]:
        names = table.get("chapters", [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            self.wrong("chapters", 'must be a list of chapters, such as ["ch01", "ch02"]')
        if "chapters" in table and not names:
            self.wrong("chapters", "is empty; leave it out for every chapter")
        try:
            chosen = self.workbook.select(names)
        except UsageError as error:
            self.wrong("chapters", str(error))
        if names and len(chosen) != len(names):
            self.wrong("chapters", "names a chapter twice")
        return chosen

    def late(self, table: dict[str, Any]) -> Late:
        late = self.table(table, "late", "late")
        self.check_keys(late, ("grace_days", "factor_a_day", "floor", "budget_days"), "late.")
        return Late(
            self.number(late, "grace_days", "late.grace_days", 0.0, 0, 10_000),
            self.number(late, "factor_a_day", "late.factor_a_day", 1.0, 0, 1),
            self.number(late, "floor", "late.floor", 0.0, 0, 1),
            int(self.number(late, "budget_days", "late.budget_days", 0, 0, 10_000, whole=True)),
        )

    def device(self, table: dict[str, Any]) -> str:
        device = self.text(table, "device", "device")
        if device not in ("auto", "emulator", "gpu"):
            self.wrong("device", f'must be auto, emulator or gpu, not "{device:.40}"')
        return device

    def secret(self, table: dict[str, Any]) -> bytes:
        given = [key for key in ("secret", "secret_file", "secret_env") if key in table]
        if not given:
            return b""
        if len(given) > 1:
            self.wrong(given[1], f"cannot be combined with {given[0]}")
        key = given[0]
        value = self.text(table, key, key, required=True)
        if key == "secret_file":
            try:
                value = (self.path.parent / value).read_text("utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                why = explain_os_error(error) if isinstance(error, OSError) else "it is not UTF-8"
                self.wrong(key, f"cannot be read: {why}")
        elif key == "secret_env":
            name, value = value, os.environ.get(value, "")
            if not value:
                self.wrong(key, f"names the environment variable {name}, which is not set")
        if len(value) < _LEAST_SECRET:
            self.wrong(
                key, f"has {len(value)} characters; it needs at least {_LEAST_SECRET}, or it can be guessed"
            )
        return value.encode("utf-8")
