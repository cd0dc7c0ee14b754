"""Kernels that go for points without the chapter's work: each loses at least the points that it goes for.

Further attempts: tests/wrong (a wrong result), tests/class/hostile (the compiler, the grader, the machine),
test_seeds.py (tables of answers), test_audit.py (memory that outlives a launch), test_bandwidth.py (time),
test_class_validation.py (forged results), test_receipts.py and test_history_damage.py (forged records).
"""

import json
import subprocess
from pathlib import Path

import pytest
from cheats import CHEATS


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat(built: Path, tmp_path: Path, name: str) -> None:
    cheat = CHEATS[name]
    kernel, path = tmp_path / "kernel.cu", tmp_path / "result.json"
    kernel.write_text(cheat.text())
    command = [built / cheat.chapter, "--device", "emulator", "--kernel", kernel, "--json", path]
    subprocess.run(command, capture_output=True, timeout=100, cwd=built)
    result = json.loads(path.read_text())
    cheat = cheat.with_compiler(clang=bool(result["build"].get("clang")))
    assert result["verdict"] == cheat.verdict, result
    missed = {goal["words"] for goal in result["goals"] if goal["state"] == "missed"}
    if cheat.verdict == "SLOW":
        assert missed >= set(cheat.missed), result["goals"]
        assert result["points"]["earned"] < result["points"]["possible"]
    elif cheat.verdict == "PASS":  # with one compiler the trick changes nothing, and the kernel does its work
        assert result["points"]["earned"] == result["points"]["possible"]
    else:
        assert result["points"]["earned"] == 0
