"""Adds runs of ./chNN that the learner started by hand, from build/results/by-hand, to the history.

./chNN writes there after a run of every case of the learner's own kernel.cu (common/driver/result/result.c). A
result that has been added is moved, so that it is added only once. If nothing that it depends on has changed
since, it counts as a run of `make grade`, which then need not run the chapter again.
"""

import errno
import hashlib
from pathlib import Path

from ..core.errors import GraderError, explain_os_error
from ..core.history import History, Run, moment_of
from ..core.processes import Processes
from ..core.receipts import write_receipt
from ..core.result import BrokenResultError, Result, parse_result
from ..core.workbook import Chapter, Workbook
from .standing import timed_on
from .store import KERNEL, Asked, Store, run_of


def take_up(workbook: Workbook, chapters: list[Chapter]) -> list[str]:
    """Record new runs by hand of `chapters`; returns what went wrong, in sentences."""
    troubles = []
    for chapter in chapters:
        left = workbook.build / "results" / "by-hand" / f"{chapter.name}.json"
        taken = left.with_suffix(".taken")
        try:
            left.replace(taken)
        except FileNotFoundError:
            continue
        except NotADirectoryError:
            folder = next(path for path in left.parents if path.exists())
            why = explain_os_error(NotADirectoryError(errno.ENOTDIR, "", str(folder)))
            return [f"runs by hand are not recorded: {why}"]  # of no chapter
        except OSError as error:
            troubles.append(f"a run of ./{chapter.name} by hand is not recorded: {explain_os_error(error)}")
            continue
        try:
            _take(workbook, chapter, taken)
            taken.unlink(missing_ok=True)
        except (BrokenResultError, GraderError) as error:
            troubles.append(f"a run of ./{chapter.name} by hand is not recorded: {error}")
        except OSError as error:
            troubles.append(f"a run of ./{chapter.name} by hand is not recorded: {explain_os_error(error)}")
    return troubles


def _take(workbook: Workbook, chapter: Chapter, taken: Path) -> None:
    text, ended = taken.read_bytes(), taken.stat().st_mtime
    result = parse_result(text, chapter.name, 0.0)
    sha256 = _compiled_from(result)
    if result.verdict == "INFRA" or not sha256:
        return
    result = parse_result(text, chapter.name, _seconds(result))
    identity = hashlib.sha256(f"{ended!r}".encode() + text).hexdigest()[:32]
    run = run_of(identity, moment_of(ended), KERNEL, result, sha256)
    history = History(workbook.history)
    if same := _same_beside(run, history.runs(chapter.name)):
        run = same  # the same result again is not a new run
    else:
        history.add([run])
    if result.passed:
        write_receipt(workbook, result, sha256)
    _let_stand_for_grade(workbook, chapter, result, run, taken, ended)


def _same_beside(run: Run, known: list[Run]) -> Run | None:
    """The run just before or after it in time, if it has the same kernel and the same outcome."""
    before = [other for other in known if other.time <= run.time][-1:]
    after = [other for other in known if other.time > run.time][:1]

    def says(other: Run) -> tuple[str, str, object]:
        return other.kernel_sha256, other.verdict, timed_on(other)

    return next((other for other in before + after if says(other) == says(run)), None)


def _let_stand_for_grade(
    workbook: Workbook, chapter: Chapter, result: Result, run: Run, taken: Path, ended: float
) -> None:
    """Move it to where `make grade` looks, unless something that it depends on is newer."""
    options = result.document.get("options")
    asked = options if isinstance(options, dict) else {}
    store = Store(workbook, Asked(KERNEL, str(asked.get("device", "auto")), asked.get("gpu")))
    root = workbook.root
    sources = [chapter.solution / "kernel.cu", workbook.program(chapter)]
    paths = [root / path for path in sources] + [workbook.out / "bin" / "compile"]
    paths += (path for path in (workbook.tree / "common" / "include").rglob("*") if path.is_file())
    is_as_it_was = store.source_sha256(chapter) == run.kernel_sha256
    if not is_as_it_was or any(path.exists() and path.stat().st_mtime > ended for path in paths):
        return
    with store.alone(chapter, Processes()):
        store.forget(chapter)
        taken.replace(store.result_file(chapter))
        store.write(chapter, run, store.key(chapter))


def _compiled_from(result: Result) -> str:
    """The hash of the kernel.cu that the run compiled; "" if it compiled none."""
    build = result.document.get("build")
    sha256 = build.get("source_sha256") if isinstance(build, dict) else None
    return sha256 if isinstance(sha256, str) else ""


def _seconds(result: Result) -> float:
    """The duration of the run, without building if an earlier build was reused."""
    times = result.document.get("times")
    seconds = times.get("run_seconds") if isinstance(times, dict) else None
    return float(seconds) if isinstance(seconds, int | float) else 0.0
