"""The roofline's points: every task that was timed, its arithmetic counted and its time modelled or measured."""

from .chapter import View
from .figures import Figure, Record, product, quotient, slope, total
from .launches import launches
from .pictures.roofline import Point, Roof

# FP32 additions per clock of one SM, by compute capability (CUDA C++ Programming Guide, "Arithmetic
# Instructions": results per clock cycle per multiprocessor).
ADDS_PER_CLOCK = {
    "7.0": 64, "7.5": 64, "8.0": 64, "8.6": 128, "8.9": 128, "9.0": 128, "10.0": 128, "12.0": 128,
}  # fmt: skip


def points_of(views: list[View], device: str) -> list[Point]:
    """The correct kernels that were timed for that device."""
    found = []
    for view in views:
        record = view.known.result
        if record is None or view.verdict not in ("PASS", "SLOW"):
            continue
        bandwidth = record.raw("bandwidth") or {}
        places: list[tuple[str | int, ...]] = [("bandwidth",)] if bandwidth else []
        if "tasks" in bandwidth:
            places = [("bandwidth", "tasks", i) for i in range(len(bandwidth["tasks"]))]
        found += [one for place in places if (one := _point(view, record, place, device))]
    return found


def roof_of(views: list[View], device: str) -> Roof | None:
    """The device's roof, from a result that names its peak and a trace that names its clock; None for neither."""
    for view in views:
        record = view.known.result
        peak = record.figure("bandwidth", "peak_gb_per_s") if record else None
        if record and peak and record.raw("bandwidth", "device") == device:
            return Roof(device, peak, _additions(views, device))
    return None


def _additions(views: list[View], device: str) -> Figure | None:
    """Billions a second."""
    for view in views:
        trace = view.known.trace
        gpu = (trace.raw("gpu") or {}) if trace else {}
        if trace and gpu.get("name") == device and gpu["compute_capability"] in ADDS_PER_CLOCK:
            rate = ADDS_PER_CLOCK[gpu["compute_capability"]]
            return Figure(
                rate * gpu["sm_count"] * gpu["clock_khz"] / 1e6, f"additions({trace.pointer('gpu')})"
            )
    return None


def _point(view: View, record: Record, at: tuple[str | int, ...], device: str) -> Point | None:
    task = record.raw(*at, "task")
    if record.raw(*at, "device") != device:
        return None
    bytes_each = quotient(record.figure(*at, "bytes"), record.figure(*at, "n"))
    intensity = quotient(_operations(view, record, task), bytes_each)
    gb_per_s = record.figure(*at, "gb_per_s")
    gflops = product(intensity, gb_per_s)
    if intensity is None or gb_per_s is None or gflops is None or gflops.value <= 0:
        return None
    is_most = "slope" not in intensity.source
    share = quotient(gb_per_s, record.figure(*at, "peak_gb_per_s"))
    return Point(
        view.name, str(task), intensity, gb_per_s, gflops, share, str(record.raw(*at, "kind")), is_most
    )


def _operations(view: View, record: Record, task: str) -> Figure | None:
    """For each element, at sizes where the fixed part of each block no longer counts.

    The result counts at one size and the trace at a smaller one; together they separate the two parts.
    """
    made = []
    for name in record.raw("counters", task, "kernels") or {}:
        at: tuple[str | int, ...] = ("counters", task, "kernels", name)
        launch = next(
            (one for one in launches(view.known.trace) if (one.task_name, one.name) == (task, name)), None
        )
        if launch is None:
            return None
        made.append(
            slope(
                record.figure(*at, "counts", "float_ops"),
                record.figure("counters", task, "n"),
                _blocks(record, *at, "grid"),
                launch.figure("counters", "float_ops"),
                launch.record.figure("tasks", launch.task, "case", "n"),
                _blocks(launch.record, "tasks", launch.task, "kernels", launch.kernel, "grid"),
            )
        )
    return total(made)


def _blocks(record: Record, *at: str | int) -> Figure:
    x, y, z = record.raw(*at)
    return Figure(x * y * z, f"volume({record.pointer(*at)})")
