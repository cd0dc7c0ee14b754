"""./chNN --trace and emulate --trace: what is recorded is what was counted, whole, in order, and within its bound."""

import json
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from whole_kernels import kernel_file

from grader.core.workbook import Workbook

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "trace.schema.json").read_text()))
EXAMPLE = ROOT / "tests" / "data" / "trace" / "sum_block.json"
WORKBOOK = Workbook(ROOT)
PROGRAMS = [one.folder.name for one in WORKBOOK.chapters if WORKBOOK.is_program(one)]
CHAPTERS = [one.folder.name for one in WORKBOOK.chapters if one.folder.name not in PROGRAMS]
BOUND = 256 * 1024  # of one kernel
# More than a record holds: every lane has its own addresses, or a block of 32 warps several rounds.
LONG = {"ch15_histogram", "ch16_scan", "ch17_stencil", "ch19_matrix_multiply"}
ACCESSES = ("load", "store", "atom", "red")

Trace = dict[str, Any]
Kernel = dict[str, Any]


def run(chapter: str, *arguments: object, status: int | None = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [ROOT / "build" / "programs" / chapter, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return done


def read(path: Path) -> Trace:
    trace: Trace = json.loads(path.read_text())
    SCHEMA.validate(trace)
    return trace


def trace_of(chapter: str, kernel: Path, folder: Path, *more: object, status: int = 0) -> Trace:
    file = folder / "trace.json"
    run(chapter, "--kernel", kernel, "--trace-only", file, *more, status=status)
    return read(file)


def wrong(chapter: str, name: str) -> Path:
    return kernel_file(f"wrong/{chapter}/{name}")


def kernels(trace: Trace) -> list[Kernel]:
    return [kernel for task in trace["tasks"] for kernel in task["kernels"]]


# ---- What the events add up to -----------------------------------------------------------------------------------
def summed(kernel: Kernel) -> Counter[str]:
    """The counters that accesses, shuffles and barriers make up."""
    sums: Counter[str] = Counter()
    for event in kernel["events"]:
        at = kernel["instructions"][event["at"]]
        kind, space = at["kind"], at.get("space")
        word = {"load": "ld", "store": "st"}.get(kind, kind)
        lanes = event.get("mask", 0).bit_count()
        if kind == "barrier":
            sums["barriers"] += sum(mask != 0 for mask in event["masks"])
        elif kind in ("shuffle", "vote", "match", "redux", "warp_barrier", "fence"):
            plural = {"match": "matches", "redux": "reductions"}.get(kind, f"{kind}s")
            sums[plural] += 1
        elif space == "shared":
            word = "atom" if kind in ("atom", "red") else word
            sums[f"shared_{word}"] += event["requests"]
            sums[f"shared_{word}_wavefronts"] += event["wavefronts"]
            if word != "atom":
                sums[f"shared_{word}_conflicts"] += event["conflicts"]
        elif space == "const":
            sums["const_ld"] += event["requests"]
        else:
            sums[f"{space}_{word}_requests"] += event["requests"]
            sums[f"{space}_{word}_sectors"] += event["sectors"]
            if space == "global" and word in ("ld", "st"):
                sums[f"global_{word}_bytes"] += lanes * at["bytes"]
        sums["atomic_max_lanes"] = max(sums["atomic_max_lanes"], event.get("most_lanes", 0))
    return sums


RECORDED = (
    *(f"global_{w}_{what}" for w in ("ld", "st") for what in ("requests", "sectors", "bytes")),
    *(f"global_{w}_{what}" for w in ("red", "atom") for what in ("requests", "sectors")),
    *(f"local_{w}_{what}" for w in ("ld", "st") for what in ("requests", "sectors")),
    *("shared_ld", "shared_st", "shared_atom", "shared_atom_wavefronts", "const_ld"),
    *(f"shared_{w}_{what}" for w in ("ld", "st") for what in ("wavefronts", "conflicts")),
    *(
        "shuffles",
        "votes",
        "matches",
        "reductions",
        "warp_barriers",
        "fences",
        "barriers",
        "atomic_max_lanes",
    ),
)


def check_sums(kernel: Kernel) -> None:
    sums = summed(kernel)
    assert {name: sums[name] for name in RECORDED} == {name: kernel["counters"][name] for name in RECORDED}


# ---- The writer of what is read
# -----------------------------------------------------------------------------------
def offset_of(event: Trace, lane: int) -> int:
    offset: int = event["offsets"][lane] if "offsets" in event else event["offset"] + lane * event["step"]
    return offset


def lanes_of(mask: int) -> list[int]:
    return [lane for lane in range(32) if mask >> lane & 1]


def check_sources(kernel: Kernel) -> None:
    """Every source wrote bytes that are read, and is another thread."""
    events, table = kernel["events"], kernel["instructions"]
    for index, event in enumerate(events):
        at = table[event["at"]]
        for source, mask, shift in event.get("sources", []):
            writer = events[source]
            written = table[writer["at"]]
            assert written["kind"] in ACCESSES[1:]
            assert at["kind"] in ("load", "atom", "red")
            assert writer["object"] == event["object"]
            assert source < index or at["kind"] != "load"
            assert mask & ~event["mask"] == 0
            if at["space"] == "shared":
                assert writer["block"] == event["block"]
            for lane in lanes_of(mask):
                assert writer["mask"] >> (lane + shift) & 1
                here, there = offset_of(event, lane), offset_of(writer, lane + shift)
                assert here < there + written["bytes"]
                assert there < here + at["bytes"]
                assert (writer["block"], writer["warp"], lane + shift) != (
                    event["block"],
                    event["warp"],
                    lane,
                )


def check_order(kernel: Kernel) -> None:
    """Iterations count up from 0, and all events are of warps that are listed."""
    seen: Counter[object] = Counter()
    warps = {(warp["block"], warp["warp"]) for warp in kernel["warps"]}
    lanes = {(warp["block"], warp["warp"]): warp["lanes"] for warp in kernel["warps"]}
    for event in kernel["events"]:
        at = kernel["instructions"][event["at"]]
        key = (
            *(event["block"], event.get("warp"), event.get("object")),
            *(at["kind"], at["file"], at["line"], at["column"], at.get("space"), at.get("bytes")),
            None if at["line"] else event["at"],
        )
        assert event["iteration"] == seen[key]
        seen[key] += 1
        place = (event["block"], event.get("warp", 0))
        assert place in warps
        assert event.get("mask", 0) & ~lanes[place] == 0


def threads_that_reach(kernel: Kernel, buffer: str) -> dict[int, set[int]]:
    """By element of `buffer`: the threads of whose loads from "in" its value is made, as the events tell."""
    carried: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    stored: dict[tuple[int, int], set[int]] = {}
    elements: dict[int, set[int]] = {}
    for index, event in enumerate(kernel["events"]):
        at, block = kernel["instructions"][event["at"]], event["block"]
        if "mask" not in event:
            continue
        name = kernel["objects"][event["object"]]["name"] if "object" in event else None
        first = 32 * event["warp"]
        before = {lane: set(carried[block, first + lane]) for lane in range(32)}
        for lane in lanes_of(event["mask"]):
            mine = carried[block, first + lane]
            if at["kind"] == "shuffle":
                mine |= before[event["from"][lane]]
            elif at["kind"] == "load" and name == "in":
                mine.add(block * 1024 + first + lane)
            elif at["kind"] == "load":
                for source, mask, shift in event.get("sources", []):
                    if mask >> lane & 1:
                        mine |= stored[source, lane + shift]
            elif at["kind"] == "store":
                stored[index, lane] = set(mine)
                if name == buffer:
                    elements[offset_of(event, lane) // 4] = set(mine)
    return elements


# ---- The format --------------------------------------------------------------------------------------------------
def test_the_example_is_what_the_schema_and_its_own_counters_say() -> None:
    trace = read(EXAMPLE)
    for kernel in kernels(trace):
        check_sums(kernel)
        check_sources(kernel)
        check_order(kernel)
        threads = threads_that_reach(kernel, "partial")
        assert threads == {0: set(range(64)), 1: {1024 + t for t in range(33)}}


# ---- Every chapter -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("folder", CHAPTERS)
@pytest.mark.by_turns
def test_a_solved_chapter_is_recorded_whole_and_as_counted(built: Path, folder: str, tmp_path: Path) -> None:
    chapter, solution = folder[:4], ROOT / "solutions" / folder / "kernel.cu"
    trace = trace_of(chapter, solution, tmp_path)
    assert trace["chapter"] == chapter
    assert trace["source"]["text"] == solution.read_text()
    assert {task["verdict"] for task in trace["tasks"]} == {"PASS"}
    files = {row["file"] for kernel in kernels(trace) for row in kernel["instructions"]}
    assert files == {trace["source"]["file"]}
    for kernel in kernels(trace):
        assert len(json.dumps(kernel, separators=(",", ":"))) <= BOUND
        if kernel["truncated"] and folder in LONG:
            # A warp of chapter 19's last kernel has a thousand events, and fills the room by itself.
            assert kernel["truncated"]["warps_kept"] >= (1 if folder.startswith("ch19") else 4)
        else:
            assert kernel["truncated"] is None
            check_sums(kernel)
        check_sources(kernel)
        check_order(kernel)
    # The same numbers as in the result. At such a size goals are missed, and other tasks have no case.
    compared = set()  # a table's task is in every one of the runs
    for n in sorted({task["case"]["n"] for task in trace["tasks"]}):
        file = tmp_path / "result.json"
        run(
            chapter,
            *("--kernel", solution, "--n", n, "--schedules", 0, "--json", file, "--quiet"),
            status=None,
        )
        counters = json.loads(file.read_text())["counters"]
        for task in trace["tasks"]:
            if counters.get(task["task"], {}).get("n") != task["case"]["n"]:
                continue
            for kernel in task["kernels"]:
                counted = counters[task["task"]]["kernels"][kernel["name"]]
                assert counted["counts"] == kernel["counters"]
                assert (counted["grid"], counted["block"]) == (kernel["grid"], kernel["block"])
                compared.add((task["task"], kernel["name"]))
    assert len(compared) == len(kernels(trace))


@pytest.mark.parametrize("folder", PROGRAMS)
@pytest.mark.usefixtures("nvcc")
def test_the_record_of_a_whole_program_names_its_timeline(built: Path, folder: str, tmp_path: Path) -> None:
    trace = trace_of(folder[:4], ROOT / "solutions" / folder / "kernel.cu", tmp_path)
    assert trace["message"] == "a whole program has a timeline instead"
    assert kernels(trace) == []


@pytest.mark.parametrize("folder", ["ch03_tree_reduction", "ch05_shared_memory", "ch07_float4"])
def test_the_tree_is_there(built: Path, folder: str, tmp_path: Path) -> None:
    """Following stores, loads and shuffles from "in" to "partial" meets every thread of the block."""
    trace = trace_of(folder[:4], ROOT / "solutions" / folder / "kernel.cu", tmp_path)
    kernel = kernels(trace)[0]
    assert kernel["grid"][0] >= 2
    reached = threads_that_reach(kernel, "partial")
    whole = {
        block: {block * 1024 + t for t in range(kernel["block"][0])} for block in range(kernel["grid"][0])
    }
    assert reached == whole


def test_n_is_chosen_by_the_chapter_or_the_command_line(built: Path, tmp_path: Path) -> None:
    solution = ROOT / "solutions" / "ch03_tree_reduction" / "kernel.cu"
    case = trace_of("ch03", solution, tmp_path)["tasks"][0]["case"]
    assert case["n"] == 1024
    assert case["why"].endswith("two to eight blocks, two of them full")
    given = trace_of("ch03", solution, tmp_path, "--n", 65)["tasks"][0]
    assert (given["case"]["n"], given["case"]["why"]) == (65, "given with --n")
    assert [buffer["elements"] for buffer in given["buffers"]] == [65, 256, 1]
    assert [buffer["role"] for buffer in given["buffers"]] == ["input", "scratch", "output"]


def test_two_runs_are_equal_to_the_byte(built: Path, tmp_path: Path) -> None:
    solution = ROOT / "solutions" / "ch08_atomics_two_pass" / "kernel.cu"
    texts = []
    for name in ("one.json", "two.json"):
        run("ch08", "--kernel", solution, "--trace-only", tmp_path / name)
        texts.append((tmp_path / name).read_text())
    assert texts[0] == texts[1]


# ---- Kernels that are wrong --------------------------------------------------------------------------------------
def test_a_race_is_there_from_both_sides(built: Path, tmp_path: Path) -> None:
    trace = trace_of("ch03", wrong("ch03", "no_barrier_between_levels"), tmp_path)
    assert trace["tasks"][0]["verdict"] == "RACE"
    kernel = kernels(trace)[0]
    races = [finding for finding in kernel["findings"] if finding["verdict"] == "RACE"]
    assert races
    for finding in races:
        for side, thread in (("place", "thread"), ("other_place", "other_thread")):
            block = finding["other_block" if side == "other_place" else "block"][0]
            warp, lane = divmod(finding[thread][0], 32)
            met = [
                event
                for event in kernel["events"]
                if kernel["instructions"][event["at"]]["line"] == finding[side]["line"]
                and (event["block"], event.get("warp")) == (block, warp)
                and event["mask"] >> lane & 1
                and kernel["instructions"][event["at"]]["kind"] in ACCESSES
                and offset_of(event, lane) <= finding["index"] < offset_of(event, lane) + 4
            ]
            assert met, finding["message"]


def test_the_access_that_ends_a_kernel_is_there(built: Path, tmp_path: Path) -> None:
    kernel = kernels(trace_of("ch03", wrong("ch03", "all_threads_add"), tmp_path))[0]
    assert not kernel["completed"]
    (failed,) = [event for event in kernel["events"] if event.get("failed")]
    finding = next(finding for finding in kernel["findings"] if finding["fatal"])
    assert finding["verdict"] == "OOB"
    assert kernel["instructions"][failed["at"]]["line"] == finding["place"]["line"]
    assert offset_of(failed, finding["lane"]) == finding["index"]
    size = kernel["objects"][failed["object"]]["bytes"]
    assert finding["index"] + finding["bytes"] > size == finding["object_bytes"]


TWO_SPACES = """#include "warpbook.cuh"

LAUNCH(sum_tree) {
    launch->block = 32;
    launch->grid = 1;
}

__global__ void sum_tree(const float *in, float *scratch, float *partial, int n) {
    volatile float own[2] = {1.0f, 2.0f};
    const volatile float *from = threadIdx.x < 16 ? own + n % 2 : in + n;
    scratch[threadIdx.x] = *from;
}
"""


def test_the_access_that_ends_a_kernel_has_only_lanes_that_were_not_done(built: Path, tmp_path: Path) -> None:
    """The first half of the warp reads local memory, and the other half reads next to global memory."""
    file = tmp_path / "kernel.cu"
    file.write_text(TWO_SPACES)
    kernel = kernels(trace_of("ch03", file, tmp_path))[0]
    (failed,) = [event for event in kernel["events"] if event.get("failed")]
    assert failed["mask"] == 0xFFFF0000
    finding = next(finding for finding in kernel["findings"] if finding["fatal"])
    assert (finding["lane"], offset_of(failed, 16)) == (16, finding["index"])


def test_a_barrier_that_nobody_leaves_is_there(built: Path, tmp_path: Path) -> None:
    kernel = kernels(trace_of("ch03", wrong("ch03", "barrier_in_the_if"), tmp_path))[0]
    (failed,) = [event for event in kernel["events"] if event.get("failed")]
    assert kernel["instructions"][failed["at"]]["kind"] == "barrier"
    assert 0 < sum(mask.bit_count() for mask in failed["masks"]) < 256


def test_where_the_picture_would_pass_a_case_that_fails_is_taken(built: Path, tmp_path: Path) -> None:
    (task,) = trace_of("ch03", wrong("ch03", "barrier_in_the_share"), tmp_path)["tasks"]
    assert task["verdict"] == "SYNC"
    assert task["case"]["n"] == 1
    assert "fails" in task["case"]["why"]


def test_what_cannot_be_built_leaves_a_file_that_says_so(built: Path, tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.cu"
    kernel.write_text('#include "warpbook.cuh"\nLAUNCH(sum_tree) { launch->block = ; }\n')
    trace = trace_of("ch03", kernel, tmp_path, status=1)
    assert trace["tasks"] == []
    assert trace["message"]
    assert trace["source"]["text"] == kernel.read_text()


def test_beside_a_result(built: Path, tmp_path: Path) -> None:
    kernel, file, result = (
        wrong("ch03", "no_barrier_between_levels"),
        tmp_path / "t.json",
        tmp_path / "r.json",
    )
    done = run("ch03", *("--kernel", kernel, "--n", 257, "--trace", file, "--json", result), status=1)
    assert "RACE" in json.loads(result.read_text())["verdict"]
    assert read(file)["tasks"][0]["verdict"] == "RACE"
    assert "of 10 points" in done.stdout
    run("ch03", *("--kernel", kernel, "--trace-only", tmp_path / "no" / "where.json"), status=2)


# ---- Bounds ------------------------------------------------------------------------------------------------------
HOSTILE = """\
#include "warpbook.cuh"
LAUNCH(sum_tree) { launch->block = BLOCK; launch->grid = GRID; }
__global__ void sum_tree(const float *in, float *scratch, float *partial, int n) {
    BODY
}
"""


def hostile(folder: Path, block: str, grid: str, body: str) -> Path:
    kernel = folder / "hostile.cu"
    kernel.write_text(HOSTILE.replace("BLOCK", block).replace("GRID", grid).replace("BODY", body))
    return kernel


def check_bounded(kernel: Kernel) -> None:
    assert len(json.dumps(kernel, separators=(",", ":"))) <= BOUND
    cut = kernel["truncated"]
    assert cut["max_bytes"] == BOUND
    assert cut["warps_kept"] == len(kernel["warps"]) <= cut["warps_started"]
    assert cut["events_kept"] == len(kernel["events"]) < cut["events_seen"]
    assert f"{cut['events_kept']} of {cut['events_seen']} events" in cut["words"]
    check_order(kernel)
    check_sources(kernel)


def test_an_endless_loop_is_bounded(built: Path, tmp_path: Path) -> None:
    body = "for (int i = threadIdx.x;; i = (i + 7) % 64) ((volatile float *)partial)[0] = in[i % n];"
    trace = trace_of("ch03", hostile(tmp_path, "64", "2", body), tmp_path)
    assert trace["tasks"][0]["verdict"] == "TIMEOUT"
    (kernel,) = kernels(trace)
    check_bounded(kernel)
    assert [warp["complete"] for warp in kernel["warps"]] == [False]
    assert len(kernel["events"]) > 500


def test_a_huge_grid_is_bounded_and_its_first_warps_are_whole(built: Path, tmp_path: Path) -> None:
    body = "if (threadIdx.x % 32 < 9) partial[blockIdx.x] = in[(blockIdx.x * 5 + threadIdx.x * threadIdx.x) % n];"
    (kernel,) = kernels(trace_of("ch03", hostile(tmp_path, "96", "20000", body), tmp_path))
    check_bounded(kernel)
    assert kernel["truncated"]["warps_started"] == 60000
    kept = [(warp["block"], warp["warp"]) for warp in kernel["warps"]]
    assert kept == [(i // 3, i % 3) for i in range(len(kept))]
    assert all(warp["complete"] for warp in kernel["warps"])
    events = Counter((event["block"], event["warp"]) for event in kernel["events"])
    assert set(events.values()) == {2}
    assert len(events) == len(kept) > 100


def test_a_large_n_is_bounded_and_too_large_a_one_refused(built: Path, tmp_path: Path) -> None:
    solution = ROOT / "solutions" / "ch05_shared_memory" / "kernel.cu"
    for kernel in kernels(trace_of("ch05", solution, tmp_path, "--n", 1000003)):
        check_bounded(kernel)
    done = run("ch05", "--trace-only", tmp_path / "t.json", "--n", 2**22 + 1, status=2)
    assert "4,194,304" in done.stderr


# ---- The emulator's own command ----------------------------------------------------------------------------------
ATOMIC = """\
.version 9.0
.target sm_80
.address_size 64
.visible .entry count(.param .u64 p_out, .param .u64 p_in) {
  .reg .b64 %a<4>; .reg .b32 %r<6>;
  ld.param.u64 %a0, [p_out]; ld.param.u64 %a1, [p_in];
  mov.u32 %r0, %tid.x; mul.wide.u32 %a2, %r0, 8; add.u64 %a1, %a1, %a2;
  ld.global.v2.u32 {%r1, %r2}, [%a1];
  red.global.add.u32 [%a0], %r1;
  atom.global.add.u32 %r3, [%a0+4], 1;
  st.global.u32 [%a1], %r3; ret; }
"""


def test_any_kernel_by_the_command(built: Path, tmp_path: Path) -> None:
    ptx, file = tmp_path / "count.ptx", tmp_path / "t.json"
    ptx.write_text(ATOMIC)
    command = [ROOT / "build" / "bin" / "emulate", ptx, "count", "--grid", "2", "--block", "32"]
    command += ["--arg", "buf:8:zero", "--arg", "buf:256:zero", "--trace", file]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    trace = read(file)
    (kernel,) = kernels(trace)
    check_sums(kernel)
    check_sources(kernel)
    check_order(kernel)
    assert trace["tasks"][0]["verdict"] == "RACE" and done.returncode == 1  # both blocks write the same
    first, second = (
        [event for event in kernel["events"] if kernel["instructions"][event["at"]]["kind"] == "red"][block]
        for block in range(2)
    )
    own = kernel["events"].index(first)
    assert first["sources"] == [[own, 0xFFFFFFFE, -1]]  # lane after lane
    assert [own, 1, 31] in second["sources"]  # on from the last of the other block
    assert first["most_lanes"] == 32
    refused = subprocess.run([*command, "--schedule", "3"], capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2
    assert "schedule 0" in refused.stderr


def test_a_kernel_of_many_instructions_is_bounded(built: Path, tmp_path: Path) -> None:
    """A table of all its instructions would not fit either."""
    count = 4000
    loads = "\n".join(f"  ld.global.u32 %r1, [%a0+{4 * i}];" for i in range(count))
    ptx, file = tmp_path / "long.ptx", tmp_path / "t.json"
    head = ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry long(.param .u64 p)"
    ptx.write_text(
        f"{head} {{\n.reg .b64 %a<2>; .reg .b32 %r<2>;\n  ld.param.u64 %a0, [p];\n{loads}\n  ret; }}\n"
    )
    command = [ROOT / "build" / "bin" / "emulate", ptx, "long", "--grid", "2", "--block", "32"]
    subprocess.run([*command, "--arg", f"buf:{4 * count}:zero", "--trace", file], check=True, timeout=60)
    (kernel,) = kernels(read(file))
    check_bounded(kernel)
    assert len(kernel["instructions"]) == len(kernel["events"]) > 500
    assert [warp["complete"] for warp in kernel["warps"]] == [False]
