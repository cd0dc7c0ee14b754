"""What the emulator finds against what compute-sanitizer reported on an H200, kernel by kernel and tool by tool.

tests/hardware_truth/sanitizer/record.csv holds what the tools reported about one case of every kernel of tests/wrong
and tests/right (record_sanitizer.py writes it on a GPU). The same case runs here on the emulator. reasons.csv states
why the two differ, by class: tool, both answers, what the emulator found in the case, and the reason. A difference
without a reason fails, and so does a reason without a difference.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT

from grader.authoring.killrate import read_record
from grader.core.make import make
from grader.core.workbook import Workbook

FOLDER = Path(__file__).resolve().parent / "hardware_truth" / "sanitizer"
sys.path.insert(0, str(FOLDER))
import record_sanitizer as record  # noqa: E402
import sanitize  # noqa: E402

PAGE = ROOT / "docs" / "emulator-accuracy.md"


@cache
def rows() -> list[record.Row]:
    return record.valid_rows(Workbook(ROOT))


def differences() -> list[record.Difference]:
    os.chdir(ROOT)
    workbook = Workbook(ROOT)
    status, told = make(workbook, "sanitizer-cases", jobs=os.cpu_count() or 1)
    assert status == 0, told
    return record.differences(workbook, rows(), os.cpu_count() or 1)


# ---- The record ------------------------------------------------------------------------------------------


def test_nearly_every_kernel_is_recorded() -> None:
    """A new kernel needs no GPU; `make sanitizer-truth` on an H200 adds what is missing."""
    workbook = Workbook(ROOT)
    everything = record.digests(workbook)
    cannot_run = {"BUILD", "BUILD_TIMEOUT", "LAUNCH", "REJECT", "UNSUPPORTED"}
    without = sum(row["verdict"] in cannot_run for row in read_record(workbook).values())
    assert len(rows()) >= 0.9 * (len(everything) - without)


def test_the_tools_report_nothing_about_right_kernels() -> None:
    told = [row for row in rows() if row["kernel"].startswith("right/")]
    assert len(told) >= 140
    blamed = {row["kernel"] for row in told if any(row[tool] != "clean" for tool in record.TOOLS)}
    assert blamed == {  # reasons.csv says why
        "right/ch07/last_warp_gathers",  # an atomic orders its accesses
        "right/ch08/thread_0_adds_the_last_two",  # other threads load, too, and drop what they have loaded
    }


def test_the_page_has_the_figures_of_the_record() -> None:
    assert record.summary(record.table(record.RECORD)) in PAGE.read_text()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.by_turns
def test_every_difference_has_a_reason_and_every_reason_a_difference() -> None:
    found = differences()  # takes a minute, and so is done in one test alone
    reasons = record.table(record.REASONS)
    without = [one for one in found if not any(record.explains(reason, one) for reason in reasons)]
    assert not without, "\n".join(map(str, without))
    unused = [reason for reason in reasons if not any(record.explains(reason, one) for one in found)]
    assert not unused


# ---- Its parts -------------------------------------------------------------------------------------------

LOG = """========= COMPUTE-SANITIZER
@begin 4
========= Invalid __global__ write of size 4 bytes
=========     at _Z3sumPKf__k4+0x60 in kernel.cu:34
=========     by thread (0,0,0) in block (0,0,0)
=========     Access to 0x7f0000 is out of bounds
=========
@end 4
@begin 7
========= Error: Race reported between Write access at sum_of_block(float)+0x90 in kernel.cu:56
=========     and Read access at sum_of_block(float)+0x2c0 in kernel.cu:62 [508 hazards]
=========
========= Barrier error detected. Divergent thread(s) in warp.
=========     at _Z3sumPKf__k4+0x60 in kernel.cu:34
========= Target application returned an error
"""


def test_a_message_belongs_to_the_kernel_it_names_or_to_the_case_that_began_last() -> None:
    told = sanitize.attribute(LOG)
    assert {case: list(messages) for case, messages in told.items()} == {
        4: [
            "Invalid __global__ write of size 4 bytes | out of bounds",
            "Barrier error detected. Divergent thread(s) in warp.",
        ],
        7: ["Error: Race reported between Write access"],
    }


@pytest.mark.parametrize(
    ("tool", "status", "messages", "word"),
    [
        ("memcheck", "done", [], "clean"),
        ("memcheck", "done", ["Invalid __shared__ read of size 4 bytes | out of bounds"], "out of bounds"),
        ("memcheck", "cuCtxSynchronize 710", ["Warp assert"], "fault"),
        ("racecheck", "cuCtxSynchronize 716", [], "fault"),
        ("racecheck", "done", ["Warning: Race reported between Read access"], "race"),
        ("synccheck", "cuCtxSynchronize 719", ["Barrier error detected."], "barrier"),
        ("initcheck", "ended", [], "timeout"),
        ("initcheck", "cuLaunchKernel 1", [], "refused"),
    ],
)
def test_an_answer_in_a_word(tool: str, status: str, messages: list[str], word: str) -> None:
    result = {"status": status, "messages": {message: [1, ""] for message in messages}}
    assert record.reported(tool, result) == word


def finding(kind: str, verdict: str, where: str) -> dict[str, str]:
    return {"kind": kind, "verdict": verdict, "object": where}


def test_a_tool_is_compared_with_what_it_looks_for() -> None:
    found = [
        finding("race", "RACE", "partial"),
        finding("uninitialised read", "UNINIT", "shared tile"),
        finding("misaligned", "MISALIGNED", "in"),
    ]
    assert {tool: record.found_by(tool, found) for tool in record.TOOLS} == {
        "memcheck": "misaligned",
        "racecheck": "clean",
        "initcheck": "clean",
        "synccheck": "clean",
    }
    assert record.found_by("racecheck", [finding("race", "RACE", "shared tile")]) == "race"
    assert record.found_by("initcheck", [finding("uninitialised read", "UNINIT", "out")]) == "uninitialised"
    assert (
        record.found_by("initcheck", [finding("uninitialised read", "UNINIT", "")]) == "clean"
    )  # a register


def case(n: int, verdict: str, **more: object) -> dict[str, object]:
    return {
        "task": "sum", "n": n, "family": "integers", "misalignment": 0, "schedule": 0, "verdict": verdict, **more
    }  # fmt: skip


def chosen(verdict: str, first: int | None, *cases: dict[str, object]) -> str | None:
    row = record.choose({"verdict": verdict, "first_failure": first, "cases": cases})
    return row and row["n"]


def test_the_failing_case_is_recorded_or_one_of_medium_size() -> None:
    assert chosen("PASS", None, case(0, "PASS"), case(1000, "PASS"), case(65535, "PASS")) == "1000"
    assert chosen("OOB", 1, case(1024, "PASS"), case(3, "OOB"), case(5, "OOB")) == "3"
    assert chosen("WRONG", 0, case(0, "WRONG"), case(1023, "PASS"), case(2000, "WRONG")) == "2000"
    assert chosen("LAUNCH", 0, case(0, "LAUNCH")) is None
    # Too large to be carried: a case that can be run.
    assert chosen("WRONG", 1, case(1000, "PASS"), case(1 << 31, "WRONG")) == "1000"
