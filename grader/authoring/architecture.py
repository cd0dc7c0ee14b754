"""Prove that the code keeps to the layers of docs/architecture.md: `make check-architecture`, a part of `make check`.

The table in docs/architecture.md lists folders and files from the top layer to the bottom one. A C object may
use symbols of its layer and of layers below it, an `#include` and a Python import likewise. Dependencies
never form a cycle: neither of objects through symbols, nor of headers through `#include`, nor of modules
through imports.

    python3 -m grader.authoring.architecture OBJECTS     the folder of compiled objects, such as build/check/gcc/obj
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

from ..core.entry import guarded

ROOT = Path(__file__).resolve().parents[2]
PAGE = Path("docs/architecture.md")

_ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)

Uses = dict[str, dict[str, list[str]]]  # from a file to the files that it needs, and what it takes from each


class ArchitectureError(Exception):
    """The proof cannot be made: no table, no objects. The text says what to do."""


# ---- The layers --------------------------------------------------------------------------------------------


def read_layers(page: Path) -> list[str]:
    """The folders and files of the page's table, the bottom layer first."""
    if not page.is_file():
        raise ArchitectureError(f"{page} is missing: its table says which folder may use which")
    layers = _ROW.findall(page.read_text("utf-8"))
    if len(layers) < 2:
        raise ArchitectureError(f"{page} has no table of layers: rows that begin with | `folder/` |")
    return layers[::-1]


def layer_of(path: str, layers: list[str]) -> int | None:
    """The number of the layer that `path` is in, 0 for the lowest: the longest entry that it begins with."""
    fitting = [entry for entry in layers if path == entry or (entry.endswith("/") and path.startswith(entry))]
    return layers.index(max(fitting, key=len)) if fitting else None


# ---- What uses what ------------------------------------------------------------------------------------------


def _sources_of(objects: Path) -> dict[Path, str]:
    """The objects below that folder whose source is still there and no test's, and its path."""
    found = {path: f"{path.relative_to(objects).with_suffix('')}.c" for path in sorted(objects.rglob("*.o"))}
    return {
        path: source
        for path, source in found.items()
        if (ROOT / source).is_file() and not source.startswith("tests/")
    }


def symbol_uses(objects: Path) -> Uses:
    """From each C file to those that define the symbols which its object leaves undefined."""
    sources = _sources_of(objects)
    if not sources:
        raise ArchitectureError(f"no compiled objects in {objects}: run make check-architecture")
    listed = subprocess.run(
        ["nm", "-g", "-P", "-A", *sources], capture_output=True, text=True, check=True
    ).stdout
    defined: dict[str, str] = {}
    functions: set[str] = set()
    wanted: list[tuple[str, str]] = []
    for line in listed.splitlines():
        place, symbol, kind = line.split()[:3]
        source = sources[Path(place.rstrip(":"))]
        if kind == "U":
            wanted.append((source, symbol))
        elif symbol != "main":
            defined[symbol] = source
            if kind == "T":
                functions.add(symbol)
    uses: Uses = defaultdict(lambda: defaultdict(list))
    for source, symbol in wanted:
        if symbol in defined:
            uses[source][defined[symbol]].append(symbol + "()" * (symbol in functions))
    return uses


def include_uses(folders: tuple[str, ...] = ("common", "chapters")) -> Uses:
    """From each C file or header to the workbook's headers that it includes."""
    uses: Uses = defaultdict(lambda: defaultdict(list))
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            for name in _INCLUDE.findall(path.read_text("utf-8")):
                if (ROOT / "common" / name).is_file():
                    uses[str(path.relative_to(ROOT))][f"common/{name}"].append(name)
    return uses


def _module_file(name: str) -> Path | None:
    """The file of the module `grader.core.page`, relative to the root; None where there is none."""
    path = Path(*name.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if (ROOT / candidate).is_file():
            return candidate
    return None


def _imported(tree: ast.AST, package: list[str]) -> Iterator[str]:
    """The names that a module imports, absolute; of `from a import b` both a.b, in case b is a module, and a."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            above = ".".join([*base, *([node.module] if node.module else [])])
            modules = [f"{above}.{alias.name}" for alias in node.names]
            found = [name for name in modules if _module_file(name)]
            yield from found
            if len(found) < len(modules):
                yield above


def import_uses(packages: tuple[str, ...] = ("grader", "bench")) -> Uses:
    """From each Python module to the workbook's modules that it imports, also inside functions."""
    uses: Uses = defaultdict(lambda: defaultdict(list))
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            here = path.relative_to(ROOT)
            for name in _imported(ast.parse(path.read_text("utf-8")), list(here.parent.parts)):
                target = _module_file(name)
                if target and target != here:
                    uses[str(here)][str(target)].append(name)
    return uses


# ---- The proof -------------------------------------------------------------------------------------------------


def upward(uses: Mapping[str, Mapping[str, list[str]]], layers: list[str], verb: str) -> Iterator[str]:
    """A sentence for every use of a layer above. `verb` says how one file uses another: "{names} of {file}"."""
    for user in sorted(uses):
        for used, names in sorted(uses[user].items()):
            low, high = layer_of(user, layers), layer_of(used, layers)
            if low is None or high is None:
                yield f"{user if low is None else used} is in no layer: give its folder a row in {PAGE}"
            elif low < high:
                how = verb.format(names=", ".join(sorted(set(names))[:4]), file=used)
                yield (
                    f"{user} {how}, but {layers[high]} is above {layers[low]}: move what both need into the "
                    "lower layer, or hand it down as an argument or a hook"
                )


def circles(uses: Mapping[str, Mapping[str, list[str]]]) -> Iterator[str]:
    """A sentence for each cycle. The reported cycles have no file in common; breaking them can reveal others."""
    graph = {user: set(used) for user, used in uses.items()}
    while True:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            path: list[str] = error.args[1][::-1]
            steps = " ".join(
                f"-> {used} ({', '.join(sorted(set(uses[user][used]))[:3])})" for user, used in pairwise(path)
            )
            yield (
                f"files need each other in a circle: {path[0]} {steps}: move what the later ones need into a "
                "file below them all"
            )
            graph = {user: used - {*path} for user, used in graph.items() if user not in path}
        else:
            return


def violations(objects: Path) -> list[str]:
    """Everything that speaks against the table, in sentences; empty where it holds."""
    layers = read_layers(ROOT / PAGE)
    told = [
        f"{entry} has a row in {PAGE}, but does not exist" for entry in layers if not (ROOT / entry).exists()
    ]
    for uses, verb in (
        (symbol_uses(objects), "uses {names} of {file}"),
        (include_uses(), "includes {file}"),
        (import_uses(), "imports {names}"),
    ):
        told += [*upward(uses, layers, verb), *circles(uses)]
    return told


def main() -> None:
    """Prints what speaks against the table; exit status 1 where anything does, 3 where it cannot be told."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("objects", type=Path, help="the folder of compiled objects")
    try:
        told = violations(parser.parse_args().objects)
    except ArchitectureError as error:
        print(f"warpbook: {error}", file=sys.stderr)
        sys.exit(3)
    for sentence in told:
        print(f"warpbook: {sentence}", file=sys.stderr)
    sys.exit(1 if told else 0)


if __name__ == "__main__":
    sys.exit(guarded(main))
