"""The grader, on small checkouts whose ./chNN are scripts: verdicts, mishaps, caches, history."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_workbook import FakeWorkbook

from grader.learner import doctor

SLOW = 'result["verdict"] = "SLOW"; result["points"]["earned"] = 4; status = 1\n'
WRONG = 'result["verdict"] = "WRONG"; result["points"]["earned"] = 0; status = 1\n'


@pytest.fixture
def workbook(tmp_path: Path) -> FakeWorkbook:
    return FakeWorkbook(tmp_path / "book", {"ch01": "# one\n", "ch02": SLOW, "ch03": WRONG})


def verdicts(document: dict) -> dict[str, str]:
    return {chapter["chapter"]: chapter["verdict"] for chapter in document["chapters"]}


def rows(workbook: FakeWorkbook) -> list[tuple]:
    with sqlite3.connect(workbook.folder / "progress" / "history.sqlite") as database:
        return database.execute(
            "SELECT chapter, verdict, kind, counters FROM runs ORDER BY chapter"
        ).fetchall()


def test_table_and_exit_status(workbook: FakeWorkbook) -> None:
    done = workbook.run("grade")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert "\033" not in done.stdout
    for chapter, verdict, points in (
        ("ch01", "PASS", "10/10"),
        ("ch02", "SLOW", "4/10"),
        ("ch03", "WRONG", "0/10"),
    ):
        (line,) = [line for line in lines if line.strip().startswith(chapter)]
        assert verdict in line
        assert points in line
    assert "1 of 3 passed, 14 of 30 points" in done.stdout
    assert "Next: edit chapters/ch02_fake/kernel.cu, then make ch02 && ./ch02" in done.stdout
    assert "1,412 GB/s" in done.stdout


def test_a_gpu_that_nobody_knows_is_wrong_usage(workbook: FakeWorkbook) -> None:
    refuses = """
if "voodoo" in sys.argv:
    print("ch01: no device profile is called voodoo; there are: H200, L4", file=sys.stderr)
    sys.exit(2)
"""
    workbook.kernel("ch01").write_text(refuses)
    done = workbook.run("grade", "--gpu", "voodoo")
    assert done.returncode == 2
    assert "no device profile is called voodoo; there are: H200, L4" in done.stderr
    assert "INFRA" not in done.stdout
    assert not (workbook.folder / "build" / "results.json").exists()


def test_all_passed_is_exit_status_0(workbook: FakeWorkbook) -> None:
    assert workbook.run("grade", "ch01").returncode == 0


def test_results_document(workbook: FakeWorkbook) -> None:
    workbook.run("grade")
    document = json.loads((workbook.folder / "build" / "results.json").read_text())
    assert document["schema"] == "warpbook/grade/1"
    assert document["points"] == {"earned": 14, "possible": 30}
    assert document["chapters"][0]["result"]["counters"] == {"barriers": 3}
    assert not [path for path in (workbook.folder / "build").rglob(".*") if path.is_file()]


def test_chapters_by_several_names(workbook: FakeWorkbook) -> None:
    for names in (["ch01", "ch03"], ["1", "3"], ["ch03_fake", "./ch01"], ["chapters/ch01_fake/", "03"]):
        _, document = workbook.document("grade", *names)
        assert list(verdicts(document)) == ["ch01", "ch03"]


def test_solutions_run_the_reference(workbook: FakeWorkbook) -> None:
    status, document = workbook.document("solutions")
    assert status == 0
    assert set(verdicts(document).values()) == {"PASS"}
    assert {row[2] for row in rows(workbook)} == {"solution"}
    assert (workbook.folder / "build" / "solutions.json").exists()


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)\n", "Segmentation fault"),
        ("os.abort()\n", "Aborted"),
        ("sys.exit(0)\n", "no result"),
        ("print('out of luck'); sys.exit(3)\n", "out of luck"),
        ("open(arguments['--json'], 'w').write('{'); sys.exit(1)\n", "broken result"),
        ("open(arguments['--json'], 'w').write('[' * 100000); sys.exit(1)\n", "broken result"),
        ("open(arguments['--json'], 'wb').write(b'\\xff\\xfe'); sys.exit(1)\n", "broken result"),
        ("result['verdict'] = 'GREAT'\n", "unknown verdict"),
        ("result['chapter'] = 'ch99'\n", "ch99"),
        ("result['points']['earned'] = 11\n", "points"),
        ("result['points']['earned'] = float('nan')\n", "NaN"),
        ("result['points'] = None\n", "no points"),
        ("result['schema'] = 'other'\n", "schema"),
        ("status = 1\n", "reports PASS but ended with status 1"),
        ("result['verdict'] = 'WRONG'\n", "reports WRONG but ended with status 0"),
    ],
)
def test_a_broken_program_is_infra_and_the_rest_goes_on(
    workbook: FakeWorkbook, kernel: str, words: str
) -> None:
    workbook.kernel("ch02").write_text(kernel)
    status, document = workbook.document("grade")
    assert status == 3
    assert verdicts(document) == {"ch01": "PASS", "ch02": "INFRA", "ch03": "WRONG"}
    assert words in document["chapters"][1]["message"]
    assert "ch02" not in [row[0] for row in rows(workbook)], "no judgement, no record"
    workbook.ran()
    workbook.document("grade")
    assert workbook.ran() == ["ch02"], "what could not be judged is tried again"


def test_a_hang_ends_with_all_its_children(workbook: FakeWorkbook) -> None:
    workbook.kernel("ch02").write_text(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen(['sleep', '1234567'])\n"
        "open('child', 'w').write(str(child.pid)); time.sleep(1000)\n"
    )
    begun = time.monotonic()
    status, document = workbook.document("grade", "--time-limit", "1")
    assert time.monotonic() - begun < 20
    assert status == 3
    assert "did not finish within 1 s" in document["chapters"][1]["message"]
    assert verdicts(document)["ch03"] == "WRONG"
    assert is_gone(int((workbook.folder / "child").read_text()))


@pytest.mark.parametrize("seconds", ["nan", "inf", "-inf", "-1", "0", "1e300"])
def test_a_time_limit_is_a_number_of_seconds(workbook: FakeWorkbook, seconds: str) -> None:
    done = workbook.run("grade", f"--time-limit={seconds}")
    assert done.returncode == 2 and "--time-limit" in done.stderr
    assert workbook.ran() == []


def is_gone(pid: int) -> bool:
    """Whether a process has ended (or waits, dead, for its parent)."""
    for _ in range(50):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.1)
    return False


def test_a_program_that_does_not_build_is_infra(workbook: FakeWorkbook) -> None:
    with open(workbook.folder / "programs" / "ch02", "a") as program:
        program.write("# BROKEN\n")
    status, document = workbook.document("grade")
    assert status == 3
    assert verdicts(document) == {"ch01": "PASS", "ch02": "INFRA", "ch03": "WRONG"}
    assert "expected ';'" in document["chapters"][1]["message"]


def test_nothing_builds(workbook: FakeWorkbook) -> None:
    for name in ("ch01", "ch02", "ch03"):
        (workbook.folder / "programs" / name).write_text("BROKEN")
    done = workbook.run("grade")
    assert done.returncode == 3
    assert "could not be built" in done.stderr


# ---- What has not changed is not run again ---------------------------------------------------------------


@pytest.mark.timed
def test_unchanged_is_reused_and_not_recorded_twice(workbook: FakeWorkbook) -> None:
    workbook.run("grade")
    assert workbook.ran() == ["ch01", "ch02", "ch03"]
    begun = time.monotonic()
    status, document = workbook.document("grade")
    assert time.monotonic() - begun < 3
    assert (status, workbook.ran()) == (1, [])
    assert all(chapter["reused"] for chapter in document["chapters"])
    assert len(rows(workbook)) == 3
    assert workbook.run("grade", "--fresh").returncode == 1
    assert len(workbook.ran()) == 3
    assert len(rows(workbook)) == 6


def test_an_edit_runs_that_chapter_alone(workbook: FakeWorkbook) -> None:
    workbook.run("grade")
    workbook.ran()
    workbook.kernel("ch02").write_text("# better\n")
    _, document = workbook.document("grade")
    assert workbook.ran() == ["ch02"]
    assert verdicts(document)["ch02"] == "PASS"
    os.utime(workbook.kernel("ch01"))
    workbook.run("grade")
    assert workbook.ran() == [], "a new time is not new content"


@pytest.mark.parametrize("path", ["compile", "common/include/warpbook.cuh"])
def test_a_changed_tool_runs_everything(workbook: FakeWorkbook, path: str) -> None:
    workbook.run("grade")
    workbook.ran()
    with open(workbook.folder / path, "a") as file:
        file.write("#\n")
    workbook.run("grade")
    assert len(workbook.ran()) == 3


def test_a_changed_program_or_device_runs_again(workbook: FakeWorkbook) -> None:
    workbook.run("grade")
    workbook.ran()
    with open(workbook.folder / "programs" / "ch03", "a") as program:
        program.write("# newer\n")
    workbook.run("grade")
    assert workbook.ran() == ["ch03"]
    workbook.run("grade", "--device", "emulator")
    assert len(workbook.ran()) == 3


@pytest.mark.parametrize("damage", ["", "{}", "[]", "null", '{"key": 1', "\x00"])
def test_a_damaged_cache_is_run_again(workbook: FakeWorkbook, damage: str) -> None:
    workbook.run("grade")
    workbook.ran()
    for name in ("ch01.run.json", "ch02.json"):
        (workbook.folder / "build" / "results" / name).write_text(damage)
    assert workbook.run("grade").returncode == 1
    assert workbook.ran() == ["ch01", "ch02"]


def test_an_interrupted_grade_resumes(workbook: FakeWorkbook) -> None:
    workbook.kernel("ch02").write_text(
        "while not os.path.exists('go'):\n"
        "    open('waiting', 'w').write(str(os.getpid())); time.sleep(0.05)\n"
    )
    process = subprocess.Popen(
        workbook.command("grade", "--jobs", "1"),
        cwd=workbook.folder,
        env=workbook.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    waiting = workbook.folder / "waiting"
    for _ in range(200):
        if waiting.exists() and waiting.read_text():
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert is_gone(int(waiting.read_text()))
    assert workbook.ran() == ["ch01", "ch02"]
    (workbook.folder / "go").touch()
    _, document = workbook.document("grade")
    assert workbook.ran() == ["ch02", "ch03"]
    assert verdicts(document) == {"ch01": "PASS", "ch02": "PASS", "ch03": "WRONG"}
    assert [row[0] for row in rows(workbook)] == ["ch01", "ch02", "ch03"], "the finished one is recorded now"


# ---- The history and what reads it -----------------------------------------------------------------------


def test_history_keeps_counters_and_survives_a_clean(workbook: FakeWorkbook) -> None:
    workbook.run("grade")
    subprocess.run(["rm", "-r", workbook.folder / "build"], check=True)
    workbook.run("grade", "ch01")
    found = rows(workbook)
    assert [row[0] for row in found] == ["ch01", "ch01", "ch02", "ch03"]
    assert json.loads(found[0][3]) == {"barriers": 3}


def test_status_names_the_next_chapter(workbook: FakeWorkbook) -> None:
    assert "Next: ch01, Fake ch01" in workbook.run("status").stdout
    workbook.run("grade")
    done = workbook.run("status")
    assert done.returncode == 0
    assert "1 of 3 passed" in done.stdout
    assert "Next: ch02, Fake ch02" in done.stdout
    workbook.kernel("ch01").write_text("# edited\n")
    status, document = workbook.document("status")
    assert (status, document["next"]) == (0, "ch01")
    assert document["chapters"][0]["edited_since"] is True


def test_hints_come_one_at_a_time(workbook: FakeWorkbook) -> None:
    texts = [workbook.document("hint", "ch01")[1] for _ in range(4)]
    assert [(hint["step"], hint["text"]) for hint in texts] == [
        (1, "first"),
        (2, "second"),
        (3, "third"),
        (3, "third"),
    ]
    assert workbook.document("hint", "ch01", "--step", "1")[1]["text"] == "first"
    assert workbook.document("hint", "ch02")[1]["step"] == 1
    assert workbook.run("hint", "ch01", "--step", "4").returncode == 2
    assert workbook.run("hint", "ch01", "--step", "zero").returncode == 2


def test_the_solution_is_shown_once_passed(workbook: FakeWorkbook) -> None:
    done = workbook.run("show", "ch01")
    assert done.returncode == 1
    assert "not passed yet" in done.stderr
    assert "a solution" not in done.stdout
    assert "a solution" in workbook.run("show", "ch01", "--force").stdout
    workbook.run("grade", "ch01")
    assert "a solution" in workbook.run("show", "ch01").stdout


def test_reset_keeps_every_old_file(workbook: FakeWorkbook) -> None:
    done = workbook.run("reset", "ch01")
    assert done.returncode == 2
    assert "FORCE=1" in done.stderr
    for number in (1, 2):
        workbook.kernel("ch01").write_text(f"# attempt {number}\n")
        assert workbook.run("reset", "ch01", "--force").returncode == 0
        kept = workbook.folder / "build" / "kept" / "ch01" / f"kernel.cu.{number}.bak"
        assert kept.read_text() == f"# attempt {number}\n"
        text = workbook.kernel("ch01").read_text()
        assert "TODO 1: think" in text
        assert "a solution" not in text
    assert "already" in workbook.run("reset", "ch01", "--force").stdout


def test_whole_programs_are_left_out_by_name_where_clang_compiles(workbook: FakeWorkbook) -> None:
    """Grading everything does not fail over a chapter that needs nvcc; asking for that chapter does judge it."""
    (workbook.kernel("ch02").parent / "chapter.c").write_text(".is_program = true,\n")
    with_clang = workbook.environment() | {"WARPBOOK_COMPILER": "clang", "WARPBOOK_CLANG": sys.executable}
    done = workbook.run("grade", env=with_clang)
    assert done.returncode == 1, done.stdout + done.stderr  # ch03 is wrong; nothing is INFRA
    assert "Left out: ch02. A whole program needs nvcc, which make COMPILER=nvcc ch02" in done.stdout
    assert "ch02" not in workbook.ran()
    status, document = workbook.document("grade", env=with_clang)
    names = [chapter["chapter"] for chapter in document["chapters"]]
    assert (status, document["left_out"], names) == (1, ["ch02"], ["ch01", "ch03"])
    workbook.ran()
    workbook.run("grade", "ch02", env=with_clang)
    assert workbook.ran() == ["ch02"]


def test_doctor(workbook: FakeWorkbook) -> None:
    status, document = workbook.document("doctor")
    assert status in (0, 3)
    assert (status == 0) == document["ok"]
    states = {check["name"]: check["state"] for check in document["checks"]}
    assert states["make"] == states["Python"] == "ok"
    assert all(check["remedy"] for check in document["checks"] if check["state"] == "missing")


def test_doctor_after_the_compiler_alone_was_fetched(workbook: FakeWorkbook) -> None:
    """`make ch01` makes the environment without the packages that `make grade` adds: nothing is broken."""
    folder = workbook.folder / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (next(folder.glob("lib/python3*/site-packages")) / "pip.py").touch()

    def state() -> str:
        document = workbook.document("doctor", env=workbook.environment() | {"WARPBOOK_VENV": "env"})[1]
        return {check["name"]: check["state"] for check in document["checks"]}["packages"]

    assert state() == "later"
    (folder / ".installed-runtime").touch()
    assert state() == "missing"


def test_doctor_does_not_praise_a_ptxas_without_its_toolkit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = tmp_path / "ptxas"
    wrapper.write_text("#!/bin/sh\nexec /no/toolkit/ptxas\n")
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(doctor, "find_nvcc", lambda _root: None)
    found = doctor._look_ptxas(tmp_path)
    assert found.state == "absent"
    assert str(wrapper) in found.detail and "registers are estimated" in found.detail


def test_several_graders_at_once(tmp_path: Path) -> None:
    """None removes what another is about to read, and nothing is recorded twice or lost."""
    workbook = FakeWorkbook(tmp_path / "book", {"ch01": "time.sleep(0.3)\n", "ch02": "time.sleep(0.1)\n"})
    workbook.run("status")
    for options in (["--fresh"], []):
        graders = [
            subprocess.Popen(
                workbook.command("grade", "--json", *options),
                cwd=workbook.folder,
                env=workbook.environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(4)
        ]
        for grader in graders:
            output, errors = grader.communicate(timeout=100)
            assert grader.returncode == 0, output + errors
            assert [one["verdict"] for one in json.loads(output)["chapters"]] == ["PASS", "PASS"]
    assert workbook.ran().count("ch01") <= 4, "what another has just run is not run again"
