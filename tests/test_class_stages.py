"""A kernel's way through its two stages: without a sandbox, and whatever comes out of one."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from classroom import HOSTILE, LIMITS, MIB, RIGHT_KERNEL, Classroom, marked, needs_bubblewrap

from grader.classroom.judge import kernel as judge_kernel
from grader.classroom.judge import stages
from grader.classroom.judgement import JudgeSettings
from grader.core import sandbox
from grader.core.errors import MachineError
from grader.core.toolkit import find_nvcc
from grader.core.workbook import Workbook


@pytest.fixture
def room(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Classroom:
    monkeypatch.setenv("CANARY_VARIABLE", "CANARY-variable")
    return Classroom(tmp_path, Workbook(built))


@needs_bubblewrap
def test_compilers_may_be_scripts_that_call_them(
    room: Classroom, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, nvcc: str
) -> None:
    """As distributions install nvcc, and caches of compilations a C compiler: the sandbox has what they call."""
    (tmp_path / "bin").mkdir()
    path = os.environ["PATH"]
    for name, program in {"nvcc": nvcc, "gcc": shutil.which("gcc"), "g++": shutil.which("g++")}.items():
        if program:
            (tmp_path / "bin" / name).write_text(f'#!/bin/sh\nPATH="{path}" exec "{program}" "$@"\n')
            (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{path}")
    assert find_nvcc(room.workbook.root) == tmp_path / "bin" / "nvcc"
    assert room.judge(room.kernel(RIGHT_KERNEL)).verdict == "PASS"


# ---- Where there is no sandbox -------------------------------------------------------------------------------


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str | None], None]]:
    """A machine where bwrap is missing, or is the script given."""

    def replace(script: str | None) -> None:
        program = tmp_path / "bwrap"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setattr(sandbox, "find_bubblewrap", lambda: str(program) if script else None)
        sandbox.obstacle.cache_clear()
        sandbox.known_options.cache_clear()

    yield replace
    monkeypatch.undo()
    sandbox.obstacle.cache_clear()
    sandbox.known_options.cache_clear()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (None, "apt-get install bubblewrap"),
        (
            "echo 'bwrap: No permissions to create new namespace' >&2; exit 1",
            "No permissions to create new namespace",
        ),
        ("exit 1", "it ended with status 1"),
        ("exit 0", "it ended with status 0"),
    ],
    ids=["missing", "forbidden", "broken", "pretends"],
)
def test_without_bubblewrap_nothing_is_compiled(
    room: Classroom, without: Callable[[str | None], None], script: str | None, words: str
) -> None:
    without(script)
    judgement = room.judge(room.kernel(RIGHT_KERNEL))
    assert (judgement.verdict, judgement.document) == ("INFRA", None)
    assert words in judgement.result.message
    assert "TRUST=1" in judgement.result.message


def test_trusted_submissions_need_no_bubblewrap(
    room: Classroom, without: Callable[[str | None], None]
) -> None:
    without(None)
    settings = JudgeSettings(trust=True, secret="sixteen-characters-or-more", sizes=(77,))
    judgement = room.judge(room.kernel(RIGHT_KERNEL), settings=settings)
    assert judgement.verdict == "PASS", judgement
    assert judgement.document
    assert judgement.document["options"]["secret"] == "sixteen-characters-or-more"


@needs_bubblewrap
def test_trust_changes_no_result(room: Classroom) -> None:
    for text in (RIGHT_KERNEL.replace("i < n", "i <= n"), "this is not CUDA\n"):
        documents = []
        for trust in (False, True):
            judged = room.judge(room.kernel(text), settings=JudgeSettings(trust=trust))
            document = judged.document
            assert document, judged.result.message
            document.pop("times")
            document["build"].pop("seconds")
            documents.append(document)
        assert documents[0] == documents[1]


@needs_bubblewrap
@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user runs every other test as one")
def test_an_ordinary_user_has_the_same_sandbox() -> None:
    command = sandbox.confine(sandbox.View({}, has_proc=True), ["/bin/sh", "-c", "echo /proc/[0-9]*"])
    done = subprocess.run(
        command, cwd="/", user=65534, group=65534, extra_groups=[], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) <= 3, "its own processes and no others"


def test_a_compiler_among_secrets_is_not_shown(tmp_path: Path) -> None:
    view = sandbox.View({}, system=(tmp_path,), hidden=(tmp_path / "home",))
    if sandbox.unavailable() is None:
        with pytest.raises(MachineError, match="NVCC_CCBIN"):
            sandbox.confine(view, ["/bin/true"])


# ---- What comes out ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("", 0),
        ("PASS", 0),
        (r"\0", 0),
        (r'{"schema": "warpbook/result/1", "chapter": "ch01", "verdict": "PASS"}\0', 0),
        (r'{"schema": "warpbook/result/1", "chapter": "ch01", "verdict": "PASS"}', 0),
        (r"{}\0{}\0", 0),
    ],
)
def test_whatever_a_taken_over_judge_prints_is_no_pass(
    room: Classroom, monkeypatch: pytest.MonkeyPatch, output: str, status: int
) -> None:
    """In place of ./ch01, once the compile stage is over."""
    true_script = stages._script

    def script(limits: str, command: list[str], out: str, names: tuple[str, ...]) -> list[str]:
        if names != ("result.json",):
            return true_script(limits, command, out, names)
        return ["/bin/sh", "-c", f"printf '{output}'; exit {status}"]

    monkeypatch.setattr(stages, "_script", script)
    judgement = room.judge(room.kernel(RIGHT_KERNEL), settings=JudgeSettings(trust=True))
    assert (judgement.verdict, judgement.result.earned) == ("INFRA", 0)


def test_a_stage_that_exceeds_a_limit_has_a_verdict(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        judge_kernel, "MEMORY_BYTES", 68 * MIB
    )  # eight times as much for files: the cases are one
    source = room.kernel((HOSTILE / "recursion_without_end.cu").read_text())
    judgement = room.judge(source, settings=JudgeSettings(trust=True))
    assert (judgement.verdict, judgement.document) == ("RESOURCE", None), judgement.result.message
    assert "68 MiB" in judgement.result.message
    assert judgement.result.possible == 10


def test_a_busy_machine_is_nobodys_timeout(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage that gets nothing of the processor until its time is over."""

    def script(limits: str, command: list[str], out: str, names: tuple[str, ...]) -> list[str]:
        return ["/bin/sh", "-c", "sleep 60.375"]

    room.judge(room.kernel(RIGHT_KERNEL), settings=JudgeSettings(trust=True))  # the reference passes, before
    monkeypatch.setattr(stages, "_script", script)
    monkeypatch.setattr(stages.Compile, "limits", lambda stage: marked(LIMITS, seconds=0.5))
    judgement = room.judge(room.kernel(RIGHT_KERNEL), settings=JudgeSettings(trust=True))
    assert judgement.verdict == "INFRA"
    assert "the machine is too busy" in judgement.result.message
