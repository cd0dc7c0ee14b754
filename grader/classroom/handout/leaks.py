"""Whether what is handed out holds a part of a solution: a line, an image, or an answer that a chapter checks."""

import re
from dataclasses import dataclass
from itertools import pairwise

from ...core.distribution import Member
from ...core.skeleton import make_skeleton
from ...core.workbook import Chapter, Workbook

# A shorter line, such as `__syncthreads();` or `sum += in[i];`, is anybody's; two of them in a row are not.
_DISTINCTIVE = 24  # characters
# The lessons' experiments are complete kernels for other purposes: single lines may be the same.
_EXPERIMENTS = "docs/experiments/"


# Compiled code in any form: it can be pasted into a kernel as inline assembly.
_IMAGE = re.compile(
    rb"^\s*(?:\.visible\s+)?\.entry\s+\w+|^\s*\.target\s+sm_\d|\x7fELF|\x50\xed\x55\xba", re.MULTILINE
)


@dataclass(frozen=True)
class Leak:
    """A part of a solution in a file of the handout."""

    member: str
    line: int
    text: str
    chapter: str


@dataclass
class _Secrets:
    answers: dict[str, str]  # the numbers of an answers.h -> its chapter
    lines: dict[str, str]  # what only a solution says -> its chapter
    pairs: dict[tuple[str, str], str]  # two such lines in a row, commonplace ones too


def leaks(workbook: Workbook, chapters: list[Chapter], members: list[Member]) -> list[Leak]:
    """Every place in `members` with a line of any chapter's solution that is not in the skeletons."""
    secrets = _secrets(workbook, chapters)
    found = []
    for member in members:
        found += _whole_answers(member, secrets)
        numbered = _significant(member.content.decode("utf-8", "replace"))
        for position, (number, text) in enumerate(numbered):
            pair = (text, numbered[position + 1][1]) if position + 1 < len(numbered) else None
            if text in secrets.lines and not member.name.startswith(_EXPERIMENTS):
                found.append(Leak(member.name, number, text, secrets.lines[text]))
            elif pair and pair in secrets.pairs:
                found.append(Leak(member.name, number, " ".join(pair), secrets.pairs[pair]))
    return found


def _whole_answers(member: Member, secrets: _Secrets) -> list[Leak]:
    """Images of any kernel, and the answers that only a teacher's workbook has."""
    found = []
    if image := _IMAGE.search(member.content):
        line = member.content.count(b"\n", 0, image.end()) + 1
        found.append(Leak(member.name, line, "compiled code", "any chapter"))
    numbers = _numbers(member.content.decode("utf-8", "replace")) if secrets.answers else ""
    for answers, chapter in secrets.answers.items():
        if answers in numbers:
            found.append(Leak(member.name, 1, answers.strip(), chapter))
    return found


def _numbers(text: str) -> str:
    """Every number of a text, in order, with one blank around each."""
    return f" {' '.join(re.findall(r'[0-9]+', text))} "


def _answers(workbook: Workbook, chapter: Chapter) -> str:
    """The numbers in a chapter's answers.h; "" without one."""
    path = workbook.root / chapter.folder / "answers.h"
    if not path.is_file():
        return ""
    return _numbers(re.sub(r"//[^\n]*", "", path.read_text("utf-8")))


def _secrets(workbook: Workbook, chapters: list[Chapter]) -> _Secrets:
    given_lines: set[str] = set()
    given_pairs: set[tuple[str, str]] = set()
    sources: list[tuple[str, str, str]] = []  # chapter, solution, what the skeleton leaves out
    for chapter in workbook.chapters:
        path = chapter.solution / "kernel.cu"
        source = (workbook.root / path).read_text("utf-8")
        skeleton = make_skeleton(source, str(path))
        sources.append((chapter.name, source, "\n".join(skeleton.hidden)))
        if chapter in chapters:
            lines = [text for _, text in _significant(skeleton.text)]
            given_lines |= set(lines)
            given_pairs |= set(pairwise(lines))
    answers = {_answers(workbook, chapter): chapter.name for chapter in workbook.chapters}
    answers.pop("", None)
    secrets = _Secrets(answers, {}, {})
    for name, source, left_out in sources:
        hidden = {text for _, text in _significant(left_out)}
        for text in hidden - given_lines:
            if len(text) >= _DISTINCTIVE:
                secrets.lines[text] = name
        lines = [text for _, text in _significant(source)]
        for pair in pairwise(lines):
            if hidden.issuperset(pair) and pair not in given_pairs:
                secrets.pairs[pair] = name
    return secrets


def _significant(text: str) -> list[tuple[int, str]]:
    """The lines that say something, with their numbers; how they are spaced does not matter."""
    lines = ((number, " ".join(line.split())) for number, line in enumerate(text.splitlines(), start=1))
    return [(number, line) for number, line in lines if len(re.findall(r"\w", line)) >= 3]
