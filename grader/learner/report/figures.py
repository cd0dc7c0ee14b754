"""Numbers with their sources, so that every number on the page can be checked.

A source is a place in one of the documents, "ch05:/goals/0/value" (a JSON pointer, each step URL-quoted), or
an expression over sources: "sum(A B)", "product(A B)", "quotient(A B)".
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape


@dataclass(frozen=True)
class Figure:
    """One number and its source."""

    value: float
    source: str

    def __html__(self) -> str:
        """The default text on the page."""
        return shown(self)

    def document(self) -> dict[str, Any]:
        """For --json."""
        return {"value": self.value, "from": self.source}


class Record:
    """A JSON document by name, from which figures are taken."""

    def __init__(self, name: str, document: dict[str, Any]) -> None:
        """`name` comes before the colon of every source."""
        self.name = name
        self.document = document

    def raw(self, *steps: str | int) -> Any:
        """The value there, or None."""
        at: Any = self.document
        for step in steps:
            try:
                at = at[step]
            except (KeyError, IndexError, TypeError):
                return None
        return at

    def pointer(self, *steps: str | int) -> str:
        """The place as a source."""
        return f"{self.name}:" + "".join(f"/{quote(str(step), safe='')}" for step in steps)

    def figure(self, *steps: str | int) -> Figure | None:
        """The number there, or None."""
        value = self.raw(*steps)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return Figure(value, self.pointer(*steps))


def total(figures: Iterable[Figure | None]) -> Figure | None:
    """Their sum; None if there are none."""
    known = [one for one in figures if one is not None]
    if len(known) < 2:
        return known[0] if known else None
    return Figure(sum(one.value for one in known), f"sum({' '.join(one.source for one in known)})")


def product(a: Figure | None, b: Figure | None) -> Figure | None:
    """Their product, if both are known."""
    if a is None or b is None:
        return None
    return Figure(a.value * b.value, f"product({a.source} {b.source})")


def quotient(a: Figure | None, b: Figure | None) -> Figure | None:
    """Their quotient, if both are known and the second is not 0."""
    if a is None or b is None or b.value == 0:
        return None
    return Figure(a.value / b.value, f"quotient({a.source} {b.source})")


def slope(
    operations: Figure | None, n: Figure | None, blocks: Figure | None,
    few_operations: Figure | None, few_n: Figure | None, few_blocks: Figure | None,
) -> Figure | None:  # fmt: skip
    """Operations per element, without those that every block needs: from two launches of different sizes.

    If the number of blocks grows with n, the two cannot be separated: the result is then a "quotient" that
    includes the blocks' part.
    """
    known = [one for one in (operations, n, blocks, few_operations, few_n, few_blocks) if one is not None]
    if len(known) < 6:
        return None
    f, m, b, few_f, few_m, few_b = (one.value for one in known)
    determinant = m * few_b - few_m * b
    if abs(determinant) <= 1e-3 * m * few_b:
        return quotient(operations, n)
    value = (f * few_b - few_f * b) / determinant
    return Figure(value, f"slope({' '.join(one.source for one in known)})")


# The page shows the value times the first number, in the format of the second.
_STYLES: dict[str, tuple[float, str]] = {
    "plain": (1, "{:.4g}"),
    "count": (1, "{:,.0f}"),
    "percent": (100, "{:.0f} %"),
    "microseconds": (1e6, "{:,.4g} µs"),
    "milliseconds": (1e3, "{:,.4g} ms"),
    "seconds": (1, "{:,.4g} s"),
}


def words(figure: Figure, style: str = "") -> str:
    """The number as text: whole numbers with all digits, others with their significant digits."""
    factor, pattern = _STYLES[style or ("count" if float(figure.value).is_integer() else "plain")]
    value = figure.value * factor
    if style == "" and abs(value) >= 1000:
        pattern = "{:,.0f}"
    return pattern.format(value)


def time_words(figure: Figure) -> str:
    """Seconds in a suitable unit."""
    if figure.value >= 1:
        return words(figure, "seconds")
    return words(figure, "milliseconds" if figure.value >= 1e-3 else "microseconds")


def shown(figure: Figure | None, style: str = "", otherwise: str = "–") -> Markup:
    """A number in HTML with its value and source beside it."""
    if figure is None:
        return Markup("{}").format(otherwise)
    text = time_words(figure) if style == "time" else words(figure, style)
    return Markup('<data value="{}" data-from="{}">{}</data>').format(repr(figure.value), figure.source, text)


def marks(figure: Figure) -> str:
    """Attributes for an element of a picture."""
    return f'data-value="{escape(repr(figure.value))}" data-from="{escape(figure.source)}"'


def plain(value: Any) -> Any:
    """A document with every figure in it written out."""
    if isinstance(value, Figure):
        return value.document()
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value
