"""GPUs of a class: one kernel at a time on each, and none on one that no longer works. The driver is a fake."""

import tempfile
import threading
import time
from pathlib import Path

import pytest
from classroom import Classroom
from native_build import build

from grader.classroom.judge import gpus
from grader.classroom.judgement import JudgeSettings
from grader.core import sandbox
from grader.core.errors import MachineError
from grader.core.processes import Processes
from grader.core.workbook import Workbook


@pytest.fixture(autouse=True)
def own_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of devices is known to this test alone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")


@pytest.fixture(scope="session")
def fake_driver(tmp_path_factory: pytest.TempPathFactory, built: Path, cuda_include: Path) -> Path:
    """tests/native/fake_libcuda.c, which knows chapter 7's kernels."""
    sources = [built / "tests/native/fake_libcuda.c"]
    return build(
        tmp_path_factory.mktemp("driver") / "libcuda.so.1",
        sources,
        "-shared",
        "-fPIC",
        "-isystem",
        str(cuda_include),
        "-DFAKE_CUDA_MEMORY=(1<<24)",
        sanitize=False,
    )


@pytest.fixture
def room(built: Path, tmp_path: Path, fake_driver: Path, monkeypatch: pytest.MonkeyPatch) -> Classroom:
    monkeypatch.setenv("WARPBOOK_LIBCUDA", str(fake_driver))
    monkeypatch.setenv("WARPBOOK_LIBNVML", "/nonexistent/libnvidia-ml.so.1")
    return Classroom(tmp_path / "class", Workbook(built))


# ---- One at a time -------------------------------------------------------------------------------------------


def test_the_emulator_needs_no_gpu() -> None:
    with gpus.gpu_for("emulator", Processes()) as gpu:
        assert gpu is None


@pytest.mark.parametrize(("visible", "most"), [("0", 1), ("0,1", 2), ("GPU-4d3c/../x, 7", 2)])
def test_no_more_kernels_than_devices(monkeypatch: pytest.MonkeyPatch, visible: str, most: int) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    running: list[str] = []
    seen: list[list[str]] = []
    guard = threading.Lock()

    def judge() -> None:
        for _ in range(3):
            with gpus.gpu_for("gpu", Processes()) as gpu:
                assert gpu
                with guard:
                    running.append(gpu.name)
                    seen.append(sorted(running))
                time.sleep(0.01)
                with guard:
                    running.remove(gpu.name)

    threads = [threading.Thread(target=judge) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(seen) == 12
    assert all(len(names) <= most and len(set(names)) == len(names) for names in seen)


def test_jobs_of_a_cluster_do_not_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each sees one device, which it calls 0."""
    monkeypatch.setenv("SLURM_JOB_GPUS", "2")
    with gpus.gpu_for("gpu", Processes()) as first:
        monkeypatch.setenv("SLURM_JOB_GPUS", "3")
        with gpus.gpu_for("gpu", Processes()) as second:
            assert first
            assert second
            assert first.name == second.name == "0"


def test_who_waits_can_be_stopped() -> None:
    processes = Processes()
    with gpus.gpu_for("gpu", Processes()):
        threading.Timer(0.2, processes.stop).start()
        with pytest.raises(KeyboardInterrupt), gpus.gpu_for("gpu", processes):
            pass


# ---- Out of use ----------------------------------------------------------------------------------------------


def test_a_device_that_fails_its_health_kernel_is_used_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    with gpus.gpu_for("gpu", Processes()) as gpu:
        assert gpu
        gpu.check("a kernel of ch04 ended as FAULT", lambda: None)
        with pytest.raises(MachineError, match="GPU 0 is out of use: after a kernel of ch04 ended as FAULT"):
            gpu.check("a kernel of ch04 ended as FAULT", lambda: "INFRA the GPU is gone")
    with gpus.gpu_for("gpu", Processes()) as gpu:
        assert gpu
        assert gpu.name == "1"
        with pytest.raises(MachineError, match="GPU 1"):
            gpu.check("a kernel of ch05 ended as TIMEOUT", lambda: "INFRA no answer")
    words = r"GPU 0 is out of use.*INFRA the GPU is gone.*nvidia-smi.*rm -- "
    with pytest.raises(MachineError, match=words) as refused, gpus.gpu_for("gpu", Processes()):
        pass
    Path(str(refused.value).rpartition("rm -- ")[2]).unlink()  # as it says
    with gpus.gpu_for("gpu", Processes()) as gpu:
        assert gpu
        assert gpu.name == "0"


# ---- A whole judgement ---------------------------------------------------------------------------------------


def test_a_kernel_is_judged_on_the_gpu_from_within_a_sandbox(room: Classroom) -> None:
    if reason := sandbox.unavailable():
        pytest.skip(reason)
    solution = room.workbook.root / "solutions/ch07_float4/kernel.cu"
    judgement = room.judge(room.kernel(solution.read_text("utf-8")), "ch07", JudgeSettings(device="gpu"))
    assert judgement.document, judgement
    assert judgement.verdict in ("PASS", "SLOW"), judgement.result.message
    assert judgement.document["device"]["kind"] == "gpu"
    assert not list(Path(tempfile.gettempdir()).glob("*.out-of-use"))


@pytest.mark.timed
def test_a_fault_that_the_device_does_not_outlive(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device faults on whatever comes: the first kernel is not to blame, and the next are not tried."""
    solution = room.workbook.root / "solutions/ch07_float4/kernel.cu"
    source = room.kernel(solution.read_text("utf-8"))
    settings = JudgeSettings(device="gpu", trust=True)
    assert room.judge(source, "ch07", settings).verdict in ("PASS", "SLOW")  # as does the reference, before
    monkeypatch.setenv("FAKE_CUDA_FAIL", "cuStreamSynchronize:719:3")
    first = room.judge(source, "ch07", settings)
    assert (first.verdict, first.document) == ("INFRA", None)
    assert "GPU 0 is out of use: after a kernel of ch07 ended as" in first.result.message
    monkeypatch.delenv("FAKE_CUDA_FAIL")
    second = room.judge(source, "ch07", settings)
    assert second.result.message == first.result.message
    assert second.seconds < 2, "nothing was compiled or run"
