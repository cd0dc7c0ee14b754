"""The sandbox, from the inside: what a compiler or a judge that a submission has taken over could still do."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from classroom import LIMITS, MIB, RIGHT_KERNEL, Classroom, marked, needs_bubblewrap, nothing_runs, running

from grader.classroom.judge import stages
from grader.classroom.judge.watchdog import Ended, Limits, Stop, run_watched
from grader.core import sandbox
from grader.core.processes import Processes
from grader.core.workbook import Workbook

Inside = Callable[..., Ended]


@pytest.fixture
def room(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Classroom:
    monkeypatch.setenv("CANARY_VARIABLE", "CANARY-variable")
    return Classroom(tmp_path, Workbook(built))


@pytest.fixture(params=["compile", "judge"])
def inside(request: pytest.FixtureRequest, room: Classroom) -> Inside:
    """Runs a shell script in place of the program of that stage."""
    source = room.kernel(RIGHT_KERNEL)
    chapter = room.workbook.select(["ch01"])[0]
    if request.param == "compile":
        view = stages.compile_view(room.workbook, stages.Compile(source, 10))
    else:
        (room.folder / "me" / "build.json").write_text("{}")
        (room.folder / "reference").mkdir()
        (room.folder / "reference" / "kernel.ptx").write_text("// the reference\n")
        stage = stages.Judge(chapter, room.folder / "me", room.folder / "reference", (), 10, 512 * MIB)
        view = stages.judge_view(room.workbook, stage)

    def run(script: str, limits: Limits = LIMITS) -> Ended:
        command = sandbox.confine(view, ["/bin/sh", "-c", limits.script(is_alone=True) + script])
        return run_watched(
            room.workbook, command, limits, Processes(), folder=room.folder, environment={"PATH": os.defpath}
        )

    return run


# ---- What can be seen ----------------------------------------------------------------------------------------


@needs_bubblewrap
def test_nothing_is_there_but_what_the_stage_needs(inside: Inside, room: Classroom) -> None:
    seen = inside("echo /* /book/* /book/*/* /tmp/* /dev/* /usr/*").output.decode().split()
    allowed = {
        "/bin",
        "/book",
        "/dev",
        "/etc",
        "/lib",
        "/lib32",
        "/lib64",
        "/libx32",
        "/proc",
        "/tmp",
        "/usr",
    }
    outside = {path for path in seen if path.count("/") == 1} - allowed
    tools = {Path(path).parts[1] for path in map(str, stages.find_toolchain(room.workbook).shown)}
    assert outside <= {f"/{name}" for name in tools}
    assert [path for path in seen if path.startswith("/dev/")] == ["/dev/null", "/dev/shm"]
    assert {"/usr/share", "/usr/src", "/usr/home"}.isdisjoint(seen)
    assert not inside("echo /book/solutions/*/*.cu").output.count(b"kernel.cu")


@needs_bubblewrap
def test_no_secret_can_be_read(inside: Inside, room: Classroom) -> None:
    paths = [
        "/etc/passwd", "/etc/shadow", "/etc/hostname", "/proc/1/environ", "/proc/self/environ",
        room.folder / "secret", room.folder / "other/kernel.cu", room.folder / "home/.ssh/id_ed25519",
        Path.home() / ".bashrc", room.workbook.root / "solutions/ch01_single_thread/kernel.cu",
        "/book/solutions/ch01_single_thread/kernel.cu", "/proc/kcore", "/sys/class/net/eth0/address",
    ]  # fmt: skip
    ended = inside("".join(f"cat '{path}'; " for path in paths) + "set; cat /proc/*/cmdline")
    text = ended.output.decode(errors="replace") + ended.words
    assert not any(canary in text for canary in room.canaries)
    assert "CANARY" not in text
    assert str(os.getpid()) not in [word.strip("/") for word in text.split()]


@needs_bubblewrap
def test_nothing_can_be_written_but_in_memory(inside: Inside, room: Classroom) -> None:
    paths = [
        "/x",
        "/book/x",
        "/book/kernel.cu",
        "/usr/lib/x",
        "/bin/x",
        "/bin/sh",
        "/dev/x",
        "/etc/x",
        room.folder / "x",
    ]
    script = "".join(f"(echo x > '{path}') 2>/dev/null && echo '{path}'; " for path in paths)
    assert inside(script + "echo x > /tmp/x && cat /tmp/x").output == b"x\n"
    assert (room.folder / "me" / "kernel.cu").read_text() == RIGHT_KERNEL


@needs_bubblewrap
def test_every_namespace_is_its_own(inside: Inside, room: Classroom) -> None:
    """Seen from outside: the network's among them, of which the judge sees that nothing is in it."""
    runs = threading.Thread(
        target=inside, args=(f": {room.mark}; while :; do :; done", marked(LIMITS, seconds=3))
    )
    runs.start()
    kinds = ("net", "pid", "mnt", "user", "ipc", "uts", "cgroup")
    mine = {kind: Path(f"/proc/self/ns/{kind}").readlink() for kind in kinds}
    found: dict[str, Path] = {}
    while runs.is_alive() and len(found) < len(kinds):
        for pid in running(room.mark):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                theirs = {kind: Path(f"/proc/{pid}/ns/{kind}").readlink() for kind in kinds}
                found |= {kind: place for kind, place in theirs.items() if place != mine[kind]}
        time.sleep(0.02)
    runs.join()
    assert set(found) == set(kinds)
    if lines := inside("cat /proc/net/dev").output.decode().splitlines():
        assert {line.split(":")[0].strip() for line in lines if ":" in line} == {"lo"}
        assert inside("cat /proc/net/route").output.count(b"\n") <= 1, "a heading and no route"


@needs_bubblewrap
def test_nobody_is_anybody(inside: Inside) -> None:
    """No privilege of root and no user of this machine remains: nothing can be mounted, owned or signalled."""
    ended = inside(
        "while read -r name value; do echo $name $value; done < /proc/self/status; kill -9 1; echo alive"
    )
    if ended.output.strip() != b"alive":  # the judge has a /proc
        said = dict(line.split(" ", 1) for line in ended.output.decode().splitlines() if ": " in line)
        assert said["CapEff:"] == said["CapPrm:"] == said["CapBnd:"] == "0" * 16
        assert said["NoNewPrivs:"] == "1"
        assert set(said["Uid:"].split()) == {sandbox.NOBODY}
    assert os.kill(os.getpid(), 0) is None


@needs_bubblewrap
def test_no_further_namespace_can_be_made(room: Classroom) -> None:
    """Those of users are the kernel's widest door; a sandbox that has none of its own keeps it shut."""
    if "--disable-userns" not in subprocess.run(["bwrap", "--help"], capture_output=True, text=True).stdout:
        pytest.skip("this bubblewrap is older than 0.8")
    python = Path(sys.executable).resolve()
    prefix = Path(sys.base_prefix)
    view = sandbox.View({}, system=(python, prefix / "lib"), environment={"PYTHONHOME": str(prefix)})
    script = "import ctypes; print(ctypes.CDLL(None).unshare(0x10000000))"
    done = subprocess.run(
        sandbox.confine(view, [str(python), "-S", "-c", script]), capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "-1", done.stderr


# ---- Limits --------------------------------------------------------------------------------------------------


@needs_bubblewrap
@pytest.mark.timed
def test_time_ends_everything(inside: Inside, room: Classroom) -> None:
    ended = inside(f": {room.mark}; while :; do :; done", marked(LIMITS, seconds=0.5))
    assert (ended.stop, ended.seconds < 5) == (Stop.TIME, True)
    assert nothing_runs(room.mark)


@needs_bubblewrap
def test_processor_time_is_limited_by_itself(inside: Inside) -> None:
    ended = inside("while :; do :; done", marked(LIMITS, cpu_seconds=1))
    assert ended.stop is None
    assert ended.status in (128 + signal.SIGXCPU, 128 + signal.SIGKILL)


@needs_bubblewrap
def test_processes_without_end(inside: Inside, room: Classroom) -> None:
    """Four hundred that wait for a first one; the shell says so where it cannot make them."""
    ended = inside(f": {room.mark}; while :; do :; done" + " | cat" * 400)
    assert ended.stop is Stop.PROCESSES or "fork" in ended.words
    assert nothing_runs(room.mark)


@needs_bubblewrap
def test_memory_without_end(inside: Inside, room: Classroom) -> None:
    ended = inside(
        f": {room.mark}; a=xxxxxxxx; while :; do a=$a$a$a$a; done", marked(LIMITS, memory_bytes=64 * MIB)
    )
    assert ended.stop is Stop.MEMORY or "emory" in ended.words
    assert ended.peak_bytes < 1024 * MIB
    assert nothing_runs(room.mark)


@needs_bubblewrap
def test_output_without_end(inside: Inside) -> None:
    ended = inside("while :; do echo PASS PASS PASS PASS PASS PASS PASS; done")
    assert (ended.stop, len(ended.output) < 2 * MIB) == (Stop.OUTPUT, True)


@needs_bubblewrap
def test_words_without_end(inside: Inside) -> None:
    """What is said on standard error is read for ever and kept for a page."""
    ended = inside("while :; do echo PASS PASS PASS PASS >&2; done", marked(LIMITS, seconds=1))
    assert (ended.stop, len(ended.words)) == (Stop.TIME, 64 * 1024)


@needs_bubblewrap
def test_files_without_end(inside: Inside) -> None:
    script = (
        "cat /bin/sh > /tmp/a; while cat /tmp/a /tmp/a > /tmp/b && cat /tmp/b > /tmp/a; do :; done; exit 7"
    )
    ended = inside(script)
    assert (ended.stop, ended.status) == (None, 7)


@needs_bubblewrap
def test_what_is_left_behind_ends_with_the_program(inside: Inside, room: Classroom) -> None:
    script = f"(trap '' HUP TERM INT; : {room.mark}; while :; do :; done) & exit 0"
    ended = inside(script)
    assert (ended.stop, ended.status) == (None, 0)
    assert nothing_runs(room.mark)


GRADER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from grader.core import sandbox
from grader.classroom.judge.watchdog import Limits, run_watched
from grader.core.processes import Processes
from grader.core.workbook import Workbook
limits = Limits(60, 1 << 30, 20, 1 << 20, 60, 1 << 20)
command = sandbox.confine(sandbox.View({}), ["/bin/sh", "-c", sys.argv[2]])
print("ready", flush=True)
run_watched(Workbook(Path(sys.argv[1])), command, limits, Processes(), folder=Path("/"), environment={})
"""


@needs_bubblewrap
@pytest.mark.parametrize("milliseconds", [0, 2, 4, 8, 16, 200])
def test_it_ends_with_the_grader(room: Classroom, milliseconds: int) -> None:
    """However the grader ends, by SIGKILL too, and however far the sandbox has come."""
    command = [sys.executable, "-c", GRADER, str(room.workbook.root), f": {room.mark}; while :; do :; done"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as grader:
        assert grader.stdout
        assert grader.stdout.readline() == b"ready\n"
        time.sleep(milliseconds / 1000)
        grader.kill()
    assert nothing_runs(room.mark)


@pytest.mark.timed
def test_stopping_ends_what_runs(room: Classroom) -> None:
    processes = Processes()
    threading.Timer(0.3, processes.stop).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_watched(room.workbook, ["sleep", "61.125"], LIMITS, processes, folder=Path("/"), environment={})
    assert time.monotonic() - begun < 15
    assert nothing_runs("61.125")


def test_without_a_sandbox_the_limits_hold_too(room: Classroom) -> None:
    script = marked(LIMITS, cpu_seconds=1).script(is_alone=False) + "while :; do :; done"
    ended = run_watched(
        room.workbook, ["sh", "-c", script], LIMITS, Processes(), folder=Path("/"), environment={}
    )
    assert ended.status in (128 + signal.SIGXCPU, 128 + signal.SIGKILL)
    script = "(while :; do sleep 61.25; done) & (while :; do sleep 61.25; done)"
    quick = marked(LIMITS, seconds=0.4)
    ended = run_watched(
        room.workbook,
        ["sh", "-c", script],
        quick,
        Processes(),
        folder=Path("/"),
        environment=dict(os.environ),
    )
    assert ended.stop is Stop.TIME
    assert nothing_runs("61.25")
