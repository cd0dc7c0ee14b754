"""How one kernel of a class is judged, and what came of it: what a task carries and its journal entry keeps."""

from dataclasses import asdict, dataclass
from typing import Any, Self

from ..core.result import Result, infra


@dataclass(frozen=True)
class JudgeSettings:
    """Everything besides the kernel and the workbook that a judgement depends on."""

    device: str = "emulator"  # "auto", "emulator" or "gpu"
    secret: str | None = None  # of inputs, schedules and sizes; None: as ./chNN does by hand
    sizes: tuple[int, ...] = ()  # numbers of elements besides the chapter's own
    schedules: int | None = None  # besides the plain one; None: as many as the chapter says
    time_limit: float = 180.0  # seconds for compiling and running one kernel
    trust: bool = False  # compile without the sandbox

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self) | {"sizes": list(self.sizes)}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Self:
        """The inverse of `document`."""
        return cls(**(document | {"sizes": tuple(document["sizes"])}))


@dataclass(frozen=True)
class Judgement:
    """What became of one kernel."""

    verdict: str
    result: Result
    document: dict[str, Any] | None  # a sound warpbook/result/1, or None where the driver wrote none
    kernel_sha256: str
    seconds: float
    peak_bytes: int  # of memory, of the largest program that ran; 0 where nobody measured
    code: (
        tuple[str, ...] | None
    ) = ()  # what it compiles to, in words of `similarity`; None: too long to compare


def infra_judgement(chapter: str, message: str, kernel_sha256: str, seconds: float = 0.0) -> Judgement:
    """A kernel that could not be judged, through no fault of its author."""
    return Judgement("INFRA", infra(chapter, message, seconds), None, kernel_sha256, seconds, 0)
