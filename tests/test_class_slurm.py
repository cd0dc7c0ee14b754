"""Class mode on a cluster, with a real Slurm of one node: what nodes, jobs and people do to a running class."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from classroom import RIGHT_KERNEL
from slurm.cluster import PARTITION, Cluster, missing, temporary_cluster
from slurm.grade import engine
from slurm.scale import scale

from grader.classroom.engines.slurm.arguments import arguments_for
from grader.classroom.engines.slurm.options import SlurmOptions
from grader.classroom.judgement import JudgeSettings
from grader.classroom.tasks import Done, Task, write_tasks
from grader.core.errors import MachineError, UsageError
from grader.core.sandbox import unavailable

LACKING = missing()
IS_CI = "WARPBOOK_CI" in os.environ
ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 60.0  # seconds for what takes a few on a quiet machine


@pytest.fixture(scope="module")
def running_cluster() -> Iterator[Cluster]:
    if LACKING:
        lacking = f"not installed: {' '.join(LACKING)} (apt install slurm-wlm munge)"
        pytest.fail(lacking) if IS_CI else pytest.skip(lacking)
    # Arrays of at most three jobs, so that every class here takes several.
    with temporary_cluster(more="MaxArraySize=3") as cluster:
        yield cluster
    assert cluster.processes() == []


@pytest.fixture
def cluster(running_cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    for name, value in running_cluster.environment.items():
        monkeypatch.setenv(name, value)
    yield running_cluster
    running_cluster.command("scancel", f"--user={os.getuid()}")
    wait_until(lambda: not running_cluster.queue())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A class folder whose path has what shells, Slurm and formats trip over."""
    folder = tmp_path / "a class's 50% \\ {folder}"
    folder.mkdir()
    return folder


def wait_until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def make_tasks(folder: Path, *kernels: str, key: str = "") -> list[Task]:
    """One task a kernel; see slurm/pretended_task.py for what those may say."""
    tasks = []
    for number, kernel in enumerate(kernels):
        student = f"s{number:02}"
        source = folder / "kernels" / student / "kernel.cu"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(kernel)
        entry = folder / "journal" / student / "ch01.json"
        settings = JudgeSettings(time_limit=30)
        work = folder / "work" / student
        tasks.append(Task(student, "ch01", source, work, entry, key or f"key of {student}", settings))
    return tasks


class Grading(threading.Thread):
    """The engine at work, while the test does something to the cluster."""

    def __init__(self, folder: Path, tasks: list[Task], **options: object) -> None:
        super().__init__(daemon=True)
        self.said: list[str] = []
        self.done: list[Done] = []
        self._engine = engine(folder, self.said.append, **options)
        self._tasks = tasks
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            for done in self._engine.run(self._tasks):
                self.done.append(done)
        except BaseException as error:
            self._error = error

    def wait_until(self, is_so: Callable[[], object]) -> None:
        wait_until(lambda: is_so() or not self.is_alive())
        assert is_so(), (self._error, self.said)

    def result(self) -> list[Done]:
        self.join(PATIENCE)
        assert not self.is_alive(), self.said
        if self._error:
            raise self._error
        return self.done


def told(done: list[Done]) -> dict[str, tuple[str, int]]:
    """Of each student: the job that judged, and how often that had been begun again."""
    words = {one.task.student: one.judgement.result.message.split() for one in done}
    return {student: (job, int(restarts)) for student, (job, restarts) in words.items()}


def check_all_judged_once(done: list[Done], tasks: list[Task]) -> None:
    assert Counter(one.task.student for one in done) == Counter(task.student for task in tasks)
    assert {one.judgement.verdict for one in done} == {"WRONG"}


def is_running(cluster: Cluster, jobs: int = 1) -> bool:
    return sum(state == "RUNNING" for _, state, _ in cluster.queue()) >= jobs


def test_every_kernel_is_judged_once_by_several_arrays(cluster: Cluster, folder: Path) -> None:
    tasks = make_tasks(folder, *["sleep 0.05"] * 15)
    grading = Grading(folder, tasks)
    done = grading.result()
    check_all_judged_once(done, tasks)
    jobs = Counter(job for job, _ in told(done).values())
    assert sorted(jobs.values()) == [3, 6, 6]  # 8 jobs of two kernels in arrays of at most three
    assert any("run" in line for line in grading.said)
    assert cluster.queue() == []
    assert not (folder / "slurm").exists()


def test_jobs_outlive_a_killed_node_daemon(cluster: Cluster, folder: Path) -> None:
    tasks = make_tasks(folder, *["sleep 1"] * 4)
    grading = Grading(folder, tasks)
    grading.wait_until(lambda: is_running(cluster, 2))
    cluster.kill_daemon()
    time.sleep(0.5)
    cluster.start_node()
    done = grading.result()
    check_all_judged_once(done, tasks)
    assert {restarts for _, restarts in told(done).values()} == {0}


def test_a_node_that_dies_and_comes_back(cluster: Cluster, folder: Path) -> None:
    tasks = make_tasks(folder, "sleep 0.5", "stay 60")
    grading = Grading(folder, tasks)
    grading.wait_until(lambda: len(grading.done) == 1 and tasks[1].source.with_name("begun").exists())
    cluster.kill_node()
    cluster.give_up_node()
    cluster.start_node()
    done = grading.result()
    check_all_judged_once(done, tasks)
    first, second = (told(done)[task.student] for task in tasks)
    assert first[1] == 0
    assert second != first  # begun again, by Slurm or by the engine


def test_a_requeued_job_goes_on_where_it_was(cluster: Cluster, folder: Path) -> None:
    tasks = make_tasks(folder, "sleep 0.5", "stay 60")
    grading = Grading(folder, tasks)
    grading.wait_until(lambda: len(grading.done) == 1 and tasks[1].source.with_name("begun").exists())
    (job, _, _) = cluster.queue()[0]
    cluster.command("scontrol", "requeue", job)
    done = grading.result()
    check_all_judged_once(done, tasks)
    assert [told(done)[task.student] for task in tasks] == [(job, 0), (job, 1)]


def test_a_job_cancelled_from_outside_is_submitted_again(cluster: Cluster, folder: Path) -> None:
    tasks = make_tasks(folder, "stay 60", "sleep 0.05")
    grading = Grading(folder, tasks)
    grading.wait_until(tasks[0].source.with_name("begun").exists)
    (job, _, _) = cluster.queue()[0]
    cluster.command("scancel", job)
    done = grading.result()
    check_all_judged_once(done, tasks)
    assert job not in {job for job, _ in told(done).values()}
    assert any(
        f"job {job} cancelled" in line and "2 kernels submitted again" in line for line in grading.said
    )


def test_a_job_that_slurm_gave_up_on_is_submitted_again(cluster: Cluster, folder: Path) -> None:
    tasks = make_tasks(folder, "stay 60", "sleep 0.05")
    grading = Grading(folder, tasks)
    grading.wait_until(tasks[0].source.with_name("begun").exists)
    (job, _, _) = cluster.queue()[0]
    cluster.command("scontrol", "requeuehold", "State=SpecialExit", job)
    check_all_judged_once(grading.result(), tasks)
    assert any(line.startswith(f"job {job} special exit") for line in grading.said)


def test_a_kernel_that_ends_its_jobs_costs_nobody_else(cluster: Cluster, folder: Path) -> None:
    tasks = make_tasks(folder, "sleep 0.05", "die", "sleep 0.05", "sleep 0.05")
    done = Grading(folder, tasks, batch=4, retries=1).result()
    verdicts = {one.task.student: one.judgement.verdict for one in done}
    assert verdicts == {"s00": "WRONG", "s01": "INFRA", "s02": "WRONG", "s03": "WRONG"}
    (lost,) = [one.judgement.result.message for one in done if one.judgement.verdict == "INFRA"]
    assert lost.startswith("lost 2 times on the cluster: job ")
    assert "the judge died of s01" in lost
    assert (folder / "slurm").is_dir()  # the logs are kept
    assert not (folder / "journal" / "s01" / "ch01.json").exists()  # another run tries again


def test_the_controller_may_go_away_for_a_while(cluster: Cluster, folder: Path) -> None:
    tasks = make_tasks(folder, *["sleep 0.4"] * 6)
    grading = Grading(folder, tasks)
    grading.wait_until(lambda: is_running(cluster))
    cluster.stop_controller()
    grading.wait_until(lambda: any("does not answer" in line for line in grading.said))
    cluster.start_controller()
    check_all_judged_once(grading.result(), tasks)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "SIGKILL"])
def test_an_interrupted_class_is_resumed(cluster: Cluster, folder: Path, number: signal.Signals) -> None:
    tasks = make_tasks(folder, *["sleep 0.7"] * 6)
    write_tasks(folder / "tasks.json", tasks)
    process = subprocess.Popen(
        [sys.executable, ROOT / "tests" / "slurm" / "grade.py", folder], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    with process:
        said = ""
        while not said.startswith("done"):
            said = process.stdout.readline()
            assert said
        process.send_signal(number)
    jobs = cluster.queue()
    assert bool(jobs) == (number == signal.SIGKILL)  # Ctrl-C cancels them; after a SIGKILL they continue
    first = {task.student for task in tasks if task.entry.exists()}
    grading = Grading(folder, [task for task in tasks if not task.entry.exists()])
    done = grading.result()
    assert {one.task.student for one in done} == {task.student for task in tasks} - first
    if jobs:
        assert any("taken over, 0 cancelled" in line for line in grading.said)
        assert {job for job, _ in told(done).values()} <= {job.split("_")[0] for job, _, _ in jobs}


def test_jobs_that_judge_by_other_settings_are_cancelled(cluster: Cluster, folder: Path) -> None:
    old = make_tasks(folder, *["sleep 20"] * 4, key="the old settings")
    write_tasks(folder / "tasks.json", old)
    with subprocess.Popen(
        [sys.executable, ROOT / "tests" / "slurm" / "grade.py", folder], stdout=subprocess.PIPE
    ) as first:
        wait_until(lambda: is_running(cluster, 2))
        first.kill()
    tasks = make_tasks(folder, *["sleep 0.05"] * 4, key="the new settings")
    grading = Grading(folder, tasks)
    check_all_judged_once(grading.result(), tasks)
    assert "jobs of an earlier run: 0 taken over, 2 cancelled" in grading.said


def test_nodes_that_do_not_see_the_folder(cluster: Cluster, folder: Path) -> None:
    cluster.command("scontrol", "update", f"PartitionName={PARTITION}", "State=DOWN")
    grading = Grading(folder, make_tasks(folder, "sleep 0.05"), retries=0)
    grading.wait_until(cluster.queue)
    for path in (folder / "slurm").glob("*/tasks-*"):
        path.unlink()  # as far as the node can see
    cluster.command("scontrol", "update", f"PartitionName={PARTITION}", "State=UP")
    with pytest.raises(MachineError, match="no job of this class ever began") as refused:
        grading.result()
    assert str(folder / "slurm") in str(refused.value)
    assert cluster.queue() == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"partition": "nope"}, f"(?s)partition.*this cluster has {PARTITION}.*--slurm partition="),
        ({"gpus": "2"}, "(?s)sbatch.*--slurm gpus="),
        ({"extra": ("--no-such-option",)}, "no-such-option"),
    ],
)
def test_what_the_cluster_does_not_have(
    cluster: Cluster, folder: Path, options: dict[str, object], says: str
) -> None:
    with pytest.raises(MachineError, match=says):
        list(engine(folder, **options).run(make_tasks(folder, "sleep 0.05")))
    assert cluster.queue() == []


def put_before(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str, script: str) -> None:
    """A program of ours under the name of one of Slurm's, which it may call as "$real"."""
    real = shutil.which(program) or "false"
    folder.mkdir(exist_ok=True)
    (folder / program).write_text(f"#!/bin/sh\nreal={real}\ncd {folder}\n{script}\n")
    (folder / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_limit_on_submitted_jobs(
    cluster: Cluster, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = (
        "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit)"
    )
    put_before(
        monkeypatch,
        tmp_path / "bin",
        "sbatch",
        f'case "$*" in *--array=0-2*) echo "{refusal}" >&2; exit 1;; esac\n'
        f'[ "$(squeue -h -r | wc -l)" -lt 2 ] || {{ echo "{refusal}" >&2; exit 1; }}\nexec $real "$@"',
    )
    tasks = make_tasks(folder, *["sleep 0.05"] * 10)
    grading = Grading(folder, tasks)
    check_all_judged_once(grading.result(), tasks)
    assert any("no room for more jobs" in line for line in grading.said)


def test_an_answer_of_sbatch_that_got_lost(
    cluster: Cluster, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"
    put_before(monkeypatch, tmp_path / "bin", "sbatch", f'$real "$@" >>numbers\necho "{lost}" >&2\nexit 1')
    tasks = make_tasks(folder, *["sleep 0.05"] * 4)
    check_all_judged_once(Grading(folder, tasks).result(), tasks)
    assert len((tmp_path / "bin" / "numbers").read_text().split()) == 1


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("Invalid account or account/partition combination specified", "(?s)account: .*--slurm account=NAME"),
        ("Invalid qos specification", "(?s)the qos: .*--slurm qos=NAME"),
        ("Requested time limit is invalid (missing or exceeds some limit)", "(?s)the time: .*--slurm time="),
        ("Requested node configuration is not available", "(?s)no node .*--slurm gpus= and memory="),
        (
            "Access/permission denied",
            "refuses the job: Batch job submission failed: Access/permission denied",
        ),
    ],
)
def test_other_things_that_sbatch_refuses(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, says: str
) -> None:
    refusal = f"sbatch: error: Batch job submission failed: {said}"
    put_before(monkeypatch, tmp_path / "bin", "sbatch", f'echo "{refusal}" >&2; exit 1')
    for program in ("squeue", "scancel", "scontrol", "sinfo"):
        put_before(monkeypatch, tmp_path / "bin", program, "exit 0")
    with pytest.raises(MachineError, match=says):
        list(engine(folder).run(make_tasks(folder, "sleep 0")))


def test_a_machine_without_slurm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(MachineError, match=r"sbatch is not on PATH.*login node.*ENGINE=local"):
        list(engine(folder).run(make_tasks(folder, "sleep 0.05")))


def test_at_most_so_many_jobs_at_once(cluster: Cluster, folder: Path) -> None:
    tasks = make_tasks(folder, *["sleep 0.3"] * 6)
    grading = Grading(folder, tasks, jobs=1)
    most = 0
    while grading.is_alive():
        most = max(most, len(cluster.queue()))
        time.sleep(0.1)
    check_all_judged_once(grading.result(), tasks)
    assert most == 1


def grade_for_real(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The command, with the judge that there is."""
    submissions = out.parent / "handed in"
    if not submissions.exists():
        for student, kernel in {
            "ada": RIGHT_KERNEL,
            "bob": RIGHT_KERNEL.replace("i < n", "i < n - 1"),
        }.items():
            (submissions / student).mkdir(parents=True)
            (submissions / student / "ch01.cu").write_text(kernel)
    trust = ["--trust"] if unavailable() else []
    command = [sys.executable, "-m", "grader", "class", *trust, "--out", out, *options, submissions, "ch01"]
    return subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200
    )


def all_jobs(cluster: Cluster) -> set[str]:
    """Every job that this cluster had of late, with its state."""
    return set(cluster.command("squeue", "--noheader", "--states=all", "--format=%i %T").splitlines())


def steady(path: Path) -> Any:
    """class.json without the parts that differ between runs."""

    def without_times(value: Any) -> Any:
        if isinstance(value, dict):
            left_out = ("times", "seconds", "build")
            return {name: without_times(one) for name, one in value.items() if name not in left_out}
        return [without_times(one) for one in value] if isinstance(value, list) else value

    return without_times(json.loads(path.read_text()))


def test_the_class_is_the_same_as_graded_on_one_machine(built: Path, cluster: Cluster, folder: Path) -> None:
    here = grade_for_real(folder / "here")
    (folder / "there").mkdir()
    shutil.copy(folder / "here" / "course.json", folder / "there")  # the secret that inputs are drawn from
    before = all_jobs(cluster)
    there = grade_for_real(folder / "there", "--engine", "slurm", "--slurm", f"partition={PARTITION}")
    assert (here.returncode, there.returncode) == (0, 0), here.stderr + there.stderr
    document = steady(folder / "there" / "class.json")
    assert [student["chapters"][0]["verdict"] for student in document["students"]] == ["PASS", "WRONG"]
    assert document == steady(folder / "here" / "class.json")
    books = [(folder / out / "gradebook.csv").read_bytes() for out in ("here", "there")]
    assert books[0] == books[1]
    assert not (folder / "there" / "slurm").exists()
    assert [job.split()[1] for job in all_jobs(cluster) - before] == ["COMPLETED"]  # not cancelled in the end


@pytest.mark.parametrize(
    ("word", "status", "says"),
    [
        ("partition=nope", 3, f"this cluster has {PARTITION}; say which with --slurm partition=NAME"),
        ("color=red", 2, "--slurm there is no 'color'; there are partition, account"),
    ],
)
def test_what_the_command_says_of_wrong_options(
    built: Path, cluster: Cluster, folder: Path, word: str, status: int, says: str
) -> None:
    done = grade_for_real(folder / "out", "--engine", "slurm", "--slurm", word)
    assert done.returncode == status, done.stderr
    assert says in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"partitions": "x"}, "c.toml: [slurm]: there is no 'partitions'; there are partition, account"),
        ({"batch": 0}, "c.toml: [slurm]: batch must be at least 1, not 0"),
        ({"batch": True}, "c.toml: [slurm]: batch must be a whole number, not True"),
        ({"memory": 1.5}, "c.toml: [slurm]: memory must be a string, not 1.5"),
        ({"time": "soon"}, "c.toml: [slurm]: time must be minutes or hours:minutes:seconds, not 'soon'"),
        ({"extra": ["--array=1"]}, "c.toml: [slurm]: extra: --array=1 is for the workbook to say"),
        ({"extra": ["-o", "x"]}, "c.toml: [slurm]: extra: -o is for the workbook to say"),
        ({"extra": ["constraint=a"]}, "c.toml: [slurm]: extra: 'constraint=a' is not an option"),
        ({"extra": 3}, "c.toml: [slurm]: extra must be a list of strings"),
    ],
)
def test_wrong_keys_and_values_of_a_course(table: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as refused:
        SlurmOptions.from_table(table, "c.toml: [slurm]")
    assert str(refused.value).startswith(says)


def test_what_sbatch_is_told(cluster: Cluster, folder: Path) -> None:
    table = {"partition": PARTITION, "time": 30, "gpus": "h200:1", "extra": ["--constraint=fast"]}
    options = SlurmOptions.from_table(table, "").with_words(
        ["time=1:00:00", "extra=--nice", "retries=0", "qos=low"]
    )
    tasks = make_tasks(folder, *["sleep 0"] * 3)
    told = arguments_for("a name", [tasks[:2], tasks[2:]], options)
    for argument in (
        "--array=0-1",
        "--gres=gpu:h200:1",
        "--time=1:00:00",
        "--qos=low",
        "--nice",
        "--requeue",
    ):
        assert argument in told
    assert "--constraint=fast" not in told  # a list on the command line takes the place of the course's
    # Two kernels of 30 s, and five minutes for what is not judging; the partition allows thirty.
    assert "--time=6" in arguments_for("a name", [tasks[:2], tasks[2:]], SlurmOptions())
    assert "--time=30" in arguments_for("a name", [tasks * 100], SlurmOptions())
    alone = arguments_for("a name", [tasks], SlurmOptions())
    assert not any(argument.startswith(("--array", "--gres", "--partition", "--mem")) for argument in alone)


def test_two_nodes_of_which_one_dies(tmp_path_factory: pytest.TempPathFactory) -> None:
    """`make class-scale` with a few submissions; in full it is 1,000."""
    if LACKING:
        pytest.skip(f"not installed: {' '.join(LACKING)}")
    folder = tmp_path_factory.mktemp("scale")
    with temporary_cluster(cpus=2, nodes=2) as two:
        assert scale(folder, 40, two, is_real=False) == []
    assert two.processes() == []
