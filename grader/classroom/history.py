"""history.jsonl: how a class was after each run, one line for each run that changed something.

{"schema": "warpbook/class-history/1", "time": "2026-...", "workbook": "0.1.0", "possible": 40,
 "chapters": {"ch01": {"handed_in": 12, "passed": 9, "mean": 8.25}}, "students": {"ada": 31.5, "ben": null}}
"""

import json
from pathlib import Path
from statistics import mean
from typing import Any

from ..core.workbook import write_whole

_SCHEMA = "warpbook/class-history/1"


def add(path: Path, document: dict[str, Any]) -> None:
    """Add a run to the history, unless nothing has changed since the last one."""
    lines = read(path)
    line = _line(document)
    if lines and all(lines[-1].get(name) == line[name] for name in ("possible", "chapters", "students")):
        return
    text = "".join(json.dumps(one, ensure_ascii=False, allow_nan=False) + "\n" for one in [*lines, line])
    write_whole(path, text)


def read(path: Path) -> list[dict[str, Any]]:
    """The runs so far, the oldest first; lines that no run wrote are left out."""
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError:
        return []
    found = []
    for raw in text.splitlines():
        try:
            line = json.loads(raw)
        except ValueError:
            continue
        if isinstance(line, dict) and line.get("schema") == _SCHEMA and _is_whole(line):
            found.append(line)
    return found


def _is_whole(line: dict[str, Any]) -> bool:
    chapters, students = line.get("chapters"), line.get("students")
    if (
        not isinstance(chapters, dict)
        or not isinstance(students, dict)
        or not isinstance(line.get("time"), str)
    ):
        return False
    counts = ("handed_in", "passed")
    return all(
        isinstance(one, dict) and all(isinstance(one.get(name), int) for name in counts)
        for one in chapters.values()
    )


def _line(document: dict[str, Any]) -> dict[str, Any]:
    chapters = {}
    for at, chapter in enumerate(document["course"]["chapters"]):
        ones = [student["chapters"][at] for student in document["students"]]
        scores = [one["score"] for one in ones if one["verdict"] != "MISSING" and one["score"] is not None]
        chapters[chapter["chapter"]] = {
            "handed_in": sum(one["verdict"] != "MISSING" for one in ones),
            "passed": sum(one["verdict"] == "PASS" for one in ones),
            "mean": round(mean(scores), 2) if scores else None,
        }
    return {
        "schema": _SCHEMA,
        "time": document["times"]["begun"],
        "workbook": document["workbook"],
        "possible": sum(one["possible"] * one["weight"] for one in document["course"]["chapters"]),
        "chapters": chapters,
        "students": {student["id"]: student["score"]["earned"] for student in document["students"]},
    }
