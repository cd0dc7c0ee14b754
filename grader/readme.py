"""`make readme`: puts today's output of the commands that README.md shows into it.

    <!-- output: make help -->
    ...
    <!-- end -->

The commands run one after the other in a copy of the checkout without anybody's progress, so that they show what a
newcomer sees.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .markers import MarkerError, Place, fill, places
from .shown_output import shown_output
from .workbook import find_workbook, write_whole


@contextmanager
def newcomers_copy(root: Path) -> Iterator[Path]:
    """A copy of the checkout with its programs and packages, and nothing that anybody has done in it."""
    with tempfile.TemporaryDirectory(prefix="warpbook-readme-") as name:
        copy = Path(name) / "warpbook"
        copy.mkdir()
        private = {".git", ".venv", "build", "progress"}
        for path in root.iterdir():
            if path.name in private or re.fullmatch(r"ch\d\d", path.name):
                continue
            if path.is_dir():
                shutil.copytree(path, copy / path.name, symlinks=True)
            else:
                shutil.copy2(path, copy / path.name)
        (copy / ".venv").symlink_to(root / ".venv")
        (copy / "build").mkdir()
        for made in ("bin", "lib", "obj", "programs"):
            shutil.copytree(root / "build" / made, copy / "build" / made)
        for made in ("config.mk", "flags", "sources"):
            shutil.copy2(root / "build" / made, copy / "build" / made)
        for program in (copy / "build" / "programs").iterdir():
            (copy / program.name).hardlink_to(program)
        yield copy


def main() -> int:
    """Fills README.md."""
    root = find_workbook().root
    path = root / "README.md"
    readme = path.read_text("utf-8")
    with newcomers_copy(root) as copy:

        def today(place: Place) -> str:
            print(f"  RUN      {place.argument}", flush=True)
            return shown_output(place.argument, copy)

        try:
            count = len(places(readme))
            filled = fill(readme, today)
        except MarkerError as error:
            print(f"warpbook: README.md: {error}", file=sys.stderr)
            return 1
    write_whole(path, filled)
    print(f"README.md shows today's output of {count} commands")
    return 0


if __name__ == "__main__":
    sys.exit(main())
