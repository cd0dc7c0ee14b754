"""What every command owes its users: JSON, plain pages in any encoding and width, completion, a manual."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from conftest import ROOT, run_make
from fake_workbook import FakeWorkbook

from grader import cli

COMMANDS = {name: cli.load(name) for commands in cli.COMMANDS.values() for name in commands}
WITHOUT_JSON = {
    "run": "standard output is the program's",
    "check": "standard output is the program's; --findings writes JSON",
    "profile": "standard output is the program's; --out writes JSON",
    "findings": "its files are JSON; --sarif and --junit write others",
    "watch": "it is a screen to work at; `status --json` says the same",
    "autograde": "it writes the platform's own format, JSON where that is what the platform reads",
}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> FakeWorkbook:
    """Three chapters, of one the title is beyond ASCII; no test here minds what another has done to them."""
    wrong = 'result["verdict"] = "WRONG"; result["points"]["earned"] = 0; status = 1\n'
    made = FakeWorkbook(
        tmp_path_factory.mktemp("made") / "book", {"ch01": "# one\n", "ch02": wrong, "ch03": "# three\n"}
    )
    chapters = made.folder / "chapters"
    (chapters / "ch01_fake/README.md").write_text(
        "# Chapter 1: Größe und Maß, in einem Titel\n", encoding="utf-8"
    )
    (chapters / "ch02_fake/hints.md").write_text(
        "# Hints\n\n## 1\n\nfür dich\n\n## 2\n\nb\n\n## 3\n\nc\n", encoding="utf-8"
    )
    (chapters / "ch02_fake/leaderboard.toml").write_text('work = "sum"\nreference = "ch02"\npeers = {}\n')
    (chapters / "ch01_fake/predict.toml").write_text(
        '[[ask]]\nquestion = "Wie groß?"\nwords = "sectors"\nmeasure = "sectors"\n', encoding="utf-8"
    )
    experiments = made.folder / "docs/experiments/ch01"
    experiments.mkdir(parents=True)
    (experiments / "one.cu").write_text("// EXPERIMENT: Wie groß?\n// SHOWS: nothing\n", encoding="utf-8")
    assert made.run("grade").returncode == 1
    return made


# ---- JSON ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_json_or_a_reason(name: str) -> None:
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert ("--json" in options) != (name in WITHOUT_JSON)


def test_every_reason_is_of_a_command_there_is() -> None:
    assert set(WITHOUT_JSON) <= set(COMMANDS)


def test_every_target_hands_json_on() -> None:
    """Of the targets that run a command of the grader, all but those with a reason pass JSON=1 to it."""
    run_by = {}
    for path in [ROOT / "Makefile", *(ROOT / "mk").glob("*.mk")]:
        text = path.read_text("utf-8").replace("$(GRADE_OPTIONS)", "$(AS_JSON)").replace("\\\n", " ")
        for line in text.splitlines():
            if match := re.search(r"(?:\$\(GRADER\)|-m grader) ([a-z-]+)", line):
                run_by[match[1]] = "$(AS_JSON)" in line
    assert set(COMMANDS) <= set(run_by), "every command is a target of make"
    assert {name for name, hands_on in run_by.items() if not hands_on and name in COMMANDS} == set(
        WITHOUT_JSON
    )


SHOWING = ("status", "grade", "solutions", "ladder", "leaderboard", "hint ch02", "show ch01", "skip ch02",
           "resume ch02", "predict ch01", "try", "doctor", "completion bash", "reset ch02 --force")  # fmt: skip


@pytest.mark.parametrize("command", SHOWING)
def test_the_document_stands_alone_on_standard_output(book: FakeWorkbook, command: str) -> None:
    environment = book.environment() | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    name, *rest = command.split()
    _, document = book.document(name, *rest, env=environment)
    assert re.fullmatch(r"warpbook/[a-z-]+/\d+", document["schema"])


# ---- The list of commands --------------------------------------------------------------------------------

HEAVY = (
    "jinja2",
    "jsonschema",
    "markdown_it",
    "matplotlib",
    "prompt_toolkit",
    "pygments",
    "grader.classroom",
)


def test_the_list_says_what_each_command_says() -> None:
    """It is read from the files; what is imported to run a command says the same."""
    context = typer.Context(cli.app)
    for name, command in COMMANDS.items():
        listed = cli.app.get_command(context, name)
        assert listed is not None and listed.help and listed.help == command.help, name
    assert cli.app.get_command(context, "nothing") is None


@pytest.mark.parametrize("command", ["status", "skip ch02", "resume ch02", "grade ch01"])
def test_a_command_imports_what_it_needs(book: FakeWorkbook, command: str) -> None:
    """A page in a pipe takes none of what a report, a class or a screen is made of."""
    code = (
        f"import sys; from grader.__main__ import guarded; guarded({command.split()!r})\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=book.folder, env=book.environment(), capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["[]"]), done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_each_parameter_is(name: str) -> None:
    """Every argument and option with its text; a flag is not shown as if it took a value."""
    context = typer.Context(COMMANDS[name], info_name=name, terminal_width=200)
    with contextlib.redirect_stdout(io.StringIO()) as page, pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "200")
        print(COMMANDS[name].get_help(context))
    lines = [" ".join(line.split()) for line in page.getvalue().splitlines()]
    assert set((COMMANDS[name].help or "").split()) <= set(page.getvalue().split())
    for parameter in COMMANDS[name].get_params(context):
        text = parameter.help.replace("\\[", "[")  # a bracket that does not begin rich's markup
        shown = [line for line in lines if text in line]
        assert shown, parameter.name
        assert getattr(parameter, "is_flag", False) <= all("<" not in line for line in shown), shown


@pytest.mark.parametrize("command", ["--help", "status", "hint ch02", "grade --jobs x", "nothing", ""])
def test_nothing_that_is_deprecated_is_used(book: FakeWorkbook, command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", "-m", "grader", *command.split()],
        cwd=book.folder, env=book.environment(), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode in (0, 2) and "Deprecat" not in done.stderr + done.stdout, done.stderr


def test_a_command_with_flags_alone_does_without_pydantic(book: FakeWorkbook) -> None:
    """With which typer checks values; importing it takes as long as the rest of the command."""
    code = "import sys; from grader.__main__ import main; main(['status']); print('pydantic' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=book.folder, env=book.environment(), capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1:] == ["False"], done.stderr


# ---- Encodings and widths --------------------------------------------------------------------------------

ASCII = [
    {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "ascii"},
]


@pytest.mark.parametrize("command", [*SHOWING, "status --help", "--help", "hint ch99", "try ch01-two"])
def test_nothing_but_ascii_where_that_is_all(book: FakeWorkbook, command: str) -> None:
    for variables in ASCII if command in ("status", "hint ch02") else ASCII[:1]:
        done = book.run(*command.split(), env=book.environment() | variables)
        assert done.returncode in (0, 1, 2, 3)
        assert (done.stdout + done.stderr).isascii(), (variables, done.stdout + done.stderr)
        assert "\033" not in done.stdout + done.stderr
        assert done.stdout + done.stderr


@pytest.mark.parametrize(
    ("command", "columns"),
    [
        ("status", 60),
        ("status", 40),
        ("grade", 60),
        ("grade", 40),
        ("ladder", 40),
        ("leaderboard", 40),
        ("hint ch02", 40),
    ],
)
def test_narrow_terminals_lose_nothing(book: FakeWorkbook, command: str, columns: int) -> None:
    wide = book.run(*command.split()).stdout
    page = book.run(*command.split(), env=book.environment() | {"COLUMNS": str(columns)}).stdout
    assert all(len(line) <= columns for line in page.splitlines()), page
    assert "…" not in page
    if command == "hint ch02":
        return  # another hint each time
    said = set(re.findall(r"[\w./-]{3,}", page.replace("\n", " ")))
    pieces = " ".join(page.split())
    missing = [
        word for word in re.findall(r"[A-Za-zß][\w/-]{3,}", wide) if word not in said and word not in pieces
    ]
    assert set(missing) <= {"chapter", "verdict", "points", "last", "state", "bandwidth", "what", "next"}, (
        page
    )


@pytest.mark.parametrize("columns", ["0", "1", "many", ""])
def test_a_width_that_is_none_still_shows_the_page(book: FakeWorkbook, columns: str) -> None:
    page = book.run("status", env=book.environment() | {"COLUMNS": columns}).stdout
    assert "ch03" in page and len(page.splitlines()) < 80


# ---- Completion ------------------------------------------------------------------------------------------


BASH = """
source <({program} completion bash)
complete -p warpbook >/dev/null || exit 9
offer() {{
    read -ra COMP_WORDS <<<"$1 "; [[ $1 == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
    _warpbook {program}
    echo ${{COMPREPLY[*]}}
}}
"""
ZSH = """
autoload -U compinit; compinit -u -D
source <({program} completion zsh)
[[ $_comps[warpbook] == _warpbook ]] || exit 9
_describe() {{ print -- ${{(@)${{(@P)3}}%%:*}} }}
offer() {{ words=(${{=1}}); CURRENT=$#words; _warpbook }}
"""
FISH = """
{program} completion fish | source
function offer; echo (complete -C"$argv" | string replace --regex '\\t.*' ''); end
"""
ASKED = {
    "lead": ["leaderboard"],
    "hint ch1": sorted(path.name[:4] for path in (ROOT / "chapters").glob("ch1*")),
    "show --js": ["--json"],
    "try ch04-do": ["ch04-down"],
    "grade --fr": ["--fresh"],
    "completion f": ["fish"],
}


@pytest.mark.parametrize(
    ("shell", "script"),
    [("bash --norc", BASH), ("zsh -f", ZSH), ("fish --no-config", FISH)],
    ids=["bash", "zsh", "fish"],
)
def test_completions(shell: str, script: str) -> None:
    """What a shell that has sourced the script offers behind ./warpbook."""
    program = ROOT / "warpbook"
    text = script.format(program=program) + "".join(f"offer '{program} {words}'\n" for words in ASKED)
    done = subprocess.run([*shell.split(), "-c", text], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()] == list(ASKED.values())


def test_completion_for_an_unknown_shell(book: FakeWorkbook) -> None:
    done = book.run("completion", "tcsh")
    assert (done.returncode, "bash, zsh, fish" in done.stderr) == (2, True)


# ---- The manual ------------------------------------------------------------------------------------------


def manual(*goals: str, **environment: str) -> str:
    done = run_make(*goals, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_manual_has_the_parts_of_one() -> None:
    headings = [
        line for line in manual("help").splitlines() if line and line.upper() == line and line[0] != " "
    ]
    assert headings[:4] == ["NAME", "SYNOPSIS", "DESCRIPTION", "LEARNING"]
    assert headings[-5:] == ["VARIABLES", "EXIT STATUS", "FILES", "EXAMPLES", "MORE PAGES"]
    page = manual("help").splitlines()
    for name in ("status", "chNN", "hint-chNN", "skip-chNN", "resume-chNN", "watch", "ladder", "clean"):
        assert any(line.startswith(f"  make {name} ") for line in page), name
    assert any(line.startswith("  STEP=2 ") for line in page)


PAGES = {
    "help": ("chNN grade hint-chNN predict-chNN report setup doctor clean help", "CH STEP V JOBS"),
    "help-teacher": ("class handout exports gradescope autolab autograde", "SUBMISSIONS COURSE ENGINE CLASS ROSTER"),
    "help-author": ("test check skeletons readme lessons locks kill-rate fuzz bench model-fit", "ARGS SANITIZE KEEP"),
}  # fmt: skip


def entries(page: str) -> tuple[list[str], list[str]]:
    """The targets and the variables that a page lists."""
    targets, variables = page.split("\nVARIABLES\n")
    return re.findall(r"^  make (\S+)", targets, re.MULTILINE), re.findall(
        r"^  ([A-Z_]+)=", variables, re.MULTILINE
    )


@pytest.mark.parametrize("goal", PAGES)
def test_each_reader_has_a_page(goal: str) -> None:
    """A target is on one page only."""
    targets, variables = entries(manual(goal))
    others = {name for other in PAGES if other != goal for name in entries(manual(other))[0]}
    wanted_targets, wanted_variables = (set(words.split()) for words in PAGES[goal])
    assert wanted_targets <= set(targets) and wanted_variables <= set(variables)
    assert not set(targets) & others


@pytest.mark.parametrize("goal", PAGES)
@pytest.mark.parametrize("columns", ["", "80", "60", "40", "200", "many"])
def test_the_manual_fits(goal: str, columns: str) -> None:
    most = int(columns) if columns in ("60", "40") else 80
    page = manual(goal, COLUMNS=columns)
    words = re.findall(r"\S+", page)
    assert all(len(line) <= most or len(line.split()) <= 4 for line in page.splitlines())
    assert words == re.findall(r"\S+", manual(goal))


def test_every_command_is_in_the_manual() -> None:
    names = {name.split("-")[0] for goal in PAGES for name in entries(manual(goal))[0]}
    assert {name.split("-")[0] for name in COMMANDS} <= names


def test_a_handouts_manual_has_one_page() -> None:
    """The files of mk/ that a handout comes with have targets for a learner only."""
    files = ["mk/learn.mk", "Makefile", "mk/help.mk", "mk/site.mk"]

    def ask(page: str) -> subprocess.CompletedProcess[str]:
        command = ["awk", "-f", "mk/help.awk", "-v", f"page={page}", *files]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert "make hint-chNN" in ask("learner").stdout and "MORE PAGES" not in ask("learner").stdout
    done = ask("teacher")
    assert (done.returncode, done.stdout) == (2, "") and "no targets for a teacher" in done.stderr


@pytest.mark.parametrize(
    ("asked", "name", "words"),
    [
        ("help-grade", "make grade", "CH="),
        ("help-hint-ch03", "make hint-chNN", "STEP=2"),
        ("help-ch04", "make chNN", "build chapter NN"),
        ("help-try-ch04-down", "make try-chNN-name", "an experiment"),
        ("help-class", "make class", "SUBMISSIONS=hw1"),
        ("help-fuzz", "make fuzz", "SECONDS="),
    ],
)
def test_the_manual_of_one_target(asked: str, name: str, words: str) -> None:
    page = manual(asked)
    assert page.startswith(f"  {name} ") and words in page
    assert "make clean" not in page and "JOBS=" not in page
    assert manual("help", f"T={asked.removeprefix('help-')}") == page


def test_the_manual_of_what_is_not_there() -> None:
    done = run_make("help-nothing")
    assert (done.returncode, "there is no target nothing" in done.stderr) == (2, True)


# ---- What cannot be seen ---------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.svg")), ids=lambda path: path.name)
def test_pictures_say_what_they_show(path: Path) -> None:
    import xml.etree.ElementTree as ElementTree

    picture: Any = ElementTree.fromstring(path.read_text("utf-8"))
    said = {part: (picture.findtext(f"{SVG}{part}") or "").strip() for part in ("title", "desc")}
    assert len(said["title"]) > 5 and len(said["desc"]) > 30, said
    assert picture.get("role") == "img"
    ids = {child.get("id") for child in picture if child.tag in (f"{SVG}title", f"{SVG}desc")}
    assert len(ids - {None}) == 2 and set((picture.get("aria-labelledby") or "").split()) <= ids, (
        "what is to be read aloud is there"
    )


def test_nothing_is_said_by_colour_alone(book: FakeWorkbook) -> None:
    """On a terminal with colours a page says the same words as without."""
    coloured = book.run(
        "status", env=book.environment() | {"NO_COLOR": "", "FORCE_COLOR": "1", "TERM": "xterm"}
    )
    assert "\033[" in coloured.stdout
    assert re.sub(r"\033\[[\d;]*m", "", coloured.stdout) == book.run("status").stdout
