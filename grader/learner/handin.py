"""`make submission`: one archive for the learner to hand in."""

from pathlib import Path
from typing import Annotated

import typer

from ..core.distribution import Member, in_order, zip_bytes
from ..core.errors import PASSED, MachineError, UsageError, explain_os_error
from ..core.options import Chapters, Json
from ..core.page import print_json
from ..core.receipts import receipts_of
from ..core.workbook import Chapter, Workbook, find_workbook, write_whole
from .refresh import bring_up_to_date
from .restart import skeleton_of

_MOST_BYTES = 1024 * 1024  # of a kernel.cu; the compiler driver has the same limit


def submission_members(workbook: Workbook, chapters: list[Chapter]) -> list[Member]:
    """The kernels that differ from their skeletons, and the receipts of those chapters."""
    members = []
    for chapter in chapters:
        kernel = workbook.root / chapter.kernel
        if not kernel.is_file():
            continue
        if kernel.stat().st_size > _MOST_BYTES:
            raise UsageError(f"{chapter.kernel} has more than 1 MiB, the limit for compiling")
        content = kernel.read_bytes()
        if content == skeleton_of(workbook, chapter).encode():
            continue
        members.append(Member(f"{chapter.folder.name}/kernel.cu", content))
        receipt = receipts_of(workbook) / f"{chapter.name}.json"
        if receipt.is_file():
            members.append(Member(f"receipts/{chapter.name}.json", receipt.read_bytes()))
    return in_order(members)


def submission(
    chapters: Chapters = None,
    out: Annotated[
        Path | None, typer.Option(help="The archive to write; default build/submission.zip.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Put your kernels, and the receipts of chapters that passed, into one archive to hand in."""
    workbook = find_workbook()
    chosen = workbook.select(chapters or [])
    path = out or workbook.build / "submission.zip"
    bring_up_to_date(workbook, chosen, quiet=as_json)
    try:
        members = submission_members(workbook, chosen)
        kernels = [member.name for member in members if member.name.endswith(".cu")]
        if not kernels:
            raise UsageError("there is nothing to hand in: every kernel.cu is unchanged")
        write_whole(path, zip_bytes(members))
    except OSError as error:
        raise MachineError(f"the archive could not be written: {explain_os_error(error)}") from None
    if as_json:
        files = [member.name for member in members]
        print_json({"schema": "warpbook/submission/1", "path": str(path), "files": files})
        return PASSED
    receipts = len(members) - len(kernels)
    counts = f"{_count(len(kernels), 'kernel')}, {_count(receipts, 'receipt')}"
    print(f"{workbook.shown(path)}: {counts} of chapters that passed")
    for name in kernels:
        print(f"  {name}")
    return PASSED


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
