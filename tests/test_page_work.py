"""What a failing page may look for: one budget of work, counted, and shared by two processes."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from test_repairs import judge
from whole_kernels import kernel_file

# An edit of the PTX, a text of the source, an order of the threads, two tasks, and one that nothing repairs.
KERNELS = [
    "wrong/ch03/ping_pong_half_barriers",
    "wrong/ch02/moves_on_by_one",
    "wrong/ch05/two_kernels_each_with_one",
    "wrong/ch14/letters_left_behind",
]

ONE_PROCESSOR = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
long sysconf(int name) {
    long (*real)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    if (name != _SC_NPROCESSORS_ONLN) return real(name);
    if (getenv("ASKED")) close(open(getenv("ASKED"), O_CREAT | O_WRONLY, 0600));
    return 1;
}
"""


def found(result: dict[str, Any]) -> list[Any]:
    """What of a result the search decides."""
    return [result[key] for key in ("verdict", "diagnosis", "proof", "accounting", "other_failures")]


@pytest.mark.parametrize("name", KERNELS)
def test_one_process_finds_what_two_find(
    nvcc: str, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    chapter = name.split("/")[1]
    _, two = judge(built, kernel_file(name), chapter, tmp_path / "two.json")
    source, library = tmp_path / "one_processor.c", tmp_path / "one_processor.so"
    source.write_text(ONE_PROCESSOR)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    _, one = judge(built, kernel_file(name), chapter, tmp_path / "one.json")
    assert (tmp_path / "asked").exists()
    assert found(one) == found(two)


def test_without_work_nothing_is_proved(nvcc: str, built: Path, tmp_path: Path) -> None:
    name = "wrong/ch03/ping_pong_half_barriers"
    _, result = judge(built, kernel_file(name), "ch03", tmp_path / "result.json", "--repair", "1")
    assert result["verdict"] == "RACE"
    assert result["proof"] is None or result["proof"]["kind"] != "repair"


def test_twice_the_work_finds_no_less(nvcc: str, built: Path, tmp_path: Path) -> None:
    # An edit that is found early: confirming it is what the work is needed for.
    name = "wrong/ch03/one_thread_too_many"
    proofs = [
        judge(built, kernel_file(name), "ch03", tmp_path / "result.json", "--repair", str(work))[1]["proof"]
        for work in (400, 6400, 12800)
    ]
    assert proofs[0] is None
    assert proofs[1] is not None
    assert proofs[1] == proofs[2]


def test_a_search_leaves_no_process(nvcc: str, built: Path, tmp_path: Path) -> None:
    """The second process and its runner end with the page, which ends before they have done all their trials."""
    marker = {**os.environ, "WARPBOOK_TEST_MARK": str(tmp_path)}
    name = "wrong/ch05/two_kernels_each_with_one"
    subprocess.run(
        ["./ch05", "--device", "emulator", "--kernel", kernel_file(name)],
        cwd=built,
        env=marker,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    left = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and f"WARPBOOK_TEST_MARK={tmp_path}".encode() in (
                (process / "environ").read_bytes().split(b"\0")
            ):
                left.append((process / "cmdline").read_bytes())
        except OSError:
            continue
    assert left == []
