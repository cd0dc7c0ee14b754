"""The points of a chapter: those for its goals, and those for correct results."""

import json
import subprocess
from pathlib import Path

from conftest import ROOT


def test_points_for_correctness_are_divided_evenly_among_the_tasks(built: Path, tmp_path: Path) -> None:
    """Chapter 5 has three of them, and two tasks; the goals of the first give five more."""
    mark = "// ---- The same in double"
    half = (ROOT / "solutions/ch05_shared_memory/kernel.cu").read_text().partition(mark)[0]
    rest = (ROOT / "chapters/ch05_shared_memory/kernel.cu").read_text().partition(mark)[2]
    kernel, result = tmp_path / "kernel.cu", tmp_path / "result.json"
    kernel.write_text(half + mark + rest)
    command = [built / "build/programs/ch05", "--device", "emulator", "--repair", "0"]
    subprocess.run(
        [*command, "--kernel", kernel, "--json", result], cwd=ROOT, check=False, capture_output=True
    )
    document = json.loads(result.read_text())
    assert document["verdict"] == "WRONG"
    assert sum(goal["earned"] for goal in document["goals"]) == 5
    assert document["points"] == {"earned": 6.5, "possible": 10}
