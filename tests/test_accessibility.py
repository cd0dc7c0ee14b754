"""axe-core on the pages of a class, in light and dark, on a desk and on a phone.

test_report_page.py and test_site.py ask it about the report and the site.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import DESK, axe_findings, launched, missing
from conftest import ROOT

from grader.classroom.views import pages
from grader.classroom.views.lessons import lesson_pages
from grader.core.workbook import Workbook

NEEDED = ("axe_playwright_python",)
if missing(*NEEDED) and os.environ.get("CI") != "true":
    pytest.skip(f"needs {missing(*NEEDED)}", allow_module_level=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as started:
        yield started


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    place = tmp_path_factory.mktemp("pages")
    document = json.loads((ROOT / "tests/data/class/class.json").read_text("utf-8"))
    workbook = Workbook(ROOT)
    made = {
        "class.html": pages.class_page(document, place),
        "integrity.html": pages.integrity_page(document, place),
    }
    made |= {
        f"{one['id']}.html": pages.student_page(document, one, place) for one in document["students"][:4]
    }
    made |= {
        Path(name).name: text for name, text in lesson_pages(workbook, workbook.select(["ch01"])).items()
    }
    for name, text in made.items():
        (place / name).write_text(text, "utf-8")
    return [place / name for name in made]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, {"width": 390, "height": 800}])
@pytest.mark.by_turns
def test_axe_finds_nothing_and_nothing_is_cut(
    browser: Any, written: list[Path], scheme: str, size: dict[str, int]
) -> None:
    context = browser.new_context(color_scheme=scheme, viewport=size, bypass_csp=True)
    page = context.new_page()
    found = {}
    for path in written:
        page.goto(path.as_uri(), wait_until="load")
        found[path.name] = axe_findings(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], path.name
    context.close()
    assert not any(found.values()), json.dumps(found, indent=1)
