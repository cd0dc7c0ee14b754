"""common/gpu: the device interface, over a driver in host memory (fake_libcuda.c) and over the emulator."""

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from emulator import FINDINGS
from native_build import COMMON, SUPPORT, build

Probe = Callable[..., list[str]]


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory, built: Path, cuda_include: Path) -> Path:
    folder = tmp_path_factory.mktemp("gpu")
    headers = ("-isystem", str(cuda_include))
    native = built / "tests/native"
    build(folder / "libfake.so", [native / "fake_libcuda.c"], "-shared", "-fPIC", *headers, sanitize=False)
    build(folder / "libnvml.so", [native / "fake_libnvml.c"], "-shared", "-fPIC", sanitize=False)
    old = ["-DcuFuncLoad=none_a", "-DcuFuncGetParamInfo=none_b"]
    build(
        folder / "libold.so", [native / "fake_libcuda.c"], "-shared", "-fPIC", *headers, *old, sanitize=False
    )
    gpu = sorted((COMMON / "gpu").glob("*.c"))
    emulator = built / "build/lib/libemulator.a"
    build(
        folder / "probe",
        [native / "gpu_probe.c", *gpu, *SUPPORT, emulator],
        *headers,
        "-lpthread",
        sanitize=False,
    )
    return folder


@pytest.fixture
def probe(programs: Path) -> Probe:
    """Runs commands of gpu_probe.c and returns a line for each."""

    def run(*commands: str, library: str = "libfake.so", **variables: str) -> list[str]:
        done = subprocess.run(
            [programs / "probe", *(word for command in commands for word in shlex.split(command))],
            env={
                **os.environ,
                "WARPBOOK_LIBCUDA": str(programs / library),
                "WARPBOOK_LIBNVML": str(programs / "libnvml.so"),
                **variables,
            },
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()

    return run


START = ("open gpu", "allocate 1000 0", "load 'fill past_end far_past before count greedy'")


def test_a_gpu_is_found_and_described(probe: Probe) -> None:
    present, opened, info = probe("present", "open gpu", "info")
    assert present.startswith("ok")
    assert opened == "ok 2 Fake GPU"
    assert info == "ok 9.0 sm 4 block 1024 grid 2147483647,65535 peak 128.0 memory 1073741824"


def test_auto_takes_the_gpu_or_else_the_emulator(probe: Probe) -> None:
    assert probe("open auto") == ["ok 2 Fake GPU"]
    assert probe("open auto", library="none.so") == ["ok 1 NVIDIA H200"]
    assert probe("open auto", FAKE_CUDA_NONE="1") == ["ok 1 NVIDIA H200"]
    assert probe("open auto", library="none.so", PROFILE="rtx-5090") == ["ok 1 NVIDIA GeForce RTX 5090"]


def test_no_driver_or_no_device_is_the_machines_matter(probe: Probe) -> None:
    (missing,) = probe("open gpu", library="none.so")
    assert missing.startswith("no 0 machine: there is no NVIDIA driver")
    (none,) = probe("open gpu", FAKE_CUDA_NONE="1")
    assert none.startswith("no 0 machine")
    (broken,) = probe("open gpu", FAKE_CUDA_FAIL="cuInit:999")
    assert broken.startswith("no 0 machine")
    assert "CUDA_ERROR_999" in broken
    assert probe("present", library="none.so")[0].startswith("no there is no NVIDIA driver")
    assert probe("present", FAKE_CUDA_FAIL="cuInit:803") == ["no error number 803"]


def test_asking_for_a_gpu_starts_nothing_in_this_process(probe: Probe) -> None:
    assert probe("present", "held")[1].startswith("ok allocations 0 modules 0 streams 0 events 0 contexts 0")


@pytest.mark.parametrize(
    ("size", "misalignment"), [(0, 0), (1, 0), (1000, 4), (1000, 12), (7, 255), (1 << 21, 8)]
)
def test_memory_is_written_read_and_filled(probe: Probe, size: int, misalignment: int) -> None:
    said = probe("open gpu", f"allocate {size} {misalignment}", "fill 04030201", "read", "guards", "free")
    expected = ("01020304" * (size // 4 + 1))[: 2 * size][-64:] if size else ""
    assert said[1:] == [f"ok past {misalignment}", "ok", f"ok {expected}".strip(), "ok", "ok"]


def test_a_range_outside_a_buffer_is_refused(probe: Probe) -> None:
    said = probe("open gpu", "allocate 4 0", "write hello", "write hell", "read", "read_outside")
    assert said[2].startswith("no 0: bytes 0 to 5 lie outside the buffer data of 4 bytes")
    assert said[3:5] == ["ok", "ok 68656c6c"]
    assert said[5].startswith("no 0: bytes 4 to 5")


@pytest.mark.parametrize(("kernel", "index"), [("past_end", 1000), ("far_past", 5000), ("before", -1)])
@pytest.mark.parametrize("misalignment", [0, 4])
def test_guard_bands_tell_what_was_written_outside(
    probe: Probe, kernel: str, index: int, misalignment: int
) -> None:
    start = ("open gpu", f"allocate 1000 {misalignment}", f"load '{kernel} fill'")
    said = probe(*start, "find fill", "launch 1 32 0", "guards", f"find {kernel}", "launch 1 32 0", "guards")
    assert said[5] == "ok"
    damage = f"at {index} no {FINDINGS.index('OUT_OF_BOUNDS')}: the kernel wrote outside the buffer data"
    assert said[-1].startswith(damage)


def test_everything_is_given_back(probe: Probe) -> None:
    said = probe(*START, "find fill", "time", "held", "close", "held")
    assert said[-3] == "ok allocations 1 modules 1 streams 1 events 0 contexts 1 printf 0 stack 0"
    assert said[-1] == "ok allocations 0 modules 0 streams 0 events 0 contexts 0 printf 0 stack 0"


def test_limits_are_set(probe: Probe) -> None:
    assert probe("open gpu", "limits 65536 4096", "held")[-1].endswith("printf 65536 stack 4096")


def test_a_kernel_is_found_launched_and_timed(probe: Probe) -> None:
    said = probe(*START, "find fill", "parameters", "launch 4 32 0", "read", "guards", "time", "find none")
    assert said[3:] == [
        "ok 24 registers",
        "ok 0+8 8+8",
        "ok",
        "ok " + "07" * 32,
        "ok",
        "ok 0.000500 s",
        "no 0: there is no kernel none in the image",
    ]


def test_an_older_driver_does_without_what_it_lacks(probe: Probe) -> None:
    said = probe(*START, "find fill", "parameters", "launch 1 32 0", library="libold.so")
    assert said[3:] == ["ok 24 registers", "unknown", "ok"]


def test_module_variables_start_afresh(probe: Probe) -> None:
    start = ("open gpu", "allocate 4 0", "load 'count .global .u32 x'", "find count")
    said = probe(*start, "launch 1 1 0", "launch 1 1 0", "read", "reset", "launch 1 1 0", "read")
    assert [line for line in said if line.startswith("ok 0")] == ["ok 02000000", "ok 01000000"]


def test_an_image_without_variables_is_not_loaded_again(probe: Probe) -> None:
    start = ("open gpu", "allocate 4 0", "load 'count ld.global.u32'", "find count")
    assert probe(*start, "reset", "held", FAKE_CUDA_FAIL="cuModuleLoadDataEx:999:2")[4] == "ok"
    start = ("open gpu", "allocate 4 0", "load 'count .global .u32 x'", "find count")
    assert probe(*start, "reset", FAKE_CUDA_FAIL="cuModuleLoadDataEx:999:2")[4].startswith("no 0 machine")


@pytest.mark.parametrize(
    ("code", "finding"),
    [
        (700, "OUT_OF_BOUNDS"),
        (716, "MISALIGNED"),
        (717, "WRONG_SPACE"),
        (702, "STEP_LIMIT"),
        (710, "ASSERT"),
        (715, "TRAP"),
        (719, "TRAP"),
        (714, "STACK_OVERFLOW"),
        (718, "BAD_CALL"),
    ],
)
def test_a_fault_is_a_finding_and_costs_the_context(probe: Probe, code: int, finding: str) -> None:
    start = ("open gpu", "allocate 16 0", f"load 'fault_{code} fill'")
    after = ("read", "free", "close", "held", *start, "find fill", "launch 1 32 0", "read")
    said = probe(*start, f"find fault_{code}", "launch 1 32 0", *after)
    assert said[4].startswith(f"no {FINDINGS.index(finding)} lost: ")
    assert f"CUDA_ERROR_{code}" in said[4]
    assert said[5].startswith("no 0 lost machine: the GPU's context was lost by an earlier fault")
    assert said[6:8] == ["ok", "ok"]
    assert said[8].startswith("ok allocations 0 modules 0 streams 0 events 0 contexts 0")
    assert said[-2:] == ["ok", "ok " + "07" * 16]


def test_too_few_resources_leave_the_context_whole(probe: Probe) -> None:
    start = ("open gpu", "allocate 16 0", "load 'fault_701 fill'")
    said = probe(*start, "find fault_701", "launch 1 32 0", "find fill", "launch 1 32 0")
    assert said[4].startswith(f"no {FINDINGS.index('RESOURCE')}: ")
    assert said[-1] == "ok"


@pytest.mark.parametrize(
    ("shape", "finding", "words"),
    [
        ("0 32 0", "BAD_LAUNCH", "grid.x is 0; it must be from 1 to 2147483647"),
        ("2147483648 32 0", "BAD_LAUNCH", "grid.x is 2147483648"),
        ("1 0 0", "BAD_LAUNCH", "block.x is 0; it must be from 1 to 1024"),
        ("1 1025 0", "BAD_LAUNCH", "block.x is 1025"),
        ("1 32 240000", "BAD_LAUNCH", "a block needs 241024 bytes of shared memory; the GPU has 232448"),
        ("1 129 0", "RESOURCE", "at most 128 threads (24 registers each"),
    ],
)
def test_a_bad_shape_is_explained(probe: Probe, shape: str, finding: str, words: str) -> None:
    said = probe(*START, "find greedy", f"launch {shape}")
    assert said[-1].startswith(f"no {FINDINGS.index(finding)}: ")
    assert words in said[-1]


def test_large_shared_memory_is_asked_for(probe: Probe) -> None:
    assert probe(*START, "find fill", "launch 1 32 100000")[-1] == "ok"


@pytest.mark.parametrize(
    "entry", ["cuMemAlloc_v2", "cuMemsetD32Async", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2"]
)
def test_a_call_that_fails_is_the_machines_fault(probe: Probe, entry: str) -> None:
    said = probe(
        "open gpu", "allocate 4 0", "write abcd", "read", "fill 0", "guards", FAKE_CUDA_FAIL=f"{entry}:2"
    )
    assert any(line.startswith("no 0 machine") for line in said)


def test_no_room_on_the_gpu(probe: Probe) -> None:
    said = probe("open gpu", f"allocate {1 << 32} 0", "read", "free")
    assert "the GPU does not have enough memory for 4294967296 bytes (buffer data)" in said[1]
    assert said[2:] == ["no 0: the buffer data is not allocated", "ok"]


def test_an_image_that_does_not_load(probe: Probe) -> None:
    bad = probe("open gpu", "load 'bad syntax error in line 3'")
    assert bad[1] == "no 0: kernel.ptx is not an image for compute capability 9.0: syntax error in line 3"
    much = probe("open gpu", "load 'bad Entry function k uses too much shared data'")
    assert much[1].startswith(f"no {FINDINGS.index('RESOURCE')}: ")


# ---- The emulator behind the same interface ------------------------------------------------------------------

PTX = """.version 9.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 p, .param .u64 n)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, 1145258561;
    st.global.u32 [%rd2], %r1;
    ret;
}
.visible .entry outside(.param .u64 p, .param .u64 n)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd3, [n];
    add.s64 %rd1, %rd1, %rd3;
    mov.u32 %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}
"""


LOAD_PTX = f"load {shlex.quote(PTX)}"


def test_the_emulator_answers_the_same_calls(probe: Probe) -> None:
    start = ("open emulator", "allocate 8 4", "fill 0", LOAD_PTX, "find store", "parameters")
    said = probe(*start, "launch 1 1 0", "read", "guards", "reset", "limits 1 1", "time", "free")
    assert said[1:4] == ["ok past 4", "ok", "ok"]
    assert said[5:10] == ["ok 0+8 8+8", "ok", "ok 4142434400000000", "ok", "ok"]
    assert said[11].startswith("no 0: the emulator does not measure times")
    assert said[12] == "ok"


def test_the_emulators_findings_are_errors(probe: Probe) -> None:
    said = probe("open emulator", "allocate 8 0", LOAD_PTX, "find outside", "launch 1 1 0")
    assert said[-1].startswith(f"no {FINDINGS.index('OUT_OF_BOUNDS')}: ")
    assert probe("open emulator", "load nonsense")[1].startswith("no 0: ")
    assert probe("open emulator", LOAD_PTX, "find none")[-1] == "no 0: there is no kernel none in the image"


def test_profiles_are_found_by_any_spelling(probe: Probe) -> None:
    for name, full in [
        ("h200", "NVIDIA H200"),
        ("RTX5070TI", "NVIDIA GeForce RTX 5070 Ti"),
        ("nvidia geforce rtx 5060", "NVIDIA GeForce RTX 5060"),
        ("l4", "NVIDIA L4"),
        ("t4", "Tesla T4"),
        ("a100", "NVIDIA A100-SXM4-80GB"),
        ("h100", "NVIDIA H100 SXM"),
    ]:
        assert probe("open emulator", PROFILE=name) == [f"ok 1 {full}"]
    (unknown,) = probe("open emulator", PROFILE="voodoo")
    assert "no device profile is called voodoo; there are: H200, H100" in unknown


def test_a_profiles_bandwidth_is_that_of_its_clock_and_bus(tmp_path: Path) -> None:
    source = tmp_path / "profiles.c"
    source.write_text(
        """#include <stdio.h>
        #include "gpu/profiles.h"
        int main(void) {
            for (const GpuProfile *p = gpu_profiles; p < gpu_profiles + gpu_profile_count; p++) {
                const GpuInfo *info = &p->info;
                printf("%d %d ", info->memory_clock_khz, info->memory_bus_bits);
                printf("%f %d\\n", info->peak_gb_per_s, p->is_measured);
            }
        }"""
    )
    program = build(
        tmp_path / "profiles", [source, COMMON / "gpu/profiles.c", COMMON / "emulator/model/device.c"]
    )
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(lines) == 15
    for line in lines:
        clock, bus, peak, _ = line.split()
        assert 2e-6 * int(clock) * int(bus) / 8 == pytest.approx(float(peak), rel=0.002)
    assert [line.split()[3] for line in lines] == ["1"] * 2 + ["0"] * 13


# ---- Times and clocks ----------------------------------------------------------------------------------------


def test_two_images_live_side_by_side(probe: Probe) -> None:
    start = ("open gpu", "allocate 16 0", "load 'fill .global .u32 x'", "find fill", "beside 'count'")
    said = probe(*start, "launch 1 32 0", "read", "reset", "launch 1 32 0", "held")
    assert said[4:9] == ["ok", "ok", "ok " + "07" * 16, "ok", "ok"]
    assert "modules 2" in said[9]


def test_the_emulator_holds_two_images(probe: Probe) -> None:
    said = probe("open emulator", LOAD_PTX, f"beside {shlex.quote(PTX)}")
    assert said[2] == "ok"


@pytest.mark.parametrize("size", [0, 1, 6, 4096, 4099])
def test_memory_is_filled_without_waiting(probe: Probe, size: int) -> None:
    said = probe("open gpu", f"allocate {size} 0", "fill_async 04030201", "read", "guards")
    expected = ("01020304" * (size // 4 + 1))[: 2 * size][-64:]
    assert said[2:] == ["ok", f"ok {expected}".strip(), "ok"]


def test_a_misaligned_buffer_is_not_filled_that_way(probe: Probe) -> None:
    said = probe("open gpu", "allocate 100 2", "fill_async 0")
    assert said[2] == "no 0: the buffer data is misaligned"


def test_the_architecture_is_asked_in_another_process(probe: Probe) -> None:
    assert probe("architecture", "held")[0] == "90"
    assert probe("architecture", FAKE_CUDA_NONE="1")[0].startswith("0 ")
    assert probe("architecture", library="none.so")[0].startswith("0 there is no NVIDIA driver")


@pytest.mark.parametrize(
    ("variables", "answer"),
    [
        ({}, "free"),
        ({"FAKE_NVML_REASONS": "0x1"}, "free"),  # idle
        ({"FAKE_NVML_REASONS": "0x4"}, "held its power limit"),
        ({"FAKE_NVML_REASONS": "0x8"}, "held the hardware's protection"),
        ({"FAKE_NVML_REASONS": "0x20"}, "held heat (by software)"),
        ({"FAKE_NVML_REASONS": "0x41"}, "held heat (by hardware)"),
        ({"FAKE_NVML_REASONS": "0x80"}, "held the power supply's brake"),
        ({"FAKE_NVML_FAIL": "init"}, "unknown libnvidia-ml.so.1 does not start"),
        ({"FAKE_NVML_FAIL": "handle"}, "unknown libnvidia-ml.so.1 does not find the device 0000:00:1f.0"),
        ({"FAKE_NVML_FAIL": "reasons"}, "unknown libnvidia-ml.so.1 does not report it for this device"),
        ({"WARPBOOK_LIBNVML": "none.so"}, "unknown there is no libnvidia-ml.so.1"),
        ({"FAKE_CUDA_FAIL": "cuDeviceGetPCIBusId:1"}, "unknown the driver does not report the device's bus"),
    ],
)
def test_what_the_clocks_do(probe: Probe, variables: dict[str, str], answer: str) -> None:
    assert probe("open gpu", "clocks", "clocks", **variables)[1:] == [answer, answer]


def test_the_emulator_has_no_clocks(probe: Probe) -> None:
    assert probe("open emulator", "clocks")[1] == "unknown the emulator has no clocks"


# ---- A whole chapter over the driver in host memory ----------------------------------------------------------

Chapter = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def chapter(programs: Path, built: Path, tmp_path: Path) -> Chapter:
    """Runs chapter 7's program on the fake GPU; its result is in result.json."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        kernel = built / "solutions/ch07_float4/kernel.cu"
        return subprocess.run(
            [
                built / "build/programs/ch07",
                "--device",
                "gpu",
                "--json",
                "result.json",
                "--kernel",
                kernel,
                *arguments,
            ],
            cwd=tmp_path,
            env={
                **os.environ,
                "WARPBOOK_LIBCUDA": str(programs / "libfake.so"),
                "WARPBOOK_LIBNVML": str(programs / "libnvml.so"),
                **variables,
            },
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


def test_a_chapter_is_timed_through_the_driver(chapter: Chapter, tmp_path: Path) -> None:
    done = chapter("--n", "1000000", FAKE_CUDA_SPEED="90", FAKE_CUDA_REFERENCE_SPEED="100")
    assert done.returncode == 1, done.stdout + done.stderr  # 90 % of the reference is SLOW
    result = json.loads((tmp_path / "result.json").read_text())
    bandwidth = result["bandwidth"]
    assert (result["verdict"], result["device"]["name"]) == ("SLOW", "Fake GPU")
    assert bandwidth["ratio"] == pytest.approx(0.9, abs=0.002)
    assert bandwidth["gb_per_s"] == pytest.approx(90, rel=0.01)
    assert bandwidth["read_ceiling_gb_per_s"] == pytest.approx(100, rel=0.01)
    assert bandwidth["peak_gb_per_s"] == 128
    assert bandwidth["reference"] == "solutions/ch07_float4/kernel.cu"
    assert bandwidth["throttle"] == "watched"
    assert result["build"]["ptx_arch"] == 90
    assert any("beside" in case for case in result["cases"])


def test_a_gpu_newer_than_the_compiler_gets_ptx_for_an_older_one(chapter: Chapter, tmp_path: Path) -> None:
    done = chapter("--time", "1000", FAKE_CUDA_CAPABILITY="770")
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["device"]["compute_capability"], result["build"]["ptx_arch"]) == ("77.0", 80)


def test_ptx_for_a_newer_gpu_is_built_anew_for_this_one(
    chapter: Chapter, built: Path, tmp_path: Path
) -> None:
    compiler, source = built / "build/bin/compile", built / "solutions/ch07_float4/kernel.cu"
    subprocess.run([compiler, source, tmp_path / "image"], cwd=built, check=True, capture_output=True)
    for capability, architecture in (("75", 75), ("90", 80)):
        image = str(tmp_path / "image/kernel.ptx")
        done = chapter("--time", "1000", "--kernel", image, FAKE_CUDA_CAPABILITY=capability)
        assert done.returncode == 0, done.stdout + done.stderr
        result = json.loads((tmp_path / "result.json").read_text())
        assert result["build"]["ptx_arch"] == architecture


def test_a_kernel_against_itself(chapter: Chapter, built: Path, tmp_path: Path) -> None:
    kernel = built / "solutions/ch07_float4/kernel.cu"
    done = chapter("--against", str(kernel), "--time", "1000,1000000", "--gpu", "H200")
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert [timing["ratio"] for timing in result["timings"]] == [pytest.approx(1)] * 2
    assert result["timings"][0]["reference"] == str(kernel)
    assert result["options"]["against"] == str(kernel)
    assert result["timings"][0]["launches_per_sample"] == 32


def test_a_reference_that_is_not_there_is_wrong_usage(chapter: Chapter) -> None:
    done = chapter("--against", "nowhere.cu")
    assert done.returncode == 2
    assert "nowhere.cu does not compile" in done.stderr
    assert chapter("--against", "nowhere.ptx").returncode == 2


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"FAKE_CUDA_FAIL": "cuEventRecord:999:9"}, "not timed: the NVIDIA driver could not record a time"),
        (
            {"FAKE_CUDA_FAIL": "cuEventElapsedTime:999:40"},
            "not timed: the NVIDIA driver could not read a timer",
        ),
        ({"FAKE_CUDA_FAIL": "cuEventCreate:2"}, "not timed: "),
        pytest.param(
            {"FAKE_NVML_REASONS": "0x40"},
            "the clocks were throttled by heat (by hardware) in all",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_events_that_fail_cost_no_verdict(chapter: Chapter, variables: dict[str, str], words: str) -> None:
    done = chapter("--time", "1000", **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert words in " ".join(done.stdout.split())
