"""`make bench`: its figures, tables and plots without a GPU, and what the committed record must show."""

import ctypes
import json
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import bench, claims, counting, plots, report, stats, timing
from bench.compiling import tool
from bench.gpu import GpuError, find_kernel, shape_from
from bench.references import REFERENCES
from bench.works import WORKS, wrong_sum

ROOT = Path(__file__).resolve().parents[1]
PEAK = 4800.0
PEERS = {
    "sum": ("CUB", "CUB, not guaranteed", "torch.sum", "thrust::reduce"),
    "rows": ("CUB segmented", "torch.sum(dim=1)"),
    "add": ("torch.add", "Triton", "Triton, tuned"),
    "add_bf16": ("torch.add", "Triton", "Triton, tuned"),
    "transpose": ("cudaMemcpy", "torch .t() copy"),
    **dict.fromkeys(("histogram", "histogram_skewed", "histogram_constant"), ("CUB", "a read alone")),
    "scan": ("CUB", "torch.cumsum"),
    **dict.fromkeys(("filter_3", "filter_7"), ("cudaMemcpy", "torch conv2d")),
    "product": ("cuBLAS",),
    **dict.fromkeys(("softmax", "softmax_bf16"), ("torch.softmax", "Triton", "cudaMemcpy")),
    **dict.fromkeys(("layer_norm", "layer_norm_bf16"), ("torch layer_norm", "Triton", "cudaMemcpy")),
}

SLOWER_STILL = {"softmax_bf16": 1.5, "layer_norm_bf16": 1.5}  # where most is claimed


# ---- A record that nobody measured -----------------------------------------------------------------------


def synthetic_record(slower=1.3, **changed):
    """A record in which peers take `slower` times as long as the references; cudaMemcpy less, conv2d more."""
    cases = []
    for kind in WORKS:
        best = next(each.name for each in REFERENCES if each.work == kind.key and each.is_best)
        for size in kind.sizes(quick=False):
            for l2 in timing.STATES:
                moved = kind.bytes_of(size)
                mine = 2.0 + moved / (0.97 * PEAK * 1e3)
                faster = {"cudaMemcpy": 0.98 / slower, "a read alone": 0.98 / slower, "torch conv2d": 4.0}
                times = {best: mine} | {
                    name: mine * slower * faster.get(name, SLOWER_STILL.get(kind.key, 1.0))
                    for name in PEERS[kind.key]
                }
                cases.append(
                    {
                        "work": kind.key,
                        "n": size.n,
                        "rows": size.rows,
                        "columns": size.columns,
                        "l2": l2,
                        "bytes": moved,
                        "launches_per_sample": 1,
                        "results": [
                            {
                                "name": name,
                                "role": "reference" if name == best else "peer",
                                "us": us,
                                "quartiles_us": [us, us],
                                "relative_error": 0.001,
                                "samples": 30,
                                "gb_per_s": moved / us / 1e3,
                            }
                            for name, us in times.items()
                        ],
                        "ratios": [
                            {
                                "reference": best,
                                "peer": name,
                                "ratio": us / mine,
                                "interval": [us / mine - 0.004, us / mine + 0.004],
                            }
                            for name, us in times.items()
                            if name != best
                        ],
                    }
                )
    return {
        "schema": "warpbook/bench/1",
        "date": "2000-01-01",
        "device": {
            "name": "NVIDIA H200",
            "architecture": "sm_90",
            "sm_count": 132,
            "clock_khz": 1980000,
            "l2_bytes": 60 << 20,
            "peak_gb_per_s": PEAK,
        },
        "versions": {"nvcc": "13.0.88"},
        "missing": {},
        "seconds": 100.0,
        "cases": cases,
        "counters": [],
        **changed,
    }


def case_of(record, work, n, l2="cold"):
    return next(c for c in record["cases"] if (c["work"], c["n"], c["l2"]) == (work, n, l2))


@pytest.fixture
def checkout(tmp_path):
    """A folder with the page and a record."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "bench/records").mkdir(parents=True)
    (tmp_path / "docs/benchmarks.md").write_text((ROOT / "docs/benchmarks.md").read_text())
    (tmp_path / "bench/records/bench-NVIDIA-H200.json").write_text(json.dumps(synthetic_record()))
    return tmp_path


# ---- The committed record --------------------------------------------------------------------------------


def committed_records():
    return sorted((ROOT / "bench/records").glob("bench-*.json"))


def test_there_is_a_record_of_an_h200():
    assert [path.name for path in committed_records()].count("bench-NVIDIA-H200.json") == 1


def test_the_page_and_the_plots_show_the_record():
    assert report.out_of_step(ROOT) == []


def test_the_committed_record_bears_out_every_claim():
    record = json.loads((ROOT / "bench/records/bench-NVIDIA-H200.json").read_text())
    assert record["schema"] == "warpbook/bench/1"
    judged = claims.judge(record)
    assert len(judged) == 54
    # docs/benchmarks.md names these and says what limits them. Nothing else may fall short.
    short = {each.words for each in judged if not each.is_met}
    both = ("cold", "dirty")
    assert short <= {
        *(f"vector add in bfloat16, {l2} L2, from 2^22 on: over PyTorch and Triton" for l2 in both),
        *(f"histogram, {what} bytes, {l2} L2: over CUB" for what in ("skewed", "equal") for l2 in both),
        *(f"softmax, rows of {n}, {l2} L2: over PyTorch" for n in ("2,048", "128") for l2 in both),
        *(
            f"softmax of bfloat16, rows of {n}, {l2} L2: over PyTorch"
            for n in ("128", "16,384")
            for l2 in both
        ),
        *(f"layer norm, rows of 2,048, {l2} L2: over PyTorch" for l2 in both),
        *(
            f"layer norm of bfloat16, rows of {n}, {l2} L2: over PyTorch"
            for n in ("2,048", "16,384")
            for l2 in both
        ),
        "product of 4,096 x 4,096, cold L2: over cuBLAS",
    }
    # No kernel reaches what is more than the bytes alone take; these are the others.
    unbounded = {
        each.words.partition(", ")[0] for each in judged if not each.is_met and ";" not in each.found
    }
    assert unbounded <= {
        "vector add in bfloat16",
        "softmax of bfloat16",
        "layer norm of bfloat16",
        "product of 4,096 x 4,096",
    }


# ---- Statistics ------------------------------------------------------------------------------------------


def noisy(seed, middle, count=60, noise=0.01):
    generator = random.Random(seed)
    return [middle * (1 + generator.gauss(0, noise)) for _ in range(count)]


def test_the_interval_of_a_thing_against_itself_holds_1_nearly_always():
    inside = 0
    for seed in range(100):
        ratio, low, high = stats.ratio_of_medians(noisy(2 * seed, 10.0), noisy(2 * seed + 1, 10.0))
        assert low <= ratio <= high
        inside += low <= 1 <= high
    assert inside >= 88  # 95 are expected; a bootstrap of medians is a little too sure of itself or less


def test_two_things_2_percent_apart_are_told_apart():
    apart = sum(
        stats.ratio_of_medians(noisy(2 * seed, 10.2), noisy(2 * seed + 1, 10.0))[1] > 1 for seed in range(50)
    )
    assert apart >= 48


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=50), st.floats(0.5, 100.0))
def test_a_ratio_is_that_of_the_scale(samples, scale):
    ratio, low, high = stats.ratio_of_medians([scale * each for each in samples], samples)
    assert ratio == pytest.approx(scale)
    assert low <= ratio * (1 + 1e-9) and ratio <= high * (1 + 1e-9)


def test_the_relative_error_falls_with_the_root_of_the_count_and_minds_no_outlier():
    few, many = noisy(1, 10.0, 100), noisy(1, 10.0, 6400)
    assert stats.relative_error(few) / stats.relative_error(many) == pytest.approx(8, rel=0.3)
    assert stats.relative_error([*few, 1000.0]) == pytest.approx(stats.relative_error(few), rel=0.1)
    assert stats.relative_error(few) == pytest.approx(0.01 * 1.2533 / 10, rel=0.3)
    assert stats.relative_error([1.0]) > 1e9


def test_the_geometric_mean():
    assert stats.geometric_mean([1.0, 2.0, 4.0]) == pytest.approx(2.0)


# ---- Claims ----------------------------------------------------------------------------------------------


def test_a_good_record_bears_out_all_claims():
    assert [each.words for each in claims.judge(synthetic_record()) if not each.is_met] == []


def test_the_ratio_of_one_size_misses_the_claim_and_names_it():
    record = synthetic_record()
    case = case_of(record, "sum", 2**14)
    case["ratios"][2] |= {"ratio": 0.98, "interval": [0.97, 0.99]}
    missed = [each for each in claims.judge(record) if not each.is_met]
    assert [each.found for each in missed] == ["least 0.980 [0.970, 0.990], n = 16,384, torch.sum"]


def test_a_warm_l2_is_shown_and_not_claimed():
    record = synthetic_record()
    case_of(record, "sum", 2**14, "warm")["ratios"][0]["ratio"] = 0.5
    assert all(each.is_met for each in claims.judge(record))


def test_a_peer_that_is_missing_proves_nothing():
    record = synthetic_record()
    case = case_of(record, "add", 2**24)
    case["ratios"] = [each for each in case["ratios"] if each["peer"] != "Triton"]
    missed = [each for each in claims.judge(record) if not each.is_met]
    assert [each.found for each in missed] == ["not measured: Triton at n = 16,777,216"]


@pytest.mark.parametrize(
    ("work", "key", "value", "words"),
    [
        ("sum", "gb_per_s", 4559.0, "sum of 2^30 floats, cold L2"),
        ("rows", "gb_per_s", 4149.0, "rows, cold L2"),
    ],
)
def test_a_bandwidth_below_its_goal_is_a_miss(work, key, value, words):
    record = synthetic_record()
    case = claims.cases_of(record, work)[-1]
    case["results"][0][key] = value
    assert [each.words for each in claims.judge(record) if not each.is_met] == [words]


def test_slow_references_miss_everything_but_bandwidth():
    missed = [each.words for each in claims.judge(synthetic_record(slower=0.99)) if not each.is_met]
    # In each of two states of the L2; the goals of transpose and of the 3 x 3 filter are against cudaMemcpy.
    assert len(missed) == 2 * 22


def test_a_goal_that_no_kernel_can_reach_is_told_with_its_bound():
    record = synthetic_record()
    case = claims.cases_of(record, "histogram_skewed")[-1]
    read = next(each for each in case["results"] if each["name"] == "a read alone")
    read["us"] = claims.result_of(case, "CUB")["us"] / 1.25
    found = next(ratio for ratio in case["ratios"] if ratio["peer"] == "CUB")
    found |= {"ratio": 1.2, "interval": [1.19, 1.21]}
    missed = [each.found for each in claims.judge(record) if not each.is_met]
    assert missed == ["1.200 [1.190, 1.210]; a read alone is at 1.250"]


def test_a_ratio_is_judged_in_two_decimals():
    assert claims.at_least(0.9951, 1.0)
    assert not claims.at_least(0.9949, 1.0)


def test_the_best_peer_is_the_fastest():
    case = claims.cases_of(synthetic_record(), "transpose")[-1]
    best = claims.against_best(case)
    assert (best.peer, best.ratio) == ("cudaMemcpy", pytest.approx(0.98))
    assert claims.against_best(case, "nobody") is None


def test_a_peer_beyond_those_that_must_be_there_counts_too():
    record = synthetic_record()
    case_of(record, "sum", 2**20)["ratios"].append(
        {"reference": claims.CAPSTONE, "peer": "CUB 3.0.1", "ratio": 0.9, "interval": [0.8, 0.95]}
    )
    missed = [each for each in claims.judge(record) if not each.is_met]
    assert [each.found for each in missed] == ["least 0.900 [0.800, 0.950], n = 1,048,576, CUB 3.0.1"]


# ---- The page --------------------------------------------------------------------------------------------


def test_the_page_is_filled_once_and_for_all(checkout):
    report.write(checkout)
    page = (checkout / "docs/benchmarks.md").read_text()
    assert report.out_of_step(checkout) == []
    assert "| 2^30 |" in page and "65,536" in page and "NVIDIA H200" in page
    report.write(checkout)
    assert (checkout / "docs/benchmarks.md").read_text() == page


def test_a_changed_record_puts_page_and_plots_out_of_step(checkout):
    report.write(checkout)
    path = checkout / "bench/records/bench-NVIDIA-H200.json"
    path.write_text(json.dumps(synthetic_record(slower=1.4)))
    assert report.out_of_step(checkout) == [
        "docs/benchmarks.md",
        "docs/benchmarks/sum-bandwidth.svg",
        "docs/benchmarks/sum-ratio.svg",
        "docs/benchmarks/roofline.svg",
    ]


def test_a_plot_that_is_gone_is_out_of_step(checkout):
    report.write(checkout)
    (checkout / "docs/benchmarks/roofline.svg").unlink()
    assert report.out_of_step(checkout) == ["docs/benchmarks/roofline.svg"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<!-- bench: claims -->", "<!-- bench: claim -->"),
        ("<!-- bench: rows -->", ""),
        ("<!-- bench: counters -->\n", "<!-- bench: counters --> \n"),
    ],
)
def test_a_place_that_is_lost_is_an_error(old, new):
    page = (ROOT / "docs/benchmarks.md").read_text()
    assert old in page
    with pytest.raises(report.ReportError):
        report.fill(page.replace(old, new), synthetic_record())


def test_without_a_record_every_place_says_so():
    page = report.fill((ROOT / "docs/benchmarks.md").read_text(), None)
    assert page.count("No GPU has been measured yet") == len(report.PLACES)


def test_what_failed_and_what_is_missing_is_named():
    record = synthetic_record(missing={"Triton": "not installed"})
    result = case_of(record, "sum", 2**20)["results"][1]
    del result["us"]
    result["error"] = "wrong result: the sum is 3, not 4"
    record["cases"].append({**case_of(record, "rows", 65536 * 2048), "error": "out of memory", "results": []})
    page = report.fill((ROOT / "docs/benchmarks.md").read_text(), record)
    assert "- Triton: not installed" in page
    assert "- CUB, wrong result: the sum is 3, not 4" in page
    assert "- rows, 65,536 x 2,048: out of memory" in page
    row = next(line for line in page.splitlines() if line.startswith("| 2^20 |"))
    assert row.split(" | ")[2] == "–"


def test_what_the_terminal_shows_fits_80_columns():
    record = synthetic_record(slower=0.9)
    case_of(record, "sum", 2**20)["results"][1]["error"] = "a long message " * 20
    text = report.for_terminal(record)
    assert "MISSED" in text and "met" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("value", "text"), [(1.234, "1.23"), (9.999, "10.0"), (12.34, "12.3"), (99.96, "100"), (1234.5, "1,234")]
)
def test_three_digits(value, text):
    assert report.three_digits(value) == text


def test_counters_are_given_for_each_element():
    record = synthetic_record()
    record["counters"] = [
        {"work": "sum", "n": 1 << 20, "name": "CUB", "launches": 2, "instructions": 1 << 16, "registers": 32}
        | {
            "load_requests": 1 << 13,
            "load_sectors": 1 << 17,
            "dram_read_bytes": 1 << 22,
            "dram_write_bytes": 0,
        }
    ]
    assert "| sum: CUB | 2 | 32 | 2.00 | 128.0 | 16.00 | 4.00 | 0.00 |" in report.counters_table(record)


def test_report_refuses_words_that_it_does_not_know(capsys):
    assert report.main(["--chek"]) == 2
    assert "usage" in capsys.readouterr().err


# ---- The plots -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn():
    return plots.render(synthetic_record())


def test_every_plot_is_a_picture_with_words_for_who_cannot_see_it(drawn):
    assert sorted(drawn) == ["roofline.svg", "sum-bandwidth.svg", "sum-ratio.svg"]
    for svg in drawn.values():
        top = ET.fromstring(svg)
        space = "{http://www.w3.org/2000/svg}"
        assert top.tag == f"{space}svg" and top.get("role") == "img"
        assert top.find(f"{space}title").text and top.find(f"{space}desc").text
        assert len(list(top.iter(f"{space}path"))) > 10
        assert len(list(top.iter(f"{space}text"))) > 10


def test_every_colour_of_a_plot_has_a_dark_twin(drawn):
    for svg in drawn.values():
        body = svg.partition("</style>")[2]
        assert "var(--ink)" in body and "var(--paper)" in body
        assert set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", body)) == set()


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("name", sorted(set(plots.COLOURS) - {"paper", "line"}))
def test_every_colour_stands_out_from_the_paper(name, column):
    """WCAG 2, 1.4.3 and 1.4.11: 4.5 for text, 3 for lines."""
    lighter, darker = sorted((luminance(plots.COLOURS[n][column]) for n in (name, "paper")), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= (4.5 if name in ("ink", "faint") else 3)


def test_the_same_record_draws_the_same_plots(drawn):
    assert plots.render(synthetic_record()) == drawn


def test_a_record_with_nothing_in_it_can_be_drawn():
    assert len(plots.render(synthetic_record(cases=[]))) == 3


# ---- Timing ----------------------------------------------------------------------------------------------


class FakeDevice:
    """Does nothing but keep a log; each event's time is the number of entries before it."""

    def __init__(self):
        self.log, self.late, self.stream = [], 0, 0
        self.figures = {"l2_bytes": 1 << 20, "sm_count": 4, "clock_khz": 1_000_000}
        self.driver = SimpleNamespace(cuLaunchKernel=self._launched)

    def _launched(self, handle, *_arguments):
        self.log.append(handle)
        return (0,)

    def function(self, _module, name):
        return SimpleNamespace(name=name, handle=name)

    def allocate(self, _count):
        return 4096

    def fill(self, address, pattern, count):
        pass

    def event(self):
        return {"at": None}

    def mark(self, event):
        event["at"] = len(self.log)
        self.log.append("event")

    def is_reached(self, _event):
        self.late -= 1
        return self.late >= 0

    def seconds(self, begin, end):
        return float(end["at"] - begin["at"] - 1)

    def synchronize(self):
        self.log.append("synchronize")


class FakeClocks:
    def __init__(self, reasons=()):
        self.reasons = reasons

    def slowed_by(self):
        return self.reasons


QUICK = timing.Effort(least=20, most=20, error=1.0, seconds=60.0)


def make(device, reasons=()):
    return timing.Timer(device, None, FakeClocks(reasons))


def contender(device, name, launches=1, **more):
    return timing.Contender(
        name, "peer", lambda slot: device.log.extend([f"{name}{slot}"] * launches), **more
    )


def test_a_sample_lies_between_two_events_behind_a_delay_and_a_clean_l2():
    device = FakeDevice()
    one = contender(device, "a", reset=lambda: device.log.append("poison"))
    timer = make(device)
    timer.measure([one], 3, QUICK, state="cold")
    begin = device.log.index("poison")
    assert device.log[begin : begin + 9] == [
        *("poison", "delay", "flush_write", "flush_read", "event", "a0", "a1", "a2", "event"),
    ]
    assert "synchronize" not in device.log[begin : begin + 9 * timing.BATCH_ROUNDS]


def test_a_dirty_l2_was_written_last():
    device = FakeDevice()
    make(device).measure([contender(device, "a")], 1, QUICK, state="dirty")
    begin = device.log.index("flush_read")
    assert device.log[begin : begin + 5] == ["flush_read", "flush_write", "event", "a0", "event"]


def test_a_warm_sample_runs_once_on_the_same_input_first_and_empties_nothing():
    device = FakeDevice()
    one = contender(device, "a", reset=lambda: device.log.append("poison"))
    make(device).measure([one], 2, QUICK, state="warm")
    begin = device.log.index("poison")
    assert device.log[begin : begin + 7] == ["poison", "a0", "delay", "event", "a0", "a0", "event"]
    assert "flush_write" not in device.log


def test_contenders_take_turns_in_changing_order_and_get_their_own_times():
    device = FakeDevice()
    three = [contender(device, name, launches) for name, launches in (("a", 1), ("b", 2), ("c", 3))]
    results = make(device).measure(three, 2, QUICK, state="cold")
    assert {name: set(each.seconds) for name, each in results.items()} == {"a": {1.0}, "b": {2.0}, "c": {3.0}}
    assert {len(each.seconds) for each in results.values()} == {20}
    begun = device.log.index("delay")
    order = [entry[0] for entry in device.log[begun:] if entry in ("a1", "b1", "c1")]
    order = [name for i, name in enumerate(order) if i == 0 or order[i - 1] != name]
    assert len({tuple(order[i : i + 3]) for i in range(0, 30, 3)}) > 1


def test_a_sample_that_the_host_was_late_for_is_dropped():
    device = FakeDevice()
    device.late = 5
    results = make(device).measure([contender(device, "a")], 1, QUICK, state="cold")
    assert results["a"].host_behind == 5
    assert len(results["a"].seconds) == 25  # the next whole batch that reaches 20
    assert results["a"].delay > timing.LEAST_DELAY


def test_who_waits_for_his_result_is_never_late():
    device = FakeDevice()
    device.late = 1000
    results = make(device).measure([contender(device, "a", is_synchronous=True)], 1, QUICK, state="cold")
    assert results["a"].host_behind == 0 and len(results["a"].seconds) == 20


def test_samples_from_low_clocks_are_dropped():
    device = FakeDevice()
    effort = timing.Effort(seconds=0.05)
    results = make(device, ["power cap"]).measure([contender(device, "a")], 1, effort, state="cold")
    assert results["a"].seconds == [] and results["a"].slowed > 0 and results["a"].slowed_by == {"power cap"}


def test_unknown_clocks_drop_nothing():
    device = FakeDevice()
    results = make(device, None).measure([contender(device, "a")], 1, QUICK, state="cold")
    assert len(results["a"].seconds) == 20


@pytest.mark.parametrize("calls_before_failing", [0, 7])
def test_one_failure_is_recorded_and_the_others_go_on(calls_before_failing):
    device = FakeDevice()
    calls = iter(range(1000))

    def fails(slot):
        if next(calls) >= calls_before_failing:
            raise RuntimeError("no kernel image\n is available")

    pair = [timing.Contender("bad", "peer", fails), contender(device, "good")]
    results = make(device).measure(pair, 1, QUICK, state="cold")
    assert results["bad"].error == "RuntimeError: no kernel image is available"
    assert results["good"].error == "" and len(results["good"].seconds) == 20


# ---- Without a GPU ---------------------------------------------------------------------------------------


def test_without_cuda_bindings_the_remedy_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    assert bench.main(["--quick"]) == 3
    assert "cuda-bindings is not installed" in capsys.readouterr().err


def test_a_work_that_there_is_not_is_wrong_usage(capsys):
    assert bench.main(["--only", "rows,sort"]) == 2
    assert capsys.readouterr().err == "warpbook: there is no work sort\n"


# ---- Parts -----------------------------------------------------------------------------------------------


def test_a_kernel_is_found_by_either_name():
    names = ["_Z3sumPKfPfS1_Pjm", "launch_sum", "_Z12sum_partialsPKfPfi"]
    assert find_kernel("sum", names) == "_Z3sumPKfPfS1_Pjm"
    assert find_kernel("launch_sum", names) == "launch_sum"
    with pytest.raises(GpuError, match="no kernel is called su; the image has: launch_sum, sum"):
        find_kernel("su", names)
    with pytest.raises(GpuError, match="several kernels are called f"):
        find_kernel("f", ["_Z1fILi4EEvPf", "_Z1fILi8EEvPf"])


def test_a_launch_of_nothing_is_refused():
    assert shape_from("sum", [4, 1, 1], [256, 1, 1], 0).blocks == 4
    for grid, block, shared in (
        ([0, 1, 1], [1, 1, 1], 0),
        ([1, 1, 1], [0, 0, 0], 0),
        ([1, 1, 1], [1, 1, 1], -1),
    ):
        with pytest.raises(GpuError, match=r"LAUNCH\(sum\)"):
            shape_from("sum", grid, block, shared)


def test_a_sum_is_judged_to_the_bit_or_closely():
    assert wrong_sum(5.0, 5.0, is_exact=True) == ""
    assert wrong_sum(5.0001, 5.0, is_exact=True)
    assert wrong_sum(5.0001, 5.0, is_exact=False) == ""
    assert wrong_sum(5.001, 5.0, is_exact=False)
    for is_exact in (True, False):
        assert wrong_sum(float("nan"), 5.0, is_exact=is_exact)


def test_launches_behind_a_marker_belong_to_its_contender():
    printed = "noise\ncounted 1 sum 1024 ch14 capstone\ncounted 3 sum 1024 CUB, not guaranteed\n"
    launches = [
        {"kernel": "marker", "marker": 1},
        {"kernel": "sum", "instructions": 10, "seconds": 1e-6, "registers": 32},
        {"kernel": "marker", "marker": 2},
        {"kernel": "unknown", "instructions": 1000, "seconds": 1e-6},
        {"kernel": "marker", "marker": 3},
        {"kernel": "first", "instructions": 5, "seconds": 9e-6, "registers": 40},
        {"kernel": "second", "instructions": 6, "seconds": 1e-6, "registers": 16},
    ]
    mine, cub = counting.contenders_of(launches, printed)
    assert (mine["name"], mine["launches"], mine["instructions"]) == ("ch14 capstone", 1, 10)
    assert (cub["name"], cub["launches"], cub["instructions"]) == ("CUB, not guaranteed", 2, 11)
    assert cub["registers"] == 40  # of the one that takes longest


@pytest.mark.parametrize("reference", REFERENCES, ids=lambda each: each.name)
def test_a_reference_passes_what_its_kernels_take(reference):
    (source,) = (ROOT / "solutions").glob(f"{reference.chapter}_*/kernel.cu")
    kinds = {"n": "int", "rows": "int", "columns": "int", "blocks": "int", "n64": "size_t"}
    for each in reference.passes:
        found = re.search(
            rf"__global__ void (?:__launch_bounds__\([^)]*\)\s+)?{each.kernel}\(([^)]*)\)", source.read_text()
        )
        assert found, each.kernel
        taken = [" ".join(parameter.split()) for parameter in found[1].split(",")]
        assert len(taken) == len(each.arguments)
        for parameter, argument in zip(taken, each.arguments, strict=True):
            kind = kinds.get(argument, "*")
            assert (kind in parameter) if kind == "*" else parameter == f"{kind} {parameter.split()[-1]}"
            assert (argument in ("in", "in2")) <= ("const" in parameter)


def test_every_work_has_one_best_reference_and_the_claims_name_it():
    best = {each.work: each.name for each in REFERENCES if each.is_best}
    assert sorted(best) == sorted(kind.key for kind in WORKS)
    named = {claims.CAPSTONE, claims.ROWS, claims.ADD, claims.ADD_BF16, claims.TRANSPOSE}
    named |= {claims.HISTOGRAM, claims.SCAN, claims.FILTER, claims.PRODUCT}
    named |= {reference for _, reference, _, _ in claims.ROW_WORKS.values()}
    assert set(best.values()) == named


def test_the_sizes_are_those_that_are_promised():
    sums = [size.n for size in WORKS[0].sizes(quick=False)]
    assert sums == [2**k for k in (10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 29, 30)]


def compiled(source, output, *flags):
    command = [tool("nvcc"), "-std=c++17", "-arch=sm_90", *flags, "-o", str(output), str(ROOT / source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return output


def test_support_has_every_kernel_that_is_asked_for(nvcc, tmp_path):
    image = compiled("bench/support.cu", tmp_path / "support.ptx", "-ptx").read_text()
    has = set(re.findall(r"\.entry (\w+)", image))
    text = "".join((ROOT / "bench" / name).read_text() for name in ("works.py", "timing.py", "bench.py"))
    asked = set(
        re.findall(
            r'"(fill_\w+|wrong_\w+|add_up|count_bytes|flush_write|flush_read|delay|nothing|marker)"', text
        )
    )
    asked |= {
        f"wrong_{what}_{element}" for what in ("add", "softmax", "norms") for element in ("f32", "bf16")
    }
    assert asked == has


@pytest.mark.slow
def test_the_peers_compile_and_answer_without_a_gpu(nvcc, tmp_path):
    path = compiled("bench/peers.cu", tmp_path / "libpeers.so", "-shared", "-Xcompiler", "-fPIC")
    library = ctypes.CDLL(str(path))
    library.peers_room.restype = ctypes.c_size_t
    library.peers_room.argtypes = [ctypes.c_longlong, ctypes.c_longlong]
    library.peers_message.restype = ctypes.c_char_p
    assert library.peers_cccl_version() >= 3_000_000
    if library.peers_room(1 << 20, 0) == 0:  # here: no driver
        assert library.peers_message() != b""
