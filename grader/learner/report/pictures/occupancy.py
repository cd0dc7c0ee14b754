"""Occupancy: how many blocks of a kernel each limit of an SM allows, and which limit is the smallest."""

from dataclasses import dataclass

from markupsafe import Markup

from ..figures import Figure, words
from ..svg import MARGIN, WIDTH, Drawing

_LEFT, _ROW = 150.0, 30.0


@dataclass(frozen=True)
class Limit:
    """One limit."""

    name: str  # "threads"
    blocks: Figure  # that it lets in
    parts: list[Figure | str | None]  # why, in pieces: "2,048 on an SM, 256 a block"

    @property
    def why(self) -> str:
        """The pieces as words."""
        return "".join(words(part) if isinstance(part, Figure) else part or "" for part in self.parts)


@dataclass(frozen=True)
class Occupancy:
    """One kernel's."""

    kernel: str
    limits: list[Limit]
    blocks: Figure  # on an SM at once
    warps: Figure
    warps_most: Figure
    drawing: Markup

    @property
    def limiter(self) -> str:
        """The names of the smallest limits."""
        least = min(limit.blocks.value for limit in self.limits)
        return " and ".join(limit.name for limit in self.limits if limit.blocks.value == least)


def draw(kernel: str, limits: list[Limit], blocks: Figure, warps: Figure, warps_most: Figure) -> Occupancy:
    """The picture and its data."""
    least = min(limit.blocks.value for limit in limits)
    most = max(1.0, *(limit.blocks.value for limit in limits))
    said = ". ".join(
        f"{limit.name} allow {limit.blocks.value:,.0f} blocks ({limit.why})"
        + (", the limiter" if limit.blocks.value == least else "")
        for limit in limits
    )
    drawing = Drawing(
        f"Occupancy of {kernel}: blocks that each limit allows on one SM", said + ".", "occupancy"
    )
    scale = (WIDTH - _LEFT - MARGIN - 60) / most
    for i, limit in enumerate(limits):
        y = 8 + i * _ROW
        is_least = limit.blocks.value == least
        drawing.words(MARGIN, y + 15, limit.name, "strong" if is_least else "")
        drawing.rect("bad" if is_least else "lane", _LEFT, y, max(1.5, limit.blocks.value * scale), 20)
        x = _LEFT + max(1.5, limit.blocks.value * scale) + 8
        drawing.number(x, y + 15, "", limit.blocks, look="strong" if is_least else "")
    x = _LEFT + least * scale
    drawing.lines("trouble dash", [(x, 4, x, 4 + len(limits) * _ROW)])
    return Occupancy(kernel, limits, blocks, warps, warps_most, drawing.svg())
