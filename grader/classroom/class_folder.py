"""The folder that a class is graded into, and where everything in it lies.

class.json, gradebook.csv    the outcome; the pages stand beside
kernels/STUDENT/chNN/        each kernel.cu that was judged
journal/STUDENT/chNN.json    what is judged already, for a run that goes on where another stopped
work/                        whatever judging makes; gone at the end
course.json                  says that this is such a folder, and whose
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.errors import MachineError, UsageError, explain_os_error
from ..core.workbook import write_json
from .submissions.submission import file_name

_MARK = "course.json"
_SCHEMA = "warpbook/class-folder/1"


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

    def kernel(self, student: str, chapter: str) -> Path:
        """The judged kernel.cu."""
        return self.kernels / file_name(student) / chapter / "kernel.cu"

    def entry(self, student: str, chapter: str) -> Path:
        """The journal's entry of that kernel."""
        return self.journal / file_name(student) / f"{chapter}.json"

    @contextmanager
    def opened(self, title: str, submissions: Path) -> Iterator[None]:
        """Makes the folder, or takes up that of the same course; for one run at a time."""
        self._check_place(submissions)
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            self._check_owner(title)
            mark = self.root / _MARK
            if not mark.exists():
                write_json(mark, {"schema": _SCHEMA, "course": title})
            handle = os.open(mark, os.O_RDWR | os.O_CLOEXEC)  # NFS locks only what may be written
        except OSError as error:
            raise MachineError(f"the class's folder cannot be made: {explain_os_error(error)}") from None
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(f"another run is grading into {self.root} at this moment") from None
            yield
        finally:
            os.close(handle)

    def clear_work(self) -> None:
        """Removes what judging has made."""
        shutil.rmtree(self.work, ignore_errors=True)

    def clear_halves(self) -> None:
        """Removes what a run that was killed was about to write; every such name begins with a dot."""
        for path in self.root.rglob(".*"):
            if path.is_file():
                path.unlink(missing_ok=True)

    def _check_place(self, submissions: Path) -> None:
        root, theirs = self.root.resolve(), submissions.resolve()
        if root == theirs or root.is_relative_to(theirs):
            raise UsageError(
                f"the output folder {self.root} lies inside the submissions; name another, as OUTPUT=graded"
            )
        if theirs.is_relative_to(root):
            raise UsageError(f"the submissions lie inside the output folder {self.root}; name another")

    def _check_owner(self, title: str) -> None:
        mark = self.root / _MARK
        try:
            known = json.loads(mark.read_text("utf-8"))
            owner = known["course"] if known["schema"] == _SCHEMA else None
        except FileNotFoundError:
            if any(self.root.iterdir()):
                raise UsageError(
                    f"the output folder {self.root} holds other things; name a new or empty one, "
                    "or one that a class was graded into"
                ) from None
            return
        except (ValueError, KeyError, TypeError):
            owner = None
        if owner is None:
            raise UsageError(f"{mark} is not what a graded class leaves there; name another folder")
        if owner != title:
            raise UsageError(
                f'the output folder {self.root} belongs to another course, "{owner}"; name another folder'
            )
