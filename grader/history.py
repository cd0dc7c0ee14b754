"""Every run ever graded, in one SQLite file that outlives `make clean`: progress/history.sqlite."""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import MachineError

_VERSION = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS runs (
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
CREATE INDEX IF NOT EXISTS runs_by_chapter ON runs (kind, chapter, time);
"""


@dataclass(frozen=True)
class Run:
    """One row of the history."""

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


class History:
    """The file at `path`; made at the first run. Every failure is a MachineError that says what to do."""

    def __init__(self, path: Path) -> None:
        """Opens nothing yet."""
        self.path = path

    def add(self, runs: list[Run]) -> None:
        """Appends runs, all or none; those already there are left alone."""
        rows = [
            (r.id, r.time, r.kind, r.chapter, r.verdict, r.earned, r.possible, r.gb_per_s, r.bandwidth,
             r.ratio, json.dumps(r.counters), r.kernel_sha256, json.dumps(r.device), r.seconds, r.workbook)
            for r in runs
        ]  # fmt: skip
        try:
            with closing(self._open()) as database, database:
                database.executemany(f"INSERT OR IGNORE INTO runs VALUES ({','.join('?' * 15)})", rows)
        except sqlite3.Error as error:
            raise self._trouble(error) from None

    def runs(self, chapter: str | None = None, kind: str = "kernel") -> list[Run]:
        """The runs of one chapter, or of all, oldest first."""
        if not self.path.exists():
            return []
        query = "SELECT * FROM runs WHERE kind = ? AND chapter = ifnull(?, chapter) ORDER BY time, rowid"
        try:
            with closing(self._open()) as database:
                database.row_factory = sqlite3.Row
                rows = [dict(row) for row in database.execute(query, (kind, chapter))]
            return [
                Run(**row | {"counters": json.loads(row["counters"]), "device": json.loads(row["device"])})
                for row in rows
            ]
        except sqlite3.Error as error:
            raise self._trouble(error) from None
        except ValueError as error:
            raise self._trouble(sqlite3.DatabaseError(str(error))) from None

    def has_passed(self, chapter: str) -> bool:
        """Whether the learner's kernel for `chapter` ever passed."""
        return any(run.verdict == "PASS" for run in self.runs(chapter))

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self.path, timeout=10)
        try:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version > _VERSION:
                raise MachineError(f"{self.path} was written by a newer Warpbook; update this one")
            if version < _VERSION:
                database.executescript(_TABLES + f"PRAGMA user_version = {_VERSION};")
        except BaseException:
            database.close()
            raise
        return database

    def _trouble(self, error: sqlite3.Error) -> MachineError:
        if isinstance(error, sqlite3.OperationalError):
            return MachineError(f"the history {self.path} cannot be used: {error}")
        return MachineError(
            f"the history {self.path} is damaged ({error}); move it away to begin a new one: "
            f"mv {self.path} {self.path}.damaged"
        )
