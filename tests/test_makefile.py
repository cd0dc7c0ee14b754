"""The Makefile: what is rebuilt when, what is printed, and that nothing is written outside build/."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, run_make
from native_build import compiler


def lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stdout + done.stderr
    return [" ".join(line.split()) for line in done.stdout.splitlines() if not line.startswith("make")]


@pytest.mark.parametrize("goal", ["hint", "predict", "try", "show", "reset", "skip", "resume"])
def test_without_a_chapter_it_says_what_to_type(goal: str) -> None:
    done = run_make(goal, folder=ROOT)
    assert done.returncode == 2
    assert f"Say make {goal}-ch01" in done.stderr and "No rule" not in done.stderr
    assert f"Say make {goal}-ch04" in run_make(goal, "CH=ch04", folder=ROOT).stderr


def test_one_quiet_line_a_step(checkout: Path) -> None:
    first = lines(run_make("program-ch01", folder=checkout))
    assert "CC chapters/ch01_one/chapter.c" in first
    assert "LINK build/programs/ch01" in first
    assert not any("ch02" in line for line in first)
    assert subprocess.run([checkout / "ch01"]).returncode == 0
    assert lines(run_make("program-ch01", folder=checkout)) == [], "nothing is done twice"


def test_a_kernel_is_compiled_with_all_that_is_said_about_it(checkout: Path) -> None:
    """Warnings and errors with their help, and nothing else: neither the name of a product nor another command."""
    program = '#include <stdio.h>\nint main(void) { puts("a -> b"); fputs("what it says\\n", stderr); return %d; }\n'
    for status in (0, 1):
        (checkout / "common/driver/build/compile_main.c").write_text(program % status)
        done = run_make("kernel-ch01", folder=checkout, NVCC="/bin/true")
        assert (done.returncode == 0) == (status == 0)
        said = done.stderr.splitlines()
        assert said[0] == "what it says" and len(said) == 1 + status  # and make's own "Error 1"
        assert "->" not in done.stdout


def test_verbose_shows_the_commands(checkout: Path) -> None:
    done = run_make("program-ch01", "V=1", folder=checkout)
    assert " -c -o build/obj/chapters/ch01_one/chapter.o.$$ chapters/ch01_one/chapter.c" in done.stdout
    assert "  CC  " not in done.stdout


def test_a_header_rebuilds_what_includes_it(checkout: Path) -> None:
    run_make("drivers", folder=checkout)
    header = checkout / "common/emulator/ptx/lexer.h"
    header.write_text("#define LEX 2\n")
    os.utime(header, (header.stat().st_atime, header.stat().st_mtime + 2))
    again = lines(run_make("drivers", folder=checkout))
    assert [line for line in again if line.startswith("CC")] == ["CC common/emulator/ptx/lexer.c"]
    assert "AR build/lib/libemulator.a" in again
    assert "LINK build/programs/ch02" in again


def test_changed_flags_rebuild(checkout: Path) -> None:
    run_make("program-ch01", folder=checkout)
    assert "CC chapters/ch01_one/chapter.c" in lines(
        run_make("program-ch01", "CFLAGS=-DX=1", folder=checkout)
    )
    assert lines(run_make("program-ch01", "CFLAGS=-DX=1", folder=checkout)) == []
    assert "CC chapters/ch01_one/chapter.c" in lines(run_make("program-ch01", folder=checkout))


def test_what_has_no_effect_on_the_compiler_rebuilds_nothing(checkout: Path, tmp_path: Path) -> None:
    run_make("program-ch01", folder=checkout)
    (tmp_path / "empty").mkdir()
    longer = f"{tmp_path / 'empty'}:{os.environ['PATH']}"
    assert lines(run_make("program-ch01", folder=checkout, PATH=longer)) == []
    assert lines(run_make("program-ch01", folder=checkout, EDITOR="ed", LANG="C.UTF-8")) == []
    assert lines(run_make("program-ch01", folder=checkout)) == []


def test_another_compiler_on_the_path_rebuilds(checkout: Path, tmp_path: Path) -> None:
    run_make("program-ch01", folder=checkout)
    # By its path: the other one is called cc, too.
    command, *options = compiler()
    real = shlex.join([shutil.which(command) or command, *options])
    other = tmp_path / "other" / "cc"
    other.parent.mkdir()
    other.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "another cc 1.0" && exit\nexec {real} "$@"\n')
    other.chmod(0o755)
    first = f"{other.parent}:{os.environ['PATH']}"
    assert "CC chapters/ch01_one/chapter.c" in lines(run_make("program-ch01", folder=checkout, PATH=first))
    assert lines(run_make("program-ch01", folder=checkout, PATH=first)) == []


def test_the_machine_is_asked_once(checkout: Path) -> None:
    """GNU make 4.3 leaves the newline of some files that it reads; then it asked again without end."""
    assert run_make("objects", folder=checkout).returncode == 0
    asked = checkout / "build/config.mk"
    with open(f"{asked}.key", "a") as file:
        file.write("\n")
    before = asked.stat().st_mtime_ns
    assert run_make("objects", folder=checkout).returncode == 0
    assert asked.stat().st_mtime_ns == before
    again = run_make("objects", folder=checkout, MAKE_RESTARTS="9")
    assert again.returncode == 2 and "remove the folder build, and try again" in again.stderr


def test_a_long_build_says_how_far_it_is(checkout: Path) -> None:
    for number in range(60):
        (checkout / f"common/emulator/ptx/part{number}.c").write_text(f"int part{number};\n")
    made = lines(run_make("program-ch01", folder=checkout))
    told = [line for line in made if line.startswith("building the workbook's tools, once: ")]
    counted = [int(line.split(": ")[1].split()[0]) for line in told]
    assert counted == [1, 20, 40, 60]
    assert all(
        line.endswith(" of 64 files") for line in told
    )  # with build/bin/compile, which make ch01 needs, too
    assert not any(line.startswith("CC ") for line in made)
    assert lines(run_make("program-ch01", folder=checkout)) == []


def test_a_removed_source_leaves_the_library(checkout: Path) -> None:
    extra = checkout / "common/emulator/extra.c"
    extra.write_text("int extra;\n")
    run_make("libs", folder=checkout)
    library = checkout / "build/lib/libemulator.a"
    assert "extra.o" in subprocess.run(["ar", "t", library], capture_output=True, text=True).stdout
    extra.unlink()
    assert run_make("libs", folder=checkout).returncode == 0
    assert "extra.o" not in subprocess.run(["ar", "t", library], capture_output=True, text=True).stdout


def test_a_new_chapter_is_found(checkout: Path) -> None:
    run_make("drivers", folder=checkout)
    shutil.copytree(checkout / "chapters/ch01_one", checkout / "chapters/ch03_three")
    made = lines(run_make("drivers", folder=checkout))
    assert [line for line in made if line.startswith("CC")] == ["CC chapters/ch03_three/chapter.c"]
    assert (checkout / "ch03").exists()


def test_many_jobs_at_once(checkout: Path) -> None:
    assert run_make("-j8", "drivers", "libs", "tools", folder=checkout).returncode == 0


def test_several_makes_at_once(checkout: Path) -> None:
    """Whatever another make is just writing, none of them reads half a file."""
    for number in range(40):
        numbers = "".join(f"int number{number}_{i} = {i};\n" for i in range(300))
        (checkout / f"common/support/part{number}.c").parent.mkdir(exist_ok=True)
        (checkout / f"common/support/part{number}.c").write_text(numbers)
    for _ in range(2):
        shutil.rmtree(checkout / "build", ignore_errors=True)
        (checkout / "ch01").unlink(missing_ok=True)
        command = ["make", "-s", "program-ch01", "libs", "tools"]
        makes = [
            subprocess.Popen(
                command, cwd=checkout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            for _ in range(4)
        ]
        for make in makes:
            output = make.communicate(timeout=200)[0]
            assert make.returncode == 0, output
        assert subprocess.run([checkout / "ch01"]).returncode == 0
    left = [path for path in (checkout / "build").rglob("*") if path.suffix.removeprefix(".").isdigit()]
    assert left == []


def test_two_makes_put_one_program_in_place(checkout: Path, tmp_path: Path) -> None:
    """Both have linked to it before either moves its link."""
    assert run_make("program-ch01", folder=checkout).returncode == 0
    (checkout / "ch01").unlink()
    slow = tmp_path / "bin" / "ln"
    slow.parent.mkdir()
    slow.write_text(f'#!/bin/sh\n{shutil.which("ln")} "$@" && touch "{tmp_path}/$$" && sleep 2\n')
    slow.chmod(0o755)
    environment = os.environ | {"PATH": f"{slow.parent}:{os.environ['PATH']}"}
    # Another PATH has the machine asked again, which comes before.
    assert run_make("libs", folder=checkout, PATH=environment["PATH"]).returncode == 0
    makes = [
        subprocess.Popen(
            ["make", "-s", "program-ch01"],
            cwd=checkout,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(3)
    ]
    for make in makes:
        output = make.communicate(timeout=60)[0]
        assert (make.returncode, output) == (0, "")
    assert len([path for path in tmp_path.iterdir() if path.name.isdigit()]) == 3, "they met"
    assert [path.name for path in (checkout / "build/programs").iterdir()] == ["ch01"]


def test_warnings_of_a_newer_compiler_stop_nobody(checkout: Path) -> None:
    (checkout / "chapters/ch01_one/chapter.c").write_text("static int unused;\nint chapter = 0;\n")
    assert run_make("program-ch01", folder=checkout).returncode == 0
    assert run_make("objects", "WERROR=1", "OUT=build/check/cc", folder=checkout).returncode == 2


def test_sanitizers_build_beside(checkout: Path) -> None:
    run_make("program-ch02", folder=checkout)
    before = (checkout / "ch02").read_bytes()
    assert run_make("program-ch02", "SANITIZE=1", folder=checkout).returncode == 0
    program = (checkout / "build/sanitize/programs/ch02").read_bytes()
    assert b"__asan" in program
    assert (checkout / "ch02").read_bytes() == before


def test_everything_built_is_ignored_by_git_or_under_build(checkout: Path) -> None:
    def files() -> set[str]:
        return {str(path.relative_to(checkout)) for path in checkout.rglob("*") if path.is_file()}

    before = files()
    run_make("drivers", folder=checkout)
    # .venv, which git ignores, is filled where the compiler has to be fetched first.
    new = {name for name in files() - before if not name.startswith(("build/", ".venv/"))}
    assert new == {"ch01", "ch02"}


def test_clean_keeps_what_is_the_learners(checkout: Path) -> None:
    run_make("drivers", folder=checkout)
    for kept in ("build/kept/ch01/kernel.cu.1.bak", "progress/history.sqlite"):
        (checkout / kept).parent.mkdir(parents=True, exist_ok=True)
        (checkout / kept).write_text("precious")
    assert run_make("clean", folder=checkout).returncode == 0
    assert [path.name for path in (checkout / "build").iterdir()] == ["kept"]
    assert (checkout / "build/kept/ch01/kernel.cu.1.bak").exists()
    assert (checkout / "progress/history.sqlite").exists()
    assert not (checkout / "ch01").exists()
    assert run_make("clean", folder=checkout).returncode == 0


def test_the_interpreters_own_packages(checkout: Path) -> None:
    """VENV= makes no environment and installs nothing."""
    (checkout / "grader").mkdir()
    (checkout / "grader" / "__init__.py").write_text("")
    (checkout / "grader" / "__main__.py").write_text("import sys; print('graded', *sys.argv[1:])\n")
    done = run_make("grade", "PYTHON=python3", "VENV=", "CH=ch01 ch02", folder=checkout)
    assert "graded grade -- ch01 ch02" in done.stdout, done.stderr
    assert not (checkout / ".venv").exists()


# ---- Without a C++ compiler, and without nvcc ------------------------------------------------------------


KERNEL = """\
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include "warpbook.cuh"
LAUNCH(k) { launch->block = 256; launch->grid = ceil_div(n, 256); }
__global__ void k(float *a, __half *h, __nv_bfloat162 *b) {
    a[threadIdx.x] += fabs(sqrtf(a[3])) + fmaxf(1.0f, pow(a[1], a[2])) + std::abs(a[4]) + 1'000'000;
    if (isnan(a[2]) || isinf(a[0])) printf("%f\\n", a[4]);
    assert(a[3] > 0);
    h[0] = h[1] * h[2];
    b[0] = __hadd2(b[1], b[2]);
    a[5] = max((int)a[1], 3) + min(a[2], 3.0f);
}
"""


def test_nvcc_preprocesses_with_a_c_compiler_alone(tmp_path: Path, nvcc: str) -> None:
    """mk/host stands in for g++: the instructions are the same."""
    kernel = KERNEL.replace(" + std::max(1, 2)", "")
    (tmp_path / "kernel.cu").write_text(kernel)
    stand_in = tmp_path / "ccbin"
    (stand_in / "include").mkdir(parents=True)
    for path in (ROOT / "mk/host").iterdir():
        if path.name not in ("gcc", "README.md"):
            shutil.copy(path, stand_in / "include")
    shutil.copy(ROOT / "mk/host/gcc", stand_in)
    (stand_in / "gcc").chmod(0o755)
    (stand_in / "compiler").write_text(shlex.join(compiler()) + " -nostdinc++\n")
    made = []
    for extra in ([], ["-ccbin", str(stand_in)]):
        command = [
            nvcc,
            "-ptx",
            "-arch=compute_80",
            f"-I{ROOT}/common/include",
            *extra,
            "-o",
            "k.ptx",
            "kernel.cu",
        ]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        if not extra and done.returncode != 0 and "cc1plus" in done.stderr:
            continue  # there is none here to compare with
        assert done.returncode == 0, done.stderr
        text = (tmp_path / "k.ptx").read_text()
        made.append([line for line in text.splitlines() if not line.startswith("//")])
    assert made[0] == made[-1]


def test_configuration_falls_back_to_the_stand_in(checkout: Path, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "gcc").write_text(
        f'#!/bin/sh\ncase "$*" in *c++*) exit 1 ;; esac\nexec {shlex.join(compiler())} "$@"\n'
    )
    (tools / "gcc").chmod(0o755)
    assert run_make("libs", folder=checkout, PATH=f"{tools}:{os.environ['PATH']}").returncode == 0
    assert os.access(checkout / "build/ccbin/gcc", os.X_OK)
    assert (checkout / "build/ccbin/include/cmath").exists()
