"""common/emulator/alu/matrix_tile*.c: tiles and blocks, which compute the same otherwise, have the same bits."""

import subprocess
from pathlib import Path

import pytest
from native_build import COMMON, build

CPU_INFO = Path("/proc/cpuinfo")
CPU = CPU_INFO.read_text() if CPU_INFO.exists() else ""
# Vectors as wide as this processor has, and those of processors that have less.
WIDTHS: dict[str, tuple[str, ...]] = {"widest": ()}
WIDTHS |= {"256 bits": ("-mno-avx512f",)} if "avx512bw" in CPU else {}
WIDTHS |= {"128 bits": ("-mno-avx2",)} if "avx2" in CPU else {}
SEED, ROUNDS = 1, 5000


@pytest.mark.parametrize("flags", WIDTHS.values(), ids=WIDTHS)
def test_tiles_and_blocks_have_the_same_bits(flags: tuple[str, ...], root: Path, tmp_path: Path) -> None:
    sources = [root / "tests/native/matrix_probe.c", *sorted((COMMON / "emulator/alu").glob("matrix*.c"))]
    probe = tmp_path / "matrix_probe"
    options = ("-march=native", *flags, "-ffp-contract=off", "-Wno-psabi")
    build(probe, sources, *options, sanitize=False)  # with sanitizers, three times as long
    done = subprocess.run([probe, str(SEED), str(ROUNDS)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    for line in done.stdout.splitlines():
        by_tiles = int(line.split(": ")[1].split()[0])
        assert by_tiles > ROUNDS / 20, f"too few for a comparison: {line}"
