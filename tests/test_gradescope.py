"""The autograders that are uploaded to Gradescope and Autolab, from the archive to the score.

A namespace of bubblewrap plays the platform's machine: it contains only this machine's system programs, the
CUDA compiler and Python's packages, which the platform's image would have installed, and no network.
"""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT, one_of_the_long
from whole_kernels import kernel_text

from grader.classroom.autograder.bundle import book_members, write_autolab, write_gradescope
from grader.classroom.autograder.one import read_metadata
from grader.classroom.handout.leaks import leaks
from grader.core.errors import MachineError
from grader.core.toolkit import find_compiler, program_of
from grader.core.workbook import Workbook

CHAPTERS = ["ch02", "ch04"]
MOST_BYTES = 768 << 20
MOST_CPU_SECONDS = 300  # ten minutes of half a processor
# The C is built for its size, not its speed: building it is most of what this test takes.
QUICK_BUILD = "-O0"


@pytest.fixture(scope="module")
def workbook(built: Path) -> Workbook:
    return Workbook(built)


# ---- The archives ------------------------------------------------------------------------------------------------


def test_archives_are_the_same_to_the_byte(workbook: Workbook, tmp_path: Path) -> None:
    chosen = workbook.select(CHAPTERS)
    paths = [tmp_path / name / "autograder.zip" for name in ("one", "two")]
    for mask, path in zip((0o022, 0o077), paths, strict=True):
        before = os.umask(mask)
        try:
            write_gradescope(workbook, chosen, path)
            write_autolab(workbook, chosen, path.parent)
        finally:
            os.umask(before)
    for name in ("autograder.zip", "autograde.tar", "autograde-Makefile"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    with zipfile.ZipFile(paths[0]) as archive:
        names = archive.namelist()
        assert names == sorted(names)
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {"setup.sh", "run_autograder", "book/Makefile", "book/requirements/runtime.txt"} <= set(names)
        assert archive.getinfo("run_autograder").external_attr >> 16 == 0o100755
        text = b"".join(archive.read(name) for name in names)
    with tarfile.open(tmp_path / "one" / "autograde.tar") as archive:
        assert archive.getnames() == [name for name in names if name != "run_autograder"]
        assert {entry.mtime for entry in archive.getmembers()} == {315532800}
    assert str(ROOT).encode() not in text  # nor anything else of this machine


def test_archives_hold_no_line_of_a_solution(workbook: Workbook) -> None:
    chosen = workbook.select(CHAPTERS)
    members = book_members(workbook, chosen)
    names = {member.name for member in members}
    # The images are for the platform, where no student reads them.
    assert not leaks(workbook, chosen, [member for member in members if not member.name.endswith(".ptx")])
    for chapter in chosen:
        assert f"book/{chapter.solution}/kernel.cu" not in names
        assert f"book/{chapter.solution}/kernel.ptx" in names
    skeleton = next(member for member in members if member.name == f"book/{chosen[0].kernel}")
    assert b"TODO 1" in skeleton.content
    assert not [name for name in names if name.startswith(("book/tests", "book/bench", "book/chapters/ch01"))]


# ---- A clean machine ---------------------------------------------------------------------------------------------


class Machine:
    """A separate root with /autograder in Gradescope's layout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cpu_seconds = 0.0
        self.peak_bytes = 0

    def run(
        self, *command: str, hide: Path | None = None, more: tuple[str, ...] = (), watch: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command there; keeps the processor time that it took and, watched, the memory."""
        timed = ["bash", "-c", '"$@"; status=$?; times >&2; exit $status', "bash", *command]
        process = subprocess.Popen(
            [*self._bubblewrap(hide), *more, "--", *timed],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        peak = [0]
        watcher = threading.Thread(target=_watch, args=(process, peak))
        if watch:
            watcher.start()
        out, err = process.communicate()
        if watch:
            watcher.join()
        minutes = re.findall(r"(\d+)m([\d.]+)s", err.splitlines()[-1])  # of what it has waited for
        self.cpu_seconds = sum(60 * int(whole) + float(rest) for whole, rest in minutes)
        self.peak_bytes = peak[0]
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def _bubblewrap(self, hide: Path | None) -> list[str]:
        command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
        for name, value in {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": "/root",
            "WARPBOOK_PYTHON": sys.executable,
            "CFLAGS": QUICK_BUILD,
        }.items():
            command += ["--setenv", name, value]
        command += ["--ro-bind", "/usr", "/usr"]
        for name in ("bin", "sbin", "lib", "lib32", "lib64"):
            path = Path("/") / name
            if path.is_symlink():
                command += ["--symlink", str(path.readlink()), str(path)]
            elif path.is_dir():
                command += ["--ro-bind", str(path), str(path)]
        for name in ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"):
            command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/root"]
        for prefix in dict.fromkeys((sys.base_prefix, sys.prefix)):
            if not Path(prefix).is_relative_to("/usr"):
                command += ["--ro-bind", prefix, prefix]
        # A container of the platform does not allow further namespaces.
        command += ["--ro-bind", "/dev/null", str(Path(shutil.which("bwrap") or "/usr/bin/bwrap").resolve())]
        if hide:
            command += ["--ro-bind", "/dev/null", str(hide)]
        return [*command, "--bind", str(self.folder), "/autograder", "--chdir", "/autograder"]


def _watch(process: subprocess.Popen[str], peak: list[int]) -> None:
    """Adds up the memory of a process and all below it, each page counted once, as long as it runs."""
    while process.poll() is None:
        parents: dict[int, int] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                    parents[int(entry.name)] = int(fields[1])
                except (OSError, IndexError):
                    continue
        below = {process.pid}
        while more := {pid for pid, parent in parents.items() if parent in below} - below:
            below |= more
        total = 0
        for pid in below:
            try:
                match = re.search(
                    r"^Pss: +(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE
                )
            except OSError:
                continue
            total += int(match[1]) * 1024 if match else 0
        peak[0] = max(peak[0], total)
        time.sleep(0.05)


def hand_in(machine: Machine, files: dict[str, str | bytes]) -> None:
    """Lays a submission out as Gradescope does: archives are unpacked already, names are the student's."""
    submission = machine.folder / "submission"
    shutil.rmtree(submission, ignore_errors=True)
    shutil.rmtree(machine.folder / "results", ignore_errors=True)
    (machine.folder / "results").mkdir()
    submission.mkdir()
    for name, content in files.items():
        path = submission / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def results(machine: Machine, *, watch: bool = False) -> dict[str, Any]:
    done = machine.run("/autograder/run_autograder", watch=watch)
    assert done.returncode == 0, done.stderr
    written = json.loads((machine.folder / "results" / "results.json").read_text("utf-8"))
    schema = json.loads((ROOT / "tests" / "data" / "exports" / "gradescope.schema.json").read_text())
    jsonschema.validate(written, schema, jsonschema.Draft202012Validator)
    return written


def tags(written: dict[str, Any]) -> list[str]:
    return [test["tags"][0] for test in written["tests"]]


def zipped(files: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


METADATA = {
    "id": 1,
    "created_at": "2026-11-20T10:00:00.000000-08:00",
    "assignment": {"title": "Lab 3", "due_date": "2026-11-21T00:00:00.000000-08:00"},
    "users": [{"email": "zoe@example.edu", "id": 2, "name": "Zoë Ångström"}],
}


@one_of_the_long("an archive")
@pytest.mark.timeout(900)  # everything is built again, which takes long on a busy machine
def test_from_the_archive_to_the_score(workbook: Workbook, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "autograder")
    source = machine.folder / "source"
    source.mkdir(parents=True)
    write_gradescope(workbook, workbook.select(CHAPTERS), tmp_path / "autograder.zip")
    subprocess.run(
        [sys.executable, "-m", "zipfile", "-e", tmp_path / "autograder.zip", source], check=True
    )  # which leaves modes aside, as others do
    shutil.copy(source / "run_autograder", machine.folder)
    (machine.folder / "run_autograder").chmod(0o755)
    (machine.folder / "submission_metadata.json").write_text(json.dumps(METADATA))
    done = machine.run("bash", "source/setup.sh")
    assert done.returncode == 0, done.stdout + done.stderr

    compiler = find_compiler(ROOT)
    assert compiler
    right = (ROOT / "solutions/ch04_warp_shuffle/kernel.cu").read_text()
    wrong = kernel_text("wrong/ch02/last_chunk_dropped")
    skeleton = (ROOT / "chapters/ch02_coalescing/kernel.cu").read_text()
    slow = skeleton.replace("sum += in[i]", "sum = sum + in[i]")

    # One right, one wrong, deep in folders with names that are not ASCII.
    hand_in(
        machine, {"mein Übungsblatt/ch02_coalescing/kernel.cu": wrong, "ch04.cu": right, "notes.txt": "hello"}
    )
    written = results(machine, watch=True)
    assert tags(written) == ["WRONG", "PASS"]
    assert [test["score"] for test in written["tests"]] == [0, 10]
    assert written["score"] == 10
    assert written["output"] == "Lab 3: 1 of 2 chapters passed."
    assert "of the reference" in written["tests"][1]["output"]  # which is here as an image alone
    assert 0.3 < machine.cpu_seconds < MOST_CPU_SECONDS / 5
    assert 10 << 20 < machine.peak_bytes < MOST_BYTES

    # An archive, and a kernel that does not compile.
    hand_in(machine, {"all.zip": zipped({"ch02/kernel.cu": slow, "ch04/kernel.cu": "int x = ;\n"})})
    written = results(machine)
    assert tags(written) == ["SLOW", "BUILD"]
    error = "expected an expression" if compiler.name == "nvcc" else "expected expression"
    assert f"kernel.cu:1:9: error: {error}\n" in written["tests"][1]["output"]

    # The skeleton, which is slow too, and which nobody has changed.
    hand_in(machine, {"ch02/kernel.cu": f"// my homework\n{skeleton}", "ch04/kernel.cu": right})
    assert tags(results(machine)) == ["MISSING", "PASS"]

    # Nothing, and an archive that leads elsewhere: complete, and worth no points.
    hand_in(machine, {})
    written = results(machine)
    assert (tags(written), written["score"]) == (["MISSING", "MISSING"], 0)
    hand_in(machine, {"all.zip": zipped({"../../run_autograder": "#!/bin/sh\n", "ch04.cu": right})})
    written = results(machine)
    assert (tags(written), written["score"]) == (["REJECT", "REJECT"], 0)
    assert "leads out of the archive" in written["output"]
    (machine.folder / "submission" / "all.zip").unlink()
    (machine.folder / "submission" / "ch04.cu").symlink_to("/autograder/source/book/Makefile")
    os.mkfifo(machine.folder / "submission" / "ch02.cu")
    assert tags(results(machine)) == ["REJECT", "REJECT"]

    # The machine's own fault is nobody's zero: no results.json, which Gradescope reports.
    hand_in(machine, {"ch04.cu": right})
    alone = ("--setenv", "WARPBOOK_COMPILER", compiler.name)  # or another would compile in its place
    hidden = program_of(compiler.path) if compiler.name == "nvcc" else compiler.path
    done = machine.run("/autograder/run_autograder", hide=hidden, more=alone)
    assert done.returncode != 0
    assert not (machine.folder / "results" / "results.json").exists()

    # The same, made ready in an image, grades for Autolab.
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "handin.zip").write_bytes(zipped({"ch02/kernel.cu": wrong, "ch04/kernel.cu": right}))
    shutil.copy(ROOT / "grader/classroom/autograder/autograde-Makefile", tmp_path / "lab")
    ready = (
        "--bind",
        str(source),
        "/opt/warpbook",
        "--bind",
        str(tmp_path / "lab"),
        "/lab",
        "--chdir",
        "/lab",
    )
    done = machine.run("make", "-s", "-f", "autograde-Makefile", more=ready)
    assert done.returncode == 0, done.stderr
    *_, feedback, last = done.stdout.splitlines()
    assert json.loads(last) == {"scores": {"ch02": 0, "ch04": 10}, "scoreboard": [10, 0, 10]}
    assert json.loads(feedback)["Correct"]["ch04 Warp shuffle"] == {"passed": True}


# ---- The commands ------------------------------------------------------------------------------------------------


def grader(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "grader", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, timeout=120
    )


def test_commands(built: Path, tmp_path: Path) -> None:
    done = grader("autolab", "ch04", "--out", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["path"] == str(tmp_path / "autograde.tar")
    assert {path.name for path in tmp_path.iterdir()} == {"autograde.tar", "autograde-Makefile"}
    done = grader("gradescope", "ch99")
    assert done.returncode == 2
    assert "there is no chapter ch99" in done.stderr


def test_one_submission_by_itself(built: Path, tmp_path: Path) -> None:
    """As Classroom 50 has it: ends with 0 whatever the score, and takes over what its runner sets."""
    (tmp_path / "ch04.cu").write_text("no kernel\n")
    done = grader(
        "autograde", tmp_path, "ch04", "--format", "classroom50", CLASSROOM="cs", SUBMISSION_TAG="submit/7"
    )
    assert done.returncode == 0, done.stderr
    written = json.loads(done.stdout)
    schema = json.loads((ROOT / "tests" / "data" / "exports" / "classroom50.schema.json").read_text())
    jsonschema.validate(written, schema, jsonschema.Draft202012Validator)
    assert (written["classroom"], written["submission"]) == ("cs", "submit/7")
    assert (written["score"], written["max-score"]) == (0, 100)
    assert "does not compile" in written["tests"][0]["output"]


def test_one_submission_asked_for_wrongly(tmp_path: Path) -> None:
    done = grader("autograde", tmp_path / "nothing")
    assert done.returncode == 2
    assert "name the folder or file that was handed in" in done.stderr
    done = grader("autograde", tmp_path, "--format", "canvas")
    assert done.returncode == 2
    assert "no format 'canvas' for one submission; there are: gradescope, autolab" in done.stderr


# ---- Metadata ----------------------------------------------------------------------------------------------------


def test_metadata(tmp_path: Path) -> None:
    path = tmp_path / "submission_metadata.json"
    path.write_text(json.dumps(METADATA))
    who, title = read_metadata(path)
    assert (who.id, who.name, who.email, title) == (
        "zoe@example.edu",
        "Zoë Ångström",
        "zoe@example.edu",
        "Lab 3",
    )
    assert who.received and who.received.isoformat() == "2026-11-20T10:00:00-08:00"
    path.write_text("{}")
    assert read_metadata(path)[0].id == "submission"
    assert read_metadata(tmp_path / "nothing")[0].id == "submission"


@pytest.mark.parametrize("text", ["", "[]", '{"users": 7}', '{"created_at": "yesterday"}', "{"])
def test_metadata_that_is_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "submission_metadata.json"
    path.write_text(text)
    with pytest.raises(MachineError, match="does not have Gradescope's format"):
        read_metadata(path)
