"""Which verdict every kernel of the corpus gets if clang compiles it: `make clang-corpus`.

tests/clang_verdicts.csv records them, one row for each kernel, with the digest of the kernel in full. A verdict other
than nvcc's (tests/kill_rate.csv) needs a row in tests/clang_differences.csv that says why.
"""

import csv
import io
import os
from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import NOT_PASSED, PASSED, MachineError
from ..core.make import build_programs
from ..core.options import Chapters, Fresh, Json
from ..core.page import console, print_json
from ..core.processes import Processes
from ..core.toolkit import find_clang
from ..core.workbook import Workbook, find_workbook, write_whole
from .clang_differences import Difference, compiled_by_clang, read_differences, read_rows
from .killrate import Runs, corpus, digest_of, outcome, read_record

_RUNS = Runs(schedules=7, proves=False)  # as many schedules as for tests/kill_rate.csv


def read_verdicts(workbook: Workbook) -> dict[str, dict[str, str]]:
    """The rows of the record by the kernel's path: path, digest and verdict; none where there is no record."""
    return read_rows(workbook.root / "tests" / "clang_verdicts.csv")


def unexplained(workbook: Workbook) -> list[str]:
    """What is wrong with the record, a line each: a kernel without its row, and a difference without its reason."""
    nvcc, clang, reasons = read_record(workbook), read_verdicts(workbook), read_differences(workbook)
    lines = []
    names = {chapter.name for chapter in compiled_by_clang(workbook, workbook.chapters)}
    nvcc = {path: row for path, row in nvcc.items() if Path(path).parent.name in names}
    for path, row in nvcc.items():
        mine = clang.get(path)
        if mine is None or mine["digest"] != row["digest"]:
            lines.append(f"{path}: not judged with clang; make clang-corpus RECORD=1 does so")
        elif mine["verdict"] != reasons.get(path, Difference(row["verdict"], "")).with_clang:
            wanted = reasons[path].with_clang if path in reasons else row["verdict"]
            lines.append(f"{path}: {mine['verdict']} with clang, not {wanted}")
    lines += [f"{path}: recorded, but there is no such kernel" for path in sorted(clang.keys() - nvcc.keys())]
    for path, difference in reasons.items():
        if path not in nvcc:
            lines.append(f"{path}: a reason, but there is no such kernel")
        elif difference.with_clang == nvcc[path]["verdict"]:
            lines.append(f"{path}: a reason, but {difference.with_clang} is nvcc's verdict too")
    return lines


def _write(workbook: Workbook, rows: dict[str, dict[str, str]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, ["path", "digest", "verdict"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        rows[path]
        for path in sorted(rows)
        if (workbook.root / path).exists() and rows[path]["verdict"] != "INFRA"
    )
    write_whole(workbook.root / "tests" / "clang_verdicts.csv", text.getvalue())


def clang_corpus_command(
    chapters: Chapters = None,
    record: Annotated[bool, typer.Option("--record", help="Write tests/clang_verdicts.csv.")] = False,
    fresh: Fresh = False,
    as_json: Json = False,
) -> int:
    """Which kernels of tests/wrong and tests/right get another verdict with clang than with nvcc."""
    workbook = find_workbook()
    if find_clang(workbook.root) is None:
        raise MachineError("there is no clang for CUDA; make COMPILER=clang setup fetches one")
    os.environ["WARPBOOK_COMPILER"] = "clang"
    chosen = compiled_by_clang(workbook, workbook.select(chapters or []))
    broken = build_programs(workbook, chosen, jobs=os.cpu_count() or 1)
    if broken:
        raise MachineError("; ".join(f"./{name} cannot be built: {why}" for name, why in broken.items()))
    nvcc, reasons, rows = read_record(workbook), read_differences(workbook), read_verdicts(workbook)
    processes = Processes()
    judged: list[dict[str, str]] = []
    # One at a time, and written after each chapter: this takes half an hour, and what is judged should not be lost.
    for chapter in chosen:
        for _, kernel in corpus(workbook, [chapter]):
            path, digest = str(kernel.path.relative_to(workbook.root)), digest_of(kernel)
            message = ""
            if fresh or rows.get(path, {}).get("digest") != digest:
                found = outcome(workbook, chapter, kernel, _RUNS, processes)
                rows[path] = {"path": path, "digest": digest, "verdict": found.verdict}
                message = found.message
            row = {
                "path": path,
                "with_clang": rows[path]["verdict"],
                "with_nvcc": nvcc.get(path, {}).get("verdict", ""),
                "message": message,
                "reason": "",
            }
            if path in reasons and reasons[path].with_clang == row["with_clang"]:
                row["reason"] = reasons[path].reason
            if not as_json and _is_surprise(row):
                with_nvcc = row["with_nvcc"] or "not judged"
                words = f"{path}: {row['with_clang']} with clang, {with_nvcc} with nvcc. {message}"
                console().print(words.rstrip(), highlight=False, markup=False)
            judged.append(row)
        if record:
            _write(workbook, rows)
    surprises = sum(map(_is_surprise, judged))
    if as_json:
        print_json({"schema": "warpbook/clang-corpus/1", "kernels": judged})
    else:
        differing = sum(row["with_clang"] != row["with_nvcc"] for row in judged)
        console().print(
            f"{len(judged)} kernels, {differing} with another verdict, {surprises} of these without a reason."
        )
    return NOT_PASSED if surprises else PASSED


def _is_surprise(row: dict[str, str]) -> bool:
    """Whether the verdicts differ without a reason."""
    return row["with_clang"] != row["with_nvcc"] and not row["reason"]
