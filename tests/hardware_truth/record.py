#!/usr/bin/env python3
"""Records what a GPU counts for every pattern of this folder, through Nsight Compute.

    python3 tests/hardware_truth/record.py --out FOLDER

needs nvcc, ncu and a GPU (the tables of this folder are an H200's) and nothing beyond Python's own library. It
compiles every patterns*.cu, runs its kernels once each under ncu, and writes into FOLDER

    counters.csv       the kernels of patterns.cu            columns: README.md
    more_counters.csv  those of the other patterns_*.cu      the same, then MORE_COLUMNS
    sass.csv           the memory instructions that ptxas made of each kernel
    skipped.csv        kernels that the time did not suffice for

`--missing` keeps the rows that this folder's tables have and adds those of the kernels that have none.

It changes no clock and no setting of the GPU. `--sass` writes sass.csv alone and `--ptx` renews the committed
PTX files that the emulator reads; neither needs a GPU.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIRST = "patterns.cu"  # its kernels are in counters.csv, those of all others in more_counters.csv
GRID, N, BUFFER_FLOATS = 64, 16384, 64 * 16384
CHUNK = 100  # kernels for one run of ncu

_GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
_LOCAL = "l1tex__t_{}_pipe_lsu_mem_local_op_{}.sum"
COLUMNS = {
    **{
        f"global_{op}_{what}": _GLOBAL.format(what, op)
        for op in ("ld", "st", "red", "atom")
        for what in ("requests", "sectors")
    },
    **{f"inst_global_{op}": f"smsp__inst_executed_op_global_{op}.sum" for op in ("ld", "st", "red")},
    **{f"inst_shared_{op}": f"smsp__inst_executed_op_shared_{op}.sum" for op in ("ld", "st", "atom")},
    "shared_ld_wavefronts": _WAVEFRONTS.format("ld"),
    "shared_st_wavefronts": _WAVEFRONTS.format("st"),
    "shared_ld_conflicts": _CONFLICTS.format("ld"),
    "shared_st_conflicts": _CONFLICTS.format("st"),
    "shared_atom_wavefronts": _WAVEFRONTS.format("atom"),
    "inst": "smsp__inst_executed.sum",
    "thread_inst": "smsp__thread_inst_executed.sum",
    "thread_inst_pred_on": "smsp__thread_inst_executed_pred_on.sum",
    "branch_divergent": "smsp__sass_branch_targets_threads_divergent.sum",
    "local_ld_requests": _LOCAL.format("requests", "ld"),
    "local_ld_sectors": _LOCAL.format("sectors", "ld"),
    "registers": "launch__registers_per_thread",
    "achieved_occupancy_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "time_ns": "gpu__time_duration.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
}
MORE_COLUMNS = {
    "local_st_requests": _LOCAL.format("requests", "st"),
    "local_st_sectors": _LOCAL.format("sectors", "st"),
    "shared_atom_conflicts": _CONFLICTS.format("atom"),
}
SASS = ["LDG", "STG", "RED", "ATOM", "LDS", "STS", "ATOMS", "LDL", "STL", "LDC"]
SASS += ["REDUX", "MATCH", "VOTE", "SHFL", "BAR"]
_SASS_FAMILY = {"ATOMG": "ATOM", "REDG": "RED", "VOTEU": "VOTE"}


# ---- Kernels, sources, tools -----------------------------------------------------------------------------


def sources(folder: Path = HERE) -> list[Path]:
    """The pattern files; patterns.cu, which has been recorded longest, comes last."""
    return sorted(folder.glob("patterns*.cu"), key=lambda path: (path.name == FIRST, path.name))


def kernels_of(ptx: str) -> list[str]:
    """The kernels of a PTX text, in its order."""
    return re.findall(r"^\.visible \.entry (\w+)\(", ptx, re.MULTILINE)


def block_of(kernel: str) -> tuple[int, int, int]:
    """The block shape that a kernel's name asks for: `_b32`, `_b16x16`, `_b8x4x8` at its end, or else 256."""
    found = re.search(r"_b(\d+)(?:x(\d+))?(?:x(\d+))?$", kernel)
    return (int(found[1]), int(found[2] or 1), int(found[3] or 1)) if found else (256, 1, 1)


def tool(name: str) -> str:
    """A CUDA tool on PATH, beside nvcc, or in its usual folder."""
    for candidate in (
        shutil.which(name),
        *sorted(Path("/usr/local").glob(f"cuda*/bin/{name}")),
        *sorted(Path("/opt/nvidia/nsight-compute").glob(f"*/{name}"), reverse=True),
    ):
        if candidate:
            return str(candidate)
    sys.exit(f"record: no {name} on PATH, in /usr/local/cuda/bin or /opt/nvidia/nsight-compute")


def nvcc(source: Path, output: Path, *flags: str, compiler: str | None = None) -> None:
    """Compiles one pattern file, or ends with the compiler's words."""
    command = [compiler or tool("nvcc"), "-std=c++17", *flags, "-o", str(output), source.name]
    done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"record: {source.name}: {done.stdout}{done.stderr}")


def architecture(source: Path) -> str:
    """What the PTX is for: compute_80, or compute_90 or compute_90a if the file says so."""
    found = re.search(r"for (compute_90a?)", source.read_text())
    return found[1] if found else "compute_80"


def write_ptx(source: Path, output: Path, compiler: str | None = None) -> None:
    """The PTX that the emulator reads, without a line that names a build of the compiler."""
    nvcc(source, output, f"-arch={architecture(source)}", "-ptx", compiler=compiler)
    output.write_text("".join(x for x in output.read_text().splitlines(True) if "Compiler Build ID" not in x))


def write_rows(path: Path, rows: list[dict[str, object]], columns: list[str]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n", extrasaction="ignore", restval="")
        writer.writeheader()
        writer.writerows(rows)


# ---- Launching: what runs under ncu ----------------------------------------------------------------------


def launch(cubin: str, kernels: list[str]) -> None:
    """Launches kernels of a cubin in order, once each, through the driver API."""
    cuda = None
    for name in ("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "libcuda.so"):
        try:
            cuda = ctypes.CDLL(name)
            break
        except OSError:
            pass
    if not cuda:
        sys.exit("record: no libcuda.so.1: is there a driver?")

    def call(function: str, *arguments: object) -> None:
        status = getattr(cuda, function)(*arguments)
        if status:
            text = ctypes.c_char_p()
            cuda.cuGetErrorString(status, ctypes.byref(text))
            sys.exit(f"record: {function}: {(text.value or b'?').decode()}")

    u64, size, reference = ctypes.c_uint64, ctypes.c_size_t(BUFFER_FLOATS * 4), ctypes.byref
    device, context, module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    inputs, outputs, n = u64(), u64(), ctypes.c_int(N)
    call("cuInit", 0)
    call("cuDeviceGet", reference(device), 0)
    call("cuDevicePrimaryCtxRetain", reference(context), device)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoadData", reference(module), Path(cubin).read_bytes())
    call("cuMemAlloc_v2", reference(inputs), size)
    call("cuMemAlloc_v2", reference(outputs), size)
    start = bytes(start_values())
    call("cuMemcpyHtoD_v2", inputs, start, size)
    arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(x) for x in (inputs, outputs, n)))
    for kernel in kernels:
        function = ctypes.c_void_p()
        call("cuMemcpyHtoD_v2", outputs, start, size)
        call("cuModuleGetFunction", reference(function), module, kernel.encode())
        x, y, z = block_of(kernel)
        call("cuLaunchKernel", function, GRID, 1, 1, x, y, z, 0, None, arguments, None)
        call("cuCtxSynchronize")


def start_values() -> ctypes.Array[ctypes.c_float]:
    """What both buffers hold before each kernel: ((i * 7919) % 101) / 8."""
    period = [(i * 7919) % 101 / 8 for i in range(101)]
    return (ctypes.c_float * BUFFER_FLOATS)(*(period * (BUFFER_FLOATS // 101 + 1))[:BUFFER_FLOATS])


# ---- Counting: ncu ---------------------------------------------------------------------------------------


def number(text: str) -> str:
    """A figure of ncu's without thousands separators; a percentage with two decimals; '' when there is none."""
    text = text.replace(",", "").strip()
    try:
        value = float(text)
    except ValueError:
        return ""
    if value != value:  # a figure of no samples
        return ""
    return str(int(value)) if value == int(value) and "." not in text else f"{value:.2f}"


def read_ncu(log: str, wanted: dict[str, str]) -> list[dict[str, object]]:
    """The rows of ncu's CSV, one a launch: {column: figure}. Reads its wide (raw) and its long (details) form."""
    table = list(csv.reader(line for line in log.splitlines() if line.startswith('"')))
    if not table:
        return []
    header, rows = table[0], table[1:]
    at = {name: i for i, name in enumerate(header)}
    column_of = {metric: column for column, metric in wanted.items()}
    launches: dict[int, dict[str, object]] = {}
    for row in rows:
        if len(row) != len(header) or not row[at["ID"]].isdigit():
            continue  # the units
        entry = launches.setdefault(int(row[at["ID"]]), {"kernel": row[at["Kernel Name"]].partition("(")[0]})
        if "Metric Name" in at:
            metric = row[at["Metric Name"]]
            if metric in column_of:
                entry[column_of[metric]] = number(row[at["Metric Value"]])
        else:
            for metric, column in column_of.items():
                if metric in at:
                    entry[column] = number(row[at[metric]])
    for entry in launches.values():
        for column in ("registers", "time_ns", "dram_read_bytes"):
            if entry.get(column):
                entry[column] = str(round(float(str(entry[column]))))
    return [launches[i] for i in sorted(launches)]


def count(cubin: Path, kernels: list[str], log: Path, timeout: float) -> list[dict[str, object]]:
    """Runs `kernels` under ncu; [] if it failed or took too long; its output is then on stderr."""
    wanted = COLUMNS | MORE_COLUMNS
    command = [
        *(tool("ncu"), "--csv", "--page", "raw", "--print-units", "base"),
        *("--clock-control", "none", "--cache-control", "all", "--replay-mode", "kernel"),
        *("--metrics", ",".join(wanted.values()), "--log-file", str(log)),
        *(sys.executable, str(Path(__file__).resolve()), "--launch", str(cubin), *kernels),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        print(f"record: ncu took more than {timeout:.0f} s for {len(kernels)} kernels", file=sys.stderr)
        return []
    text = log.read_text(errors="replace") if log.exists() else ""
    rows = read_ncu(text, wanted)
    if [row["kernel"] for row in rows] != kernels:
        told = [line for line in (text + done.stdout + done.stderr).splitlines() if not line.startswith('"')]
        told = [line for line in told if "==PROF== Profiling" not in line]
        print(
            f"record: ncu ended {done.returncode} after {len(rows)} of {len(kernels)} kernels",
            file=sys.stderr,
        )
        print("\n".join(told[-20:]), file=sys.stderr)
        rows = [row for row, kernel in zip(rows, kernels, strict=False) if row["kernel"] == kernel]
    return rows


# ---- SASS ------------------------------------------------------------------------------------------------


def sass_of(cubin: Path) -> dict[str, dict[str, object]]:
    """{kernel: {instruction family: number in its code, "forms": "LDG.E.128:2 ..."}}."""
    text = subprocess.run(
        [tool("cuobjdump"), "-sass", str(cubin)], capture_output=True, text=True, check=True
    ).stdout
    rows: dict[str, dict[str, object]] = {}
    for name, body in re.findall(r"Function : (\w+)\n(.*?)(?=\n\s*Function :|\Z)", text, re.DOTALL):
        forms = Counter(
            re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z][\w.]*)", body, re.MULTILINE)
        )
        families: Counter[str] = Counter()
        kept = []
        for form, times in sorted(forms.items()):
            family = form.partition(".")[0]
            family = _SASS_FAMILY.get(family, family)
            families[family] += times
            if family in SASS and not form.startswith("LDC"):
                kept.append(f"{form}:{times}")
        rows[name] = {"kernel": name, **{f: families[f] for f in SASS}, "forms": " ".join(kept)}
    return rows


# ---- The whole -------------------------------------------------------------------------------------------


def recorded_already() -> dict[bool, list[dict[str, object]]]:
    """The rows of this folder's tables: {is it counters.csv: rows}."""
    rows: dict[bool, list[dict[str, object]]] = {True: [], False: []}
    for first, name in ((True, "counters.csv"), (False, "more_counters.csv")):
        if (HERE / name).exists():
            with (HERE / name).open(newline="") as file:
                rows[first] = [dict(row) for row in csv.DictReader(file)]
    return rows


def build(source: Path, work: Path) -> tuple[Path, list[str], dict[str, dict[str, object]]]:
    """A source's cubin, its kernels in order, and their SASS."""
    ptx, cubin = work / f"{source.stem}.ptx", work / f"{source.stem}.cubin"
    nvcc(source, ptx, f"-arch={architecture(source)}", "-ptx")
    nvcc(source, cubin, "-arch=sm_90a" if architecture(source) == "compute_90a" else "-arch=sm_90", "-cubin")
    return cubin, kernels_of(ptx.read_text()), sass_of(cubin)


def show(rows: list[dict[str, object]]) -> None:
    """A short table: one line a kernel, the columns that are not 0."""
    shown = [c for c in (*COLUMNS, *MORE_COLUMNS) if c.startswith(("global_", "shared_", "local_"))]
    for row in rows:
        told = [f"{c}={row[c]}" for c in shown if row.get(c) not in ("0", "", None)]
        print(f"  {row['kernel']:28} {' '.join(told)}")


def record(options: argparse.Namespace, work: Path) -> int:
    """Everything; 0 when every kernel has its row."""
    began = time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    rows = recorded_already() if options.missing else {True: [], False: []}  # by "is of patterns.cu"
    done = {row["kernel"] for row in rows[True] + rows[False]}
    sass: list[dict[str, object]] = []
    skipped: list[str] = []
    plan: list[tuple[Path, Path, list[str]]] = []
    chunk_of: dict[str, int] = {}
    found = sources()
    with ThreadPoolExecutor(min(len(found), os.cpu_count() or 1)) as pool:
        built = list(pool.map(lambda source: build(source, work), found))
    for source, (cubin, kernels, in_sass) in zip(found, built, strict=True):
        sass += [in_sass[kernel] for kernel in kernels]
        wanted = [k for k in kernels if k not in done and re.search(options.only, k)]
        plan += [(source, cubin, wanted[i : i + CHUNK]) for i in range(0, len(wanted), CHUNK)]
        chunk_of |= {kernel: i // CHUNK for i, kernel in enumerate(wanted)}
    order = {str(row["kernel"]): i for i, row in enumerate(sass)}
    rows = {first: [row for row in some if row["kernel"] in order] for first, some in rows.items()}
    write_rows(options.out / "sass.csv", sass, ["kernel", *SASS, "forms"])
    print(
        f"{sum(len(k) for *_, k in plan)} kernels; compiled in {time.monotonic() - began:.0f} s", flush=True
    )
    if options.sass:
        return 0
    plan.sort(key=lambda item: chunk_of[item[2][0]])  # if time runs out, every file has some of its kernels
    slowest = 0.0  # seconds a kernel
    for number_, (source, cubin, kernels) in enumerate(plan):
        left = options.budget - (time.monotonic() - began)
        if left < 1.2 * slowest * len(kernels) + 5:
            skipped += kernels
            continue
        start = time.monotonic()
        got = count(cubin, kernels, work / f"ncu{number_}.log", left)
        took = time.monotonic() - start
        slowest = max(slowest, took / len(kernels))
        print(f"{source.name}: {len(got)} of {len(kernels)} kernels in {took:.1f} s", flush=True)
        rows[source.name == FIRST] += got
        rows[source.name == FIRST].sort(key=lambda row: order[str(row["kernel"])])
        names = {row["kernel"] for row in got}
        skipped += [kernel for kernel in kernels if kernel not in names]
        write_rows(options.out / "counters.csv", rows[True], ["kernel", *COLUMNS])
        write_rows(options.out / "more_counters.csv", rows[False], ["kernel", *COLUMNS, *MORE_COLUMNS])
        write_rows(options.out / "skipped.csv", [{"kernel": kernel} for kernel in skipped], ["kernel"])
    show((rows[False] + rows[True])[: options.show])
    lacking = sorted({c for row in rows[False] for c in (*COLUMNS, *MORE_COLUMNS) if row.get(c, "") == ""})
    if lacking:
        print(f"record: ncu gave no figure for some kernels in: {', '.join(lacking)}")
    write_rows(options.out / "skipped.csv", [{"kernel": kernel} for kernel in skipped], ["kernel"])
    total = len(rows[True]) + len(rows[False])
    print(
        f"{total} kernels have rows, skipped {len(skipped)}, {time.monotonic() - began:.0f} s -> {options.out}"
    )
    return 1 if skipped else 0


def main() -> int:
    """Reads the command line."""
    if sys.argv[1:2] == ["--launch"]:
        launch(sys.argv[2], sys.argv[3:])
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, help="the folder to write to")
    parser.add_argument("--only", default="", metavar="REGEX", help="kernels whose name matches")
    parser.add_argument(
        "--missing", action="store_true", help="kernels without a row in this folder's tables"
    )
    parser.add_argument("--budget", type=float, default=280, metavar="S", help="seconds in all (280)")
    parser.add_argument("--show", type=int, default=40, metavar="N", help="rows to print (40)")
    parser.add_argument("--sass", action="store_true", help="write sass.csv only")
    parser.add_argument("--ptx", action="store_true", help="renew the PTX files beside the sources")
    options = parser.parse_args()
    if options.ptx:
        for source in sources():
            write_ptx(source, source.with_suffix(".ptx"))
        return 0
    if not options.out:
        parser.error("--out is missing")
    with tempfile.TemporaryDirectory() as folder:
        return record(options, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
