"""Puts the real output of the commands that README.md shows into it: `make readme`.

A place for output is a fenced block between two comments (markers.py):

    <!-- output: make help -->
    ```text
    ...
    ```
    <!-- end -->

The commands run one after the other in a copy of the checkout without anybody's progress, so that they show what
a newcomer sees.
"""

import sys

from ..core.workbook import find_workbook, write_whole
from .checkouts import newcomers_copy
from .markers import MarkerError, Place, fill, places
from .shown_output import shown_output


def main() -> int:
    """Fills README.md."""
    root = find_workbook().root
    path = root / "README.md"
    readme = path.read_text("utf-8")

    def content(place: Place) -> str:
        if place.kind != "output":
            raise MarkerError(f"there is no kind of place called {place.kind} in README.md")
        print(f"  RUN      {place.argument}", flush=True)
        return shown_output(place.argument, copy)

    try:
        with newcomers_copy(root) as copy:
            write_whole(path, fill(readme, content))
    except MarkerError as error:
        print(f"warpbook: README.md: {error}", file=sys.stderr)
        return 1
    print(f"README.md shows today's output of {len(places(readme))} commands")
    return 0


if __name__ == "__main__":
    sys.exit(main())
