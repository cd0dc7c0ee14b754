"""The corpus: every wrong kernel gets its verdict, nearly all the name of their mistake, and every right one passes.

A run judges some forty kernels, however many there are: others for each commit, from all chapters. What came of a
kernel is kept in build/kill-rate under a hash of all that it depends on. `make kill-rate RECORD=1` judges all, which
takes about twenty minutes on two cores, and writes tests/kill_rate.csv: a kernel without its row there fails a test.
"""

import fcntl
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import in_turn

from grader.authoring import kernels
from grader.authoring.killrate import (
    Runs,
    Trial,
    corpus,
    digest_of,
    is_named,
    kept_folder,
    read_record,
    run,
)
from grader.core.make import build_programs
from grader.core.workbook import Workbook, find_workbook

ROOT = Path(__file__).resolve().parents[1]
RUNS = Runs(schedules=7, proves=False)
HEADER = re.compile(r"^// (VERDICT|MISTAKE|DIAGNOSIS|RIGHT): \S.*$", re.MULTILINE)


RACES = [  # schedule 0 gives the right result
    ("ch03", "blocks_share_the_slots"),
    ("ch05", "plain_add_to_a_shared_total"),
    ("ch08", "plain_add"),
]


@pytest.fixture(scope="module")
def chosen(request: pytest.FixtureRequest) -> Callable[[str], bool]:
    """Whether a kernel has its turn, or is one of RACES."""
    workbook = Workbook(ROOT)
    names = [kernel.name for _, kernel in corpus(workbook, workbook.chapters)]
    needed = {f"wrong/{chapter}/{name}" for chapter, name in RACES}
    return needed.union(in_turn(names, request.config, turns=len(names) // 40)).__contains__


@pytest.fixture(scope="module")
def trials(chosen: Callable[[str], bool]) -> list[Trial]:
    os.chdir(ROOT)
    workbook = find_workbook()
    chapters = workbook.select([])
    jobs = os.cpu_count() or 1
    assert not build_programs(workbook, chapters, jobs=jobs)
    lock = workbook.build / "kill-rate" / "lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as file:  # of two workers one judges, and the other takes what is kept
        fcntl.flock(file, fcntl.LOCK_EX)
        return run(workbook, chapters, RUNS, jobs, chosen)


def told(trials: list[Trial]) -> str:
    return "\n".join(f"{t.path}: {t.verdict} {t.diagnosed or 'none'}: {t.message[:200]}" for t in trials)


def test_the_corpus_is_large_enough_and_well_labelled() -> None:
    workbook = Workbook(ROOT)
    found = kernels.read_all(
        workbook, kernels.names(workbook, [chapter.name for chapter in workbook.chapters])
    )
    wrong = [kernel for kernel in found if kernel.name.startswith("wrong/")]
    right = [kernel for kernel in found if kernel.name.startswith("right/")]
    assert len(wrong) >= 694
    assert len(right) >= 247
    for kernel in wrong:
        headers = HEADER.findall("\n".join(kernel.content.decode().splitlines()[:3]))
        assert headers == ["VERDICT", "MISTAKE", "DIAGNOSIS"], kernel.path
    for kernel in right:
        assert HEADER.findall(kernel.content.decode().splitlines()[0]) == ["RIGHT"], kernel.path


def test_the_record_of_the_whole_corpus_is_todays() -> None:
    workbook = find_workbook()
    recorded = read_record(workbook)
    others = []
    for chapter, kernel in corpus(workbook, workbook.chapters):
        row = recorded.pop(str(kernel.path.relative_to(workbook.root)), {})
        expected = (kernel.declared["VERDICT"],) if "VERDICT" in kernel.declared else ("PASS", "SLOW")
        if row.get("digest") != digest_of(kernel) or row.get("verdict") not in expected:
            others.append(f"{chapter.name}: {kernel.name}")
    assert not others + list(recorded), "run make kill-rate RECORD=1"


def test_nearly_every_mistake_is_named_in_the_record() -> None:
    workbook = find_workbook()
    recorded = read_record(workbook)
    wrong = [kernel for _, kernel in corpus(workbook, workbook.chapters) if "RIGHT" not in kernel.declared]
    unnamed = [
        kernel.name
        for kernel in wrong
        for row in [recorded[str(kernel.path.relative_to(workbook.root))]]
        if not is_named(kernel.declared["DIAGNOSIS"], row["mistake"], row["proof"])
    ]
    assert len(unnamed) <= len(wrong) / 10, unnamed
    assert sum(kernel.declared["DIAGNOSIS"] == "none" for kernel in wrong) <= len(wrong) / 10


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_every_wrong_kernel_gets_its_verdict(trials: list[Trial]) -> None:
    assert not told([t for t in trials if not t.is_right and not t.caught])


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_every_right_kernel_passes(trials: list[Trial]) -> None:
    assert not told([t for t in trials if t.is_right and not t.caught])


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_a_right_kernel_is_told_of_no_mistake_of_correctness(trials: list[Trial]) -> None:
    assert not told([t for t in trials if t.is_right and t.diagnosed and t.verdict == "PASS"])


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_nothing_is_run_again_that_has_not_changed(
    trials: list[Trial], chosen: Callable[[str], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a kernel was run again")

    monkeypatch.setattr("grader.authoring.killrate._judge", refuse)
    workbook = find_workbook()
    again = run(workbook, workbook.select([]), RUNS, 1, chosen)
    assert again == trials


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(("chapter", "name"), RACES)
@pytest.mark.usefixtures("trials")
def test_a_race_is_shown_by_a_schedule_that_can_be_replayed(chapter: str, name: str, tmp_path: Path) -> None:
    folder = kept_folder(Workbook(ROOT), f"wrong/{chapter}/{name}")
    shown = json.loads((folder / "result.json").read_text())["replay"]
    assert shown["schedule"] > 0
    assert "schedule 0 gives the right result" in shown["says"]
    n, schedule = re.search(r"--n (\d+) --schedule (\d+)$", shown["says"]).groups()
    assert int(schedule) == shown["schedule"]
    command = [f"./{chapter}", "--device", "emulator", "--kernel", folder / "kernel.ptx", "--n", n]
    told = []
    for again in range(2):
        file = tmp_path / f"{again}.json"
        page = subprocess.run(
            [*command, "--schedule", schedule, "--json", file], cwd=ROOT, capture_output=True, text=True
        )
        told.append(json.loads(file.read_text())["replay"])
        assert f"--schedule {schedule}" in page.stdout
    assert told[0] == told[1]
    assert told[0]["schedule"] == shown["schedule"]
    assert told[0]["says"].split("gives this")[1] == shown["says"].split("gives this")[1]
