"""A learner's folder of the package: lessons, kernels and editor files, and what was written there.

`warpbook new` writes it and `warpbook update` brings it up to date (update.py). Everything else that a chapter needs
stays in the package.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import MachineError

SCHEMA = "warpbook/folder/1"
STATE = Path(".warpbook/folder.json")  # its presence makes a folder a workbook


@dataclass(frozen=True)
class State:
    """What the package wrote into a folder."""

    version: str
    files: dict[str, str]  # name -> SHA-256 of what was written


def digest(content: bytes) -> str:
    """As `State.files` has it."""
    return hashlib.sha256(content).hexdigest()


def find_folder(start: Path) -> Path | None:
    """The nearest folder at or above `start` that `warpbook new` made."""
    return next((folder for folder in (start, *start.parents) if (folder / STATE).is_file()), None)


def read_state(folder: Path) -> State:
    """The record of a folder. Raises MachineError if it is damaged."""
    path = folder / STATE
    try:
        found: Any = json.loads(path.read_text("utf-8"))
        files = {str(name): str(value) for name, value in found["files"].items()}
        if found["schema"] != SCHEMA:
            raise MachineError(
                f"{path} is of another version of Warpbook ({found['schema']}): pip install -U warpbook"
            )
        return State(str(found["version"]), files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise MachineError(
            f"{path} is damaged ({error}); remove it and say warpbook new --here, which keeps your kernels"
        ) from None
