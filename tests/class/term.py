"""A made-up term, graded week by week, and every grade computed a second time: `make class-term`.

The judge is that of fake_class.py, which reads the verdict from a kernel's first line; everything else is class mode
as it is: archives, the roster, the course file, late days, pages. What students do is drawn from a seed: they are late,
hand in again, work in groups, drop out, copy from each other; some get extensions, are excused or graded by hand. In
the week of the correction, the judge of one chapter changes, which a trial shows before anything is written.

`Rules` below knows nothing of grader/: it computes grades from what happened and from docs/class.md alone.
Exit status 0: every grade is the same in every week; 1: one was not.
"""

import argparse
import contextlib
import csv
import datetime
import io
import json
import os
import random
import shutil
import sys
import time
import zipfile
import zoneinfo
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[2])]

import fake_class  # noqa: E402 - found by the line above

ROOT = Path(__file__).resolve().parents[2]
ZONE = zoneinfo.ZoneInfo("Europe/Zurich")  # whose clocks are set back after the first Friday
BEGIN = datetime.datetime(2026, 10, 19, 8, tzinfo=ZONE)
DAY = datetime.timedelta(days=1)
SHARES = {  # of a chapter's points, for each verdict of the pretended judge
    verdict: Decimal(str(document["points"]["earned"])) / Decimal(str(document["points"]["possible"]))
    for verdict, document in fake_class.DOCUMENTS.items()
}
CORRECTED = "ch03"  # whose judge is corrected in week 6: FIXED kernels were WRONG, and pass from then on
CORRECTION_WEEK = 6
CUT_OFFS = {"A": 85, "B": 65, "C": 45}
BUDGET = 4
FACTOR = Decimal("0.8")
FLOOR = Decimal("0.2")
SECTION_DELAY = 3 * DAY  # of section B


@dataclass(frozen=True)
class Person:
    id: str
    login: str
    name: str
    section: str


@dataclass(frozen=True)
class Event:
    """One submission."""

    name: str  # of the archive
    owners: tuple[str, ...]
    received: datetime.datetime
    kernels: dict[str, str]  # first line of each chapter's kernel


@dataclass
class Term:
    """Everything that has happened so far."""

    people: list[Person]
    chapters: list[str]
    events: list[Event] = field(default_factory=list)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    extensions: dict[str, int] = field(default_factory=dict)
    excused: dict[str, str] = field(default_factory=dict)
    by_hand: dict[str, tuple[str, float]] = field(default_factory=dict)
    strangers: list[str] = field(default_factory=list)
    is_corrected: bool = False

    def due(self, chapter: str) -> datetime.datetime:
        """Friday evening of the chapter's week."""
        return BEGIN + (7 * self.chapters.index(chapter) + 4) * DAY + datetime.timedelta(hours=10)


# ---- The rules, a second time ------------------------------------------------------------------------------------


class Rules:
    """Grades of a term, computed from docs/class.md with decimal numbers."""

    def __init__(self, term: Term) -> None:
        self.term = term

    def grades(self, person: Person) -> dict[str, str]:
        """The cells of the gradebook that a rule determines."""
        counted = {chapter: self.latest(person, chapter) for chapter in self.term.chapters}
        late = {chapter: self.days_late(person, chapter, event) for chapter, event in counted.items()}
        free = self.free_days(person, counted, late)
        cells: dict[str, str] = {}
        total, possible = Decimal(0), Decimal(0)
        for chapter, event in counted.items():
            points = Decimal(10) * (self.share(event.kernels[chapter]) if event else 0)
            points = cents(points)
            score = cents(points * self.factor(late[chapter] - free[chapter]))
            if self.term.by_hand.get(person.id, ("", 0))[0] == chapter:
                score = Decimal(str(self.term.by_hand[person.id][1]))
            cells[f"{chapter} points"] = shown(points)
            if self.term.excused.get(person.id) == chapter:
                cells[f"{chapter} score"] = "excused"
                continue
            cells[f"{chapter} score"] = shown(score)
            weight = 2 if chapter == self.term.chapters[-1] else 1
            total += weight * score
            possible += weight * 10
        percent = 100 * cents(total) / possible
        cells |= {"score": shown(cents(total)), "possible": shown(possible), "percent": shown(cents(percent))}
        cells["grade"] = next((name for name, least in CUT_OFFS.items() if cents(percent) >= least), "D")
        cells["days late"] = str(max(late.values()))
        return cells

    def owners(self, event: Event) -> set[str]:
        """Whose a submission is: with the other members of a group of the course file."""
        found = set(event.owners)
        for members in self.term.groups.values():
            if found & set(members):
                found |= set(members)
        return found

    def latest(self, person: Person, chapter: str) -> Event | None:
        """The submission that counts."""
        own = [one for one in self.term.events if person.id in self.owners(one) and chapter in one.kernels]
        return max(own, key=lambda one: instant(one.received), default=None)

    def share(self, line: str) -> Decimal:
        verdict = line.split()[0]
        if verdict == "FIXED":
            verdict = "PASS" if self.term.is_corrected else "WRONG"
        return SHARES[verdict]

    def due(self, person: Person, chapter: str) -> datetime.datetime:
        delay = SECTION_DELAY if person.section == "B" else 0 * DAY
        return self.term.due(chapter) + delay + self.term.extensions.get(person.id, 0) * DAY

    def days_late(self, person: Person, chapter: str, event: Event | None) -> int:
        """Days by the clock on the wall, whatever zone the time is written in."""
        days = 0
        while event and instant(event.received) > instant(self.due(person, chapter) + days * DAY):
            days += 1
        return days

    def free_days(
        self, person: Person, counted: dict[str, Event | None], late: dict[str, int]
    ) -> dict[str, int]:
        """Late days that the budget covers, the earliest due date first; one submission pays once for a date."""
        left, free, paid = BUDGET, dict.fromkeys(counted, 0), {}
        for chapter in sorted(counted, key=lambda one: self.due(person, one)):
            event = counted[chapter]
            is_set = self.term.by_hand.get(person.id, ("", 0))[0] == chapter
            if event is None or not self.share(event.kernels[chapter]) or is_set:
                continue
            if self.term.excused.get(person.id) == chapter:
                continue
            key = (event.name, self.due(person, chapter))
            if key not in paid:
                paid[key] = min(left, late[chapter])
                left -= paid[key]
            free[chapter] = paid[key]
        return free

    def factor(self, days: int) -> Decimal:
        return max(FLOOR, FACTOR**days) if days > 0 else Decimal(1)


def instant(time: datetime.datetime) -> datetime.datetime:
    """The same time in UTC: Python compares two times of one zone by what their clocks show."""
    return time.astimezone(datetime.UTC)


def cents(number: Decimal) -> Decimal:
    return number.quantize(Decimal("0.01"), ROUND_HALF_UP)


def shown(number: Decimal) -> str:
    text = f"{number:.2f}"
    return text.rstrip("0").rstrip(".")


# ---- What happens --------------------------------------------------------------------------------------------------


class Story:
    """Draws what everybody does in each week."""

    def __init__(self, folder: Path, students: int, weeks: int, seed: int) -> None:
        self.dice = random.Random(seed)
        self.folder = folder
        self.submissions = folder / "submissions"
        self.submissions.mkdir(parents=True)
        people = [self.person(number) for number in range(students)]
        self.term = Term(people, [f"ch{number:02}" for number in range(1, weeks + 1)])
        ids = [one.id for one in people]
        self.dropping = set(ids[3 : 3 + max(1, students // 12)])
        self.absent = set(ids[1:2])
        self.copying = {ids[at]: ids[at - 1] for at in range(9, students, 20)}
        for number, at in enumerate(range(4 + len(self.dropping), students - 1, max(6, students // 6)), 1):
            self.term.groups[f"team{number}"] = (ids[at], ids[at + 1])

    def person(self, number: int) -> Person:
        first = ["Ada", "José", "Chen", "Zoë", "Ola", "Søren", "=Eve", 'Al "Bo"'][number % 8]
        last = ["Lovelace", "de la Cruz", "Jing", "O'Neil", "Nordmann", "Ångström"][number // 8 % 6]
        return Person(f"s{number:03}", f"user{number}x", f"{last} {number}, {first}", "AB"[number % 2])

    def week(self, week: int) -> None:
        """What happens until the end of a week, and what the teacher writes into the course file."""
        for person in self.term.people:
            self.hand_in(person, week)
        self.together(week)
        self.decisions(week)

    def name(self, person: Person, week: int, again: int) -> str:
        """One of the ways in which people call their archives."""
        last, _, first = person.name.partition(", ")
        plain = [person.id, person.login, person.login.upper(), f"{person.login}@example.org"]
        if not set("=\"'") & set(person.name):
            plain += [f"{first} {last}", f"{last}_{first}"]
        return f"{self.dice.choice(plain)}-{week}{again}"

    def hand_in(self, person: Person, week: int) -> None:
        chapter = self.term.chapters[week - 1]
        is_in_group = any(person.id in members[1:] for members in self.term.groups.values())
        gone = person.id in self.absent or (person.id in self.dropping and week > 3)
        if gone or is_in_group or self.dice.random() < 0.05:
            return
        late = self.dice.choice([-1.5, -0.5, -0.01, -0.01, -0.3, 0.0, 0.001, 1, 1.7, 5, 13]) * DAY
        received = self.term.due(chapter) + late + (SECTION_DELAY if person.section == "B" else 0 * DAY)
        kernels = {chapter: self.kernel(person, chapter)}
        if week > 1 and self.dice.random() < 0.15:  # an earlier chapter once more, in the same archive
            kernels[self.term.chapters[week - 2]] = self.kernel(person, self.term.chapters[week - 2])
        self.put(Event(self.name(person, week, 0), (person.id,), received, kernels))
        if self.dice.random() < 0.15:
            again = received + self.dice.choice([0.2, 1, 3]) * DAY
            kernels = {chapter: self.kernel(person, chapter)}
            self.put(Event(self.name(person, week, 1), (person.id,), again, kernels))

    def kernel(self, person: Person, chapter: str) -> str:
        verdict = self.dice.choices(["PASS", "SLOW", "WRONG"], [6, 2, 2])[0]
        if chapter == CORRECTED and self.dice.random() < 0.4:
            verdict = "FIXED"
        copied = self.copying.get(person.id)
        mine = next(
            (one for one in self.term.events if copied in one.owners and chapter in one.kernels), None
        )
        return mine.kernels[chapter] if mine else f"{verdict} 0\n// of {person.id} {self.dice.random()}"

    def together(self, week: int) -> None:
        """A folder with the names of two people, archives of strangers, and archives that are none."""
        chapter = self.term.chapters[week - 1]
        if week % 3 == 2:
            one, other = self.term.people[-2], self.term.people[-4]
            name = f"{one.login}_{other.login}-{week}9"
            received = self.term.due(chapter) + 0.1 * DAY
            self.put(Event(name, (one.id, other.id), received, {chapter: "PASS 0\n// together"}))
        if week % 4 == 1:
            name = f"unknown person {week}"
            self.write(name, {chapter: "PASS 0\n// of nobody"})
            self.term.strangers.append(name)
        if week == 4:
            (self.submissions / f"{self.term.people[0].login}-49.zip").write_bytes(b"not an archive")

    def decisions(self, week: int) -> None:
        """Extensions, excuses and points by hand; in week 8 a stranger's submission gets its owner."""
        ids = [one.id for one in self.term.people]
        chapter = self.term.chapters[week - 1]
        if week == 3:
            self.term.extensions |= {ids[2]: 3, ids[-1]: 2}
        if week in (2, 5):
            self.term.excused[ids[week]] = chapter
        if week in (3, 5):
            self.term.by_hand[ids[week + 3]] = (self.term.chapters[week - 2], 6.5)
        if week == 8 and self.term.strangers:
            name = self.term.strangers.pop(0)
            self.term.owners[name] = ids[1]
            first = self.term.chapters[0]
            received = self.term.due(first)
            self.term.events.append(Event(name, (ids[1],), received, {first: "PASS 0\n// of nobody"}))
        if week == CORRECTION_WEEK:
            self.term.is_corrected = True

    def put(self, event: Event) -> None:
        ending = ".zip" if self.dice.random() < 0.1 else ""
        self.write(event.name + ending, event.kernels)
        self.term.events.append(Event(event.name + ending, event.owners, event.received, event.kernels))

    def write(self, name: str, kernels: dict[str, str]) -> None:
        """An archive or a folder; opening an archive takes class mode a process."""
        if not name.endswith(".zip"):
            for chapter, line in kernels.items():
                path = self.submissions / name / f"{chapter}_x" / "kernel.cu"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"// {line}\n", "utf-8")
            return
        with zipfile.ZipFile(self.submissions / name, "w") as archive:
            for chapter, line in kernels.items():
                archive.writestr(f"{chapter}_x/kernel.cu", f"// {line}\n")

    # ---- The teacher's files ----

    def written(self, event: Event) -> str:
        """A time of receipt: by the clock of the course, with its offset, or as UTC, as platforms differ."""
        forms = [
            event.received.replace(tzinfo=None),
            event.received,
            event.received.astimezone(datetime.UTC),
        ]
        return forms[len(event.name) % 3].isoformat()

    def write_files(self) -> None:
        """Roster, list of times and course file, as they are after this week."""
        term = self.term
        with open(self.folder / "roster.csv", "w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["id", "login", "name", "email", "section"])
            for one in term.people:
                rows.writerow([one.id, one.login, one.name, f"{one.login}@example.org", one.section])
        with open(self.folder / "times.csv", "w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["submission", "received"])
            rows.writerows([one.name, self.written(one)] for one in term.events)
        lines = ['title = "A term"', f"chapters = {json.dumps(term.chapters)}", 'roster = "roster.csv"']
        lines += [f'zone = "{ZONE.key}"', 'received = "times.csv"']
        lines += ['secret = "of a made-up class only"', "own_sizes = 1"]
        lines += ["[late]", f"factor_a_day = {FACTOR}", f"floor = {FLOOR}", f"budget_days = {BUDGET}"]
        lines += [
            "[grade]",
            'below = "D"',
            f"cut_offs = {{ {', '.join(f'{k} = {v}' for k, v in CUT_OFFS.items())} }}",
        ]
        lines += ["[groups]", *(f"{name} = {json.dumps(ids)}" for name, ids in term.groups.items())]
        lines += [
            "[owners]",
            *(f"{json.dumps(name)} = {json.dumps(own)}" for name, own in term.owners.items()),
        ]
        for chapter in term.chapters:
            lines += [f"[chapter.{chapter}]", f"due = {term.due(chapter).replace(tzinfo=None).isoformat()}"]
        lines += ["weight = 2"]  # of the last one
        for chapter in term.chapters:
            lines += [
                f"[section.B.chapter.{chapter}]",
                f"due = {(term.due(chapter) + SECTION_DELAY).isoformat()}",
            ]
        for name in sorted({*term.extensions, *term.excused, *term.by_hand}):
            lines += [f"[student.{name}]"]
            lines += [f"extension_days = {term.extensions[name]}"] if name in term.extensions else []
            lines += [f'excused = ["{term.excused[name]}"]'] if name in term.excused else []
            if name in term.by_hand:
                chapter, points = term.by_hand[name]
                lines += [f"[student.{name}.chapter.{chapter}]", f"points = {points}", 'author = "Grace"']
                lines += ['comment = "shown in the lab"', "date = 2026-12-20"]
        (self.folder / "course.toml").write_text("\n".join(lines) + "\n", "utf-8")


# ---- Grading and comparing -----------------------------------------------------------------------------------------


def grade(folder: Path, *more: str, is_corrected: bool) -> tuple[int, str, str]:
    """One run of class mode, in this process."""
    told, said = io.StringIO(), io.StringIO()
    words = [
        str(folder / "submissions"),
        "--out",
        str(folder / "graded"),
        "--course",
        str(folder / "course.toml"),
    ]
    os.environ[fake_class.CORRECTED] = CORRECTED if is_corrected else ""
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(said):
        status = fake_class.main([*words, *more])
    return status, told.getvalue(), said.getvalue()


def read_gradebook(folder: Path) -> tuple[dict[str, dict[str, str]], list[list[str]]]:
    """The rows by id, and the section of strangers without its heading."""
    text = (folder / "graded" / "gradebook.csv").read_text("utf-8")
    table = list(csv.reader(io.StringIO(text, newline="")))
    gap = table.index([]) if [] in table else len(table)
    heading, *rows = table[:gap]
    return {row[0]: dict(zip(heading, row, strict=True)) for row in rows}, table[gap + 2 :]


def compare(story: Story, week: int) -> tuple[int, list[str]]:
    """How many cells were compared, and those that differ."""
    rows, strangers = read_gradebook(story.folder)
    rules, problems, cells = Rules(story.term), [], 0
    if sorted(rows) != sorted(one.id for one in story.term.people):
        problems.append(f"week {week}: the gradebook has not exactly the students of the roster")
    for person in story.term.people:
        row = rows.get(person.id, {})
        for name, wanted in rules.grades(person).items():
            cells += 1
            if row.get(name) != wanted:
                problems.append(f"week {week}: {person.id} {name}: {row.get(name)}, not {wanted}")
    listed = sorted(row[0].removesuffix(".zip") for row in strangers)
    if listed != sorted(story.term.strangers):
        problems.append(f"week {week}: strangers {listed}, not {sorted(story.term.strangers)}")
    return cells, problems


def correct(story: Story, week: int) -> list[str]:
    """The week of the correction: a trial names every grade that will change, and changes nothing."""
    before, _ = read_gradebook(story.folder)
    text = (story.folder / "graded" / "gradebook.csv").read_bytes()
    _, said, _ = grade(story.folder, "--what-if", is_corrected=True)
    problems = []
    if (story.folder / "graded" / "gradebook.csv").read_bytes() != text:
        problems.append(f"week {week}: the trial changed the gradebook")
    rules = Rules(story.term)
    for person in story.term.people:
        wanted, was = rules.grades(person), before[person.id]
        for chapter in story.term.chapters:
            differs = wanted[f"{chapter} score"] != was[f"{chapter} score"]
            if differs and f"  {person.id} {chapter}: " not in said:
                problems.append(f"week {week}: the trial does not name {person.id} {chapter}")
    return problems


def run(folder: Path, students: int, weeks: int, seed: int) -> tuple[int, list[str]]:
    """The whole term: how many cells were compared, and all problems."""
    story = Story(folder, students, weeks, seed)
    cells, problems = 0, []
    for week in range(1, weeks + 1):
        story.week(week)
        story.write_files()
        if week == CORRECTION_WEEK:
            problems += correct(story, week)
        status, _, said = grade(folder, is_corrected=story.term.is_corrected)
        if status != 0:
            problems.append(f"week {week}: the command ended with status {status}: {said[-500:]}")
            break
        counted, wrong = compare(story, week)
        cells += counted
        problems += wrong
        if week in (2, weeks):  # nothing new: the same bytes again
            text = (folder / "graded" / "gradebook.csv").read_bytes()
            grade(folder, is_corrected=story.term.is_corrected)
            if (folder / "graded" / "gradebook.csv").read_bytes() != text:
                problems.append(f"week {week}: a second run writes another gradebook")
    problems += copies(story)
    return cells, problems


def copies(story: Story) -> list[str]:
    """Copies that the page about similar submissions has to show, if there are any."""
    document: dict[str, Any] = json.loads((story.folder / "graded" / "class.json").read_text("utf-8"))
    pairs = {frozenset(pair["students"]) for pair in document["similar"] if pair["identical"]}
    together = {frozenset(one.owners) for one in story.term.events if len(one.owners) > 1}
    together |= {frozenset(members) for members in story.term.groups.values()}
    return [f"{sorted(pair)} handed in together, and are reported" for pair in pairs & together]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--students", type=int, default=60, help="at least 12")
    parser.add_argument("--weeks", type=int, default=10, help="from 6 to 14")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "class-term")
    options = parser.parse_args()
    if options.students < 12 or not CORRECTION_WEEK <= options.weeks <= 14:
        parser.error("a term has at least 12 students and from 6 to 14 weeks")
    shutil.rmtree(options.folder, ignore_errors=True)
    begun = time.monotonic()
    cells, problems = run(options.folder, options.students, options.weeks, options.seed)
    for problem in problems[:50]:
        print(problem)
    events = len(list((options.folder / "submissions").iterdir()))
    print(
        f"{options.students} students, {options.weeks} weeks, {events} submissions, {cells} grades compared: "
        f"{time.monotonic() - begun:.0f} s, {len(problems)} problems"
    )
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
