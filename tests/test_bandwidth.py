"""Bandwidth in the driver: what must move, at which size, what it earns; the loop that measures it, over a fake GPU."""

import json
import os
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest
from native_driver import ROOT, build

from grader.core.page import bandwidth_text
from grader.core.result import parse_result

SCHEMA = json.loads((ROOT / "docs" / "result.schema.json").read_text())
SUM, ROWS, TRANSPOSE, ADD = range(4)
DECIDED, UNTRUSTED = 1, 3


@pytest.fixture(scope="session")
def parts() -> Path:
    return build("driver_probe")


def ask(parts: Path, *arguments: object) -> list[str]:
    done = subprocess.run([parts, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


# ---- What must move, and at which size -----------------------------------------------------------------------------


def test_the_bytes_are_every_input_and_every_output_once(parts: Path) -> None:
    def of(task: int, n: int, rows: int = 0, blocks: int = 0, own: int = 0) -> float:
        return float(ask(parts, "bytes", task, n, rows, blocks, own)[0])

    assert (
        of(SUM, 1000, blocks=8) == (1000 + 8 + 8) * 4
    )  # partials, and a second pass's input that is an output
    assert of(ROWS, 15, rows=3) == (15 + 3) * 4
    assert of(TRANSPOSE, 15) == 2 * 15 * 4
    assert of(ADD, 1000) == 3 * 1000 * 2  # bfloat16
    assert of(ADD, 1000, own=1) == 7000


@pytest.mark.parametrize(
    ("task", "memory", "timed", "limit", "size"),
    [
        (SUM, 0, (0, 0, 0), 0, (1 << 28, 0, 0)),
        (SUM, 0, (0, 0, 0), 1 << 20, (1 << 20, 0, 0)),
        (SUM, 0, (5000, 0, 0), 0, (5000, 0, 0)),
        (SUM, 8 << 30, (0, 0, 0), 0, (1 << 28, 0, 0)),
        (SUM, 1 << 30, (0, 0, 0), 0, (1 << 25, 0, 0)),
        (ROWS, 0, (0, 0, 0), 0, (15, 3, 5)),
        (ROWS, 0, (0, 65536, 2048), 0, (1 << 27, 65536, 2048)),
        (ROWS, 0, (0, 65536, 2048), 1 << 20, (1 << 20, 512, 2048)),
    ],
)
def test_the_timed_size(
    parts: Path,
    task: int,
    memory: int,
    timed: tuple[int, int, int],
    limit: int,
    size: tuple[int, int, int],
) -> None:
    (line,) = ask(parts, "timed", task, memory, *timed, limit)
    assert tuple(map(int, line.split())) == (*size, 1)


def test_some_tasks_are_not_timed(parts: Path) -> None:
    assert ask(parts, "timed", SUM, 0, -1, 0, 0, 0)[0].endswith(" 0")


# ---- What it earns -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "low", "high", "state", "share"),
    [
        (1.0, 0.99, 1.01, "met", 1),
        (0.96, 0.95, 0.97, "met", 1),
        (1.0, 0.94, 1.06, "too noisy to decide", 0.44 / 0.45),
        (0.94, 0.93, 0.949, "missed", 0.43 / 0.45),
        (0.725, 0.725, 0.725, "missed", 0.5),
        (0.5, 0.5, 0.5, "missed", 0),
        (0.1, 0.1, 0.1, "missed", 0),
    ],
)
def test_points_fall_with_the_ratio(
    parts: Path, ratio: float, low: float, high: float, state: str, share: float
) -> None:
    said, value, earned = ask(parts, "score", 95, ratio, low, high, DECIDED)
    assert said == state
    assert float(value) == pytest.approx(100 * ratio)
    assert float(earned) == pytest.approx(share, abs=1e-9)


def test_an_untrusted_time_earns_nothing(parts: Path) -> None:
    assert ask(parts, "score", 95, 3, 3, 3, UNTRUSTED)[::2] == ["not yet counted", "0"]


# ---- The loop, over a fake GPU -------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def probe() -> Path:
    return build("judge_probe", "fake_gpu")


class Run:
    """One run of judge_probe on its fake GPU; `bandwidth` is that of its one task."""

    def __init__(self, probe: Path, folder: Path, *arguments: str, **variables: str) -> None:
        file = folder / "result.json"
        done = subprocess.run(
            [probe, "--device", "gpu", "--json", file, *arguments],
            cwd=folder,
            env=os.environ | {"PROBE": ""} | variables,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert file.exists(), done
        self.status, self.page = done.returncode, done.stdout
        self.words = re.sub(r"\s+", " ", done.stdout)
        self.result = json.loads(file.read_text())
        jsonschema.validate(self.result, SCHEMA)
        assert all(len(line) <= 80 for line in self.page.splitlines()), self.page
        self.bandwidth = self.result["bandwidth"]
        self.goal = self.result["goals"][2] if self.result["goals"] else None


def small(probe: Path, folder: Path, *arguments: str, **variables: str) -> Run:
    """A run at one small size: the loop is the same, and a second is saved."""
    return Run(probe, folder, "--n", "4096", *arguments, **variables)


def test_a_kernel_is_timed_in_turn_with_the_reference(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, FAKE_SECONDS="1.03e-4", FAKE_REFERENCE_SECONDS="1e-4", FAKE_NOISE="0.01")
    assert run.result["verdict"] == "PASS"
    found = run.bandwidth
    assert (found["kind"], found["state"], found["n"]) == ("measured", "decided", 1 << 20)
    assert found["samples"] >= 30
    assert found["launches_per_sample"] == 1
    assert found["ratio"] == pytest.approx(1 / 1.03, rel=0.01)
    assert found["ratio_low"] <= found["ratio"] <= found["ratio_high"]
    assert found["bytes"] == (2**20 + 1056 * 8) * 4
    assert found["gb_per_s"] == pytest.approx(found["bytes"] / found["seconds"] * 1e-9)
    assert found["read_ceiling_gb_per_s"] > 0
    assert found["throttle"] == "watched"
    assert found["reference"] == "solutions/kernel.cu"
    assert "GB/s measured at n = 1,048,576" in run.words
    assert "samples of each)" in run.words
    assert run.goal["state"] == "met"
    assert run.result["points"]["earned"] == 10


def test_slow_and_right_is_slow_and_earns_a_share(probe: Path, tmp_path: Path) -> None:
    run = small(probe, tmp_path, FAKE_SECONDS="1.5e-4", FAKE_REFERENCE_SECONDS="1e-4")
    assert (run.result["verdict"], run.status) == ("SLOW", 1)
    assert run.goal["state"] == "missed"
    assert run.goal["earned"] == pytest.approx((1 / 1.5 - 0.5) / 0.45, abs=1e-3)
    assert run.result["points"]["earned"] == 9.3
    assert "9.3 of 10 points" in run.page


def test_noise_that_hides_the_answer_is_said(probe: Path, tmp_path: Path) -> None:
    run = small(probe, tmp_path, FAKE_SECONDS="1.05e-4", FAKE_REFERENCE_SECONDS="0.999e-4", FAKE_NOISE="0.06")
    assert run.result["verdict"] == "PASS"
    assert run.bandwidth["state"] == "too noisy to decide"
    assert run.bandwidth["samples"] > 30
    assert run.goal["state"] == "too noisy to decide"
    assert 0.8 < run.goal["earned"] < 1
    assert run.result["points"]["earned"] == 9.9
    assert "Too noisy to decide whether it reaches 95 %: run it again" in run.words


def test_short_runs_are_timed_several_together(probe: Path, tmp_path: Path) -> None:
    run = small(probe, tmp_path, FAKE_SECONDS="5.5e-6", FAKE_REFERENCE_SECONDS="5.5e-6")
    assert run.bandwidth["launches_per_sample"] == 11  # 60 microseconds or so
    assert run.bandwidth["seconds"] == pytest.approx(5.5e-6)
    assert run.bandwidth["ratio"] == pytest.approx(1)


def test_samples_under_held_clocks_are_dropped(probe: Path, tmp_path: Path) -> None:
    run = small(probe, tmp_path, FAKE_CLOCKS="half")
    assert run.bandwidth["state"] == "decided"
    assert run.bandwidth["samples"] == 30
    assert run.bandwidth["dropped"] >= 29
    held = small(probe, tmp_path, FAKE_CLOCKS="held")
    assert held.bandwidth["state"] == "unavailable"
    assert "the clocks were throttled by heat in all" in held.words
    assert held.goal["state"] == "not yet counted"
    assert held.result["verdict"] == "PASS"


def test_a_late_host_gets_a_longer_lead(probe: Path, tmp_path: Path) -> None:
    run = small(probe, tmp_path, FAKE_HOST="late")
    assert run.bandwidth["state"] == "decided"
    assert run.bandwidth["samples"] == 30
    slow = small(probe, tmp_path, FAKE_HOST="slow")
    assert "not timed: the host queued the GPU's work too late in all" in slow.words


def test_unknown_clocks_are_said_in_the_json(probe: Path, tmp_path: Path) -> None:
    run = small(probe, tmp_path, FAKE_CLOCKS="unknown")
    assert run.bandwidth["state"] == "decided"
    assert run.bandwidth["throttle"] == "a fake has no clocks"


def test_faster_than_the_memory_is_not_believed(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, FAKE_PEAK="40")
    assert (run.result["verdict"], run.status) == ("UNTRUSTED_TIME", 1)
    assert run.bandwidth["state"] == "untrusted time"
    assert "at its peak of 40 GB/s this GPU needs 104.9 for these bytes" in run.words
    assert run.result["points"]["earned"] == 0
    # What a cache may hold is believed: 16 KiB beside 64 KiB.
    assert small(probe, tmp_path, FAKE_PEAK="0.0001").result["verdict"] == "PASS"


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"FAKE_TIMER": "broken"}, "not timed: the event could not be recorded"),
        ({"FAKE_TIMER": "still"}, "not timed: the GPU's clock does not advance"),
    ],
)
def test_a_timer_that_fails_costs_no_more_than_the_time(
    probe: Path, tmp_path: Path, variables: dict[str, str], words: str
) -> None:
    run = small(probe, tmp_path, **variables)
    assert run.result["verdict"] == "PASS"
    assert run.bandwidth["state"] == "unavailable"
    assert words in run.words
    assert [goal["met"] for goal in run.result["goals"]].count(None) >= 1


def test_without_a_reference_there_is_a_time_and_no_ratio(probe: Path, tmp_path: Path) -> None:
    run = small(probe, tmp_path, FAKE_NO_REFERENCE="1")
    assert run.bandwidth["state"] == "decided"
    assert (run.bandwidth["ratio"], run.bandwidth["reference"]) == (None, None)
    assert run.bandwidth["message"] == "no reference: there is none"
    assert run.goal["state"] == "not yet counted"
    assert "no reference: there is none" in run.words


def test_what_timed_runs_leave_behind_is_judged(probe: Path, tmp_path: Path) -> None:
    run = small(probe, tmp_path, PROBE="spoilt_by_many")
    assert run.result["verdict"] == "WRONG"
    case = run.result["cases"][run.result["first_failure"]]
    assert case["after_timing"]
    assert "found after the timed runs" in run.words


def test_a_kernel_that_ends_the_runner_while_timed(probe: Path, tmp_path: Path) -> None:
    run = small(probe, tmp_path, PROBE="crash_when_timed")
    assert run.bandwidth["state"] == "unavailable"
    assert "not timed: the runner process ended by signal 9" in run.words
    assert run.result["verdict"] == "PASS"


def test_sizes_of_ones_own(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, "--time", "1000,4096,33")
    assert [timing["n"] for timing in run.result["timings"]] == [1000, 4096, 33]
    for timing in run.result["timings"]:
        assert len(timing["seconds_of_samples"]) == timing["samples"]
        assert len(timing["reference_seconds_of_samples"]) == timing["samples"]
        assert timing["ratio"] == pytest.approx(1)
    assert {case["n"] for case in run.result["cases"]} == {33, 1000, 4096}
    assert (run.result["verdict"], run.goal) == ("PASS", None)
    assert "points" not in run.page
    assert re.search(r"^ +4,096 +100\.00 +\d+\.\d+ +1\.000 +0\.999 to +1\.001$", run.page, re.MULTILINE)


def test_what_is_wrong_is_not_timed(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, "--time", "1000", PROBE="drops_last")
    assert run.result["verdict"] == "WRONG"
    assert "timings" not in run.result


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--time", "10k"], "--time needs sizes"),
        (["--time", "1,,2"], "--time needs sizes"),
        (["--time", ""], "--time needs sizes"),
        (["--time", "2x"], "--time needs sizes"),
        (["--time", "0x5"], "--time needs sizes"),
        (["--time", "99999999999"], "--time needs sizes"),
        (["--time", "999999x999999"], "--time needs sizes"),
        (["--time", ",".join("1" * 65)], "at most 64 sizes"),
    ],
)
def test_times_that_make_no_sense(probe: Path, arguments: list[str], words: str) -> None:
    done = subprocess.run([probe, *arguments], capture_output=True, text=True, timeout=10)
    assert done.returncode == 2
    assert words in done.stderr


def test_times_that_cannot_be(probe: Path, tmp_path: Path) -> None:
    for arguments, words in [
        (["--time", "64x32", "--device", "gpu"], "no task of this chapter can run at any of these sizes"),
        (["--time", "5000000000", "--device", "gpu"], "counts elements in an int"),
    ]:
        done = subprocess.run([probe, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert words in re.sub(r"\s+", " ", done.stdout), done.stdout


def test_a_size_beyond_some_tasks_is_timed_in_the_others(built: Path, root: Path, tmp_path: Path) -> None:
    """The warp and the block of chapter 16 end at 2^17 elements."""
    kernel, file = root / "solutions/ch16_scan/kernel.cu", tmp_path / "result.json"
    command = [built / "build/programs/ch16", "--device", "emulator", "--kernel", kernel, "--json", file]
    done = subprocess.run(
        [*command, "--time", "1024,4194304"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout
    timed = [(one["task"], one["n"]) for one in json.loads(file.read_text())["timings"]]
    assert set(timed) == {(task, n) for task in ("three launches", "one launch") for n in (1024, 4194304)}


def test_the_grades_table_says_what_is_noisy() -> None:
    def cell(**bandwidth: object) -> str:
        document = {
            "schema": "warpbook/result/1",
            "chapter": "ch04",
            "verdict": "PASS",
            "points": {"earned": 9.7, "possible": 10},
            "bandwidth": {"gb_per_s": 4541.2, "kind": "measured", "ratio": 0.953} | bandwidth,
        }
        return bandwidth_text(parse_result(json.dumps(document).encode(), "ch04", 0))

    assert cell(state="decided") == "4,541 GB/s measured, 0.95 of ref"
    assert cell(state="too noisy to decide") == "4,541 GB/s measured, 0.95 of ref, noisy"
    assert cell(state="unavailable", gb_per_s=None, kind=None, ratio=None) == ""
    assert cell(state="decided", gb_per_s=0.15902, kind="modelled") == "0.16 GB/s modelled, 0.95 of ref"
    assert cell(state="decided", gb_per_s=7.38).startswith("7.4 GB/s")
    assert cell(state="decided", tflop_per_s=28.94).startswith("28.9 TFLOP/s measured, 0.95 of ref")


# ---- The emulator beside the GPU -----------------------------------------------------------------------------------


def test_beside_a_gpu_the_emulator_takes_small_sizes_and_the_counted_one(parts: Path) -> None:
    *lines, counted_on_gpu = ask(parts, "beside", SUM, -1)
    cases = [tuple(map(int, line.split())) for line in lines]
    cases = [case for case in cases if case[0] < 1 << 26]  # of larger ones a few blocks run
    counted_sizes = {n for n, _, counted in cases if counted}
    assert len(counted_sizes) == 3
    assert max(counted_sizes) == 1 << 20
    assert min(counted_sizes) > 1 << 19
    assert max(n for n, _, counted in cases if not counted) == 1025
    assert len({schedule for _, schedule, _ in cases}) == 4
    assert counted_on_gpu == "0"
    huge = ask(parts, "beside", SUM, 1 << 28)[:-1]
    assert max(n for n in (int(line.split()[0]) for line in huge) if n < 1 << 26) == 1 << 20
    assert {line.split()[0] for line in ask(parts, "beside", SUM, 777)[:-1]} == {"777"}


def test_what_only_the_emulator_sees_fails_the_run(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, PROBE="race_on_emulator")
    assert (run.result["verdict"], run.status) == ("RACE", 1)
    case = run.result["cases"][run.result["first_failure"]]
    assert case["beside"]
    assert "found by the emulator beside the GPU" in run.words
    assert "--device emulator --n" in run.words
    assert {one["verdict"] for one in run.result["cases"] if "beside" not in one} == {"PASS"}


def test_what_both_see_is_told_by_the_emulator(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, PROBE="drops_last")
    assert run.result["verdict"] == "WRONG"
    assert run.result["cases"][run.result["first_failure"]]["beside"]
    assert "lacks the last element and nothing else" in run.words


def test_what_only_the_gpu_sees_fails_the_run(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, PROBE="wrong_on_gpu")
    assert run.result["verdict"] == "WRONG"
    assert "beside" not in run.result["cases"][run.result["first_failure"]]


@pytest.mark.parametrize("mistake", ["unsupported_on_emulator", "crash_on_emulator"])
def test_where_the_emulator_cannot_say_the_gpu_judges_alone(
    probe: Path, tmp_path: Path, mistake: str
) -> None:
    run = Run(probe, tmp_path, PROBE=mistake)
    assert run.result["verdict"] == "PASS"
    assert run.result["beside"]
    assert "only by the GPU, because the emulator could not run it" in run.words
    assert all("beside" not in case for case in run.result["cases"])


def test_a_cubin_is_judged_by_the_gpu_alone(probe: Path, tmp_path: Path) -> None:
    run = Run(probe, tmp_path, PROBE="no_ptx")
    assert run.result["verdict"] == "PASS"
    assert all("beside" not in case for case in run.result["cases"])
    assert run.result["counters"] == {}
