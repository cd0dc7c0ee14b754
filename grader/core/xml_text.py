"""Text as XML may hold it."""

import re

# What XML 1.0 cannot say (section 2.2 of its recommendation).
_UNSAYABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def sayable(text: str) -> str:
    """The text with U+FFFD in place of what XML cannot say."""
    return _UNSAYABLE.sub("\ufffd", text)


def token(text: str) -> str:
    """The same on one line, with single spaces; "-" if nothing is left."""
    return " ".join(sayable(text).split()) or "-"
