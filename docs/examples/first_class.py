"""Write the submissions of the five students of docs/teaching.md into a folder.

python docs/examples/first_class.py build/first-class/submissions
python docs/examples/first_class.py build/first-class/submissions again    what comes in a week later
"""

import re
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMES = {path.name[:4]: path.name for path in (ROOT / "chapters").glob("ch[0-9][0-9]_*")}


def solved(chapter: str) -> str:
    """A correct submission."""
    return (ROOT / "solutions" / NAMES[chapter] / "kernel.cu").read_text("utf-8")


def experiment(chapter: str, name: str) -> str:
    """A mistake from the lessons."""
    return (ROOT / "docs" / "experiments" / chapter / f"{name}.cu").read_text("utf-8")


def skeleton(chapter: str) -> str:
    """An exercise that the student has not changed."""
    return (ROOT / "chapters" / NAMES[chapter] / "kernel.cu").read_text("utf-8")


def hand_in(folder: Path, student: str, kernels: dict[str, str]) -> None:
    """One student's archive, in the layout of `make submission`."""
    with zipfile.ZipFile(folder / f"{student}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for chapter, kernel in kernels.items():
            archive.writestr(f"{NAMES[chapter]}/kernel.cu", kernel)


def main(folder: Path) -> None:
    """Write everybody's archive except that of Dana, who hands in nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    hand_in(folder, "ada", {chapter: solved(chapter) for chapter in ("ch01", "ch02", "ch04")})
    hand_in(folder, "ben", {
        "ch01": experiment("ch01", "last_left_out"),
        "ch02": experiment("ch02", "chunk"),
        "ch04": experiment("ch04", "early_return"),
    })  # fmt: skip
    hand_in(
        folder, "chen", {"ch01": solved("ch01"), "ch02": solved("ch02").replace("sum = 0.0f;", "sum = 0.0f")}
    )
    hand_in(folder, "eve", {
        "ch01": '#include "/etc/passwd"\n' + skeleton("ch01"),
        "ch04": re.sub(r"\bsum\b", "mine", solved("ch04")),
    })  # fmt: skip


def again(folder: Path) -> None:
    """A week later: Ben hands in again, Dana and Eve together, and somebody under a name that nobody has."""
    hand_in(folder, "ben-2", {"ch01": solved("ch01")})
    hand_in(folder, "dana_eve", {"ch02": solved("ch02")})
    hand_in(folder, "chn", {"ch02": solved("ch02")})


if __name__ == "__main__":
    (again if sys.argv[2:] == ["again"] else main)(Path(sys.argv[1]))
