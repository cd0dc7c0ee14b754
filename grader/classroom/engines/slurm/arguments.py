"""What sbatch is told."""

import math
from collections.abc import Sequence

from ...tasks import Task
from . import commands
from .options import SlurmOptions

_STARTUP = 300.0  # seconds of a job's time for what is not judging: a slow shared disk, a cold node


def arguments_for(name: str, batches: Sequence[Sequence[Task]], options: SlurmOptions) -> list[str]:
    """The options of sbatch for some batches: an array of jobs, or a plain job where there is one.

    The script sees to its own folder and log, which a path in an option could not name if it holds a % or a
    backslash, and which may not be there on the node.
    """
    first = batches[0][0]
    gpus = options.gpus or ("1" if first.settings.device == "gpu" else "")
    chosen = {
        "--job-name": name,
        "--array": f"0-{len(batches) - 1}" if len(batches) > 1 else "",
        "--chdir": "/",
        "--output": "/dev/null",
        "--export": "ALL",
        "--ntasks": "1",
        "--time": options.time or str(_minutes(batches, options.partition)),
        "--partition": options.partition,
        "--account": options.account,
        "--qos": options.qos,
        "--gres": f"gpu:{gpus}" if gpus else "",
        "--mem": options.memory,
    }
    return ["--requeue", *(f"{option}={value}" for option, value in chosen.items() if value), *options.extra]


def _minutes(batches: Sequence[Sequence[Task]], partition: str) -> int:
    """Enough for every kernel to use up its own time, or as long as the partition allows."""
    seconds = max(sum(task.settings.time_limit for task in batch) for batch in batches)
    wanted = math.ceil((seconds + _STARTUP) / 60)
    longest = commands.longest_time(partition)
    return min(wanted, longest) if longest else wanted
