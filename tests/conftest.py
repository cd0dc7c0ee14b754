"""What the tests share: the checkout, the built programs, an environment of their own."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test sees the caller's home, colours, width, or the variables of the make that started pytest."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.getbasetemp()))
    monkeypatch.setenv("NO_COLOR", "1")
    for name in list(os.environ):
        inherited = name.startswith(("WARPBOOK_", "MAKE")) or name in ("MFLAGS", "COLUMNS", "FORCE_COLOR")
        if inherited and name not in ("WARPBOOK_VENV", "WARPBOOK_NVCC"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


def make(*goals: str, folder: Path = ROOT, timeout: float = 600) -> subprocess.CompletedProcess[str]:
    """Runs make as a person would, with nothing inherited from a make above."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MAKE") and name not in ("MFLAGS", "WARPBOOK_OUT", "WARPBOOK_MAKE_VARIABLES")
    }
    return subprocess.run(
        ["make", *goals],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


@pytest.fixture(scope="session")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout with every library, tool and ./chNN built; workers of pytest-xdist take turns."""
    import fcntl

    folder = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        folder = folder.parent
    with open(folder / "build.lock", "w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        done = make("drivers", folder=root)
    assert done.returncode == 0, done.stdout + done.stderr
    return root
