"""The arguments of sbatch."""

import math
from collections.abc import Sequence

from ...tasks import Task
from . import commands
from .options import SlurmOptions

_STARTUP = 300.0  # seconds of a job's time for everything except judging: a slow shared disk, a cold node


def arguments_for(name: str, batches: Sequence[Sequence[Task]], options: SlurmOptions) -> list[str]:
    """The options of sbatch for some batches: an array of jobs, or a plain job if there is only one.

    The script sets up its folder and log, because a path in an option must not contain a % or a backslash,
    and the folder may not exist on the node.
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
    """Enough time for every kernel to use its limit, or as long as the partition allows."""
    seconds = max(sum(task.settings.time_limit for task in batch) for batch in batches)
    wanted = math.ceil((seconds + _STARTUP) / 60)
    longest = commands.longest_time(partition)
    return min(wanted, longest) if longest else wanted
