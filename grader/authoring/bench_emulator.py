"""How fast the emulator is, and how fast its peers are: `make bench-emulator`.

What goes into docs/emulator-speed.md, into its place: lane-instructions a second of ten kernels with checks off
and on, floating-point operations a second of those that multiply, what other schedules cost, and elements a
second of one tree reduction beside Oclgrind, PoCL and numba's simulator. Everything runs on one core, in turn,
several times; the figures are medians.

Times are the processor's, so that a busy machine disturbs them little, and those of the launch alone: reading the
input takes longer than many a kernel, and differs by more than that from run to run.
"""

import array
import os
import platform
import re
import shlex
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..core.errors import NOT_PASSED, PASSED, MachineError
from ..core.options import Json
from ..core.page import console, print_json
from ..core.processes import clean_environment
from ..core.workbook import find_workbook, write_whole
from .markers import fill, places

_PLACE = "emulator"  # of docs/emulator-speed.md: <!-- bench: emulator -->
_RAN = re.compile(r"(\d+) lane instructions in ([\d.]+) s$")
_LIMIT = 300.0  # seconds for one run of anything
_N = 4 << 20
_MANY = 16 << 20  # for kernels that execute few instructions a float
_SIDE = 512  # of the matrices that are multiplied
_MODES = {
    "none": ["--checks", "none"],
    "all": ["--checks", "all"],
    "all and counters": ["--checks", "all", "--profile"],
}
_SCHEDULES = {f"schedule {seed}": ["--checks", "all", "--schedule", str(seed)] for seed in range(1, 9)}


@dataclass(frozen=True)
class Work:
    """One kernel of tests/bench/kernels.cu and how it is launched over `elements` floats."""

    title: str
    kernel: str
    elements: int
    grid: str
    block: str
    outputs: int
    last: str = ""  # the argument after the two buffers
    side: int = 0  # of a matrix that is squared; 0: the kernel adds up, or
    rounds: int = 0  # of tensor, in each of 16 warps

    @property
    def operations(self) -> int:
        """Floating-point operations of a product; 0 for a sum."""
        return 2 * self.side**3 + self.rounds * 16 * 8 * (2 * 16 * 8 * 16)

    @property
    def total(self) -> float:
        """The sum of all outputs."""
        if self.rounds:
            return self.rounds * 16 * 8 * sum_of_fragments()
        return sum_of_square(self.side) if self.side else sum_of(self.elements)


_ROUNDS = 1 << 14
_SCHEDULED = "tiled_product"  # the kernel that runs under other schedules too
_TREE = Work("tree reduction, 256 threads", "tree", _N, f"{_N // 256}", "256", _N // 256)
_WORKS = (
    _TREE,
    Work("float4 sum", "vector_sum", _MANY, "264", "256", 264, f"u32:{_MANY // 4}"),
    Work("grid-stride sum", "stride_sum", _MANY, "264", "256", 264, f"u32:{_MANY}"),
    Work("warp shuffle sum", "shuffle_sum", _N, f"{_N // 256}", "256", _N // 32),
    Work("transpose", "transpose", _N, "64,64", "32,8", _N, "u32:2048"),
    Work(
        "product, tiles of 32 x 32",
        _SCHEDULED,
        _SIDE**2,
        "16,16",
        "32,32",
        _SIDE**2,
        f"u32:{_SIDE}",
        _SIDE,
    ),
    Work(
        "product, 4 x 4 a thread", "register_product", _SIDE**2, "8,8", "256", _SIDE**2, f"u32:{_SIDE}", _SIDE
    ),
    Work(
        "product, bf16 on tensor cores",
        "mma_product",
        _SIDE**2,
        "8,8",
        "128",
        _SIDE**2,
        f"u32:{_SIDE}",
        _SIDE,
    ),
    Work("mma.sync of bf16 alone", "tensor", 32, "8", "64", 8 * 64 * 32, f"u32:{_ROUNDS}", rounds=_ROUNDS),
    Work("a single thread", "single_thread", _N // 4, "1", "1", 1, f"u32:{_N // 4}"),
)


@dataclass
class Peer:
    """Another way to run the tree reduction without a GPU."""

    name: str
    elements: int
    remedy: str  # how to install it
    command: Callable[[int], list[str]]
    environment: dict[str, str] = field(default_factory=dict)
    missing: str = ""  # why it cannot run here
    seconds: list[float] = field(default_factory=list)


def values(n: int) -> "array.array[float]":
    """What is added up: small integers, so that every order of adding gives the same sum."""
    return array.array("f", (float(i % 7) for i in range(n)))


def sum_of(n: int) -> float:
    """The sum of values(n)."""
    return 21.0 * (n // 7) + sum(range(n % 7))


def sum_of_square(side: int) -> float:
    """The sum of the elements of values(side * side), as a matrix, times itself."""
    m = values(side * side)
    return sum(sum(m[k::side]) * sum(m[k * side : (k + 1) * side]) for k in range(side))


def sum_of_fragments() -> float:
    """The sum of a product of two fragments (m16n8k16) whose elements are values(32)[lane] in every lane.

    Columns of a, and rows of b, are held by the lanes of one remainder by 4: two rows of each of eight lanes, and one
    column; four of the 16 by each remainder.
    """
    lanes = values(32)
    return sum(4 * (2 * sum(lanes[i::4])) * sum(lanes[i::4]) for i in range(4))


def run(command: list[str], environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Exit status, standard output and errors of a command."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            env=clean_environment() | (environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(_LIMIT)
        except BaseException:
            process.kill()
            process.wait()
            raise
        output.seek(0)
        return status, output.read().decode("utf-8", "replace")


# ---- The emulator ----------------------------------------------------------------------------------------


@dataclass
class _Times:
    """Processor seconds of a launch, as often as it ran."""

    instructions: int
    seconds: list[float] = field(default_factory=list)


class Emulation:
    """Runs the kernels of tests/bench/kernels.cu with build/bin/emulate."""

    def __init__(self, out: Path, root: Path, folder: Path) -> None:
        """Compiles the kernels and writes their input."""
        self._emulate = str(out / "bin" / "emulate")
        self._folder = folder
        self._times: dict[tuple[str, str], _Times] = {}
        status, text = run(
            [str(out / "bin" / "compile"), str(root / "tests/bench/kernels.cu"), str(folder), "--quiet"]
        )
        if status:
            raise MachineError(f"tests/bench/kernels.cu does not compile:\n{text}")
        for n in {work.elements for work in _WORKS}:
            (folder / f"input-{n}").write_bytes(values(n).tobytes())

    def _command(self, work: Work, options: list[str]) -> list[str]:
        arguments = [
            f"buf:{work.elements * 4}:{self._folder / f'input-{work.elements}'}",
            f"buf:{work.outputs * 4}",
            *filter(None, [work.last]),
        ]
        named = [word for argument in arguments for word in ("--arg", argument)]
        shape = ["--grid", work.grid, "--block", work.block]
        return [self._emulate, str(self._folder / "kernel.ptx"), work.kernel, *shape, *named, *options]

    def run(self, work: Work, mode: str) -> None:
        """One launch: its sum is looked at, and its time is kept."""
        output = self._folder / "output"
        command = self._command(work, [*(_MODES | _SCHEDULES)[mode], "--dump", f"1:{output}"])
        status, text = run(command)
        match = _RAN.search(text.rstrip())
        if status != PASSED or not match:
            raise MachineError(
                f"the emulator did not run {work.kernel}: exit status {status}\n{text[-2000:]}"
            )
        sums = array.array("f", output.read_bytes())
        if sum(sums) != work.total:
            raise MachineError(f"the emulator's sum of {work.kernel} is wrong: {sum(sums)}")
        times = self._times.setdefault((work.kernel, mode), _Times(int(match[1])))
        times.seconds.append(float(match[2]))

    def rate(self, work: Work, mode: str, amount: float = 0) -> float:
        """Lane-instructions a second, or `amount` of anything else that one launch does."""
        times = self._times[work.kernel, mode]
        return (amount or times.instructions) / statistics.median(times.seconds)


# ---- The peers -------------------------------------------------------------------------------------------


def _opencl_host(root: Path, folder: Path) -> tuple[str, str]:
    """The OpenCL program that runs tree.cl, built; or "" and why not."""
    program = folder / "opencl_tree"
    compiler = shlex.split(os.environ.get("CC", "")) or [
        next(filter(shutil.which, ("cc", "gcc", "clang")), "cc")
    ]
    source = root / "tests/bench/opencl_tree.c"
    try:
        status, text = run([*compiler, "-O2", "-o", str(program), str(source), "-lOpenCL"])
    except FileNotFoundError:
        return "", f"there is no C compiler {compiler[0]}"
    if status:
        missing = "OpenCL's headers and loader are missing"
        return "", missing if "CL/cl.h" in text or "OpenCL" in text else text[-500:]
    return str(program), ""


def find_peers(root: Path, folder: Path, python: str) -> list[Peer]:
    """Oclgrind, PoCL and numba, each with why it cannot run where it cannot."""
    host, why = _opencl_host(root, folder)
    source = str(root / "tests/bench/tree.cl")
    loader = "opencl-headers ocl-icd-opencl-dev"
    checked = ["oclgrind", "--num-threads", "1", "--data-races", "--uninitialized"]
    oclgrind = Peer(
        "Oclgrind, with its race and uninitialised checks",
        1 << 16,
        f"apt-get install oclgrind {loader}",
        lambda n: [*checked, host, source, str(n), "Oclgrind"],
    )
    pocl = Peer(
        "PoCL, native code, no checks",
        1 << 24,
        f"apt-get install pocl-opencl-icd {loader}",
        lambda n: [host, source, str(n), "Portable Computing Language"],
    )
    numba = Peer(
        "numba's CUDA simulator, no checks",
        1 << 11,
        "python3 -m venv numba && numba/bin/pip install numba, then make bench-emulator NUMBA_PYTHON=numba/bin/python",
        lambda n: [python, str(root / "tests/bench/numba_tree.py"), str(n)],
        {"NUMBA_ENABLE_CUDASIM": "1"},
    )
    oclgrind.missing = pocl.missing = why
    if not shutil.which("oclgrind"):
        oclgrind.missing = "oclgrind is not on PATH"
    if not shutil.which(python):
        numba.missing = f"there is no {python}"
    elif run([python, "-c", "import numba.cuda"])[0]:
        numba.missing = f"{python} has no numba"
    for peer in (oclgrind, pocl, numba):
        if not peer.missing:
            _try(peer, 1024)
            peer.seconds.clear()
    return [oclgrind, pocl, numba]


def _try(peer: Peer, n: int) -> None:
    """Runs a peer over n floats; its time is kept, or why it failed."""
    status, text = run(peer.command(n), peer.environment)
    match = re.search(r"^([\d.]+) ([\d.]+)$", text, re.MULTILINE)
    if status or not match:
        peer.missing = (text.strip().splitlines() or ["no output"])[-1]
    elif float(match[2]) != sum_of(n):
        peer.missing = f"its sum is wrong: {match[2]}, not {sum_of(n):.0f}"
    else:
        peer.seconds.append(float(match[1]))


# ---- The run and its tables ------------------------------------------------------------------------------


def _machine() -> str:
    """Processor and number of cores, in words."""
    model = platform.machine()
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        model = found[1] if found else model
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores, of which one was used"


def _round(number: float) -> str:
    """Three digits, with a unit."""
    for unit, name in ((1e9, " billion"), (1e6, " million"), (1e3, " thousand")):
        if number >= unit:
            return f"{number / unit:.3g}{name}" if number < 100 * unit else f"{number / unit:.0f}{name}"
    return f"{number:.3g}"


def _ratio(ratio: float) -> str:
    """How many times faster the emulator is."""
    return f"{ratio:,.0f} times faster" if ratio >= 1 else f"{1 / ratio:,.0f} times slower"


def _modes(work: Work) -> list[str]:
    return [*_MODES, *(_SCHEDULES if work.kernel == _SCHEDULED else ())]


def measure(
    emulation: Emulation, peers: list[Peer], rounds: int, console: Console
) -> dict[tuple[str, str], float]:
    """Everything once a round; returns lane-instructions a second by kernel and mode."""
    for number in range(rounds):
        console.print(f"  round {number + 1} of {rounds}", highlight=False)
        for work in _WORKS:
            for mode in _modes(work):
                emulation.run(work, mode)
        for peer in peers:
            if not peer.missing:
                _try(peer, peer.elements)
    rates = {(work.kernel, mode): emulation.rate(work, mode) for work in _WORKS for mode in _modes(work)}
    rates |= {
        (work.kernel, "operations"): emulation.rate(work, "all", work.operations)
        for work in _WORKS
        if work.operations
    }
    return rates | {("tree", "elements"): emulation.rate(_TREE, "all", _TREE.elements)}


def slowdowns(rates: dict[tuple[str, str], float]) -> list[float]:
    """How many times longer than schedule 0 each other schedule takes, the shortest first."""
    return sorted(rates[_SCHEDULED, "all"] / rates[_SCHEDULED, mode] for mode in _SCHEDULES)


def tables(rates: dict[tuple[str, str], float], peers: list[Peer]) -> tuple[str, dict[str, float]]:
    """The page's part between the markers, and the ratios to the peers."""
    lines = [f"Machine: {_machine()}.", "", "Lane-instructions a second:", ""]
    lines += ["| kernel | floats | " + " | ".join(f"checks: {mode}" for mode in _MODES) + " |"]
    lines += ["|---|--:|" + "--:|" * len(_MODES)]
    for work in _WORKS:
        cells = [_round(rates[work.kernel, mode]) for mode in _MODES]
        lines.append(f"| {work.title} | {work.elements:,} | " + " | ".join(cells) + " |")
    least, *_, most = slowdowns(rates)
    schedules = (
        f"Under {len(_SCHEDULES)} other schedules, with all checks, the product in tiles of 32 x 32 takes"
    )
    lines += [
        "",
        f"{schedules} {least:.2f} to {most:.2f} times as long.",
        "",
        "Matrix products, floating-point operations a second, with all checks:",
        "",
        "| kernel | operations a second |",
        "|---|--:|",
    ]
    lines += [
        f"| {work.title} | {_round(rates[work.kernel, 'operations'])} |" for work in _WORKS if work.operations
    ]
    mine = rates["tree", "elements"]
    lines += [
        "",
        "The tree reduction, elements a second:",
        "",
        "| | floats | elements a second | the emulator is |",
        "|---|--:|--:|---|",
    ]
    lines.append(f"| Warpbook, all checks | {_TREE.elements:,} | {_round(mine)} | |")
    ratios = {}
    for peer in peers:
        if peer.missing:
            lines.append(f"| {peer.name} | | not measured: {peer.missing}; `{peer.remedy}` | |")
            continue
        rate = peer.elements / statistics.median(peer.seconds)
        ratios[peer.name.split(",")[0]] = mine / rate
        lines.append(f"| {peer.name} | {peer.elements:,} | {_round(rate)} | {_ratio(mine / rate)} |")
    return "\n".join(lines) + "\n", ratios


def _print(
    console: Console, rates: dict[tuple[str, str], float], peers: list[Peer], ratios: dict[str, float]
) -> None:
    table = Table("kernel", *(f"checks: {mode}" for mode in _MODES))
    for work in _WORKS:
        table.add_row(work.title, *(_round(rates[work.kernel, mode]) for mode in _MODES))
    console.print(table)
    console.print(
        f"tree reduction, all checks: {_round(rates['tree', 'elements'])} elements a second", highlight=False
    )
    for work in _WORKS:
        if work.operations:
            done = _round(rates[work.kernel, "operations"])
            console.print(f"{work.title}, all checks: {done} operations a second", highlight=False)
    times = ", ".join(f"{ratio:.2f}" for ratio in slowdowns(rates))
    console.print(f"other schedules of {_SCHEDULED}, times as long: {times}", highlight=False)
    for peer in peers:
        if peer.missing:
            console.print(
                f"  {peer.name}: not measured: {peer.missing}. Install it: {peer.remedy}", highlight=False
            )
    for name, ratio in ratios.items():
        console.print(f"  beside {name}: {_ratio(ratio)}", highlight=False)


def _goals(rates: dict[tuple[str, str], float], ratios: dict[str, float]) -> list[str]:
    """What misses the figures to reach."""
    floors = {"tree": 1e9, "vector_sum": 500e6, "tiled_product": 500e6}
    missed = [
        f"{work.title}: {_round(rates[work.kernel, 'all'])} lane-instructions a second, not {_round(floor)}"
        for work in _WORKS
        if rates[work.kernel, "all"] < (floor := floors.get(work.kernel, 0))
    ]
    if (tensor := rates["tensor", "operations"]) < 20e9:
        missed.append(f"mma.sync alone: {_round(tensor)} operations a second, not 20 billion")
    if (most := slowdowns(rates)[-1]) > 2:
        missed.append(
            f"a schedule of {_SCHEDULED} takes {most:.2f} times as long as schedule 0, not at most 2"
        )
    wanted = {"Oclgrind": 100, "numba's CUDA simulator": 10_000}
    return missed + [
        f"{name}: {ratios[name]:,.0f} times, not {w:,}"
        for name, w in wanted.items()
        if ratios.get(name, w) < w
    ]


def bench_emulator_command(
    rounds: Annotated[int, typer.Option(min=1, help="How often everything runs.")] = 5,
    numba_python: Annotated[str, typer.Option(help="A Python that has numba.")] = "python3",
    as_json: Json = False,
) -> int:
    """Speed of the emulator beside Oclgrind, PoCL and numba, into docs/emulator-speed.md."""
    out = console(error=as_json)
    workbook = find_workbook()
    page = workbook.root / "docs" / "emulator-speed.md"
    text = page.read_text("utf-8")
    if [place.argument for place in places(text)] != [_PLACE]:
        raise MachineError(f"docs/emulator-speed.md has lost its place <!-- bench: {_PLACE} -->")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # what is started inherits it
    folder = workbook.build / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        emulation = Emulation(workbook.out, workbook.root, folder)
        peers = find_peers(workbook.root, folder, numba_python)
        rates = measure(emulation, peers, rounds, out)
    except subprocess.TimeoutExpired as error:
        raise MachineError(str(error)) from None
    part, ratios = tables(rates, peers)
    write_whole(page, fill(text, lambda _: part))
    missed = _goals(rates, ratios)
    if as_json:
        figures = {" ".join(key): value for key, value in rates.items()}
        print_json(
            {
                "schema": "warpbook/emulator-speed/1",
                "lane_instructions_per_second": figures,
                "ratios": ratios,
                "missed": missed,
            }
        )
    else:
        _print(out, rates, peers, ratios)
        for line in missed:
            out.print(f"  below its goal: {line}", highlight=False)
    return NOT_PASSED if missed else PASSED
