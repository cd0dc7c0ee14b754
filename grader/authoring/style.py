"""Find the constructions that docs/style.md advises against: `make check-style`, a part of `make check`.

The table in docs/style.md is the only list: each row has a regular expression, a phrase that it finds, and what to
write instead. The check reads the prose of every tracked file: Markdown, comments, docstrings, string literals, help
texts, templates. Lessons, notes, test kernels and recorded data are not read, and neither is code in Markdown, between
backquotes, or between markers that a command fills.

    python3 -m grader.authoring.style [FILE ...]         all tracked files, or these
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..core.entry import guarded

ROOT = Path(__file__).resolve().parents[2]
PAGE = Path("docs/style.md")

# The page itself shows what to avoid; lessons and notes are edited by chapter; the rest is data that a test reads.
_UNREAD = re.compile(
    r"docs/style\.md|tests/test_style\.py|LICENSE|CODE_OF_CONDUCT\.md|chapters/[^/]+/README\.md|solutions/[^/]+/notes\.md"
    r"|tests/(wrong|right|kernels|data|class/hostile|fuzz/(corpus|crashes))/.*|requirements/.*|bench/records/.*"
    r"|docs/assets/.*|.*\.(svg|csv|npz|png|lock|ptx)"
)


class StyleError(Exception):
    """The check cannot be made: no table, or a row that is not one. The text says what to do."""


# ---- The table -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """One row of the table."""

    avoid: str  # a phrase that the pattern finds
    write: str  # what to write instead
    pattern: re.Pattern[str]


def read_rules(page: Path) -> list[Rule]:
    """The rows of the page's table of patterns, in order."""
    if not page.is_file():
        raise StyleError(f"{page} is missing: its table lists what to avoid")
    rules: list[Rule] = []
    for line in page.read_text("utf-8").splitlines():
        cells = [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 3 and re.fullmatch(r"`.+`", cells[2]):
            try:
                pattern = re.compile(cells[2].strip("`"), re.IGNORECASE | re.MULTILINE)
            except re.error as error:
                raise StyleError(f"{page}: {cells[2]} is not a regular expression: {error}") from None
            rules.append(Rule(cells[0], cells[1], pattern))
    if not rules:
        raise StyleError(
            f"{page} has no table of patterns: rows of a phrase, its replacement and a `pattern`"
        )
    return rules


# ---- The prose of a file ----------------------------------------------------------------------------------------


@dataclass
class Passage:
    """Text that is read as a whole, such as a paragraph, and where its pieces come from."""

    text: str = ""
    starts: list[int] = field(default_factory=list)  # offsets at which a line begins
    lines: list[int] = field(default_factory=list)  # the number of that line in the file

    def add(self, piece: str, line: int) -> None:
        """Append text from one line, after a space."""
        self.text += " " if self.text else ""
        self.starts.append(len(self.text))
        self.lines.append(line)
        self.text += piece.strip()

    def line_at(self, offset: int) -> int:
        """The line of the file that the character at `offset` is on."""
        return self.lines[max(bisect_right(self.starts, offset) - 1, 0)]


def _joined(pieces: Iterable[tuple[int, str]]) -> Iterator[Passage]:
    """Pieces of neighbouring lines as one passage; an empty piece ends it."""
    passage, last = Passage(), 0
    for line, piece in pieces:
        if not piece.strip() or line > last + 1:
            if passage.text:
                yield passage
            passage = Passage()
        last = line
        if piece.strip():
            passage.add(piece, line)
    if passage.text:
        yield passage


def _markdown(text: str) -> Iterator[Passage]:
    """Paragraphs, items and cells; no code, and nothing between the markers that a command fills."""

    def pieces() -> Iterator[tuple[int, str]]:
        fenced = filled = False
        for number, line in enumerate(text.splitlines(), 1):
            if line.startswith("```"):
                fenced = not fenced
            elif re.match(r"<!-- \w+:", line):
                filled = True
            elif line.startswith("<!-- end"):
                filled = False
            elif fenced or filled or line.startswith(("    ", "<!--", "![")):
                yield number, ""
            elif line.startswith(("|", "#")) or re.match(r"\s*([-*]|\d+\.) ", line):
                yield number, ""
                yield number, line
                if line.startswith(("|", "#")):
                    yield number, ""
            else:
                yield number, line

    return _joined(pieces())


_C_TOKEN = re.compile(
    r"""(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)|(?P<raw>R"(?P<mark>\w*)\(.*?\)(?P=mark)")"""
    r"""|(?P<string>"(?:\\.|[^"\\\n])*")|(?P<char>'(?:\\.|[^'\\\n])+')""",
    re.DOTALL,
)


def _c(text: str) -> Iterator[Passage]:
    """Comments and strings of C, CUDA, JavaScript; adjacent ones are read together."""
    passage, kind, end = Passage(), "", 0
    for token in _C_TOKEN.finditer(text):
        if token.lastgroup == "char":
            continue
        between, starts = text[end : token.start()], (token.lastgroup or "")
        if passage.text and (starts != kind or between.strip() or between.count("\n") > 1):
            yield passage
            passage = Passage()
        line = text.count("\n", 0, token.start()) + 1
        body = token.group().strip('"') if starts == "string" else token.group().removeprefix("R")
        for offset, piece in enumerate(
            body.replace(r"\n", "\n").split("\n") if starts == "block" else [body]
        ):
            passage.add(re.sub(r"^\s*(//+|/?\*+/?)|\*/$", "", piece).replace(r"\n", "\n"), line + offset)
        kind, end = starts, token.end()
    if passage.text:
        yield passage


_TEXTS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1), getattr(tokenize, "FSTRING_START", -1)}
_BETWEEN = {tokenize.NL, tokenize.COMMENT, getattr(tokenize, "FSTRING_END", -1)}


def _python(text: str) -> Iterator[Passage]:
    """Comments and strings of Python; adjacent ones are read together."""
    comments: list[tuple[int, str]] = []
    strings = Passage()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.append((token.start[0], token.string.lstrip("#")))
        if token.type in _TEXTS:
            body = re.sub(r"^\w{0,2}(\"{3}|'{3}|\"|')|(\"{3}|'{3}|\"|')$", "", token.string)
            for offset, piece in enumerate(body.split("\n")):
                if not piece.strip() and strings.text:
                    yield strings
                    strings = Passage()
                strings.add(piece.replace(r"\n", "\n"), token.start[0] + offset)
        elif token.type not in _BETWEEN and strings.text:
            yield strings
            strings = Passage()
    yield from _joined(comments)


def _lines(text: str) -> Iterator[Passage]:
    """Any other text: make, shell, TOML, templates. Tags and expressions of templates are left out."""

    def pieces() -> Iterator[tuple[int, str]]:
        for number, line in enumerate(text.splitlines(), 1):
            bare = re.sub(r"<[^>]*>|\{[{%#].*?[}%#]\}", " ", line)
            if line.lstrip().startswith("#"):
                yield number, line.lstrip().lstrip("#")
            else:
                yield number, ""
                yield number, bare
                yield number, ""

    return _joined(pieces())


_READERS = {
    **dict.fromkeys((".md",), _markdown),
    **dict.fromkeys((".c", ".h", ".cu", ".cuh", ".def", ".js", ".cl"), _c),
    **dict.fromkeys((".py",), _python),
}


def passages(path: Path) -> Iterator[Passage]:
    """The prose of one file; nothing of a file that is not text."""
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        return iter(())
    return _READERS.get(path.suffix, _lines)(text)


# ---- What is found -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """A phrase to change."""

    line: int
    phrase: str
    rule: Rule


def _blanked(text: str) -> str:
    """The text with code between backquotes replaced by as many letters."""
    return re.sub(r"`[^`]*`", lambda code: "`" + "x" * (len(code.group()) - 2) + "`", text)


def find(path: Path, rules: list[Rule]) -> list[Found]:
    """What the rules find in one file, by line."""
    found = set()
    for passage in passages(path):
        text = _blanked(passage.text)
        for rule in rules:
            for match in rule.pattern.finditer(text):
                start = match.start() + len(match.group()) - len(match.group().lstrip(" .:;?!"))
                found.add(Found(passage.line_at(start), match.group().strip(" .:;?!"), rule))
    return sorted(found, key=lambda one: (one.line, one.phrase))


def tracked() -> list[Path]:
    """The files of the checkout that are, or would be, committed, and that the check reads."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.split("\0") if name and not _UNREAD.fullmatch(name)]
    return [Path(name) for name in names if (ROOT / name).is_file()]


def main(arguments: list[str]) -> int:
    """Print file:line, the phrase and what to write. 0: nothing found; 1: something; 3: the check cannot be made."""
    try:
        rules = read_rules(ROOT / PAGE)
        files = [Path(name) for name in arguments] or tracked()
    except (StyleError, subprocess.CalledProcessError, OSError) as error:
        print(f"warpbook: {error}", file=sys.stderr)
        return 3
    count = 0
    for path in files:
        for one in find(ROOT / path, rules):
            print(f'{path}:{one.line}: "{one.phrase}": not "{one.rule.avoid}" but "{one.rule.write}"')
            count += 1
    if count:
        print(f"{count} phrases to change; {PAGE} describes the style", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:])))
