"""The checkout itself: every chapter whole, no trace of one machine in any file, documents in step."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from conftest import QUICK, ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from grader.authoring.links import broken_links
from grader.authoring.readme import stale_places
from grader.authoring.verdict_picture import PICTURE
from grader.core.workbook import find_workbook

CHAPTERS = sorted((ROOT / "chapters").glob("ch[0-9][0-9]_*"))
LOCKS = sorted((ROOT / "requirements").iterdir())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WISHES = {"runtime": PROJECT["project"]["dependencies"], **PROJECT["dependency-groups"]}


def tracked() -> list[Path]:
    """The files that are, or would be, committed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True)
    if done.returncode == 0:
        names = [name for name in done.stdout.decode().split("\0") if name]
        return [ROOT / name for name in names if (ROOT / name).is_file()]
    skipped = {"build", ".venv", ".git", "progress", "__pycache__"}
    return [p for p in ROOT.rglob("*") if p.is_file() and not skipped & set(p.relative_to(ROOT).parts)]


def text_of(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        return None


# ---- Chapters --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.name)
def test_a_chapter_has_its_files(chapter: Path) -> None:
    for name in ("README.md", "kernel.cu", "chapter.c", "hints.md"):
        assert (chapter / name).is_file(), f"{chapter.name} lacks {name}"
    for name in ("kernel.cu", "notes.md"):
        assert (ROOT / "solutions" / chapter.name / name).is_file(), f"solutions/{chapter.name} lacks {name}"


def test_chapters_are_numbered_without_a_gap_and_have_titles() -> None:
    found = find_workbook().select([])
    assert [chapter.name for chapter in found] == [f"ch{number:02}" for number in range(1, len(found) + 1)]
    assert len(found) == len(CHAPTERS) == len(list((ROOT / "solutions").glob("ch*")))
    assert all(chapter.title for chapter in found)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.name)
def test_a_chapter_has_three_hints(chapter: Path) -> None:
    from grader.learner.hints import read_hints

    workbook = find_workbook()
    hints = read_hints(workbook, workbook.select([chapter.name])[0])
    assert len(hints) == 3
    assert all(len(hint) > 40 for hint in hints)


# ---- Files -----------------------------------------------------------------------------------------------


def test_no_file_speaks_of_one_machine() -> None:
    """No absolute path into a home or a checkout, and no package index: the next machine has others."""
    folders = "|".join(["/root" + "/", "/work" + "/", str(Path.home()) + "/"])
    index = "|".join(
        [
            "index" + "-url",
            "find" + "-links",
            "trusted" + "-host",
            "pypi" + r"\.org",
            "files" + r"\.pythonhosted",
        ]
    )
    bad = re.compile(f"(?<![\\w.])(?:{folders})|{index}")
    allowed = {"mk/lock.sh"}  # names uv's options that keep them out
    for path in tracked():
        name = str(path.relative_to(ROOT))
        text = text_of(path)
        if text is None or name in allowed:
            continue
        match = bad.search(text)
        assert not match, f"{name}: {match and match[0]}"


def test_text_files_are_tidy() -> None:
    for path in tracked():
        text = text_of(path)
        if not text or path.suffix in (".ptx", ".csv", ".patch") or "data" in path.parts:
            continue
        name = path.relative_to(ROOT)
        assert "\r" not in text, f"{name}: carriage returns"
        assert text.endswith("\n"), f"{name}: no newline at the end"
        if path.name != "Makefile" and path.suffix != ".mk" and "\t" in text:
            assert path.suffix in (".md", ".py", ".sh", ".c", ".h", ""), f"{name}: tabs"


def test_c_files_are_of_a_size_to_read() -> None:
    for path in (ROOT / "common").rglob("*.[ch]"):
        assert len(path.read_text().splitlines()) <= 1000, (
            f"{path.relative_to(ROOT)} is too long for one idea"
        )


def test_scripts_can_be_run() -> None:
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    assert (ROOT / ".ci" / "run").read_text().startswith("#!/bin/bash\n")


# ---- Lock files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_locked_package_has_hashes_and_nothing_else(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    for entry in re.split(r"\n(?=\S)", text.strip()):
        assert re.match(r"[a-z0-9.-]+==[\w.]+( ; [^\\]+?)?( \\\n    --hash=sha256:[0-9a-f]{64})+$", entry), (
            entry
        )


def test_every_group_of_packages_is_locked() -> None:
    assert {lock.name for lock in LOCKS} == {f"{group}.txt" for group in WISHES}


@pytest.mark.parametrize("group", WISHES)
def test_every_wish_is_locked_at_a_version_that_it_allows(group: str) -> None:
    pinned = pins(group)
    for wish in map(Requirement, WISHES[group]):
        versions = {version for name, version in pinned if name == canonicalize_name(wish.name)}
        assert versions, f"{wish} is not in requirements/{group}.txt: run make locks KEEP=1"
        assert all(wish.specifier.contains(version) for version in versions), f"{wish}, {versions}"


def test_what_is_installed_together_agrees_on_versions() -> None:
    """All but the compiler and its peers go into one environment."""
    together = [pins(group) for group in WISHES if group not in ("nvcc", "peers")]
    for name in {name for pinned in together for name, _ in pinned}:
        found = {frozenset(version for one, version in pinned if one == name) for pinned in together}
        assert len(found - {frozenset()}) == 1, f"{name}: {found}"


def pins(group: str) -> set[tuple[str, str]]:
    """The packages of a lock file, each with its version; one may have several, for several Pythons."""
    text = (ROOT / "requirements" / f"{group}.txt").read_text()
    return set(re.findall(r"^([a-z0-9.-]+)==(\S+)", text, re.MULTILINE))


# ---- Documents -------------------------------------------------------------------------------------------


def test_readme_shows_todays_output(built: Path, nvcc: str) -> None:
    """As nvcc compiles: the pages name it and its registers."""
    del nvcc
    assert stale_places(built) == [], "run make readme"


def test_readme_is_a_front_page() -> None:
    """Short enough to read, with few pictures: a page, the recording of make watch, one of a lesson's."""
    readme = (ROOT / "README.md").read_text()
    assert len(readme.splitlines()) <= 230
    shown = re.findall(r"^!\[[^]]{80,}\]\(([^)]*)\)", readme, re.MULTILINE)
    assert shown == [str(PICTURE), "docs/assets/watch.svg", "docs/pictures/bank-access.svg"]


def test_targets_that_documents_name_exist() -> None:
    makefile = "".join(path.read_text() for path in [ROOT / "Makefile", *(ROOT / "mk").glob("*.mk")])
    known = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    known |= {
        target for line in re.findall(r"^([a-z][a-z -]*):", makefile, re.MULTILINE) for target in line.split()
    }
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "chapters").glob("*/*.md")]:
        for target in re.findall(r"`make ([a-z][a-zA-Z0-9-]*)", path.read_text()):
            if not re.match(
                r"(ch|hint-ch|show-ch|skip-ch|resume-ch|reset-ch|program-ch|try-ch|predict-ch|completion-|help-)",
                target,
            ):
                assert target in known, f"{path.relative_to(ROOT)}: make {target}"


def test_links_in_documents_lead_somewhere() -> None:
    assert broken_links(ROOT, [path for path in tracked() if path.suffix == ".md"]) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# A title: with `code`\n```\n# no title\n```\n")
    page = tmp_path / "page.md"
    page.write_text(
        '[a](there.md) [b](there.md#a-title-with-code) [c](#here) ![d](no.svg) <img src="no.png">\n## Here\n'
        "[e](there.md#no-title) [f](../above.md) [g](https://example.org/x) [h][h]\n\n[h]: missing.md\n"
        "`[i](code.md)`\n```text\n[j](fenced.md)\n```\n"
    )
    assert sorted(broken_links(tmp_path, [page])) == [
        "page.md: ../above.md, which is outside the workbook",
        "page.md: missing.md, which is not there",
        "page.md: no.png, which is not there",
        "page.md: no.svg, which is not there",
        "page.md: there.md#no-title, which has no such heading",
    ]


# ---- The quick tests -------------------------------------------------------------------------------------------


def test_every_folder_has_quick_tests() -> None:
    tops = ("bench", "chapters", "common", "docs", "grader", "mk", "requirements", "solutions")
    parents = {
        path.parent.relative_to(ROOT)
        for path in tracked()
        if path.suffix in (".c", ".cuh", ".py", ".mk", ".txt")
    }
    parts = {folder for folder in parents if folder.parts[:1] == ("common",)}
    parts |= {Path(*folder.parts[:2]) for folder in parents if folder.parts[:1] == ("grader",)}
    parts |= {Path(top) for top in tops if top != "common"}
    assert {str(folder) for folder in parts} == set(QUICK)
    for names in QUICK.values():
        assert names and all((ROOT / "tests" / name).is_file() for name in names)
