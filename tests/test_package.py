"""The Python package: a learner's folder, updates that lose nothing, and the wheel in an empty environment."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

from grader.authoring import wheel
from grader.core import fetched
from grader.core.command_words import without_make
from grader.core.errors import MachineError, UsageError
from grader.core.workbook import Workbook
from grader.learner.folder import STATE, contents
from grader.learner.folder.checkout import update_checkout
from grader.learner.folder.update import new_folder, update_folder


@pytest.fixture(scope="module")
def tree() -> Workbook:
    return Workbook(ROOT)


@pytest.fixture
def folder(tree: Workbook, tmp_path: Path) -> Path:
    made = tmp_path / "a course"
    new_folder(tree, made, "0.1.0")
    return made


# ---- Words -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("make ch04 && ./ch04", "warpbook ch04"),
        ("then make ch04 &amp;&amp; ./ch04</code>", "then warpbook ch04</code>"),
        ("`./ch04 --profile`", "`warpbook ch04 --profile`"),
        ("make hint-ch04 STEP=2.", "warpbook hint ch04 --step 2."),
        ("`make try-ch04-early-return`", "`warpbook try ch04-early-return`"),
        ("make grade CH=ch04 FRESH=1 brings", "warpbook grade --fresh ch04 brings"),
        ('make grade CH="ch01 ch02"', "warpbook grade ch01 ch02"),
        ("make run-program PROGRAM=prog.cu", "warpbook run prog.cu"),
        ("Both trees make the same sum; make sure.", "Both trees make the same sum; make sure."),
        ("make test ARGS=-x", "make test ARGS=-x"),
        ("build/./ch04 and a./ch04", "build/./ch04 and a./ch04"),
    ],
)
def test_commands_without_make(text: str, words: str) -> None:
    assert without_make(text) == words


# ---- The learner's folder -----------------------------------------------------------------------------------


def test_a_folder_has_lessons_and_kernels_only(tree: Workbook, folder: Path) -> None:
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    for chapter in tree.chapters:
        here = {name for name in names if name.startswith(f"{chapter.folder}/")}
        assert here == {f"{chapter.folder}/README.md", f"{chapter.folder}/kernel.cu"}
        assert (folder / chapter.kernel).read_bytes() == contents.skeleton(tree, chapter)
    assert not [
        name for name in names if name.endswith((".c", ".h", ".py", ".mk")) or name.startswith("solutions")
    ]


def test_its_pages_name_no_make_and_no_missing_file(folder: Path) -> None:
    for page in folder.rglob("README.md"):
        text = page.read_text()
        assert not re.search(r"make (hint|show|try|grade|ch\d\d)\b|\./ch\d\d", text), page
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
            assert (page.parent / target).exists(), (page, target)


def test_a_folder_with_other_contents_is_left_alone(tree: Workbook, tmp_path: Path, folder: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/text.md").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for place, words in (
        (tmp_path / "thesis", "other contents"),
        (tmp_path / "file", "is a file"),
        (folder, "update"),
    ):
        with pytest.raises(UsageError, match=words):
            new_folder(tree, place, "0.1.0")
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["text.md"]


def test_an_update_keeps_what_the_learner_changed(tree: Workbook, folder: Path) -> None:
    """Four files as of an older version: unchanged, changed by the learner, both changed, and not there yet."""
    kernels = [folder / chapter.kernel for chapter in tree.chapters[:4]]
    current = [kernel.read_bytes() for kernel in kernels]
    old, mine = b"// an older skeleton\n", b"// my kernel\n"
    state = json.loads((folder / STATE).read_text())
    names = [kernel.relative_to(folder).as_posix() for kernel in kernels]
    state["files"][names[0]] = state["files"][names[2]] = hashlib.sha256(old).hexdigest()
    del state["files"][names[3]]
    (folder / STATE).write_text(json.dumps(state))
    kernels[0].write_bytes(old)
    kernels[1].write_bytes(mine)
    kernels[2].write_bytes(mine)
    kernels[3].unlink()
    changes = update_folder(tree, folder, "0.2.0")
    assert changes.renewed == [names[0]]
    assert changes.added == [names[3]]
    beside = str(Path(names[2]).with_name("kernel.new.cu"))
    assert changes.beside == [(names[2], beside)]
    assert [kernel.read_bytes() for kernel in kernels] == [current[0], mine, mine, current[3]]
    assert (folder / beside).read_bytes() == current[2]
    again = update_folder(tree, folder, "0.2.0")
    assert not (again.added or again.renewed or again.beside)


def test_a_program_judges_the_folder_it_is_told(built: Path, tree: Workbook, folder: Path) -> None:
    """As `warpbook ch02` runs it: kernels of the folder, everything else from the program's tree."""
    chapter = tree.chapters[1]
    shutil.copy(built / chapter.solution / "kernel.cu", folder / chapter.kernel)
    environment = os.environ | {"WARPBOOK_WORKBOOK": str(folder), "WARPBOOK_COMMAND": "warpbook"}
    command = [built / "ch02", "--device", "emulator"]
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("10 of 10 points. Next: warpbook ch03")
    assert "ratio 1.00" in " ".join(done.stdout.split())  # of the reference, which the folder does not have
    assert (folder / "build/ch02/kernel.ptx").is_file()
    for place in ("chapters", str(folder / "docs")):
        done = subprocess.run(
            command, env=environment | {"WARPBOOK_WORKBOOK": place}, capture_output=True, text=True
        )
        assert (done.returncode, "WARPBOOK_WORKBOOK" in done.stderr) == (3, True)


# ---- A checkout ----------------------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_an_update_of_a_checkout_keeps_kernels(tmp_path: Path) -> None:
    origin, mine = tmp_path / "origin", tmp_path / "mine"
    one, two = Path("chapters/ch01_a/kernel.cu"), Path("chapters/ch02_b/kernel.cu")
    for path in (one, two):
        (origin / path).parent.mkdir(parents=True)
        (origin / path).write_text("// skeleton\n")
    (origin / "Makefile").write_text("all:\n")
    git(origin, "init")
    git(origin, "add", "-A")
    git(origin, "commit", "-m", "one")
    git(tmp_path, "clone", str(origin), str(mine))
    (mine / one).write_text("// my kernel of chapter 1\n")
    (mine / two).write_text("// my kernel of chapter 2\n")
    (origin / two).write_text("// a better skeleton\n")
    (origin / "chapters/ch03_c").mkdir()
    (origin / "chapters/ch03_c/kernel.cu").write_text("// new\n")
    git(origin, "add", "-A")
    git(origin, "commit", "-m", "two")
    changes = update_checkout(Workbook(mine))
    assert changes.added == ["chapters/ch03_c/kernel.cu"]
    assert changes.beside == [(two.as_posix(), "chapters/ch02_b/kernel.new.cu")]
    assert (mine / one).read_text() == "// my kernel of chapter 1\n"
    assert (mine / two).read_text() == "// my kernel of chapter 2\n"
    assert (mine / "chapters/ch02_b/kernel.new.cu").read_text() == "// a better skeleton\n"
    (mine / "Makefile").write_text("mine:\n")
    with pytest.raises(UsageError, match="Makefile"):
        update_checkout(Workbook(mine))


# ---- The wheel and the source distribution ------------------------------------------------------------------


def test_targets() -> None:
    assert wheel.platform_of("aarch64-linux-gnu.2.28") == "manylinux_2_28_aarch64"
    assert wheel.platform_of("x86_64-linux-musl") == "musllinux_1_2_x86_64"
    for target in ("x86_64-linux-gnu", "x86_64-windows", "x86_64-linux-musl.1.2"):
        with pytest.raises(wheel.BuildError, match="not " + re.escape(target)):
            wheel.platform_of(target)


def test_a_source_distribution_is_a_workbook(tmp_path: Path) -> None:
    path = wheel.write_sdist(ROOT, tmp_path)
    assert path.read_bytes() == wheel.write_sdist(ROOT, tmp_path / "again").read_bytes()
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    there = {
        "pyproject.toml",
        "PKG-INFO",
        "Makefile",
        "common/driver/main.c",
        "grader/authoring/wheel.py",
        "LICENSE",
    }
    assert there <= names
    assert not [name for name in names if name.startswith(("tests/", "build/", "progress/", "."))]


class Installed:
    """The package as pip installed it from the wheel, for a user with an empty home."""

    def __init__(self, folder: Path) -> None:
        self.site, self.home = folder / "site", folder / "home"
        self.home.mkdir()
        kept = ("PATH", "LC_ALL", "WARPBOOK_NVCC")
        self.environment = {
            name: value for name, value in os.environ.items() if name in kept or name.startswith("PIP_")
        }
        self.environment |= {"HOME": str(self.home), "PYTHONPATH": str(self.site), "NO_COLOR": "1"}

    def run(self, *words: str, folder: Path | None = None) -> tuple[int, str]:
        """The status of `warpbook WORDS`, and what it printed, without the line that says what it fetches."""
        command = [sys.executable, "-P", "-m", "warpbook", *words]
        done = subprocess.run(
            command, cwd=folder or self.home, env=self.environment, capture_output=True, text=True
        )
        fetched = re.compile(r"^warpbook: fetching .*\n", re.MULTILINE)
        return done.returncode, done.stdout + fetched.sub("", done.stderr)


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """With a folder `course` in its home, as `warpbook new` makes it; every file is as the wheel's record says."""
    del built
    folder = tmp_path_factory.mktemp("installed")
    path = wheel.write_wheel(ROOT, ROOT / "build", wheel.platform_of(""), folder / "dist")
    with zipfile.ZipFile(path) as archive:
        for row in archive.read("warpbook-0.1.0.dist-info/RECORD").decode().splitlines():
            name, digest, size = row.rsplit(",", 2)
            if digest:
                content = archive.read(name)
                assert (digest, int(size)) == ("sha256=" + wheel._digest(content), len(content)), name
    made = Installed(folder)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*pip, "--target", made.site, path], check=True)
    assert made.run("ch01") == (
        2, "warpbook: this folder is not a workbook; warpbook new FOLDER makes one, and cd FOLDER enters it\n"
    )  # fmt: skip
    status, said = made.run("new", "course")
    assert (status, "cd course && warpbook ch01" in said) == (0, True), said
    return made


@pytest.mark.by_turns
@pytest.mark.timeout(600)  # a compiler may have to be fetched
def test_the_wheel_in_an_empty_environment(installed: Installed) -> None:
    """A verdict, a hint, a grade; nothing is written where the package is."""
    course = installed.home / "course"
    status, said = installed.run("ch01", folder=course / "chapters")
    assert status == 1, said
    assert "WRONG" in said and said.endswith("For a hint: warpbook hint ch01\n")
    status, said = installed.run("hint-ch01", folder=course)
    assert (status, "More: warpbook hint ch01" in said) == (0, True), said
    solution = installed.site / "warpbook/tree/solutions/ch01_single_thread/kernel.cu"
    shutil.copy(solution, course / "chapters/ch01_single_thread/kernel.cu")
    status, said = installed.run("grade", "ch01", folder=course)
    assert (status, "1 of 1 passed" in said) == (0, True), said
    assert installed.run("update", folder=course) == (
        0, "Everything is up to date with version 0.1.0.\n"
    )  # fmt: skip
    site = installed.site
    assert not list(site.rglob("progress")) and not list(site.rglob("config.mk"))


@pytest.mark.by_turns
@pytest.mark.usefixtures("nvcc")
def test_a_whole_program_needs_more_of_the_package(installed: Installed) -> None:
    course = installed.home / "course"
    status, said = installed.run("ch20", folder=course)
    assert (status, "WRONG" in said, "INFRA" in said) == (1, True, False), said
    status, said = installed.run("try", "ch20-silent-copy", folder=course)
    assert (status, "$ warpbook run docs/experiments/ch20/silent_copy.cu" in said) == (0, True), said


def test_why_a_compiler_could_not_be_fetched(
    tree: Workbook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is what the installer says last, in words; pip ends with the code that resets its colours."""
    installer = tmp_path / "pip"
    installer.write_text("#!/bin/sh\nprintf '\\033[31mERROR: there is no route.\\n\\033[0m\\n' >&2\nexit 1\n")
    installer.chmod(0o755)
    monkeypatch.setattr(fetched, "_installer", lambda: [str(installer)])
    for name in ("WARPBOOK_CLANG", "WARPBOOK_COMPILER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WARPBOOK_COMPILER", "clang")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(
        MachineError, match=r"could not be fetched: ERROR: there is no route\. Without a network"
    ):
        fetched.need_compiler(tree.tree)
    assert not list(tmp_path.glob("warpbook/*/"))
