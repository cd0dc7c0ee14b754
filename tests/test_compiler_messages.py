"""What a learner is told about a kernel.cu that does not compile, or that nvcc warns about.

Each kernel of tests/data/compiler makes mistakes, and a comment in the line says what must be shown there:

    sum += v;  // ERROR: write sum += v.x + v.y + v.z + v.w: ...      the line of help, or nothing without one
    // BELOW ERROR: ...                                               the same of the next line

What nvcc printed of it is recorded beside it, so that the messages are checked without nvcc too. To record again, with
the nvcc of PATH: PYTHONPATH=. .venv/bin/python tests/test_compiler_messages.py
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import pytest
from conftest import ROOT
from whole_kernels import kernel_text

DATA = ROOT / "tests/data/compiler"
KERNELS = sorted(path.stem for path in DATA.glob("*.cu"))
ADVICES = ROOT / "common/driver/build/compiler_advice.def"
EXPECTED = re.compile(r"// (BELOW )?(ERROR|WARNING)(?:: (.*?))?(?=  // |$)")
HEAD = re.compile(r"(?P<file>\S+):(?P<line>\d+):(?P<column>\d+): (?P<kind>error|warning|note): (?P<words>.*)")


@dataclass(frozen=True)
class Message:
    line: int
    kind: str
    help: str


def expected_messages(text: str) -> list[Message]:
    return [
        Message(number + bool(below), kind.lower(), words)
        for number, line in enumerate(text.splitlines(), 1)
        for below, kind, words in EXPECTED.findall(line)
    ]


def shown_messages(text: str) -> list[Message]:
    """Those of a text in the form of `common/driver/build/compiler_report.h`, without notes."""
    found: list[Message] = []
    help_of = None
    for line in text.splitlines():
        if matched := HEAD.match(line):
            help_of = None
            if matched["kind"] != "note":
                found.append(Message(int(matched["line"]), matched["kind"], ""))
        elif line.startswith("  help: "):
            help_of = line.removeprefix("  help: ")
        elif help_of is not None and line.startswith("        "):
            help_of += " " + line.strip()
        if help_of is not None:
            found[-1] = Message(found[-1].line, found[-1].kind, help_of)
    return found


def compile_as(
    compile_program: Path, name: str, nvcc: Path | str, folder: Path
) -> subprocess.CompletedProcess[str]:
    (folder / "kernel.cu").write_bytes((DATA / f"{name}.cu").read_bytes())
    command = [
        compile_program,
        "kernel.cu",
        "out",
        "--include",
        ROOT / "common/include",
        "--ptxas",
        "0",
        "--always",
    ]
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "WARPBOOK_NVCC": str(nvcc)},
        capture_output=True,
        text=True,
        timeout=120,
    )


def script(path: Path, text: str) -> Path:
    path.write_text('#!/bin/sh\ncase "$*" in *--version*) exit 0;; esac\n' + text)
    path.chmod(0o755)
    return path


def replaying_nvcc(name: str, folder: Path) -> Path:
    """A compiler that prints what nvcc printed, and fails if it did."""
    fails = " error: " in (DATA / f"{name}.nvcc").read_text("utf-8")
    ptxas = script(folder / "ptxas", "exit 0\n")
    assert ptxas.exists()
    made = f'cat "{DATA}/{name}.nvcc"\nwhile [ "$1" != -o ]; do shift; done\n'
    return script(folder / "nvcc", made + ("exit 1\n" if fails else 'echo .version > "$2"\n'))


def recorded(output: str) -> str:
    """The folder of CUDA's headers differs between machines; 200 levels of inclusion help nobody."""
    output = re.sub(r"^(In file included from| +from) .*[,:]\n", "", output, flags=re.MULTILINE)
    return re.sub(r"(?<=[ \"\n])/[^\s\"]*/include/(?=[\w./]+)", "/cuda/include/", "\n" + output)[1:]


@pytest.fixture(scope="session")
def compile_program(built: Path) -> Path:
    return built / "build/bin/compile"


@pytest.mark.parametrize("name", KERNELS)
def test_each_mistake_gets_its_line_of_help(compile_program: Path, tmp_path: Path, name: str) -> None:
    done = compile_as(compile_program, name, replaying_nvcc(name, tmp_path), tmp_path)
    expected = expected_messages((DATA / f"{name}.cu").read_text("utf-8"))
    assert sorted(shown_messages(done.stderr), key=lambda one: one.line) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_this_nvcc_prints_the_same(compile_program: Path, nvcc: str, tmp_path: Path, name: str) -> None:
    done = compile_as(compile_program, name, nvcc, tmp_path)
    expected = expected_messages((DATA / f"{name}.cu").read_text("utf-8"))
    assert sorted(shown_messages(done.stderr), key=lambda one: one.line) == expected


# ---- Where they appear -------------------------------------------------------------------------------------------


def run_chapter(built: Path, name: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    kernel = folder / "kernel.cu"
    kernel.write_bytes((DATA / f"{name}.cu").read_bytes())
    return subprocess.run(
        ["./ch01", "--device", "emulator", "--kernel", kernel, *options],
        cwd=built,
        env={**os.environ, "WARPBOOK_NVCC": str(replaying_nvcc(name, folder))},
        capture_output=True,
        text=True,
    )


def test_the_page_shows_the_error_with_its_help_and_no_other_cause(built: Path, tmp_path: Path) -> None:
    page = run_chapter(built, "sizes", tmp_path).stdout
    assert "      __shared__ float slots[blockDim.x / 32];" in page
    assert "  help: the compiler must know the size: write a number, as slots[32] for one\n" in page
    assert "\n  why " not in page and "does not compile:" not in page
    assert max(len(line) for line in page.splitlines() if not HEAD.match(line)) <= 80


def test_an_error_without_help_gets_no_guess(built: Path, tmp_path: Path) -> None:
    """As `sum = first<n>` once was explained as too much code for the compiler."""
    result = tmp_path / "result.json"
    run_chapter(built, "template_error", tmp_path, "--json", str(result))
    assert json.loads(result.read_text())["diagnosis"] is None


def test_editors_get_a_line_for_each_error(built: Path, tmp_path: Path) -> None:
    done = run_chapter(built, "vectors", tmp_path, "--format", "gcc")
    lines = done.stdout.splitlines()
    assert (done.returncode, len(lines)) == (1, 16)
    assert lines[0] == f'{tmp_path}/kernel.cu:8:9: error: no operator "+=" matches these operands'
    assert lines[1].startswith(f"{tmp_path}/kernel.cu:8:9: note: write sum += v.x + v.y + v.z + v.w: ")


def test_the_result_has_the_errors(built: Path, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    run_chapter(built, "vectors", tmp_path, "--json", str(path))
    result = json.loads(path.read_text())
    jsonschema.validate(result, json.loads((ROOT / "docs/result.schema.json").read_text()))
    messages = result["build"]["messages"]
    assert len(messages) == 8
    assert messages[0]["kind"] == "error" and (messages[0]["line"], messages[0]["column"]) == (8, 9)
    assert messages[0]["help"].startswith("write sum += v.x + v.y + v.z + v.w")


def test_warnings_are_on_the_page_and_in_the_result(built: Path, nvcc: str, tmp_path: Path) -> None:
    solution = next((ROOT / "solutions").glob("ch01_*/kernel.cu")).read_text()
    kernel, path = tmp_path / "kernel.cu", tmp_path / "result.json"
    careless = "    __syncthreads;\n" + "".join(f"    int unused_{i};\n" for i in range(4))
    kernel.write_text(solution.replace("    float sum = 0", careless + "    float sum = 0"))
    command = ["./ch01", "--device", "emulator", "--kernel", kernel]
    page = subprocess.run([*command, "--json", path], cwd=built, capture_output=True, text=True).stdout
    line = kernel.read_text().splitlines().index("    __syncthreads;") + 1
    assert (
        f"  warning    line {line}: expression has no effect; write __syncthreads(): without\n"
        "             parentheses, nothing is called\n"
    ) in page
    assert "             and 2 more: make ch01\n" in page
    assert "why " not in page, "a warning is not a cause"
    result = json.loads(path.read_text())
    jsonschema.validate(result, json.loads((ROOT / "docs/result.schema.json").read_text()))
    assert [one["kind"] for one in result["build"]["messages"]] == ["warning"] * 5
    lines = subprocess.run([*command, "--format", "gcc"], cwd=built, capture_output=True, text=True).stdout
    assert f"{kernel}:{line}:5: warning: expression has no effect\n" in lines


def test_a_barrier_without_parentheses_is_no_barrier(built: Path, nvcc: str, tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(kernel_text("right/ch05/plain").replace("__syncthreads();", "__syncthreads;"))
    command = ["./ch05", "--device", "emulator", "--kernel", kernel]
    page = " ".join(subprocess.run(command, cwd=built, capture_output=True, text=True).stdout.split())
    assert "expression has no effect; write __syncthreads()" in page
    assert "RACE" in page and "A barrier is missing." in page
    assert "There is a barrier between" not in page


@pytest.mark.slow
@pytest.mark.by_turns(3)
@pytest.mark.parametrize(
    "chapter", sorted(path.parent.name for path in (ROOT / "solutions").glob("ch*/kernel.cu"))
)
def test_solutions_and_skeletons_have_no_warnings(
    compile_program: Path, nvcc: str, tmp_path: Path, chapter: str
) -> None:
    for folder in ("solutions", "chapters"):
        command = [compile_program, ROOT / folder / chapter / "kernel.cu", tmp_path / folder, "--ptxas", "0"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


# ---- The table ---------------------------------------------------------------------------------------------------


def advices() -> list[list[str]]:
    """The rows of compiler_advice.def: says, code and help."""
    text = re.sub(r"^//.*$", "", ADVICES.read_text("utf-8"), flags=re.MULTILINE)
    rows = []
    for row in re.findall(r"^\{(.*?)\},$", text, re.DOTALL | re.MULTILINE):
        fields = re.findall(r'NULL|(?:"(?:[^"\\]|\\.)*"\s*)+', row)
        rows.append(
            ["".join(json.loads(one) for one in re.findall(r'"(?:[^"\\]|\\.)*"', field)) for field in fields]
        )
    return rows


def test_each_advice_is_shown_for_some_kernel() -> None:
    shown = {
        one.help for name in KERNELS for one in expected_messages((DATA / f"{name}.cu").read_text("utf-8"))
    }
    rows = advices()
    assert len(rows) > 80 and all(len(row) == 3 for row in rows)
    patterns = {words: "(.+)".join(map(re.escape, re.split(r"{[sc]\d}", words))) for _, _, words in rows}
    unseen = [
        words for words, pattern in patterns.items() if not any(re.fullmatch(pattern, one) for one in shown)
    ]
    assert unseen == []


def record(folder: Path) -> None:
    output = folder / "output"
    real = script(
        folder / "nvcc",
        f'{shutil.which("nvcc")} "$@" > {output} 2>&1\nstatus=$?\ncat {output}\nexit $status\n',
    )
    script(folder / "ptxas", "exit 0\n")
    for name in KERNELS:
        compile_as(ROOT / "build/bin/compile", name, real, folder)
        (DATA / f"{name}.nvcc").write_text(recorded(output.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        record(Path(temporary))
