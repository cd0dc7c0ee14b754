"""Puts the real output of the commands that README.md shows into it, and draws its picture: `make readme`.

A place for output is a fenced block between two comments (markers.py):

    <!-- output: make -->
    ```text
    ...
    ```
    <!-- end -->

The commands run one after the other in a copy of the checkout without anybody's progress, so that they show what
a newcomer sees.
"""

import sys
from pathlib import Path

from ..core.entry import guarded
from ..core.workbook import find_workbook, write_whole
from .checkouts import newcomers_copy
from .markers import MarkerError, Place, fill, places
from .shown_output import compile_images, output_of, shown_output, steady
from .verdict_picture import PICTURE, verdict_picture


def stale_places(root: Path) -> list[str]:
    """The commands whose output in README.md is not that of today, and the picture if it is not."""
    stale = []
    with newcomers_copy(root) as copy:
        for place in _places(root):
            compile_images(place.argument, copy)
            if steady(place.body) != steady(output_of(place.argument, copy)):
                stale.append(place.argument)
        if (root / PICTURE).read_text("utf-8") != verdict_picture(copy):
            stale.append(str(PICTURE))
    return stale


def _places(root: Path) -> list[Place]:
    found = places((root / "README.md").read_text("utf-8"))
    unknown = next((place.kind for place in found if place.kind != "output"), None)
    if unknown:
        raise MarkerError(f"there is no kind of place called {unknown} in README.md")
    return found


def main(arguments: list[str]) -> int:
    """Fills README.md and draws its picture, or with `--check` names what is out of step."""
    root = find_workbook().root
    path = root / "README.md"
    try:
        if arguments == ["--check"]:
            stale = stale_places(root)
            for name in stale:
                print(f"README.md: {name} is out of step; run `make readme`", file=sys.stderr)
            return 1 if stale else 0

        def content(place: Place) -> str:
            print(f"  RUN      {place.argument}", flush=True)
            return shown_output(place.argument, copy)

        count = len(_places(root))
        with newcomers_copy(root) as copy:
            write_whole(path, fill(path.read_text("utf-8"), content))
            print(f"  DRAW     {PICTURE}", flush=True)
            write_whole(root / PICTURE, verdict_picture(copy))
    except MarkerError as error:
        print(f"warpbook: README.md: {error}", file=sys.stderr)
        return 1
    print(f"README.md shows today's output of {count} commands")
    return 0


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:])))
