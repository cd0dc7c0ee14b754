"""Receipts: written by whatever passes, handed in with the kernels, and compared with a second judgement."""

import copy
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from fake_workbook import FakeWorkbook
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.core.receipts import BrokenReceiptError, compare, parse_receipt, receipt_of
from grader.core.result import Result, parse_result

WRONG = 'result["verdict"] = "WRONG"; result["points"]["earned"] = 0; status = 1\n'
COUNTED = """\
result["counters"] = {"sum": {"n": 1024, "kernels": {"sum_shuffle": {"counts": {"shuffles": 160, "barriers": 0}}}}}
result["build"] = {"nvcc": "13.0.88"}
"""
SHA = "ab" * 32


def result(**changes: Any) -> Result:
    """What a passing ./ch04 writes, as far as a receipt looks at it."""
    document = {
        "schema": "warpbook/result/1", "chapter": "ch04", "title": "Warp shuffle", "device": {"kind": "emulator"},
        "verdict": "PASS", "points": {"earned": 10, "possible": 10}, "build": {"nvcc": "13.0.88"}, "findings": [],
        "counters": {
            "sum": {"n": 1024, "kernels": {"sum_shuffle": {"counts": {"shuffles": 160, "barriers": 0}}}}
        },
        "lines": [], "goals": [], "bandwidth": None,
    } | changes  # fmt: skip
    return parse_result(json.dumps(document).encode(), "ch04", 0.1)


def read_back(receipt: dict[str, Any]) -> dict[str, Any]:
    return parse_receipt(json.dumps(receipt).encode(), "ch04")


FORGED = [
    ("points", {"earned": float("nan"), "possible": 10}, "not JSON"),
    ("points", {"earned": float("inf"), "possible": 10}, "not JSON"),
    ("points", {"earned": 99, "possible": 10}, '"points"'),
    ("points", {"earned": True, "possible": 10}, '"points"'),
    ("points", {"earned": "10", "possible": 10}, '"points"'),
    ("points", None, '"points"'),
    ("verdict", "<b>WOW", '"verdict"'),
    ("workbook", "<b>", '"workbook"'),
    ("workbook", "the newest one", '"workbook"'),
    ("nvcc", "13.0.88; rm", '"nvcc"'),
    ("kernel_sha256", "AB" * 32, '"kernel_sha256"'),
    ("counters", [], '"counters"'),
]


@pytest.mark.parametrize(("key", "value", "words"), FORGED)
def test_a_forged_receipt_is_refused(key: str, value: Any, words: str) -> None:
    receipt = receipt_of(result(), SHA)
    assert read_back(receipt)
    with pytest.raises(BrokenReceiptError, match=words):
        read_back(receipt | {key: value})


def test_a_receipt_with_other_points_differs() -> None:
    receipt = read_back(receipt_of(result(), SHA) | {"points": {"earned": 10, "possible": 99}})
    compared = compare(receipt, result(), SHA)
    assert not compared.agrees
    assert compared.differences == ["the receipt says 10 of 99 points, judged again it is 10 of 10"]


def test_the_same_kernel_judged_again_agrees() -> None:
    receipt = read_back(receipt_of(result(), SHA))
    assert compare(receipt, result(), SHA).document() == {"agrees": True, "differences": []}


def test_what_differs_is_said_in_numbers() -> None:
    receipt = read_back(receipt_of(result(), SHA))
    assert "different kernel.cu" in compare(receipt, result(), "cd" * 32).differences[0]
    again = compare(receipt, result(verdict="RACE", points={"earned": 0, "possible": 10}), SHA)
    assert not again.agrees
    assert again.differences == [
        "the receipt says PASS, judged again it is RACE",
        "the receipt says 10 of 10 points, judged again it is 0 of 10",
    ]

    forged = copy.deepcopy(receipt)
    forged["counters"]["sum"]["kernels"]["sum_shuffle"]["shuffles"] = 5
    assert compare(forged, result(), SHA).differences == ["sum_shuffle: shuffles is 160, the receipt says 5"]
    del forged["counters"]["sum"]
    assert compare(forged, result(), SHA).differences == ["sum: the receipt counts nothing at n = 1,024"]


@pytest.mark.parametrize(("key", "words"), [("nvcc", "by nvcc 12.9"), ("workbook", "from workbook 12.9")])
def test_another_compiler_or_workbook_counts_otherwise(key: str, words: str) -> None:
    receipt = read_back(receipt_of(result(), SHA) | {key: "12.9"})
    receipt["counters"]["sum"]["kernels"]["sum_shuffle"]["shuffles"] = 5
    compared = compare(receipt, result(), SHA)
    assert compared.agrees == (key == "nvcc")  # another workbook's claim proves nothing
    assert words in compared.differences[0]
    assert "counters are not compared" in compared.differences[0]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff", "not JSON"),
        (b"[]", '"schema"'),
        (b'{"schema": "warpbook/receipt/1", "chapter": "ch05"}', '"chapter"'),
        (b'{"schema": "warpbook/receipt/1", "chapter": "ch04"}', '"workbook"'),
        (b" " * 300_000, "256 KiB"),
    ],
)
def test_what_is_no_receipt(content: bytes, words: str) -> None:
    with pytest.raises(BrokenReceiptError, match=words):
        parse_receipt(content, "ch04")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(anything, st.sampled_from(["sum", "n", "kernels", "sum_shuffle", "shuffles"]))
def test_no_receipt_breaks_the_comparison(value: Any, place: str) -> None:
    receipt = receipt_of(result(), SHA)
    at: dict[str, Any] = receipt["counters"]
    for key in ("sum", "kernels", "sum_shuffle", "shuffles"):
        if place in (key, "n") and place in at:
            break
        at = at[key]
    at[place] = value
    try:
        parsed = parse_receipt(json.dumps(receipt).encode(), "ch04")
    except BrokenReceiptError:
        return
    compared = compare(parsed, result(), SHA)
    assert compared.agrees == (value == receipt_of(result(), SHA)["counters"]["sum"].get(place, object()))
    assert all(line.isprintable() for line in compared.differences)


# ---- With the grader ----------------------------------------------------------------------------------------------


@pytest.fixture
def book(tmp_path: Path) -> FakeWorkbook:
    return FakeWorkbook(tmp_path / "book", {"ch01": COUNTED, "ch02": WRONG, "ch03": "# three\n"})


def receipts(book: FakeWorkbook) -> set[str]:
    return {path.stem for path in (book.folder / "progress/receipts").glob("*.json")}


def test_a_pass_leaves_a_receipt_and_a_failure_none(book: FakeWorkbook) -> None:
    book.run("grade")
    assert receipts(book) == {"ch01", "ch03"}
    receipt = json.loads((book.folder / "progress/receipts/ch01.json").read_text())
    assert receipt["counters"]["sum"]["kernels"]["sum_shuffle"]["shuffles"] == 160
    kernel = next((book.folder / "chapters").glob("ch01*/kernel.cu"))
    kernel.write_text(WRONG)
    book.run("grade")
    assert json.loads((book.folder / "progress/receipts/ch01.json").read_text()) == receipt


def test_a_submission_holds_kernels_and_receipts_and_is_the_same_twice(book: FakeWorkbook) -> None:
    book.run("grade")
    assert book.run("submission").returncode == 0
    path = book.folder / "build/submission.zip"
    first = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    assert names == [
        "ch01_fake/kernel.cu", "ch02_fake/kernel.cu", "ch03_fake/kernel.cu",
        "receipts/ch01.json", "receipts/ch03.json",
    ]  # fmt: skip
    book.run("submission")
    assert path.read_bytes() == first
    listed = json.loads(book.run("submission", "--json").stdout)
    assert listed["files"] == names


def test_untouched_kernels_are_not_handed_in(book: FakeWorkbook) -> None:
    for kernel in (book.folder / "chapters").glob("ch*/kernel.cu"):
        kernel.unlink()
    done = book.run("submission")
    assert done.returncode == 2
    assert "nothing to hand in" in done.stderr
    assert not (book.folder / "build/submission.zip").exists()
