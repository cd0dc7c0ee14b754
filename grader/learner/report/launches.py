"""The launches of a trace, with the arithmetic that every picture of them needs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .figures import Figure, Record

LANES = range(32)


@dataclass(frozen=True)
class Launch:
    """One kernel of one task, as it was recorded."""

    record: Record  # the trace
    task: int
    kernel: int

    @property
    def of_task(self) -> dict[str, Any]:
        """The task's part of the trace."""
        return dict(self.record.raw("tasks", self.task))

    @property
    def data(self) -> dict[str, Any]:
        """The kernel's part of the trace."""
        return dict(self.record.raw("tasks", self.task, "kernels", self.kernel))

    @property
    def name(self) -> str:
        """The kernel's."""
        return str(self.data["name"])

    @property
    def task_name(self) -> str:
        """The task's."""
        return str(self.of_task["task"] or "")

    @property
    def title(self) -> str:
        """The kernel, and the task if it has another name."""
        return self.name if self.task_name in ("", self.name) else f"{self.name} ({self.task_name})"

    def figure(self, *steps: str | int) -> Figure | None:
        """A number of the kernel's part."""
        return self.record.figure("tasks", self.task, "kernels", self.kernel, *steps)

    def pointer(self, *steps: str | int) -> str:
        """Its place."""
        return self.record.pointer("tasks", self.task, "kernels", self.kernel, *steps)

    @property
    def threads(self) -> int:
        """In a block."""
        x, y, z = self.data["block"]
        return int(x * y * z)


def launches(record: Record | None) -> Iterator[Launch]:
    """All of a trace."""
    if record is not None:
        for i, task in enumerate(record.raw("tasks") or []):
            for j in range(len(task["kernels"])):
                yield Launch(record, i, j)


def offsets(event: dict[str, Any]) -> list[int | None]:
    """The byte in the object for each lane of an access; None for idle lanes."""
    if "offsets" in event:
        return list(event["offsets"])
    return [event["offset"] + lane * event["step"] if event["mask"] >> lane & 1 else None for lane in LANES]


@dataclass(frozen=True)
class Joined:
    """What an access to shared memory is part of if ptxas joins it with others into one."""

    bytes: int  # of a lane; 0: another access of the trace stands for this one
    shift: int  # where they begin, from the access's own byte


def joined(instruction: dict[str, Any]) -> Joined | None:
    """None: the access is on its own."""
    if "joined_bytes" not in instruction:
        return None
    return Joined(instruction["joined_bytes"], instruction["joined_shift"])


def runs(numbers: list[int]) -> str:
    """Numbers in words: "0 to 7, 12"."""
    parts: list[str] = []
    i = 0
    while i < len(numbers):
        j = i
        while j + 1 < len(numbers) and numbers[j + 1] == numbers[j] + 1:
            j += 1
        parts.append(str(numbers[i]) if i == j else f"{numbers[i]} to {numbers[j]}")
        i = j + 1
    return ", ".join(parts)
