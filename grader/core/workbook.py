"""The workbook: its paths and its chapters.

In a checkout one folder holds everything. The package keeps what a learner does not edit in its own tree (solutions,
hints, headers, programs), and the learner's folder has lessons, kernels, results and history.
"""

import contextlib
import json
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import MachineError, UsageError

_FOLDER = re.compile(r"(ch\d\d)_[a-z0-9_]+")


@dataclass(frozen=True)
class Chapter:
    """One folder under chapters/, and the corresponding one under solutions/."""

    name: str  # "ch04"
    folder: Path  # chapters/ch04_warp_shuffle, relative to the root
    title: str  # from the lesson's first heading
    tree: Path = Path()  # of the package, absolute; empty in a checkout

    @property
    def kernel(self) -> Path:
        """The learner's file."""
        return self.folder / "kernel.cu"

    @property
    def solution(self) -> Path:
        """The folder of the reference solution."""
        return self.tree / "solutions" / self.folder.name

    @property
    def material(self) -> Path:
        """The folder of what the chapter consists of besides its lesson and kernel: chapter.c, hints.md."""
        return self.tree / self.folder


class Workbook:
    """A checkout at `root`, or a learner's folder at `root` of the package in `tree`.

    Paths are relative to the root unless stated otherwise.
    """

    def __init__(self, root: Path, tree: Path | None = None) -> None:
        """Find the chapters; a checkout may have none."""
        self.root = root
        self.tree = tree or root  # of headers, solutions, records and programs
        self.build = root / "build"  # what is built and judged here
        self.out = self.tree / os.environ.get("WARPBOOK_OUT", "build")  # build/sanitize under SANITIZE=1
        self.progress = root / "progress"  # the learner's: outlives make clean and updates
        self.history = self.progress / "history.sqlite"
        self.chapters = self._find_chapters()

    def _find_chapters(self) -> list[Chapter]:
        tree = self.tree if self.is_packaged else Path()
        folders = sorted(path for path in (self.root / "chapters").glob("ch[0-9][0-9]_*") if path.is_dir())
        chapters: dict[str, Chapter] = {}
        for folder in folders:
            match = _FOLDER.fullmatch(folder.name)
            if not match or not (self.tree / "chapters" / folder.name / "chapter.c").is_file():
                continue
            name = match[1]
            if name in chapters:
                raise MachineError(
                    f"two folders have the number {name}: {chapters[name].folder} and {folder.name}"
                )
            chapters[name] = Chapter(name, folder.relative_to(self.root), _title(folder), tree)
        return list(chapters.values())

    def is_program(self, chapter: Chapter) -> bool:
        """Whether its kernel.cu is a whole program, whose main() runs on the host."""
        return ".is_program = true" in (self.root / chapter.material / "chapter.c").read_text("utf-8")

    @property
    def is_packaged(self) -> bool:
        """Whether the programs come from the package, ready to run."""
        return self.tree != self.root

    def program(self, chapter: Chapter) -> Path:
        """The program of a chapter, relative to the root; absolute if it comes from the package."""
        if self.is_packaged:
            return self.out / "programs" / chapter.name
        if self.out == self.build:
            return Path(chapter.name)
        return self.out.relative_to(self.root) / "programs" / chapter.name

    def command(self, chapter: Chapter) -> str:
        """What starts a chapter's program in the root."""
        program = self.program(chapter)
        return str(program) if program.is_absolute() else f"./{program}"

    def shown(self, path: Path) -> Path:
        """A path as shown in messages: relative to the root if it is below it."""
        return path.relative_to(self.root) if path.is_relative_to(self.root) else path

    def select(self, names: list[str]) -> list[Chapter]:
        """The chapters with these names ("ch04", "4", "ch04_warp_shuffle"), in order; all without names."""
        if not self.chapters:
            raise MachineError(
                "there are no chapters here: no folder chapters/chNN_name contains a chapter.c"
            )
        if not names:
            return self.chapters
        known = {chapter.name: chapter for chapter in self.chapters}
        wanted: set[str] = set()
        for name in names:
            match = re.fullmatch(r"(?:\./)?(?:chapters/)?(?:ch)?(\d{1,2})(?:_[a-z0-9_]*)?/?", name.strip())
            key = f"ch{int(match[1]):02}" if match else name
            if key not in known:
                shown = name if name and name.isprintable() and len(name) <= 40 else ascii(name)[:40]
                raise UsageError(f"there is no chapter {shown}; there are: {' '.join(known)}")
            wanted.add(key)
        return [chapter for chapter in self.chapters if chapter.name in wanted]


def _title(folder: Path) -> str:
    try:
        text = (folder / "README.md").read_text("utf-8", errors="replace")
    except OSError:
        text = ""
    heading = re.search(r"^# +(.+?)\s*$", text, re.MULTILINE)
    if not heading:
        return folder.name[5:].replace("_", " ")
    return (
        re.sub(r"^(?:Chapter\s+\d+|ch\d\d)\s*[:.,\u2013\u2014-]?\s*", "", heading[1], flags=re.IGNORECASE)
        or heading[1]
    )


def lesson_of(workbook: Workbook, anchor: Any) -> str:
    """The lesson and the section that "ch04#five-steps" names, in words; "" if there is none."""
    name, _, slug = str(anchor or "").partition("#")
    chapter = next((chapter for chapter in workbook.chapters if chapter.name == name), None)
    if chapter is None:
        return ""
    lesson = chapter.folder / "README.md"
    try:
        text = (workbook.root / lesson).read_text("utf-8", errors="replace")
    except OSError:
        return ""
    headings = re.findall(r"^#+ +(.*?)\s*$", text, re.MULTILINE)
    section = next((heading for heading in headings if anchor_of(heading) == slug), None)
    return f"{lesson}, {section}" if section else str(lesson)


def anchor_of(heading: str) -> str:
    """A heading of a lesson as it appears in links: "the-trap"."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def find_workbook() -> Workbook:
    """The folder that WARPBOOK_WORKBOOK names, the checkout in the working folder, or the one of this file."""
    here, tree = Path.cwd(), Path(__file__).resolve().parents[2]
    if named := os.environ.get("WARPBOOK_WORKBOOK"):  # as ./chNN reads it: common/driver/workbook.c
        return Workbook(Path(named), tree)
    if (here / "chapters").is_dir() and (here / "Makefile").is_file():
        return Workbook(here)
    return Workbook(tree)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write `path` atomically: a new file is renamed into place. Devices stay."""
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file() and not path.is_dir():
        # A rename would replace /dev/stdout; opening a pipe without a reader is an error and does not block.
        with open(os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK), "wb") as file:
            os.set_blocking(file.fileno(), True)
            file.write(data)
        return
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(fresh, "xb") as file:  # readable by others as the umask allows
            file.write(data)
        fresh.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(fresh):
            error.filename, error.filename2 = str(path), None
        elif isinstance(error, OSError) and error.filename is None:  # while writing
            error.filename = str(path)
        raise


def write_json(path: Path, document: Any) -> None:
    """Write a JSON document atomically."""
    write_whole(path, json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
