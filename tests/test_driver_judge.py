"""The judge, the runner, the page and the JSON over kernels that are C functions: no compiler, no emulator."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import jsonschema
import pytest
from native_driver import ROOT, build

SCHEMA = json.loads((ROOT / "docs" / "result.schema.json").read_text())


@pytest.fixture(scope="session")
def probe() -> Path:
    return build("judge_probe", "fake_gpu")


class Run:
    def __init__(self, probe: Path, folder: Path, mistake: str, *arguments: str, **variables: str) -> None:
        self.file = folder / "result.json"
        self.file.unlink(missing_ok=True)
        done = subprocess.run(
            [probe, "--json", self.file, *arguments],
            cwd=folder,
            env=os.environ | {"PROBE": mistake} | variables,
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.status, self.page, self.complaints = done.returncode, done.stdout, done.stderr
        self.words = re.sub(r"\s+", " ", self.page)
        assert self.file.exists(), done
        self.result = json.loads(self.file.read_text())
        jsonschema.validate(self.result, SCHEMA)
        assert all(len(line) <= 80 for line in self.page.splitlines()), self.page
        assert self.page.isascii()
        assert "\x1b" not in self.page


def test_a_right_kernel_passes(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, "")
    assert run.status == 0
    assert run.result["verdict"] == "PASS"
    assert run.result["points"] == {"earned": 9, "possible": 10}  # one is for bandwidth
    assert run.result["findings"] == []
    assert {case["verdict"] for case in run.result["cases"]} == {"PASS"}
    assert "Next: make ch05 && ./ch05" in run.page
    assert "not modelled" in run.page  # the stand-in for a device traces nothing
    assert "13 input families, 13 schedules" in run.words


def test_a_barrier_of_a_part_of_the_block_is_reported_and_passes(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, "partial_barrier")
    assert (run.status, run.result["verdict"], run.result["findings"]) == (0, "PASS", [])
    note = run.result["note"]
    assert (note["verdict"], note["place"]["line"]) == ("INFO", 9)
    smallest = min(i for i, case in enumerate(run.result["cases"]) if case["n"] >= 64)
    assert note["case"] == smallest
    assert "note line 9: thread (0,0,0) waits at a barrier that 31 of the block's 32" in run.words
    assert Run(probe, tmp_path, "").result["note"] is None


def test_runs_are_reproducible_but_for_times(probe: Path, tmp_path: Path) -> None:
    first, second = (Run(probe, tmp_path, "race").result for _ in range(2))
    for result in (first, second):
        del result["times"], result["build"]
    # Which cases still ran after the many failures depends on which runner was first.
    for result in (first, second):
        del result["cases"]
        del result["findings"]
    assert first == second


@pytest.mark.parametrize(
    ("mistake", "verdict", "words"),
    [
        ("drops_last", "WRONG", "lacks the last element and nothing else"),
        ("drops_tail", "WRONG", "elements 1,020 to 1,022 reach no result"),
        ("twice", "WRONG", "exactly twice the sum"),
        ("zero", "WRONG", "no element reaches a result"),
        ("unwritten", "WRONG", "was never written"),
        ("no_nan", "WRONG", "it should be NaN"),
        ("by_schedule", "WRONG", "not the same bits"),
        ("overrun", "OOB", "right after the end of partial"),
        ("writes_input", "OOB", "the kernel changed its input: in[7]"),
        ("race", "RACE", "Either only one of them should, and an index or a condition is wrong"),
        ("fault", "OOB", "reads 4 bytes at in + 1028"),
        ("prints", "OUTPUT_LIMIT", "printed more than 64 KiB"),
        ("slow", "SLOW", "Every sector costs the same"),
        ("launch_unset", "LAUNCH", "does not set launch->block"),
        ("launch_too_many", "LAUNCH", "the limit here is 2,147,483,647"),
        ("launch_big_block", "LAUNCH", "2,048 threads along x; the limit here is 1,024"),
    ],
)
def test_mistakes(probe: Path, tmp_path: Path, mistake: str, verdict: str, words: str) -> None:
    run = Run(probe, tmp_path, mistake)
    assert (run.result["verdict"], run.status) == (verdict, 1)
    assert words in run.words, run.words
    assert verdict in run.page
    assert "make hint-ch04" in run.page
    if verdict != "SLOW":
        assert run.result["points"]["earned"] == 0
        assert run.result["findings"][0]["verdict"] == verdict
        assert run.result["cases"][run.result["first_failure"]]["verdict"] == verdict
        assert re.search(r"failed +\d+ of \d+ cases; \d+ passed", run.page)


def test_a_slow_kernel_keeps_its_other_points(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, "slow")
    assert run.result["points"]["earned"] == 6
    assert [goal["met"] for goal in run.result["goals"]] == [False, True, None]


def test_what_a_kernel_prints_is_shown_and_harmless(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, "prints")
    assert r"hello \x1b[31m from n" in run.page


# ---- The runner ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        ("crash", "ended by signal 9"),
        ("always_crash", "ended by signal 9"),
        ("launch_crash", "ended by signal 9"),
        ("exit", "ended with status 0"),
        ("garbage", "malformed reply"),
    ],
)
def test_a_runner_that_fails_is_the_machines_fault(
    probe: Path, tmp_path: Path, mistake: str, words: str
) -> None:
    run = Run(probe, tmp_path, mistake)
    assert (run.result["verdict"], run.status) == ("INFRA", 3)
    assert words in run.words, run.words
    assert "make doctor" in run.page


def test_one_crash_is_forgiven(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, "crash_once")
    assert run.result["verdict"] == "PASS"
    assert (tmp_path / "crashed").exists()


def test_a_lost_context_is_opened_again(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, "fault", FAKE_CONTEXT_LOST="1")
    # Large cases are left out after a failure.
    others = {case["verdict"] for case in run.result["cases"] if case["n"] != 257}
    assert run.result["verdict"] == "OOB"
    assert others <= {"PASS", None}


def test_no_device(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, "", FAKE_NO_DEVICE="1")
    assert (run.result["verdict"], run.status) == ("INFRA", 3)
    assert "there is no device today" in run.page
    assert run.result["device"] is None


def test_a_gpu_is_taken_when_one_answers_and_is_timed(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, "", FAKE_GPU_PRESENT="1")
    assert run.result["device"]["kind"] == "gpu"
    assert run.result["verdict"] == "PASS"
    assert run.result["bandwidth"]["kind"] == "measured"
    assert run.result["counters"]["sum_shuffle"]["kernels"]["sum_shuffle"]["counts"]["shuffles"] > 0
    assert (
        Run(probe, tmp_path, "", "--device", "emulator", FAKE_GPU_PRESENT="1").result["device"]["kind"]
        == "emulator"
    )


def test_a_hanging_runner_is_stopped_and_replaced(probe: Path) -> None:
    done = subprocess.run(
        [probe, "--schedule", "999"],
        env=os.environ | {"PROBE": "hang"},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.stdout == "timed out, then answered\na malformed request\n"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_runner_outlives_the_driver(probe: Path, tmp_path: Path, how: signal.Signals) -> None:
    driver = subprocess.Popen(
        [probe, "--json", tmp_path / "x.json"], env=os.environ | {"PROBE": "hang"}, stdout=subprocess.DEVNULL
    )
    children = Path(f"/proc/{driver.pid}/task/{driver.pid}/children")
    runners: list[str] = []
    for _ in range(200):
        runners = children.read_text().split()
        if len(runners) >= 1 and all("runner" in Path(f"/proc/{pid}/cmdline").read_text() for pid in runners):
            break
        time.sleep(0.02)
    time.sleep(0.3)
    driver.send_signal(how)
    driver.wait(10)
    for _ in range(100):
        alive = [pid for pid in runners if is_alive(pid)]
        if not alive:
            break
        time.sleep(0.05)
    assert runners
    assert not alive
    assert not (tmp_path / "x.json").exists()


def is_alive(pid: str) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return state.rsplit(")", 1)[1].split()[0] not in ("Z", "X")


# ---- Options -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--nonsense"], 'no option "--nonsense"'),
        (["file"], 'no option "file"'),
        (["--n"], "--n wants a value"),
        (["--n", "-1"], "from 0 to"),
        (["--n", "1e6"], "whole number"),
        (["--n", ""], "whole number"),
        (["--n", "99999999999999999999"], "from 0 to"),
        (["--n", "34359738368"], "from 0 to"),
        (["--device", "toaster"], "auto, emulator or gpu"),
        (["--seed", "0x10"], "whole number"),
        (["--schedules", "100000"], "from 0 to 1000"),
        (["--also", "10k"], "--also needs sizes"),
        (["--also", ",".join("1" * 17)], "at most 16 sizes"),
        (["--quiet=yes"], "takes no value"),
        (["--gpu", ""], "name of a device"),
        (["--gpu", "voodoo"], "no device profile is called voodoo; there are: H200, H100, A100, L4"),
        (["--gpu", "x" * 300], "no device profile is called xxx"),
        (["--" + "x" * 10000], "no option"),
    ],
)
def test_wrong_usage(probe: Path, arguments: list[str], words: str) -> None:
    done = subprocess.run([probe, *arguments], capture_output=True, text=True, timeout=10)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr) < 300


def test_help_names_every_option(probe: Path) -> None:
    done = subprocess.run([probe, "--help"], capture_output=True, text=True, timeout=10)
    assert done.returncode == 0
    for name in (
        "device",
        "gpu",
        "kernel",
        "n",
        "also",
        "seed",
        "schedules",
        "schedule",
        "profile",
        "json",
        "quiet",
        "help",
    ):
        assert f"--{name} " in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_sizes_besides_the_chapters_own(probe: Path, tmp_path: Path) -> None:
    plain = Run(probe, tmp_path, "")
    more = Run(probe, tmp_path, "", "--also", "12345,64x2048")
    own = [case for case in more.result["cases"] if case["n"] != 12345]
    assert [case["n"] for case in own] == [case["n"] for case in plain.result["cases"]]
    assert {case["family"] for case in more.result["cases"] if case["n"] == 12345} == {"integers", "uniform"}
    assert [size["n"] for size in more.result["options"]["also"]] == [12345, 131072]


def test_one_size_seed_and_schedule(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, "", "--n=333", "--seed", "7", "--schedule", "42")
    assert {case["n"] for case in run.result["cases"]} == {333}
    assert {case["schedule"] for case in run.result["cases"]} == {42}
    assert run.result["options"]["seed"] == 7
    assert run.result["counters"] == {}  # counting belongs to schedule 0


def test_more_than_an_int_or_an_emulator_can_take(probe: Path, tmp_path: Path) -> None:
    assert "--also goes up to 67,108,864" in Run(probe, tmp_path, "", "--also", "1000000000").words
    too_many = Run(probe, tmp_path, "", "--n", "5000000000", FAKE_GPU_PRESENT="1")
    assert "counts elements in an int" in too_many.words


def test_json_that_cannot_be_written_leaves_the_old_one(probe: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [probe, "--json", tmp_path / "no" / "such" / "x.json", "--n", "3"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert "cannot write" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_colours_only_on_a_terminal(probe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pty

    def in_a_terminal(**variables: str) -> bytes:
        ours, theirs = pty.openpty()
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        environment |= {"PROBE": "", "TERM": "xterm"} | variables
        subprocess.run([probe, "--n", "33"], env=environment, stdout=theirs, cwd=tmp_path, timeout=60)
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        os.close(ours)
        return shown

    assert b"\x1b[1m" in in_a_terminal()
    assert b"\x1b[1m" not in in_a_terminal(NO_COLOR="1")
    assert b"\x1b[1m" not in in_a_terminal(TERM="dumb")


def test_no_guess_stands_beside_a_list_of_elements(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, "drops_last")
    assert run.result["diagnosis"] is None
    assert "lacks the last element and nothing else" in run.words and "Possibly" not in run.words
    assert run.page.rstrip().endswith("make hint-ch04")


def test_a_named_mistake_takes_the_place_of_the_general_words(probe: Path, tmp_path: Path) -> None:
    slow = Run(probe, tmp_path, "slow")
    assert slow.result["diagnosis"]["mistake"] == "uncoalesced"
    assert slow.result["diagnosis"]["title"] in slow.words
    assert Run(probe, tmp_path, "").result["diagnosis"] is None
