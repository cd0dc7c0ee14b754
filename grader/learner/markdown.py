"""Markdown for people: rendered where colours show what is code, else as it is typed, at most as wide as the page."""

import re
import textwrap

from rich.console import Console
from rich.text import Text

WIDTH = 80


def print_prose(text: str, out: Console) -> None:
    """Prints `text` as `out` can show it."""
    if out.is_terminal and not out.no_color:
        from rich.markdown import Markdown  # its parser takes longer to import than all that a pipe is shown

        out.print(Markdown(text), width=min(out.width, WIDTH))
    else:
        out.print(Text(reflow(text, min(out.width, WIDTH))), soft_wrap=True)


def reflow(text: str, width: int = WIDTH) -> str:
    """`text` with its paragraphs and the items of its lists broken anew; code and tables stay as they are."""
    parts: list[str] = []
    is_code = False
    for block in re.split(r"\n{2,}", text.strip("\n")):
        starts_code = is_code or block.startswith(("    ", "```", "|"))
        is_code ^= block.count("```") % 2 == 1
        if starts_code:
            parts.append(block)
            continue
        items = re.split(r"\n(?=(?:[-*]|\d+\.) )", block)
        parts.append("\n".join(_wrapped(item, width) for item in items))
    return "\n\n".join(parts)


def _wrapped(item: str, width: int) -> str:
    mark = re.match(r"(?:[-*]|\d+\.) ", item)
    indent = " " * len(mark[0]) if mark else ""
    words = " ".join(item.split())
    return textwrap.fill(
        words, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
