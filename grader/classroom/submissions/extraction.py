"""Taking the kernels out of an archive that nobody vouches for.

Only regular files that look like kernels or receipts are ever written, under names of our own; everything else
in an archive is looked at by name, type and size alone. One member that no honest archive has (a path that leads
out, a link, a FIFO, a device, a name given twice) and nothing of the archive is taken.

`unpack_apart` does it in a process with limits on memory and time, so that an archive made to exhaust its reader
exhausts that process.
"""

import ctypes
import json
import math
import re
import resource
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ...core.errors import MachineError, explain_os_error
from ...core.processes import Processes, clean_environment
from .archives import DAMAGED, Member, is_archive, members_of
from .untrusted import LIMITS, Limits, Refused, open_regular, printable, short

_MOST_UNOPENED = 3  # archives in an archive that are named


@dataclass(frozen=True)
class Taken:
    """One file that is wanted: its name in the submission, and where it lies now or why it was not taken."""

    name: str  # printable, with slashes
    path: Path | None
    refused: str = ""

    @property
    def is_unopened(self) -> bool:
        """Whether it is an archive in an archive."""
        return self.path is None and not self.refused


def is_wanted(name: str) -> bool:
    """Whether a path in a submission looks like a kernel or a receipt."""
    if is_passed_over(name):
        return False
    parts = name.split("/")
    is_receipt = len(parts) > 1 and parts[-2] == "receipts" and parts[-1].endswith(".json")
    return is_receipt or parts[-1].lower().endswith(".cu")


def is_passed_over(name: str) -> bool:
    """Whether a path in a submission leads through what nobody hands in."""
    parts = name.split("/")
    return any(part.startswith(".") or part in ("__MACOSX", "solutions", "build") for part in parts)


def check_name(raw: str, limits: Limits = LIMITS) -> str:
    """A member's name with plain slashes, "." left out. Raises Refused for one that leads elsewhere."""
    shown = short(raw)
    name = raw.replace("\\", "/")
    if len(raw) > limits.name_length:
        raise Refused(f"the member {shown} has a name of {len(raw):,} characters")
    if "\0" in name:
        raise Refused(f"the member {shown} has a NUL byte in its name")
    if name.startswith("/") or re.match(r"[A-Za-z]:(/|$)", name):
        raise Refused(f"the member {shown} has an absolute path")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise Refused(f"the member {shown} leads out of the archive")
    if len(parts) > limits.depth:
        raise Refused(f"the member {shown} lies more than {limits.depth} folders deep")
    return "/".join(parts)


def unpack(archive: Path, folder: Path, limits: Limits = LIMITS) -> list[Taken]:
    """Takes what is wanted out of `archive` into files of our own naming in `folder`.

    Raises Refused, or MachineError for a problem of the machine.
    """
    shown = short(archive.name)
    try:
        with _opened(archive, limits) as file:
            return list(_take(members_of(file, limits), folder, limits))
    except Refused as refused:
        raise Refused(f"{shown}: {refused}" if "member" in str(refused) else f"{shown} {refused}") from None
    except DAMAGED as error:
        why = " ".join(printable(str(error)).split())[:120] or type(error).__name__
        raise Refused(f"{shown} is damaged, cut short or no zip or tar archive ({why})") from None


def _opened(archive: Path, limits: Limits) -> IO[bytes]:
    try:
        return open_regular(archive, limits.archive_bytes)
    except OSError as error:
        raise MachineError(f"the archive cannot be read: {explain_os_error(error)}") from None


def _take(members: Iterable[Member], folder: Path, limits: Limits) -> Iterator[Taken]:
    seen: set[str] = set()
    total = packed = taken = unopened = 0
    for count, member in enumerate(members, 1):
        if count > limits.members:
            raise Refused(f"has more than {limits.members:,} members")
        name, shown = check_name(member.name, limits), short(member.name)
        if member.kind == "folder":
            continue
        if member.kind != "file":
            raise Refused(f"the member {shown} is {member.kind}")
        if name in seen:
            raise Refused(f"the member {shown} is there twice")
        seen.add(name)
        if member.size < 0:  # which some tar headers can say
            raise Refused(f"the member {shown} has {member.size:,} bytes")
        total += member.size
        if total > limits.total_bytes:
            raise Refused(f"unpacks to more than {limits.total_bytes:,} bytes, by the member {shown}")
        packed += member.packed or 0
        if member.packed is not None and total > max(1 << 20, limits.ratio * packed):
            raise Refused(f"unpacks to more than {limits.ratio} times its size, by the member {shown}")
        if not is_wanted(name):
            if is_archive(name) and not is_passed_over(name) and unopened < _MOST_UNOPENED:
                unopened += 1
                yield Taken(printable(name), None)
            continue
        taken += 1
        if taken > limits.kernels:
            raise Refused(f"has more than {limits.kernels} kernels")
        yield _write(member, name, folder / f"{taken:04}", limits)


def _write(member: Member, name: str, path: Path, limits: Limits) -> Taken:
    if member.size > limits.file_bytes:
        words = f"has {member.size:,} bytes; at most {limits.file_bytes:,} are taken"
        return Taken(printable(name), None, words)
    with member.open() as source:
        content = source.read(member.size + 1)
    if len(content) != member.size:
        raise Refused(f"the member {short(name)} is not as long as the archive says")
    try:
        path.write_bytes(content)
    except OSError as error:
        raise MachineError(f"a kernel could not be kept: {explain_os_error(error)}") from None
    return Taken(printable(name), path)


# ---- In a separate process
# ------------------------------------------------------------------------------------

_MEMORY = 512 << 20
_REFUSED = 1
_TOO_MUCH = 2
_MACHINE = 3
_MANIFEST = "manifest.json"
_SET_PDEATHSIG = 1  # of prctl


def unpack_apart(
    archive: Path, folder: Path, processes: Processes, seconds: float
) -> tuple[list[Taken], float]:
    """`unpack`, in a process of limited memory and `seconds`; and the processor's seconds that it took.

    Raises Refused or MachineError.
    """
    allowed = max(1, math.ceil(seconds))
    finished = processes.run(
        [sys.executable, "-B", "-s", "-m", __name__, archive.absolute(), folder.absolute(), str(allowed)],
        folder=Path(__file__).resolve().parents[3],
        limit=6 * LIMITS.seconds,
        environment=clean_environment(),
    )
    if processes.is_stopped:
        raise KeyboardInterrupt
    words = f"{_MEMORY >> 20} MiB of memory and {LIMITS.seconds} s of computing for all archives"
    manifest = folder / _MANIFEST
    match finished.status:
        case 0:
            told = json.loads(manifest.read_text("utf-8"))
            taken = [
                Taken(name, folder / path if path else None, refused) for name, path, refused in told["taken"]
            ]
            return taken, told["seconds"]
        case status if status == _REFUSED and manifest.exists():
            raise Refused(json.loads(manifest.read_text("utf-8"))["refused"])
        case status if status in (_TOO_MUCH, -signal.SIGXCPU):
            raise Refused(f"{short(archive.name)} cannot be read with {words}")
        case status:
            said = " ".join(finished.output.split())[-300:]
            raise MachineError(f"{short(archive.name)} could not be read (status {status}): {said}")


def main() -> int:
    """What runs there: unpacks into the folder, and leaves beside it what was taken, or the refusal."""
    ctypes.CDLL(None).prctl(_SET_PDEATHSIG, signal.SIGKILL)  # it is useless once the grader is gone
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    archive, folder, seconds = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    try:
        taken = unpack(archive, folder)
        entries = [(one.name, one.path.name if one.path else "", one.refused) for one in taken]
        document: object = {"taken": entries, "seconds": time.process_time()}
        status = 0
    except Refused as refused:
        document, status = {"refused": str(refused)}, _REFUSED
    except MemoryError:
        return _TOO_MUCH
    except MachineError as error:
        print(error, file=sys.stderr)
        return _MACHINE
    (folder / _MANIFEST).write_text(json.dumps(document), "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
