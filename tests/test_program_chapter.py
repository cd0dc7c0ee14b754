"""Chapter 20, a whole program: how it is run, what of that is believed, and programs that attack both."""

import json
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from classroom import needs_bubblewrap
from conftest import ROOT
from native_build import compiler

from grader.classroom.judge.kernel import judge_submission
from grader.classroom.judgement import JudgeSettings
from grader.core.processes import Processes
from grader.core.workbook import Workbook

SOLUTION = ROOT / "solutions" / "ch20_program" / "kernel.cu"
RECORD_BYTES = 128  # sizeof(Record)


# ---- build/bin/run_program: any program at all, in C ---------------------------------------------------------


def run_cases(built: Path, folder: Path, body: str, *, seconds: float = 1.0) -> tuple[int, bytes]:
    """The status of run_program, and the file of outcomes, for a program with that main()."""
    source, cases, output = folder / "program.c", folder / "cases", folder / "output"
    source.write_text(
        "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
        f"int main(int count, char **arguments) {{ (void)count, (void)arguments; {body} return 0; }}\n"
    )
    subprocess.run([*compiler(), "-O1", "-w", "-o", folder / "program", source], check=True)
    for case in ("00", "01"):
        (cases / case).mkdir(parents=True, exist_ok=True)
        (cases / case / "input").write_bytes(struct.pack("i", 0))
        (cases / case / "settings").write_text("WARPBOOK_SEED=3\n")
    output.mkdir(exist_ok=True)
    done = subprocess.run(
        [built / "build/bin/run_program", folder / "program", cases, output, folder, str(seconds)],
        capture_output=True,
        timeout=60,
    )
    file = output / "outcomes"
    return done.returncode, file.read_bytes() if file.exists() else b""


@pytest.mark.parametrize(
    ("body", "ended"),
    [
        ("", b"1 0 0 0 0"),
        ("exit(7);", b"1 0 7 0 0"),
        ("abort();", b"1 0 -1 6 0"),
        ("for (;;) pause();", b"1 1 -1 9 0"),
        ('for (int i = 0; i < 200000; i++) puts("flood");', b"1 0 0 0 1"),
    ],
    ids=["well", "status", "signal", "sleeps", "flood"],
)
def test_how_a_program_ended_is_told(built: Path, tmp_path: Path, body: str, ended: bytes) -> None:
    status, outcomes = run_cases(built, tmp_path, body)
    assert status == 0
    assert outcomes.startswith(b"0 0 %d\n%s\n" % (len(ended) + 1, ended))
    # A program that does not end is not tried again.
    assert (b"1 0 %d\n%s\n" % (len(ended) + 1, ended) in outcomes) == (b"1 1" not in ended)


def test_a_program_gets_its_input_and_little_else(built: Path, tmp_path: Path) -> None:
    body = """
        extern char **environ;
        FILE *file = fopen(arguments[2], "wb");
        for (char **at = environ; *at; at++) fprintf(file, "%s\\n", *at);
        fclose(file);"""
    _, outcomes = run_cases(built, tmp_path, body)
    names = {line.split(b"=")[0] for line in outcomes.split(b"\n") if b"=" in line}
    assert names == {
        b"LD_LIBRARY_PATH",
        b"PATH",
        b"LC_ALL",
        b"WARPBOOK_CHECK",
        b"WARPBOOK_FINDINGS",
        b"WARPBOOK_RECORD",
        b"WARPBOOK_SEED",
    }


def test_outcomes_hold_no_nul(built: Path, tmp_path: Path) -> None:
    body = 'FILE *f = fopen(arguments[2], "wb"); fwrite("\\0\\1\\2x", 1, 4, f); fclose(f);'
    _, outcomes = run_cases(built, tmp_path, body)
    assert b"\0" not in outcomes
    assert b"0 2 4\n\1\1\1\2\2x" in outcomes


# ---- The judge, on outcomes that a program may have forged ---------------------------------------------------


def put(index: int, part: int, content: bytes) -> bytes:
    """A part of a file of outcomes."""
    return b"%d %d %d\n" % (index, part, len(content)) + content.replace(b"\1", b"\1\2").replace(
        b"\0", b"\1\1"
    )


@pytest.fixture(scope="module")
def image(built: Path, nvcc: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference, compiled, in a folder with its program."""
    del nvcc
    folder = tmp_path_factory.mktemp("ch20") / "built"
    subprocess.run([built / "build/bin/compile", SOLUTION, folder, "--quiet"], cwd=built, check=True)
    return folder / "kernel.ptx"


def judge(built: Path, image: Path, folder: Path, *options: str) -> dict:
    """The result of ./ch20."""
    result = folder / "result.json"
    subprocess.run(
        ["./ch20", "--kernel", image, "--quiet", "--json", result, *options], cwd=built, capture_output=True
    )
    return json.loads(result.read_text())


def read_case(folder: Path, index: int) -> tuple[int, list[float]]:
    content = (folder / f"{index:02}" / "input").read_bytes()
    n = struct.unpack_from("i", content)[0]
    both = struct.unpack_from(f"{2 * n}f", content, 4)
    return n, [both[i] + both[n + i] for i in range(n)]


def test_results_without_a_record_do_not_pass(built: Path, image: Path, tmp_path: Path) -> None:
    """A program that computes everything on the host, and writes what it likes about the rest."""
    cases = tmp_path / "cases"
    subprocess.run(["./ch20", "--kernel", image, "--write-cases", cases], cwd=built, check=True)
    forged = b""
    for index in range(len(list(cases.iterdir()))):
        n, c = read_case(cases, index)
        forged += put(index, 0, b"1 0 0 0 0\n")
        forged += put(index, 2, struct.pack(f"iff{n}f", n, sum(c), 0.1, *c))
        forged += put(index, 3, b'{"schema": "warpbook/program-findings/1", "findings": []}')
    (tmp_path / "outcomes").write_bytes(forged)
    result = judge(built, image, tmp_path, "--outcomes", str(tmp_path / "outcomes"))
    assert result["verdict"] == "FAULT"
    assert "_exit" in result["findings"][0]["message"]
    assert result["points"]["earned"] <= 1
    # With an end, but with nothing that a device did.
    record = struct.pack("I", 10).ljust(RECORD_BYTES, b"\0")  # RECORD_END
    with_end = b"".join(put(i, 4, record) for i in range(len(list(cases.iterdir()))))
    (tmp_path / "outcomes").write_bytes(forged + with_end)
    result = judge(built, image, tmp_path, "--outcomes", str(tmp_path / "outcomes"))
    assert result["verdict"] == "WRONG"
    assert "no kernel wrote it" in result["findings"][0]["message"]


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ({}, "FAULT"),
        ({0: b"nonsense"}, "FAULT"),
        ({0: b"1 0 0 0 0\n", 2: b"\xff" * 40}, "WRONG"),
        ({0: b"1 1 -1 9 0\n"}, "TIMEOUT"),
        ({0: b"1 0 0 0 1\n"}, "OUTPUT_LIMIT"),
        ({0: b"1 0 -1 11 0\n"}, "FAULT"),
        (
            {
                0: b"1 0 0 0 0\n",
                2: struct.pack("iff", 0, 0, 0),
                4: struct.pack("I", 2).ljust(RECORD_BYTES, b"\0"),
            },
            "REJECT",
        ),
        ({0: b"1 0 0 0 0\n", 2: struct.pack("iff", 0, 0, 0), 3: b"{" * 200}, "FAULT"),
    ],
    ids=["nothing", "ended", "result", "endless", "flood", "signal", "record", "findings"],
)
def test_outcomes_that_make_no_sense(
    built: Path, image: Path, tmp_path: Path, parts: dict[int, bytes], verdict: str
) -> None:
    every_case = b"".join(put(i, part, content) for i in range(96) for part, content in parts.items())
    (tmp_path / "outcomes").write_bytes(every_case or b"\0\1\2garbage")
    result = judge(built, image, tmp_path, "--n", "0", "--outcomes", str(tmp_path / "outcomes"))
    assert result["verdict"] == verdict
    assert result["points"]["earned"] <= 2


@pytest.mark.by_turns
@pytest.mark.usefixtures("nvcc")
def test_a_program_that_ends_its_parent(built: Path, tmp_path: Path) -> None:
    source = SOLUTION.read_text()
    head, brace = "const Problem problem =", "#include <csignal>\n#include <unistd.h>\n"
    (tmp_path / "kernel.cu").write_text(
        brace + source.replace(head, f"kill(getppid(), SIGKILL);\n    {head}")
    )
    subprocess.run(
        [built / "build/bin/compile", tmp_path / "kernel.cu", tmp_path / "built", "--quiet"],
        cwd=built,
        check=True,
    )
    result = judge(built, tmp_path / "built" / "kernel.ptx", tmp_path)
    assert result["verdict"] == "FAULT"
    assert "ended the process that runs it" in result["message"]


# ---- A class -------------------------------------------------------------------------------------------------

HOSTILE = """
#include "program.cuh"
#include <unistd.h>

__global__ void nothing() {}

// Looks for the right results, the secret and other files, and for somebody to send them to.
int main(int count, char **arguments) {
    const Problem problem = open_problem(count, arguments);
    std::vector<float> a(problem.n), b(problem.n), c(problem.n);
    read_inputs(problem, a.data(), b.data());
    float total = 0;
    for (int i = 0; i < problem.n; i++) total += c[i] = a[i] + b[i];
    write_results(problem, c.data(), total, 1);
    const int canary = system("cat /book/solutions/*/* /etc/passwd /home/*/* 2>&1; ls / /book; env; id");
    fflush(stdout);
    (void)canary;
    for (const char *name : {"/tmp/out/outcomes", "/tmp/out/result.json", "/book/build/build.json"})
        if (FILE *file = fopen(name, "w")) fputs("{\\"verdict\\": \\"PASS\\"}", file), fclose(file);
    _exit(0);
}
"""


@pytest.mark.by_turns
@needs_bubblewrap
@pytest.mark.usefixtures("nvcc")
def test_a_class_judges_programs_in_a_sandbox(built: Path, tmp_path: Path) -> None:
    workbook = Workbook(built)
    settings = JudgeSettings(
        device="emulator", time_limit=120, trust=False, secret="0123456789abcdef", schedules=0, sizes=()
    )
    (tmp_path / "hostile.cu").write_text(HOSTILE)
    (chapter,) = workbook.select(["ch20"])
    verdicts = {}
    for name, source in (("right", SOLUTION), ("hostile", tmp_path / "hostile.cu")):
        work = tmp_path / name
        made = judge_submission(workbook, chapter, source, work, settings, Processes())
        verdicts[name] = made.verdict
        assert not list(work.iterdir()), "something was left behind"
        text = json.dumps(made.document)
        assert "0123456789abcdef" in text  # as an option, and nowhere else
        assert "root:x" not in text
    assert verdicts["right"] == "PASS"
    assert verdicts["hostile"] in ("FAULT", "WRONG")


@pytest.mark.usefixtures("nvcc")
def test_a_machine_without_the_runtime_says_so(built: Path, tmp_path: Path) -> None:
    """The compile step needs the library that a program is linked to."""
    include = tmp_path / "common" / "include"
    shutil.copytree(built / "common" / "include", include)
    done = subprocess.run(
        [built / "build/bin/compile", SOLUTION, tmp_path / "out", "--include", include, "--quiet"],
        cwd=built,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert "make cudart" in done.stderr
