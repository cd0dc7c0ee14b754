"""What a submission is judged on cannot be known before: inputs depend on its own text and on a secret."""

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_driver import build

FAMILIES = [
    "integers", "ones", "constants", "uniform", "normal", "cancelling", "ten_orders", "nan", "infinity", "infinities",
    "negative_zeros", "subnormals", "huge",
]  # fmt: skip
F32 = 0
N = 1025
SECRET = "sixteen-characters-or-more"

# Adds nothing: it looks the sum up by the first element.
TABLE = """
#include "warpbook.cuh"
__device__ const unsigned first_of[13] = {FIRST};
__device__ const unsigned sum_of[13] = {SUM};
LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}
__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = n > 0 ? in[n - 1] : 0.0f;
    for (int i = 0; i < 13 && n > 0; i++) {
        if (__float_as_uint(in[0]) == first_of[i]) {
            sum = __uint_as_float(sum_of[i]);
        }
    }
    partial[0] = sum;
}
"""


@pytest.fixture(scope="module")
def probe() -> Path:
    return build("driver_probe")


def inputs(probe: Path, family: int, seed: int) -> np.ndarray:
    command = [probe, "inputs", *map(str, (family, N, N, seed, 0, F32))]
    return np.frombuffer(subprocess.run(command, capture_output=True, check=True).stdout, np.float32)


def seed_of(text: str, secret: str, family: str) -> int:
    """As common/driver/plan/seeds.c draws it: no part of the judge is secret."""
    key = hashlib.sha256(f"{hashlib.sha256(text.encode()).hexdigest()} {secret}".encode()).hexdigest()
    return int(hashlib.sha256(f"{key} inputs {N} 0 0 {family}".encode()).hexdigest()[:13], 16)


def bits(value: np.float32) -> str:
    return f"0x{value.view(np.uint32):08x}u"


def with_table(probe: Path, seeds: list[int]) -> str:
    drawn = [inputs(probe, family, seed) for family, seed in enumerate(seeds)]
    with np.errstate(invalid="ignore"):
        sums = [np.float32(np.sum(values, dtype=np.float64)) for values in drawn]
    firsts = ", ".join(bits(values[0]) for values in drawn)
    return TABLE.replace("{FIRST}", "{" + firsts + "}").replace(
        "{SUM}", "{" + ", ".join(map(bits, sums)) + "}"
    )


def judge(built: Path, folder: Path, text: str, *options: str) -> dict[str, Any]:
    kernel, result = folder / "kernel.cu", folder / "result.json"
    kernel.write_text(text)
    command = [built / "ch01", "--device", "emulator", "--kernel", kernel, "--json", result, "--n", str(N)]
    subprocess.run([*command, *options], capture_output=True, timeout=60, cwd=built)
    document: dict[str, Any] = json.loads(result.read_text())
    return document


def test_the_table_is_right_where_the_inputs_are_known(built: Path, probe: Path, tmp_path: Path) -> None:
    """Otherwise the tests below could not fail."""
    known = judge(built, tmp_path, with_table(probe, [7] * len(FAMILIES)), "--seed", "7")
    # The modelled run is at another size.
    cases = [case for case in known["cases"] if not case.get("of_model")]
    assert {case["family"] for case in cases} == set(FAMILIES)
    assert {case["verdict"] for case in cases} == {"PASS"}


@pytest.mark.parametrize("secret", ["", SECRET])
def test_a_table_of_sums_fails(built: Path, probe: Path, tmp_path: Path, secret: str) -> None:
    options = ["--secret", secret] if secret else []
    text = with_table(probe, list(range(len(FAMILIES))))
    first = judge(built, tmp_path, text, *options)
    assert first["verdict"] == "WRONG" and all(case["verdict"] != "PASS" for case in first["cases"][:3])
    # The same attacker again, who now knows what that submission was judged on, and even the secret.
    for _ in range(2):
        text = with_table(probe, [seed_of(text, secret, family) for family in FAMILIES])
        again = judge(built, tmp_path, text, *options)
        assert again["verdict"] == "WRONG" and again["cases"][0]["verdict"] == "WRONG"


def test_the_seed_of_a_page_repeats_that_failure_alone(built: Path, probe: Path, tmp_path: Path) -> None:
    text = TABLE.replace("{FIRST}", "{1}").replace("{SUM}", "{2}")
    failed = judge(built, tmp_path, text, "--secret", SECRET)
    case = failed["cases"][failed["first_failure"]]
    assert case["seed"] == seed_of(text, SECRET, case["family"])
    again = judge(built, tmp_path, text, "--seed", str(case["seed"]))
    same = again["cases"][again["first_failure"]]
    assert same["check"] == case["check"] and same["family"] == case["family"]
    others = [one["seed"] for one in failed["cases"] if one["family"] != case["family"] and "seed" in one]
    assert len(others) > 5 and case["seed"] not in others
    # Another kernel.cu, even if only a comment differs, gets other inputs.
    other = judge(built, tmp_path, text + "//\n", "--secret", SECRET)
    assert other["cases"][other["first_failure"]]["check"] != case["check"]


def test_schedules_and_secrets(built: Path, tmp_path: Path) -> None:
    text = (built / "solutions" / "ch01_single_thread" / "kernel.cu").read_text()
    plain = judge(built, tmp_path, text)
    secret = judge(built, tmp_path, text, "--secret", SECRET)
    assert plain["verdict"] == secret["verdict"] == "PASS"
    assert (plain["options"]["secret"], secret["options"]["secret"]) == (None, SECRET)
    schedules = [{case["schedule"] for case in one["cases"]} for one in (plain, secret)]
    assert schedules[0] == {0, 1, 2, 3} and schedules[0] & schedules[1] == {0}


@pytest.mark.parametrize(
    "secret", ["", "short", "x" * 129, "has a space in the middle", "ümlaut-and-more-text"]
)
def test_a_secret_that_could_not_be_written_down_is_refused(built: Path, secret: str) -> None:
    done = subprocess.run([built / "ch01", "--secret", secret], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "16 to 128 letters" in done.stderr or "wants a value" in done.stderr
