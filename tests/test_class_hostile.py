"""Submissions that attack the compiler, the judge or the machine: each gets its verdict and nothing else."""

import json
import os
import re
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from classroom import HOSTILE, RIGHT_KERNEL, Classroom, nothing_runs
from conftest import ROOT

from grader.classroom.judge import kernel, stages
from grader.classroom.judge.stages import Compile
from grader.classroom.judgement import Judgement, JudgeSettings
from grader.core.sandbox import unavailable
from grader.core.toolkit import find_nvcc
from grader.core.workbook import Workbook

VERDICTS: dict[str, dict[str, Any]] = tomllib.loads((HOSTILE / "verdicts.toml").read_text("utf-8"))

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))


@pytest.fixture
def room(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Classroom:
    monkeypatch.setenv("CANARY_VARIABLE", "CANARY-variable")
    return Classroom(tmp_path, Workbook(built))


def outputs(judgement: Judgement) -> str:
    """All that a student or teacher could ever see of it."""
    return json.dumps([judgement.result.message, judgement.document], ensure_ascii=False)


def test_every_hostile_kernel_is_in_the_table() -> None:
    assert sorted(path.stem for path in HOSTILE.glob("*.cu")) == sorted(VERDICTS)
    assert len(VERDICTS) >= 30


@pytest.mark.by_turns(2)
@pytest.mark.parametrize("name", VERDICTS)
def test_hostile_kernel(room: Classroom, name: str) -> None:
    entry = VERDICTS[name]
    seconds = float(entry.get("seconds", 60))
    source = room.kernel((HOSTILE / f"{name}.cu").read_text("utf-8"))
    judgement = room.judge(source, entry.get("chapter", "ch01"), JudgeSettings(time_limit=seconds))
    clang = find_nvcc(room.workbook.root) is None
    verdict = entry["clang"] if clang and "clang" in entry else entry["verdict"]
    assert (judgement.verdict, judgement.result.verdict) == (verdict, verdict), judgement
    # A compiler's limit is of processor time, and five times as much by the clock.
    assert judgement.seconds < 5 * seconds + 15, "it outlived its limit"
    assert judgement.document or (clang and entry.get("clang_is_ended")), "the driver has said it"
    assert not any(canary in outputs(judgement) for canary in room.canaries)
    assert ".compile-" not in outputs(judgement), "the name of a folder that is another each time"
    assert not (room.folder / "touched").exists(), "host code ran"
    assert (room.folder / "other" / "kernel.cu").exists()
    shown = judgement.result.message
    assert all(c.isprintable() or c == "\n" for c in shown)
    assert len(shown) < 20_000
    assert nothing_runs(str(room.folder))


def test_what_is_not_seen_makes_no_difference(room: Classroom) -> None:
    """The probe's outcome is the same where the other submission is there and where it is not."""
    text = (HOSTILE / "has_include_probe.cu").read_text("utf-8")
    beside = room.judge(room.kernel(text))
    (room.folder / "other" / "kernel.cu").unlink()
    alone = room.judge(room.kernel(text))
    for judgement in (beside, alone):
        assert judgement.document
        judgement.document.pop("times")
        judgement.document["build"].pop("seconds")
    assert beside.document == alone.document


def test_a_kernel_of_many_lines_is_judged_as_any_other(room: Classroom) -> None:
    """Each has its own counts in the result, which must not become too long to read."""
    name = f'#line 1 "{"x" * 250}.cu"\n'
    lines = '    asm volatile("mov.u32 %0, %0;" : "+r"(n));\n' * 4500
    text = RIGHT_KERNEL.replace("    partial[0]", f"{name}{lines}    partial[0]")
    judgement = room.judge(room.kernel(text))
    assert judgement.verdict == "PASS", judgement.result.message
    assert judgement.document and len(judgement.document["lines"]) == 512


# ---- What is not a kernel
# ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n \t\n", "is empty"),
        (b"\0" * 100, "NUL byte"),
        ("\ufeff".encode("utf-16") + RIGHT_KERNEL.encode("utf-16"), "0xff is not UTF-8"),
        (b"// caf\xe9\n" + RIGHT_KERNEL.encode(), "not UTF-8"),
        (b"\x7fELF\x02\x01\x01" + bytes(64), "NUL byte"),
        (b"/" * (1 << 20) + b"/\n", "larger than 1 MiB"),
    ],
    ids=["nothing", "blank", "zeros", "utf-16", "latin-1", "program", "large"],
)
def test_a_file_that_is_no_source(room: Classroom, content: bytes, words: str) -> None:
    source = room.kernel("")
    source.write_bytes(content)
    judgement = room.judge(source)
    assert judgement.verdict == "BUILD"
    assert words in judgement.result.message


@pytest.mark.parametrize("kind", ["link to a file", "link to nowhere", "pipe", "folder", "missing"])
def test_a_kernel_that_is_no_file(room: Classroom, kind: str) -> None:
    source = room.folder / "me" / "kernel.cu"
    match kind:
        case "link to a file":
            source.symlink_to("/etc/passwd")
        case "link to nowhere":
            source.symlink_to("nowhere")
        case "pipe":
            os.mkfifo(source)
        case "folder":
            source.mkdir()
    judgement = room.judge(source)
    assert (judgement.verdict, judgement.document) == ("REJECT", None)
    assert judgement.result.message.startswith("kernel.cu ")


@pytest.mark.parametrize(
    "name",
    [
        "@options.rsp",
        "--compiler-bindir=.cu",
        "-o",
        "a\nb",
        "'\"$(touch touched)`id`;.cu",
        "%s%n",
        b"\xff\xfe.cu",
    ],
    ids=["response file", "option", "short option", "line end", "shell", "format", "not UTF-8"],
)
def test_names_of_files_are_nothing_but_names(room: Classroom, name: str | bytes) -> None:
    source = room.kernel("@RIGHT_KERNEL@\n").rename(room.folder / "me" / os.fsdecode(name))
    judgement = room.judge(source)
    assert judgement.verdict == "PASS"
    assert judgement.result.earned == judgement.result.possible == 10
    assert os.fsdecode(name) not in outputs(judgement)


def test_the_stage_outlasts_the_compile_step() -> None:
    """Which says better what took too long, and whose limit is of processor time."""
    header = (ROOT / "common/driver/build/state.h").read_text("utf-8")
    (patience,) = re.findall(r"COMPILE_PATIENCE = (\d+)", header)
    limits = Compile(Path("kernel.cu"), 12.0).limits()
    assert limits.seconds > int(patience) * 12 and limits.cpu_seconds > 13


def test_what_compilers_wait_for_a_processor_is_not_the_kernels(
    room: Classroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compile step takes long by the clock, as on a busy machine, and leaves the run all of its time."""
    real = stages.run_compile

    def on_a_busy_machine(*arguments: Any, **options: Any) -> stages.Finished:
        done = real(*arguments, **options)
        time.sleep(6)
        return replace(done, ended=replace(done.ended, seconds=done.ended.seconds + 6))

    monkeypatch.setattr(stages, "run_compile", on_a_busy_machine)
    monkeypatch.setattr(kernel, "_LEAST_SECONDS", 0.01)
    judgement = room.judge(room.kernel(RIGHT_KERNEL), "ch01", JudgeSettings(time_limit=6))
    assert judgement.verdict in ("PASS", "SLOW"), judgement
