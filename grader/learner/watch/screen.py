"""The screen of `make watch`: its parts, its keys, and what they do."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.filters import Condition, Filter
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.formatted_text.utils import split_lines
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import Dimension, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.styles import Style

from ...core.errors import PASSED, GraderError, explain_os_error
from ...core.history import History
from ...core.make import has_target
from ...core.page import points_text
from ...core.processes import clean_environment
from ...core.workbook import Chapter, Workbook
from ..grade import Grade, Options
from ..grade_page import grade_page
from ..hints import next_hint
from ..restart import reset
from ..standing import Standing, following, standings
from . import files, pages
from .jobs import Job, Jobs
from .work import Verdict, judging, making, profiling, running_all

_STYLE = Style.from_dict(
    {"bar": "reverse", "good": "bold", "keys": "", "note": "italic", "question": "bold reverse"}
)
KEYS = [
    ("h", "hint", "the next hint, for what the last run showed"),
    ("n", "next", "go to the next chapter that has not passed"),
    ("l", "list", "all chapters; Enter goes to the chosen one"),
    ("p", "profile", "counters for every line of your file"),
    ("d", "predict", "predict three numbers before they are shown"),
    ("o", "report", "write the report"),
    ("a", "all", "run and record every chapter"),
    ("r", "reset", "restore the skeleton; asks first, and keeps your file"),
    ("q", "quit", "quit; also Ctrl-C"),
]
MORE_KEYS = [
    ("v, Esc", "back to the verdict"),
    ("Space", "judge again"),
    ("arrows", "scroll; also PageUp, PageDown, Home and End"),
    ("?", "this list"),
]


def run(workbook: Workbook, chapters: list[Chapter], options: Options, begin_with: Chapter) -> int:
    """Show the screen until the learner or a signal ends it."""
    return asyncio.run(Screen(workbook, chapters, options, begin_with).run())


class Screen:
    """Everything that is shown, and the current chapter."""

    def __init__(
        self, workbook: Workbook, chapters: list[Chapter], options: Options, begin_with: Chapter
    ) -> None:
        self.workbook = workbook
        self.chapters = chapters
        self.options = options
        self.chapter = begin_with
        self.standings: list[Standing] = standings(workbook)
        self.verdict: Verdict | None = None  # of the chapter; None while it is not known
        self.is_judging = False
        self.remark = ""  # to be shown with the next verdict
        self.page: pages.Page = pages.plain("")
        self.chosen: int | None = None  # in the list, if it is shown
        self.top = 0  # the first line of the page that is shown
        self.note = ""
        self.left: int | None = None  # the exit status, once it should end
        self._drawn: tuple[pages.Page, int, list[StyleAndTextTuples]] | None = None
        self.question: tuple[str, Callable[[], None]] | None = None
        self.keys = [key for key in KEYS if key[1] != "report" or has_target(workbook, "report")]
        self.asking: subprocess.Popen[bytes] | None = None  # a program that uses the terminal
        self.jobs = Jobs(lambda error: self.say(str(error) or type(error).__name__))
        self.application: Application[int] = Application(
            layout=Layout(self._parts()),
            key_bindings=self._bindings(),
            style=_STYLE,
            full_screen=True,
            mouse_support=False,
        )
        self.application.ttimeoutlen = 0.1  # seconds until Esc is a key and not the start of an arrow's

    # ---- From beginning to end -------------------------------------------------------------------------------

    async def run(self) -> int:
        """Show the screen until it ends; the terminal is restored then."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._leave, 128 + number)
        loop.set_exception_handler(
            lambda _, context: self._fail(context.get("exception") or RuntimeError(context["message"]))
        )
        watcher = loop.create_task(self._listen())
        watcher.add_done_callback(self._failed)
        try:
            return await self.application.run_async(pre_run=self._begin, set_exception_handler=False)
        except EOFError:  # the terminal has gone
            return 128 + signal.SIGHUP
        finally:
            self.jobs.stop()
            if self.asking is not None:
                self.asking.terminate()
            watcher.remove_done_callback(self._failed)
            watcher.cancel()

    def _begin(self) -> None:
        if self.left is not None:
            self._leave(self.left)
        else:
            self.judge()

    def _leave(self, status: int) -> None:
        self.left = status
        if self.application.is_running and not self.application.is_done:
            self.application.exit(result=status)

    def _failed(self, watcher: asyncio.Task[None]) -> None:
        error = None if watcher.cancelled() else watcher.exception()
        if error is not None:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        """End the screen because of an error of Warpbook or the machine."""
        if self.application.is_running and not self.application.is_done:
            self.application.exit(exception=error)

    async def _listen(self) -> None:
        async for saved in files.saves(self.workbook, self.chapters):
            mine = next((one for one in saved if one.chapter == self.chapter), saved[0])
            self.go_to(mine.chapter)
            self.judge(is_program_changed=mine.is_program_changed)

    # ---- What the keys do ------------------------------------------------------------------------------------

    def judge(self, *, is_program_changed: bool = False) -> None:
        """Judges the chapter."""
        work = judging(
            self.workbook,
            self.chapter,
            self.options,
            self._judged,
            self._recorded,
            since=time.monotonic(),
            is_program_changed=is_program_changed,
        )
        self._start(work, f"judging {self.chapter.name} ...")
        self.is_judging = True

    def _judged(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.is_judging = False
        self._show_verdict(verdict)
        if self.remark:
            self.say(self.remark)
            self.remark = ""

    def _show_verdict(self, verdict: Verdict) -> None:
        result = verdict.outcome.result
        page = verdict.outcome.page
        if result.verdict == "INFRA":
            page = f"{self.chapter.name} could not be judged: {result.message}\n\n{page}"
        self.show(pages.plain(page))
        advice = "n: go to the next chapter" if result.passed else "h: a hint"
        self.say(f"{verdict.clock}  judged in {verdict.seconds:.2f} s  {advice}")

    def _recorded(self, troubles: list[str], made: list[Standing]) -> None:
        self.standings = made or self.standings
        if troubles:
            self.say("; ".join(troubles))
        self.application.invalidate()

    def hint(self) -> None:
        """The next hint."""
        self.show(pages.hint_page(self.chapter, next_hint(self.workbook, self.chapter, None)))
        self.say("")

    def go_on(self) -> None:
        """Go to the next unfinished chapter."""
        self.standings = standings(self.workbook)
        place = self._place()
        after = self.standings[place + 1 :] + self.standings[:place]
        next_one = following(after, None)
        if next_one is not None:
            self.go_to(next_one.chapter)
            self.judge()
        elif following(self.standings, None) is None:
            self.show(pages.end_page(self.standings))
            self.say("")
        else:
            self.say("no other chapter is unfinished; l lists all")

    def list_all(self) -> None:
        """List all chapters, to choose one."""
        self.standings = standings(self.workbook)
        self.choose(self._place())

    def choose(self, number: int) -> None:
        """Mark a line of the list."""
        self.show(pages.list_page(self.standings, number))
        self.chosen = number
        heading = 2  # lines above the first chapter
        self.top = max(0, number + heading + 2 - self._rows())
        self.say("")

    def enter(self) -> None:
        """Go to the chosen chapter."""
        if self.chosen is not None:
            self.go_to(self.standings[self.chosen].chapter)
            self.judge()

    def profile(self) -> None:
        """Counters for every line."""
        work = profiling(self.workbook, self.chapter, self.options, self._profiled)
        self._start(work, f"./{self.chapter.name} --profile ...")

    def _profiled(self, page: str) -> None:
        self.show(pages.plain(page))
        self.say("v: back to the verdict")

    async def predict(self) -> None:
        """Ask for three numbers, on the ordinary terminal."""
        command = [sys.executable, "-m", "grader", "predict", self.chapter.name]

        def ask() -> None:
            with subprocess.Popen(command, cwd=self.workbook.root, env=clean_environment()) as self.asking:
                pass
            self.asking = None

        self.jobs.stop()
        await run_in_terminal(ask, in_executor=True)
        self.judge()

    def report(self) -> None:
        """`make report`."""
        if not any(name == "report" for _, name, _ in self.keys):
            self.say("this workbook has no make report")
            return
        self._run_with_lines(
            "make report", lambda hear: making(self.workbook, "report", hear, self._reported)
        )

    def _reported(self, status: int) -> None:
        self.say("v: back to the verdict" if status == 0 else "make report failed; v: back to the verdict")

    def run_all(self) -> None:
        """Runs and records every chapter."""
        self._run_with_lines(
            "every chapter",
            lambda hear: running_all(self.workbook, self.chapters, self.options, hear, self._all_run),
        )

    def _all_run(self, graded: Grade) -> None:
        self.show(pages.of_renderable(grade_page(graded)))
        self.say("; ".join(graded.troubles) or "v: back to the verdict")

    def ask_reset(self) -> None:
        """Asks before it resets."""
        chapter = self.chapter
        self.question = (
            f"Restore the skeleton of {chapter.name}? Your file is kept in build/kept/{chapter.name}/. y or n",
            lambda: self._reset(chapter),
        )

    def _reset(self, chapter: Chapter) -> None:
        kept = reset(self.workbook, chapter)
        if kept is None:
            self.say(f"{chapter.kernel} is already the skeleton")
        else:
            self.remark = f"the skeleton is back; your file is {kept}"
            self.say(self.remark)  # and saving the skeleton makes it judged

    def back(self) -> None:
        """Back to the verdict."""
        if self.verdict is not None:
            self._show_verdict(self.verdict)
        else:
            self.judge()

    def show_keys(self) -> None:
        """List the keys."""
        self.show(pages.keys_page([(key, words) for key, _, words in self.keys] + MORE_KEYS))
        self.say("v: back to the verdict")

    # ---- State -----------------------------------------------------------------------------------------------

    def go_to(self, chapter: Chapter) -> None:
        """Make a chapter the current one, here and for `make`."""
        self.question = None
        if chapter != self.chapter:
            self.chapter = chapter
            self.verdict = None
            self.show(pages.plain(""))
            try:
                History(self.workbook.history).note(chapter.name, "at")
            except GraderError as error:
                self.remark = str(error)

    def show(self, page: pages.Page) -> None:
        """Puts a page on the screen, from its first line."""
        self.page = page
        self.chosen = None
        self.top = 0
        self.application.invalidate()

    def say(self, note: str) -> None:
        """Puts a note below the page."""
        self.note = note
        self.application.invalidate()

    def _run_with_lines(
        self, title: str, work: Callable[[Callable[[str], None]], Callable[[Job], None]]
    ) -> None:
        lines: list[str] = [title, ""]
        shown = pages.plain(title)

        def hear(line: str) -> None:
            nonlocal shown
            lines.append(line)
            if self.page is shown:  # and the learner has not chosen another page
                shown = pages.plain("\n".join(lines))
                self.show(shown)
                self.top = max(0, len(lines) - self._rows())

        self.show(shown)
        self._start(work(hear), "running; a save ends it")

    def _start(self, work: Callable[[Job], None], note: str) -> None:
        self.is_judging = False
        self.say(note)
        self.jobs.start(work)

    def _place(self) -> int:
        return next(i for i, one in enumerate(self.standings) if one.chapter == self.chapter)

    # ---- Drawing ---------------------------------------------------------------------------------------------

    def _parts(self) -> HSplit:
        def line(draw: Callable[[], StyleAndTextTuples], style: str) -> Window:
            control = FormattedTextControl(draw)
            return Window(
                control,
                style=style,
                wrap_lines=True,
                dont_extend_height=True,
                height=Dimension(min=1),
                always_hide_cursor=True,
            )

        return HSplit(
            [
                Window(
                    FormattedTextControl(self._draw_title),
                    style="class:bar",
                    height=1,
                    always_hide_cursor=True,
                ),
                Window(FormattedTextControl(self._draw_page), wrap_lines=True, always_hide_cursor=True),
                line(self._draw_note, ""),
                line(self._draw_keys, "class:keys"),
            ]
        )

    def _columns(self) -> int:
        return self.application.output.get_size().columns

    def _rows(self) -> int:
        """Lines of the page that fit if none of them wraps."""
        return max(1, self.application.output.get_size().rows - 4)

    def _draw_title(self) -> StyleAndTextTuples:
        left = f" {self.chapter.name} {self.chapter.title}"
        if self.is_judging:
            left += "  judging"
        elif self.verdict is not None:
            result = self.verdict.outcome.result
            left += f"  {result.verdict} {points_text(result.earned, result.possible)}"
        passed = sum(standing.is_done for standing in self.standings)
        right = f"{passed} of {len(self.standings)} passed  ? keys "
        space = self._columns() - len(left) - len(right)
        return [("", left + " " * space + right if space > 0 else left)]

    def _draw_page(self) -> StyleAndTextTuples:
        lines = self._lines()
        shown: StyleAndTextTuples = []
        for line in lines[self.top :]:
            shown += [*line, ("", "\n")]
        return shown[:-1]

    def _lines(self) -> list[StyleAndTextTuples]:
        page, columns = self.page, self._columns()
        if self._drawn is None or self._drawn[:2] != (page, columns):
            text = page(columns).rstrip("\n")
            self._drawn = page, columns, list(split_lines(to_formatted_text(ANSI(text))))
        return self._drawn[2]

    def _draw_note(self) -> StyleAndTextTuples:
        if self.question is not None:
            return [("class:question", self.question[0])]
        hidden = len(self._lines()) - self.top - self._rows()
        more = f"  [{hidden} more lines below]" if hidden > 0 else ""
        return [("", self.note + more)]

    def _draw_keys(self) -> StyleAndTextTuples:
        drawn: StyleAndTextTuples = []
        for key, name, _ in self.keys:
            drawn += [("bold", key), ("", f" {name}  ")]
        return drawn

    # ---- Keys ------------------------------------------------------------------------------------------------

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()
        is_asked = Condition(lambda: self.question is not None)
        is_listing = Condition(lambda: self.chosen is not None) & ~is_asked

        def on(*keys: str, do: Callable[[], None], when: Filter = ~is_asked) -> None:
            def pressed(_: KeyPressEvent) -> None:
                try:
                    do()
                except GraderError as error:
                    self.say(str(error))
                except OSError as error:
                    self.say(explain_os_error(error))
                except Exception as error:
                    self._fail(error)

            for key in keys:
                bindings.add(key, filter=when)(pressed)

        on("h", do=self.hint)
        on("n", do=self.go_on)
        on("l", do=self.list_all)
        on("p", do=self.profile)
        on("o", do=self.report)
        on("a", do=self.run_all)
        on("r", do=self.ask_reset)
        on("v", "escape", do=self.back)
        on("space", do=self.judge)
        on("?", do=self.show_keys)
        on("enter", do=self.enter, when=is_listing)
        on("y", "Y", do=lambda: self._answer(is_yes=True), when=is_asked)
        on("n", "N", "escape", "enter", do=lambda: self._answer(is_yes=False), when=is_asked)
        on("up", "k", do=lambda: self._move(-1))
        on("down", "j", do=lambda: self._move(1))
        on("pageup", do=lambda: self._scroll(-self._rows()))
        on("pagedown", do=lambda: self._scroll(self._rows()))
        on("home", do=lambda: self._scroll(-len(self._lines())))
        on("end", do=lambda: self._scroll(len(self._lines())))

        @bindings.add("d", filter=~is_asked)
        def _(event: KeyPressEvent) -> None:
            event.app.create_background_task(self.predict())

        @bindings.add("q")
        @bindings.add("c-c")
        @bindings.add("<sigint>")
        def _(event: KeyPressEvent) -> None:
            self._leave(PASSED)

        @bindings.add("c-z")
        def _(event: KeyPressEvent) -> None:
            event.app.suspend_to_background()

        @bindings.add("c-l")
        def _(event: KeyPressEvent) -> None:
            event.app.renderer.clear()

        return bindings

    def _answer(self, *, is_yes: bool) -> None:
        question, self.question = self.question, None
        if is_yes and question is not None:
            question[1]()
        else:
            self.say("nothing changed")

    def _move(self, by: int) -> None:
        if self.chosen is not None:
            self.choose(min(max(0, self.chosen + by), len(self.standings) - 1))
        else:
            self._scroll(by)

    def _scroll(self, by: int) -> None:
        last = max(0, len(self._lines()) - self._rows())
        self.top = min(max(0, self.top + by), last)
