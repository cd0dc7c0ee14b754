"""What a submission holds: at most one kernel a chapter, each taken out of wherever its author put it.

A kernel of chapter 4 is ch04_warp_shuffle/kernel.cu, ch04.cu, ch04_kernel.cu or similar: the number is in the
file's name or else in the name of the nearest folder. With one chapter in the course any one .cu will do.
A skeleton in which nothing but comments and white space was changed does not count as handed in.
"""

import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...core.errors import GraderError, explain_os_error
from ...core.processes import Processes
from ..similarity.preprocess import without_comments
from .archives import is_archive
from .extraction import Taken, check_name, is_passed_over, is_wanted, unpack_apart
from .submission import Piece, Submission, Trouble
from .untrusted import LIMITS, Refused, open_regular, printable, short

_NUMBER = re.compile(r"(?:^|[^a-z0-9])ch(?:apter)?[ _-]?0?(\d{1,2})(?![0-9])")


@dataclass(frozen=True)
class Kernel:
    """One chapter's file as it was handed in."""

    name: str  # printable, in the submission
    content: bytes

    @property
    def sha256(self) -> str:
        """Of its bytes."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass
class Gathered:
    """All of one submission that matters."""

    kernels: dict[str, Kernel] = field(default_factory=dict)  # by chapter
    refused: dict[str, str] = field(default_factory=dict)  # by chapter, why its kernel was not taken
    receipts: dict[str, bytes] = field(default_factory=dict)  # by chapter
    missing: str = ""  # why a chapter may not be there
    unchanged: dict[str, str] = field(default_factory=dict)  # by chapter, that its file is still the skeleton
    sha256: str = ""
    trouble: Trouble | None = None


def gather(
    submission: Submission, skeletons: Mapping[str, str], work: Path, processes: Processes
) -> Gathered:
    """Opens what was handed in, with all care, in a folder under `work` that is gone afterwards.

    `skeletons` has the skeleton of every chapter that counts.
    """
    if not submission.pieces:
        return Gathered()
    folder = Path(tempfile.mkdtemp(dir=work))
    try:
        return _sorted_out(_Opening(folder, processes).all(submission.pieces), skeletons)
    except Refused as refused:
        return Gathered(trouble=Trouble("REJECT", str(refused)))
    except (OSError, GraderError) as error:
        why = explain_os_error(error) if isinstance(error, OSError) else str(error)
        return Gathered(trouble=Trouble("INFRA", f"it could not be opened: {why}"))
    except Exception as error:  # of ours; a class does not stop for one submission
        words = f"an error in Warpbook itself ({type(error).__name__}: {error})"
        return Gathered(trouble=Trouble("INFRA", printable(words)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def chapter_of(name: str) -> str:
    """The chapter that a path in a submission names, such as "ch04"; "" for none."""
    *folders, file = name.lower().split("/")
    for part in (file.rsplit(".", 1)[0], *reversed(folders)):
        if match := _NUMBER.search(part):
            return f"ch{int(match[1]):02}"
    return ""


class _Opening:
    """All of one submission, one file after the other, within the limits of a submission as a whole."""

    def __init__(self, folder: Path, processes: Processes) -> None:
        self.folder = folder
        self.processes = processes
        self.archives = 0
        self.seconds = 0.0  # of computing, for the archives so far

    def all(self, pieces: Sequence[Piece]) -> Iterator[Taken]:
        kernels = size = 0
        for piece in pieces:
            for one in self.open(piece):
                kernels += not one.is_unopened
                size += one.path.stat().st_size if one.path else 0
                if kernels > LIMITS.kernels:
                    raise Refused(f"{short(piece.path.name)}: there are more than {LIMITS.kernels} kernels")
                if size > LIMITS.total_bytes:
                    words = f"there are more than {LIMITS.total_bytes:,} bytes of kernels"
                    raise Refused(f"{short(piece.path.name)}: {words}")
                yield one

    def open(self, piece: Piece) -> Iterator[Taken]:
        if stat.S_ISDIR(piece.path.lstat().st_mode):
            yield from self.walk(piece.path)
        elif is_archive(piece.path.name):
            yield from self.unpack(piece.path)
        else:
            loose = self.copy(piece.path.name, None, piece.path, piece.name)
            if loose.path is None:
                raise Refused(f"{short(loose.name)} {loose.refused}")
            yield loose

    def unpack(self, archive: Path) -> list[Taken]:
        self.archives += 1
        if self.archives > LIMITS.archives:
            raise Refused(f"{short(archive.name)}: there are more than {LIMITS.archives} archives")
        if self.seconds > LIMITS.seconds:
            raise Refused(f"the archives take more than {LIMITS.seconds} s of computing to unpack")
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        taken, seconds = unpack_apart(archive, folder, self.processes, LIMITS.seconds - self.seconds)
        self.seconds += seconds
        return taken

    def walk(self, top: Path) -> Iterator[Taken]:
        """Every kernel in a folder and in the archives that lie in it. Links are never followed."""

        def give_up(error: OSError) -> None:
            raise error

        count = 0
        for place, folders, files, handle in os.fwalk(os.fsencode(top), onerror=give_up):
            inside = os.fsdecode(os.path.relpath(place, os.fsencode(top)))
            if inside.count("/") + 1 > LIMITS.depth:
                raise Refused(f"the folder {short(top.name)} has folders more than {LIMITS.depth} deep")
            count += len(folders) + len(files)
            if count > LIMITS.members:
                raise Refused(f"the folder {short(top.name)} has more than {LIMITS.members:,} files")
            folders.sort()
            links = [name for name in folders if stat.S_ISLNK(os.lstat(name, dir_fd=handle).st_mode)]
            for raw in sorted([*files, *links]):
                file = os.fsdecode(raw)
                name = check_name(file if inside == "." else f"{inside}/{file}")
                if is_archive(file) and not is_passed_over(name):
                    for one in self.unpack(top / inside / file):
                        yield Taken(f"{printable(name)}/{one.name}", one.path, one.refused)
                elif raw in links and chapter_of(name):
                    yield Taken(printable(name), None, "is a symbolic link")
                elif is_wanted(name):
                    yield self.copy(raw, handle, top / name, name)

    def copy(self, raw: str | bytes, handle: int | None, path: Path, name: str) -> Taken:
        """Takes one loose file."""
        shown = printable(name)
        try:
            source = path if handle is None else os.fsdecode(raw)
            with open_regular(source, LIMITS.file_bytes, folder=handle) as file:
                content = file.read(LIMITS.file_bytes + 1)
        except Refused as refused:
            return Taken(shown, None, str(refused))
        number, name_here = tempfile.mkstemp(dir=self.folder)
        with os.fdopen(number, "wb") as copy:
            copy.write(content)
        return Taken(shown, Path(name_here))


def _sorted_out(taken: Iterable[Taken], skeletons: Mapping[str, str]) -> Gathered:
    gathered = Gathered()
    chapters = list(skeletons)
    digest = hashlib.sha256()
    others: list[str] = []
    unopened: list[str] = []
    is_empty = True
    first = next(iter(chapters), "ch01")
    example = f"{first}/kernel.cu or {first}.cu"
    for one in taken:
        if one.is_unopened:
            unopened.append(one.name)
            continue
        content = one.path.read_bytes() if one.path else b""
        is_empty = False
        digest.update(f"{one.name}\0{hashlib.sha256(content).hexdigest()}\0{one.refused}\0".encode())
        is_kernel = not one.name.endswith(".json")
        chapter = chapter_of(one.name)
        if not chapter and is_kernel and len(chapters) == 1:
            chapter = chapters[0]
        if not is_kernel:
            if chapter in chapters and one.path:
                gathered.receipts[chapter] = content
        elif chapter in chapters and one.path and is_skeleton(content, skeletons[chapter]):
            gathered.unchanged[chapter] = f"{short(one.name)} is the skeleton, unchanged"
        elif chapter in chapters:
            _add(gathered, chapter, one, content)
        elif not chapter:
            others.append(one.name)
    gathered.sha256 = digest.hexdigest()
    if unopened:
        words = "is an archive in an archive, and not opened: hand in one, or the folder itself"
        gathered.missing = f"{short(unopened[0])} {words}"
    elif is_empty:
        gathered.missing = f"there is no kernel in what was handed in: one is {example}"
    if others and not (gathered.kernels or gathered.refused or gathered.unchanged):
        names = ", ".join(map(short, others[:3])) + (", ..." if len(others) > 3 else "")
        words = f"nothing says which chapter {names} belongs to: a kernel is {example}"
        gathered.trouble = Trouble("REJECT", words)
    return gathered


def is_skeleton(content: bytes, skeleton: str) -> bool:
    """Whether only comments and white space differ."""
    if len(content) > 4 * len(skeleton.encode()) + 100_000:  # no need to look
        return False
    return without_comments(content.decode("utf-8", "replace")) == without_comments(skeleton)


def _add(gathered: Gathered, chapter: str, one: Taken, content: bytes) -> None:
    if one.path is None:
        gathered.refused[chapter] = f"{short(one.name)} {one.refused}"
        return
    kernel = Kernel(one.name, content)
    there = gathered.kernels.get(chapter)
    if there is None:
        gathered.kernels[chapter] = kernel
    elif there.content != content:
        gathered.refused[chapter] = (
            f"{short(there.name)} and {short(kernel.name)} are two different kernels for {chapter}"
        )
