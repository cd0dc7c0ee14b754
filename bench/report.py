"""Tables and plots from the record of `make bench`: docs/benchmarks.md and docs/benchmarks/.

    python -m bench.report            writes them again from bench/records/bench-*.json; needs no GPU
    python -m bench.report --check    only checks that the page and the plots agree with the record

A place for a table is the text between two comments, `<!-- bench: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grader.authoring import markers
from grader.core.entry import guarded
from grader.core.workbook import find_workbook, write_whole

from . import claims, plots, repeat
from .claims import Case
from .table import ROOT

PAGE = Path("docs/benchmarks.md")
PLOTS = Path("docs/benchmarks")
REPEATED = Path("bench/records/repeat")  # a run of another day
_NOTHING = "No GPU has been measured yet: `make bench` on a machine with one fills this in.\n"


class ReportError(Exception):
    """The page or a record is not as it should be."""


def find_record(root: Path) -> dict[str, Any] | None:
    """The record of the page: an H200's, or else the first; None if there is none."""
    found = sorted((root / "bench" / "records").glob("bench-*.json"))
    found.sort(key=lambda path: path.name != "bench-NVIDIA-H200.json")
    if not found:
        return None
    record: dict[str, Any] = json.loads(found[0].read_text("utf-8"))
    return record


# ---- Words -----------------------------------------------------------------------------------------------


def size_words(case: Case) -> str:
    """2^20 for a power of two, 65,536 x 2,048 for a matrix."""
    if case["rows"]:
        return f"{case['rows']:,} x {case['columns']:,}"
    n = case["n"]
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else f"{n:,}"


def three_digits(value: float) -> str:
    """1.23, 12.3, 123, 1,234."""
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [_row(head), "|---|" + "--:|" * (len(head) - 1), *(_row(row) for row in rows)]
    return "\n".join(lines) + "\n"


def _names(cases: Sequence[Case], role: str = "") -> list[str]:
    names: dict[str, None] = {}
    for case in cases:
        names.update((each["name"], None) for each in case["results"] if not role or each["role"] == role)
    return list(names)


def _cell(case: Case, name: str, key: str) -> str:
    found = claims.result_of(case, name)
    return three_digits(found[key]) if found and key in found else "–"


def _interval(best: claims.Best | None) -> str:
    if best is None:
        return "–"
    return f"{best.ratio:.3f}&nbsp;[{best.low:.3f},&nbsp;{best.high:.3f}]"  # on one line


# ---- The places ------------------------------------------------------------------------------------------


def conditions(record: dict[str, Any]) -> str:
    """What was measured on, and what was missing."""
    device, versions = record["device"], record["versions"]
    megabytes = device["l2_bytes"] / 2**20
    lines = [
        f"Measured on {record['date']}: {device['name']}, {device['sm_count']} SMs, L2 of {megabytes:.0f} MiB, "
        f"memory's peak {device['peak_gb_per_s']:,.0f} GB/s; "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
        + f". The whole run took {record['seconds']:.0f} s."
    ]
    if record["missing"]:
        lines += ["", "Missing:", ""]
        lines += [f"- {name}: {why}" for name, why in sorted(record["missing"].items())]
    errors = sorted({f"{name}, {words}" for name, words in failures(record)})
    if errors:
        lines += ["", "Not measured:", "", *(f"- {each}" for each in errors)]
    return "\n".join(lines) + "\n"


def failures(record: dict[str, Any]) -> list[tuple[str, str]]:
    """Contenders and sizes without a time, and why."""
    found = []
    for case in record["cases"]:
        if "error" in case:
            found.append((case["work"], f"{size_words(case)}: {case['error']}"))
        found += [(each["name"], each["error"]) for each in case["results"] if "error" in each]
    return found


def claims_table(record: dict[str, Any]) -> str:
    """What the references are to reach, and what they did."""
    rows = [
        (each.words, each.goal, each.found, "yes" if each.is_met else "**no**")
        for each in claims.judge(record)
    ]
    return _table(("", "goal", "measured", "met"), rows)


def _sums(record: dict[str, Any], l2: str) -> str:
    """Microseconds of the capstone and its peers at every size, and it over the fastest of them."""
    cases = claims.cases_of(record, "sum", l2)
    names = [claims.CAPSTONE, *_names(cases, "peer")]
    rows = [
        (
            size_words(case),
            *(_cell(case, name, "us") for name in names),
            _cell(case, claims.CAPSTONE, "gb_per_s"),
            _interval(claims.against_best(case, claims.CAPSTONE)),
        )
        for case in cases
    ]
    return _table(("size", *names, "GB/s", "over the fastest peer"), rows) + _notes(cases, "peer")


def _ladder(record: dict[str, Any]) -> str:
    """GB/s of the references from chapter to chapter, and what no launch is below."""
    cases = claims.cases_of(record, "sum")
    names, floor = sorted(_names(cases, "reference")), _names(cases, "floor")
    rows = [
        (
            size_words(case),
            *(_cell(case, name, "gb_per_s") for name in names),
            *(_cell(case, name, "us") for name in (*names, *floor)),
        )
        for case in cases
    ]
    head = (*(f"{name}, GB/s" for name in names), *(f"{name}, µs" for name in (*names, *floor)))
    return _table(("size", *head), rows) + _notes(cases, "reference")


def _notes(cases: Sequence[Case], role: str) -> str:
    """What there is to say about contenders, in one paragraph."""
    notes = {
        each["name"]: each["note"]
        for case in cases
        for each in case["results"]
        if each.get("note") and each["role"] == role
    }
    return "\n" + "; ".join(f"{name}: {note}" for name, note in notes.items()) + ".\n" if notes else ""


def _in_other_states(record: dict[str, Any], case: Case, name: str) -> list[str]:
    """GB/s of a contender in the same case with a dirty and with a warm L2."""
    cells = []
    for l2 in ("dirty", "warm"):
        others = claims.cases_of(record, case["work"], l2)
        same = [each for each in others if (each["n"], each["columns"]) == (case["n"], case["columns"])]
        cells.append(_cell(same[0], name, "gb_per_s") if same else "–")
    return cells


def _works(record: dict[str, Any], works: dict[str, str], *, has_sizes: bool = False) -> str:
    """GB/s and microseconds of everyone at each size of each work, named after the words for the work."""
    rows = []
    for work, words in works.items():
        for case in claims.cases_of(record, work):
            before = f"{words}, {size_words(case)}: " if has_sizes else words
            for each in sorted(case["results"], key=lambda each: each.get("us", 1e99)):
                if "us" not in each:
                    continue
                name = before + each["name"] + (f" ({each['note']})" if each.get("note") else "")
                told = (three_digits(each["us"]), three_digits(each["gb_per_s"]))
                rows.append((name, *told, *_in_other_states(record, case, each["name"])))
    if not rows:
        return "Not in the record.\n"
    return _table(("", "µs", "GB/s", "GB/s with a dirty L2", "GB/s without emptying the L2"), rows)


def _products(record: dict[str, Any]) -> str:
    """TFLOP/s and microseconds of everyone, for each size."""
    rows = []
    for case in claims.cases_of(record, "product"):
        side = case["rows"]
        for each in sorted(case["results"], key=lambda result: result.get("us", 1e99)):
            if "us" in each:
                name = f"{side:,}: {each['name']}" + (f" ({each['note']})" if each.get("note") else "")
                rows.append((name, three_digits(each["us"]), f"{2e-6 * side**3 / each['us']:.1f}"))
    return _table(("", "µs", "TFLOP/s"), rows) if rows else "Not in the record.\n"


def _adds(record: dict[str, Any], work: str) -> str:
    """GB/s of everyone at every size with a cold L2, and the ratio with a dirty and a warm one too."""
    cases = claims.cases_of(record, work)
    reference = claims.ADD if work == "add" else claims.ADD_BF16
    others = [
        {case["n"]: claims.against_best(case, reference) for case in claims.cases_of(record, work, l2)}
        for l2 in ("dirty", "warm")
    ]
    names = [reference, *(name for name in _names(cases) if name != reference)]
    rows = [
        (
            size_words(case),
            *(_cell(case, name, "gb_per_s") for name in names),
            _interval(claims.against_best(case, reference)),
            *(_interval(best_of.get(case["n"])) for best_of in others),
        )
        for case in cases
    ]
    configs = {
        size_words(case): each["note"]
        for case in cases
        for each in case["results"]
        if each["name"] == "Triton, tuned" and each.get("note")
    }
    told = "; ".join(f"{size}: {note}" for size, note in configs.items())
    head = ("size", *names, "over the fastest peer", "with a dirty L2", "with a warm L2")
    return _table(head, rows) + (f"\nTriton, tuned: {told}.\n" if told else "")


def counters_table(record: dict[str, Any]) -> str:
    """What ncu counted of every contender's kernels."""
    if not record.get("counters"):
        return f"Not counted: {record['missing'].get('ncu', 'ncu was left out of this run')}.\n"
    rows = []
    for each in record["counters"]:
        n, requests = each["n"], each.get("load_requests", 0)
        rows.append(
            (
                f"{each['work']}: {each['name']}",
                str(each["launches"]),
                f"{each.get('registers', 0):.0f}",
                f"{32 * each.get('instructions', 0) / n:.2f}",
                f"{n / requests:.1f}" if requests else "–",
                f"{each['load_sectors'] / requests:.2f}" if requests else "–",
                f"{each.get('dram_read_bytes', 0) / n:.2f}",
                f"{each.get('dram_write_bytes', 0) / n:.2f}",
            )
        )
    head = ("", "kernels", "registers", "lane instructions an element", "elements a load request")
    return _table((*head, "sectors a request", "bytes read an element", "bytes written an element"), rows)


PLACES: dict[str, Callable[[dict[str, Any]], str]] = {
    "conditions": conditions,
    "claims": claims_table,
    "sums-cold": lambda record: _sums(record, "cold"),
    "sums-dirty": lambda record: _sums(record, "dirty"),
    "sums-warm": lambda record: _sums(record, "warm"),
    "sums-ladder": _ladder,
    "rows": lambda record: _works(record, {"rows": ""}),
    "add": lambda record: _adds(record, "add"),
    "add-bf16": lambda record: _adds(record, "add_bf16"),
    "transpose": lambda record: _works(record, {"transpose": ""}),
    "histogram": lambda record: _works(
        record, {work: f"{words}: " for work, words in claims.HISTOGRAMS.items()}
    ),
    "scan": lambda record: _works(record, {"scan": ""}),
    "filters": lambda record: _works(record, {"filter_3": "3 x 3: ", "filter_7": "7 x 7: "}),
    "softmax": lambda record: _works(
        record, {work: words for work, (words, *_) in claims.ROW_WORKS.items()}, has_sizes=True
    ),
    "products": _products,
    "counters": counters_table,
    "repeat": lambda record: repeat.table(record, ROOT / REPEATED),
}


def fill(page: str, record: dict[str, Any] | None) -> str:
    """The page with its places filled; ReportError when one is lacking, unknown or has no end."""
    try:
        names = [place.argument for place in markers.places(page) if place.kind == "bench"]
    except markers.MarkerError as error:
        raise ReportError(f"{PAGE}: {error}") from None
    if sorted(names) != sorted(PLACES):
        raise ReportError(f"{PAGE} has the places {', '.join(names)}; there should be {', '.join(PLACES)}")

    def content(place: markers.Place) -> str:
        text = PLACES[place.argument](record) if record else _NOTHING
        return f"\n{text}\n"

    return markers.fill(page, content)


def write(root: Path) -> None:
    """Writes the page's tables and all plots."""
    record = find_record(root)
    page = root / PAGE
    write_whole(page, fill(page.read_text("utf-8"), record))
    if record:
        for name, svg in plots.render(record).items():
            write_whole(root / PLOTS / name, svg)


def out_of_step(root: Path) -> list[str]:
    """What does not show the committed record."""
    record = find_record(root)
    page = (root / PAGE).read_text("utf-8")
    wrong = [str(PAGE)] if fill(page, record) != page else []
    if record:
        for name in re.findall(r"\(benchmarks/([\w-]+\.svg)\)", page):
            path = root / PLOTS / name
            if not path.is_file() or plots.digest(record) not in path.read_text("utf-8"):
                wrong.append(str(PLOTS / name))
    return wrong


def for_terminal(record: dict[str, Any]) -> str:
    """The claims and the failures in 80 columns."""
    lines = []
    for claim in claims.judge(record):
        lines.append(f"  {'met' if claim.is_met else 'MISSED':<7}{claim.words}")
        lines += textwrap.wrap(
            f"{claim.goal}; {claim.found}", 78, initial_indent=" " * 9, subsequent_indent=" " * 9
        )
    for name, why in sorted(set(failures(record))):
        lines += textwrap.wrap(
            f"not measured: {name}: {why}", 78, initial_indent="  ", subsequent_indent=" " * 9
        )
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Writes, or checks. 1: out of step; 3: a page or a record that cannot be read."""
    root = find_workbook().root
    try:
        if list(arguments) == ["--check"]:
            wrong = out_of_step(root)
            for name in wrong:
                print(f"warpbook: {name} is not in step with the record: make bench-report", file=sys.stderr)
            return 1 if wrong else 0
        if arguments:
            print("usage: python -m bench.report [--check]", file=sys.stderr)
            return 2
        write(root)
    except (ReportError, OSError, ValueError, ImportError) as error:
        print(f"warpbook: {error}", file=sys.stderr)
        return 3
    print(f"{PAGE} and {PLOTS}/ show the record" if find_record(root) else f"{PAGE}: there is no record yet")
    return 0


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:])))
