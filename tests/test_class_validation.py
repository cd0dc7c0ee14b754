"""What is believed of what comes out of a sandbox: whole, true to its schema, and about what was asked."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from classroom import RIGHT_KERNEL, Classroom

from grader.classroom.judge import stages
from grader.classroom.judge.validation import Expected, UnbelievableError, believe_record, believe_result
from grader.classroom.judgement import JudgeSettings
from grader.classroom.submissions.untrusted import printable_text
from grader.core.workbook import Workbook

Change = Callable[[dict[str, Any]], object]
SETTINGS = JudgeSettings(trust=True, secret="sixteen-characters-or-more", schedules=2, sizes=(77, 1000))


@pytest.fixture(scope="module")
def judged(built: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Expected, Path]:
    """A true result, what was asked for, and the schema."""
    room = Classroom(tmp_path_factory.mktemp("believing") / "room", Workbook(built))
    judgement = room.judge(room.kernel(RIGHT_KERNEL), settings=SETTINGS)
    assert judgement.verdict == "PASS", judgement
    assert judgement.document
    expected = Expected("ch01", stages.IMAGE, judgement.kernel_sha256, 10, SETTINGS.secret, 2, (77, 1000))
    return judgement.document, expected, built / "docs" / "result.schema.json"


def test_the_true_result_is_believed(judged: tuple[dict[str, Any], Expected, Path]) -> None:
    document, expected, schema = judged
    result = believe_result(json.dumps(document).encode(), 0, 1.5, expected, schema)
    assert (result.verdict, result.earned, result.possible, result.seconds) == ("PASS", 10, 10, 1.5)


@pytest.mark.parametrize("length", [0, 1, 2, 100, 5000, -100, -3, -2])
def test_a_truncated_result_is_not(judged: tuple[dict[str, Any], Expected, Path], length: int) -> None:
    document, expected, schema = judged
    raw = json.dumps(document).encode()
    with pytest.raises(UnbelievableError):
        believe_result(raw[:length], 0, 1, expected, schema)


@pytest.mark.parametrize("status", [1, 2, 3, 125, -9, 139])
def test_a_pass_with_another_exit_status_is_not(
    judged: tuple[dict[str, Any], Expected, Path], status: int
) -> None:
    document, expected, schema = judged
    with pytest.raises(UnbelievableError, match="ended with status"):
        believe_result(json.dumps(document).encode(), status, 1, expected, schema)


def at(document: dict[str, Any], *path: str | int) -> Any:
    place: Any = document
    for step in path:
        place = place[step]
    return place


CHANGES: dict[str, Change] = {
    "another chapter": lambda d: d.update(chapter="ch02"),
    "another schema": lambda d: d.update(schema="warpbook/result/2"),
    "no such verdict": lambda d: d.update(verdict="PERFECT"),
    "another kernel": lambda d: at(d, "build").update(source_sha256="0" * 64),
    "no build": lambda d: d.update(build=None),
    "a failed build": lambda d: at(d, "build").update(verdict="BUILD"),
    "another image": lambda d: at(d, "options").update(kernel="solutions/ch01_single_thread/kernel.ptx"),
    "the chapter's own": lambda d: at(d, "options").update(kernel=None),
    "another secret": lambda d: at(d, "options").update(secret="another-text-of-that-length"),
    "a seed": lambda d: at(d, "options").update(seed=4),
    "one schedule": lambda d: at(d, "options").update(schedule=0),
    "fewer schedules": lambda d: at(d, "options").update(schedules=0),
    "one size": lambda d: at(d, "options").update(n=0),
    "fewer sizes": lambda d: at(d, "options", "also").pop(),
    "no sizes": lambda d: at(d, "options").pop("also"),
    "against itself": lambda d: at(d, "options").update(against="build/kernel.ptx"),
    "more points": lambda d: at(d, "points").update(possible=100),
    "all points and more": lambda d: at(d, "points").update(earned=11),
    "points that are none": lambda d: at(d, "points").update(earned=float("nan")),
    "points by truth": lambda d: at(d, "points").update(earned=True),
    "no cases": lambda d: d.update(cases=[]),
    "a wrong case": lambda d: at(d, "cases", 3).update(verdict="WRONG"),
    "a case too little said": lambda d: at(d, "cases", 0).pop("verdict"),
    "something more": lambda d: d.update(remark="trust me"),
    "something less": lambda d: d.pop("goals"),
    "text for a number": lambda d: at(d, "device").update(sm_count="132"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_forged_result_is_not(judged: tuple[dict[str, Any], Expected, Path], name: str) -> None:
    true, expected, schema = judged
    document = copy.deepcopy(true)
    CHANGES[name](document)
    assert document != true or name == "points that are none"
    with pytest.raises(UnbelievableError):
        believe_result(json.dumps(document).encode(), 0, 1, expected, schema)


NUMBERS = {
    "512 digits below zero": "-" + "9" * 512,
    "400 digits": "9" * 400,
    "infinite": "1e999",
    "infinite below zero": "-1e999",
    "not a number": "NaN",
    "more than 64 bits": "9" * 21,
}


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    "path", [("times", "run_seconds"), ("points", "earned"), ("build", "ptx_arch"), ("bandwidth", "ratio")]
)
def test_a_number_that_nothing_can_hold_is_not(
    judged: tuple[dict[str, Any], Expected, Path], path: tuple[str | int, ...], number: str
) -> None:
    """A judge that was taken over may write JSON with values that crash a program that computes with them."""
    true, expected, schema = judged
    document = copy.deepcopy(true)
    *folders, name = path
    assert name in at(document, *folders)
    at(document, *folders)[name] = "here"
    raw = json.dumps(document).replace('"here"', NUMBERS[number]).encode()
    with pytest.raises(UnbelievableError):
        believe_result(raw, 0, 1, expected, schema)


@pytest.mark.parametrize("text", ["\ud800", "\udc00\ud800", "a\udfffb"])
@pytest.mark.parametrize("path", [("message",), ("title",), ("cases", 0, "task")])
def test_half_a_character_is_not(
    judged: tuple[dict[str, Any], Expected, Path], path: tuple[str | int, ...], text: str
) -> None:
    """It is valid in JSON but not in a file."""
    true, expected, schema = judged
    document = copy.deepcopy(true)
    *folders, name = path
    at(document, *folders)[name] = text
    with pytest.raises(UnbelievableError, match="half a character"):
        believe_result(json.dumps(document).encode(), 0, 1, expected, schema)


def test_a_result_of_52_megabytes_is_not_even_read(judged: tuple[dict[str, Any], Expected, Path]) -> None:
    true, expected, schema = judged
    raw = json.dumps(true | {"message": "x" * 52_000_000}).encode()
    with pytest.raises(UnbelievableError, match=r"it has 52,\d\d\d,\d\d\d bytes"):
        believe_result(raw, 0, 1, expected, schema)
    with pytest.raises(UnbelievableError, match=r"its record has 52,\d\d\d,\d\d\d bytes"):
        believe_record(raw, 0, source="kernel.cu", source_sha256="a" * 64, ptx_sha256="b" * 64)


def test_every_text_of_a_result_can_be_shown(judged: tuple[dict[str, Any], Expected, Path]) -> None:
    """Names of files are their author's, by #line, and are shown on terminals and pages of all kinds."""
    true, expected, schema = judged
    document = copy.deepcopy(true)
    at(document, "lines", 0)["file"] = "\x1b]0;x\x07\u202e\x9b2J.cu"
    document["printed"] = "a\tb\n\x1b[2J"
    believed = believe_result(json.dumps(document).encode(), 0, 1, expected, schema).document
    assert believed["lines"][0]["file"] == "\\x1b]0;x\\x07\\u202e\\x9b2J.cu"
    assert believed["printed"] == "a\tb\n\\x1b[2J"
    del believed["lines"], believed["printed"], document["lines"], document["printed"]
    assert believed == document


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"1" * 100_000,
        b'"PASS"',
        b"null",
        b"\xff\xfe{}",
        b"{} {}",
        b'{"schema": "warpbook/result/1"}',
        b'{"schema": "warpbook/build/1", "verdict": "PASS"}',
    ],
    ids=range(9),
)
def test_what_is_no_document_is_not(judged: tuple[dict[str, Any], Expected, Path], raw: bytes) -> None:
    _, expected, schema = judged
    with pytest.raises(UnbelievableError):
        believe_result(raw, 0, 1, expected, schema)
    with pytest.raises(UnbelievableError):
        believe_record(raw, 0, source="kernel.cu", source_sha256="a" * 64, ptx_sha256="b" * 64)


# ---- The record of the compile stage -------------------------------------------------------------------------

KERNEL = {
    "name": "add", "line": 1, "registers": 12, "stack_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0,
    "shared_bytes": 0, "constant_bytes": 8, "barriers": 0,
}  # fmt: skip
RECORD = {
    "schema": "warpbook/build/1", "ok": True, "verdict": "PASS", "source": "/etc/passwd", "source_sha256": "a" * 64,
    "header_sha256": "c" * 64, "nvcc_version": "13.0.88", "compiler": "/tmp/mine", "options": "-O0", "ptx_arch": 80,
    "is_self_contained": True, "sass_arch": 90, "seconds": 0.25, "ptx_sha256": "f" * 64, "cubin_sha256": "f" * 64,
    "kernels": [KERNEL], "message": "", "log": "",
}  # fmt: skip


def believe(record: dict[str, Any], status: int = 0, ptx: str | None = "b" * 64) -> dict[str, Any]:
    raw = json.dumps(record).encode()
    return believe_record(raw, status, source="kernel.cu", source_sha256="a" * 64, ptx_sha256=ptx)


def test_of_a_record_only_what_a_compiler_knows_is_taken() -> None:
    believed = believe(RECORD | {"message": "\x1b[31mred\x1b[0m\n\u202eleft", "extra": "more"})
    assert believed["source"] == "kernel.cu"
    assert believed["ptx_sha256"] == "b" * 64
    assert (believed["cubin_sha256"], believed["is_self_contained"]) == (None, False)
    assert believed["kernels"] == [KERNEL]
    assert believed["message"] == "\\x1b[31mred\\x1b[0m\n\\u202eleft"
    assert "extra" not in believed


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"verdict": "PASS"}, 1),
        ({"verdict": "PASS"}, 3),
        ({"verdict": "BUILD"}, 0),
        ({"verdict": "SLOW"}, 0),
        ({"verdict": ["PASS"]}, 0),
        ({"source_sha256": "0" * 64}, 0),
        ({"source_sha256": ""}, 0),
        ({"kernels": None}, 0),
        ({"kernels": [{"name": 5}]}, 0),
        ({"kernels": [KERNEL | {"registers": -5}]}, 0),
        ({"kernels": [KERNEL | {"registers": 1e9}]}, 0),
        ({"kernels": [KERNEL | {"registers": 1 << 40}]}, 0),
        ({"kernels": [KERNEL | {"registers": True}]}, 0),
        ({"ptx_arch": "80"}, 0),
    ],
)
def test_a_forged_record_is_refused(change: dict[str, Any], status: int) -> None:
    with pytest.raises(UnbelievableError):
        believe(RECORD | change, status)


def test_no_number_of_kernels_makes_a_record_unbelievable() -> None:
    """A submission chooses how many there are: the judge refuses further ones, and the machine is not to blame."""
    assert believe(RECORD | {"kernels": [KERNEL] * 1000})["kernels"] == [KERNEL] * 256


def test_a_pass_without_an_image_is_refused() -> None:
    with pytest.raises(UnbelievableError, match="made no PTX"):
        believe(RECORD, 0, None)


def test_no_image_goes_with_a_failed_build() -> None:
    assert believe(RECORD | {"verdict": "RESOURCE"}, 1)["ptx_sha256"] is None


def test_texts_are_short_and_printable_text() -> None:
    assert printable_text("a\tb\r\nc\0\x9b\u2028d") == "a\\tb\\r\nc\\x00\\x9b\\u2028d"
    assert len(printable_text("x" * 10_000_000)) == 64 * 1024
    assert printable_text("\udcff") == "\\udcff"
