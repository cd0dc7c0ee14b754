"""Restores a chapter's skeleton, and keeps the old file."""

import os
from pathlib import Path

from ..core.errors import MachineError, explain_os_error
from ..core.skeleton import MarkerError, make_skeleton
from ..core.workbook import Chapter, Workbook, write_whole


def reset(workbook: Workbook, chapter: Chapter) -> Path | None:
    """Replace kernel.cu with the skeleton. Returns where the old file is kept, or None if nothing changed."""
    skeleton = skeleton_of(workbook, chapter)
    kernel = workbook.root / chapter.kernel
    try:
        old = kernel.read_bytes()
    except FileNotFoundError:
        old = None
    if old == skeleton.encode():
        return None
    kept = _keep(workbook, chapter, old) if old is not None else None
    write_whole(kernel, skeleton)
    return kept or kernel


def skeleton_of(workbook: Workbook, chapter: Chapter) -> str:
    """The skeleton, made from the solution or taken from a handout's copy."""
    solution = chapter.solution / "kernel.cu"
    try:
        try:
            return make_skeleton((workbook.root / solution).read_text("utf-8"), str(solution)).text
        except FileNotFoundError:
            return (workbook.root / chapter.solution / "skeleton.cu").read_text("utf-8")
    except OSError as error:
        raise MachineError(f"the skeleton cannot be made from {explain_os_error(error)}") from None
    except (MarkerError, UnicodeDecodeError) as error:
        raise MachineError(f"the skeleton cannot be made: {error}") from None


def _keep(workbook: Workbook, chapter: Chapter, text: bytes) -> Path:
    """Write `text` to the first free build/kept/chNN/kernel.cu.N.bak; earlier files are never overwritten."""
    folder = workbook.build / "kept" / chapter.name
    folder.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        path = folder / f"kernel.cu.{number}.bak"
        try:
            with open(path, "xb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            return path.relative_to(workbook.root)
        except FileExistsError:
            number += 1
        except OSError:
            path.unlink(missing_ok=True)
            raise
