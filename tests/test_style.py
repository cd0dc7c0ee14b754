"""docs/style.md: its patterns find what they should and nothing else, and the workbook's prose keeps to them."""

from pathlib import Path

import pytest
from conftest import ROOT

from grader.authoring import style

RULES = style.read_rules(ROOT / style.PAGE)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.avoid)
def test_a_row_finds_its_phrase_and_its_replacement_is_clean(rule: style.Rule) -> None:
    assert rule.pattern.search(rule.avoid)
    assert not [other.avoid for other in RULES if other.pattern.search(rule.write)]


@pytest.mark.parametrize(
    "text",
    [
        "There is no GPU here, and there are no goals.",
        "The bound is no longer needed.",
        "Students who hand in late lose points. Who is trusted?",
        "NaN stands for not a number.",
        "It is one of the workbook's own kernels, on the machine's disk.",
        "What goes on the page is proved.",
        "Where is the race? The folder where kernels are built, which exists.",
        "It holds nothing but the class.",
        "The block's threads arrive at the barrier and continue.",
    ],
)
def test_plain_sentences_are_clean(text: str) -> None:
    assert not [rule.avoid for rule in RULES if rule.pattern.search(text)]


def found(tmp_path: Path, name: str, text: str) -> list[tuple[int, str]]:
    path = tmp_path / name
    path.write_text(text)
    return [(one.line, one.phrase) for one in style.find(path, RULES)]


def test_markdown(tmp_path: Path) -> None:
    text = "# A page\n\n```\nit goes on\n```\n\n    it goes on\n\nA sum is\nno multiple, `it goes on`.\n\n| goes on |\n"
    assert found(tmp_path, "a.md", text) == [(9, "is no"), (12, "goes on")]
    filled = "<!-- output: x -->\nit goes on\n<!-- end -->\n- it\n  goes on\n"
    assert found(tmp_path, "b.md", filled) == [(5, "goes on")]


def test_c(tmp_path: Path) -> None:
    text = (
        "// The loop goes\n"
        "// on, and\n"
        'static const char *text = "6 is "\n'
        '                          "no multiple of 4";\n'
        "/* The file\n"
        " * of now. */\n"
        "int goes_on = '\"'; // anew\n"
        "int a; // goes\n"
        "int on;\n"
    )
    expected = [(1, "goes on"), (3, "is no"), (6, "of now"), (7, "anew")]
    assert found(tmp_path, "a.c", text) == expected
    assert found(tmp_path, "a.def", text) == expected


def test_python(tmp_path: Path) -> None:
    text = (
        '"""It goes\non."""\n\n\ndef goes(on):\n    # The file\n    # of now.\n'
        '    return f"6 is {on} " "at hand" + "is " + "no multiple"\n'
    )
    assert found(tmp_path, "a.py", text) == [(1, "goes on"), (7, "of now"), (8, "at hand")]


def test_other_files(tmp_path: Path) -> None:
    assert found(tmp_path, "a.mk", "# It is\n# no file.\nall: ## make it anew\n") == [
        (1, "is no"),
        (3, "anew"),
    ]
    assert found(tmp_path, "a.html.j2", "<p>the kernel {{ at }} hand</p>\n<b>at hand</b>\n") == [
        (2, "at hand")
    ]
    path = tmp_path / "a.bin"
    path.write_bytes(b"\xff\xfe goes on")
    assert not style.find(path, RULES)


def test_a_finding_says_where_and_what_to_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.md"
    path.write_text("First.\n\nThe loop goes on.\n")
    assert style.main([str(path)]) == 1
    assert (
        capsys.readouterr().out == f'{path}:3: "goes on": not "the loop goes on" but "the loop continues"\n'
    )
    path.write_text("The loop continues.\n")
    assert style.main([str(path)]) == 0


@pytest.mark.parametrize("page", [None, "No table.\n", "| a | b | `(` |\n"])
def test_a_page_without_a_table(tmp_path: Path, page: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "style.md"
    if page:
        path.write_text(page)
    with pytest.raises(style.StyleError):
        style.read_rules(path)


def test_the_prose_of_the_workbook() -> None:
    lines = [
        f"{path}:{one.line}: {one.phrase}"
        for path in style.tracked()
        for one in style.find(ROOT / path, RULES)
    ]
    assert not lines, "\n".join(lines)
