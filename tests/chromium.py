"""Headless Chromium for the tests of pages."""

import importlib.util
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PHONE = {"width": 360, "height": 740}
DESK = {"width": 1366, "height": 900}


def missing(*modules: str) -> str:
    """What the browser, or else one of those Python packages, lacks here; "" for nothing."""
    for module in (*modules, "playwright"):
        if importlib.util.find_spec(module) is None:
            return f"the Python package {module} (make site installs it)"
    return "" if chromium() else "Chromium; on Debian: apt-get install chromium"


def chromium() -> str | None:
    """The program."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def launched() -> Iterator[Any]:
    """A browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


class Watched:
    """A page of the browser, and everything that it complained of or fetched from elsewhere."""

    def __init__(self, browser: Any, base: str, *, scheme: str, size: dict[str, int], **more: Any) -> None:
        self.context = browser.new_context(
            color_scheme=scheme, viewport=size, reduced_motion="reduce", **more
        )
        self.page = self.context.new_page()
        self.troubles: list[str] = []
        self.page.on("console", lambda message: self._hear(message.type, message.text))
        self.page.on("pageerror", lambda error: self._hear("error", str(error)))
        self.page.on("requestfailed", self._miss)
        self.page.on("request", lambda request: self._see(request.url, base))

    def _hear(self, kind: str, words: str) -> None:
        if kind in ("error", "warning"):
            self.troubles.append(f"{self.page.url}: {words}")

    def _miss(self, request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":  # given up because the next page was opened
            self._hear("error", f"{request.failure}: {request.url}")

    def _see(self, url: str, base: str) -> None:
        if not url.startswith((base, "data:", "blob:", "about:")):
            self.troubles.append(f"{self.page.url} fetches {url}")


def axe_findings(page: Any) -> list[str]:
    """What axe-core reports about an open page: the rule, the number of elements and the first of them."""
    script = importlib.util.find_spec("axe_playwright_python")
    assert script and script.origin, "needs the Python package axe-playwright-python (make site installs it)"
    page.evaluate((Path(script.origin).parent / "axe.min.js").read_text("utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{one['id']} ({len(one['nodes'])}): {one['nodes'][0]['html'][:200]}" for one in found]
