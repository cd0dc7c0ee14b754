"""The report in headless Chromium: light and dark, on a phone and on a desk, by mouse, by keys, and without scripts."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import learner_book
import pytest
from chromium import DESK, PHONE, Watched, axe_findings, launched, missing
from conftest import in_turn
from page_tree import resolve, says
from test_report import BROKEN, LEARNERS, SOLVED, Learner, learners

from grader.learner.report.launches import offsets

__all__ = ["learners"]

if missing() and os.environ.get("CI") != "true":  # in CI nothing is skipped: the fixtures below would fail
    pytest.skip(f"needs {missing()}", allow_module_level=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    assert not missing(), f"needs {missing()}"
    with launched() as started:
        yield started


def opened(browser: Any, learner: Learner, place: str = "", **how: Any) -> Watched:
    """The report of a learner, read from disk."""
    path = Path(learner.folder) / "build" / "report" / "index.html"
    watched = Watched(browser, path.as_uri(), **({"scheme": "light", "size": DESK} | how))
    watched.page.goto(path.as_uri() + place, wait_until="load")
    return watched


def closed(watched: Watched) -> None:
    """Ends it; nothing may have gone wrong."""
    watched.context.close()
    assert not watched.troubles, "\n".join(watched.troubles)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_without_a_complaint(
    browser: Any, learners: dict[str, Learner], name: str, scheme: str
) -> None:
    for size in (PHONE, DESK):
        watched = opened(browser, learners[name], scheme=scheme, size=size)
        page = watched.page
        page.locator("[data-open-all]").first.click()
        width = page.evaluate("document.scrollingElement.scrollWidth")
        assert width <= size["width"], f"{width} wide on a screen of {size['width']}"
        assert page.locator("h1").count() == 1
        assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", background)[:3])) > 600) == (scheme == "light")
        assert page.evaluate("window.evil") is None
        closed(watched)


LEAVE_CHAPTERS = """names => {
    for (const one of document.querySelectorAll("section.chapter")) if (!names.includes(one.id)) one.remove();
}"""


@pytest.mark.parametrize(
    ("name", "scheme", "size"),
    [(BROKEN, "light", {"width": 390, "height": 800}), (SOLVED, "dark", DESK)],
    ids=["phone", "desk"],
)
def test_axe_finds_nothing(
    browser: Any,
    learners: dict[str, Learner],
    name: str,
    scheme: str,
    size: dict[str, int],
    request: pytest.FixtureRequest,
) -> None:
    """A run examines the summary and one chapter in twelve, by turns; axe needs a second for each."""
    watched = opened(browser, learners[name], scheme=scheme, size=size, bypass_csp=True)
    page = watched.page
    chapters = page.eval_on_selector_all("section.chapter", "all => all.map(one => one.id)")
    assert set(chapters) >= {"ch01", "ch20"}
    chosen = in_turn(chapters, request.config)
    assert chosen
    page.evaluate(LEAVE_CHAPTERS, chosen)
    found = axe_findings(page)
    closed(watched)
    assert not found, "\n".join(found)


STATE = """figure => ({
    parts: Object.fromEntries(["block", "warp", "iteration", "first", "last"].map(name =>
        [name, Number(figure.querySelector(`[data-part=${name}]`).textContent.replaceAll(",", ""))])),
    counts: [...figure.querySelectorAll("[data-part=counts] data")].map(one =>
        [one.getAttribute("value"), one.dataset.from, one.textContent]),
    visible: [...figure.querySelectorAll(".pattern")].filter(one => one.checkVisibility())
        .map(one => Number(one.dataset.pattern)),
    steps: JSON.parse(figure.dataset.steps),
})"""


def shown_step(figure: Any, learner: Learner) -> dict[str, Any]:
    """The event that a picture of one warp shows now; what it says is compared with the trace."""
    state = figure.evaluate(STATE)
    assert state["counts"]
    for value, source, text in state["counts"]:
        assert float(value) == resolve(learner.documents, source)
        assert says(float(value), text)
    event_at = state["counts"][0][1].rsplit("/", 1)[0]
    number = int(event_at.rsplit("/", 1)[1])
    assert event_at.startswith(state["steps"]["events"])
    event = _event(learner, event_at)
    for name in ("block", "warp", "iteration"):
        assert state["parts"][name] == event[name]
    (step,) = [step for step in state["steps"]["steps"] if step[4] == number]
    assert state["visible"] == [step[3]]
    touched = [at for at in offsets(event) if at is not None]
    size = _event(learner, event_at.split("/events/")[0])["instructions"][event["at"]]["bytes"]
    assert state["parts"]["first"] == min(touched)
    assert state["parts"]["last"] == max(touched) + size - 1
    return event


def _event(learner: Learner, pointer: str) -> dict[str, Any]:
    name, _, path = pointer.partition(":")
    at: Any = learner.documents[name]
    for part in path.split("/")[1:]:
        at = at[int(part)] if isinstance(at, list) else at[part]
    return dict(at)


def a_stepper(page: Any, chapter: str, *, warps: bool, iterations: bool) -> Any:
    """The first picture of a chapter that has more than one of those; its line is opened."""
    figures = page.locator(f"#{chapter} .stepper")
    for i in range(figures.count()):
        steps = json.loads(figures.nth(i).get_attribute("data-steps"))["steps"]
        has_warps = len({(step[0], step[1]) for step in steps}) > 1
        has_iterations = len({step[2] for step in steps if step[:2] == steps[0][:2]}) > 1
        if has_warps >= warps and has_iterations >= iterations:
            line = figures.nth(i).locator("xpath=ancestor::details[1]")
            line.locator("summary").first.click()
            return figures.nth(i)
    raise AssertionError(f"{chapter} has no such picture")


def test_buttons_and_arrow_keys_go_through_warps_and_iterations(
    browser: Any, learners: dict[str, Learner]
) -> None:
    learner = learners[SOLVED]
    watched = opened(browser, learner)
    page = watched.page
    figure = a_stepper(page, "ch03", warps=True, iterations=True)
    first = shown_step(figure, learner)
    assert (first["warp"], first["iteration"]) == (0, 0)

    figure.locator("button[data-step=iteration][data-by='1']").click()
    second = shown_step(figure, learner)
    assert (second["block"], second["warp"], second["iteration"]) == (0, 0, 1)
    figure.locator("button[data-step=warp][data-by='1']").click()
    third = shown_step(figure, learner)
    assert (third["block"], third["warp"]) != (0, 0)
    figure.locator("button[data-step=warp][data-by='-1']").click()
    assert shown_step(figure, learner)["warp"] == 0

    figure.focus()
    page.keyboard.press("ArrowLeft")
    before = shown_step(figure, learner)
    assert before["iteration"] == 0
    page.keyboard.press("ArrowLeft")  # there is none before it
    assert shown_step(figure, learner) == before
    assert (
        figure.locator("button[data-step=iteration][data-by='-1']").get_attribute("aria-disabled") == "true"
    )
    page.keyboard.press("ArrowRight")
    assert shown_step(figure, learner)["iteration"] == 1
    page.keyboard.press("ArrowDown")
    assert shown_step(figure, learner)["warp"] == third["warp"]
    assert figure.locator(".step").get_attribute("aria-live") == "polite"
    closed(watched)


def test_every_step_of_every_picture_says_what_the_trace_says(
    browser: Any, learners: dict[str, Learner]
) -> None:
    learner = learners[BROKEN]
    watched = opened(browser, learner)
    page = watched.page
    page.locator("#ch05 [data-open-all]").click()
    figures = page.locator("#ch05 .stepper")
    assert figures.count() > 4
    for i in range(figures.count()):
        figure = figures.nth(i)
        figure.focus()
        seen = set()
        while (now := json.dumps(shown_step(figure, learner))) not in seen:
            seen.add(now)
            page.keyboard.press("ArrowRight")
        assert seen
    closed(watched)


def test_the_heat_column_turns_to_another_counter(browser: Any, learners: dict[str, Learner]) -> None:
    learner = learners[BROKEN]
    watched = opened(browser, learner)
    page = watched.page
    choice = page.locator("#ch05 select[data-heat]")
    for metric in choice.evaluate("s => [...s.options].map(o => o.value)"):
        choice.select_option(metric)
        lines = page.locator("#ch05 details.line").evaluate_all(
            """lines => lines.map(line => [
                JSON.parse(line.dataset.heats),
                [...line.querySelectorAll(".amount data")].map(one =>
                    [one.getAttribute("value"), one.dataset.from, one.textContent]),
                parseFloat(line.querySelector(".bar").style.width),
            ])"""
        )
        widths = {}
        for heats, amounts, width in lines:
            assert len(amounts) == (metric in heats)
            for value, source, text in amounts:
                assert float(value) == resolve(learner.documents, source) == heats[metric][0]
                assert says(float(value), text)
                widths[float(value)] = width
        most = max(widths)
        assert all(abs(width - 100 * value / most) < 0.1 for value, width in widths.items())
    closed(watched)


def test_everything_is_reached_by_keys(browser: Any, learners: dict[str, Learner]) -> None:
    watched = opened(browser, learners[SOLVED])
    page = watched.page

    def here(what: str) -> Any:
        return page.evaluate(f"document.activeElement.{what}")

    page.keyboard.press("Tab")
    assert here("className") == "skip"
    page.keyboard.press("Enter")
    page.locator("#ch04 details.line summary").first.focus()
    name = here("parentElement.id")
    page.keyboard.press("Enter")
    assert page.locator(f"#{name}").get_attribute("open") is not None
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("ArrowDown")
    assert here("parentElement.id") != name
    page.keyboard.press("ArrowUp")
    assert here("parentElement.id") == name
    # From one element to the next through a chapter, in order.
    order = page.evaluate(
        """() => [...document.querySelectorAll('#ch04 a, #ch04 button, #ch04 select, #ch04 summary, #ch04 [tabindex]')]
            .filter(e => e.checkVisibility() && e.tabIndex >= 0).length"""
    )
    page.locator("#ch04 [tabindex], #ch04 select").first.focus()
    reached = 1
    while page.evaluate("document.activeElement.closest('#ch04') !== null"):
        page.keyboard.press("Tab")
        reached += 1
        assert reached <= order + 2
    assert reached >= order - 2
    closed(watched)


def test_a_link_to_a_line_opens_it(browser: Any, learners: dict[str, Learner]) -> None:
    watched = opened(browser, learners[BROKEN])
    page = watched.page
    link = page.locator("#ch03 .findings a").first
    name = link.get_attribute("href")
    assert page.locator(name).get_attribute("open") is None
    link.click()
    page.wait_for_selector(f"{name}[open]")
    assert page.evaluate("document.activeElement.parentElement.id") == name[1:]
    closed(watched)


def test_without_scripts_all_but_the_steps_is_there(browser: Any, learners: dict[str, Learner]) -> None:
    watched = opened(browser, learners[SOLVED], java_script_enabled=False)
    page = watched.page
    line = page.locator("#ch05 details.line:has(.stepper)").first
    line.locator("summary").first.click()
    figure = line.locator(".stepper").first
    assert figure.locator(".pattern").first.is_visible()
    assert not figure.locator("button").first.is_visible() if figure.locator("button").count() else True
    assert not page.locator("select").first.is_visible()
    assert "The heat column shows warp instructions." in page.locator("#ch05 .tools").inner_text()
    assert page.locator("#ch03 svg.tree").is_visible()
    closed(watched)


def test_a_hostile_kernel_is_harmless(browser: Any, learners: dict[str, Learner]) -> None:
    learner = learners[BROKEN]
    watched = opened(browser, learner)
    page = watched.page
    name = learner_book.HOSTILE
    shown = page.locator(f"#{name} .source code").all_inner_texts()
    assert shown[:2] == learner_book.EVIL.splitlines()
    assert page.evaluate("window.evil") is None
    assert page.locator("h1").all_inner_texts() == ["Warpbook: your report"]
    # Were such a thing on the page after all, the page's own policy would not let it run.
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=data:, onerror=\"window.evil = 2\">')"
    )
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {text: 'window.evil = 3'}))"
    )
    page.wait_for_timeout(100)
    assert page.evaluate("window.evil") is None
    watched.context.close()
    assert all("Content Security Policy" in trouble or "data:," in trouble for trouble in watched.troubles)
    assert watched.troubles


def test_it_prints_without_its_buttons(browser: Any, learners: dict[str, Learner]) -> None:
    watched = opened(browser, learners[SOLVED], scheme="dark")
    page = watched.page
    page.emulate_media(media="print")
    assert not page.locator("select").first.is_visible()
    assert not page.locator("nav").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    colours = "getComputedStyle(document.documentElement).getPropertyValue('--lane')"
    assert page.evaluate(colours) == "#d9e6ff"  # light, whatever the screen has
    closed(watched)
