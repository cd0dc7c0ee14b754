"""Timing the learner's kernel at the sizes of the board: once for each kernel.cu and device."""

import sys
import tempfile
import uuid
from pathlib import Path

from ... import __version__
from ...core.errors import MachineError
from ...core.fingerprint import sha256_of
from ...core.history import History, Timing, now
from ...core.make import need_programs
from ...core.processes import Processes, clean_environment, cores, measures
from ...core.result import BrokenResultError, parse_result
from ...core.workbook import Chapter, Workbook
from . import MEASURED, MODELLED

_LIMIT = 600.0  # seconds; a GPU takes up to ten for a size


def time_kernel(workbook: Workbook, chapter: Chapter, sizes: list[int], device: str, gpu: str | None) -> None:
    """Run ./chNN --time with the current kernel.cu, unless that was done, and keep the results."""
    kind = MEASURED if measures(device) else MODELLED
    if kind == MEASURED:
        print(
            f"Timing {chapter.kernel} at {len(sizes)} sizes; this takes up to two minutes.", file=sys.stderr
        )
    need_programs(workbook, [chapter], jobs=cores())
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "times.json")
        command: list[str | Path] = [workbook.command(chapter), "--time", ",".join(map(str, sizes))]
        command += ["--quiet", "--device", device, "--json", output, *(["--gpu", gpu] if gpu else [])]
        finished = Processes().run(
            command, folder=workbook.root, limit=_LIMIT, environment=clean_environment()
        )
        try:
            result = parse_result(output.read_bytes(), chapter.name, finished.seconds).document
            found, sha256 = result.get("timings", []), result["build"]["source_sha256"]
        except (OSError, KeyError, TypeError, BrokenResultError):
            lines = finished.output.strip().splitlines()
            raise MachineError(
                f"./{chapter.name} could not be timed: {lines[-1] if lines else 'no result'}"
            ) from None
    identity, time = uuid.uuid4().hex, now()
    History(workbook.history).add_timings([
        Timing(identity, time, chapter.name, sha256, one["kind"], one["device"], one["n"], one["gb_per_s"],
               one.get("reference_gb_per_s"), one.get("peak_gb_per_s"), __version__)
        for one in found if one.get("gb_per_s")
    ])  # fmt: skip


def is_timed(workbook: Workbook, chapter: Chapter, sizes: list[int], device: str, gpu: str | None) -> bool:
    """Whether this version of the workbook has timed the current kernel.cu at all these sizes."""
    sha256, kind = sha256_of(workbook.root / chapter.kernel), MEASURED if measures(device) else MODELLED
    known = {
        one.n
        for one in History(workbook.history).timings(chapter.name)
        if (one.kernel_sha256, one.kind, one.workbook) == (sha256, kind, __version__)
        and (gpu or "").lower() in one.gpu.lower()
    }
    return known >= set(sizes)
