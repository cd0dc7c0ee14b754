"""Moments as the records write them."""

import datetime


def now() -> str:
    """The present moment in ISO 8601, UTC, to the millisecond."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def day(moment: str) -> str:
    """The local date of a recorded moment, as 2026-11-21."""
    return datetime.datetime.fromisoformat(moment).astimezone().date().isoformat()
