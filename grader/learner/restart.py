"""Starting a chapter afresh, with the old file kept."""

import os
from pathlib import Path

from ..core.errors import MachineError, explain_os_error
from ..core.skeleton import MarkerError, make_skeleton
from ..core.workbook import Chapter, Workbook, write_whole


def reset(workbook: Workbook, chapter: Chapter) -> Path | None:
    """Puts the skeleton in place of kernel.cu. Returns where the old file is kept, or None: no change."""
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
    """The kernel.cu that the chapter begins with: made from the solution, or as a handout keeps it."""
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
    """Writes `text` to the first free build/kept/chNN/kernel.cu.N.bak; never over an earlier one."""
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
