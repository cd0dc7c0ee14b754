"""docs/sources.md: every thing that the write-ups do is carried by a chapter, a command that runs and a test."""

import fcntl
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, run_make

TEXT = (ROOT / "docs" / "sources.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in TEXT.splitlines()
    if line.startswith("| ") and not line.startswith(("| what it does", "| said"))
]
CARRIED = [row for row in ROWS if len(row) == 4]
SAID = [row for row in ROWS if len(row) == 3]
COMMANDS = sorted(
    {re.findall(r"`([^`]+)`", row[2])[0] for row in CARRIED + SAID if not row[2].startswith("*GPU*")}
)


def test_every_write_up_has_its_table() -> None:
    parts = re.split(r"^### ", TEXT, flags=re.MULTILINE)[1:]
    assert len(parts) == 5
    assert all(part.count("`tests/") >= 4 for part in parts)
    assert len(CARRIED) >= 30
    assert len(SAID) >= 21


@pytest.mark.parametrize("row", CARRIED, ids=lambda row: row[0])
def test_a_row_names_chapter_command_and_test(row: list[str]) -> None:
    _, chapter, command, test = row
    for link in re.findall(r"\]\(([^)]+)\)", chapter):
        assert (ROOT / "docs" / link).is_file()
    assert re.search(r"`(make|\./ch)", command)
    (name,) = re.findall(r"`(tests/[a-z_]+\.py)`", test)
    assert (ROOT / name).is_file()


def test_the_targets_that_need_a_gpu_exist() -> None:
    makefiles = "".join(path.read_text() for path in [ROOT / "Makefile", *(ROOT / "mk").glob("*.mk")])
    needed = {re.findall(r"`make ([a-z-]+)`", row[2])[0] for row in CARRIED if row[2].startswith("*GPU*")}
    for target in needed:
        assert re.search(rf"^{target}:", makefiles, re.MULTILINE), f"make {target}"


@pytest.mark.slow
@pytest.mark.by_turns
@pytest.mark.parametrize("command", COMMANDS)
def test_its_command_runs(command: str, built: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Those of make one after the other: each may build something."""
    with open(tmp_path_factory.getbasetemp().parent / "sources.lock", "w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        words = shlex.split(command)
        if words[0] == "make":
            done = run_make(*words[1:], folder=built)
        else:
            chapter = words[0].removeprefix("./")
            made = run_make("-s", "solutions", f"CH={chapter}", folder=built)
            assert made.returncode == 0, made.stdout + made.stderr
            done = subprocess.run(words, cwd=built, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
