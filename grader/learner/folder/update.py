"""Writing a learner's folder, and bringing it up to date without losing anything that the learner wrote."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from ...core.errors import UsageError
from ...core.workbook import Workbook, write_whole
from . import SCHEMA, STATE, State, digest, read_state
from .contents import folder_files


@dataclass
class Changes:
    """What an update did, by file name."""

    added: list[str] = field(default_factory=list)
    renewed: list[str] = field(default_factory=list)
    beside: list[tuple[str, str]] = field(
        default_factory=list
    )  # the learner's file, and where the new one is


def beside(name: str) -> str:
    """Where the new version of a file goes that the learner has changed: kernel.new.cu beside kernel.cu."""
    path = Path(name)
    return path.with_name(f"{path.stem}.new{path.suffix}").as_posix()


def new_folder(tree: Workbook, folder: Path, version: str) -> Changes:
    """Make a folder, which must be empty or new unless it is the rest of an earlier workbook."""
    if (folder / STATE).is_file():
        raise UsageError(
            f"{folder} is a workbook already; to bring it up to date: cd {folder} && warpbook update"
        )
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a new folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "chapters").is_dir():
        raise UsageError(f"{folder} has other contents; name a new or empty folder")
    return _write(tree, folder, State(version, {}), version)


def update_folder(tree: Workbook, folder: Path, version: str) -> Changes:
    """Write new chapters, lessons and skeletons. A file that the learner changed stays, with the new one beside it."""
    return _write(tree, folder, read_state(folder), version)


def _write(tree: Workbook, folder: Path, before: State, version: str) -> Changes:
    changes = Changes()
    written = dict(before.files)
    for name, content in sorted(folder_files(tree, folder.absolute()).items()):
        path, new = folder / name, digest(content)
        current = _digest_of(path)
        if current == new:
            pass
        elif current is None and (name not in before.files or before.files[name] != new):
            write_whole(path, content)
            changes.added.append(name)
        elif current is None:
            continue  # the learner removed it, and it is the same as before
        elif current == before.files.get(name):
            write_whole(path, content)
            changes.renewed.append(name)
        elif before.files.get(name) != new:  # the learner's, and there is something new
            write_whole(folder / beside(name), content)
            changes.beside.append((name, beside(name)))
        written[name] = new
    state = {"schema": SCHEMA, "version": version, "files": written}
    write_whole(folder / STATE, json.dumps(state, indent=1, sort_keys=True) + "\n")
    return changes


def _digest_of(path: Path) -> str | None:
    if not os.path.lexists(path):
        return None
    return digest(path.read_bytes()) if path.is_file() else ""
