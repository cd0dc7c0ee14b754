"""The pages of a class in headless Chromium: sorted and filtered, on a phone and on a desk, light, dark and printed."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import DESK, Watched, launched, missing
from conftest import ROOT

from grader.classroom.views import pages

if missing() and os.environ.get("CI") != "true":  # in CI nothing is skipped: the fixtures below would fail
    pytest.skip(f"needs {missing()}", allow_module_level=True)

NARROW = {"width": 390, "height": 800}
STUDENTS = 500
CHAPTERS = [f"ch{number:02}" for number in range(1, 15)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    assert not missing(), f"needs {missing()}"
    with launched() as started:
        yield started


def made() -> dict[str, Any]:
    """A class of 500 with 14 chapters, without their results."""
    document = json.loads((ROOT / "tests" / "data" / "class" / "class.json").read_text("utf-8"))
    few, first = document["students"], document["course"]["chapters"][0]
    document["course"]["chapters"] = [first | {"chapter": name, "title": "A chapter"} for name in CHAPTERS]
    document["students"] = []
    for number in range(STUDENTS):
        one = few[number % len(few)]
        bare = [chapter | {"result": None} for chapter in one["chapters"]]
        chapters = [bare[at % 2] | {"chapter": name} for at, name in enumerate(CHAPTERS)]
        who = {"id": f"s{number:03}", "name": f"Student {number}", "section": "AB"[number % 2]}
        document["students"].append(one | who | {"chapters": chapters})
    return document


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("class")
    (place / "class.html").write_text(pages.class_page(made(), place), "utf-8")
    return place


def opened(browser: Any, path: Path, **how: Any) -> Watched:
    watched = Watched(browser, path.as_uri(), **({"scheme": "light", "size": DESK} | how))
    watched.page.goto(path.as_uri(), wait_until="load")
    return watched


def closed(watched: Watched) -> None:
    watched.context.close()
    assert not watched.troubles, "\n".join(watched.troubles)


def shown(page: Any) -> list[str]:
    return page.eval_on_selector_all(
        "#students tbody tr", "rows => rows.filter(r => !r.hidden).map(r => r.cells[0].textContent)"
    )


def test_the_table_is_sorted_and_filtered(browser: Any, folder: Path) -> None:
    watched = opened(browser, folder / "class.html")
    page = watched.page
    assert len(shown(page)) == STUDENTS and page.inner_text("#count") == "500 of 500"
    page.click("#students th:nth-child(3) button")
    points = "rows => rows.map(r => Number(r.cells[2].dataset.value))"
    ascending = page.eval_on_selector_all("#students tbody tr", points)
    assert ascending == sorted(ascending) and ascending[0] == -1 and ascending[-1] == 50
    assert page.get_attribute("#students th:nth-child(3)", "aria-sort") == "ascending"
    page.click("#students th:nth-child(3) button")
    assert page.eval_on_selector_all("#students tbody tr", points) == sorted(ascending, reverse=True)
    page.select_option("#section", "A")
    assert len(shown(page)) == STUDENTS // 2
    page.select_option("#state", "missing")
    absent = shown(page)
    assert absent and all(int(name.split()[1]) % 7 == 2 for name in absent)
    page.fill("#search", "student 2")
    assert shown(page) and all("2" in name for name in shown(page))
    page.fill("#search", "nobody at all")
    assert shown(page) == [] and page.inner_text("#count") == "0 of 500"
    assert page.is_visible("#search")
    page.emulate_media(media="print")
    assert not page.is_visible("#search")
    closed(watched)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, NARROW], ids=["desk", "phone"])
def test_nothing_sticks_out(browser: Any, folder: Path, scheme: str, size: dict[str, int]) -> None:
    watched = opened(browser, folder / "class.html", scheme=scheme, size=size)
    page = watched.page
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= size["width"]
    first = page.eval_on_selector("#students tbody td", "cell => cell.getBoundingClientRect().width")
    assert first <= size["width"] / 2
    page.eval_on_selector(".wide", "box => box.scrollLeft = 9999")
    left = page.eval_on_selector("#students tbody td", "cell => cell.getBoundingClientRect().left")
    assert left >= 0, "the names stay in sight"
    closed(watched)


def test_five_hundred_students_open_quickly(browser: Any, folder: Path) -> None:
    """The processor time of the page's main thread, which a busy machine does not lengthen."""
    watched = opened(browser, folder / "class.html")
    session = watched.context.new_cdp_session(watched.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    watched.page.reload(wait_until="load")
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    assert metrics["TaskDuration"] < 2, metrics
    closed(watched)


@pytest.mark.parametrize("name", ["ada", "blaise", "dorothy", "grace"])
def test_feedback_prints_on_two_pages(browser: Any, tmp_path: Path, name: str) -> None:
    document = json.loads((ROOT / "tests" / "data" / "class" / "class.json").read_text("utf-8"))
    first = document["course"]["chapters"][0]
    document["course"]["chapters"] = [first | {"chapter": one, "title": "A chapter"} for one in CHAPTERS]
    student = next(one for one in document["students"] if one["id"] == name)
    student["chapters"] = [student["chapters"][1] | {"chapter": one} for one in CHAPTERS]
    path = tmp_path / "page.html"
    path.write_text(pages.student_page(document, student, tmp_path), "utf-8")
    watched = opened(browser, path)
    printed = watched.page.pdf(format="A4")
    assert 1 <= printed.count(b"/Type /Page\n") <= 2
    closed(watched)
