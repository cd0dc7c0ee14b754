"""Builds for other machines: macOS is linked, musl runs here, and aarch64 under qemu-user if that is set up."""

import fcntl
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, run_make

PORTS = ROOT / "build" / "ports"
# Building one takes minutes, so that one run in four has one of them.
MACOS, MUSL, AARCH64 = ("aarch64-macos", "x86_64-linux-musl", "aarch64-linux-musl")
TARGETS = (MACOS, MUSL, AARCH64, *["none"] * 9)
CHAPTERS = sorted(folder.name[:4] for folder in (ROOT / "solutions").glob("ch[0-9][0-9]_*"))
TOOLS = ("compile", "emulate", "keep")


def port(target: str) -> Path:
    """The programs for one target, built; workers of pytest-xdist take turns."""
    PORTS.mkdir(parents=True, exist_ok=True)
    with open(PORTS / f"{target}.lock", "w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        done = run_make(f"port-{target}", "CFLAGS=-O1" if "linux" in target else "CFLAGS=-O0", folder=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return PORTS / target


def programs(folder: Path) -> list[Path]:
    return [folder / "programs" / chapter for chapter in CHAPTERS] + [folder / "bin" / tool for tool in TOOLS]


def judged(folder: Path, chapter: str) -> str:
    """The page of the chapter's reference, judged by the program of that port."""
    done = run_make("solutions", f"CH={chapter}", folder=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    image = f"build/solutions/{chapter}/kernel.ptx"
    command = [str(folder / "programs" / chapter), "--kernel", image]
    page = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert page.returncode == 0, page.stdout + page.stderr
    return page.stdout


def runs_aarch64(program: Path) -> bool:
    """Whether the kernel hands programs for aarch64 to qemu; a runner starts its own program again."""
    try:
        return subprocess.run([program, "--help"], capture_output=True).returncode == 0
    except OSError:
        return False


@pytest.mark.one_of(MACOS, TARGETS)
def test_everything_is_linked_for_macos() -> None:
    for program in programs(port(MACOS)):
        start = program.read_bytes()[:8]
        assert start == bytes.fromhex("cffaedfe0c000001"), f"{program.name} is not a Mach-O file for arm64"


@pytest.mark.one_of(MUSL, TARGETS)
@pytest.mark.by_turns
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_musl_gives_every_reference_full_points(chapter: str) -> None:
    assert "10 of 10 points" in judged(port(MUSL), chapter)


@pytest.mark.one_of(AARCH64, TARGETS)
@pytest.mark.by_turns
@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_aarch64_gives_every_reference_full_points(chapter: str) -> None:
    folder = port(AARCH64)
    if not runs_aarch64(folder / "bin" / "emulate"):
        pytest.skip(
            "programs for aarch64 do not run here: apt-get install qemu-user-static, and register it (.ci/run)"
        )
    assert "10 of 10 points" in judged(folder, chapter)
