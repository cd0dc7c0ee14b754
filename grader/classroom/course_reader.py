"""What every part of course.toml is read with. Each error names the file, the line if it is known, and the key."""

import datetime
import re
import tomllib
import zoneinfo
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Never

from ..core.errors import UsageError

_HEADER = re.compile(r"\s*\[\s*(?P<name>[^\[\]]+|(?:[^\[\]\"']|\"[^\"]*\"|'[^']*')+)\]\s*(?:#.*)?")
_KEY = re.compile(
    r"""\s*(?P<key>(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*'))*)\s*="""
)


class Reader:
    """A table of course.toml, and its text, in which the lines of keys are found."""

    def __init__(self, path: Path, text: str) -> None:
        """`text` is what the table was read from."""
        self.path = path
        self._lines = _key_lines(text)

    def zone(self, table: dict[str, Any]) -> datetime.tzinfo | None:
        """The time zone of dates without one; None if it is not given."""
        if "zone" not in table:
            return None
        name = self.text(table, "zone", "zone")
        try:
            return zoneinfo.ZoneInfo(name)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            self.wrong("zone", f'is not a time zone: "{name:.40}"; an example is "Europe/Zurich"')

    def date(
        self, table: dict[str, Any], key: str, where: str, zone: datetime.tzinfo | None
    ) -> datetime.datetime | None:
        """A date with its zone; None if it is not given."""
        if key not in table:
            return None
        value = table[key]
        example = "2026-11-20T23:59:00+01:00"
        if not isinstance(value, datetime.datetime):
            self.wrong(where, f"must be a date with a time, without quotes, such as {example}")
        if value.tzinfo is None:
            if zone is None:
                self.wrong(where, f'has no time zone: write it as {example}, or set zone = "Europe/Zurich"')
            value = value.replace(tzinfo=zone)
        return value.astimezone(zone) if zone else value

    def table(self, table: dict[str, Any], key: str, where: str) -> dict[str, Any]:
        """A table; empty if it is not given."""
        value = table.get(key, {})
        if not isinstance(value, dict):
            self.wrong(where, f"must be a table: [{where}] on a separate line, then its keys")
        return value

    def text(self, table: Mapping[str, Any], key: str, where: str, *, required: bool = False) -> str:
        """A text on one line; "" if it is not given and not required."""
        value = table.get(key, "")
        if required and key not in table:
            self.wrong(where, f'is missing; write {where} = "..."')
        if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > 200:
            self.wrong(where, "must be a text on one line, of 1 to 200 characters")
        return value

    def number(
        self,
        table: dict[str, Any],
        key: str,
        where: str,
        default: float,
        least: float,
        most: float,
        *,
        whole: bool = False,
    ) -> float:
        """A number between two limits; `default` if it is not given."""
        value = table.get(key, default)
        kinds: tuple[type, ...] = (int,) if whole else (int, float)
        fits = isinstance(value, kinds) and not isinstance(value, bool)
        if key in table and not (fits and least <= value <= most):
            self.wrong(where, f"must be a {'whole ' if whole else ''}number from {least:g} to {most:g}")
        return float(value)

    def check_keys(self, table: dict[str, Any], known: Collection[str], prefix: str) -> None:
        """Raise the error for a key that is not one of those known."""
        for key in table:
            if key not in known:
                shown = (prefix + key) if key.isprintable() else ascii(prefix + key)
                self.wrong(shown[:80], f"is not known; known are: {', '.join(known)}")

    def place(self, key: str) -> str:
        """The file and, if it is found, the line of a key such as "student.ada.excused"."""
        line = self._lines.get(key)
        return f"{self.path}: line {line}" if line else f"{self.path}"

    def wrong(self, key: str, words: str) -> Never:
        """Raise the error that a key's value is wrong."""
        raise UsageError(f"{self.place(key)}: {key} {words}")


def _key_lines(text: str) -> dict[str, int]:
    """The line of each table and key, by its dotted name. Lines within texts of several lines may be mistaken."""
    found: dict[str, int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.fullmatch(line):
            table = _path(header["name"])
            found.setdefault(".".join(table), number)
        elif key := _KEY.match(line):
            found.setdefault(".".join((*table, *_path(key["key"]))), number)
    return found


def _path(dotted: str) -> tuple[str, ...]:
    """The parts of a dotted key as TOML reads it; () if it is none."""
    try:
        value: Any = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    parts = []
    while isinstance(value, dict):
        part, value = next(iter(value.items()))
        parts.append(part)
    return tuple(parts)
