"""What a learner's folder contains: lessons, skeletons, and the pictures and guides that lessons link to."""

import posixpath
import re
from pathlib import Path

from ...core.command_words import without_make
from ...core.skeleton import make_skeleton
from ...core.workbook import Chapter, Workbook
from ..editor import editor_files

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
_README = """\
# Warpbook

A CUDA kernel-optimisation workbook. Each folder below `chapters/` is one exercise: read its `README.md`, edit its
`kernel.cu` where it says TODO, and judge it.

    warpbook ch01        # compile and judge your kernel of chapter 1; --profile shows more
    warpbook             # where you are, and what comes next
    warpbook watch       # judge a kernel whenever you save it
    warpbook hint ch01   # a hint, chosen by your last run
    warpbook grade       # judge and record all your kernels
    warpbook report      # a page about all your kernels: build/report/index.html
    warpbook update      # new chapters and lessons; your kernels stay as they are
    warpbook --help      # everything else

A kernel is judged on an NVIDIA GPU if there is one, and otherwise on an emulator. Your history is in `progress/`; what
is in `build/` can be made again.

| chapter | lesson |
|---|---|
"""


def folder_files(tree: Workbook, root: Path) -> dict[str, bytes]:
    """Every file of the folder `root` made from the workbook `tree`, by name. Commands are the package's."""
    files = {"README.md": _readme(tree.chapters).encode(), ".gitignore": b"/build/\n"}
    lessons = {f"{chapter.folder.as_posix()}/README.md": chapter for chapter in tree.chapters}
    texts = {name: (tree.root / name).read_text("utf-8") for name in lessons}
    linked = sorted({target for name, text in texts.items() for target in _targets(name, text)})
    for name in linked:
        path = tree.root / name
        if path.suffix == ".md" and name.startswith("docs/"):
            texts[name] = path.read_text("utf-8")
        elif path.is_file() and name.startswith("docs/"):
            files[name] = path.read_bytes()
    for name, text in texts.items():
        if name not in lessons:  # a guide's own pictures
            for target in _targets(name, text):
                if target.endswith(".svg") and (tree.root / target).is_file():
                    files[target] = (tree.root / target).read_bytes()
    there = {*files, *texts, *(chapter.kernel.as_posix() for chapter in tree.chapters)}
    files |= {
        name: without_make(_without_dead_links(name, text, there)).encode() for name, text in texts.items()
    }
    for chapter in tree.chapters:
        files[chapter.kernel.as_posix()] = skeleton(tree, chapter)
    files |= {name: text.encode() for name, text in editor_files(tree, root, packaged=True).items()}
    return files


def skeleton(tree: Workbook, chapter: Chapter) -> bytes:
    """The kernel.cu that a learner starts from."""
    solution = chapter.solution / "kernel.cu"
    return make_skeleton((tree.root / solution).read_text("utf-8"), str(solution)).text.encode()


def _readme(chapters: list[Chapter]) -> str:
    rows = [
        f"| {chapter.name} {chapter.title} | [{name}]({name}) |\n"
        for chapter in chapters
        for name in [f"{chapter.folder.as_posix()}/README.md"]
    ]
    return _README + "".join(rows)


def _targets(page: str, text: str) -> list[str]:
    return [_target(page, match[3]) for match in _LINK.finditer(text)]


def _target(page: str, link: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link))


def _without_dead_links(page: str, text: str, there: set[str]) -> str:
    """The same, with the words alone of a link to a file that the folder does not have."""
    folders = {str(parent) for name in there for parent in Path(name).parents}

    def kept(link: re.Match[str]) -> str:
        target = _target(page, link[3])
        return link[0] if target in there or target in folders else link[2]

    return _LINK.sub(kept, text)
