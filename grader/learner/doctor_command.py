"""The command `doctor` for --help and completion; __main__.py runs doctor.py itself, before anything is installed."""

from ..core.options import Json
from . import doctor


def doctor_command(as_json: Json = False) -> int:
    """What is there, what is missing, and the one command that mends it."""
    return doctor.main(["--json"] if as_json else [])
