"""Markdown for people: rendered if colours are available, otherwise as written, at most as wide as the page."""

import re
import textwrap

from rich.console import Console
from rich.text import Text

WIDTH = 80


def print_prose(text: str, out: Console) -> None:
    """Print `text` as well as `out` can show it."""
    if out.is_terminal and not out.no_color:
        from rich.markdown import (
            Markdown,
        )  # importing its parser takes longer than everything needed in a pipe

        out.print(Markdown(text), width=min(out.width, WIDTH))
    else:
        out.print(Text(reflow(text, min(out.width, WIDTH))), soft_wrap=True)


def reflow(text: str, width: int = WIDTH) -> str:
    """Rewrap the paragraphs and list items of `text`; code and tables stay as they are."""
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
