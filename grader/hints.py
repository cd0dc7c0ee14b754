"""Hints: three a chapter, each saying more, given one at a time."""

import json
import re

from .errors import UsageError
from .workbook import Chapter, Workbook, write_json


def read_hints(workbook: Workbook, chapter: Chapter) -> list[str]:
    """The hints of chapters/chNN_name/hints.md, in order: its second-level headings."""
    path = workbook.root / chapter.folder / "hints.md"
    try:
        text = path.read_text("utf-8", errors="replace")
    except FileNotFoundError:
        return []
    parts = re.split(r"^##\s+", text, flags=re.MULTILINE)[1:]
    # A heading that is only a number says nothing that is not said anyway.
    return [re.sub(r"\A(?:hint\s*)?\d[.:]?\s*\n+", "", part.strip(), flags=re.IGNORECASE) for part in parts]


def next_hint(workbook: Workbook, chapter: Chapter, step: int | None) -> tuple[int, int, str]:
    """Hint `step`, or the one after the last that was given: (its number, how many there are, its text)."""
    hints = read_hints(workbook, chapter)
    if not hints:
        raise UsageError(f"{chapter.name} has no hints")
    if step is not None and not 1 <= step <= len(hints):
        raise UsageError(f"{chapter.name} has hints 1 to {len(hints)}; there is no hint {step}")
    given = _given(workbook)
    last = given.get(chapter.name, 0)
    number = step or min(last + 1, len(hints))
    given[chapter.name] = max(last, number)
    write_json(workbook.progress / "hints.json", given)
    return number, len(hints), hints[number - 1]


def _given(workbook: Workbook) -> dict[str, int]:
    """How many hints each chapter has given; a damaged record counts as none."""
    try:
        document = json.loads((workbook.progress / "hints.json").read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    if not isinstance(document, dict):
        return {}
    return {name: count for name, count in document.items() if isinstance(count, int)}
