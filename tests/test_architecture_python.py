"""The grader's parts use one another in one direction, and no module imports itself by way of others."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT

# Each part, and the parts that it may import from; `grader` itself holds the version number, which all may read.
# The modules that stand beside the parts (cli, __main__) may import from every part and are imported by none.
PARTS = {
    "core": (),
    "learner": ("core",),
    "classroom": ("core",),
    "authoring": ("core", "learner"),
}


@dataclass(frozen=True)
class Import:
    """One module of a package that imports another."""

    importer: str  # "grader.core.page"
    imported: str
    place: str  # "grader/core/page.py:12"

    def __str__(self) -> str:
        return f"{self.place}: {self.importer} imports {self.imported}"


def modules(root: Path) -> dict[str, Path]:
    """The modules of the package in `root`, packages by their __init__.py."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = [root.name, *path.relative_to(root).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(root: Path) -> Iterator[Import]:
    """Every import of one module of the package by another: in functions and for type checkers too."""
    known = modules(root)
    for importer, path in known.items():
        package = importer if path.name == "__init__.py" else importer.rpartition(".")[0]
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                base = ".".join([*above, *([node.module] if node.module else [])])
                named = [f"{base}.{alias.name}" for alias in node.names]
                named = [name if name in known else base for name in named]
            else:
                continue
            for imported in sorted({name for name in named if name in known}):
                yield Import(importer, imported, f"{path.relative_to(root.parent)}:{node.lineno}")


def part_of(module: str, root: str) -> str:
    """ "core" of grader.core.page; "" of grader itself and the modules beside the parts."""
    first = module.removeprefix(root).lstrip(".").partition(".")[0]
    return first if first in PARTS else ""


def upward(root: Path) -> list[str]:
    """The imports that the table of parts does not allow."""
    found = []
    for one in imports(root):
        importer, imported = part_of(one.importer, root.name), part_of(one.imported, root.name)
        if not importer or importer == imported or one.imported == root.name:
            continue
        if not imported:
            found.append(f"{one}, which stands above the parts")
        elif imported not in PARTS[importer]:
            allowed = f"only {' and '.join(PARTS[importer])}" if PARTS[importer] else "no other part"
            found.append(f"{one}, but {importer} may use {allowed}")
    return found


def cycles(root: Path) -> list[str]:
    """The import cycles between modules, each once, as the imports that make it up."""
    by_importer: dict[str, list[Import]] = {}
    for one in imports(root):
        by_importer.setdefault(one.importer, []).append(one)
    finished: set[str] = set()
    found = []

    def visit(module: str, way: list[Import]) -> None:
        for one in by_importer.get(module, []):
            begun = [step.importer for step in [*way, one]]
            if one.imported in begun:
                found.append("\n  ".join(map(str, [*way, one][begun.index(one.imported) :])))
            elif one.imported not in finished:
                visit(one.imported, [*way, one])
        finished.add(module)

    for module in modules(root):
        if module not in finished:
            visit(module, [])
    return found


def test_the_parts_use_one_another_in_one_direction() -> None:
    assert not upward(ROOT / "grader"), "\n".join(upward(ROOT / "grader"))


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert not cycles(ROOT / "grader"), "\n\n".join(cycles(ROOT / "grader"))


def test_every_module_is_in_a_part() -> None:
    root = ROOT / "grader"
    assert {path.name for path in root.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(
        PARTS
    )
    assert {path.name for path in root.glob("*.py")} == {"__init__.py", "__main__.py", "cli.py"}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of the same parts, with an import in the wrong direction and a cycle of three modules."""
    files = {
        "__init__.py": "VERSION = 1\n",
        "cli.py": "from .learner import grade\n",
        "core/__init__.py": "",
        "core/page.py": "from .. import VERSION\n\ndef show():\n    from ..learner.grade import Grade\n",
        "core/result.py": "import os\nfrom ..cli import main\n",
        "learner/__init__.py": "",
        "learner/grade.py": "from ..core import result\nfrom . import hints\n",
        "learner/hints.py": "from .ladder import peers\n",
        "learner/ladder/__init__.py": "",
        "learner/ladder/peers.py": "from ..grade import Grade\nimport grader.classroom.batch\n",
        "classroom/__init__.py": "",
        "classroom/batch.py": "from ..learner.grade import Grade\nfrom ..authoring import lessons\n",
        "authoring/__init__.py": "",
        "authoring/lessons.py": "from ..core.page import show\n",
    }
    for name, text in files.items():
        path = tmp_path / "grader" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "grader"


def test_an_import_in_the_wrong_direction_is_found(package: Path) -> None:
    batch = "grader/classroom/batch.py:{}: grader.classroom.batch imports {}, but classroom may use only core"
    peers = "grader/learner/ladder/peers.py:2: grader.learner.ladder.peers imports grader.classroom.batch"
    assert upward(package) == [
        batch.format(1, "grader.learner.grade"),
        batch.format(2, "grader.authoring.lessons"),
        "grader/core/page.py:4: grader.core.page imports grader.learner.grade, but core may use no other part",
        "grader/core/result.py:2: grader.core.result imports grader.cli, which stands above the parts",
        f"{peers}, but learner may use only core",
    ]


def test_a_cycle_is_found(package: Path) -> None:
    found = cycles(package)
    assert (
        "grader/learner/grade.py:2: grader.learner.grade imports grader.learner.hints\n"
        "  grader/learner/hints.py:1: grader.learner.hints imports grader.learner.ladder.peers\n"
        "  grader/learner/ladder/peers.py:1: grader.learner.ladder.peers imports grader.learner.grade"
    ) in [rotated(one) for one in found]
    (package / "learner/hints.py").write_text("")
    (package / "core/page.py").write_text("")
    (package / "core/result.py").write_text("")
    (package / "learner/ladder/peers.py").write_text("")
    assert cycles(package) == []


def rotated(cycle: str) -> str:
    """A cycle told from its first file by name."""
    steps = cycle.split("\n  ")
    first = steps.index(min(steps))
    return "\n  ".join(steps[first:] + steps[:first])
