"""The page: templates filled with the data, styles and scripts."""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from ...core.command_words import spoken
from .figures import shown, words

_HERE = Path(__file__).resolve().parent
_STYLES = ("colours.css", "page.css", "pictures.css", "print.css")
_SCRIPTS = ("heat.js", "steps.js", "page.js")


def render(**shown_values: Any) -> str:
    """The complete page, in one file that loads nothing."""
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "figure": shown,
        "words": words,
        "json": _json,
        "spoken": spoken,
        "lines": _lines,
        "thousands": "{:,}".format,
    }
    script = "".join(_asset(name) for name in _SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    html = environment.get_template("page.html.j2").render(
        style=Markup("".join(_asset(name) for name in _STYLES)),
        script=Markup(script),
        # Only this script runs, whatever a learner's file or a message contains.
        policy=f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        **shown_values,
    )
    text, mark, rest = html.rpartition("<script>")
    return re.sub(r"\n\s+", "\n", text) + mark + rest  # indentation is a tenth of it


def _asset(name: str) -> str:
    return (_HERE / "assets" / name).read_text("utf-8")


def _lines(text: str) -> Markup:
    """Text that keeps its line breaks and indentation, however the page treats white space."""
    return Markup(str(escape(text)).replace("\n", "&#10;"))


def _json(value: Any) -> Markup:
    """For an attribute in single quotes, which keeps JSON's double quotes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character, entity in ("&", "&amp;"), ("'", "&#39;"), ("<", "&lt;"), (">", "&gt;"):
        text = text.replace(character, entity)
    return Markup(text)
