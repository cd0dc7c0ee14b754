"""What others have chosen, as any terminal, file and page can show it: nothing in it acts, hides or turns around."""

from pathlib import Path

_MOST_TEXT = 64 * 1024  # characters: a page or two
_MOST_NAME = 200


def printable(text: str | bytes | Path) -> str:
    """A name, or a text that has to stay on its line: what is not UTF-8 or not printable is escaped."""
    shown = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else str(text)
    return "".join(c if c.isprintable() else _escaped(c) for c in shown)


def short(name: str) -> str:
    """The same of a name in a sentence, which is not to be longer than a sentence is."""
    shown = printable(name)
    return shown if len(shown) <= _MOST_NAME else f"{shown[:_MOST_NAME]}..."


def printable_text(text: str) -> str:
    """A text of several lines: the ends of lines stay, and no more of it than somebody would read."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text[:_MOST_TEXT])


def _escaped(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte of a file's name that is no UTF-8, as Python keeps it
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")
