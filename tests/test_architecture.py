"""The layers of docs/architecture.md: that the proof sees what it should, and that the code keeps to them."""

import re
import subprocess
from pathlib import Path

import pytest
from native_build import ROOT, compiler

from grader.authoring import architecture

TABLE = """
| layer | what it holds |
|---|---|
| `common/top/main.c` | the program |
| `common/top/` | what decides |
| `common/bottom/` | what is decided about |
| `grader/learner/` | commands |
| `grader/core/` | what they share |
"""
SOURCES = {
    "common/bottom/sum.h": "int sum(int a, int b);\n",
    "common/bottom/sum.c": '#include "bottom/sum.h"\nint sum(int a, int b) { return a + b; }\n',
    "common/top/judge.h": "int judge(void);\n",
    "common/top/judge.c": '#include "bottom/sum.h"\n#include "top/judge.h"\nint judge(void) { return sum(1, 2); }\n',
    "common/top/main.c": '#include "top/judge.h"\nint main(void) { return judge(); }\n',
    "grader/__init__.py": "",
    "grader/core/__init__.py": "",
    "grader/core/page.py": "WIDTH = 80\n",
    "grader/learner/__init__.py": "",
    "grader/learner/grade.py": "from ..core.page import WIDTH\n",
}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small workbook that keeps to its table."""
    for name, text in {"docs/architecture.md": TABLE, **SOURCES}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(architecture, "ROOT", tmp_path)
    return tmp_path


def told(checkout: Path) -> list[str]:
    """What the proof says of the checkout, compiled as it is now."""
    for source in sorted((checkout / "common").rglob("*.c")):
        made = checkout / "obj" / source.relative_to(checkout).with_suffix(".o")
        made.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([*compiler(), f"-I{checkout}/common", "-c", source, "-o", made], check=True)
    return architecture.violations(checkout / "obj")


def change(checkout: Path, name: str, text: str) -> None:
    path = checkout / name
    path.write_text(text + path.read_text())


def test_a_checkout_in_order_has_nothing_told_of_it(checkout: Path) -> None:
    assert told(checkout) == []


def test_a_call_upward_names_both_ends(checkout: Path) -> None:
    change(checkout, "common/bottom/sum.c", "int judge(void);\nint twice(void) { return 2 * judge(); }\n")
    up, circle = told(checkout)
    assert up.startswith(
        "common/bottom/sum.c uses judge() of common/top/judge.c, but common/top/ is above common/bottom/: "
    )
    assert "common/bottom/sum.c -> common/top/judge.c (judge()) -> common/bottom/sum.c (sum())" in circle


def test_a_variable_counts_as_a_call_does(checkout: Path) -> None:
    change(checkout, "common/top/judge.c", "int cases;\n")
    change(checkout, "common/bottom/sum.c", "extern int cases;\nint count(void) { return cases; }\n")
    assert any("common/bottom/sum.c uses cases of common/top/judge.c" in line for line in told(checkout))


def test_a_circle_within_a_layer_is_told(checkout: Path) -> None:
    (checkout / "common/bottom/mean.c").write_text(
        "int sum(int, int);\nint mean(void) { return sum(1, 1) / 2; }\n"
    )
    change(checkout, "common/bottom/sum.c", "int mean(void);\nint above(void) { return mean() + 1; }\n")
    (circle,) = told(checkout)
    assert circle.startswith("files need each other in a circle: ")
    assert "common/bottom/mean.c (mean())" in circle
    assert "common/bottom/sum.c (sum())" in circle


def test_includes_point_down_and_not_in_a_circle(checkout: Path) -> None:
    change(checkout, "common/bottom/sum.h", '#include "top/judge.h"\n')
    change(checkout, "common/top/judge.h", '#pragma once\n#include "bottom/sum.h"\n')
    lines = told(checkout)
    assert any(line.startswith("common/bottom/sum.h includes common/top/judge.h, but") for line in lines)
    assert any("circle: common/" in line and "sum.h" in line and "judge.h" in line for line in lines)


def test_imports_point_down_even_inside_functions(checkout: Path) -> None:
    change(checkout, "grader/core/page.py", "def late() -> None:\n    from grader.learner import grade\n")
    up, circle = told(checkout)
    assert up.startswith(
        "grader/core/page.py imports grader.learner.grade, but grader/learner/ is above grader/core/"
    )
    assert "grader/learner/grade.py" in circle


def test_a_folder_without_a_row_is_told(checkout: Path) -> None:
    (checkout / "common/side").mkdir()
    (checkout / "common/side/new.c").write_text("int sum(int, int);\nint new(void) { return sum(3, 4); }\n")
    (line,) = told(checkout)
    assert line == "common/side/new.c is in no layer: give its folder a row in docs/architecture.md"


def test_a_row_without_a_folder_is_told(checkout: Path) -> None:
    change(checkout, "docs/architecture.md", "| `common/gone/` | |\n")
    assert told(checkout) == ["common/gone/ has a row in docs/architecture.md, but does not exist"]


def test_nothing_compiled_is_no_proof(checkout: Path) -> None:
    with pytest.raises(architecture.ArchitectureError, match="no compiled objects"):
        architecture.violations(checkout / "nowhere")


def test_no_table_is_no_proof(checkout: Path) -> None:
    (checkout / "docs/architecture.md").write_text("# Empty\n")
    with pytest.raises(architecture.ArchitectureError, match="has no table of layers"):
        told(checkout)


# ---- This checkout -------------------------------------------------------------------------------------------


def test_the_code_keeps_to_its_layers() -> None:
    assert architecture.violations(architecture.ROOT / "build" / "obj") == []


STEP = re.compile(r"^\d+\. `([^`]+)`, (?:`(\w+)\(\)`|the row `(\w+)`): ", re.MULTILINE)


@pytest.mark.parametrize(
    ("heading", "most"), [("From PTX text to the page", 24), ("From `./ch04` to the verdict", 20)]
)
def test_a_walkthrough_names_files_and_functions_as_they_are(heading: str, most: int) -> None:
    page = (ROOT / architecture.PAGE).read_text()
    section = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    steps = STEP.findall(section)
    assert len(steps) == len(re.findall(r"^\d+\. ", section, re.MULTILINE)), "a step has another form"
    assert 10 < len(steps) <= most
    assert len({file for file, _, _ in steps}) == len(steps), "a file is entered once"
    texts = {file: (ROOT / file).read_text() for file, _, _ in steps}
    for file, function, row in steps:
        if row:
            assert re.search(rf"^\w+\({row}, ", texts[file], re.MULTILINE), f"{file} has no row {row}"
            continue
        definition = rf"^(?!\s)[^;\n]*\b{function}\([^;{{]*\{{"
        assert re.search(definition, texts[file], re.MULTILINE), f"{file} does not define {function}()"
        is_static = re.search(rf"^static [^;\n]*\b{function}\(", texts[file], re.MULTILINE)
        used = [name for name in texts if name != file and re.search(rf"\b{function}\b", texts[name])]
        if not (used or is_static or function == "main"):  # the first of a part: another file calls it
            files = [path for path in (ROOT / "common").rglob("*.c") if path != ROOT / file]
            assert any(re.search(rf"\b{function}\(", path.read_text()) for path in files), (file, function)
