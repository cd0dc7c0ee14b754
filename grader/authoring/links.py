"""The links of the Markdown files: whether every relative one leads to a file, and to a heading that it names."""

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

# [words](target), ![words](target "title"), [name]: target, and what HTML has.
_TARGETS = (
    re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)"),
    re.compile(r"^\[[^]\n]+\]:\s+(\S+)", re.MULTILINE),
    re.compile(r"\b(?:href|src)=\"([^\"]+)\""),
)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//")
_FENCED = re.compile(r"^( *(?:```+|~~~+)).*?^\1[`~]* *$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)", re.DOTALL)


def broken_links(root: Path, documents: Iterable[Path]) -> list[str]:
    """`FILE: LINK, which ...` for each link of `documents`, files below `root`, that leads nowhere."""
    found = []
    for path in documents:
        for target in links_of(path.read_text("utf-8")):
            why = _why_broken(root, path, target)
            if why:
                found.append(f"{path.relative_to(root)}: {target}, {why}")
    return found


def links_of(text: str) -> list[str]:
    """The relative links of a document, without those in its code."""
    prose = _CODE.sub("", _FENCED.sub("", text))
    targets = [target for pattern in _TARGETS for target in pattern.findall(prose)]
    return [target for target in targets if not _ELSEWHERE.match(target)]


def _why_broken(root: Path, path: Path, target: str) -> str:
    name, _, heading = target.partition("#")
    linked = (path.parent / unquote(name)).resolve() if name else path
    if not linked.is_relative_to(root):
        return "which is outside the workbook"
    if not linked.exists():
        return "which is not there"
    if heading and linked.suffix == ".md" and heading not in _headings(linked.read_text("utf-8")):
        return "which has no such heading"
    return ""


def _headings(text: str) -> set[str]:
    """The headings of a document as links name them: in lower case, with hyphens for blanks, without punctuation."""
    lines = re.findall(r"^#{1,6} +(.+?) *#*$", _FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}
