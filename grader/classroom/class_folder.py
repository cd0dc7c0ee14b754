"""The folder that a class is graded into, and its contents.

class.json, gradebook.csv    the outcome; the pages are beside them
kernels/STUDENT/chNN/        each kernel.cu that was judged; chNN.2 is that of the student's second submission
journal/STUDENT/chNN.json    the judgements so far, for a run that resumes an interrupted one
history.jsonl                how the class was after each run that changed a grade
what-if/                     the same of a trial, which changes nothing else; the next run takes its judgements
work/                        temporary files of judging; removed at the end
course.json                  marks the folder, names its course, and has the secret of one without its own
"""

import fcntl
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.errors import MachineError, UsageError, explain_os_error
from ..core.workbook import write_json
from .submissions.submission import file_name

_MARK = "course.json"
_SCHEMA = "warpbook/class-folder/1"
_SECRET_BYTES = 16


class ClassFolder:
    """One class's folder."""

    def __init__(self, root: Path) -> None:
        """Touches nothing."""
        self.root = root.absolute()
        self.document = self.root / "class.json"
        self.gradebook = self.root / "gradebook.csv"
        self.kernels = self.root / "kernels"
        self.journal = self.root / "journal"
        self.work = self.root / "work"
        self.slurm = self.root / "slurm"
        self.history = self.root / "history.jsonl"

    @property
    def trial(self) -> "ClassFolder":
        """The folder of a trial."""
        return ClassFolder(self.root / "what-if")

    def kernel(self, student: str, chapter: str, label: str = "") -> Path:
        """The judged kernel.cu; `label` tells several of a student's apart."""
        return self.kernels / file_name(student) / f"{chapter}{label}" / "kernel.cu"

    def kernels_of(self, student: str, chapter: str) -> list[Path]:
        """All kernels of a student's chapter in the folder."""
        folder = self.kernels / file_name(student)
        return [*folder.glob(f"{chapter}/kernel.cu"), *folder.glob(f"{chapter}.*/kernel.cu")]

    def entry(self, student: str, chapter: str, label: str = "") -> Path:
        """The journal's entry of that kernel."""
        return self.journal / file_name(student) / f"{chapter}{label}.json"

    @contextmanager
    def opened(self, title: str, submissions: Path) -> Iterator[bytes]:
        """Create the folder, or open that of the same course; for one run at a time. Yield its secret."""
        self._check_place(submissions)
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            secret = self._check_owner(title)
            mark = self.root / _MARK
            if not secret:
                secret = secrets.token_bytes(_SECRET_BYTES)
                write_json(mark, {"schema": _SCHEMA, "course": title, "secret": secret.hex()})
            handle = os.open(mark, os.O_RDWR | os.O_CLOEXEC)  # NFS locks only writable files
        except OSError as error:
            raise MachineError(f"the class's folder cannot be made: {explain_os_error(error)}") from None
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(f"another run is grading into {self.root} now") from None
            yield secret
        finally:
            os.close(handle)

    def clear_work(self) -> None:
        """Remove the temporary files of judging."""
        shutil.rmtree(self.work, ignore_errors=True)

    def clear_trial(self) -> None:
        """Remove what a trial has left; its judgements are in the journal by now."""
        shutil.rmtree(self.trial.root, ignore_errors=True)

    def clear_halves(self) -> None:
        """Remove unfinished files of a killed run; their names begin with a dot."""
        for path in self.root.rglob(".*"):
            if path.is_file():
                path.unlink(missing_ok=True)

    def _check_place(self, submissions: Path) -> None:
        root, theirs = self.root.resolve(), submissions.resolve()
        if root == theirs or root.is_relative_to(theirs):
            raise UsageError(
                f"the output folder {self.root} is inside the submissions; name another one, such as "
                "OUTPUT=graded"
            )
        if theirs.is_relative_to(root):
            raise UsageError(f"the submissions are inside the output folder {self.root}; name another one")

    def _check_owner(self, title: str) -> bytes:
        """The folder's secret; empty where the folder is new or has none yet."""
        mark = self.root / _MARK
        try:
            known = json.loads(mark.read_text("utf-8"))
            owner = known["course"] if known["schema"] == _SCHEMA else None
            secret = bytes.fromhex(known.get("secret", ""))
        except FileNotFoundError:
            if any(self.root.iterdir()):
                raise UsageError(
                    f"the output folder {self.root} has other contents; name a new or empty folder, or one "
                    "that a class was graded into"
                ) from None
            return b""
        except (ValueError, KeyError, TypeError):
            owner = None
        if owner is None:
            raise UsageError(f"{mark} was not written by a graded class; name another folder")
        if owner != title:
            raise UsageError(
                f'the output folder {self.root} belongs to another course, "{owner}"; name another folder'
            )
        return secret
