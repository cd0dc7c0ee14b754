#!/usr/bin/env python3
"""Records what the four tools of compute-sanitizer say about the kernels of tests/wrong and tests/right: record.csv.

    python3 tests/hardware_truth/sanitizer/record_sanitizer.py [--prepare | --collect] [--work FOLDER]

Without an option: writes the cases that have no row yet to FOLDER/cases.zip, runs sanitize.py on this machine, and
adds the rows. `--prepare` does the first part and `--collect` the last, so that only sanitize.py has to run on the
machine with the GPU. A kernel has one case: the failing one that the judge found, or else one of medium size. A row
is recorded again if its kernel has changed, and removed if its kernel is gone. The kernels of barriers.cu are cases
too.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT))
from grader.authoring import edits, kernels, killrate  # noqa: E402
from grader.core.processes import Processes  # noqa: E402
from grader.core.workbook import Workbook  # noqa: E402

RECORD, REASONS = HERE / "record.csv", HERE / "reasons.csv"
BARRIERS = HERE / "barriers.ptx"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
CASE = ("task", "n", "rows", "columns", "depth", "family", "misalignment", "staggered", "schedule")
COLUMNS = ("kernel", "sha256", *CASE, *TOOLS)
MEDIUM, LARGEST = 1025, 1 << 20  # elements: of the case that is wanted, and the most that a case may have

Row = dict[str, str]


# ---- The emulator ----------------------------------------------------------------------------------------


def block_of(barrier: str) -> int:
    """Threads of a kernel of barriers.cu, from its name."""
    return int(barrier.rpartition("_b")[2])


def emulate(row: Row, ptx: Path, inputs: Path | None = None) -> dict:
    """What the emulator finds in a row's case; `inputs` is a folder for the content of the buffers."""
    folder, _, name = row["kernel"].rpartition("/")
    if folder == "barriers":
        with tempfile.TemporaryDirectory() as scratch:
            answer = Path(scratch) / "answer.json"
            command = [ROOT / "build/bin/emulate", ptx, name, "--grid", "1", "--block", str(block_of(name))]
            subprocess.run([*command, "--arg", "buf:4096:zero", "--json", answer], capture_output=True)
            launch = {"symbol": name, "grid": [1, 1, 1], "block": [block_of(name), 1, 1], "shared": 0}
            return json.loads(answer.read_text()) | {
                "buffers": [
                    {"name": "data", "bytes": 4096, "misalignment": 0, "fill": "zero", "constant": False}
                ],
                "launches": [launch | {"arguments": [[0, 8, "0"]]}],
            }
    program = ROOT / "build" / "cases" / folder.rpartition("/")[2]
    command = [program, ptx, *(row[column] for column in CASE), *([inputs] if inputs else [])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{row['kernel']}: {done.stderr}")
    return json.loads(done.stdout)


def found_by(tool: str, findings: Iterable[dict]) -> str:
    """What the emulator found of what that tool looks for, in the words of the record.

    Two tools look at one memory only: racecheck at that of a block, initcheck at global memory. A finding about a
    register names no object.
    """
    found = set()
    for one in findings:
        verdict, where = one["verdict"], one["object"]
        is_global = where and not where.startswith(("shared ", "local "))
        if tool == "memcheck" and verdict in ("OOB", "MISALIGNED", "FAULT"):
            found.add({"OOB": "out of bounds", "MISALIGNED": "misaligned"}.get(verdict, "fault"))
        if tool == "racecheck" and one["kind"] == "race" and where.startswith("shared "):
            found.add("race")
        if tool == "initcheck" and verdict == "UNINIT" and is_global:
            found.add("uninitialised")
        if tool == "synccheck" and verdict == "SYNC":
            found.add("barrier")
    return " and ".join(sorted(found)) or "clean"


# ---- The tools -------------------------------------------------------------------------------------------


def reported(tool: str, result: dict) -> str:
    """What a tool reported about a case, or how the kernel ended if that kept the tool from reporting anything."""
    words = {"racecheck": "race", "initcheck": "uninitialised", "synccheck": "barrier"}
    found = {words[tool]} if tool in words and result["messages"] else set()
    for message in result["messages"] if tool == "memcheck" else ():
        known = [word for word in ("out of bounds", "misaligned") if word in message]
        found |= set(known or ["fault"])
    if not found and result["status"] != "done":
        ended = {"ended": "timeout", "cuLaunchKernel": "refused"}
        found = {ended.get(result["status"].partition(" ")[0], "fault")}
    return " and ".join(sorted(found)) or "clean"


# ---- Kernels and their cases -----------------------------------------------------------------------------


def digest(content: bytes) -> str:
    """The hash of a kernel without the lines that declare its verdict."""
    return hashlib.sha256(
        edits.without_header(kernels.text_of(content)).encode("utf-8", "replace")
    ).hexdigest()[:16]


def all_kernels(workbook: Workbook) -> dict[str, kernels.Kernel]:
    chapters = [chapter.name for chapter in workbook.chapters]
    return {one.name: one for one in kernels.read_all(workbook, kernels.names(workbook, chapters))}


def barriers() -> list[str]:
    return re.findall(r"\.entry (\w+)", BARRIERS.read_text())


def compiled(workbook: Workbook, kernel: kernels.Kernel) -> Path:
    """The PTX of a kernel, where the kill rate keeps it too."""
    folder = workbook.build / "kill-rate" / kernel.name
    command = [workbook.out / "bin" / "compile", kernels.in_full(workbook, kernel), folder, "--quiet"]
    subprocess.run(command, cwd=workbook.root, capture_output=True)
    return folder / "kernel.ptx"


def choose(document: dict) -> Row | None:
    """The case to record, from what the judge wrote about a kernel; None: nothing of it could run."""
    ran = [one for one in document["cases"] if one["verdict"] and one["n"] <= LARGEST]
    if document["verdict"] in ("PASS", "SLOW", "WRONG"):
        wanted = [one for one in ran if one["verdict"] == document["verdict"]] or ran
        plain = [one for one in wanted if one["family"] == "integers" and not one["schedule"]] or wanted
        plain.sort(key=lambda one: (abs(one["n"] - MEDIUM), one["misalignment"], "staggered" in one))
    else:
        first = document["first_failure"]
        chosen = None if first is None else document["cases"][first]
        plain = [one for one in ran if one == chosen] + [
            one for one in ran if one["verdict"] == document["verdict"]
        ]
    if not plain or plain[0]["verdict"] == "LAUNCH":
        return None
    case = {"rows": 0, "columns": 0, "depth": 0, **plain[0], "staggered": int("staggered" in plain[0])}
    return {column: str(case[column]) for column in CASE}


# ---- The record ------------------------------------------------------------------------------------------


def table(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_rows(rows: Iterable[Row]) -> None:
    with RECORD.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: row["kernel"]))


def digests(workbook: Workbook) -> dict[str, str]:
    """{kernel: what a valid row has as sha256} of everything that belongs into the record."""
    # No driver launches the kernels of whole programs.
    programs = {one.name for one in workbook.chapters if workbook.is_program(one)}
    found = {
        one.name: digest(one.content)
        for one in all_kernels(workbook).values()
        if one.name.split("/")[1] not in programs
    }
    whole = hashlib.sha256(BARRIERS.read_bytes()).hexdigest()[:16]
    return found | {f"barriers/{name}": whole for name in barriers()}


def valid_rows(workbook: Workbook) -> list[Row]:
    """The rows whose kernels are as they were."""
    current = digests(workbook)
    return [row for row in table(RECORD) if current.get(row["kernel"]) == row["sha256"]]


def without_row(workbook: Workbook, jobs: int) -> list[tuple[Row, Path]]:
    """A row without verdicts, and the PTX, for every kernel that has no valid row and that can run."""
    current, recorded = digests(workbook), {row["kernel"] for row in valid_rows(workbook)}
    everything, processes = all_kernels(workbook), Processes()
    chapters = {chapter.name: chapter for chapter in workbook.chapters}

    def one(name: str) -> tuple[Row, Path] | None:
        row: Row | None = {}
        ptx = BARRIERS
        if kernel := everything.get(name):
            killrate.outcome(
                workbook, chapters[name.split("/")[1]], kernel, killrate.Runs(7, proves=False), processes
            )
            folder = workbook.build / "kill-rate" / name
            ptx, result = folder / "kernel.ptx", folder / "result.json"
            row = choose(json.loads(result.read_text())) if result.is_file() and ptx.is_file() else None
        return None if row is None else ({"kernel": name, "sha256": current[name], **row}, ptx)

    with ThreadPoolExecutor(jobs) as pool:
        return [found for found in pool.map(one, sorted(current.keys() - recorded)) if found]


def prepare(workbook: Workbook, archive: Path, jobs: int) -> int:
    """Writes the cases that are to be run; returns their number."""

    def one(item: tuple[int, tuple[Row, Path]]) -> tuple[dict, dict[str, bytes]]:
        number, (row, ptx) = item
        with tempfile.TemporaryDirectory() as folder:
            program = emulate(row, ptx, Path(folder))
            files = {f"ptx/{number}.ptx": ptx.read_bytes()}
            for index, buffer in enumerate(program.get("buffers", [])):
                if buffer["fill"] == "data":
                    content = (Path(folder) / f"{index}.bin").read_bytes()
                    buffer["data"] = hashlib.sha256(content).hexdigest()[:16]
                    files[f"data/{buffer['data']}"] = content
        case = {"id": number, "kernel": row["kernel"], "row": row, "ptx": f"{number}.ptx"}
        return case | {key: program.get(key, []) for key in ("buffers", "launches")}, files

    found = without_row(workbook, jobs)
    cases, written = [], set()
    with ThreadPoolExecutor(jobs) as pool, zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as into:
        for case, files in pool.map(one, enumerate(found)):
            if not case["launches"]:
                continue  # its LAUNCH asks for nothing, or for what cannot be
            cases.append(case)
            for name in files.keys() - written:
                into.writestr(name, files[name])
            written |= files.keys()
        into.writestr("cases.json", json.dumps(cases))
    return len(cases)


def collect(workbook: Workbook, archive: Path, result: Path) -> tuple[int, int]:
    """Puts what sanitize.py wrote into the record; returns the numbers of new rows and of all."""
    cases = {case["id"]: case for case in json.loads(zipfile.ZipFile(archive).read("cases.json"))}
    new = []
    for one in json.loads(result.read_text())["cases"]:
        if not one["built"] and all(tool in one["tools"] for tool in TOOLS):
            row = cases[one["id"]]["row"]
            new.append(row | {tool: reported(tool, one["tools"][tool]) for tool in TOOLS})
    fresh = {row["kernel"] for row in new}
    rows = [row for row in valid_rows(workbook) if row["kernel"] not in fresh] + new
    write_rows(rows)
    return len(new), len(rows)


# ---- The comparison --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """A tool and the emulator that differ about a kernel."""

    kernel: str
    tool: str
    emulator: str
    sanitizer: str
    finding: str  # what the emulator found in the case, of all kinds


def differences(workbook: Workbook, rows: Iterable[Row], jobs: int) -> list[Difference]:
    """Runs the cases of the rows on the emulator."""
    everything = all_kernels(workbook)

    def compare(row: Row) -> list[Difference]:
        kernel = everything.get(row["kernel"])
        findings = emulate(row, compiled(workbook, kernel) if kernel else BARRIERS)["findings"]
        kinds = "; ".join(sorted({one["kind"] for one in findings if one["verdict"] != "INFO"}))
        answers = [(tool, found_by(tool, findings), row[tool]) for tool in TOOLS]
        return [Difference(row["kernel"], *answer, kinds) for answer in answers if answer[1] != answer[2]]

    with ThreadPoolExecutor(jobs) as pool:
        return [one for some in pool.map(compare, rows) for one in some]


def explains(reason: Row, one: Difference) -> bool:
    """Whether a row of reasons.csv is about that difference; `finding` is a regular expression."""
    return (
        reason["tool"] in ("*", one.tool)
        and (reason["emulator"], reason["sanitizer"]) == (one.emulator, one.sanitizer)
        and bool(re.search(reason["finding"], one.finding))
    )


def summary(rows: list[Row]) -> str:
    """The answers of the tools in numbers, as a table in Markdown."""
    counts = Counter((tool, row[tool]) for row in rows for tool in TOOLS)
    words = sorted({word for _, word in counts}, key=lambda word: (word != "clean", word))
    lines = [f"| {len(rows)} kernels | {' | '.join(TOOLS)} |", f"|---|{'---:|' * len(TOOLS)}"]
    lines += [f"| {word} | {' | '.join(str(counts[tool, word] or '') for tool in TOOLS)} |" for word in words]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prepare", action="store_true", help="only write cases.zip")
    parser.add_argument("--collect", action="store_true", help="only read result.json")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "sanitizer")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    workbook = Workbook(ROOT)
    options.work.mkdir(parents=True, exist_ok=True)
    archive, result = options.work / "cases.zip", options.work / "result.json"
    if not options.collect:
        count = prepare(workbook, archive, options.jobs)
        print(f"{count} cases without a row: {archive}")
        if options.prepare or not count:
            return 0
        subprocess.run([sys.executable, HERE / "sanitize.py", archive, result], check=True)
    new, rows = collect(workbook, archive, result)
    print(f"{new} new rows in {RECORD.relative_to(ROOT)}, {rows} in all")
    print(summary(table(RECORD)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
