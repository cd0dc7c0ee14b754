"""The catalogue of mistakes, the shapes of wrong sums, and the engine that matches a run against them."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from native_driver import ROOT, build

from grader.authoring import kernels
from grader.core.workbook import Workbook

HEADER = re.compile(r"^// DIAGNOSIS: *(\S+) *$", re.MULTILINE)


@pytest.fixture(scope="session")
def probe() -> Path:
    return build("diagnose_probe")


@dataclass
class Entry:
    slug: str
    title: str
    why: str
    lessons: str
    shapes: str
    verdicts: int


@pytest.fixture(scope="session")
def catalogue(probe: Path) -> list[Entry]:
    done = subprocess.run([probe, "catalogue"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr  # else an expression does not compile
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [Entry(*row[:5], int(row[5])) for row in rows]


@pytest.fixture(scope="session")
def shapes(probe: Path) -> dict[str, str]:
    done = subprocess.run([probe, "shapes"], capture_output=True, text=True, check=True)
    return dict(line.split("\t") for line in done.stdout.splitlines())


# ---- The catalogue -----------------------------------------------------------------------------------------------


def anchors(chapter: str) -> set[str]:
    """The headings of a lesson, as links name them."""
    (lesson,) = (ROOT / "chapters").glob(f"{chapter}_*/README.md")
    headings = re.findall(r"^#+ +(.*)$", lesson.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_there_are_enough_and_they_are_well_formed(catalogue: list[Entry]) -> None:
    assert len({entry.slug for entry in catalogue}) >= 25
    for entry in catalogue:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", entry.slug), entry
        assert entry.title[0].isupper() or entry.title.startswith("__"), entry
        assert not entry.title.endswith("."), entry
        assert entry.why[-1] in ".?" and len(entry.why) <= 330, entry
        assert len(re.findall(r"[.?!:](?= [A-Z]|$)", entry.why)) <= 3, entry
        assert entry.why.isascii() and entry.title.isascii(), entry
        blanks = {
            "{line}",
            "{other}",
            "{upper}",
            "{lower}",
            "{loop}",
            "{local}",
            "{columns}",
            "{row}",
            "{meeting}",
            "{alone}",
            "{rolled}",
            "{test}",
            "{blocks}",
            "{unroll}",
        }
        assert set(re.findall(r"{\w+}", entry.why)) <= blanks, entry
        assert entry.verdicts, f"{entry.slug} would fit any verdict"


def test_entries_of_one_name_have_one_title(catalogue: list[Entry]) -> None:
    titles = {(entry.slug, entry.title) for entry in catalogue}
    assert len(titles) == len({entry.slug for entry in catalogue})


def test_no_two_facts_share_a_bit() -> None:
    header = (ROOT / "common/driver/diagnose/mistakes.h").read_text()
    bits = re.findall(r"#define FACT_\w+[ \\\n]+FACT\((\d+)\)", header)
    assert len(bits) > 90
    assert len(bits) == len(set(bits))
    assert max(map(int, bits)) < 128


def test_lessons_and_hints_are_there(catalogue: list[Entry]) -> None:
    for entry in catalogue:
        assert entry.lessons, entry
        for lesson in entry.lessons.split(" "):
            matched = re.fullmatch(r"(ch\d\d)#([a-z0-9-]+)(?::([123]))?", lesson)
            assert matched, (entry.slug, lesson)
            chapter, anchor, step = matched.groups()
            assert anchor in anchors(chapter), (entry.slug, lesson)
            if step:
                (hints,) = (ROOT / "chapters").glob(f"{chapter}_*/hints.md")
                assert len(re.findall(r"^## ", hints.read_text(), re.MULTILINE)) >= int(step), lesson


def test_every_mistake_is_proved_by_a_wrong_kernel(catalogue: list[Entry]) -> None:
    declared = {}
    workbook = Workbook(ROOT)
    names = kernels.names(workbook, [chapter.name for chapter in workbook.chapters])
    for kernel in kernels.read_all(workbook, [name for name in names if name.startswith("wrong/")]):
        found = HEADER.findall(kernel.content.decode())
        assert found == [kernel.declared["DIAGNOSIS"]], f"{kernel.path} needs one line // DIAGNOSIS: slug"
        declared[kernel.path] = found[0]
    slugs = {entry.slug for entry in catalogue}
    assert set(declared.values()) - {"none"} <= slugs
    assert slugs <= set(declared.values())
    assert sum(slug == "none" for slug in declared.values()) <= len(declared) / 10


def test_every_shape_that_is_asked_for_exists(catalogue: list[Entry], shapes: dict[str, str]) -> None:
    asked = {name for entry in catalogue for name in entry.shapes.split("|") if name}
    assert asked <= set(shapes)
    assert all(words.endswith(".") and len(words) < 200 for words in shapes.values())


# ---- Shapes of error ---------------------------------------------------------------------------------------------

CASES = [
    ("everything-twice", 31, 0, 1),
    ("everything-by-each-warp", 31, 0, 1),
    ("everything-by-each-block", 1025, 0, 2),
    ("everything-by-all-warps", 31, 0, 2),
    ("everything-by-all-threads", 31, 0, 1),
    ("everything-taken-away", 1025, 0, 1),
    ("last-only", 1025, 0, 1),
    ("first-lost", 1025, 0, 1),
    ("last-lost", 1025, 0, 2),
    ("middle-lost", 31, 0, 1),
    ("middle-twice", 31, 0, 1),
    ("head-lost", 257, 4, 1),
    ("head-but-first-lost", 257, 4, 1),
    ("tail-but-first-lost", 31, 0, 1),
    ("tail-but-last-lost", 31, 0, 2),
    ("tail-behind-no-head", 1025, 4, 1),
    ("tail-of-4-lost", 31, 0, 1),
    ("tail-of-4-lost", 30, 12, 1),
    ("tail-by-each-thread", 31, 0, 2),
    ("tail-without-head", 31, 4, 1),
    ("last-group-twice", 33, 8, 1),
    ("tail-of-warp-lost", 1025, 0, 1),
    ("rest-of-shares-lost", 1025, 0, 3),
    ("rest-in-shares-lost", 1025, 0, 3),
    ("rest-of-grid-lost", 1025, 0, 2),
    ("chunk-borders-twice", 1025, 0, 1),
    ("first-round-only", 1025, 0, 2),
    ("first-warp-only", 1025, 0, 2),
    ("first-warp-twice", 1025, 0, 2),
    ("first-warp-by-each-warp", 1025, 0, 2),
    ("other-warps-twice", 1025, 0, 2),
    ("named-lanes", 1025, 0, 2),
    ("last-round-lost", 1025, 0, 2),
    ("component-twice", 1025, 4, 1),
    ("groups-same-in-each-block", 4099, 12, 3),
    ("first-block-folded", 1025, 0, 2),
    ("same-in-each-block", 1025, 0, 2),
    ("first-block-only", 1025, 0, 2),
    ("last-warp-lost", 1025, 0, 2),
    ("every-second-lost", 1025, 0, 1),
    ("fourth-of-group-lost", 1025, 4, 1),
    ("groups-of-three", 1025, 0, 1),
    ("upper-half-warp-lost", 1025, 0, 1),
    ("lower-half-warp-twice", 1025, 0, 1),
    ("powers-of-two-only", 1025, 0, 2),
    ("level-lost", 1025, 0, 1),
    ("two-levels-lost", 1025, 0, 1),
    ("added-behind-a-tree", 1025, 0, 2),
    ("same-in-each-warp", 1025, 0, 2),
    ("same-in-each-thread", 1025, 0, 2),
    ("second-32-of-64-lost", 1025, 0, 1),
    ("lane-31-only", 1025, 0, 1),
    ("lane-0-by-32", 1025, 0, 1),
    ("last-thread-only", 1025, 0, 1),
    ("stride-of-a-block", 1025, 0, 3),
    ("two-a-round-old-stride", 1025, 0, 1),
    ("four-a-round-old-stride", 4096, 0, 1),
    ("every-fourth-round-only", 4096, 0, 1),
    ("rounds-of-4-old-stride", 4099, 0, 1),
    ("rounds-of-8-old-stride", 4099, 0, 1),
    ("rest-of-2-lost", 1025, 0, 1),
    ("rest-of-4-lost", 4099, 0, 1),
    ("rest-but-first-lost", 4609, 0, 1),
    ("first-of-2-sums-only", 4099, 0, 1),
    ("even-of-4-sums-only", 4099, 0, 1),
    ("last-of-4-sums-lost", 4099, 0, 1),
    ("pairs-of-8-sums-only", 4099, 0, 1),
    ("rest-of-8-lost", 4099, 0, 1),
    ("first-of-8-sums-only", 4099, 0, 1),
    ("half-of-8-sums-only", 4099, 0, 1),
]


def fit(probe: Path, *arguments: object) -> list[str]:
    done = subprocess.run([probe, "fit", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, "the shape predicts the right sum here"
    return done.stdout.split()


@pytest.mark.parametrize(("shape", "count", "misalignment", "blocks"), CASES)
def test_a_sum_is_recognised_by_what_it_lacks(
    probe: Path, shape: str, count: int, misalignment: int, blocks: int
) -> None:
    assert shape in fit(probe, count, misalignment, blocks, 256, shape)


def test_no_shape_is_left_out_of_the_list(probe: Path) -> None:
    listed = subprocess.run([probe, "shapes"], capture_output=True, text=True, check=True).stdout.splitlines()
    files = sorted((ROOT / "common/driver/judge/error_shape").glob("*.c"))
    rows = [
        row for file in files for row in re.findall(r'^    \{"([a-z0-9-]+)",', file.read_text(), re.MULTILINE)
    ]
    assert len(rows) > 100
    assert sorted(rows) == sorted(line.split("\t")[0] for line in listed)


def test_sizes_tell_shapes_apart_that_look_alike_at_one(probe: Path) -> None:
    lacks_one = [set(fit(probe, n, 0, 1, 256, "last-lost")) for n in (33, 34, 255)]
    assert len(lacks_one[0]) > 1  # of 33 elements the last is also the tail of 4, the second warp ...
    assert set.intersection(*lacks_one) == {"last-lost"}


def test_a_block_that_is_no_power_of_two_loses_what_halving_leaves_over(probe: Path) -> None:
    for block in (64, 256, 1024):  # here the tree is whole: it predicts the right sum
        assert "odd-tree" not in fit(probe, 33, 0, 1, block, "first-lost")


# ---- The engine --------------------------------------------------------------------------------------------------


@dataclass
class Answer:
    slug: str
    why: str
    hint: int
    lesson: str
    numbers: str


def match(probe: Path, *evidence: str, code: str = "") -> Answer:
    lines = [*evidence, *(f"code {line}" for line in code.splitlines())]
    done = subprocess.run([probe, "match"], input="\n".join(lines) + "\n", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    slug, why, hint, lesson, numbers = done.stdout.split("\n")[:5]
    return Answer(slug, why, int(hint), lesson, numbers)


def test_what_passes_or_is_our_fault_has_no_diagnosis(probe: Path) -> None:
    assert match(probe, "verdict PASS").slug == "none"
    assert match(probe, "verdict INFRA").slug == "none"


def test_without_evidence_nothing_is_named(probe: Path) -> None:
    for verdict in ("WRONG", "OOB", "SYNC", "BUILD", "REJECT", "UNSUPPORTED", "SLOW"):
        assert match(probe, f"verdict {verdict}").slug == "none", verdict


UNORDERED = ("verdict RACE", "finding race", "line 4", "other 2", "message with no barrier between them")
RACE = (*UNORDERED, "repair barrier")


def test_lines_are_filled_in_in_the_order_of_the_file(probe: Path) -> None:
    answer = match(probe, *RACE, code="a\ns[t] = x;\n\ny = s[0];\n")
    assert answer.slug == "missing-barrier"
    assert "in line 2 and in line 4, " in answer.why


def test_a_race_without_lines_is_not_explained_by_lines(probe: Path) -> None:
    answer = match(probe, "verdict RACE", "finding race", "message with no barrier between them")
    assert "{" not in answer.why and "line 0" not in answer.why


def test_the_lesson_is_the_chapters_own_where_there_is_one(probe: Path) -> None:
    early = match(
        probe, "verdict SYNC", "finding wrong mask", "message lane 1; that lane has exited", "line 1",
        code="if (i >= n) return;",
    )  # fmt: skip
    assert (early.slug, early.lesson, early.hint) == ("early-return", "ch04#myths", 2)
    other = match(probe, *RACE, code="a\nb\nc\nd\n")
    assert (other.lesson, other.hint) == ("ch03#barriers", 0)  # a hint of chapter 4 is not about barriers


def test_comments_are_no_code(probe: Path) -> None:
    barrier = "a\n// __threadfence();\n/* __threadfence(); */ s[t] = x;\ny = s[0];\n"
    assert match(probe, *RACE, code=barrier).slug == "missing-barrier"
    fence = barrier.replace("/* __threadfence(); */ s", "__threadfence(); s")
    assert match(probe, *RACE, code=fence).slug == "fence-for-a-barrier"
    assert match(probe, *RACE, code=barrier + "__threadfence();").slug == "missing-barrier", "elsewhere"


def test_a_string_may_hold_what_looks_like_a_comment(probe: Path) -> None:
    code = 'printf("https://x");\ns[t] = x; __threadfence();\n\ny = s[0];\n'
    assert match(probe, *RACE, code=code).slug == "fence-for-a-barrier"


def test_a_shape_needs_its_evidence(probe: Path) -> None:
    wrong = ("verdict WRONG", "check value", "shape second-32-of-64-lost")
    answer = match(probe, *wrong)
    assert answer.slug == "half-a-tree"
    assert answer.numbers == "In every 64 neighbouring values of a block, the last 32 are left out."
    assert match(probe, "verdict WRONG", "check value").slug == "none"


def test_one_answer_is_named_only_where_several_sizes_have_it(probe: Path) -> None:
    wrong = ("verdict WRONG", "check value", "got 5", "n 31")
    # The same elements give the same wrong sum, whatever the mistake.
    assert match(probe, *wrong, "again 31", "again 31").slug == "none"
    assert match(probe, *wrong, "again 31", "again 255").slug == "answer-built-in"


def test_one_size_does_not_tell_many_blocks_from_many_elements(probe: Path) -> None:
    wrong = (
        "verdict WRONG",
        "check value",
        "got 5",
        "n 1200000",
        "workspace 1",
        "per_block 4096",
        "ended 4097",
    )
    assert match(probe, *wrong).slug == "none"
    assert match(probe, *wrong, "again 2400000").slug == "one-element-a-thread"
    few = match(probe, *wrong, "again 2400000", "again 8192")  # one with few blocks is wrong too
    assert few.slug != "one-element-a-thread"


def test_what_a_sum_begins_with_is_in_it_at_every_size(probe: Path) -> None:
    wrong = ("verdict WRONG", "check value", "difference 1", "n 31", "again 255")
    assert match(probe, *wrong, "again 0").slug == "starts-above-zero"
    assert match(probe, *wrong, "again 1025").slug == "none"  # an empty sum may be right
    assert match(probe, *wrong, "again 0", "ended 33").slug == "none"  # and this one is


def test_a_barrier_is_not_called_missing_where_each_round_has_one(probe: Path) -> None:
    race = ("verdict RACE", "finding race", "line 1", "other 1")
    code = "tree[t] += tree[t + 1];"
    between = match(probe, *race, "message with no barrier between them", "repair barrier", code=code)
    assert between.slug == "missing-barrier"
    round_ = "message in the same round of a loop that has a barrier"
    assert match(probe, *race, round_, code=code).slug == "tree-threads-overlap"
    moved = match(probe, *race, round_, code="sum += tree[t + 1];")  # nvcc put a store of another line here
    assert "The barrier between the levels is there" not in moved.why


ROUNDS = "Between rounds of the loop"


@pytest.mark.parametrize(
    ("code", "line", "says_rounds"),
    [
        ("tree[t] += tree[t + s];", 1, False),  # no loop
        ("for (;;) {\n  a();\n}\ntree[t] += tree[t + s];", 4, False),  # behind it
        ("for (int s = 1; s < 9; s *= 2) tree[t] += tree[t + s];", 1, True),
        ("for (int s = 1; s < 9; s *= 2)\n  if (t < s) {\n    tree[t] += tree[t + s];\n  }", 3, True),
        (
            "for (int s = 1; s < 9; s *= 2)\n  if (t < s)\n    tree[t] += tree[t + s];\n__syncthreads();",
            3,
            True,
        ),
        ("while (s) {\n  tree[t] += tree[t + s];\n  s /= 2;\n}", 2, True),
        ("do {\n  tree[t] += tree[t + s];\n  s /= 2;\n} while (s);", 2, True),
        ("while (s) {\n  tree[t] += tree[t + s];\n  if (s > 32) __syncthreads();\n}", 2, False),
        ("for (;;) {\n  tree[t] += tree[t + s];\n  block.sync();\n}", 2, False),
        ("for (;;) {\n  for (;;) {\n    tree[t] += tree[t + s];\n  }\n  __syncthreads();\n}", 3, False),
        ("for (;;) {\n  f(\"}\", 'x');\n  tree[t] += tree[t + s];\n}", 3, True),
    ],
)
def test_rounds_are_spoken_of_only_where_a_loop_without_a_barrier_stands(
    probe: Path, code: str, line: int, says_rounds: bool
) -> None:
    race = ("verdict RACE", "finding race", f"line {line}", f"other {line}")
    answer = match(probe, *race, "message with no barrier between them", "repair barrier", code=code)
    assert answer.slug == "missing-barrier"
    assert (ROUNDS in answer.why) == says_rounds, answer.why


def test_a_barrier_that_stands_between_two_lines_is_not_called_missing_there(probe: Path) -> None:
    between = "message with no barrier between them"
    race = ("verdict RACE", "finding race", "line 2", "other 4", between, "repair barrier")
    body = "  s[t] = x;\n  __syncthreads();\n  y += s[u];\n"
    assert "none before the next round" in match(probe, *race, code="for (;;) {\n" + body + "}").why
    for code in (body := "\n" + body, "for (;;) {" + body + "  __syncthreads();\n}"):
        assert "There is a barrier between the two lines" in match(probe, *race, code=code).why
    nothing = match(probe, *race, code="for (;;) {\n  s[t] = x;\n\n  y += s[u];\n}").why
    assert "in line 2 and in line 4, and nothing orders the two." in nothing


def test_a_barrier_is_called_missing_only_if_one_repairs_the_kernel(probe: Path) -> None:
    code = "a\ns[t] = x;\n\ny = s[0];\n"
    answer = match(probe, *UNORDERED, code=code)
    assert answer.slug == "unordered-accesses"
    assert "an index or a condition is wrong; or a barrier is missing" in answer.why
    assert match(probe, *RACE, code=code).slug == "missing-barrier"


def test_a_loop_that_ends_at_other_sizes_is_not_called_endless(probe: Path) -> None:
    wrong = ("verdict TIMEOUT", "finding too many steps", "line 1")
    assert match(probe, *wrong, code="for (int i = t; i < n; i++)").slug == "endless-loop"
    assert match(probe, *wrong, "ended 31", code="for (int i = t; i < n; i++)").slug == "none"
    assert match(probe, *wrong, code="while (i < n) sum += in[i];").slug == "endless-loop"
    assert match(probe, *wrong, code="while (flag[0] == 0) {").slug == "spin-wait"


def test_a_loop_that_waits_for_a_flag_is_no_barrier(probe: Path) -> None:
    race = ("verdict RACE", "finding race", "line 1", "other 4", "message with no barrier between them")
    code = "s[t] = x;\n{}\n{}\ny = s[u];"
    named = [
        match(probe, *race, "repair barrier", code=code.format(*between)).slug
        for between in (
            ("while (flag[u] == 0) {", "}"),
            ("do {", "} while (f(k));"),
            ("while (k < 3)", "k++;"),
            ("while (atomicCAS(&lock, 0, 1));", ""),
        )
    ]
    assert named == ["flag-for-a-barrier", "missing-barrier", "missing-barrier", "missing-barrier"]


def test_lanes_of_one_warp_need_the_barrier_of_the_warp(probe: Path) -> None:
    race = ("verdict RACE", "finding race", "line 2", "other 1", "repair warp-barrier")
    lanes = "message with no barrier and no __syncwarp() between them: lanes of a warp need not run together"
    assert "__syncwarp()" in match(probe, *race, lanes, code="s[t] = x;\ny = s[u];").why
    warps = "message with no barrier between them"
    assert "__syncthreads()" in match(probe, *race, warps, code="s[t] = x;\ny = s[u];").why


def test_a_loop_is_named_by_a_line_that_it_executes(probe: Path) -> None:
    answer = match(
        probe, "verdict TIMEOUT", "finding too many steps", "endless 1", "line 2", code="for (;;)\n  s += 1;"
    )
    assert "the loop that executes line 2" in answer.why


def test_what_is_proved_never_to_end_has_another_cause(probe: Path) -> None:
    proved = ("verdict TIMEOUT", "finding too many steps", "line 1", "endless 1")
    down = "for (unsigned i = n - 1; i >= 0; i--)"
    assert match(probe, *proved, "ended 31", code="for (int i = t; i < n; i++)").slug == "endless-loop"
    assert match(probe, *proved, "object out", code="for (int i = t; i < n; i++)").slug == "spin-wait"
    assert "line 1 is always true" in match(probe, *proved, code=down).why
    assert match(probe, *proved, code=f"\n{down}").slug == "endless-loop", "in another line"


def test_the_more_specific_is_named(probe: Path) -> None:
    wrong = ("verdict WRONG", "check value", "shape every-second-lost")
    assert (
        match(probe, *wrong, code="for (int i = 0; i < n; i += 2) sum += in[i];").slug
        == "every-other-element"
    )
    assert match(probe, *wrong, code="sum += __shfl_down_sync(~0u, sum, d);").slug == "level-missing"


def test_a_semicolon_behind_a_loop_is_told_from_one_in_it(probe: Path) -> None:
    wrong = ("verdict WRONG", "check value")
    assert (
        match(probe, *wrong, code="for (int i = 0; i < n; i++);\n{ s += in[i]; }").slug == "stray-semicolon"
    )
    assert match(probe, *wrong, code="if (lane == 0);\npartial[0] = s;").slug == "stray-semicolon"
    for right in (
        "for (int i = 0; i < n; i++) add(i);",
        "if (lane == 0) store(s);",
        "diff(a);",
        "for (;;) ;",
    ):
        assert match(probe, *wrong, code=right).slug == "none", right


@pytest.mark.parametrize(
    ("object_", "index", "size", "more", "slug"),
    [
        ("in", 0, 0, ["n 0"], "empty-array-not-considered"),
        ("in", 132, 132, [], "outside-the-array"),
        ("in", 132, 132, ["repair guard"], "no-bound"),
        ("in", -4, 132, [], "read-before-the-start"),
        ("in", -131068, 262140, ["repair wide"], "index-overflow"),
        ("in", 128, 132, ["bytes 16"], "group-past-the-end"),
        ("in", 132, 132, ["bytes 16"], "outside-the-array"),
        ("in", 132, 132, ["store 1"], "input-overwritten"),
        ("shared tile", 128, 128, ["store 1"], "shared-array-too-small"),
        ("shared tile", 0, 0, ["store 1"], "dynamic-memory-not-asked-for"),
        ("scratch", 1024, 1024, ["store 1"], "slot-for-each-element"),
        ("partial", 4, 4, ["store 1"], "too-many-results"),
        ("partial", 0, 4, ["store 1", "bytes 16"], "wide-store-of-a-result"),
    ],
)
def test_what_lies_outside_tells_who_meant_it(
    probe: Path, object_: str, index: int, size: int, more: list[str], slug: str
) -> None:
    evidence = ["bytes 4", "line 1", f"object {object_}", f"index {index}", f"size {size}", *more]
    code = "for (int i = t; i < n; i += threads) { scratch[i] = in[i]; }"
    assert match(probe, "verdict OOB", "finding out of bounds", *evidence, code=code).slug == slug
    if slug == "slot-for-each-element":  # not if the store comes after the loop
        code = "for (int i = t; i < n; i += threads) { sum += in[i]; } scratch[t] = sum;"
        assert match(probe, "verdict OOB", "finding out of bounds", *evidence, code=code).slug != slug


@pytest.mark.parametrize(
    ("code", "line", "slug", "loop"),
    [
        ("for (;;)\n  for (int i = 0; i < n; i += 4) {\n    s += in[i + 1];\n  }", 3, "part-of-a-group", 2),
        ("for (int i = 0; i < n; i += 4) {\n  for (;;) {\n    s += in[i + 1];\n  }\n}", 3, "outside-the-array", 0),
        ("for (int i = 0; i < n; i += 4) {\n}\ns += in[i + 1];", 3, "outside-the-array", 0),
        ("for (int i = 0;\n     i < 1000;\n     i++)\n  s += in[i];", 4, "size-built-in", 1),
        ("do {\n  s += in[i];\n  i++;\n} while (i < 1000);", 2, "size-built-in", 1),
        ("for (int b = 0; b < 256; b++) {\n}\ns += in[i];", 3, "outside-the-array", 0),
    ],
)  # fmt: skip
def test_a_loop_is_spoken_of_only_around_the_access(
    probe: Path, code: str, line: int, slug: str, loop: int
) -> None:
    evidence = ["bytes 4", f"line {line}", "object in", "index 128", "size 120"]
    answer = match(probe, "verdict OOB", "finding out of bounds", *evidence, code=code)
    assert answer.slug == slug
    if loop:
        assert f"The loop in line {loop} " in answer.why


def test_a_thread_number_that_counts_blocks_first_is_not_miscounted(probe: Path) -> None:
    for index, is_wrong in (
        ("blockIdx.x + threadIdx.x * gridDim.x", False),
        ("blockIdx.x + threadIdx.x", True),
    ):
        answer = match(probe, *UNORDERED, code=f"int i = {index};\n\n\n\n")
        assert (answer.slug == "thread-number-miscounted") == is_wrong, index


def test_only_what_ends_right_behind_the_array_is_one_past_its_end(probe: Path) -> None:
    outside = ("verdict OOB", "finding out of bounds", "bytes 4", "line 1", "object in", "size 132")
    ahead = "if (i + threads <= n) next = in[i + threads];"
    assert match(probe, *outside, "index 132", code=ahead).slug == "one-past-the-end"
    assert match(probe, *outside, "index 136", code=ahead).slug == "round-past-the-end"


@pytest.mark.parametrize(
    "evidence",
    [
        ("verdict WRONG", "check value", "shape every-second-lost"),
        ("verdict WRONG", "check value", "shape everything-twice"),
        ("verdict WRONG", "check value", "shape two-a-round-old-stride"),
        *(
            ("verdict OOB", "finding out of bounds", "line 1", "bytes 4", name, "index 4", "size 4", "store 1")
            for name in ("object in", "object partial")
        ),
    ],
    ids=lambda evidence: " ".join(evidence[-5:]),
)  # fmt: skip
def test_one_thread_is_not_told_of_other_threads(probe: Path, evidence: tuple[str, ...]) -> None:
    answer = match(probe, *evidence, "threads 1", code="while (i < n) partial[i] = in[i];")
    assert answer.slug != "none"
    assert not re.search(r"threads|lanes|blocks", answer.why)
    assert match(probe, *evidence, code="while (i < n) partial[i] = in[i];").slug == answer.slug


def test_one_thread_has_no_warps_of_which_a_sum_lacks_or_repeats_one(probe: Path) -> None:
    twice = ("verdict WRONG", "check value", "shape first-warp-twice")
    assert match(probe, *twice).slug == "first-warp-twice"
    assert match(probe, *twice, "threads 1").slug == "none"


def test_a_result_of_nothing_takes_in_no_other_element(probe: Path) -> None:
    evidence = ("verdict WRONG", "check special", "message the sum in partial[0] is NaN; it should be 0")
    assert "another one" in match(probe, *evidence).why
    nothing = match(probe, *evidence, "n 0")
    assert nothing.slug == "nan-from-nothing"
    assert "another one" not in nothing.why and "divided" in nothing.why


def test_a_declaration_that_hides_another_is_left_out_only_where_it_adds_nothing(probe: Path) -> None:
    code = "float sum = 0;\nfor (int i = 0; i < n; i++) {\n  float sum = %s;\n}\npartial[0] = sum;"
    lost = ("verdict WRONG", "check value", "shape nothing")
    assert "Leave out the declaration" in match(probe, *lost, code=code % "0.0f; sum += in[i]").why
    assert "+=" in match(probe, *lost, code=code % "in[i]").why


def test_a_short_that_overflows_is_not_told_of_products(probe: Path) -> None:
    before = (
        "verdict OOB",
        "finding out of bounds",
        "bytes 4",
        "line 1",
        "object in",
        "size 262140",
        "index -3488",
    )
    assert "product" not in match(probe, *before, code="for (short i = 0; i < n; i++) sum += in[i];").why
    assert "product" in match(probe, *before, "repair wide", code="sum += in[thread * n];").why


def test_that_nothing_was_added_is_told_beside_what_is_only_possible(probe: Path) -> None:
    answer = match(
        probe, "verdict WRONG", "check value", "shape nothing", code='printf("ch01 PASS"); partial[0] = 0.0f;'
    )
    assert answer.slug == "forged-page"
    assert answer.numbers.startswith("The result is 0 at every size")


def test_a_source_of_any_size_and_kind_does_no_harm(probe: Path) -> None:
    for code in ("(" * 100_000, "/*" * 50_000, '"' * 1001, "a" * 300_000, "\\"):
        assert match(probe, *RACE, code="\n".join(code[i : i + 900] for i in range(0, len(code), 900))).slug
