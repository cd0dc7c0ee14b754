"""The chapters' lessons as pages that need no network: lessons/chNN.html, with pictures inside and links between them.

The handout and the folder of a graded class have the same pages, so that a link of a feedback page works in both.
"""

import base64
import mimetypes
import posixpath
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from ...core.workbook import Chapter, Workbook, anchor_of
from .environment import environment

FOLDER = "lessons"


def lesson_page(chapter: str, slug: str = "") -> str:
    """The place of a lesson, or of its section, beside class.html or in a handout: "lessons/ch02.html#the-trap"."""
    return f"{FOLDER}/{chapter}.html" + (f"#{slug}" if slug else "")


def lesson_pages(workbook: Workbook, chapters: Iterable[Chapter]) -> dict[str, str]:
    """The page of each chapter, by its place; chapters without a lesson are left out."""
    chosen = list(chapters)
    readmes = {(one.folder / "README.md").as_posix(): one for one in chosen}
    pages = {}
    for place, chapter in readmes.items():
        path = workbook.root / place
        if path.is_file():
            pages[lesson_page(chapter.name)] = _page(workbook.root, place, chapter, readmes)
    return pages


def _page(root: Path, place: str, chapter: Chapter, readmes: dict[str, Chapter]) -> str:
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse((root / place).read_text("utf-8"))
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor_of(tokens[at + 1].content))
        for child in token.children or ():
            _resolve(child, root, posixpath.dirname(place), readmes)
    body = markdown.renderer.render(tokens, markdown.options, {})
    body = (
        body.replace("<pre>", '<pre tabindex="0">')
        .replace("<table>", '<div class="wide" tabindex="0"><table>')
        .replace("</table>", "</table></div>")
    )
    template = environment().get_template("lesson.html.j2")
    return template.render(title=f"Chapter {chapter.name.removeprefix('ch')}", body=Markup(body))


def _resolve(token: Token, root: Path, folder: str, readmes: dict[str, Chapter]) -> None:
    """A link leads to another lesson's page, or nowhere; a picture becomes a part of the page."""
    if token.type == "image":
        path = root / posixpath.normpath(posixpath.join(folder, unquote(str(token.attrs["src"]))))
        if path.is_file() and path.resolve().is_relative_to(root.resolve()):
            kind = mimetypes.guess_type(path.name)[0] or "image/png"
            packed = base64.b64encode(path.read_bytes()).decode("ascii")
            token.attrSet("src", f"data:{kind};base64,{packed}")
    elif token.type == "link_open":
        target, _, slug = str(token.attrs["href"]).partition("#")
        if not target or target.startswith(("http://", "https://")):
            return
        other = readmes.get(posixpath.normpath(posixpath.join(folder, unquote(target))))
        if other:
            token.attrSet("href", f"{other.name}.html" + (f"#{slug}" if slug else ""))
        else:
            del token.attrs["href"]
