"""How much the page shows, so that it stays small: what does not fit with all of it is drawn again with less."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Detail:
    """Limits."""

    warps: int  # of one access
    iterations: int  # of each of them
    patterns: int  # different pictures of one access
    levels: int  # of one tree
    links: int  # of one level of a tree


LIMIT = 1_980_000  # bytes of the page
DETAILS = (
    Detail(4, 8, 8, 32, 1024),
    Detail(3, 4, 4, 28, 256),
    Detail(2, 2, 2, 16, 64),
    Detail(1, 1, 1, 0, 0),
)
