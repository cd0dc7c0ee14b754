"""Slurm's commands: one function for each, with their answers in words for a teacher."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ....core.errors import MachineError

_PATIENCE = 120  # seconds for one command; sbatch itself tries again for a while if the controller is busy
_ENDED = {
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
    "REVOKED", "TIMEOUT",
}  # fmt: skip
# Put back into the queue, where it would stay: something went wrong on the node before or while it ran.
_STUCK = ("launch failed", "requeued held", "job requeued in held state")


class QueueError(Exception):
    """The controller did not answer; the text is the command's output. It may answer later."""


class FullError(Exception):
    """No more jobs are allowed at present: a limit of the account, the partition or the cluster."""


@dataclass(frozen=True)
class Job:
    """One job, or one of an array, as squeue shows it."""

    array: str  # the number that sbatch gave
    index: int  # in the array; 0 where the job is none
    state: str
    name: str
    reason: str  # why it does not run, or ended

    @property
    def id(self) -> str:
        """The form that scancel takes."""
        return self.array if self.index < 0 else f"{self.array}_{self.index}"

    @property
    def is_over(self) -> bool:
        """Whether, as far as Slurm knows, it does not run and will not."""
        return self.state in _ENDED

    @property
    def is_stuck(self) -> bool:
        """Whether Slurm gave up on it and holds it for inspection."""
        reason = self.reason.replace("_", " ").lower()
        return self.state in ("SPECIAL_EXIT", "REQUEUE_HOLD") or any(words in reason for words in _STUCK)

    @property
    def waits(self) -> bool:
        """Whether it is in the queue."""
        return self.state in ("PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT")


def check_installed() -> None:
    """Raise MachineError if this machine has no Slurm commands."""
    for command in ("sbatch", "squeue", "scancel", "scontrol"):
        if shutil.which(command) is None:
            raise MachineError(
                f"{command} is not on PATH, and ENGINE=slurm submits jobs with it: run this on a login node of the"
                " cluster (some need `module load slurm` first), or grade on this machine with ENGINE=local"
            )


def submit(arguments: Sequence[str], script: Path) -> str:
    """Runs sbatch: the number of the job or array.

    Raises FullError if there is no room, QueueError if the controller did not answer, MachineError if the
    request is refused.
    """
    done = _run("sbatch", "--parsable", *arguments, str(script))
    number = done.stdout.strip().split(";")[0]  # "12;cluster" where there are several clusters
    if done.returncode == 0 and number.isdigit():
        return number
    raise _refusal(done.stderr)


def _refusal(said: str) -> Exception:
    words = said.lower()
    said = _one_line(said)
    if re.search(r"submit *(job)? *limit|maxsubmit|job count|temporarily unable", words):
        return FullError(said)
    if re.search(r"unable to contact|socket timed out|connection|timed? ?out|backup controller", words):
        return QueueError(said)
    if "account" in words or "qos" in words:
        option = "account" if "account" in words else "qos"
        return MachineError(
            f"sbatch refuses the {option}: {said}\nsay which with --slurm {option}=NAME or in [slurm] of"
            " course.toml (`sacctmgr show associations user=$USER` lists yours)"
        )
    if "partition" in words:
        return MachineError(
            f"sbatch refuses the partition: {said}\n{_partitions()}; say which with --slurm partition=NAME or in"
            " [slurm] of course.toml"
        )
    if "time limit" in words:
        return MachineError(
            f"sbatch refuses the time: {said}\nask for less with --slurm time=MINUTES or in [slurm] of course.toml"
            " (`sinfo` shows each partition's limit)"
        )
    if "requested node configuration" in words or "generic resource" in words:
        return MachineError(
            f"sbatch finds no node that fits the job: {said}\nask for something else with --slurm gpus="
            " and memory= or in [slurm] of course.toml (`scontrol show nodes` lists the nodes)"
        )
    return MachineError(f"sbatch refuses the job: {said}")


def _partitions() -> str:
    try:
        names = sorted(set(_run("sinfo", "--noheader", "--format=%R").stdout.split()))
    except (QueueError, MachineError):
        names = []
    return f"this cluster has {', '.join(names)}" if names else "`sinfo` lists the partitions"


def queue(prefix: str) -> list[Job]:
    """The user's jobs whose names begin with `prefix`, including those that ended recently."""
    done = _run(
        "squeue", f"--user={os.getuid()}", "--noheader", "--array", "--states=all", "--format=%F|%K|%T|%j|%r"
    )
    if done.returncode != 0:
        raise QueueError(_one_line(done.stderr))
    jobs = []
    for line in done.stdout.splitlines():
        fields = line.strip().split("|", 4)
        if len(fields) == 5 and fields[3].startswith(prefix):
            array, index, state, name, reason = fields
            jobs.append(Job(array, int(index) if index.isdigit() else -1, state, name, reason))
    return jobs


def cancel(jobs: Iterable[str]) -> None:
    """Cancel jobs, arrays or elements of arrays; finished ones are not an error."""
    names = sorted(jobs)
    for begin in range(0, len(names), 500):  # a command line has an end
        done = _run("scancel", *names[begin : begin + 500])
        if done.returncode != 0 and "invalid job id" not in done.stderr.lower():
            raise QueueError(_one_line(done.stderr))


def largest_array() -> int:
    """The number of jobs that one array may have; 1 if the cluster allows none."""
    done = _run("scontrol", "show", "config")
    if done.returncode != 0:
        raise QueueError(_one_line(done.stderr))
    found = re.search(r"^MaxArraySize\s*=\s*(\d+)", done.stdout, re.MULTILINE)
    return max(1, int(found[1])) if found else 1


def longest_time(partition: str) -> int | None:
    """The minutes that a job may take in a partition ("": the default one); None if there is no limit."""
    done = _run("scontrol", "--oneliner", "show", "partition", *([partition] if partition else []))
    for line in done.stdout.splitlines():
        if partition or "Default=YES" in line:
            found = re.search(r"\bMaxTime=(?:(\d+)-)?(\d+):(\d+):(\d+)", line)
            if found:
                return (int(found[1] or 0) * 24 + int(found[2])) * 60 + int(found[3])
    return None


def _run(command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [command, *arguments],
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            start_new_session=True,  # Ctrl-C is for this program, which then cancels the jobs
        )
    except subprocess.TimeoutExpired:
        raise QueueError(f"{command} did not answer for {_PATIENCE} s") from None
    except OSError as error:
        raise MachineError(f"{command} cannot be run: {error.strerror}") from error


def _environment() -> dict[str, str]:
    """The caller's environment, without variables that would change the output read here."""
    unwanted = ("SQUEUE_", "SCANCEL_", "SBATCH_ARRAY", "SBATCH_WAIT", "SBATCH_DEBUG")
    return {name: value for name, value in os.environ.items() if not name.startswith(unwanted)} | {
        "LC_ALL": "C"
    }


def _one_line(said: str) -> str:
    lines = [re.sub(r"^\w+: (error: )?", "", line.strip()) for line in said.splitlines()]
    return "; ".join(line for line in lines if line) or "it gives no reason"
