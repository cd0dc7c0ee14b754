"""How far the time model is from the record of chapters 15 to 19: `python -m bench.chapter_errors [ch17 ...]`.

For each reference of bench/records/bench-NVIDIA-H200.json whose data is not in the L2 ("cold"), the time that `./chNN
--time SIZE` models, and whether the model has the kernels of one work and size in the measured order. If a record says
that clearing a buffer counts, the modelled time has it too, as a launch before the kernel's: `./chNN` times kernels
alone, on a GPU and on the model. Nothing needs a GPU.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.model import device_of, read_record
from bench.table import ROOT

RECORD = ROOT / "bench" / "records" / "bench-NVIDIA-H200.json"
CHAPTERS = ("ch15", "ch16", "ch17", "ch18", "ch19")
# What a reference of the record is called in its chapter, if not alike.
TASKS = {
    ("filter_3", "column"): "column, 3 x 3",
    ("filter_7", "column"): "column, 7 x 7",
}
# Times on skewed or constant inputs are not modelled.
WORKS_LEFT_OUT = ("histogram_skewed", "histogram_constant")


def clearing() -> float:
    """Microseconds that a launch takes before another one. What is cleared, at most 0.3 MB, takes under 0.1 of it."""
    return 1e6 * float(device_of(read_record()).next_launch)


def modelled(chapter: str, sizes: list[str]) -> dict[tuple[str, str], float]:
    """Microseconds by task and size, of the chapter's solution."""
    solution = next((ROOT / "solutions").glob(f"{chapter}_*")) / "kernel.cu"
    command = [str(ROOT / chapter), "--device", "emulator", "--kernel", str(solution)]
    timings = _result([*command, "--time", ",".join(sizes)]).get("timings", [])
    return {(one["task"], size_of(one)): 1e6 * one["seconds"] for one in timings if one.get("seconds")}


def _result(command: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.json"
        subprocess.run([*command, "--quiet", "--json", str(out)], check=False, stdout=subprocess.DEVNULL)
        result: dict[str, Any] = json.loads(out.read_text())
    return result


def size_of(case: dict[str, Any]) -> str:
    """As --time takes it; a product of the record is that of square matrices."""
    if case.get("work") == "product" or case.get("depth"):
        return f"{case['rows']}x{case['columns']}x{case.get('depth') or case['columns']}"
    return f"{case['rows']}x{case['columns']}" if case.get("rows") else str(case["n"])


def main(chapters: list[str]) -> int:
    """Prints one line for each kernel and size, then the mean error and the works in another order."""
    cases = [case for case in json.loads(RECORD.read_text())["cases"] if case["l2"] == "cold"]
    errors: list[float] = []
    swapped: list[str] = []
    for chapter in chapters or CHAPTERS:
        own = [
            (case, [one for one in case["results"] if one["name"].startswith(f"{chapter} ")])
            for case in cases
            if case["work"] not in WORKS_LEFT_OUT
        ]
        own = [(case, results) for case, results in own if results]
        times = modelled(chapter, [*dict.fromkeys(size_of(case) for case, _ in own)])
        for case, results in own:
            pairs: list[tuple[float, float]] = []
            for one in results:
                name = one["name"].removeprefix(f"{chapter} ")
                time = times.get((TASKS.get((case["work"], name), name), size_of(case)))
                if time is None:
                    print(f"{chapter} {name}, {size_of(case)}: not modelled")
                    continue
                if "zeroing" in one.get("note", ""):
                    time += clearing()
                error = time / one["us"] - 1
                errors.append(abs(error))
                pairs.append((one["us"], time))
                note = f" ({one['note']})" if one.get("note") else ""
                print(
                    f"{chapter} {name}, {size_of(case)}: measured {one['us']:.0f} us{note}, "
                    f"modelled {time:.0f} us, {100 * error:+.1f} %"
                )
            if sorted(pairs) != sorted(pairs, key=lambda pair: pair[1]):
                swapped.append(f"{case['work']} {size_of(case)}")
    if not errors:
        print("nothing to compare")
        return 1
    print(
        f"{len(errors)} times: mean error {100 * sum(errors) / len(errors):.1f} %, largest {100 * max(errors):.1f} %"
    )
    print(f"in another order than measured: {', '.join(swapped) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
