"""clang as the compiler of kernels: the same verdicts as with nvcc, without files from NVIDIA.

tests/clang_verdicts.csv has the verdict of every kernel of the corpus with clang (make clang-corpus RECORD=1); one that
differs from tests/kill_rate.csv has a row in tests/clang_differences.csv that says why. A run judges one kernel in 36
again, by turns.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, TURNS, in_turn

from grader.authoring.clang_corpus import read_verdicts, unexplained
from grader.authoring.clang_differences import read_differences
from grader.authoring.killrate import Runs, corpus, outcome
from grader.core.processes import Processes
from grader.core.toolkit import find_clang
from grader.core.workbook import Workbook

CLANG = find_clang(ROOT)
COMPILE = ROOT / "build/bin/compile"
needs_clang = pytest.mark.skipif(
    CLANG is None, reason="there is no clang for CUDA: make COMPILER=clang setup"
)
WORKBOOK = Workbook(ROOT)
PROGRAMS = [one.name for one in WORKBOOK.chapters if WORKBOOK.is_program(one)]
CHAPTERS = [one.name for one in WORKBOOK.chapters if one.name not in PROGRAMS]


def compiled(
    source: Path, folder: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "WARPBOOK_COMPILER": "clang", "WARPBOOK_CLANG": str(CLANG), **variables}
    return subprocess.run(
        [COMPILE, source, folder, "--always", *arguments],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def solution(chapter: str) -> Path:
    return next((ROOT / "solutions").glob(f"{chapter}_*")) / "kernel.cu"


@needs_clang
@pytest.mark.by_turns
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_reference_earns_full_points(chapter: str, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    environment = {**os.environ, "WARPBOOK_COMPILER": "clang", "WARPBOOK_CLANG": str(CLANG)}
    done = subprocess.run(
        [f"./{chapter}", "--kernel", solution(chapter), "--device", "emulator", "--quiet", "--json", result],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(result.read_text())
    assert document["build"]["clang"] and document["build"]["nvcc"] == ""
    assert document["points"]["earned"] == document["points"]["possible"]


@needs_clang
@pytest.mark.parametrize("chapter", PROGRAMS)
def test_a_whole_program_needs_nvcc(chapter: str) -> None:
    environment = {**os.environ, "WARPBOOK_COMPILER": "clang", "WARPBOOK_CLANG": str(CLANG)}
    done = subprocess.run(
        [f"./{chapter}", "--kernel", solution(chapter)],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    page = " ".join(done.stdout.split())
    assert done.returncode == 3, page
    assert "INFRA" in page and "a whole program needs nvcc" in page and "make setup COMPILER=nvcc" in page


@pytest.fixture
def no_assembler(tmp_path: Path) -> dict[str, str]:
    """Variables under which neither nvcc nor ptxas works."""
    empty = tmp_path / "bin"
    empty.mkdir()
    for name in ("ptxas", "nvcc"):
        (empty / name).write_text("#!/bin/sh\necho toolkit is gone >&2\nexit 127\n")
        (empty / name).chmod(0o755)
    return {"PATH": f"{empty}:{os.environ['PATH']}", "WARPBOOK_NVCC": str(empty / "nvcc")}


@needs_clang
@pytest.mark.parametrize(
    "variables",
    [
        "__constant__ float t[20000];",
        "__constant__ float a[9000], b[9000];",
        "__constant__ int t[1 << 27] = {1};",
    ],
)
def test_too_much_constant_memory_is_an_error_without_ptxas_too(
    variables: str, no_assembler: dict[str, str], tmp_path: Path
) -> None:
    source = tmp_path / "kernel.cu"
    source.write_text(solution("ch01").read_text() + variables)
    for environment in ({}, no_assembler):
        done = compiled(source, tmp_path / "out", **environment)
        assert done.returncode == 1, done.stderr
        said = done.stderr
        assert "constant" in said and ("10000" in said or "65536" in said), said


@needs_clang
@pytest.mark.parametrize("chapter", ["ch04", "ch18"])
def test_registers_are_estimated_without_ptxas(
    chapter: str, no_assembler: dict[str, str], tmp_path: Path
) -> None:
    """The estimate is within 20 % on average; ptxas, where there is one, gives the same kernels the same memory."""
    done = compiled(solution(chapter), tmp_path / "estimated", **no_assembler)
    assert done.returncode == 0, done.stderr
    kernels_of = json.loads((tmp_path / "estimated/build.json").read_text())["kernels"]
    assert all(8 <= kernel["registers"] <= 255 for kernel in kernels_of)
    done = compiled(solution(chapter), tmp_path / "counted")
    counted = {k["name"]: k for k in json.loads((tmp_path / "counted/build.json").read_text())["kernels"]}
    pairs = [(k, counted[k["name"]]) for k in kernels_of if not k["name"].startswith("launch_")]
    assert all(a["shared_bytes"] == b["shared_bytes"] for a, b in pairs)
    errors = [abs(a["registers"] - b["registers"]) / b["registers"] for a, b in pairs]
    assert sum(errors) / len(errors) <= 0.3, errors


@needs_clang
def test_nothing_of_nvidias_is_read(tmp_path: Path) -> None:
    """Our headers are the only ones: the PTX names none but the workbook's and the kernel's."""
    done = compiled(solution("ch10"), tmp_path)
    assert done.returncode == 0, done.stderr
    files = re.findall(r'\.file\s+\d+ "([^"]*)"', (tmp_path / "kernel.ptx").read_text())
    assert files and all("solutions/" in name or "common/include/" in name for name in files)


def test_an_nvcc_that_does_not_work_is_passed_over(tmp_path: Path) -> None:
    nvcc = tmp_path / "bin/nvcc"
    nvcc.parent.mkdir()
    nvcc.write_text("#!/bin/sh\nexec /no/toolkit/nvcc\n")
    nvcc.chmod(0o755)
    (nvcc.parent / "ptxas").write_text("#!/bin/sh\nexit 1\n")
    (nvcc.parent / "ptxas").chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name != "WARPBOOK_NVCC"}
    environment |= {"WARPBOOK_COMPILER": "auto", "PATH": f"{nvcc.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        [COMPILE, solution("ch01"), tmp_path / "out", "--always"],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if str(nvcc) in line]
    assert len(lines) == 1 and "does not work" in lines[0] and "compiled with" in lines[0]


def test_another_name_of_a_compiler_is_refused(tmp_path: Path) -> None:
    done = compiled(solution("ch01"), tmp_path, WARPBOOK_COMPILER="icc")
    assert done.returncode == 3
    assert "auto, nvcc or clang, not icc" in done.stderr


def test_every_kernel_is_recorded_and_every_difference_has_a_reason() -> None:
    workbook = WORKBOOK
    assert not unexplained(workbook)
    assert all(len(one.reason) > 20 for one in read_differences(workbook).values())


@needs_clang
@pytest.mark.by_turns
def test_a_part_of_the_corpus_gets_the_same_verdicts(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("WARPBOOK_COMPILER", "clang")
    monkeypatch.setenv("WARPBOOK_CLANG", str(CLANG))
    workbook = WORKBOOK
    recorded = read_verdicts(workbook)
    chosen = in_turn(list(corpus(workbook, workbook.select(CHAPTERS))), request.config, turns=TURNS**2)
    assert chosen
    wrong = []
    for chapter, kernel in chosen:
        path = str(kernel.path.relative_to(workbook.root))
        want = recorded[path]["verdict"]
        got = outcome(workbook, chapter, kernel, Runs(1, proves=False), Processes())
        if got.verdict != want:
            wrong.append(f"{path}: {got.verdict}, not {want}: {got.message[:150]}")
    assert not wrong, "\n".join(wrong)


@needs_clang
def test_errors_say_what_to_write(tmp_path: Path) -> None:
    """The same mistakes that nvcc's messages are recorded for: each is shown at a line, most with what to write."""
    errors = helps = 0
    for source in sorted((ROOT / "tests/data/compiler").glob("*.cu")):
        done = compiled(source, tmp_path / source.stem, "--quiet")
        if done.returncode == 0 and "// ERROR:" not in source.read_text():
            continue  # nvcc warns of it
        assert done.returncode == 1, source
        text = done.stderr
        assert re.search(
            rf"^{re.escape(str(source.relative_to(ROOT)))}:\d+:\d+: error: ", text, re.MULTILINE
        ), text
        errors += len(re.findall(r": error: ", text))
        helps += len(re.findall(r"^  help: ", text, re.MULTILINE))
    assert helps >= 0.69 * errors, f"{helps} of {errors}"
