"""Whether what is handed out holds a line that only a solution has."""

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


@dataclass(frozen=True)
class Leak:
    """A line of a solution in a file of the handout."""

    member: str
    line: int
    text: str
    chapter: str


@dataclass
class _Secrets:
    lines: dict[str, str]  # what only a solution says -> its chapter
    pairs: dict[tuple[str, str], str]  # two such lines in a row, commonplace ones too


def leaks(workbook: Workbook, chapters: list[Chapter], members: list[Member]) -> list[Leak]:
    """Every place in `members` with a line of any chapter's solution that is not in the skeletons."""
    secrets = _secrets(workbook, chapters)
    found = []
    for member in members:
        numbered = _significant(member.content.decode("utf-8", "replace"))
        for position, (number, text) in enumerate(numbered):
            pair = (text, numbered[position + 1][1]) if position + 1 < len(numbered) else None
            if text in secrets.lines and not member.name.startswith(_EXPERIMENTS):
                found.append(Leak(member.name, number, text, secrets.lines[text]))
            elif pair and pair in secrets.pairs:
                found.append(Leak(member.name, number, " ".join(pair), secrets.pairs[pair]))
    return found


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
    secrets = _Secrets({}, {})
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
