"""The batch: every kernel of a class as a task, through an engine, into the journal."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from .judgement import Judgement, JudgeSettings


@dataclass(frozen=True)
class Task:
    """One kernel to judge; all that a machine with the same folders mounted needs to know."""

    student: str
    chapter: str  # "ch04"
    source: Path  # the unpacked kernel.cu, absolute
    work: Path  # a separate folder for temporary files, absolute; removed afterwards
    entry: Path  # the journal entry to write, absolute
    key: str  # everything that the judgement depends on, as one hash
    settings: JudgeSettings

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "student": self.student,
            "chapter": self.chapter,
            "source": str(self.source),
            "work": str(self.work),
            "entry": str(self.entry),
            "key": self.key,
            "settings": self.settings.document(),
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Self:
        """The inverse of `document`."""
        return cls(
            document["student"],
            document["chapter"],
            Path(document["source"]),
            Path(document["work"]),
            Path(document["entry"]),
            document["key"],
            JudgeSettings.from_document(document["settings"]),
        )


@dataclass(frozen=True)
class Done:
    """A task that is over; its journal entry is written."""

    task: Task
    judgement: Judgement


class Engine(Protocol):
    """Something that judges tasks: this machine, or a cluster."""

    is_elsewhere: bool  # whether other machines judge, so that this one needs no GPU

    def run(self, tasks: Sequence[Task]) -> Iterator[Done]:
        """Each task as it is over, in any order; every task comes once.

        A task that could not be judged comes with an INFRA judgement. Closing the iterator, or an exception
        inside it such as KeyboardInterrupt, ends whatever still runs and leaves no process or job behind.
        """
        ...


def write_tasks(path: Path, tasks: Sequence[Task]) -> None:
    """A file for `python -m grader.classroom.judge.worker FILE`, which judges them one after the other."""
    path.write_text(
        json.dumps({"schema": "warpbook/tasks/1", "tasks": [task.document() for task in tasks]}), "utf-8"
    )


def read_tasks(path: Path) -> list[Task]:
    """The inverse of `write_tasks`."""
    return [Task.from_document(task) for task in json.loads(path.read_text("utf-8"))["tasks"]]
