"""What a person sets is text: make expands nothing in it, no shell runs any of it, and programs get all of it."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from conftest import ROOT, run_make

FILES = [ROOT / "Makefile", *sorted((ROOT / "mk").glob("*.mk"))]
TEXT = "\n".join(path.read_text() for path in FILES)
FLAGS = {
    "FORCE",
    "FRESH",
    "JSON",
    "KEEP",
    "OPEN",
    "RECORD",
    "SANITIZE",
    "TRUST",
    "V",
    "WERROR",
    "WHAT_IF",
}  # set or not set
NUMBERS = {"JOBS", "SECONDS"}
FOR_COMPILERS = {
    "CC",
    "CFLAGS",
    "COMPILER",
    "LDFLAGS",
    "NVCC",
    "CUDA_HOME",
    "PYTHON",
    "VENV",
    "KERNELS",
    "TARGET",
}
PYTHON = f"PYTHON={Path(sys.executable).resolve()}"
FROM_MAKE = {
    "CURDIR",
    "STARTED",
    "MAKE",
    "MAKECMDGOALS",
    "MAKEFLAGS",
    "MAKELEVEL",
    "MAKEOVERRIDES",
    "MAKE_RESTARTS",
    "PATH",
}
FROM_CONFIG = set(re.findall(r"^    say (\w+)", (ROOT / "mk/configure.sh").read_text(), re.MULTILINE))
# Targets that record what they got; the rest need a compiler, uv, a network or a person.
LEFT_OUT = {"check", "clean", "fuzz", "locks", "own-program", "setup", "bench", "chNN"}
HOSTILE = "'\"$(touch${IFS}executed1)`touch${IFS}executed2`;touch${IFS}executed3;\ntouch executed4\n"
HOSTILE += "#\t*é $101 $(X \\ -x & | > executed5"

RECORDER = """\
import json, os, sys
with open("recorded", "a") as log:
    log.write(json.dumps(sys.argv[1:] + [os.environ.get("CCCL", "")]) + "\\n")
"""


def set_by_people() -> set[str]:
    """Every variable that the makefiles use and do not set, and those that `make help` lists."""
    used = set(re.findall(r"\$\(([A-Z][A-Z_0-9]*)\)", TEXT)) | set(
        re.findall(r"\$\(call option,[\w-]+,(\w+)\)", TEXT)
    )
    listed = set(re.findall(r"^##= (\w+)=", TEXT, re.MULTILINE))
    made = set(re.findall(r"^(?:export )?([A-Z_]+) *[:+]?=", TEXT, re.MULTILINE)) | FROM_MAKE | FROM_CONFIG
    asked_if_set = set(re.findall(r"^(\w+) \?=", TEXT, re.MULTILINE)) | set(
        re.findall(r"^ifdef (\w+)", TEXT, re.MULTILINE)
    )
    return (used - made) | listed | asked_if_set


@pytest.fixture
def recording(checkout: Path) -> Path:
    """A checkout whose Python programs only record their arguments."""
    for name in (
        "grader/__main__.py",
        "grader/authoring/lessons.py",
        "bench/record.py",
        "tests/class/drill.py",
        "tests/class/term.py",
        "tests/slurm/scale.py",
        "pytest.py",
    ):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(RECORDER)
    return checkout


def recorded(folder: Path) -> list[list[str]]:
    log = folder / "recorded"
    calls = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    log.unlink(missing_ok=True)
    return calls


def executed(folder: Path) -> list[Path]:
    return list(folder.rglob("executed*"))


def targets() -> list[str]:
    made = []
    for name, bracketed in re.findall(
        r"^([^\t\n#:=]+):[^=\n].*## (?:\[([^]\s]*)[^]]*\] )?", TEXT, re.MULTILINE
    ):
        goal = bracketed or name
        if goal not in LEFT_OUT:
            made.append(goal.replace("NN", "01"))
    return made


def test_the_list_in_the_makefile_has_every_variable() -> None:
    listed = re.search(r"^TEXTS := (.*?[^\\])\n", TEXT, re.MULTILINE | re.DOTALL)
    assert listed
    assert set(listed[1].replace("\\\n", " ").split()) == set_by_people()


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("from_environment", [False, True])
def test_every_variable_arrives_as_it_is(recording: Path, from_environment: bool) -> None:
    values = {name: name + HOSTILE for name in set_by_people() - NUMBERS - FOR_COMPILERS}
    values["ARGS"] = shlex.quote(values["ARGS"])
    given = [] if from_environment else [f"{name}={value}" for name, value in values.items()]
    environment = values if from_environment else {}
    run_make("-k", PYTHON, "VENV=", *given, *targets(), folder=recording, **environment)
    assert executed(recording) == []
    calls = recorded(recording)
    assert len(calls) > 25
    seen = "\n".join(" ".join(" ".join(call).replace("--slurm=", "").split()) for call in calls)
    for name in values.keys() - FLAGS - {"T", "CCCL"}:
        assert " ".join((name + HOSTILE).split()) in seen, name


def test_a_value_is_one_argument(recording: Path) -> None:
    names = ["OUTPUT", "SUBMISSIONS", "TITLE", "CLASS", "COURSE", "METADATA", "ROSTER"]
    for value in ["cs$101", "it's", "a  b", "-x", "--help", "$(X)", "line\nline", "$$", "Zoë/\\"]:
        given = [f"{name}={value}" for name in names]
        goals = ["class", "handout", "exports", "autograde"]
        done = run_make(PYTHON, "VENV=", *given, *goals, folder=recording)
        assert done.returncode == 0, done.stderr
        words = [word for call in recorded(recording) for word in call]
        assert words.count(value) == 2, value  # SUBMISSIONS and CLASS
        for option in ("out", "title", "course", "metadata", "roster"):
            assert f"--{option}={value}" in words


def test_a_make_that_the_grader_starts_gets_the_same(recording: Path) -> None:
    (recording / "bench" / "record.py").write_text(
        f"import sys; sys.path[0] = {str(ROOT)!r}\n"
        "from pathlib import Path; from grader.core.make import make; from grader.core.workbook import Workbook\n"
        "make(Workbook(Path.cwd()), 'below', jobs=1)\n"
    )
    (recording / "mk" / "below.mk").write_text('below:\n\t@printf %s "$$SUBMISSIONS|$$CFLAGS" >below\n')
    done = run_make(
        PYTHON, "VENV=", "SUBMISSIONS=a'b $101\\ c\nd", "CFLAGS=-O  -g", "record-gpu", folder=recording
    )
    assert (recording / "below").read_text() == "a'b $101\\ c\nd|-O  -g", done.stderr


def test_a_make_below_gets_the_same(recording: Path) -> None:
    (recording / "mk" / "below.mk").write_text("below:\n\t@$(MAKE) class\n")
    run_make(PYTHON, "VENV=", "SUBMISSIONS=a'b $101\\ c", "below", folder=recording)
    assert "a'b $101\\ c" in recorded(recording)[0]


@pytest.mark.parametrize("name", sorted(FOR_COMPILERS - {"KERNELS"}))
def test_what_the_compilers_get_is_not_run(recording: Path, name: str) -> None:
    value = {"CC": "gcc -DX=", "CFLAGS": "-DX=", "LDFLAGS": "-L", "VENV": ".v", "PYTHON": "python3"}.get(
        name, ""
    ) + HOSTILE
    given = [f"{name}={value}", *(["VENV="] if name != "VENV" else [])]
    for _ in range(2):  # what the first wrote into build/ the second reads
        done = run_make(*given, "program-ch01", "status", folder=recording)
        assert executed(recording) == []
        assert (
            "Syntax error" not in done.stderr
            and "unexpected" not in done.stderr
            and "Traceback" not in done.stderr
        )
    if name in ("PYTHON", "VENV"):
        assert "warpbook: " in done.stderr and name[:4] in done.stderr.upper(), done.stderr
    if name in ("NVCC", "CUDA_HOME"):
        assert done.returncode == 0


def test_compilers_and_interpreters_in_odd_folders_work(recording: Path, tmp_path: Path) -> None:
    folder = tmp_path / "it's $1 #2 (é)"
    folder.mkdir()
    (folder / "python").symlink_to(Path(sys.executable).resolve())
    (folder / "nvcc").write_text("#!/bin/sh\n")
    (folder / "nvcc").chmod(0o755)
    given = [f"PYTHON={folder / 'python'}", "VENV=", f"NVCC={folder / 'nvcc'}", "program-ch01", "status"]
    assert run_make(*given, folder=recording).returncode == 0
    again = run_make(*given, folder=recording)
    assert (again.returncode, again.stdout) == (0, ""), "nothing is built or asked twice"


@pytest.mark.parametrize("name", sorted(NUMBERS))
@pytest.mark.parametrize(
    "value", ["0", "-1", "two", "1 2", "$(touch${IFS}executed)", "a[$(touch executed)]", "'"]
)
def test_numbers_are_numbers(checkout: Path, name: str, value: str) -> None:
    done = run_make(f"{name}={value}", "fuzz", folder=checkout)
    assert done.returncode == 2
    assert f"warpbook: {name} must be a number from 1, not {value}" in done.stderr
    assert executed(checkout) == []


@pytest.mark.parametrize(
    "goal",
    [
        "ch$(touch${IFS}executed)",
        "hint-ch01'",
        "help-`touch${IFS}executed`",
        "ch01;x",
        "try-%",
        'ch"',
        "-- ch(x",
    ],
)
def test_goals_are_text(checkout: Path, goal: str) -> None:
    done = run_make(*goal.split(), folder=checkout)
    assert done.returncode == 2
    assert "there is no target" in done.stderr and "make help lists them" in done.stderr
    assert executed(checkout) == []
