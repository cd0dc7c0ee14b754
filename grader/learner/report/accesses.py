"""One warp's accesses, line by line: their patterns, and the steps in which each pattern occurred."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from .figures import Figure, Record
from .launches import Joined, Launch, joined, launches, offsets
from .pictures import banks, sectors
from .svg import Detail, Gallery

_COUNTS = {  # one, and several
    "sectors": ("sector", "sectors"),
    "wavefronts": ("wavefront", "wavefronts"),
    "conflicts": ("bank conflict", "bank conflicts"),
    "most_lanes": ("lane on one address", "lanes on one address"),
}
_KINDS = {"load": "reads", "store": "writes", "atom": "updates atomically", "red": "updates atomically"}


@dataclass(frozen=True)
class Step:
    """One event: which warp, when, and which pattern."""

    block: int
    warp: int
    iteration: int
    pattern: int
    event: int  # its place in the launch's events
    first: int  # byte of the object that is accessed, and ...
    last: int
    figures: dict[str, Figure]  # as the trace has them: "sectors" ...

    @property
    def is_last(self) -> bool:
        """Whether it ended the kernel; then nothing was counted."""
        return not self.figures

    @property
    def counts(self) -> list[tuple[Figure, str]]:
        """The figures, each with what it counts in words."""
        return [(figure, _COUNTS[name][figure.value != 1]) for name, figure in self.figures.items()]


@dataclass
class Access:
    """One access of the source, by one kernel."""

    line: int
    column: int
    launch: Launch
    kind: str  # "load"
    space: str
    size: Figure  # bytes of a lane
    name: str  # of the object
    steps: list[Step] = field(default_factory=list)
    patterns: list[Markup] = field(default_factory=list)
    left_out: int = 0  # steps that are not shown

    @property
    def step_values(self) -> dict[str, Any]:
        """For the script that steps through them: short, because there are many."""
        names = [name for name in _COUNTS if any(name in step.figures for step in self.steps)]
        return {
            "events": self.launch.pointer("events"),
            "counts": [[name, *_COUNTS[name]] for name in names],
            "steps": [
                [step.block, step.warp, step.iteration, step.pattern, step.event, step.first, step.last,
                 *(step.figures[name].value if name in step.figures else None for name in names)]
                for step in self.steps
            ],
        }  # fmt: skip

    @property
    def does(self) -> str:
        """A lane's access in words."""
        return f"{self.verb} {self.bytes} bytes of {self.name}"

    @property
    def verb(self) -> str:
        """The first of those words."""
        return _KINDS[self.kind]

    @property
    def bytes(self) -> int:
        """That a lane accesses."""
        return int(self.size.value)


def accesses(record: Record | None, file: str, gallery: Gallery, detail: Detail) -> dict[int, list[Access]]:
    """All recorded accesses to global and shared memory, by line of `file`.

    Their pictures are drawn into `gallery`.
    """
    found: dict[int, list[Access]] = {}
    for launch in launches(record):
        for access in _of_launch(launch, file, gallery, detail):
            found.setdefault(access.line, []).append(access)
    return found


def _of_launch(launch: Launch, file: str, gallery: Gallery, detail: Detail) -> Iterator[Access]:
    data = launch.data
    made: dict[tuple[Any, ...], Access] = {}
    known: dict[tuple[Any, ...], dict[Any, int]] = {}
    for i, event in enumerate(data["events"]):
        instruction = data["instructions"][event["at"]]
        if "object" not in event or instruction.get("space") not in ("global", "shared"):
            continue
        if instruction["file"] != file or not event.get("mask"):
            continue
        object_ = data["objects"][event["object"]]
        names = (instruction["line"], instruction["column"], instruction["kind"], instruction["space"])
        key = (*names, instruction["bytes"], event["object"])
        size = launch.figure("instructions", event["at"], "bytes")
        if key not in made and size is not None:
            made[key] = Access(*names[:2], launch, *names[2:], size, str(object_["name"]))
            known[key] = {}
        _add(made[key], known[key], i, event, object_, joined(instruction), gallery, detail)
    for access in made.values():
        access.steps.sort(key=lambda step: (step.block, step.warp, step.iteration))
        yield access


def _add(
    access: Access,
    known: dict[Any, int],
    i: int,
    event: dict[str, Any],
    object_: dict[str, Any],
    whole: Joined | None,
    gallery: Gallery,
    detail: Detail,
) -> None:
    """Add an event to the steps of its access, and its pattern if that is new."""
    warp = (event["block"], event["warp"])
    warps = {(step.block, step.warp) for step in access.steps}
    is_shown = event["iteration"] < detail.iterations and (warp in warps or len(warps) < detail.warps)
    size, places = access.bytes, offsets(event)
    if whole and whole.bytes:
        size, places = whole.bytes, [None if at is None else at + whole.shift for at in places]
    active = [at for at in places if at is not None]
    shift = 0 if access.space == "shared" else object_["misalignment"]
    base = (min(active) + shift) // 128 * 128
    lanes = [None if at is None else at + shift - base for at in places]
    pattern = (*lanes, whole)
    if not is_shown or (pattern not in known and len(known) == detail.patterns):
        access.left_out += 1
        return
    if pattern not in known:
        known[pattern] = len(access.patterns)
        if access.space == "shared":
            counted = event.get("wavefronts")
            is_load = access.kind == "load"
            drawn = banks.draw(lanes, size, access.does, gallery, counted, whole, is_load=is_load)
        else:
            drawn = sectors.draw(lanes, size, access.does, gallery)
        access.patterns.append(drawn)
    access.steps.append(
        Step(
            block=event["block"],
            warp=event["warp"],
            iteration=event["iteration"],
            pattern=known[pattern],
            event=i,
            first=min(active),
            last=max(active) + size - 1,
            figures={name: figure for name in _COUNTS if (figure := access.launch.figure("events", i, name))},
        )
    )
