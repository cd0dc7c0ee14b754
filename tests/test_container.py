"""The Dockerfile and the devcontainer: what they name exists, and nothing runs as root. No engine builds them here."""

import json
import re
import shlex

from conftest import ROOT, run_make

DOCKERFILE = (ROOT / "Dockerfile").read_text()
INSTRUCTIONS = re.findall(
    r"^([A-Z]+) (.*)$",
    re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.MULTILINE)),
    re.MULTILINE,
)
DEVCONTAINER = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())


def make_targets(command: str) -> list[str]:
    words = shlex.split(command)
    return words[1:] if words[:1] == ["make"] else []


def test_nothing_of_the_workbook_runs_as_root() -> None:
    users = [i for i, (name, _) in enumerate(INSTRUCTIONS) if name == "USER"]
    assert len(users) == 1 and INSTRUCTIONS[users[0]][1] == "learner"
    as_root = " ".join(rest for name, rest in INSTRUCTIONS[: users[0]] if name == "RUN")
    assert "useradd" in as_root and "make " not in as_root.replace(" make ", " ", 1)  # the package make
    assert DEVCONTAINER["remoteUser"] == "learner"


def test_what_is_named_exists() -> None:
    stages = re.findall(r"^FROM \S+ AS (\S+)$", DOCKERFILE, re.MULTILINE)
    build = DEVCONTAINER["build"]
    assert (ROOT / ".devcontainer" / build["dockerfile"]).resolve() == ROOT / "Dockerfile"
    assert build["target"] in stages
    targets = [*make_targets(DEVCONTAINER["postCreateCommand"])]
    targets += [one for name, rest in INSTRUCTIONS if name == "RUN" for one in make_targets(rest)]
    assert set(targets) >= {"setup", "drivers", "editor"}
    done = run_make("--dry-run", *sorted(set(targets)))
    assert done.returncode == 0, done.stderr


def test_the_image_has_what_make_needs() -> None:
    """The packages that the README asks for, and those that doctor would add."""
    installed = next(
        rest for name, rest in INSTRUCTIONS if name == "RUN" and "apt-get install" in rest
    ).split()
    assert {"make", "gcc", "libc6-dev", "python3", "python3-venv", "ca-certificates"} <= set(installed)


def test_nothing_built_is_copied_into_the_image() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".venv", "build", "progress", "ch[0-9][0-9]"} <= set(ignored)
