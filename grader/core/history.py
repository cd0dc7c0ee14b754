"""All graded runs and other actions of the learner, in one SQLite file that `make clean` and updates keep.

A newer Warpbook migrates an older file when it opens it, and keeps every row.
"""

import datetime
import json
import math
import shlex
import sqlite3
import time
from contextlib import closing
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from .errors import MachineError
from .notices import tell

# The migration from each version of the file to the next.
_STEPS = (
    """
CREATE TABLE runs (
    id            TEXT PRIMARY KEY,  -- of the run, so that recording twice records once
    time          TEXT NOT NULL,     -- ISO 8601, UTC
    kind          TEXT NOT NULL,     -- 'kernel' (the learner's) or 'solution' (the reference)
    chapter       TEXT NOT NULL,
    verdict       TEXT NOT NULL,
    earned        REAL NOT NULL,
    possible      REAL NOT NULL,
    gb_per_s      REAL,
    bandwidth     TEXT,              -- 'measured' or 'modelled'
    ratio         REAL,              -- to the reference
    counters      TEXT NOT NULL,     -- JSON
    kernel_sha256 TEXT NOT NULL,
    device        TEXT NOT NULL,     -- JSON
    seconds       REAL NOT NULL,
    workbook      TEXT NOT NULL      -- the version
);
CREATE INDEX runs_by_chapter ON runs (kind, chapter, time);
""",
    """
ALTER TABLE runs ADD COLUMN diagnosis TEXT;  -- JSON: the well-known mistake that the run showed, or NULL
ALTER TABLE runs ADD COLUMN timing TEXT;     -- JSON: the result's bandwidth without its samples, or NULL
CREATE TABLE events (
    id      INTEGER PRIMARY KEY,
    time    TEXT NOT NULL,     -- ISO 8601, UTC
    chapter TEXT NOT NULL,
    what    TEXT NOT NULL,     -- 'hint', 'shown', 'skipped', 'resumed' or 'at' (worked on from then on)
    detail  TEXT NOT NULL      -- JSON
);
CREATE INDEX events_by_chapter ON events (chapter, what);
""",
    """
CREATE TABLE timings (
    run           TEXT NOT NULL,     -- of ./chNN --time; these runs do not cover all cases
    time          TEXT NOT NULL,     -- ISO 8601, UTC
    chapter       TEXT NOT NULL,
    kernel_sha256 TEXT NOT NULL,
    kind          TEXT NOT NULL,     -- 'measured' or 'modelled'
    gpu           TEXT NOT NULL,     -- its name
    n             INTEGER NOT NULL,
    gb_per_s      REAL NOT NULL,
    reference_gb_per_s REAL,         -- of the same run; NULL where there was none
    peak_gb_per_s REAL,              -- of the device's memory; NULL where it is not known
    workbook      TEXT NOT NULL,     -- the version
    PRIMARY KEY (run, n)
);
CREATE INDEX timings_by_chapter ON timings (chapter);
""",
)
# The remedy for each of SQLite's messages.
_REMEDIES = {
    "readonly": "; check the owner of it and of its folder, and whether the disk is read-only",
    "unable to open": "; check the owner of it and of its folder, and that it is a file",
    "disk is full": "; make clean frees some space",
    "disk I/O": "; is the disk broken or full, or is there a limit on the size of files (ulimit -f)?",
    "locked": ": another program has been writing to it for 10 s; try again once that has ended",
}
_JSON_COLUMNS = ("counters", "device", "diagnosis", "timing")
_LAST = 253402214400.0  # seconds: the last day of the year 9999, which is a date in every time zone


@dataclass(frozen=True)
class Run:
    """One row of the history; each field is the column with that name."""

    id: str
    time: str
    kind: str
    chapter: str
    verdict: str
    earned: float
    possible: float
    gb_per_s: float | None
    bandwidth: str | None
    ratio: float | None
    counters: dict[str, Any]
    kernel_sha256: str
    device: dict[str, Any]
    seconds: float
    workbook: str
    diagnosis: dict[str, Any] | None = None
    timing: dict[str, Any] | None = None


@dataclass(frozen=True)
class Event:
    """One row: an action of the learner other than a run."""

    time: str
    chapter: str
    what: str
    detail: dict[str, Any]


@dataclass(frozen=True)
class Timing:
    """One row: the speed of a correct kernel at one size."""

    run: str
    time: str
    chapter: str
    kernel_sha256: str
    kind: str
    gpu: str
    n: int
    gb_per_s: float
    reference_gb_per_s: float | None
    peak_gb_per_s: float | None
    workbook: str


_COLUMNS = tuple(field.name for field in fields(Run))
_TIMING_COLUMNS = tuple(field.name for field in fields(Timing))


class History:
    """The file at `path`, created by the first run. Every failure is a MachineError that says what to do."""

    def __init__(self, path: Path) -> None:
        """Remember the path; open nothing yet."""
        self.path = path

    def add(self, runs: list[Run]) -> None:
        """Append runs, all or none; existing rows stay unchanged."""
        if not runs:
            return
        rows = [
            tuple(
                json.dumps(value) if name in _JSON_COLUMNS and value is not None else value
                for name, value in ((name, getattr(run, name)) for name in _COLUMNS)
            )
            for run in runs
        ]
        self._insert("runs", _COLUMNS, rows)

    def runs(
        self, chapter: str | None = None, kind: str = "kernel", *, with_counters: bool = False
    ) -> list[Run]:
        """The runs of one chapter, or of all, oldest first; with counters only if requested."""
        columns = ",".join(
            "'{}' AS counters" if name == "counters" and not with_counters else name for name in _COLUMNS
        )
        query = f"SELECT {columns} FROM runs WHERE kind = ? AND chapter = ifnull(?, chapter)"
        return [Run(**row) for row in self._select("runs", query, (kind, chapter), Run)]

    def has_passed(self, chapter: str) -> bool:
        """Whether the learner's kernel for `chapter` ever passed."""
        return any(run.verdict == "PASS" for run in self.runs(chapter))

    def note(self, chapter: str, what: str, **detail: Any) -> None:
        """Append an event with the current time."""
        row = (now(), chapter, what, json.dumps(detail))
        try:
            with closing(self._open()) as database, database:
                database.execute("INSERT INTO events (time, chapter, what, detail) VALUES (?,?,?,?)", row)
        except sqlite3.Error as error:
            raise self._trouble(error) from None

    def add_timings(self, timings: list[Timing]) -> None:
        """Append times at single sizes, all or none."""
        self._insert("timings", _TIMING_COLUMNS, [astuple(timing) for timing in timings])

    def timings(self, chapter: str) -> list[Timing]:
        """The times of one chapter at single sizes, oldest first."""
        query = f"SELECT {','.join(_TIMING_COLUMNS)} FROM timings WHERE chapter = ?"
        return [Timing(**row) for row in self._select("timings", query, (chapter,), Timing)]

    def events(self, chapter: str | None = None) -> list[Event]:
        """The events of one chapter, or of all, oldest first."""
        query = "SELECT time, chapter, what, detail FROM events WHERE chapter = ifnull(?, chapter)"
        return [Event(**row) for row in self._select("events", query, (chapter,), Event)]

    def _insert(self, table: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
        command = (
            f"INSERT OR IGNORE INTO {table} ({','.join(columns)}) VALUES ({','.join('?' * len(columns))})"
        )
        try:
            with closing(self._open()) as database, database:
                database.executemany(command, rows)
        except sqlite3.Error as error:
            raise self._trouble(error) from None

    def _select(
        self, table: str, query: str, values: tuple[str | None, ...], kind: type
    ) -> list[dict[str, Any]]:
        """The rows of a query with their JSON parsed, oldest first; none if there is no file yet.

        A row that does not hold what it must is left out, and stays in the file.
        """
        if not self.path.exists():
            return []
        query = query.replace("SELECT ", "SELECT rowid AS row, ", 1) + " ORDER BY rowid"
        try:
            with closing(self._open()) as database:
                database.row_factory = sqlite3.Row
                database.text_factory = lambda text: text.decode("utf-8", errors="surrogateescape")
                rows = [dict(row) for row in database.execute(query, values)]
        except sqlite3.Error as error:
            raise self._trouble(error) from None
        good = []
        for row in rows:
            number = row.pop("row")
            try:
                good.append(_checked(row, kind))
            except ValueError as error:
                tell(f"{self.path}: row {number} of {table} is left out: {error}")
        return good if table == "events" else _oldest_first(good)

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self.path, timeout=10)
        try:
            if _version(database) < len(_STEPS):
                self._bring_up_to_date(database)
            elif _version(database) > len(_STEPS):
                raise MachineError(f"{self.path} was written by a newer Warpbook; update this one")
        except BaseException:
            database.close()
            raise
        return database

    def _bring_up_to_date(self, database: sqlite3.Connection) -> None:
        """Run the missing migrations, all or none; if several programs try at once, one of them does it."""
        with database:
            database.execute("BEGIN IMMEDIATE")
            for step in _STEPS[_version(database) :]:
                for command in _without_remarks(step).split(";"):
                    database.execute(command)
            database.execute(f"PRAGMA user_version = {len(_STEPS)}")

    def _trouble(self, error: sqlite3.Error) -> MachineError:
        if isinstance(error, sqlite3.OperationalError):
            remedy = next((what for words, what in _REMEDIES.items() if words in str(error)), "")
            return MachineError(f"the history {self.path} cannot be used: {error}{remedy}")
        return MachineError(
            f"the history {self.path} is damaged ({error}); move it away to begin a new one: "
            + shlex.join(["mv", "--", str(self.path), f"{self.path}.damaged"])
        )


def now() -> str:
    """The current time in ISO 8601, UTC, to the millisecond."""
    return moment_of(time.time())


def moment_of(seconds: float) -> str:
    """A time in seconds since 1970 as the history holds it; a clock far off gives the nearest that it can hold."""
    within = min(max(seconds, 0.0), _LAST)
    return datetime.datetime.fromtimestamp(within, datetime.UTC).isoformat(timespec="milliseconds")


def day(moment: str) -> str:
    """The local date of a recorded moment, as 2026-11-21."""
    return datetime.datetime.fromisoformat(moment).astimezone().date().isoformat()


def _checked(row: dict[str, Any], kind: type) -> dict[str, Any]:
    """A row as `kind` has it. Raises ValueError, with the column, for what cannot be in it."""
    for field in fields(kind):
        value = row[field.name]
        if value is None and NoneType in get_args(field.type):
            continue
        is_json = field.name in (*_JSON_COLUMNS, "detail")
        if is_json:
            try:
                value = row[field.name] = json.loads(value)
            except (ValueError, TypeError, RecursionError):
                value = None
        allowed = dict if is_json else str if field.type in (str, str | None) else int | float
        is_finite = not isinstance(value, float) or math.isfinite(value)
        is_text = not isinstance(value, str) or value.isprintable()
        if not isinstance(value, allowed) or not is_finite or not is_text:
            raise ValueError(f"its {field.name} is {row[field.name]!a:.40}")
    if kind is Run and not 0 <= row["earned"] <= row["possible"]:
        raise ValueError(f"its earned is {row['earned']}, of {row['possible']}")
    try:
        if day(row["time"]) < "1970":
            raise ValueError
    except (ValueError, OverflowError):
        raise ValueError(f"its time is {row['time']!a:.40}") from None
    return row


def _oldest_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows in the order of recording, by time; a time that is still to come, of a wrong clock, is not believed."""
    present = latest = now()
    keys = []
    for row in reversed(rows):
        latest = row["time"] if row["time"] <= present else latest
        keys.append((latest, row))
    keys.reverse()
    return [row for _, row in sorted(keys, key=lambda one: one[0])]


def _version(database: sqlite3.Connection) -> int:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    return int(version)


def _without_remarks(text: str) -> str:
    """SQL without its comments: a semicolon in a comment does not end a command."""
    return "\n".join(line.partition("--")[0] for line in text.splitlines())
