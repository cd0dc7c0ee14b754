"""`make watch` in a real terminal: saves, keys, what is shown, and that the terminal is as before afterwards."""

import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from fake_workbook import FakeWorkbook
from tmux import PATIENCE, Tmux
from whole_kernels import kernel_text

from grader.core.skeleton import make_skeleton

SAYS = 'print("{}")\n'
WRONG = 'result["verdict"] = "WRONG"; result["points"]["earned"] = 0; status = 1; print("page of a wrong kernel")\n'
HANGS = "open('hangs', 'w').write(str(os.getpid())); time.sleep(1000)\n"


def title(screen: str) -> str:
    return screen.splitlines()[0]


def judged(name: str, verdict: str):
    """Whether the screen shows that verdict of that chapter."""
    return lambda screen: title(screen).startswith(f" {name} ") and f" {verdict} " in title(screen)


# ---- A checkout in small, for the keys -------------------------------------------------------------------


@pytest.fixture
def book(tmp_path: Path) -> FakeWorkbook:
    kernels = {"ch01": SAYS.format("page of ch01"), "ch02": WRONG, "ch03": SAYS.format("page of ch03")}
    made = FakeWorkbook(tmp_path / "book", kernels)
    with open(made.folder / "Makefile", "a") as makefile:
        makefile.write("report:\n\t@echo the report is made\n")
    return made


@pytest.fixture
def terminal(book: FakeWorkbook) -> Iterator[Tmux]:
    with Tmux(book.folder, PYTHONPATH=str(ROOT), PYTHONDONTWRITEBYTECODE="1") as made:
        yield made


def start(terminal: Tmux, *arguments: str) -> None:
    terminal.type(" ".join([sys.executable, "-m", "grader", "watch", *arguments, "; echo en''ded"]))


def test_a_save_is_judged_and_a_passed_chapter_stays(book: FakeWorkbook, terminal: Tmux) -> None:
    start(terminal)
    screen = terminal.wait(judged("ch01", "PASS"))
    assert "page of ch01" in screen
    assert "n: go to the next chapter" in screen
    book.kernel("ch01").write_text(WRONG)
    assert "page of a wrong kernel" in terminal.wait(judged("ch01", "WRONG"))
    book.kernel("ch01").write_text(SAYS.format("fixed"))
    terminal.wait(judged("ch01", "PASS"))
    time.sleep(1)
    assert "fixed" in terminal.screen(), "it stays where it is"
    assert "1 of 3 passed" in title(terminal.screen())
    terminal.press("n")
    terminal.wait(judged("ch02", "WRONG"))
    terminal.press("q")
    terminal.wait("\nended")
    assert book.document("status")[1]["next"] == "ch02", "where it was left"
    assert [run[:2] for run in history(book)] == [
        ("ch01", "PASS"), ("ch01", "WRONG"), ("ch01", "PASS"), ("ch02", "WRONG"),
    ]  # fmt: skip


def history(book: FakeWorkbook) -> list[tuple[str, str]]:
    from grader.core.history import History

    runs = History(book.folder / "progress" / "history.sqlite").runs()
    return [(run.chapter, run.verdict) for run in runs]


def test_however_an_editor_saves(book: FakeWorkbook, terminal: Tmux) -> None:
    start(terminal)
    terminal.wait("page of ch01")
    new = book.kernel("ch01").with_name("kernel.cu.new")
    new.write_text(SAYS.format("by a new file, renamed"))
    new.rename(book.kernel("ch01"))
    terminal.wait("by a new file, renamed")
    book.kernel("ch01").rename(book.kernel("ch01").with_name("kernel.cu~"))
    book.kernel("ch01").write_text(SAYS.format("with a copy kept"))
    terminal.wait("with a copy kept")
    with open(book.kernel("ch01"), "w") as file:
        file.write("# half of it\n")
        file.flush()
        time.sleep(0.01)
        file.write(SAYS.format("in two pieces"))
    terminal.wait("in two pieces")


def test_the_chapter_that_was_saved_is_shown(book: FakeWorkbook, terminal: Tmux) -> None:
    start(terminal, "ch02")
    terminal.wait(judged("ch02", "WRONG"))
    book.kernel("ch03").write_text(SAYS.format("another"))
    terminal.wait(judged("ch03", "PASS"))
    for name in ("ch01", "ch03"):
        book.kernel(name).write_text(SAYS.format(f"both, {name}"))
    assert "both, ch03" in terminal.wait("both"), "of several the one that is worked on"


def test_the_newest_save_wins(book: FakeWorkbook, terminal: Tmux) -> None:
    start(terminal)
    terminal.wait("page of ch01")
    book.kernel("ch01").write_text(HANGS)
    hangs = book.folder / "hangs"
    terminal.wait(lambda _: hangs.exists() and bool(hangs.read_text()))
    assert "judging" in title(terminal.screen())
    book.kernel("ch01").write_text(SAYS.format("not for long"))
    terminal.wait("not for long")
    assert not Path(f"/proc/{hangs.read_text()}").exists()
    assert history(book)[-1] == ("ch01", "PASS")


def test_quitting_ends_what_runs(book: FakeWorkbook, terminal: Tmux) -> None:
    book.kernel("ch01").write_text(HANGS)
    start(terminal)
    hangs = book.folder / "hangs"
    terminal.wait(lambda _: hangs.exists() and bool(hangs.read_text()))
    terminal.press("q")
    terminal.wait(lambda _: not Path(f"/proc/{hangs.read_text()}").exists())
    terminal.wait("\nended")


def test_a_changed_program_is_built_again(book: FakeWorkbook, terminal: Tmux) -> None:
    start(terminal)
    terminal.wait("page of ch01")
    program = book.folder / "programs" / "ch01"
    program.write_text(program.read_text().replace('"possible": 10', '"possible": 20'))
    (book.folder / "chapters/ch01_fake/chapter.c").write_text("// changed\n")
    terminal.wait("10/20")


# ---- Keys ------------------------------------------------------------------------------------------------


def test_hints_and_back(terminal: Tmux) -> None:
    start(terminal, "ch02")
    terminal.wait(judged("ch02", "WRONG"))
    for step, words in ((1, "first"), (2, "second"), (3, "third")):
        terminal.press("h")
        assert words in terminal.wait(f"hint {step} of 3")
    terminal.press("v")
    terminal.wait("page of a wrong kernel")


def test_the_list(terminal: Tmux) -> None:
    start(terminal)
    terminal.wait("page of ch01")
    terminal.press("l")
    terminal.wait(">  ch01 Fake ch01")
    terminal.press("Down", "Down")
    terminal.wait(">  ch03 Fake ch03")
    terminal.press("Down", "Up")
    terminal.wait(">  ch02 Fake ch02")
    terminal.press("Enter")
    terminal.wait(judged("ch02", "WRONG"))


def test_all_of_them(book: FakeWorkbook, terminal: Tmux) -> None:
    start(terminal)
    terminal.wait("page of ch01")
    terminal.press("a")
    screen = terminal.wait("2 of 3 passed, 20 of 30 points")
    assert re.search(r"ch02 Fake ch02 +WRONG", screen)
    assert (book.folder / "build" / "results.json").exists()
    assert sorted(book.ran()) == ["ch01", "ch02", "ch03"], "what was judged already is not run again"
    terminal.press("Escape")
    terminal.wait("page of ch01")


def test_all_is_passed(book: FakeWorkbook, terminal: Tmux) -> None:
    book.kernel("ch02").write_text("# right\n")
    start(terminal, "ch03")
    terminal.wait("page of ch03")
    terminal.press("a")
    terminal.wait("3 of 3 passed, 30 of 30")
    terminal.press("n")
    terminal.wait("All 3 chapters have passed.")


def test_nowhere_else_to_go(terminal: Tmux) -> None:
    start(terminal)
    terminal.wait("page of ch01")
    terminal.press("n")
    terminal.wait(judged("ch02", "WRONG"))
    terminal.press("n")
    terminal.wait("page of ch03")
    terminal.press("n")
    terminal.wait(judged("ch02", "WRONG"))
    terminal.press("n")
    terminal.wait("no other chapter is unfinished")


def test_profile(book: FakeWorkbook, terminal: Tmux) -> None:
    book.kernel("ch01").write_text('print("lines counted" if "--profile" in sys.argv else "page of ch01")\n'
                                   'if "--profile" in sys.argv: sys.exit(0)\n')  # fmt: skip
    start(terminal)
    terminal.wait("page of ch01")
    terminal.press("p")
    terminal.wait("lines counted")


def test_report(terminal: Tmux) -> None:
    start(terminal)
    terminal.wait("page of ch01")
    terminal.press("o")
    terminal.wait("the report is made")


def test_without_a_report(book: FakeWorkbook, terminal: Tmux) -> None:
    makefile = book.folder / "Makefile"
    makefile.write_text(makefile.read_text().replace("report:", "no-such:"))
    start(terminal)
    assert "o report" not in terminal.wait("page of ch01")
    terminal.press("o")
    terminal.wait("this workbook has no make report")


def test_a_page_that_was_turned_to_stays(book: FakeWorkbook, terminal: Tmux) -> None:
    """Other events do not remove it."""
    with open(book.folder / "Makefile", "a") as makefile:
        makefile.write(
            "report: slowly\nslowly:\n\t@echo begun; while [ ! -e go ]; do sleep 0.1; done; echo gone\n"
        )
    start(terminal)
    terminal.wait("page of ch01")
    terminal.press("o")
    terminal.wait("begun")
    terminal.press("l")
    terminal.wait("Up, Down")
    (book.folder / "go").touch()
    terminal.wait("v: back to the verdict")
    assert "Up, Down" in terminal.screen()
    terminal.press("v")
    screen = terminal.wait("page of ch01")
    assert terminal.wait("judged in") == screen


def test_predict(book: FakeWorkbook, terminal: Tmux) -> None:
    asked = '[[ask]]\nquestion = "How many?"\nwords = "barriers"\nmeasure = "barriers"\n'
    (book.folder / "chapters/ch01_fake/predict.toml").write_text(asked)
    start(terminal)
    terminal.wait("page of ch01")
    terminal.press("d")
    terminal.wait("How many?")
    assert terminal.format("#{alternate_on}") == "0", "it asks on the terminal as it was"
    terminal.type("3")
    terminal.wait(judged("ch01", "PASS"))
    assert (book.folder / "progress/predictions/ch01.txt").read_text().endswith("\tbarriers\t3\n")


def test_reset_asks_first(book: FakeWorkbook, terminal: Tmux) -> None:
    start(terminal)
    terminal.wait("page of ch01")
    mine = book.kernel("ch01").read_text()
    for no in ("n", "Escape", "Enter"):
        terminal.press("r")
        terminal.wait("Your file is kept in build/kept/ch01/. y or n")
        terminal.press(no)
        terminal.wait("nothing changed")
    assert book.kernel("ch01").read_text() == mine
    terminal.press("r", "y")
    terminal.wait("your file is build/kept/ch01/kernel.cu.1.bak")
    assert "TODO 1" in book.kernel("ch01").read_text()
    assert (book.folder / "build/kept/ch01/kernel.cu.1.bak").read_text() == mine


def test_a_long_page_scrolls(book: FakeWorkbook, terminal: Tmux) -> None:
    book.kernel("ch01").write_text("for i in range(60): print('line', i)\n")
    start(terminal)
    assert "[40 more lines below]" in terminal.wait("judged in")
    terminal.press("PageDown")
    terminal.wait(lambda screen: "line 20" in screen and "line 19" not in screen)
    terminal.press("End")
    terminal.wait(lambda screen: "line 59" in screen and "more lines" not in screen)
    terminal.press("Up")
    terminal.wait("[1 more lines below]")
    terminal.press("Home")
    terminal.wait("line 0")


def test_the_keys_are_explained(terminal: Tmux) -> None:
    start(terminal)
    terminal.wait("page of ch01")
    last = terminal.screen().rstrip("\n").splitlines()[-1]
    assert " ".join(last.split()) == "h hint n next l list p profile d predict o report a all r reset q quit"
    terminal.press("?")
    screen = terminal.wait("Save a kernel.cu")
    assert all(f"\n  {key} " in screen for key in "hnlpdoarq?")


# ---- Terminals -------------------------------------------------------------------------------------------


def test_another_size(terminal: Tmux) -> None:
    start(terminal)
    terminal.wait("page of ch01")
    terminal.resize(50, 12)
    terminal.wait(lambda screen: title(screen).rstrip().endswith("? keys") and len(title(screen)) <= 50)
    screen = terminal.wait("q quit")
    assert "page of ch01" in screen
    terminal.resize(20, 4)
    terminal.press("l")
    time.sleep(0.5)
    terminal.resize(120, 40)
    assert "Up, Down, Enter" in terminal.wait(lambda screen: len(title(screen)) > 110)


def test_a_locale_of_ascii_alone(book: FakeWorkbook) -> None:
    lesson = book.folder / "chapters/ch01_fake/README.md"
    lesson.write_text("# Chapter 1: Größe\n", encoding="utf-8")
    environment = {"PYTHONPATH": str(ROOT), "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    with Tmux(book.folder, **environment) as terminal:
        start(terminal)
        terminal.wait(judged("ch01", "PASS"))
        assert "Gr??e" in title(terminal.screen())
        terminal.press("l")
        terminal.wait("########................ 1 of 3 passed")
        assert terminal.wait("Up, Down").isascii()


def test_colours_and_none(book: FakeWorkbook) -> None:
    colour = re.compile(r"\033\[(?:\d+;)*(?:3[0-7]|9[0-7])(?:;\d+)*m")
    for no_color in ("1", ""):
        with Tmux(book.folder, PYTHONPATH=str(ROOT), NO_COLOR=no_color) as terminal:
            start(terminal, "ch01")
            terminal.wait("page of ch01")
            terminal.press("l")
            terminal.wait("Up, Down")
            assert bool(colour.search(terminal.screen(with_codes=True))) == (not no_color)


@pytest.mark.parametrize(
    "how", ["q", "C-c", "SIGTERM", "SIGHUP", "SIGKILL", "SIGSEGV", "SIGKILL of the outer"]
)
def test_the_terminal_is_as_before(book: FakeWorkbook, terminal: Tmux, how: str) -> None:
    terminal.type("stty -g > before")
    start(terminal, "ch01")
    terminal.wait("page of ch01")
    terminal.wait(lambda _: terminal.format("#{alternate_on} #{cursor_flag}") == "1 0")
    outer, inner = screen_processes(book)
    if how.startswith("SIG"):
        name, _, whose = how.partition(" of the ")
        os.kill(outer if whose else inner, signal.Signals[name])
    else:
        terminal.press(how)
    terminal.wait(lambda _: not Path(f"/proc/{inner}").exists())
    terminal.wait(lambda _: terminal.format("#{alternate_on} #{cursor_flag}") == "0 1")
    terminal.type("stty -g > after; echo all do''ne")
    terminal.wait("all done")
    assert (book.folder / "after").read_text() == (book.folder / "before").read_text()


def test_a_mistake_of_ours_leaves_the_terminal_too(book: FakeWorkbook, terminal: Tmux) -> None:
    program = book.folder / "mistaken.py"
    program.write_text("import sys\nfrom grader.__main__ import guarded\n"
                       "from grader.learner.watch.screen import Screen\n"
                       "Screen.show_keys = lambda screen: 1 // 0\nsys.exit(guarded(['watch']))\n")  # fmt: skip
    terminal.type(f"{sys.executable} {program}; echo status $?")
    terminal.wait("page of ch01")
    terminal.press("?")
    assert "an error in Warpbook itself (ZeroDivisionError" in terminal.wait("status 3")
    assert terminal.format("#{alternate_on} #{cursor_flag}") == "0 1"


def screen_processes(book: FakeWorkbook) -> tuple[int, int]:
    """The process that waits, and the one that draws."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if b"watch" in words and (entry / "cwd").readlink() == book.folder:
                found.append(int(entry.name))
        except OSError:
            continue
    parents = {pid: int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]) for pid in found}
    (inner,) = [pid for pid in found if parents[pid] in found]
    return parents[inner], inner


def test_to_the_background_and_back(book: FakeWorkbook, terminal: Tmux) -> None:
    start(terminal)
    terminal.wait("page of ch01")
    terminal.press("C-z")
    terminal.wait(lambda _: terminal.format("#{alternate_on}") == "0")
    terminal.type("echo in bet''ween; fg")
    terminal.wait(lambda _: terminal.format("#{alternate_on}") == "1")
    terminal.wait("page of ch01")
    book.kernel("ch01").write_text(SAYS.format("still watching"))
    terminal.wait("still watching")


@pytest.mark.parametrize("looks", ["told", "looks", "is refused"])
def test_where_the_system_does_not_tell_of_changes(
    book: FakeWorkbook, monkeypatch: pytest.MonkeyPatch, looks: str
) -> None:
    import asyncio

    from grader.core.workbook import Workbook
    from grader.learner.watch import files

    if looks == "looks":
        monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "1")
    if looks == "is refused":
        real = files.awatch

        def refusing(*folders: Path, force_polling: bool | None, **more: object):
            if not force_polling:
                raise OSError(28, "OS file watch limit reached")
            return real(*folders, force_polling=force_polling, **more)

        monkeypatch.setattr(files, "awatch", refusing)

    async def first() -> list[str]:
        workbook = Workbook(book.folder)
        saves = files.saves(workbook, workbook.chapters)
        waiting = asyncio.ensure_future(anext(saves))
        for number in range(100):
            await asyncio.sleep(0.1)
            book.kernel("ch02").write_text(f"# {number}\n")
            (book.folder / "chapters/ch03_fake/notes.txt").write_text("of no interest")
            if waiting.done():
                break
        return [saved.chapter.name for saved in await waiting]

    assert asyncio.run(first()) == ["ch02"]


def test_no_terminal_no_screen(book: FakeWorkbook) -> None:
    done = book.run("watch")
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr
    assert book.run("watch", "ch99").returncode == 2


def test_a_package_that_is_missing(book: FakeWorkbook, terminal: Tmux) -> None:
    program = book.folder / "without.py"
    program.write_text("import sys\nsys.modules['watchfiles'] = None\n"
                       "from grader.__main__ import guarded\nsys.exit(guarded(['watch']))\n")  # fmt: skip
    terminal.type(f"{sys.executable} {program}; echo status $?")
    assert "the Python package watchfiles is missing; see make doctor" in terminal.wait("status 3")


def test_a_terminal_that_cannot_be_drawn_on(book: FakeWorkbook) -> None:
    with Tmux(book.folder, PYTHONPATH=str(ROOT)) as terminal:
        terminal.type(f"TERM=dumb {sys.executable} -m grader watch; echo status $?")
        assert "cannot be drawn on" in terminal.wait("status 2")


def test_a_damaged_history_is_told_and_ends_nothing(book: FakeWorkbook, terminal: Tmux) -> None:
    start(terminal)
    terminal.wait("1 of 3 passed")
    (book.folder / "progress" / "history.sqlite").write_bytes(b"this is not a database" * 100)
    terminal.press("l")
    terminal.wait("is damaged")
    for name in ("ch01", "ch03"):
        book.kernel(name).write_text(SAYS.format(f"{name} judged anyway"))
        terminal.wait(f"{name} judged anyway")


# ---- The real thing --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def checkout_of_two(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workbook with chapters 4 and 5 as a learner gets them, built."""
    folder = tmp_path_factory.mktemp("real") / "warpbook"
    folder.mkdir()
    for name in ("common", "grader", "mk", "requirements"):
        shutil.copytree(built / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy2(built / name, folder)
    venv = os.environ.get("WARPBOOK_VENV", ".venv")
    if venv and (built / venv).exists():
        (folder / venv).symlink_to((built / venv).absolute())
    (folder / "build").mkdir()
    for name in ("bin", "lib", "ccbin", "obj/common"):
        if (built / "build" / name).exists():
            shutil.copytree(built / "build" / name, folder / "build" / name)
    for name in ("config.mk", "flags", "sources"):
        shutil.copy2(built / "build" / name, folder / "build")
    (folder / "build" / "programs").mkdir()
    for chapter in ("ch04", "ch05"):
        shutil.copy2(built / "build" / "programs" / chapter, folder / "build" / "programs")
        for top in ("chapters", "solutions", "build/obj/chapters"):
            (found,) = (built / top).glob(f"{chapter}_*")
            shutil.copytree(found, folder / top / found.name)
    return folder


@pytest.fixture
def real(checkout_of_two: Path) -> Path:
    """Its kernels are skeletons, and nothing has been recorded."""
    shutil.rmtree(checkout_of_two / "progress", ignore_errors=True)
    for solution in checkout_of_two.glob("solutions/*/kernel.cu"):
        kernel = checkout_of_two / "chapters" / solution.parent.name / "kernel.cu"
        kernel.write_text(make_skeleton(solution.read_text(), str(solution)).text)
    return checkout_of_two


def make_watch() -> str:
    variables = [f"VENV={os.environ['WARPBOOK_VENV']}"] if "WARPBOOK_VENV" in os.environ else []
    return " ".join(["make", *variables, "watch", "CH=ch04", "DEVICE=emulator"])


def test_an_evening_with_chapter_4(real: Path) -> None:
    """From the skeleton through a mistake, its diagnosis and a hint to a pass, and on."""
    kernel = real / "chapters/ch04_warp_shuffle/kernel.cu"
    wrong = kernel_text("wrong/ch04/starts_at_8")
    with Tmux(real) as terminal:
        terminal.type(make_watch() + "; echo en''ded")
        screen = terminal.wait(judged("ch04", "WRONG"), 5 * PATIENCE)
        assert "sum_shuffle computes a wrong result" in screen
        kernel.write_text(wrong)
        screen = terminal.wait(lambda screen: judged("ch04", "WRONG")(screen) and "level" in screen)
        assert "A level of the tree, or a part of it, is missing." in " ".join(screen.split())
        terminal.press("h")
        screen = terminal.wait("hint 1 of 3")
        assert "Your last run: A level of the tree, or a part of it, is missing." in screen
        assert "Read: chapters/ch04_warp_shuffle/README.md, Five steps" in screen
        kernel.write_text((real / "solutions/ch04_warp_shuffle/kernel.cu").read_text())
        screen = terminal.wait(judged("ch04", "PASS"))
        assert "shuffles per warp" in screen
        time.sleep(1)
        assert judged("ch04", "PASS")(terminal.screen())
        terminal.press("n")
        terminal.wait(judged("ch05", "WRONG"))
        terminal.press("q")
        terminal.wait("\nended")
        terminal.type("clear; make status")
        screen = terminal.wait("Next: ch05")
        assert re.search(r"ch04 Warp shuffle +passed", screen)


@pytest.mark.timed
def test_a_verdict_within_a_second(real: Path) -> None:
    """The median of ten saves. A machine with other work gets the time that `./ch04` alone takes there, and a bit."""
    kernel = real / "chapters/ch04_warp_shuffle/kernel.cu"
    texts = {
        "PASS": (real / "solutions/ch04_warp_shuffle/kernel.cu").read_text(),
        "WRONG": kernel.read_text(),
    }
    watched, alone = [], []
    with Tmux(real) as terminal:
        terminal.type(make_watch() + "; echo en''ded")
        terminal.wait(judged("ch04", "WRONG"), 5 * PATIENCE)
        for number in range(10):
            verdict = "PASS" if number % 2 == 0 else "WRONG"
            begun = time.monotonic()
            kernel.write_text(texts[verdict] + f"// {number}\n")
            terminal.wait(judged("ch04", verdict))
            watched.append(time.monotonic() - begun)
            other = real / "build" / "other.cu"
            other.write_text(texts[verdict] + f"// {number}\n")
            begun = time.monotonic()
            subprocess.run(
                ["./ch04", "--device", "emulator", "--kernel", other], cwd=real, capture_output=True
            )
            alone.append(time.monotonic() - begun)
    limit = max(1.0, 1.3 * statistics.median(alone) + 0.3)
    assert statistics.median(watched) <= limit, (watched, alone)
