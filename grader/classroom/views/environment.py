"""The templates of the pages. Every text in them is escaped, and what cannot be seen is spelled out."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from .spreadsheet import number

TEMPLATES = Path(__file__).parent / "templates"
_KINDS = {"PASS": "good", "SLOW": "fair", "INFRA": "other", "MISSING": "quiet"}


@cache
def environment() -> Environment:
    """Jinja's environment for all pages."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_visible,
    )
    made.filters |= {"number": number, "kind": lambda verdict: _KINDS.get(verdict, "bad")}
    return made


def _visible(value: object) -> object:
    """Text without what changes how the text around it is read: controls, and marks that turn it around."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in value)
