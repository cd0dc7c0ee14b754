"""The site, built and opened in headless Chromium: every page, light and dark, on a phone and on a desk."""

import functools
import http.server
import json
import os
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import DESK, PHONE, Watched, axe_findings, launched, missing
from conftest import ROOT, in_turn

from grader.authoring import site
from grader.core.workbook import Workbook

LESSONS = sorted(path.parent.name for path in (ROOT / "chapters").glob("ch*/README.md"))


SITE = ("mkdocs", "material", "axe_playwright_python")  # what it is built and examined with

if (
    missing(*SITE) and os.environ.get("CI") != "true"
):  # in CI nothing is skipped: the fixtures below would fail
    pytest.skip(f"needs {missing(*SITE)}", allow_module_level=True)


@pytest.fixture(scope="module")
def built_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built from the current files in a separate folder."""
    assert not missing(*SITE), f"needs {missing(*SITE)}"
    workbook = Workbook(ROOT)
    workbook.build = tmp_path_factory.mktemp("site")
    shutil.copy(ROOT / "mkdocs.yml", workbook.build.parent / "mkdocs.yml")
    return site.build(workbook)


@pytest.fixture(scope="module")
def pages(built_site: Path) -> list[str]:
    return sorted(str(path.relative_to(built_site)) for path in built_site.rglob("*.html"))


@pytest.fixture(scope="module")
def address(built_site: Path) -> Iterator[str]:
    """The site behind a server on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(built_site))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as started:
        yield started


def test_every_lesson_and_guide_is_a_page(pages: list[str]) -> None:
    for lesson in LESSONS:
        assert f"chapters/{lesson}/index.html" in pages
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        name = "index" if page.stem == "README" else page.stem
        assert str((page.parent / name).relative_to(ROOT).with_suffix(".html")) in pages


def test_a_list_that_output_interrupts_continues_with_its_number(built_site: Path) -> None:
    """As on the first page, where the output of the second step comes before the third."""
    numbered = re.findall(r"^(\d+)\. ", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert numbered == ["1", "2", "3", "4", "5"]
    assert '<ol start="3">' in (built_site / "index.html").read_text("utf-8")


@pytest.mark.by_turns
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_every_page_opens_without_a_complaint(
    browser: Any, address: str, pages: list[str], scheme: str, size: dict[str, int]
) -> None:
    watched = Watched(browser, address, scheme=scheme, size=size)
    page = watched.page
    backgrounds = set()
    for name in pages:
        page.goto(address + name, wait_until="load")
        width = page.evaluate("document.scrollingElement.scrollWidth")
        assert width <= size["width"], f"{name} is {width} wide on a screen of {size['width']}"
        assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)"), name
        assert page.locator("h1").count() == 1, name
        backgrounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        # What the Markdown of one renderer makes a list and that of another does not, or a marker left over.
        text = page.locator("article").inner_text()
        for code in page.locator("article pre").all_inner_texts():
            text = text.replace(code, "")
        assert not re.search(r"^(- |\d+\. \w.*\n- |\| )", text, re.MULTILINE), f"{name}: {text[:200]}"
        assert "<!--" not in text, name
        assert "```" not in text, name
    watched.context.close()
    assert not watched.troubles, "\n".join(watched.troubles)
    (background,) = backgrounds
    brightness = sum(map(int, re.findall(r"\d+", background)[:3]))
    assert (brightness > 600) == (scheme == "light"), background


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", {"width": 390, "height": 800}), ("dark", DESK)], ids=["phone", "desk"]
)
def test_axe_finds_nothing(
    browser: Any,
    address: str,
    pages: list[str],
    scheme: str,
    size: dict[str, int],
    request: pytest.FixtureRequest,
) -> None:
    """A run examines one page in twelve, by turns."""
    context = browser.new_context(color_scheme=scheme, viewport=size)
    page = context.new_page()
    found = {}
    chosen = in_turn(pages, request.config)
    for name in chosen:
        page.goto(address + name, wait_until="load")
        found[name] = axe_findings(page)
    context.close()
    assert chosen
    assert not any(found.values()), json.dumps({name: said for name, said in found.items() if said}, indent=1)


def test_answers_are_hidden_until_asked_for(browser: Any, address: str) -> None:
    watched = Watched(browser, address, scheme="light", size=DESK)
    watched.page.goto(f"{address}chapters/{LESSONS[0]}/index.html")
    answer = watched.page.locator("details").first
    body = answer.locator("p").last
    assert not body.is_visible()
    answer.locator("summary").click()
    assert body.is_visible()
    watched.context.close()
    assert not watched.troubles


@pytest.mark.parametrize("how", ["served", "from disk"])
def test_search_finds_a_lesson(browser: Any, address: str, built_site: Path, how: str) -> None:
    base = address if how == "served" else built_site.as_uri() + "/"
    watched = Watched(browser, base, scheme="light", size=DESK)
    page = watched.page
    page.goto(base + "index.html")
    page.locator("input[data-md-component=search-query]").click()
    page.keyboard.type("shuffle")
    result = page.locator(".md-search-result__link").first
    result.wait_for(timeout=20_000)
    assert "shuffle" in result.inner_text().lower()
    watched.context.close()
    assert not watched.troubles, "\n".join(watched.troubles)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_follow_the_colours_of_the_page(browser: Any, address: str, scheme: str) -> None:
    """The paper of a picture is light on a light page and dark on a dark one."""
    watched = Watched(browser, address, scheme=scheme, size=DESK)
    page = watched.page
    page.goto(f"{address}chapters/ch04_warp_shuffle/index.html", wait_until="load")
    colour = page.evaluate(
        """() => {
            const image = document.querySelector("article img");
            const canvas = document.createElement("canvas");
            canvas.width = canvas.height = 40;
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            return [...context.getImageData(20, 5, 1, 1).data];
        }"""
    )
    watched.context.close()
    assert not watched.troubles
    assert (sum(colour[:3]) > 600) == (scheme == "light"), colour
