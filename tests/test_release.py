"""`make release-check`, and the files around the code that it and a repository's host read."""

import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from grader import __version__
from grader.authoring import release
from grader.authoring.release import Problem

yaml: Any = pytest.importorskip("yaml")
CITATION = """\
cff-version: 1.2.0
message: Please cite it.
title: Warpbook
authors:
  - name: The Warpbook authors
version: 1.2.3
date-released: "2026-03-01"
license: MIT
"""
CHANGELOG = """\
# Changelog

## [Unreleased]

## [1.2.3] - 2026-03-01

### Added

- Something.

## [1.2.2] - 2026-02-01

- Something else.
"""


def git(folder: Path, *arguments: str) -> None:
    name = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *name, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout that is ready for a release, except for its code."""
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "warpbook"\nversion = "1.2.3"\n')
    (tmp_path / "CITATION.cff").write_text(CITATION)
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / "README.md").write_text("[changes](CHANGELOG.md)\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "all")
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def said(problems: Iterable[Problem]) -> str:
    found = list(problems)
    assert all(problem.remedy for problem in found)
    return "; ".join(problem.what for problem in found)


STATIC = [name for name in release.CHECKS if name != "generated"]


@pytest.mark.parametrize("name", STATIC)
def test_a_checkout_that_is_ready(root: Path, name: str) -> None:
    assert said(release.CHECKS[name](root)) == ""


@pytest.mark.parametrize(
    ("file", "old", "new", "check", "words"),
    [
        ("pyproject.toml", '"1.2.3"', '"1.3"', release.version_problems, "1.3 is not MAJOR.MINOR.PATCH"),
        ("pyproject.toml", '"1.2.3"', '"1.3.0"', release.version_problems, "has version 1.2.3, pyproject.toml 1.3.0"),
        ("pyproject.toml", '"1.2.3"', '"1.3.0"', release.changelog_problems, "no section for 1.3.0"),
        ("pyproject.toml", '"1.2.3"', '"1.2.2"', release.changelog_problems, "1.2.2 below an older version"),
        ("CHANGELOG.md", "## [Unreleased]", "", release.changelog_problems, "does not begin with Unreleased"),
        ("CHANGELOG.md", "## [Unreleased]", "## [Unreleased]\n\n- New.", release.changelog_problems, "1 entries under"),
        ("CHANGELOG.md", "- Something.", "", release.changelog_problems, "the section 1.2.3 of CHANGELOG.md is empty"),
        ("CHANGELOG.md", " - 2026-03-01", "", release.changelog_problems, "has no date"),
        ("CHANGELOG.md", "2026-03-01", "2026-03-32", release.changelog_problems, "has no date"),
        ("CHANGELOG.md", "2026-03-01", "2026-03-02", release.changelog_problems, "another in CITATION.cff"),
        ("CITATION.cff", "title: Warpbook\n", "", release.citation_problems, "'title' is a required property"),
        ("CITATION.cff", "1.2.0", "1.1.0", release.citation_problems, "cff-version: '1.2.0' was expected"),
        ("CITATION.cff", "  - name:", "  - names:", release.citation_problems, "authors.0"),
        ("CITATION.cff", '"2026-03-01"', "March", release.citation_problems, "date-released"),
        ("README.md", "CHANGELOG", "CHANGES", release.link_problems, "README.md: CHANGES.md, which is not there"),
        ("README.md", "changes", "changed", release.tree_problems, "1 files are not committed: README.md"),
    ],
)  # fmt: skip
def test_what_stands_in_the_way(
    root: Path, file: str, old: str, new: str, check: Callable[[Path], Iterable[Problem]], words: str
) -> None:
    change(root / file, old, new)
    assert words in said(check(root))


def test_a_version_that_is_tagged_already(root: Path) -> None:
    git(root, "tag", "v1.2.3")
    assert said(release.version_problems(root)) == "", "this commit is the release"
    git(root, "commit", "--quiet", "--allow-empty", "-m", "more")
    assert "1.2.3 is tagged at another commit" in said(release.version_problems(root))


def test_a_file_that_is_too_large(root: Path) -> None:
    (root / "record.bin").write_bytes(bytes(2**20 + 1))
    assert said(release.size_problems(root)) == "", "git does not track it"
    git(root, "add", "record.bin")
    assert "record.bin has 1.0 MiB" in said(release.size_problems(root))


def test_generated_parts_out_of_step(root: Path) -> None:
    (problem,) = release.generated_problems(
        root, {"this": (["sh", "-c", "echo stale >&2; exit 1"], "make this"), "that": (["true"], "make that")}
    )
    assert (problem.what, problem.remedy) == ("this out of step: stale", "make this, and commit it")


def test_this_checkout() -> None:
    """What has to hold at any commit, and not only before a release."""
    assert said(release.version_problems(ROOT)) == ""
    assert said(release.citation_problems(ROOT)) == ""
    assert said(release.size_problems(ROOT)) == ""
    assert release.version_of(ROOT) == __version__
    done = subprocess.run(["./warpbook", "--version"], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == f"warpbook {__version__}\n", done.stderr
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert "\n## [Unreleased]\n" in changelog and f"\n## [{__version__}] - " in changelog


# ---- What the repository's host reads --------------------------------------------------------------------------

HOST = ROOT / ".github"


@pytest.mark.parametrize("path", sorted((HOST / "workflows").iterdir()), ids=lambda path: path.stem)
def test_a_workflow_can_be_read(path: Path) -> None:
    workflow = yaml.load(path.read_text(), Loader=yaml.BaseLoader)  # `on` stays a word
    assert workflow["name"] == path.stem and workflow["permissions"] == {"contents": "read"}
    assert set(workflow["on"]) == {"push", "pull_request"}
    for job in workflow["jobs"].values():
        assert job["runs-on"] and int(job["timeout-minutes"]) <= 120
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])


def test_workflows_run_what_a_person_runs() -> None:
    assert "bash .ci/run\n" in (HOST / "workflows" / "ci.yml").read_text()
    assert "run: make test-quick\n" in (HOST / "workflows" / "quick.yml").read_text()


@pytest.mark.parametrize("path", sorted((HOST / "ISSUE_TEMPLATE").iterdir()), ids=lambda path: path.stem)
def test_an_issue_form_can_be_read(path: Path) -> None:
    form = yaml.safe_load(path.read_text())
    if path.stem == "config":
        assert form == {"blank_issues_enabled": True}
        return
    assert {"name", "description", "body"} <= set(form) <= {"name", "description", "body", "title", "labels"}
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert fields and all(field["type"] in ("textarea", "input", "dropdown") for field in fields)
    labels = {field["attributes"]["label"] for field in fields}
    assert len({field["id"] for field in fields}) == len(labels) == len(fields)
    assert any(field.get("validations", {}).get("required") for field in fields)
    assert all(field["attributes"]["options"] for field in fields if field["type"] == "dropdown")
