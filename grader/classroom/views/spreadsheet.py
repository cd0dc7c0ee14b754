"""CSV files that spreadsheets open: the same to the byte every time, and no cell of theirs is a formula."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_PLAIN_ID = re.compile(r"[+@-]?[A-Za-z0-9._@+-]*")


def defused(text: str) -> str:
    """Text that no spreadsheet treats as a formula: an apostrophe is put before anything that begins one."""
    text = text.replace("\0", "")
    # What some spreadsheets take for them: the wide forms of other scripts, and after white space.
    first = unicodedata.normalize("NFKC", text.lstrip()[:1])
    return f"'{text}" if first.startswith(_FORMULA) or text.startswith(_FORMULA) else text


def identifier(text: str) -> str:
    """The same for what a learning platform has to find again: a plain id stays as it is."""
    return text if _PLAIN_ID.fullmatch(text) else defused(text)


def number(value: float | None) -> str:
    """Points in a cell, to two decimals; empty where they are not known."""
    return "" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def csv_text(
    rows: Iterable[Sequence[str]], *, newline: str = "\r\n", delimiter: str = ",", is_quoted: bool = False
) -> str:
    """Rows as CSV, lines ended as RFC 4180 has it or by `newline`; `is_quoted`: every cell is in quotes."""
    quoting: Literal[0, 1] = csv.QUOTE_ALL if is_quoted else csv.QUOTE_MINIMAL
    lines = []
    for row in rows:
        out = io.StringIO()
        # With this ending every line break within a cell is quoted; older Pythons quote no other.
        csv.writer(out, delimiter=delimiter, lineterminator="\r\n", quoting=quoting).writerow(row)
        lines.append(out.getvalue().removesuffix("\r\n") + newline)
    return "".join(lines)
