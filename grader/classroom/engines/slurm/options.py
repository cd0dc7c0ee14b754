"""What a teacher can say about the jobs: [slurm] of course.toml, and the options of the same names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from ....core.errors import UsageError

_TIME = re.compile(r"\d+|\d+:\d\d(:\d\d)?|\d+-\d+(:\d\d){0,2}")  # as sbatch --time takes it
_LEAST = {"batch": 1, "jobs": 0, "retries": 0}
# What this package says itself: with other names, logs or arrays it would not find its jobs again.
_OURS = (
    "array",
    "chdir",
    "job-name",
    "output",
    "error",
    "parsable",
    "test-only",
    "wait",
    "wrap",
    "no-requeue",
)
_OUR_LETTERS = ("-a", "-D", "-J", "-o", "-e", "-W")


@dataclass(frozen=True)
class SlurmOptions:
    """Empty or 0 leaves the choice to the cluster, or to this package where the comment says so."""

    partition: str = ""
    account: str = ""
    qos: str = ""
    gpus: str = ""  # of a job: "1", or with a type "h200:1"; one where the device is the GPU
    time: str = ""  # of a job, as for sbatch; default enough for every kernel of a batch to use its limit
    memory: str = ""  # of a job: "3G"
    batch: int = 16  # kernels a job
    jobs: int = 0  # that run at once, at most
    retries: int = 2  # times that a kernel whose job was lost is submitted again
    extra: tuple[str, ...] = ()  # further arguments for sbatch

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str) -> Self:
        """From a table of course.toml; a wrong key or value raises UsageError, which begins with `where`."""
        return cls()._with(table, f"{where}: ")

    def with_words(self, words: Sequence[str]) -> Self:
        """With what the command line gives as --slurm KEY=VALUE; extra=ARGUMENT may come several times."""
        values: dict[str, Any] = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals:
                raise UsageError(f"--slurm needs KEY=VALUE, not {word!r:.60}")
            if key == "extra":
                values[key] = [*values.get(key, []), value]
            else:
                values[key] = int(value) if key in _LEAST and value.isdecimal() else value
        return self._with(values, "--slurm ")

    def _with(self, values: Mapping[str, Any], where: str) -> Self:
        names = [field.name for field in fields(self)]
        for key in values:
            if key not in names:
                raise UsageError(f"{where}there is no {key!r:.40}; there are {', '.join(names)}")
        read = {key: _read(value, getattr(self, key), f"{where}{key}") for key, value in values.items()}
        for key, least in _LEAST.items():
            if key in read and read[key] < least:
                raise UsageError(f"{where}{key} must be at least {least}, not {read[key]}")
        time = read.get("time", "")
        if time and not _TIME.fullmatch(time):
            raise UsageError(f"{where}time must be minutes or hours:minutes:seconds, not {time!r:.40}")
        for argument in read.get("extra", ()):
            if not argument.startswith("-"):
                raise UsageError(
                    f"{where}extra: {argument!r:.40} is not an option; write --name=value as one word"
                )
            if argument.split("=")[0].lstrip("-") in _OURS or argument.startswith(_OUR_LETTERS):
                raise UsageError(f"{where}extra: {argument:.40} is for the workbook to say")
        return replace(self, **read)


def _read(value: Any, default: Any, name: str) -> Any:
    """`value` with the type of `default`."""
    if isinstance(default, tuple):
        words = list(value) if isinstance(value, list | tuple) else [value]
        if all(isinstance(word, str) and _is_plain(word) for word in words):
            return tuple(words)
        raise UsageError(f"{name} must be a list of strings, one argument of sbatch each")
    if isinstance(default, int):
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise UsageError(f"{name} must be a whole number, not {value!r}")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # time = 30, gpus = 1
    if isinstance(value, str) and _is_plain(value):
        return value
    raise UsageError(f"{name} must be a string, not {value!r}")


def _is_plain(word: str) -> bool:
    return word.isprintable()
