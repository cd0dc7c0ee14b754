"""What `./warpbook profile` shows and writes: the figures of each kernel, under the names of Nsight Compute."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

from ...core.errors import MachineError
from ...core.page import console
from ...core.workbook import find_workbook, write_whole
from ..listing import read_listing

# The counters that Nsight Compute has too, by their names here. Times are apart.
METRICS = {
    **{
        f"global_{op}_{what}": f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum"
        for op in ("ld", "st", "red", "atom")
        for what in ("requests", "sectors")
    },
    **{
        f"local_{op}_{what}": f"l1tex__t_{what}_pipe_lsu_mem_local_op_{op}.sum"
        for op in ("ld", "st")
        for what in ("requests", "sectors")
    },
    **{f"issued_shared_{op}": f"smsp__inst_executed_op_shared_{op}.sum" for op in ("ld", "st", "atom")},
    **{
        f"shared_{op}_wavefronts": f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"
        for op in ("ld", "st", "atom")
    },
    **{
        f"shared_{op}_conflicts": f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum"
        for op in ("ld", "st")
    },
    "issued_branch_divergent": "smsp__sass_branch_targets_threads_divergent.sum",
}
TIME = "gpu__time_duration.sum"  # modelled here
_COLUMNS = (
    "Kernel Name",
    "Launches",
    "Grid Size",
    "Block Size",
    "Source",
    "Metric Name",
    "Metric Unit",
    "Metric Value",
    "SASS",
)
# What makes a line busy: the sectors and wavefronts that it moves.
_TRAFFIC = ("global_ld_sectors", "global_st_sectors", "global_red_sectors", "global_atom_sectors",
            "local_ld_sectors", "local_st_sectors", "shared_ld_wavefronts", "shared_st_wavefronts",
            "shared_atom_wavefronts")  # fmt: skip


def read_profile(path: Path) -> dict[str, Any]:
    """The document that the runtime library has written, with ncu's names added."""
    if not path.is_file():
        raise MachineError(
            "the program ended without a profile: it left before its handlers of exit() could run"
        )
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    for kernel in document["kernels"]:
        kernel["metrics"] = _metrics(kernel["counters"]) | {TIME: kernel["modelled_seconds"] * 1e9}
        for line in kernel["lines"]:
            line["metrics"] = _metrics(line["counters"])
    return document


def add_listings(document: dict[str, Any], texts: list[Path]) -> None:
    """Give each line of the profile its PTX and machine code; `texts` are the PTX files that were run."""
    workbook = find_workbook()
    lines = [line for kernel in document["kernels"] for line in kernel["lines"]]
    sources = sorted({line["file"] for line in lines})
    found = [read_listing(workbook, text, sources) for text in texts] if sources else []
    document["listing"] = {
        "target": next((one.target for one in found), ""),
        "why": next((one.why for one in found), ""),
    }
    for line in lines:
        codes = [code for one in found if (code := one.lines.get((line["file"], line["line"])))]
        line["ptx"] = [{"text": one.text, "meaning": one.meaning} for code in codes for one in code.ptx]
        line["sass"] = [
            {"offset": one.place, "text": one.text, "meaning": one.meaning}
            for code in codes
            for one in code.sass
        ]


def _instructions(line: dict[str, Any]) -> list[str]:
    """The line's machine code, or PTX where there is none: what touches memory, each form once."""
    kind, code = ("SASS", line["sass"]) if line["sass"] else ("PTX", line["ptx"])
    forms: dict[tuple[str, str], int] = {}
    for one in code:
        words = one["text"].split()
        mnemonic = words[1] if words[0].startswith("@") and len(words) > 1 else words[0]
        if "memory" in one["meaning"] or "shared" in one["meaning"]:
            forms[mnemonic, one["meaning"]] = forms.get((mnemonic, one["meaning"]), 0) + 1
    return [
        f"{kind} {f'{count} x ' if count > 1 else ''}{mnemonic}: {meaning}"
        for (mnemonic, meaning), count in forms.items()
    ]


def _metrics(counters: dict[str, int]) -> dict[str, float]:
    return {metric: counters[name] for name, metric in METRICS.items()}


def _size(triple: list[int]) -> str:
    return "x".join(map(str, triple))


def _traffic(line: dict[str, Any]) -> int:
    return sum(line["counters"][name] for name in _TRAFFIC)


def _counts(counters: dict[str, int]) -> str:
    shown = [
        f"{counters[name]:,} {name.removeprefix('issued_').replace('_', ' ')}"
        for name in METRICS
        if counters[name]
    ]
    return ", ".join(shown)


def print_page(document: dict[str, Any], lines: int) -> None:
    """For each kernel: how often, how long and why, its counters, and its busiest lines."""
    out = console(error=True)
    if not document["kernels"]:
        print("warpbook: the program ran no kernel", file=sys.stderr)
    for kernel in document["kernels"]:
        launches = f"{kernel['launches']:,} launch" + ("es" if kernel["launches"] != 1 else "")
        shape = f"<<<{_size(kernel['grid'])}, {_size(kernel['block'])}>>>"
        out.print(f"{kernel['name']}: {launches}, the last {shape}", markup=False)
        time = f"{kernel['modelled_seconds'] * 1e6:,.1f} µs in all, ± {100 * document['error_band']:.0f} %"
        out.print(f"  modelled {time}; {kernel['limiter']}")
        out.print(f"  {_counts(kernel['counters']) or 'no memory accesses'}")
        busy = sorted(kernel["lines"], key=_traffic, reverse=True)[:lines]
        for line in filter(_traffic, busy):
            out.print(f"  {line['file']}:{line['line']}: {_counts(line['counters'])}", markup=False)
            for words in _instructions(line):
                out.print(f"    {words}", markup=False)
    if why := document["listing"]["why"]:
        out.print(f"  no machine code: {why}", markup=False)


def write_profile(document: dict[str, Any], path: Path) -> None:
    """JSON with everything, or CSV with a row for each metric of each kernel and line, as ncu --csv has."""
    text = json.dumps(document, indent=1) + "\n"
    if path.suffix == ".csv":
        written = io.StringIO()
        rows = csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n")
        rows.writerow(_COLUMNS)
        for kernel in document["kernels"]:
            first = [kernel["name"], kernel["launches"], _size(kernel["grid"]), _size(kernel["block"])]
            places = [("", kernel), *((f"{line['file']}:{line['line']}", line) for line in kernel["lines"])]
            for place, holder in places:
                sass = "; ".join(one["text"] for one in holder.get("sass", []))
                for metric, value in holder["metrics"].items():
                    rows.writerow(
                        [*first, place, metric, "ns" if metric == TIME else "", f"{value:.10g}", sass]
                    )
        text = written.getvalue()
    write_whole(path, text.encode())
