"""A class that nobody teaches: N submissions of ch01 to ch08 with the verdict that each kernel must get.

One in five is right (solutions, and the unusual right kernels of tests/right), one in five hostile or malformed
(hostile_archives.py), one in five goes for points without the work (tests/cheats.py), and the rest are wrong in the
ways of tests/wrong. Every way of handing in occurs.

    python tests/class/make_class.py FOLDER --students 200
"""

import argparse
import json
import random
import sys
from dataclasses import asdict
from pathlib import Path

from hostile_archives import HOSTILE, Expected, kernels_as, tar_of, zip_of

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
from cheats import CHEATS  # noqa: E402

from grader.authoring import kernels  # noqa: E402
from grader.authoring.clang_differences import is_clang, read_differences  # noqa: E402
from grader.classroom.submissions.contents import is_skeleton  # noqa: E402
from grader.core.workbook import Workbook  # noqa: E402
from grader.learner.restart import skeleton_of  # noqa: E402

CHAPTERS = [f"ch{number:02}" for number in range(1, 9)]

COURSE = """\
title = "A class that nobody teaches"
chapters = ["ch01", "ch02", "ch03", "ch04", "ch05", "ch06", "ch07", "ch08"]
secret = "nobody's secret, and no student's"
own_sizes = 1
schedules = 7
time_limit = 60
due = 2026-11-20T23:59:00+01:00

[late]
grace_days = 1
factor_a_day = 0.9
floor = 0.5

[chapter.ch04]
points = 20
weight = 2
"""


class Corpus:
    """Kernels with the verdicts that they may get."""

    def __init__(self) -> None:
        self.solutions = {
            name: next((ROOT / "solutions").glob(f"{name}_*/kernel.cu")).read_bytes() for name in CHAPTERS
        }
        workbook = Workbook(ROOT)
        skeletons = {one.name: skeleton_of(workbook, one) for one in workbook.select(list(CHAPTERS))}
        stored = kernels.read_all(workbook, kernels.names(workbook, CHAPTERS))
        self.is_clang = is_clang(workbook)
        differences = read_differences(workbook) if self.is_clang else {}
        self.right: dict[str, list[tuple[list[str], bytes]]] = {name: [] for name in CHAPTERS}
        self.wrong: dict[str, list[tuple[str, bytes]]] = {name: [] for name in CHAPTERS}
        for kernel in stored:
            chapter = kernel.name.split("/")[1]
            other = differences.get(str(kernel.path.relative_to(ROOT)))
            if "VERDICT" in kernel.declared:
                # One differs from the skeleton in its comments only, and a class takes it for that.
                is_untouched = is_skeleton(kernel.content, skeletons[chapter])
                declared = other.with_clang if other else kernel.declared["VERDICT"]
                verdict = "MISSING" if is_untouched else declared
                self.wrong[chapter].append((verdict, kernel.content))
            else:
                verdicts = ["PASS", "SLOW", *([other.with_clang] if other else [])]
                self.right[chapter].append((verdicts, kernel.content))

    def a_right_one(self, chapter: str, dice: random.Random) -> tuple[list[str], bytes]:
        if dice.random() < 0.5 or not self.right[chapter]:
            return ["PASS"], self.solutions[chapter]
        return dice.choice(self.right[chapter])

    def cheats(self) -> dict[str, list[tuple[str, bytes]]]:
        found: dict[str, list[tuple[str, bytes]]] = {}
        for cheat in CHEATS.values():
            if cheat.chapter in CHAPTERS:
                verdict = cheat.with_compiler(clang=self.is_clang).verdict
                found.setdefault(cheat.chapter, []).append((verdict, cheat.text().encode()))
        return found


class Wrongs:
    """The kernels of a chapter that must fail, each once before any comes again."""

    def __init__(self, kernels: dict[str, list[tuple[str, bytes]]], dice: random.Random) -> None:
        self.kernels, self._dice = kernels, dice
        self._left: dict[str, list[tuple[str, bytes]]] = {name: [] for name in CHAPTERS}

    def take(self, chapter: str) -> tuple[list[str], bytes]:
        if not self._left[chapter]:
            self._left[chapter] = self._dice.sample(self.kernels[chapter], len(self.kernels[chapter]))
        verdict, content = self._left[chapter].pop()
        # If the declared limit is a time limit, a fast machine may reach the sandbox's limit on files first.
        return [verdict, *(["BUILD"] if verdict == "BUILD_TIMEOUT" else [])], content


def write(folder: Path, number: int, kernels: dict[str, bytes], how: int) -> str:
    """Hands kernels in, in one of many ways; returns the student's id."""
    plain = f"student{number:03}"
    as_folders = kernels_as(kernels)
    match how % 9:
        case 0:
            for name, content in as_folders.items():
                path = folder / plain / "chapters" / name
                path.parent.mkdir(parents=True)
                path.write_bytes(content)
        case 1:
            (folder / plain).mkdir()
            for chapter, content in kernels.items():
                (folder / plain / f"{chapter}.cu").write_bytes(content)
        case 2:
            zip_of(folder / f"{plain}.zip", as_folders)
        case 3:
            tar_of(
                folder / f"{plain}.tar.gz", {f"hw/{name}": content for name, content in as_folders.items()}
            )
        case 4:
            tar_of(
                folder / f"{plain}.tar.xz",
                {f"{c}_kernel.cu": content for c, content in kernels.items()},
                mode="w:xz",
            )
        case 5:
            zip_of(folder / f"{plain}_{1000 + number}_{90000 + number}_kernels-2.zip", as_folders)
            return f"canvas-{1000 + number}"
        case 6:
            for chapter, content in kernels.items():
                place = folder / f"Ada {number}_{2000 + number}_assignsubmission_file_"
                place.mkdir(exist_ok=True)
                (place / f"{chapter}.cu").write_bytes(content)
            return f"participant-{2000 + number}"
        case 7:
            place = folder / f"submission_{3000 + number}"
            place.mkdir()
            for chapter, content in kernels.items():
                (place / f"{chapter}.cu").write_bytes(content)
            with open(folder / "submission_metadata.yml", "a", encoding="utf-8") as file:
                file.write(
                    f"submission_{3000 + number}:\n  :submitters:\n  - :name: Student {number}\n"
                    f"    :sid: '{number}'\n    :email: s{number}@example.edu\n"
                    f"  :created_at: 2026-11-{10 + number % 15} 12:00:00.000000000 Z\n"
                )
            return str(number)
        case 8:
            (folder / plain).mkdir()
            zip_of(folder / plain / "all of it.zip", as_folders)
    return plain


def make_class(folder: Path, students: int, seed: int = 7) -> dict[str, Expected]:
    """Writes FOLDER/submissions, FOLDER/course.toml and FOLDER/expected.json; returns the last."""
    dice = random.Random(seed)
    corpus = Corpus()
    wrongs, cheats = Wrongs(corpus.wrong, dice), Wrongs(corpus.cheats(), dice)
    submissions = folder / "submissions"
    submissions.mkdir(parents=True)
    (folder / "course.toml").write_text(COURSE)
    expected: dict[str, Expected] = {}
    kinds = [kind for kind in ("right", "hostile", "cheat") for _ in range(students // 5)]
    kinds += ["wrong"] * (students - len(kinds))
    dice.shuffle(kinds)
    hostile = 0
    order = dice.sample(HOSTILE, len(HOSTILE))
    for number, kind in enumerate(kinds):
        if kind == "hostile":
            writer = order[hostile % len(order)]
            hostile += 1
            plain = f"student{number:03}"
            own = {name: corpus.solutions[name] for name in dice.sample(CHAPTERS, 2)}
            expected[plain] = writer(submissions / plain, own, folder / "canary")
            continue
        count = dice.choices(range(1, 9), weights=(6, 6, 5, 3, 2, 1, 1, 1))[0]
        chapters = sorted(cheats.kernels) if kind == "cheat" else CHAPTERS
        chosen = sorted(dice.sample(chapters, min(count, len(chapters))))
        taken = {
            name: corpus.a_right_one(name, dice)
            if kind == "right"
            else (cheats if kind == "cheat" else wrongs).take(name)
            for name in chosen
        }
        student = write(submissions, number, {name: content for name, (_, content) in taken.items()}, number)
        expected[student] = Expected(chapters={name: verdicts for name, (verdicts, _) in taken.items()})
    (folder / "expected.json").write_text(
        json.dumps({name: asdict(one) for name, one in expected.items()}, indent=1)
    )
    return expected


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    make_class(options.folder, options.students, options.seed)


if __name__ == "__main__":
    main()
