"""`make site`: the lessons and docs/ as one static site in build/site.

The documents are laid out under build/site-src as they lie in the checkout, so that every link between them
holds here and there; what else they link to is copied along. MkDocs does the rest (mkdocs.yml).
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from ..core.entry import guarded
from ..core.errors import MachineError
from ..core.workbook import Workbook, find_workbook, write_json

_COMMENT = re.compile(r"^<!-- [^\n]*? -->\n", re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
# The pages after the chapters in the navigation, in this order; other pages of docs/ follow by name.
_FIRST_GUIDES = ("README", "your-own-program", "sources", "benchmarks", "adding-a-chapter")


def _sources(root: Path) -> list[Path]:
    found = [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("chapters/ch*/README.md")]
    return sorted(path.relative_to(root) for path in found)


def stage(root: Path, target: Path) -> None:
    """Lays the documents out below `target`, an empty folder."""
    pages = _sources(root)
    for page in pages:
        text = (root / page).read_text("utf-8")
        copy = target / page
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(_COMMENT.sub("", text), "utf-8")
        for link in _LINK.findall(text):
            linked = (root / page.parent / link).resolve()
            if not linked.is_file() or not linked.is_relative_to(root):
                raise MachineError(f"{page} links to {link}, which is not a file of the workbook")
            name = linked.relative_to(root)
            if name not in pages:
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(linked, target / name)
    shutil.copytree(root / "docs" / "assets", target / "assets")


def navigation(root: Path) -> list[object]:
    """The pages in reading order, as mkdocs.yml's `nav`."""
    lessons = [path for path in _sources(root) if path.parts[0] == "chapters"]
    guides = [path for path in _sources(root) if path.parts[0] == "docs"]
    order = {name: i for i, name in enumerate(_FIRST_GUIDES)}
    guides.sort(key=lambda path: (order.get(path.stem, len(order)), path.stem))
    about = [path for path in _sources(root) if path.parent == Path() and path.name != "README.md"]
    return [
        {"Warpbook": "README.md"},
        {"Chapters": [str(path) for path in lessons]},
        {"Guides": [str(path) for path in guides]},
        *([{"Project": [str(path) for path in about]}] if about else []),  # a handout has none
    ]


def build(workbook: Workbook) -> Path:
    """Builds the site; returns its folder. Warnings, such as a link that leads nowhere, are errors."""
    root, source = workbook.root, workbook.build / "site-src"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    stage(root, source)
    # YAML has JSON for a subset.
    write_json(workbook.build / "mkdocs.yml", {
        "INHERIT": "../mkdocs.yml", "docs_dir": "site-src", "site_dir": "site", "nav": navigation(root),
    })  # fmt: skip
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean", "--quiet"]
    done = subprocess.run(
        [*command, "--config-file", str(workbook.build / "mkdocs.yml")],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        raise MachineError(f"the site could not be built:\n{done.stdout.strip()}")
    site = workbook.build / "site"
    for page in site.rglob("*.html"):
        page.write_text(named_parts(page.read_text("utf-8")), "utf-8")
    return site


def named_parts(html: str) -> str:
    """A page in which screen readers find a name for the search, and no table begins with a nameless heading."""
    html = re.sub(r'(<div class="md-search"[^>]* role="dialog")>', r'\1 aria-label="Search">', html)
    return re.sub(r"<th([^>]*)></th>", r"<td\1></td>", html)


def main() -> int:
    """Builds the site and says where it is."""
    try:
        folder = build(find_workbook())
    except MachineError as error:
        print(f"warpbook: {error}", file=sys.stderr)
        return error.status
    pages = len(list(folder.rglob("*.html")))
    print(
        f"{pages} pages in {folder.relative_to(find_workbook().root)}; open build/site/index.html in a browser"
    )
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
