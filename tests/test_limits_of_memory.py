"""Blocks that wait for each other are in flight together: the machine has memory for them, or RESOURCE says not."""

from __future__ import annotations

import re
import resource
import subprocess
from pathlib import Path

import pytest
from emulator import COMMAND


def kernel(registers: int) -> str:
    """All blocks count themselves and wait until all are there, with so many 64-bit registers in use."""
    return f""".version 9.0
.target sm_80
.address_size 64
.visible .entry meet(.param .u64 count, .param .u32 blocks) {{
  .reg .b64 %d<{registers}>; .reg .b32 %r<8>; .reg .pred %p;
  ld.param.u64 %d0, [count]; ld.param.u32 %r0, [blocks]; mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 0;
  @%p bra HERE;
  atom.global.add.u32 %r2, [%d0], 1;
WAIT: ld.volatile.global.u32 %r3, [%d0]; setp.lt.u32 %p, %r3, %r0; @%p bra WAIT;
HERE: bar.sync 0;
  ret; }}
"""


def meet(folder: Path, registers: int, blocks: int, limit: int = 0) -> subprocess.CompletedProcess[str]:
    file = folder / "meet.ptx"
    file.write_text(kernel(registers))
    arguments = ["--arg", "buf:4:zero", "--arg", f"u32:{blocks}", "--checks", "mem"]
    return subprocess.run(
        [COMMAND, file, "meet", "--grid", str(blocks), "--block", "512", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)) if limit else None,
    )


def test_264_blocks_that_wait_for_each_other(emulator_built: Path, tmp_path: Path) -> None:
    done = meet(tmp_path, 520, 264)  # 4,224 warps of 130 KiB: 536 MiB
    assert done.returncode == 0, done.stdout + done.stderr
    assert "meet: clean" in done.stdout


@pytest.mark.usefixtures("limited_memory")
@pytest.mark.parametrize("mib", [400, 600])
def test_what_does_not_fit_is_told_with_figures(emulator_built: Path, tmp_path: Path, mib: int) -> None:
    done = meet(tmp_path, 520, 264, mib << 20)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "RESOURCE" in done.stdout
    # Which of the two is the first too many depends on what else the process has.
    assert re.search("bytes more for (the registers of a warp|a block) do not fit in the", done.stdout)
    assert "MiB that this machine can give: launch fewer or smaller blocks" in done.stdout
    assert "out of memory" not in done.stderr
