"""Places in a document that a command fills: the text between two comments is generated.

    <!-- KIND: ARGUMENT -->
    ...
    <!-- end -->

The commands that fill them define each KIND; see lessons.py.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_PLACE = re.compile(r"<!-- (?P<kind>[a-z]+): (?P<argument>[^\n]+?) -->\n(?P<body>.*?)<!-- end -->", re.DOTALL)
_OPENING = re.compile(r"<!-- [a-z]+: ")


class MarkerError(Exception):
    """A marker without a partner, or one that cannot be filled."""


@dataclass(frozen=True)
class Place:
    """One place: its kind and argument, and its current text."""

    kind: str
    argument: str
    body: str


def places(text: str) -> list[Place]:
    """The places of a document, in order."""
    found = [Place(m["kind"], m["argument"], m["body"]) for m in _PLACE.finditer(text)]
    nested = next((place for place in found if _OPENING.search(place.body)), None)
    if nested:
        raise MarkerError(f"`{nested.kind}: {nested.argument}` has no end")
    if not len(found) == len(_OPENING.findall(text)) == text.count("<!-- end -->"):
        raise MarkerError("a marker has no partner, or nothing on the lines between")
    return found


def fill(text: str, content: Callable[[Place], str]) -> str:
    """`text` with what `content` gives for each place; it ends with a newline."""
    filled: Iterator[str] = map(content, places(text))

    def one(match: re.Match[str]) -> str:
        return f"<!-- {match['kind']}: {match['argument']} -->\n{next(filled)}<!-- end -->"

    return _PLACE.sub(one, text)


def without(text: str) -> str:
    """`text` less its places: what was typed."""
    return _PLACE.sub("", text)
