"""Draws every picture of the lessons: `make pictures`, or python docs/pictures/draw.py [--check].

canvas.py holds the visual language; every other module beside it holds pictures, a function each. The SVG files
are committed; `--check` compares them with what would be drawn now.
"""

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULES = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("canvas", "draw"))


def main(arguments: list[str]) -> int:
    """Writes the pictures, or with --check names those that are out of step."""
    sys.path.insert(0, str(HERE))
    for module in MODULES:
        importlib.import_module(module)
    canvas = importlib.import_module("canvas")
    wanted = {f"{name}.svg": canvas.render(name) for name in canvas.pictures}
    present = {path.name: path.read_text("utf-8") for path in HERE.glob("*.svg")}
    stale = sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))
    if arguments == ["--check"]:
        for name in stale:
            print(f"docs/pictures/{name} is out of step; run `make pictures`")
        return 1 if stale else 0
    for name in stale:
        if name in wanted:
            (HERE / name).write_text(wanted[name], "utf-8")
        else:
            (HERE / name).unlink()
    print(f"{len(wanted)} pictures, {len(stale)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
