"""`make handout`: the workbook for students, without its solutions in any form.

Only the modelled times of the references go along: an image could be pasted into a kernel as inline assembly. What is
written is reproducible to the byte, and is not written at all if a part of a solution has found its way into it.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path

import jinja2

from ... import __version__
from ...core.distribution import (
    Member,
    core_members,
    files_below,
    in_order,
    member_of,
    skeleton_member,
    zip_bytes,
)
from ...core.errors import MachineError
from ...core.workbook import Chapter, Workbook, write_whole
from ..views.lessons import lesson_pages
from .leaks import Leak, leaks
from .times import times_members

FOLDER = "warpbook"  # what the archive unpacks to
# For people who change the workbook, or who grade: a student has no use for these.
_NOT_FOR_STUDENTS = re.compile(
    r"mk/(workbook|bench|gpu|class|exports|handout)\.mk|requirements/(dev|bench|peers|class|notebook|platforms|recording)\.txt"
    r"|docs/(README|adding-a-chapter|sources|emulator-speed|teaching|class|exports|isolation|notebook|container|slurm)\.md"
    r"|docs/class\.schema\.json|docs/examples/first.*|docs/assets/(verdict|watch)\.svg|README\.md"
    r"|chapters/\w+/answers\.h"  # what chapter.c compares a learner's answers with
)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


def handout_members(workbook: Workbook, chapters: list[Chapter], title: str = "") -> list[Member]:
    """Every file of a handout of `chapters`, in the archive's order; `title` is the course's, for its README."""
    root = workbook.root
    members = [*core_members(workbook, chapters), *times_members(workbook, chapters)]
    members += [
        replace(skeleton_member(workbook, chapter), name=skeleton_name(chapter)) for chapter in chapters
    ]
    members += [
        member_of(root, "mkdocs.yml"),
        *files_below(root, "bench/records"),
        *_documents(root, chapters),
    ]
    members = [member for member in members if not _NOT_FOR_STUDENTS.fullmatch(member.name)]
    members.append(Member("README.md", _readme(chapters, title).encode()))
    pages = lesson_pages(workbook, chapters)  # where a feedback page links to
    members += [Member(place, text.encode()) for place, text in pages.items()]
    return in_order(_without_dead_links(members))


def write_handout(workbook: Workbook, chapters: list[Chapter], path: Path, title: str = "") -> int:
    """Writes the handout as a zip archive; returns how many files are in it."""
    members = handout_members(workbook, chapters, title)
    found = leaks(workbook, chapters, members)
    if found:
        raise MachineError(f"the handout is not written: {_in_words(found)}")
    write_whole(path, zip_bytes(members, f"{FOLDER}/"))
    return len(members)


def skeleton_name(chapter: Chapter) -> str:
    """The file of a skeleton in a handout, for `make reset-chNN`; a checkout makes it from the solution."""
    return f"{chapter.solution.as_posix()}/skeleton.cu"


def _documents(root: Path, chapters: list[Chapter]) -> Iterator[Member]:
    """The guides, their pictures, and the chapters' experiments."""
    names = {chapter.name for chapter in chapters}
    for member in files_below(root, "docs"):
        experiment = re.match(r"docs/experiments/(ch\d\d)/", member.name)
        if not experiment or experiment[1] in names:
            yield member
    # The kernels, which `files_below` takes for nobody's.
    sources = [path for name in sorted(names) for path in (root / "docs/experiments" / name).glob("*.cu")]
    sources += (root / "docs/examples").glob("*.cu")
    for path in sorted(sources):
        yield member_of(root, path.relative_to(root))


def _readme(chapters: list[Chapter], title: str) -> str:
    text = (resources.files(__package__) / "README.md.j2").read_text("utf-8")
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True, trim_blocks=True, autoescape=False
    )  # Markdown, of the workbook's own words
    return environment.from_string(text).render(title=title, chapters=chapters, version=__version__)


def _without_dead_links(members: list[Member]) -> Iterator[Member]:
    """The same, where a page's link to a file that stays behind is its words alone."""
    there = {member.name for member in members}
    folders = {posixpath.dirname(name) for name in there}

    for member in members:
        if not member.name.endswith(".md"):
            yield member
            continue
        page = posixpath.dirname(member.name)

        def mended(link: re.Match[str], page: str = page) -> str:
            target = posixpath.normpath(posixpath.join(page, link[3]))
            return link[0] if target in there or target in folders else link[2]

        yield replace(member, content=_LINK.sub(mended, member.content.decode("utf-8")).encode())


def _in_words(found: list[Leak]) -> str:
    places = [
        f"{leak.member}:{leak.line} has `{leak.text}` of the solution of {leak.chapter}" for leak in found
    ]
    return "; ".join(places[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")
