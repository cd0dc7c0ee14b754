"""A page as a tree, and the numbers on it: what they are, and what they say they were taken from."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

_VOID = {"meta", "br", "img", "input", "link", "hr"}
_CLOSES = {"td": {"td", "th"}, "th": {"td", "th"}, "tr": {"td", "th", "tr"}}  # what a new one ends


@dataclass
class Element:
    """An element; its children are elements and texts."""

    name: str
    attributes: dict[str, str]
    parent: "Element | None" = None
    children: list["Element | str"] = field(default_factory=list)

    def all(self) -> Iterator["Element"]:
        """It and everything in it."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.all()

    def find(self, name: str = "", **attributes: str) -> list["Element"]:
        """Elements in it of that name; `class_` is one of their classes, others are equal."""
        class_ = attributes.pop("class_", "")
        wanted = {key.replace("_", "-"): value for key, value in attributes.items()}
        return [
            one
            for one in self.all()
            if (not name or one.name == name)
            and (not class_ or class_ in one.classes)
            and all(one.attributes.get(key) == value for key, value in wanted.items())
        ]

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def above(self) -> Iterator["Element"]:
        """It and what it is in."""
        at: Element | None = self
        while at is not None:
            yield at
            at = at.parent


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = self.at = Element("", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        while self.at.name in _CLOSES.get(tag, ()):
            assert self.at.parent
            self.at = self.at.parent
        made = Element(tag, {name: value or "" for name, value in attrs}, self.at)
        self.at.children.append(made)
        if tag not in _VOID:
            self.at = made

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, {name: value or "" for name, value in attrs}, self.at)
        self.at.children.append(made)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("tr", "tbody", "table"):
            while self.at.name in ("td", "th", "tr") and self.at.name != tag and self.at.parent:
                self.at = self.at.parent
        assert self.at.name == tag, f"</{tag}> ends <{self.at.name}>"
        assert self.at.parent
        self.at = self.at.parent

    def handle_data(self, data: str) -> None:
        self.at.children.append(data)


def parse(html: str) -> Element:
    """The page; every element in it is closed."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    assert builder.at is builder.root, f"<{builder.at.name}> is never closed"
    return builder.root


def numbers(page: Element) -> Iterator[tuple[float, str, str]]:
    """(value, source, text) of every number that says where it comes from."""
    for one in page.all():
        if "data-value" in one.attributes:
            yield float(one.attributes["data-value"]), one.attributes["data-from"], one.text
        elif one.name == "data" and "data-from" in one.attributes:
            yield float(one.attributes["value"]), one.attributes["data-from"], one.text
        elif one.name == "data":  # of a table whose rows are counters
            row = next(up for up in one.above() if up.name == "tr")
            (at,) = (up.attributes["data-at"] for up in one.above() if "data-at" in up.attributes)
            yield float(one.attributes["value"]), f"{at}/{row.find('th')[0].text}", one.text


def resolve(documents: dict[str, Any], source: str) -> float:
    """The value of a source, computed again from the documents by name."""
    found = re.fullmatch(r"(\w+)\((.*)\)", source)
    if not found:
        return float(_at(documents, source))
    name, inside = found.groups()
    parts = _split(inside)
    if name == "additions":
        gpu = _at(documents, inside)
        rate = 128 if float(gpu["compute_capability"]) >= 8.6 else 64
        return rate * gpu["sm_count"] * gpu["clock_khz"] / 1e6
    if name == "volume":
        return math.prod(_at(documents, inside))
    if name == "threads":
        return _threads(documents, inside)
    values = [resolve(documents, part) for part in parts]
    if name == "slope":
        f, m, b, few_f, few_m, few_b = values
        # f = a * m + c * b at both sizes; c is eliminated.
        return (f / b - few_f / few_b) / (m / b - few_m / few_b)
    return {
        "sum": sum,
        "product": math.prod,
        "quotient": lambda two: two[0] / two[1],
        "giga": lambda one: one[0] / 1e9,
        "warps": lambda one: one[0] / 32,
    }[name](values)


def _split(inside: str) -> list[str]:
    """The arguments, at spaces outside brackets."""
    parts, depth = [""], 0
    for character in inside:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == " " and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _at(documents: dict[str, Any], pointer: str) -> Any:
    name, _, path = pointer.partition(":")
    at = documents[name]
    for step in path.split("/")[1:]:
        at = at[int(step)] if isinstance(at, list) else at[unquote(step)]
    return at


def _threads(documents: dict[str, Any], inside: str) -> int:
    """Different threads of the masks of several events: "ch05.trace:/.../events/{1,2}/mask"."""
    before, events, field_ = re.fullmatch(r"(.*)/\{([\d,]+)\}/(\w+)", inside).groups()  # type: ignore[union-attr]
    threads = set()
    for number in events.split(","):
        event = _at(documents, f"{before}/{number}")
        masks = event["masks"] if field_ == "masks" else {event["warp"]: event["mask"]}
        for warp, mask in enumerate(masks) if isinstance(masks, list) else masks.items():
            threads |= {(warp, lane) for lane in range(32) if mask >> lane & 1}
    return len(threads)


def says(value: float, text: str) -> bool:
    """Whether a text is that number, as exactly as it has digits."""
    words = text.replace(",", "").split()
    unit = {"%": 100.0, "µs": 1e6, "ms": 1e3}.get(words[-1], 1.0)
    digits = re.fullmatch(r"-?(\d+)(?:\.(\d+))?(?:e[+-]?\d+)?", words[0])
    if not digits:
        return False
    if "." not in words[0] and "e" not in words[0]:
        return abs(float(words[0]) - value * unit) <= 0.5
    return math.isclose(float(words[0]), value * unit, rel_tol=6e-4, abs_tol=1e-12)
