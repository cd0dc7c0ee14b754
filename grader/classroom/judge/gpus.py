"""The GPUs of this machine: one kernel at a time on each, and none on one that no longer works.

What is known of a device lies in small files of the temporary folder, which all processes of the machine share
and which are gone after a restart, as the trouble may be.
"""

import fcntl
import os
import re
import shlex
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ...core.errors import MachineError
from ...core.processes import Processes, measures

_WAIT = 0.1  # seconds between two looks for a device that is free
_NODES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-caps", "dxg")
_FOLDERS = ("/usr/lib/wsl/lib", "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib")
# Libraries in place of the driver's own, for the tests.
_NAMED = ("WARPBOOK_LIBCUDA", "WARPBOOK_LIBNVML")


@dataclass(frozen=True)
class Gpu:
    """One device, as CUDA_VISIBLE_DEVICES calls it, and what a program must be shown to use it."""

    name: str
    devices: tuple[Path, ...]
    shown: tuple[Path, ...]
    environment: dict[str, str]

    @property
    def mark(self) -> Path:
        """The file that says why it is out of use."""
        return _file(self.name, "out-of-use")

    def check(self, after: str, prove: Callable[[], str | None]) -> None:
        """Runs the health kernel: `prove` says what went wrong, or None.

        Raises MachineError, and takes the device out of use, where it does not pass.
        """
        words = prove()
        if words is None:
            return
        message = (
            f"GPU {self.name} is out of use: after {after}, the reference no longer passes on it ({words}). "
            f"Once it works again (nvidia-smi --gpu-reset, or a restart): rm -- {shlex.quote(str(self.mark))}"
        )
        with suppress(OSError):
            self.mark.write_text(message, "utf-8")
        raise MachineError(message)


@contextmanager
def gpu_for(device: str, processes: Processes) -> Iterator[Gpu | None]:
    """A device for one kernel alone, waited for where all are taken; None where the emulator is to judge.

    Raises MachineError when none is left that works.
    """
    if not (device == "gpu" or (device == "auto" and measures(device))):
        yield None
        return
    names = _names()
    while True:
        working = [name for name in names if not _file(name, "out-of-use").exists()]
        if not working:
            raise MachineError(_why_none(names))
        for name in working:
            descriptor = _lock(name)
            if descriptor is None:
                continue
            try:
                yield _gpu(name)
            finally:
                os.close(descriptor)
            return
        if processes.is_stopped:
            raise KeyboardInterrupt
        time.sleep(_WAIT)


def _names() -> list[str]:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [name.strip() for name in visible.split(",") if name.strip()]
    numbers = sorted(
        int(path.name[6:]) for path in Path("/dev").glob("nvidia[0-9]*") if path.name[6:].isdigit()
    )
    return [str(index) for index in range(len(numbers))] or ["0"]


def _why_none(names: list[str]) -> str:
    for name in names:
        with suppress(OSError):
            return _file(name, "out-of-use").read_text("utf-8")
    return "there is no GPU to judge on: CUDA_VISIBLE_DEVICES names none"


def _file(name: str, kind: str) -> Path:
    # Where Slurm shows a job its own devices only, all jobs' are called 0; the node's numbers tell them apart.
    node = os.environ.get("SLURM_JOB_GPUS")
    plain = re.sub(r"[^A-Za-z0-9-]", "_", f"{node}-{name}" if node else name)
    return Path(tempfile.gettempdir(), f"warpbook-gpu-{plain}.{kind}")


def _lock(name: str) -> int | None:
    """A descriptor that holds the device until it is closed; None where somebody else does."""
    path = _file(name, "lock")
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)  # another user's file may be opened, but not with O_CREAT
    except FileNotFoundError:
        descriptor = os.open(path, flags | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _gpu(name: str) -> Gpu:
    nodes = [Path("/dev", node) for node in _NODES]
    nodes += sorted(path for path in Path("/dev").glob("nvidia[0-9]*"))
    shown = [Path("/sys")]
    searched = [*os.environ.get("LD_LIBRARY_PATH", "").split(":"), *_FOLDERS]
    folders = [folder for folder in searched if folder and Path(folder, "libcuda.so.1").exists()]
    environment = {"CUDA_VISIBLE_DEVICES": name}
    if folders:
        shown += map(Path, folders)
        environment["LD_LIBRARY_PATH"] = ":".join(folders)
    for variable in _NAMED:
        if path := os.environ.get(variable):
            environment[variable] = path
            shown += [Path(path)] if Path(path).exists() else []
    return Gpu(name, tuple(node for node in nodes if node.exists()), tuple(shown), environment)
