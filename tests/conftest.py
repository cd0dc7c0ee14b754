"""What the tests share: the checkout, the built programs, a clean environment."""

import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from grader.core.toolkit import find_compiler, find_nvcc, header_folder
from grader.core.workbook import Workbook

ROOT = Path(__file__).resolve().parents[1]


# Under SANITIZE=1 this interpreter was started with ASan's runtime; what it starts needs none of that.
os.environ.pop("LD_PRELOAD", None)
# What is printed depends on these; a test of that sets its own.
os.environ["LC_ALL"] = "C.UTF-8"
for name in ("PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8"):
    os.environ.pop(name, None)
# A shell without job control starts what it puts into the background with Ctrl-C ignored, and that is handed on to
# the programs whose Ctrl-C is tested.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


QUICK = tomllib.loads((Path(__file__).parent / "quick.toml").read_text())


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", action="store_true", help="only the files of tests/quick.toml, without slow tests"
    )
    parser.addoption("--whole", action="store_true", help="also what has its turn in other runs")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "by_turns(turns=12): one run in so many has it, or one with --whole")
    config.addinivalue_line(
        "markers", "one_of(which, names): one run has one of these names, or all with --whole"
    )
    config.addinivalue_line("markers", "timed: has a limit in seconds; nothing else is tested while it runs")


# Judging every kernel of the corpus takes longer with each chapter. Of tests and kernels by turns, a run takes one in
# TURNS: another one for each commit, so that each has its turn, and the same for all processes of a run.
TURNS = 12

T = TypeVar("T")


@functools.cache
def _commit() -> int:
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return int(head.stdout.strip() or "0", 16)


def has_turn(name: str, config: pytest.Config, turns: int = TURNS) -> bool:
    """Whether this run includes what is tested by turns and has this name."""
    place = int(hashlib.sha256(name.encode()).hexdigest(), 16) % turns
    return bool(config.getoption("--whole")) or place == _commit() % turns


def in_turn(names: Sequence[T], config: pytest.Config, turns: int = TURNS) -> Sequence[T]:
    """Every one in so many `turns` of a long list, as this run includes them, whether or not has_turn() is so."""
    return names if config.getoption("--whole") else names[_commit() // TURNS % turns :: turns]


def _is_chosen(which: str, names: tuple[str, ...], config: pytest.Config) -> bool:
    """Whether it is `which` of the names that this run has; which one does not depend on has_turn()."""
    return bool(config.getoption("--whole")) or names[_commit() // TURNS % len(names)] == which


# Files that take long. A run of .ci/run has those of one third, and the thirds take about as long as each other.
LONG_FILES = (
    ("test_report.py", "test_recording.py", "test_by_hand.py", "test_bandwidth.py"),
    (
        *("test_class_slurm.py", "test_report_page.py", "test_seeds.py"),
        *("test_other_failures.py", "test_compile.py", "test_first_tries.py"),
    ),
    (
        *("test_watch.py", "test_output_lost.py", "test_site.py", "test_large_sizes.py"),
        *("test_predict.py", "test_variants.py", "test_history_damage.py", "test_learner.py"),
    ),
)


def _is_left_out(item: pytest.Item, config: pytest.Config) -> bool:
    if "WARPBOOK_CI" in os.environ and not config.getoption("--whole"):
        third = next((t for t, files in enumerate(LONG_FILES) if item.path.name in files), None)
        if third not in (None, _commit() // TURNS % len(LONG_FILES)):
            return True
    one_of = item.get_closest_marker("one_of")
    if one_of and not _is_chosen(*one_of.args, config):
        return True
    by_turns = item.get_closest_marker("by_turns")
    return by_turns is not None and not has_turn(item.nodeid, config, *by_turns.args)


def one_of_the_long(which: str) -> pytest.MarkDecorator:
    """For tests that build the workbook again and use it as a class does: each takes a minute, and a run has one."""
    return pytest.mark.one_of(which, ("an archive", "a class", "a handout"))


def _is_by_turns(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("one_of", "by_turns"))


# Seconds since 1970: from then on .ci/run has no time left for what is tested by turns. "": it has.
UNTIL = os.environ.get("WARPBOOK_CI_UNTIL", "")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if UNTIL and _is_by_turns(item) and time.time() > float(UNTIL):
        pytest.skip("by turns, and this run of CI has no time left")


@contextlib.contextmanager
def _the_machine(*, alone: bool) -> Iterator[None]:
    """Holds the machine with the other processes of pytest-xdist, or alone; waiting to be alone keeps others out."""
    how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    folder = ROOT / "build"
    folder.mkdir(exist_ok=True)
    with open(folder / "tests.door", "w") as door, open(folder / "tests.room", "w") as room:
        fcntl.flock(door, how)
        fcntl.flock(room, how)
        if not alone:
            fcntl.flock(door, fcntl.LOCK_UN)
        yield


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    with _the_machine(alone=item.get_closest_marker("timed") is not None):
        return (yield)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    is_left_out = collection_path.name.startswith("test_") and collection_path.name not in set().union(
        *QUICK.values()
    )
    return True if config.getoption("--quick") and is_left_out else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    others = {item for item in items if _is_left_out(item, config)}
    items[:] = [item for item in items if item not in others]
    config.hook.pytest_deselected(items=list(others))
    timed = [item for item in items if item.get_closest_marker("timed")]
    for item in timed:  # other programs on this machine make it slower, never faster
        item.add_marker(pytest.mark.flaky(reruns=2))
    # What may be left out comes late. Timed ones come at the end, where no long test keeps them, and what is behind
    # them, waiting.
    items.sort(key=lambda item: (item in timed, _is_by_turns(item)))
    if config.getoption("--quick"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        items[:] = [item for item in items if item not in set(slow)]
        config.hook.pytest_deselected(items=slow)


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test sees the caller's home, colours, width, or the variables of the make that started pytest."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.getbasetemp()))
    monkeypatch.setenv("NO_COLOR", "1")
    for name in list(os.environ):
        inherited = name.startswith(("WARPBOOK_", "MAKE")) or name in ("MFLAGS", "COLUMNS", "FORCE_COLOR")
        if inherited and name not in ("WARPBOOK_VENV", "WARPBOOK_NVCC", "WARPBOOK_EMULATOR_LIBRARY"):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def devices_stay() -> Iterator[None]:
    """No test that root runs removes /dev/null or leaves a file in its place, which breaks tmux and more."""
    yield
    assert Path("/dev/null").is_char_device(), (
        "/dev/null is not a device any more: rm /dev/null && mknod -m 666 /dev/null c 1 3"
    )


@pytest.fixture(scope="session")
def nvcc(root: Path) -> str:
    """The compiler that the workbook would take; the test is skipped where there is none."""
    found = find_nvcc(root)
    if not found:
        pytest.skip("there is no nvcc here")
    return str(found)


def compiler_variables() -> dict[str, str]:
    """The variable that names this checkout's compiler of kernels to programs of another folder."""
    found = find_compiler(ROOT)
    return {f"WARPBOOK_{found.name.upper()}": str(found.path)} if found else {}


def skip_without_nvcc(chapter: str, request: pytest.FixtureRequest) -> None:
    """Skips the test where the chapter, such as ch20, is a whole program and there is no nvcc, which it needs."""
    workbook = Workbook(ROOT)
    if any(workbook.is_program(one) for one in workbook.select([chapter[:4]])):
        request.getfixturevalue("nvcc")


@pytest.fixture(scope="session")
def cuda_include(nvcc: str) -> Path:
    """The folder of cuda.h, which comes with the compiler; the test is skipped where it came without."""
    found = header_folder(Path(nvcc), "cuda.h")
    if not found:
        pytest.skip("there is no cuda.h here")
    return found


@pytest.fixture(scope="session")
def limited_memory() -> None:
    """The test is skipped where no limit of the address space holds: qemu-user ignores it."""
    take = "import mmap, resource as r; r.setrlimit(r.RLIMIT_AS, (1 << 30, 1 << 30)); mmap.mmap(-1, 2 << 30)"
    if subprocess.run([sys.executable, "-c", take], capture_output=True).returncode == 0:
        pytest.skip("a process gets more than its limit of address space here, as under qemu-user")


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


def run_make(*goals: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs make as a person would, with nothing inherited from a make above."""
    inherited = ("MAKE", "MFLAGS", "WARPBOOK_OUT", "WARPBOOK_MAKE_VARIABLES")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(inherited)}
    return subprocess.run(
        ["make", *goals],
        cwd=folder,
        env=clean | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile with two chapters of one line each and no driver: enough for its own messages."""
    folder = tmp_path / "a checkout"
    folder.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    shutil.copytree(ROOT / "mk", folder / "mk")
    shutil.copytree(ROOT / "requirements", folder / "requirements")
    for path, text in {
        "common/emulator/emulate.c": "int main(void) { return 0; }\n",
        "common/emulator/ptx/lexer.c": '#include "lexer.h"\nint lex(void) { return LEX; }\n',
        "common/emulator/ptx/lexer.h": "#define LEX 1\n",
        "common/driver/main.c": "extern int chapter;\nint main(void) { return chapter; }\n",
        "common/driver/build/compile_main.c": "int main(void) { return 0; }\n",
        "chapters/ch01_one/chapter.c": "int chapter = 0;\n",
        "chapters/ch02_two/chapter.c": "int chapter = 2;\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.fixture(scope="session")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout with every library, tool and ./chNN built; workers of pytest-xdist take turns."""
    import fcntl

    folder = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        folder = folder.parent
    with open(folder / "build.lock", "w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        done = run_make("drivers", folder=root)
    assert done.returncode == 0, done.stdout + done.stderr
    return root


@pytest.fixture(scope="session")
def emulator_built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The emulator's library and command alone, built; another build of the library may be named instead."""
    import fcntl

    import emulator

    if not emulator.LIBRARY_NAMED:
        folder = tmp_path_factory.getbasetemp()
        if os.environ.get("PYTEST_XDIST_WORKER"):
            folder = folder.parent
        with open(folder / "build.lock", "w") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)
            done = run_make("build/lib/libemulator.so", "build/bin/emulate", folder=root)
        assert done.returncode == 0, done.stdout + done.stderr
    return root
