"""common/driver/run/confine.c: what a runner on the emulator gives up before it sees a kernel."""

import contextlib
import platform
import signal
import subprocess
import time
from pathlib import Path

import pytest
from native_build import COMMON, build

from grader.core.workbook import Workbook

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64"), reason="no list of system calls for this processor"
)


@pytest.fixture(scope="session")
def probe(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    sources = [root / "tests/native/confine_probe.c", COMMON / "driver" / "run" / "confine.c"]
    return build(tmp_path_factory.mktemp("confine") / "confine_probe", sources, sanitize=False)


def test_nothing_is_left_but_memory(probe: Path, tmp_path: Path) -> None:
    done = subprocess.run([probe], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    said = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert said.pop("memory") == said.pop("more memory") == "done"
    assert len(said) == 11
    assert set(said.values()) == {"refused"}, said
    assert list(tmp_path.iterdir()) == []


def test_a_program_may_still_end_itself(probe: Path) -> None:
    assert subprocess.run([probe, "abort"], timeout=60).returncode == -signal.SIGABRT


def test_every_runner_of_the_emulator_is_confined(built: Path, tmp_path: Path) -> None:
    chapter = Workbook(built).select(["ch08"])[0]
    image = tmp_path / "kernel"
    command = [built / "build/bin/compile", built / chapter.solution / "kernel.cu", image, "--quiet"]
    subprocess.run(command, check=True, timeout=120)
    judge = subprocess.Popen(
        [built / "ch08", "--device", "emulator", "--quiet", "--kernel", image / "kernel.ptx"],
        stdout=subprocess.DEVNULL,
    )
    states: set[str] = set()
    try:
        while judge.poll() is None and "2" not in states:
            with contextlib.suppress(OSError):  # it has ended meanwhile
                for pid in Path(f"/proc/{judge.pid}/task/{judge.pid}/children").read_text().split():
                    status = Path(f"/proc/{pid}/status").read_text()
                    states |= {line.split()[1] for line in status.splitlines() if line.startswith("Seccomp:")}
            time.sleep(0.001)
        assert judge.wait(60) == 0
    finally:
        judge.kill()
    assert "2" in states, "a filter of system calls"
