"""The PTX and the machine code (SASS) of a program, line by line of its source: what build/bin/listing says."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.fingerprint import Hasher
from ..core.workbook import Workbook, write_json

SCHEMA = "warpbook/listing/1"
_LIMIT = 60.0  # seconds


@dataclass(frozen=True)
class Instruction:
    """One instruction, and what it does in a few words."""

    place: str  # "" of PTX; of machine code its offset, "02d0"
    text: str
    meaning: str


@dataclass(frozen=True)
class Code:
    """The instructions of one line."""

    ptx: tuple[Instruction, ...] = ()
    sass: tuple[Instruction, ...] = ()


@dataclass(frozen=True)
class Listing:
    """The instructions of every line of some sources."""

    lines: dict[tuple[str, int], Code]  # by source, as it was asked for, and line
    target: str = ""  # "sm_90"
    why: str = ""  # why there is no machine code


def read_listing(
    workbook: Workbook, ptx: Path, sources: list[str], *, hide: str = "", cache: Path | None = None
) -> Listing:
    """The listing of a PTX file; kept in `cache` for the next call where nothing has changed."""
    program = workbook.out / "bin" / "listing"
    if not program.is_file() or not ptx.is_file():
        return Listing({}, why="build/bin/listing is not built: make tools.")
    key = _key(program, ptx, sources) if cache else ""
    document = _stored(cache, key) if cache else None
    if document is None:
        command = [str(program), str(ptx), *(["--hide", hide] if hide else [])]
        for source in sources:
            command += ["--source", source]
        try:
            done = subprocess.run(
                command, capture_output=True, cwd=workbook.root, timeout=_LIMIT, check=False
            )
            document = json.loads(done.stdout) if done.returncode == 0 else None
        except (OSError, ValueError, subprocess.TimeoutExpired):
            document = None
        if document is None:
            return Listing({}, why="Its instructions could not be listed.")
        if cache:
            cache.parent.mkdir(parents=True, exist_ok=True)
            write_json(cache, {"key": key, "listing": document})
    return _read(document)


def _key(program: Path, ptx: Path, sources: list[str]) -> str:
    hasher = Hasher()
    tools = [os.environ.get("WARPBOOK_NVDISASM"), shutil.which("nvdisasm"), shutil.which("ptxas")]
    return hasher.combined(hasher.file(program), hasher.file(ptx), *sources, *(str(tool) for tool in tools))


def _stored(cache: Path, key: str) -> dict[str, Any] | None:
    try:
        kept = json.loads(cache.read_text("utf-8"))
        fits = kept["key"] == key and kept["listing"]["schema"] == SCHEMA and not kept["listing"]["why"]
        return kept["listing"] if fits else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _read(document: dict[str, Any]) -> Listing:
    lines: dict[tuple[str, int], Code] = {}
    for function in document["functions"]:
        for line in function["lines"]:
            place = (line["file"], line["line"])
            before = lines.get(place, Code())
            ptx = tuple(Instruction("", one["text"], one["meaning"]) for one in line["ptx"])
            sass = tuple(
                Instruction(f"{one['offset']:04x}", one["text"], one["meaning"]) for one in line["sass"]
            )
            lines[place] = Code(before.ptx + ptx, before.sass + sass)
    return Listing(lines, document["target"], document["why"])
