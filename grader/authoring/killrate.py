"""How many wrong kernels the checks catch, and how many right ones they let pass: `make kill-rate`.

The first lines of every kernel in tests/wrong/chNN declare its expected verdict and its mistake:

    // VERDICT: RACE
    // MISTAKE: barrier-missing - the words for people
    // DIAGNOSIS: missing-barrier            (its entry in the catalogue of mistakes, or none)

The kernels in tests/right/chNN are unusual and right: PASS, or SLOW if they miss a goal. Most kernels are stored as
edits (kernels.py). If an edit no longer matches its base, no kernel is judged, and the message names the edit.
"""

import csv
import functools
import hashlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from ..core.errors import NOT_PASSED, PASSED, MachineError, UsageError
from ..core.make import build_programs
from ..core.options import Chapters, Jobs, Json
from ..core.page import console, print_json
from ..core.processes import Processes
from ..core.workbook import Chapter, Workbook, find_workbook, write_json, write_whole
from . import kernels
from .clang_differences import Difference, compiled_by_clang, is_clang, read_differences, read_rows
from .kernels import Kernel

_LIMIT = 120.0  # seconds for one run
_COMPILE_LIMIT = 12  # seconds; those that exceed it are meant to


@dataclass(frozen=True)
class Finding:
    """What a run of the driver came to."""

    verdict: str
    diagnosed: str  # the mistake that was named; "" for none
    proof: str  # kinds of proof on the page, joined by "+"; "" for none
    message: str  # the first words of the first finding


def is_named(declared: str, diagnosed: str, proof: str) -> bool:
    """Whether a page named the mistake declared ("none" for one without a name), or only showed a repair."""
    is_shown = not diagnosed and "repair" in proof
    return bool(declared) and (is_shown or (diagnosed or "none") == declared)


@dataclass(frozen=True)
class Trial:
    """One kernel of the corpus and what became of it."""

    chapter: str
    path: str
    digest: str  # of the kernel in full
    is_right: bool
    expected: (
        str  # the verdict declared, "PASS" for a right one; with clang that of tests/clang_differences.csv
    )
    diagnosis: str  # declared: a slug of the catalogue, or "none"
    verdict: str
    diagnosed: str  # by the driver; "" for none
    proof: str
    message: str

    @property
    def caught(self) -> bool:
        """Whether the verdict is the expected one; a right kernel may be slow."""
        return self.verdict == self.expected or (self.is_right and self.verdict in ("PASS", "SLOW"))

    @property
    def named(self) -> bool:
        """Whether the mistake was named too, or only a repair is shown; without a declared name, none may be."""
        return is_named(self.diagnosis, self.diagnosed, self.proof)


def corpus(workbook: Workbook, chapters: list[Chapter]) -> list[tuple[Chapter, Kernel]]:
    """Every kernel of tests/wrong and tests/right for those chapters, in order."""
    by_name = {chapter.name: chapter for chapter in chapters}
    found = kernels.read_all(workbook, kernels.names(workbook, by_name))
    return [(by_name[kernel.name.split("/")[1]], kernel) for kernel in found]


@dataclass(frozen=True)
class Runs:
    """How the driver runs a kernel."""

    schedules: int  # besides the plain one
    proves: bool  # whether it looks for a repair of what fails, which takes up to 2 s


@functools.cache
def _digest_of(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


def digest_of(kernel: Kernel) -> str:
    """A hash of the kernel in full."""
    return hashlib.sha256(kernel.content).hexdigest()[:16]


def _digest(kernel: Kernel, *paths: Path) -> str:
    """A hash of the kernel in full, whether it is stored as an edit or not, and of those files."""
    own = hashlib.sha256(kernel.content).digest()
    return hashlib.sha256(own + b"".join(map(_digest_of, paths))).hexdigest()


def _proof_of(document: dict[str, Any]) -> str:
    """The kinds of proof that a result holds."""
    kinds = [(document.get("proof") or {}).get("kind"), "accounting" if document.get("accounting") else None]
    kinds.append((document.get("diagnosis") or {}).get("proof"))
    return "+".join(sorted({str(kind) for kind in kinds if kind}))


def _judge(workbook: Workbook, chapter: Chapter, kernel: Kernel, runs: Runs, processes: Processes) -> Finding:
    """Compiles and runs one kernel."""
    folder = kept_folder(workbook, kernel.name)
    compiled = processes.run(
        [
            workbook.out / "bin" / "compile",
            kernels.in_full(workbook, kernel),
            folder,
            "--quiet",
            "--time-limit",
            str(_COMPILE_LIMIT),
        ],
        folder=workbook.root,
        limit=_LIMIT,
    )
    if compiled.status is None:
        return Finding("INFRA", "", "", f"did not compile within {_LIMIT:g} s")
    result = folder / "result.json"
    result.unlink(missing_ok=True)
    # If the compiler made no image, the driver reads the reason from build.json.
    ran = processes.run(
        [workbook.command(chapter), "--device", "emulator", "--kernel", folder / "kernel.ptx",
         "--schedules", str(runs.schedules), *([] if runs.proves else ["--repair", "0"]),
         "--quiet", "--json", result],
        folder=workbook.root,
        limit=_LIMIT,
    )  # fmt: skip
    try:
        document = json.loads(result.read_text("utf-8"))
    except (OSError, ValueError):
        return Finding("INFRA", "", "", f"status {ran.status}: {ran.output.strip()[-200:]}")
    diagnosis = document.get("diagnosis") or {}
    found = (document.get("findings") or [{}])[0].get("message", "")
    return Finding(
        str(document["verdict"]), str(diagnosis.get("mistake", "")), _proof_of(document), str(found)
    )


def kept_folder(workbook: Workbook, name: str) -> Path:
    """The folder with the result of a kernel such as wrong/ch09/last_row, as this machine's compiler makes it."""
    return workbook.build / ("kill-rate-clang" if is_clang(workbook) else "kill-rate") / name


def outcome(
    workbook: Workbook, chapter: Chapter, kernel: Kernel, runs: Runs, processes: Processes
) -> Finding:
    """What came of one kernel: now, or last time if nothing has changed since (kept_folder has the result)."""
    programs = (workbook.out / "bin" / "compile", workbook.root / workbook.program(chapter))
    headers = sorted(path for path in (workbook.root / "common" / "include").rglob("*") if path.is_file())
    compiler = "clang" if is_clang(workbook) else "auto"
    key = f"{runs} {compiler} {_digest(kernel, *programs, *headers)}"
    record = kept_folder(workbook, kernel.name) / ("proved.json" if runs.proves else "trial.json")
    try:
        kept = json.loads(record.read_text("utf-8"))
        if kept["key"] == key:
            return Finding(kept["verdict"], kept["diagnosed"], kept["proof"], kept["message"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    finding = _judge(workbook, chapter, kernel, runs, processes)
    if finding.verdict not in (
        "INFRA",
        "BUILD_TIMEOUT",
    ):  # the next run may have a machine that works, or is idle
        write_json(record, {"key": key, **asdict(finding)})
    return finding


def run(
    workbook: Workbook,
    chapters: list[Chapter],
    runs: Runs,
    jobs: int,
    chosen: Callable[[str], bool] | None = None,
) -> list[Trial]:
    """Judges the corpus, or those of its kernels whose names are chosen.

    With clang the kernels of whole programs, which need nvcc, are left out.
    """
    _digest_of.cache_clear()
    differences: dict[str, Difference] = {}
    if is_clang(workbook):
        chapters, differences = compiled_by_clang(workbook, chapters), read_differences(workbook)
    processes = Processes()
    work = [item for item in corpus(workbook, chapters) if chosen is None or chosen(item[1].name)]

    def one(item: tuple[Chapter, Kernel]) -> Trial:
        chapter, kernel = item
        finding = outcome(workbook, chapter, kernel, runs, processes)
        path = str(kernel.path.relative_to(workbook.root))
        declared = kernel.declared.get("VERDICT", "PASS")
        return Trial(
            chapter.name,
            path,
            digest_of(kernel),
            "RIGHT" in kernel.declared,
            differences[path].with_clang if path in differences else declared,
            kernel.declared.get("DIAGNOSIS", ""),
            finding.verdict,
            finding.diagnosed,
            finding.proof,
            finding.message,
        )

    with ThreadPoolExecutor(jobs) as pool:
        try:
            results: Iterable[Trial] = pool.map(one, work)
            if sys.stderr.isatty():
                results = track(results, "kill rate", total=len(work), console=Console(stderr=True))
            return list(results)
        except BaseException:
            processes.stop()
            raise


def record_file(workbook: Workbook) -> Path:
    """What came of every kernel when the whole corpus was last judged: one row each."""
    return workbook.root / "tests" / "kill_rate.csv"


def read_record(workbook: Workbook) -> dict[str, dict[str, str]]:
    """The rows by the kernel's path: path, digest, verdict, mistake and proof; none where there is no record."""
    return read_rows(record_file(workbook))


def write_record(workbook: Workbook, trials: list[Trial]) -> None:
    """Writes the rows of these kernels, and keeps those of others that still exist."""
    rows = {path: row for path, row in read_record(workbook).items() if (workbook.root / path).exists()}
    for trial in trials:
        rows[trial.path] = {
            "path": trial.path,
            "digest": trial.digest,
            "verdict": trial.verdict,
            "mistake": trial.diagnosed,
            "proof": trial.proof,
        }
    text = io.StringIO()
    writer = csv.DictWriter(text, ["path", "digest", "verdict", "mistake", "proof"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows[path] for path in sorted(rows))
    write_whole(record_file(workbook), text.getvalue())


def _share(count: int, total: int) -> str:
    return f"{count} of {total}" if total else "none"


def _report(trials: list[Trial], out: Console) -> None:
    table = Table(box=None, pad_edge=False)
    for column in (
        "chapter",
        "wrong kernels caught",
        "mistake named",
        "cause proved",
        "right kernels passed",
    ):
        table.add_column(column, justify="left" if column == "chapter" else "right")
    for name in [*sorted({t.chapter for t in trials}), "all"]:
        mine = [t for t in trials if name in ("all", t.chapter)]
        wrong, right = [t for t in mine if not t.is_right], [t for t in mine if t.is_right]
        table.add_row(
            name,
            _share(sum(t.caught for t in wrong), len(wrong)),
            _share(sum(t.named for t in wrong), len(wrong)),
            _share(sum(bool(t.proof) for t in wrong), len(wrong)),
            _share(sum(t.caught for t in right), len(right)),
        )
    out.print(table)
    missed = [t for t in trials if not t.caught]
    for t in missed:
        wanted = "PASS or SLOW" if t.is_right and t.expected == "PASS" else t.expected
        out.print(f"{t.path}: {t.verdict}, not {wanted}. {t.message}", highlight=False, markup=False)
    for t in trials:
        if t.diagnosis and not t.named:
            found = t.diagnosed or "nothing"
            out.print(f"{t.path}: named {found}, not {t.diagnosis}", highlight=False, markup=False)


def kill_rate_command(
    chapters: Chapters = None,
    schedules: Annotated[int, typer.Option(min=0, help="Besides the plain one.")] = 7,
    jobs: Jobs = 0,
    as_json: Json = False,
    record: Annotated[bool, typer.Option("--record", help="Write tests/kill_rate.csv.")] = False,
) -> int:
    """How many wrong kernels of tests/wrong are caught, and right ones of tests/right pass."""
    workbook = find_workbook()
    if record and is_clang(workbook):
        raise UsageError(
            "tests/kill_rate.csv has nvcc's verdicts; make clang-corpus RECORD=1 records clang's"
        )
    chosen = workbook.select(chapters or [])
    at_once = jobs or os.cpu_count() or 1
    broken = build_programs(workbook, chosen, jobs=at_once)
    if broken:
        raise MachineError("; ".join(f"./{name} cannot be built: {why}" for name, why in broken.items()))
    trials = run(workbook, chosen, Runs(schedules, proves=True), at_once)
    if record:
        write_record(workbook, trials)
    if as_json:
        rows = [asdict(trial) | {"caught": trial.caught, "named": trial.named} for trial in trials]
        print_json({"schema": "warpbook/kill-rate/1", "trials": rows})
    else:
        _report(trials, console())
    return PASSED if all(trial.caught for trial in trials) else NOT_PASSED
