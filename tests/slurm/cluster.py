"""A real Slurm of one node or several, for the tests or to try things with: no systemd, no cgroups, no accounting.

Everything is below one folder and listens on separate ports, so that several may run side by side, as
any user (root included, as in a container), and nothing is left behind. As a command it runs another one:

    python tests/slurm/cluster.py bash
"""

import argparse
import contextlib
import getpass
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

WANTED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo")
PARTITION = "small"
_PATIENCE = 30.0  # seconds for a daemon to answer

_HOME = Path(__file__).resolve().parents[2] / "docs" / "examples" / "slurm.conf"  # what the guide shows

# What differs from it. A requeued job waits until its credential has run out, which is as soon as Slurm allows; a
# node that was down is back in service as soon as its daemon answers. Nothing else is in a hurry.
_CHANGES = """\
ClusterName=warpbook
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={folder}/munge.socket,cred_expire=5
SlurmctldPort={controller_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
MessageTimeout=5
KillWait=1
CompleteWait=0
{more}
{nodes}
PartitionName={partition} Nodes=ALL Default=YES MaxTime=30 State=UP
"""


def missing() -> list[str]:
    """The programs of Slurm and MUNGE that this machine lacks; none: a cluster can be started."""
    return [program for program in WANTED if _which(program) is None]


def _which(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


class Cluster:
    """munged, slurmctld and slurmd below `folder`, whose path must hold no space; use it in a `with`."""

    def __init__(self, folder: Path, *, cpus: int = 2, nodes: int = 1, more: str = "") -> None:
        """Nothing is started yet; each of the `nodes` has `cpus`, and `more` are further lines of slurm.conf."""
        self.folder = folder
        self.nodes = [_host()] if nodes == 1 else [f"node{number}" for number in range(1, nodes + 1)]
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}
        self._cpus = cpus
        self._more = more
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        try:
            self._configure()
            self._start_munged()
            self.start_controller()
            for node in self.nodes:
                self.start_node(node)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def command(self, *command: str) -> str:
        """Runs one of Slurm's commands on this cluster: its output, errors included."""
        done = subprocess.run(
            [_which(command[0]) or command[0], *command[1:]],
            env=os.environ | self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
        return done.stdout

    def queue(self) -> list[tuple[str, str, str]]:
        """Every job that waits or runs: its id as 7_0, its state, its name."""
        lines = self.command("squeue", "--noheader", "--array", "--format=%i|%T|%j").splitlines()
        jobs = [line.split("|", 2) for line in lines if line.count("|") >= 2]
        return [(job, state, name) for job, state, name in jobs]

    def start_controller(self) -> None:
        """Starts slurmctld with the jobs that it knew, if any, and waits until it answers."""
        self._start("slurmctld", "-i")
        self._wait("slurmctld", lambda: "UP" in self.command("scontrol", "ping"))

    def stop_controller(self) -> None:
        """Ends slurmctld as for an update: it writes down what it knows, and its jobs run on."""
        controller = self._daemons["slurmctld"]
        controller.terminate()
        controller.wait(_PATIENCE)
        self._kill("slurmctld")

    def start_node(self, node: str = "") -> None:
        """Starts slurmd and waits until jobs can run there; without a name, that of the only node."""
        node = node or self.nodes[0]
        options = () if len(self.nodes) == 1 else ("-N", node)
        self._start("slurmd", *options, key=f"slurmd {node}")
        self._wait(
            f"slurmd {node}", lambda: self.node_state(node) in ("idle", "mixed", "allocated", "completing")
        )

    def node_state(self, node: str = "") -> str:
        """As sinfo has it: idle, mixed, allocated, completing, down; with a * where it does not answer."""
        node = node or self.nodes[0]
        return self.command("sinfo", "--noheader", f"--nodes={node}", "--format=%T").strip()

    def kill_daemon(self) -> None:
        """SIGKILL for slurmd alone: its jobs live on and are found again when it comes back."""
        self._kill(f"slurmd {self.nodes[0]}")

    def kill_node(self, node: str = "") -> None:
        """SIGKILL for slurmd and everything that its jobs have started, as when a machine loses power."""
        node = node or self.nodes[0]
        self._kill(f"slurmd {node}")
        self._end_jobs("" if len(self.nodes) == 1 else node)

    def give_up_node(self, node: str = "") -> None:
        """Has the controller count the node as down at once, not after the minutes of SlurmdTimeout."""
        self.command("scontrol", "update", f"NodeName={node or self.nodes[0]}", "State=DOWN", "Reason=died")

    def stop(self) -> None:
        """End everything that was started here; only files below the folder remain."""
        if "slurmctld" in self._daemons:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                self.command("scancel", f"--user={getpass.getuser()}")
        for name in (*(f"slurmd {node}" for node in self.nodes), "slurmctld", "munged"):
            self._kill(name)
        self._end_jobs()

    def processes(self, node: str = "") -> list[int]:
        """The processes that belong to this cluster, found by the variable they all have; or a node's jobs."""
        marks = {f"SLURM_CONF={self.environment['SLURM_CONF']}".encode()}
        marks |= {f"SLURMD_NODENAME={node}".encode()} if node else set()
        found = []
        for environment in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if marks <= set(environment.read_bytes().split(b"\0")):
                    found.append(int(environment.parent.name))
        return [process for process in found if process != os.getpid()]

    def _end_jobs(self, node: str = "") -> None:
        keep = {daemon.pid for daemon in self._daemons.values()}
        controller = self._daemons.get("slurmctld")
        if controller:
            keep |= _children(controller.pid)
        deadline = time.monotonic() + _PATIENCE
        while (left := [process for process in self.processes(node) if process not in keep]) and (
            time.monotonic() < deadline
        ):
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.02)

    def _configure(self) -> None:
        if " " in str(self.folder):
            raise ValueError(f"Slurm's configuration allows no space in a path: {self.folder}")
        for name in ("state", *(f"spool-{node}" for node in self.nodes)):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        controller_port, *node_ports = _free_ports(1 + len(self.nodes))
        nodes = [
            f"NodeName={node} NodeHostname={_host()} NodeAddr=127.0.0.1 Port={port} CPUs={self._cpus} "
            "RealMemory=256 State=UNKNOWN"
            for node, port in zip(self.nodes, node_ports, strict=True)
        ]
        changes = _CHANGES.format(
            host=_host(),
            user=getpass.getuser(),
            folder=self.folder,
            controller_port=controller_port,
            nodes="\n".join(nodes),
            more=self._more,
            partition=PARTITION,
        )
        changed = {line.partition("=")[0] for line in changes.splitlines()}
        kept = [line for line in _HOME.read_text().splitlines() if line.partition("=")[0] not in changed]
        Path(self.environment["SLURM_CONF"]).write_text("\n".join([*kept, changes]))

    def _start_munged(self) -> None:
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        names = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid"}
        names |= {"log-file": "munged.log", "seed-file": "munged.seed"}
        # --force: a folder under /tmp need not be as private as a cluster's own.
        self._start(
            "munged", "--force", *(f"--{option}={self.folder / name}" for option, name in names.items())
        )
        self._wait("munged", (self.folder / "munge.socket").is_socket)

    def _start(self, program: str, *options: str, key: str = "") -> None:
        path = _which(program)
        if path is None:
            raise FileNotFoundError(f"{program} is not installed")
        foreground = "--foreground" if program == "munged" else "-D"
        # However this process ends, its daemons end with it.
        leash = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        with open(self.folder / f"{program}.out", "ab") as output:
            self._daemons[key or program] = subprocess.Popen(
                [*leash, path, foreground, *options],
                cwd=self.folder,
                env=os.environ | self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def _wait(self, program: str, is_ready: Any) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not is_ready():
            status = self._daemons[program].poll()
            if status is not None or time.monotonic() > deadline:
                what = "does not answer" if status is None else f"ended with status {status}"
                raise RuntimeError(f"{program} {what}:\n{self._last_words(program)}")
            time.sleep(0.05)

    def _last_words(self, program: str) -> str:
        texts = []
        for path in sorted(self.folder.glob(f"{program.partition(' ')[0]}*")):
            with contextlib.suppress(OSError):
                texts.append(path.read_text(errors="replace"))
        return "\n".join("\n".join(texts).splitlines()[-30:])

    def _kill(self, program: str) -> None:
        daemon = self._daemons.pop(program, None)
        if daemon:
            children = _children(daemon.pid) if program == "slurmctld" else set()
            daemon.kill()
            daemon.wait()
            for child in children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)


def _children(process: int) -> set[int]:
    with contextlib.suppress(OSError):
        return {int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()}
    return set()


def _host() -> str:
    return socket.gethostname().split(".")[0]


def _free_ports(count: int) -> list[int]:
    """Below those that the kernel gives to outgoing connections, which come and go."""
    ports: list[int] = []
    while len(ports) < count:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("", port))
            ports.append(port)
    return ports


@contextlib.contextmanager
def temporary_cluster(**options: Any) -> Iterator[Cluster]:
    """A cluster in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, Cluster(Path(folder), **options) as cluster:
        yield cluster


def main() -> int:
    """Runs a command on a cluster that lives as long as it does."""
    parser = argparse.ArgumentParser(description="Starts a Slurm, runs a command on it, stops it.")
    parser.add_argument("--cpus", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    lacking = missing()
    if lacking:
        print(f"not installed: {' '.join(lacking)} (on Debian: apt install slurm-wlm munge)", file=sys.stderr)
        return 3
    with temporary_cluster(cpus=arguments.cpus, nodes=arguments.nodes) as cluster:
        environment: Mapping[str, str] = os.environ | cluster.environment
        return subprocess.run(arguments.command or ["sinfo"], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
