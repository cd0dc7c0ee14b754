"""The recording of `make watch` in README.md: what it says, and how it moves."""

import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from chromium import chromium, missing
from conftest import ROOT

RECORDING = ROOT / "docs/assets/watch.svg"
README = (ROOT / "README.md").read_text("utf-8")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def recording() -> ElementTree.Element:
    return ElementTree.parse(RECORDING).getroot()


def words(part: ElementTree.Element) -> str:
    """What is written in a part, row by row."""
    return " ".join(" ".join(text.itertext()) for text in part.iter(f"{SVG}text"))


def parts(recording: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    """The screens (s) or the versions of the kernel (k), in their order."""
    found = [part for part in recording.iter(f"{SVG}g") if re.fullmatch(rf"{kind}\d+", part.get("id", ""))]
    return sorted(found, key=lambda part: int(part.get("id", "")[1:]))


def test_it_is_small_and_has_nothing_that_runs_or_is_fetched(recording: ElementTree.Element) -> None:
    text = RECORDING.read_text("utf-8")
    assert RECORDING.stat().st_size <= 150_000
    tags = {part.tag.removeprefix(SVG) for part in recording.iter()}
    assert tags == {"svg", "title", "desc", "style", "g", "rect", "text"}
    assert not re.search(r"href|url\(|@import|\bon[a-z]+=", text)
    (address,) = set(re.findall(r"https?://[^\"]+", text))
    assert address == "http://www.w3.org/2000/svg"


def test_it_names_no_folder_of_a_machine() -> None:
    text = RECORDING.read_text("utf-8")
    assert not re.search(r"(?<![\w.<])/(?:home|root|tmp|work|usr|var|Users|mnt|opt)\b", text)


def test_the_kernel_is_wrong_twice_and_then_right(recording: ElementTree.Element) -> None:
    verdicts = [
        found[1]
        for screen in parts(recording, "s")
        if (found := re.search(r"\b(WRONG|PASS) \d+/10", words(screen)))
    ]
    assert verdicts == ["WRONG", "WRONG", "PASS"]
    versions = [words(part) for part in parts(recording, "k")]
    assert ["n - 1" in version for version in versions] == [False, True, False]
    assert "for" in versions[1] and "for" in versions[2] and "for" not in versions[0]


def test_its_first_page_is_that_of_the_readme(recording: ElementTree.Element) -> None:
    """Whose output another test compares with today's: if the page changes, `make recording` is due."""
    shown = README.partition("<!-- output: make ch01 && ./ch01 -->")[2].partition("<!-- end -->")[0]
    page = next(words(screen) for screen in parts(recording, "s") if "WRONG 0/10" in words(screen))
    rows = [
        row
        for row in shown.splitlines()
        if re.match(r"  (WRONG|what|check|elements|numbers|case|failed) ", row)
    ]
    assert len(rows) == 7
    for row in rows:
        assert " ".join(row.split()) in " ".join(page.split()), "run make recording"


def test_the_readme_shows_it_and_says_it_in_words(recording: ElementTree.Element) -> None:
    alternative = re.search(r"^!\[([^]]+)\]\(docs/assets/watch\.svg\)", README, re.MULTILINE)
    assert alternative and "make watch" in alternative[1]
    said = README.partition("The recording in words:")[2].partition("\n\n")[0]
    quoted = [text.replace("\n", " ") for text in re.findall(r"`([^`]+)`", said)]
    assert len(quoted) > 5
    all_words = " ".join(words(part) for part in (*parts(recording, "s"), *parts(recording, "k")))
    for text in quoted:
        assert text in all_words, f"{text} is not in the recording"


def test_each_part_has_its_time(recording: ElementTree.Element) -> None:
    """At every moment one screen and one version of the kernel are visible."""
    style = recording.findtext(f"{SVG}style") or ""
    times = {}
    for name, steps in re.findall(r"@keyframes (\w+)\{(.*)\}$", style, re.MULTILINE):
        turns = [
            (float(at), state == "visible")
            for at, state in re.findall(r"([\d.]+)%\{visibility:(\w+)\}", steps)
        ]
        times[name] = lambda moment, turns=turns: [on for at, on in turns if at <= moment][-1]
    for kind in "sk":
        names = [part.get("id", "") for part in parts(recording, kind)]
        for moment in (0, 0.1, *range(1, 100), 99.9):
            assert sum(times[name](moment) for name in names) == 1, (kind, moment)
    seconds = {float(found) for found in re.findall(r"animation:\w+ ([\d.]+)s", style)}
    assert len(seconds) == 1 and seconds.pop() < 30


@pytest.mark.skipif(bool(missing()) and os.environ.get("CI") != "true", reason=f"needs {missing()}")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_moves_unless_less_motion_is_asked_for(tmp_path: Path, scheme: str) -> None:
    """In a page as GitHub shows it, an image; the picture that does not move is one of the screens of a verdict."""
    from playwright.sync_api import sync_playwright

    (tmp_path / "page.html").write_text(f'<img src="{RECORDING.as_uri()}" alt="">', "utf-8")

    def look(page: Any, seconds: float) -> bytes:
        page.wait_for_timeout(1000 * seconds)
        return bytes(page.screenshot())

    seen = {}
    with sync_playwright() as playwright:
        for less in (False, True):
            flags = ["--no-sandbox", *(["--force-prefers-reduced-motion"] if less else [])]
            browser = playwright.chromium.launch(executable_path=chromium(), args=flags)
            context = browser.new_context(
                color_scheme=scheme, reduced_motion="null", viewport={"width": 680, "height": 620}
            )
            page = context.new_page()
            page.goto((tmp_path / "page.html").as_uri(), wait_until="load")
            seen[less] = [look(page, 0.2), look(page, 4)]
            browser.close()
    assert seen[False][0] != seen[False][1]
    assert seen[True][0] == seen[True][1]
    assert seen[True][0] not in seen[False]
