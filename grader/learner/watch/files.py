"""Which kernel.cu was saved.

The whole folder chapters/ is watched, so that editors that write a new file and rename it are noticed as well as
those that write into the old one.
"""

import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

from watchfiles import Change, awatch
from watchfiles.main import FileChange

from ...core.workbook import Chapter, Workbook

KERNEL, PROGRAM = "kernel.cu", "chapter.c"
_QUIET_MS = 20  # after this long without events, the save is complete
_AT_MOST_MS = 200  # the longest wait for an editor that keeps writing


@dataclass(frozen=True)
class Saved:
    """A chapter with a saved file."""

    chapter: Chapter
    is_program_changed: bool  # chapter.c too


async def saves(workbook: Workbook, chapters: list[Chapter]) -> AsyncIterator[list[Saved]]:
    """Every save of a chapter's files; simultaneous ones together and in chapter order."""
    root = workbook.root
    folders = {str(root / chapter.folder): chapter for chapter in chapters}

    def is_ours(_: Change, path: str) -> bool:
        folder, name = os.path.split(path)
        return folder in folders and name in (KERNEL, PROGRAM)

    async for changes in _changes(root / "chapters", is_ours):
        paths = {Path(path) for _, path in changes if Path(path).exists()}
        names = {(str(path.parent), path.name) for path in paths}
        saved = [
            Saved(chapter, (folder, PROGRAM) in names)
            for folder, chapter in folders.items()
            if {(folder, KERNEL), (folder, PROGRAM)} & names
        ]
        if saved:
            yield saved


async def _changes(folder: Path, is_ours: Callable[[Change, str], bool]) -> AsyncIterator[set[FileChange]]:
    """Changes under `folder`: reported by the system, or else found by polling every 300 ms."""

    def watcher(*, looks: bool | None) -> AsyncGenerator[set[FileChange], None]:
        return awatch(folder, watch_filter=is_ours, step=_QUIET_MS, debounce=_AT_MOST_MS, force_polling=looks)

    try:
        async for changes in watcher(looks=None):  # WATCHFILES_FORCE_POLLING decides
            yield changes
    except (OSError, RuntimeError):  # this user has no watches left, or the disk reports no changes
        async for changes in watcher(looks=True):
            yield changes
