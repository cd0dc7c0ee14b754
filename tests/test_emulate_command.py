"""The command build/bin/emulate: its options, its exit statuses, what it writes, and bad input of every kind."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cuda_images import ROOT, TESTS, image
from emulator import COMMAND, COUNTERS

HEADER = ".version 9.0\n.target sm_80\n.address_size 64\n"
SCALE = (
    HEADER
    + """.file 1 "scale.cu"
.visible .entry scale(.param .u64 p_x, .param .f32 p_by, .param .u32 p_n) {
  .reg .b64 %a<4>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .pred %p;
  .loc 1 7 3
  ld.param.u64 %a0, [p_x]; ld.param.f32 %f0, [p_by]; ld.param.u32 %r0, [p_n];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
  setp.ge.u32 %p, %r1, %r0; @%p ret;
  mad.wide.u32 %a1, %r1, 4, %a0;
  .loc 1 8 5
  ld.global.f32 %f1, [%a1]; mul.f32 %f1, %f1, %f0; st.global.f32 [%a1], %f1; ret; }
"""
)


def emulate(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(COMMAND), *map(str, arguments)],
        capture_output="stdout" not in options,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
        **options,  # type: ignore[call-overload]
    )
    assert "runtime error" not in (done.stderr or "")
    assert "Sanitizer" not in (done.stderr or "")
    return done


@pytest.fixture
def scale(emulator_built: Path, tmp_path: Path) -> Path:
    path = tmp_path / "scale.ptx"
    path.write_text(SCALE)
    return path


def arguments(scale: Path, *more: object, n: int = 100, grid: str = "4", block: str = "32") -> list[object]:
    return [
        scale,
        "scale",
        "--grid",
        grid,
        "--block",
        block,
        "--arg",
        f"buf:{4 * n}:zero",
        "--arg",
        "f32:2.5",
        "--arg",
        f"u32:{n}",
        *more,
    ]


# ---- What it does ----------------------------------------------------------------------------------------------
def test_help(emulator_built: Path) -> None:
    done = emulate("--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: emulate FILE.ptx... KERNEL --grid X[,Y,Z] --block X[,Y,Z]")
    for option in ("--shared", "--arg", "--dump", "--json", "--profile", "--schedule", "--checks", "--steps"):
        assert option in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_verdicts_stand_in_the_drivers_order(emulator_built: Path) -> None:
    header = (ROOT / "common/driver/plan/verdict.h").read_text()
    table = (ROOT / "common/emulator/finding.c").read_text()
    possible = set(re.findall(r"\[FINDING_\w+\] = \{\"(\w+)\"", table)) - {"PASS", "INFO"}
    named = emulate("--help").stdout.partition("the first of\n")[2].split()
    assert named == [word for word in re.findall(r"VERDICT_(\w+),", header) if word in possible]
    assert len(named) == len(possible)


@pytest.mark.parametrize("schedule", [0, 12345, 2**64 - 1])
def test_file_in_dump_out(scale: Path, tmp_path: Path, schedule: int) -> None:
    x = np.arange(100, dtype=np.float32)
    (tmp_path / "x.bin").write_bytes(x.tobytes())
    out = tmp_path / "out.bin"
    out.write_text("what was there before")
    done = emulate(
        *(
            scale,
            "scale",
            "--grid",
            4,
            "--block",
            32,
            "--arg",
            f"buf:400:{tmp_path / 'x.bin'}",
            "--arg",
            "f32:-0.5",
        ),
        *("--arg", "u32:100", "--dump", f"0:{out}", "--schedule", schedule),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "scale: clean, " in done.stdout
    assert np.frombuffer(out.read_bytes(), np.float32).tolist() == (x * np.float32(-0.5)).tolist()


def test_values_of_every_type(emulator_built: Path, tmp_path: Path) -> None:
    types = {"i32": "b32", "u32": "b32", "i64": "b64", "u64": "b64", "f32": "b32", "f64": "b64"}
    parameters = ", ".join(f".param .{bits} p{k}" for k, bits in enumerate(types.values()))
    body = "".join(
        f"ld.param.{bits} %{bits[1]}, [p{k}]; st.global.{bits} [%a+{8 * k}], %{bits[1]};\n"
        for k, bits in enumerate(types.values())
    )
    ptx, out = tmp_path / "values.ptx", tmp_path / "out"
    ptx.write_text(
        f"{HEADER}.visible .entry k({parameters}, .param .u64 p_out) {{ .reg .b32 %3; .reg .b64 %6, %a;"
        f" ld.param.u64 %a, [p_out];\n{body} ret; }}"
    )
    given = [
        "i32:-5",
        "u32:0xfffffffe",
        "i64:-9000000000000000000",
        "u64:18446744073709551615",
        "f32:1e-3",
        "f64:-inf",
    ]
    done = emulate(
        ptx,
        "k",
        "--grid=1",
        "--block=1",
        *(w for g in given for w in ("--arg", g)),
        "--arg",
        "buf:48",
        "--dump",
        f"6:{out}",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    raw = out.read_bytes()
    got = [
        np.frombuffer(raw[8 * k :], t, 1)[0] for k, t in enumerate(["<i4", "<u4", "<i8", "<u8", "<f4", "<f8"])
    ]
    assert got == [-5, 0xFFFFFFFE, -9 * 10**18, 2**64 - 1, np.float32(1e-3), -np.inf]


def test_json(scale: Path, tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    done = emulate(*arguments(scale, "--json", out))
    assert done.returncode == 0
    told = json.loads(out.read_text())
    assert list(told)[:7] == [
        "schema",
        "verdict",
        "findings",
        "counters",
        "lines",
        "lane_instructions",
        "seconds",
    ]
    assert (told["schema"], told["verdict"], told["findings"]) == ("warpbook/emulation/1", "PASS", [])
    assert list(told["counters"]) == COUNTERS
    assert told["counters"]["global_ld_requests"] == 4
    assert told["counters"]["global_ld_sectors"] == 13
    assert told["lane_instructions"] == told["counters"]["thread_instructions"] > 0
    assert 0 <= told["seconds"] < 10
    assert [(line["file"], line["line"]) for line in told["lines"]] == [("scale.cu", 7), ("scale.cu", 8)]
    assert told["lines"][1]["counters"]["global_st_requests"] == 4


def test_json_of_findings(scale: Path, tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    done = emulate(
        scale,
        "scale",
        "--grid",
        1,
        "--block",
        32,
        "--arg",
        "buf:40:zero",
        "--arg",
        "f32:1",
        "--arg",
        "u32:32",
        "--json",
        out,
    )
    assert done.returncode == 1
    assert "OOB out of bounds at scale.cu:8:5\n" in done.stdout
    assert (
        "thread (10,0,0) of block (0,0,0) reads 4 bytes at byte 40 of argument 0, which has 40" in done.stdout
    )
    assert "scale: OOB, " in done.stdout
    told = json.loads(out.read_text())
    assert told["verdict"] == "OOB"
    (finding,) = told["findings"]
    expected = {
        "verdict": "OOB",
        "kind": "out of bounds",
        "file": "scale.cu",
        "line": 8,
        "column": 5,
        "thread": [10, 0, 0],
        "block": [0, 0, 0],
        "warp": 0,
        "lane": 10,
        "bytes": 4,
        "object": "argument 0",
        "index": 40,
        "object_bytes": 40,
        "count": 1,
        "fatal": True,
    }
    assert {key: finding[key] for key in expected} == expected


def test_the_verdict_is_of_the_finding_that_explains_most(emulator_built: Path, tmp_path: Path) -> None:
    """Every thread reads memory that was never written, and only then do all threads write to one place."""
    ptx = tmp_path / "two.ptx"
    ptx.write_text(
        HEADER
        + """.visible .entry two(.param .u64 p) { .reg .b64 %a; .reg .b32 %r; .reg .pred %p;
  ld.param.u64 %a, [p]; ld.global.u32 %r, [%a+4]; setp.eq.u32 %p, %r, 1; @%p bra L; L:
  mov.u32 %r, %tid.x; st.global.u32 [%a], %r; ret; }"""
    )
    told = tmp_path / "told.json"
    done = emulate(ptx, "two", "--grid", 1, "--block", 32, "--arg", "buf:8", "--json", told)
    found = json.loads(told.read_text())
    assert [finding["verdict"] for finding in found["findings"]][:2] == ["UNINIT", "RACE"]
    assert found["verdict"] == "RACE"
    assert "two: RACE, " in done.stdout


def test_profile(scale: Path) -> None:
    done = emulate(*arguments(scale, "--profile"))
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert any(line.split() == ["global_ld_requests", "4"] for line in lines)
    assert "scale.cu:8" in lines


@pytest.mark.parametrize(
    ("checks", "status"),
    [("all", 1), ("none", 0), ("init", 1), ("mem,sync", 0), ("race,init", 1), ("mem", 0)],
)
def test_checks(scale: Path, checks: str, status: int) -> None:
    done = emulate(
        *(
            scale,
            "scale",
            "--grid",
            1,
            "--block",
            32,
            "--arg",
            "buf:128",
            "--arg",
            "f32:1",
            "--arg",
            "u32:32",
            "--checks",
            checks,
        )
    )
    assert done.returncode == status
    assert ("UNINIT uninitialised read" in done.stdout) == bool(status)


def test_steps(emulator_built: Path, tmp_path: Path) -> None:
    ptx = tmp_path / "endless.ptx"
    ptx.write_text(HEADER + ".visible .entry k() { L: bra L; }")
    done = emulate(ptx, "k", "--grid", 1, "--block", 32, "--steps", 1000)
    assert done.returncode == 1
    assert "TIMEOUT too many steps" in done.stdout


def test_shared_and_shapes(emulator_built: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ptx = image(TESTS / "data" / "ptx" / "memory.cu")
    done = emulate(
        ptx,
        "dynamic_shared",
        "--grid",
        "1,1,1",
        "--block",
        "8,4",
        "--shared",
        128,
        "--arg",
        "buf:128",
        "--arg",
        "i32:31",
        "--dump",
        f"0:{out}",
    )
    assert done.returncode == 1, "threads with one threadIdx.x write one element"
    assert (
        emulate(
            ptx,
            "dynamic_shared",
            "--grid",
            1,
            "--block",
            32,
            "--shared",
            64,
            "--arg",
            "buf:128",
            "--arg",
            "i32:0",
        ).returncode
        == 1
    )
    done = emulate(ptx, "prints", "--grid", 1, "--block", 1, "--arg", "i32:1")
    assert done.returncode == 0
    assert done.stdout.splitlines()[4] == "plain"
    done = emulate(ptx, "prints", "--grid", 1, "--block", 2048, "--arg", "i32:1")
    assert done.returncode == 1
    assert "LAUNCH launch refused" in done.stdout


# ---- Wrong use -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "the PTX file is missing"),
        (["{ptx}", "--grid", "1"], "the kernel is missing"),
        (["{ptx}", "scale"], "--grid is missing"),
        (["{ptx}", "scale", "--grid", "1"], "--block is missing"),
        (["{ptx}", "scale", "more", "--grid", "1", "--block", "1"], "too many words: more"),
        (["{ptx}", "scale", "--grid", "1,2,3,4", "--block", "1"], "--grid needs X[,Y,Z]: 1,2,3,4"),
        (["{ptx}", "scale", "--grid", "-1", "--block", "1"], "--grid needs"),
        (["{ptx}", "scale", "--grid", "", "--block", "1"], "--grid needs"),
        (["{ptx}", "scale", "--grid", "1,", "--block", "1"], "--grid needs"),
        (["{ptx}", "scale", "--grid", "4294967296", "--block", "1"], "--grid needs"),
        (["{ptx}", "scale", "--grid", "1", "--block", "1x2"], "--block needs"),
        (["--frobnicate"], "unknown or incomplete option: --frobnicate"),
        (["{ptx}", "scale", "--grid"], "unknown or incomplete option: --grid"),
        (["--shared", "lots"], "--shared needs a number of bytes: lots"),
        (["--schedule", "-1"], "--schedule needs a number: -1"),
        (["--steps", "0"], "--steps needs a number above 0: 0"),
        (["--checks", "mem,everything"], "--checks needs all, none, or some of mem,init,race,sync"),
        (["--checks", ""], "--checks needs"),
        (["--dump", "0"], "--dump needs I:FILE"),
        (["--dump", "x:out"], "--dump needs I:FILE"),
        (["--dump", "0:"], "--dump needs I:FILE"),
        (
            ["{ptx}", "scale", "--grid", "1", "--block", "1", "--arg", "i32:1", "--dump", "0:out"],
            "--dump names an argument that is not a buffer",
        ),
        (
            ["{ptx}", "scale", "--grid", "1", "--block", "1", "--dump", "3:out"],
            "--dump names an argument that is not a buffer",
        ),
        (
            ["{ptx}", "scale", "--grid", "1", "--block", "1", "--arg", "i32:1"],
            "scale takes 3 arguments, not 1",
        ),
        (["{ptx}", "nothing", "--grid", "1", "--block", "1"], "has no kernel nothing; it has scale"),
        (
            [
                "{ptx}",
                "scale",
                "--grid",
                "1",
                "--block",
                "1",
                "--arg",
                "i32:1",
                "--arg",
                "f32:1",
                "--arg",
                "u32:1",
            ],
            "argument 0 of scale has 8 bytes; 4 were given",
        ),
        (
            [
                "{ptx}",
                "scale",
                "--grid",
                "1",
                "--block",
                "1",
                "--arg",
                "buf:8:missing.bin",
                "--arg",
                "f32:1",
                "--arg",
                "u32:1",
            ],
            "missing.bin",
        ),
    ],
)
def test_wrong_use(scale: Path, given: list[str], said: str) -> None:
    done = emulate(*(word.format(ptx=scale) for word in given))
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "spec",
    [
        *(
            "buf",
            "buf:",
            "buf:x",
            "buf:-1",
            "buf:1:",
            "buf:99999999999999999999",
            "buf:0x",
            "i32:",
            "i32:1.5",
            "i32:2147483648",
        ),
        *(
            "i32:-2147483649",
            "u32:-1",
            "u32:4294967296",
            "i64:9223372036854775808",
            "u64:18446744073709551616",
            "u64:-1",
        ),
        *("f32:", "f32:one", "f64:1.0x", "i8:128", "float:1", "", ":", "i32: 1"),
    ],
)
def test_wrong_arguments(scale: Path, spec: str) -> None:
    done = emulate(scale, "scale", "--grid", 1, "--block", 1, "--arg", spec)
    assert done.returncode == 2
    assert "--arg needs buf:BYTES[:FILE|:zero], or a type such as i32: and a value" in done.stderr
    assert spec in done.stderr


def test_too_many_arguments(scale: Path) -> None:
    done = emulate(scale, "scale", "--grid", 1, "--block", 1, *(["--arg", "i32:1"] * 65))
    assert done.returncode == 2
    assert "more than 64 arguments" in done.stderr


# ---- Bad files -------------------------------------------------------------------------------------------------
def test_no_file(emulator_built: Path, tmp_path: Path) -> None:
    done = emulate(tmp_path / "none.ptx", "k", "--grid", 1, "--block", 1)
    assert done.returncode == 2
    assert "none.ptx" in done.stderr
    assert "there is no such file" in done.stderr


def test_a_directory_and_a_fifo(emulator_built: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        done = emulate(path, "k", "--grid", 1, "--block", 1)
        assert done.returncode == 2
        assert str(path) in done.stderr


@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"\0" * 64, b"\x7fELF\x02\x01" + bytes(500), b"\xff\xfe\x00 not PTX", b"hello, world\n"],
)
def test_no_ptx(emulator_built: Path, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.ptx"
    path.write_bytes(content)
    done = emulate(path, "k", "--grid", 1, "--block", 1)
    assert done.returncode == 3
    assert done.stderr.startswith("emulate: ")
    assert done.stderr.isprintable() or "\n" in done.stderr
    assert not any(ord(c) < 32 and c != "\n" for c in done.stderr)


def test_a_large_file(emulator_built: Path, tmp_path: Path) -> None:
    path = tmp_path / "large.ptx"
    path.write_bytes(b"// " + b"x" * (100 << 20) + b"\n" + SCALE.encode())
    done = emulate(*arguments(path))
    assert done.returncode == 0, done.stderr[:300]
    with open(path, "r+b") as file:
        file.truncate(1 << 40)
    done = emulate(*arguments(path))
    assert done.returncode == 2
    assert len(done.stderr) < 400


@pytest.mark.parametrize("step", [7])
def test_truncated(emulator_built: Path, tmp_path: Path, step: int) -> None:
    path = tmp_path / "cut.ptx"
    for length in range(len(HEADER) + 40, len(SCALE) - 3, step * 13):
        path.write_text(SCALE[:length])
        done = emulate(*arguments(path))
        assert done.returncode == 3, length
        assert "cut.ptx" in done.stderr


@pytest.mark.parametrize(
    ("words", "opcode"),
    [
        ("multimem.red.global.add.u32 [%a1], %r1;", "multimem"),
        ("frobnicate.u32 %r1, %r1;", "frobnicate"),
        ("mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%f0}, {%r1}, {%r1}, {%f0}, %r1, 0;", "mma"),
        ("ld.global.b128 %r1, [%a1];", "ld"),
    ],
)
def test_unsupported(emulator_built: Path, tmp_path: Path, words: str, opcode: str) -> None:
    path = tmp_path / "new.ptx"
    path.write_text(SCALE.replace("ld.global.f32 %f1, [%a1];", words))
    done = emulate(*arguments(path))
    assert done.returncode == 3
    assert "UNSUPPORTED unsupported at scale.cu:8" in done.stdout
    assert f" {opcode} " in done.stdout


def test_a_variable_too_large_behind_many_others(emulator_built: Path, tmp_path: Path) -> None:
    """The place of an object that could not be made must be as empty as any other's when all are freed."""
    many = "".join(f".visible .global .align 4 .b8 v{i}[4] = {{1, 2, 3, 4}};\n" for i in range(60))
    path = tmp_path / "variables.ptx"
    path.write_text(f"{HEADER}{many}.visible .global .b8 vast[{1 << 40}];\n.visible .entry k() {{ ret; }}\n")
    garbage = os.environ | {"MALLOC_PERTURB_": "165"}  # glibc: fresh memory is full of it
    done = emulate(path, "k", "--grid", 1, "--block", 1, env=garbage)
    assert done.returncode == 3
    assert f"no memory for the variable vast of {1 << 40} bytes" in done.stderr


# ---- A disk that is full, a stdout that is closed --------------------------------------------------------------
def limited(nbytes: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, nbytes))


@pytest.mark.parametrize("option", ["--dump", "--json"])
def test_disk_full(scale: Path, tmp_path: Path, option: str) -> None:
    out = tmp_path / "out"
    out.write_text("kept")
    before = sorted(tmp_path.iterdir())
    done = emulate(
        *arguments(scale, option, f"0:{out}" if option == "--dump" else out), preexec_fn=lambda: limited(64)
    )
    assert done.returncode == 2
    assert "out" in done.stderr
    assert "limit on file sizes" in done.stderr
    assert out.read_text() == "kept", "the old file stays until the new one is whole"
    assert sorted(tmp_path.iterdir()) == before, "nothing half-written is left"


def test_an_unwritable_folder(scale: Path, tmp_path: Path) -> None:
    done = emulate(*arguments(scale, "--dump", f"0:{tmp_path / 'none' / 'out'}", "--json", tmp_path))
    assert done.returncode == 2
    assert done.stderr.count("emulate: ") == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_stdout_that_cannot_be_written(scale: Path) -> None:
    with open("/dev/full", "w") as full:
        done = emulate(*arguments(scale), stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert "cannot write standard output" in done.stderr


def test_stdout_closed(scale: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = subprocess.run(
        ["sh", "-c", '"$0" "$@" >&-', str(COMMAND), *map(str, arguments(scale, "--dump", f"0:{out}"))],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert out.stat().st_size == 400, "what was to be printed went nowhere else"


def test_a_reader_that_goes_away(scale: Path) -> None:
    """As with head: no error, and no hang."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [str(COMMAND), *map(str, arguments(scale))], stdout=writer, stderr=subprocess.PIPE, timeout=30
    )
    os.close(writer)
    assert done.returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="memory limits are Linux's")
@pytest.mark.usefixtures("limited_memory")
def test_out_of_memory(scale: Path) -> None:
    if "sanitize" in str(COMMAND) or "san" in COMMAND.parent.name:
        pytest.skip("a sanitizer needs its address space")
    limit = 512 << 20
    done = emulate(
        *(
            scale,
            "scale",
            "--grid",
            1,
            "--block",
            1,
            "--arg",
            "buf:4000000000",
            "--arg",
            "f32:1",
            "--arg",
            "u32:1",
        ),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert done.returncode in (2, 3)
    assert "no memory for argument 0 of 4000000000 bytes" in done.stderr


# ---- Values, variables, several files --------------------------------------------------------------------------
PARTS = (
    HEADER
    + """.visible .const .align 4 .f32 _ZN1n6factorE[2];
.extern .global .u32 total;
.extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry _Z4pairPf5shape(.param .u64 out, .param .align 8 .b8 s[24]) {
  .reg .b64 %d<4>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b16 %h<2>;
  ld.param.u64 %d0, [out]; ld.param.s8 %h0, [s]; cvt.s32.s16 %r0, %h0; ld.param.u16 %r1, [s+2];
  ld.param.f32 %f0, [s+4]; ld.param.u64 %d1, [s+8]; ld.global.u32 %r2, [%d1];
  ld.const.f32 %f1, [_ZN1n6factorE+4]; mul.f32 %f0, %f0, %f1;
  { .param .b32 a, b; st.param.b32 [a], %r2; call (b), twice, (a); ld.param.b32 %r2, [b]; }
  ld.global.u32 %r4, [total];
  st.global.v4.u32 [%d0], {%r0, %r1, %r2, %r4}; st.global.f32 [%d0+16], %f0; ret; }
"""
)
OTHER = (
    HEADER
    + """.visible .global .u32 total = 77;
.global .u32 hidden = 1;
.visible .func (.param .b32 r) twice(.param .b32 x) {
  .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, %r; st.param.b32 [r], %r; ret; }
.visible .entry other() { ret; }
"""
)


@pytest.fixture
def parts(emulator_built: Path, tmp_path: Path) -> list[Path]:
    for name, text in (("one.ptx", PARTS), ("two.ptx", OTHER)):
        (tmp_path / name).write_text(text)
    return [tmp_path / "one.ptx", tmp_path / "two.ptx"]


SHAPE = ["--grid", 1, "--block", 1]


@pytest.mark.parametrize("name", ["pair", "_Z4pairPf5shape"])
def test_a_struct_a_variable_and_two_files(parts: list[Path], tmp_path: Path, name: str) -> None:
    out = tmp_path / "out.bin"
    number = tmp_path / "number.bin"
    number.write_bytes((21).to_bytes(4, "little"))
    struct = f"i8:-3,u16:60000,f32:1.5,buf:4:{number},i8:0"
    done = emulate(
        *(*parts, name, *SHAPE, "--arg", "buf:20", "--arg", struct),
        *("--set", "factor=f32:1,4", "--dump", f"0:{out}"),
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert np.frombuffer(out.read_bytes(), np.int32)[:4].tolist() == [-3, 60000, 42, 77]
    assert np.frombuffer(out.read_bytes(), np.float32)[4] == 6.0


def test_the_contents_of_files_are_listed(parts: list[Path]) -> None:
    done = emulate(*parts)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "kernel pair (_Z4pairPf5shape)\n  takes float *, shape\n  parameter 0: 8 bytes\n"
        "  parameter 1: 24 bytes\nkernel other\n"
        "__constant__ variable factor (_ZN1n6factorE): 8 bytes\n__device__ variable total: 4 bytes\n"
        "__device__ variable hidden: 4 bytes\n"
    )


def test_a_file_alone_lacks_what_it_declares_only_where_that_is_reached(parts: list[Path]) -> None:
    assert emulate(parts[1], "other", *SHAPE).returncode == 0
    done = emulate(parts[0], "pair", *SHAPE, "--arg", "buf:20", "--arg", "i8:1,u16:1,f32:1,buf:4:zero,u64:0")
    assert done.returncode == 3
    assert "a call of twice, which this file only declares" in done.stdout


def test_names_that_are_not_visible_belong_to_their_file(emulator_built: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.ptx").write_text(
            HEADER
            + f".global .u32 mine = {number};\n"
            + f".visible .entry k{number}(.param .u64 out) {{ .reg .b64 %d; .reg .b32 %r; "
            + "ld.param.u64 %d, [out]; ld.global.u32 %r, [mine]; st.global.u32 [%d], %r; ret; }\n"
            + ".weak .entry both() { ret; }\n"
        )
    for number in (1, 2):
        out = tmp_path / "out.bin"
        files = [tmp_path / "1.ptx", tmp_path / "2.ptx"]
        done = emulate(*files, f"k{number}", *SHAPE, "--arg", "buf:4", "--dump", f"0:{out}")
        assert done.returncode == 0, done.stderr
        assert out.read_bytes() == bytes([number, 0, 0, 0])
    done = emulate(tmp_path / "1.ptx", tmp_path / "1.ptx", "k1", *SHAPE, "--arg", "buf:4")
    assert done.returncode == 3
    assert "'k1' is defined twice" in done.stderr


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("i8:-128", b"\x80"),
        ("u8:255", b"\xff"),
        ("i16:-2", b"\xfe\xff"),
        ("u16:0xffff", b"\xff\xff"),
        ("f16:1.5", b"\x00\x3e"),
        ("bf16:-2", b"\x00\xc0"),
        ("bytes:00ff10", b"\x00\xff\x10"),
        ("u8:1,2,3", b"\1\2\3"),
        ("u8:1,u32:2", b"\1\0\0\0\2\0\0\0"),
    ],
)
def test_values_of_a_variable(emulator_built: Path, tmp_path: Path, spec: str, value: bytes) -> None:
    ptx, out = tmp_path / "v.ptx", tmp_path / "out.bin"
    code = "".join(f"ld.global.u8 %r, [v+{i}]; st.global.u8 [%d+{i}], %r; " for i in range(len(value)))
    ptx.write_text(
        f"{HEADER}.global .align 8 .b8 v[8];\n.visible .entry k(.param .u64 out) {{ .reg .b64 %d; .reg .b32 %r; "
        f"ld.param.u64 %d, [out]; {code} ret; }}"
    )
    done = emulate(ptx, "k", *SHAPE, "--arg", f"buf:{len(value)}", "--set", f"v={spec}", "--dump", f"0:{out}")
    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == value


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("v", "--set needs NAME=TYPE:VALUE"),
        ("v=", "--set needs NAME=TYPE:VALUE"),
        ("v=i8:128", "--set needs NAME=TYPE:VALUE"),
        ("v=5", "--set needs NAME=TYPE:VALUE"),
        ("v=bytes:0", "--set needs NAME=TYPE:VALUE"),
        ("v=word:1", "--set needs NAME=TYPE:VALUE"),
        ("w=i8:1", "there is no variable w, or more than one"),
        ("total=u32:1,2", "total has 4 bytes; 8 were given"),
    ],
)
def test_wrong_settings(parts: list[Path], setting: str, said: str) -> None:
    done = emulate(parts[1], "other", *SHAPE, "--set", setting)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_plain_name_of_several_kernels_is_not_enough(emulator_built: Path, tmp_path: Path) -> None:
    ptx = tmp_path / "k.ptx"
    ptx.write_text(HEADER + ".visible .entry _Z1ki() { ret; }\n.visible .entry _Z1kf() { ret; }\n")
    done = emulate(ptx, "k", *SHAPE)
    assert done.returncode == 2
    assert "has several kernels k; it has _Z1ki _Z1kf" in done.stderr
    assert emulate(ptx, "_Z1kf", *SHAPE).returncode == 0
