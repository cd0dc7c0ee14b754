"""`make release-check`: prove that this commit could be released; each failure says what to do.

The version is written in pyproject.toml. CITATION.cff and CHANGELOG.md have to name the same one, nothing may be
uncommitted, and all that is generated has to be in step with its source.
"""

import datetime
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from ..core.entry import guarded
from ..core.workbook import find_workbook
from .links import broken_links

_LARGEST = 2**20  # bytes of a file in the repository
_VERSION = r"\d+\.\d+\.\d+"
_SECTION = re.compile(r"^## \[?(?P<name>[^]\s]+)\]?(?: - (?P<date>\S+))?$", re.MULTILINE)
# Of the Citation File Format 1.2.0, what a program needs that is written by a group; dates are read as text.
_TEXT = {"type": "string", "minLength": 1}
_CITATION = {
    "type": "object",
    "required": ["cff-version", "message", "title", "authors", "version", "date-released", "license"],
    "additionalProperties": False,
    "properties": {
        "cff-version": {"const": "1.2.0"},
        "message": _TEXT,
        "type": {"enum": ["software"]},
        "title": _TEXT,
        "abstract": _TEXT,
        "authors": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["name"],
                "additionalProperties": False,
                "properties": {"name": _TEXT, "website": _TEXT},
            },
        },
        "version": _TEXT,
        "date-released": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        "license": {"const": "MIT"},
        "keywords": {"type": "array", "minItems": 1, "uniqueItems": True, "items": _TEXT},
        "repository-code": {"type": "string", "format": "uri"},
        "url": {"type": "string", "format": "uri"},
        "doi": {"type": "string", "pattern": r"^10\.\d{4,9}/\S+$"},
    },
}


@dataclass(frozen=True)
class Problem:
    """Why no release can be made, and what to do."""

    what: str
    remedy: str


# ---- Versions ---------------------------------------------------------------------------------------------------


def version_of(root: Path) -> str:
    """The version of the workbook below `root`."""
    version: str = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return version


def version_problems(root: Path) -> Iterator[Problem]:
    """The form of the version, CITATION.cff's, and a tag that has it already."""
    version = version_of(root)
    if not re.fullmatch(_VERSION, version):
        yield Problem(f"the version {version} is not MAJOR.MINOR.PATCH", "change it in pyproject.toml")
    cited = _citation(root).get("version")
    if cited != version:
        yield Problem(
            f"CITATION.cff has version {cited}, pyproject.toml {version}",
            f"write version: {version} in CITATION.cff",
        )
    tag = f"refs/tags/v{version}"
    if _git(root, "rev-parse", "--quiet", "--verify", tag) and _git(root, "rev-parse", f"{tag}^0") != _git(
        root, "rev-parse", "HEAD"
    ):
        yield Problem(f"version {version} is tagged at another commit", "raise the version in pyproject.toml")


def changelog_problems(root: Path) -> Iterator[Problem]:
    """What CHANGELOG.md says about this version."""
    version = version_of(root)
    text = (root / "CHANGELOG.md").read_text("utf-8")
    sections = list(_SECTION.finditer(text))
    ends = [section.start() for section in sections[1:]] + [len(text)]
    entries = {
        section["name"]: re.findall(r"^[-*] .+", text[section.end() : end], re.MULTILINE)
        for section, end in zip(sections, ends, strict=True)
    }
    names = [section["name"] for section in sections]
    if names[:1] != ["Unreleased"]:
        yield Problem("CHANGELOG.md does not begin with Unreleased", "write a section ## [Unreleased] on top")
    if entries.get("Unreleased"):
        yield Problem(
            f"CHANGELOG.md has {len(entries['Unreleased'])} entries under Unreleased",
            "move them to a section of the version that is released, and raise the version in pyproject.toml",
        )
    if version not in names:
        yield Problem(
            f"CHANGELOG.md has no section for {version}", f"write a section ## [{version}] - YYYY-MM-DD"
        )
        return
    if names.index(version) != names.count("Unreleased"):
        yield Problem(
            f"CHANGELOG.md has {version} below an older version",
            "put the newest version first, below Unreleased",
        )
    if not entries[version]:
        yield Problem(f"the section {version} of CHANGELOG.md is empty", "list there what has changed")
    date = sections[names.index(version)]["date"] or ""
    if not _is_date(date):
        yield Problem(
            f"the section {version} of CHANGELOG.md has no date", f"write ## [{version}] - YYYY-MM-DD"
        )
    elif date != _citation(root).get("date-released"):
        yield Problem(
            f"{version} has the date {date} in CHANGELOG.md and another in CITATION.cff",
            f'write date-released: "{date}" in CITATION.cff',
        )


def _is_date(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None


# ---- Files ------------------------------------------------------------------------------------------------------


def citation_problems(root: Path) -> Iterator[Problem]:
    """Whether CITATION.cff is what the Citation File Format 1.2.0 asks for."""
    validator = jsonschema.Draft202012Validator(_CITATION)
    for error in validator.iter_errors(_citation(root)):
        place = ".".join(map(str, error.absolute_path)) or "CITATION.cff"
        yield Problem(f"CITATION.cff is not valid: {place}: {error.message}", "correct it in CITATION.cff")


def _citation(root: Path) -> dict[str, Any]:
    # Dates stay text, as in the schema.
    loaded = yaml.load((root / "CITATION.cff").read_text("utf-8"), Loader=yaml.BaseLoader)
    return loaded if isinstance(loaded, dict) else {}


def tree_problems(root: Path) -> Iterator[Problem]:
    """What is not committed."""
    changed = _git(root, "status", "--porcelain").splitlines()
    if changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        names = ", ".join(line[3:] for line in changed[:3])
        yield Problem(f"{len(changed)} files are not committed: {names}{more}", "commit or remove them")


def size_problems(root: Path) -> Iterator[Problem]:
    """Files that are too large for every clone to carry."""
    for path in tracked_files(root):
        size = path.lstat().st_size
        if size > _LARGEST:
            yield Problem(
                f"{path.relative_to(root)} has {size / 2**20:.1f} MiB; no file may have more than 1",
                "make it smaller, generate it, or leave it out of the repository",
            )


def link_problems(root: Path) -> Iterator[Problem]:
    """Links between documents that lead nowhere."""
    for broken in broken_links(root, [path for path in tracked_files(root) if path.suffix == ".md"]):
        yield Problem(f"a dead link in {broken}", "correct the link")


def tracked_files(root: Path) -> list[Path]:
    """The existing files that git tracks."""
    names = _git(root, "ls-files", "-z").split("\0")
    return [root / name for name in names if name and (root / name).is_file()]


def _git(root: Path, *arguments: str) -> str:
    """What git prints; nothing when it fails."""
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    return done.stdout.strip("\n") if done.returncode == 0 else ""


# ---- Generated parts --------------------------------------------------------------------------------------------

# The command that compares a part with its source, and the one that writes it.
GENERATED = {
    "skeletons": ([sys.executable, "-m", "grader.authoring.skeletons", "--check"], "make skeletons"),
    "lessons": ([sys.executable, "-m", "grader.authoring.lessons", "--check"], "make lessons"),
    "pictures": ([sys.executable, "docs/pictures/draw.py", "--check"], "make pictures"),
    "README.md": ([sys.executable, "-m", "grader.authoring.readme", "--check"], "make readme"),
}


def generated_problems(
    root: Path, generated: dict[str, tuple[list[str], str]] = GENERATED
) -> Iterator[Problem]:
    """Which of the generated parts are out of step."""
    for name, (command, remedy) in generated.items():
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            said = (done.stderr + done.stdout).strip().splitlines()
            yield Problem(
                f"{name} out of step: {said[0] if said else 'no word why'}", f"{remedy}, and commit it"
            )


# ---- The command ------------------------------------------------------------------------------------------------

CHECKS: dict[str, Callable[[Path], Iterable[Problem]]] = {
    "version": version_problems,
    "changelog": changelog_problems,
    "citation": citation_problems,
    "git tree": tree_problems,
    "file sizes": size_problems,
    "links": link_problems,
    "generated": generated_problems,
}


def main() -> int:
    """Runs every check; 1 if a release cannot be made."""
    root = find_workbook().root
    if not _git(root, "rev-parse", "--verify", "HEAD"):
        print("warpbook: a release is made of a git checkout, and this is none", file=sys.stderr)
        return 3
    count = 0
    for name, check in CHECKS.items():
        problems = list(check(root))
        count += len(problems)
        if not problems:
            print(f"  {name:<12}ok", flush=True)
        for problem in problems:
            print(f"  {name:<12}{problem.what}\n{'':14}-> {problem.remedy}", flush=True)
    if count:
        print(f"{count} {'problem prevents' if count == 1 else 'problems prevent'} a release.")
        return 1
    version = version_of(root)
    print(f"Version {version} can be released: git tag -a v{version} -m 'Warpbook {version}'")
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
