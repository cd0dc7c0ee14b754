"""What comes out of a sandbox is as hostile as what went in: what of it is believed, and what is not."""

import functools
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.errors import MachineError
from ...core.result import BrokenResultError, Result, parse_result
from ..submissions.untrusted import printable, printable_text

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

_BUILD = "warpbook/build/1"
_STATUS = {"PASS": 0, "BUILD": 1, "BUILD_TIMEOUT": 1, "RESOURCE": 1, "INFRA": 3}
_NUMBERS = (
    "line", "registers", "stack_bytes", "spill_store_bytes", "spill_load_bytes", "shared_bytes", "constant_bytes",
    "barriers",
)  # fmt: skip
_MOST_KERNELS = 256  # that are kept; the judge refuses an image with a further one
MOST_RECORD = 2 << 20  # bytes of the compile step's record, and of the judge's result: believing one takes
MOST_RESULT = 4 << 20  # time and memory of the grader's own, and true ones have some ten thousand
_SHA256 = re.compile(r"[0-9a-f]{64}")


class UnbelievableError(Exception):
    """A record or result that is not what the program in the sandbox would have written; the text says why."""


@dataclass(frozen=True)
class Expected:
    """What was asked for, which a result must say again."""

    chapter: str
    kernel: str  # the path of the image, as it was given
    kernel_sha256: str  # of kernel.cu
    possible: float | None  # points; None where they are not known
    secret: str | None
    schedules: int | None
    also: tuple[int, ...]  # further sizes


def believe_record(
    raw: bytes, status: int, *, source: str, source_sha256: str, ptx_sha256: str | None
) -> dict[str, Any]:
    """The compile step's build.json, rewritten with everything that is known outside the sandbox.

    The compiler's own are the verdict, its words, and what ptxas counted. Raises UnbelievableError.
    """
    record = _load(raw)
    if record.get("schema") != _BUILD:
        raise UnbelievableError(f'its record has no "schema": "{_BUILD}"')
    verdict = record.get("verdict")
    if not isinstance(verdict, str) or _STATUS.get(verdict) != status:
        raise UnbelievableError(f"it says {verdict!r:.40} but ended with status {status}")
    if verdict == "PASS" and not ptx_sha256:
        raise UnbelievableError("it says PASS but made no PTX")
    unread = ("",) if verdict in ("BUILD", "INFRA") else ()  # a file that is not text is not hashed
    if record.get("source_sha256") not in (source_sha256, *unread):
        raise UnbelievableError("it is about another kernel.cu")
    kernels = record.get("kernels")
    if not isinstance(kernels, list):
        raise UnbelievableError("its list of kernels makes no sense")
    header = record.get("header_sha256")
    versions = {
        name: version
        if isinstance(version := record.get(name), str) and re.fullmatch(r"[0-9.]{1,63}", version)
        else ""
        for name in ("nvcc_version", "clang_version")
    }
    return {
        "schema": _BUILD,
        "ok": verdict == "PASS",
        "verdict": verdict,
        "source": source,
        "source_sha256": source_sha256,
        "header_sha256": header if isinstance(header, str) and _SHA256.fullmatch(header) else "",
        **versions,
        "registers_estimated": record.get("registers_estimated") is True,
        "compiler": "in the sandbox",
        "options": "",
        "is_self_contained": False,
        "ptx_arch": _whole(record.get("ptx_arch")),
        "sass_arch": _whole(record.get("sass_arch")),
        "seconds": _seconds(record.get("seconds")),
        "ptx_sha256": ptx_sha256 if verdict == "PASS" else None,
        "cubin_sha256": None,
        "kernels": [_kernel(kernel) for kernel in kernels[:_MOST_KERNELS]],
        "message": printable_text(str(record.get("message", ""))),
        "log": printable_text(str(record.get("log", ""))),
    }


def believe_result(raw: bytes, status: int, seconds: float, expected: Expected, schema: Path) -> Result:
    """The driver's result, if it is complete and about the request. Raises UnbelievableError."""
    if len(raw) > MOST_RESULT:
        raise UnbelievableError(f"it has {len(raw):,} bytes")
    try:
        result = parse_result(raw, expected.chapter, seconds)
        document = result.document
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except BrokenResultError as error:
        raise UnbelievableError(str(error)) from None
    except UnicodeEncodeError:
        raise UnbelievableError("it has half a character in a text, which nothing can write") from None
    for problem in _validator(schema).iter_errors(document):
        place = "/".join(map(str, problem.absolute_path)) or "it"
        raise UnbelievableError(f"{place}: {problem.message[:200]}")
    if status != {"PASS": 0, "INFRA": 3}.get(result.verdict, 1):
        raise UnbelievableError(f"it says {result.verdict} but ended with status {status}")
    check_asked(result, expected)
    return replace(result, message=printable_text(result.message), document=_harmless(document))


def check_asked(result: Result, expected: Expected) -> None:
    """Raise UnbelievableError where a result is not about what was asked for."""
    document = result.document
    try:
        _compare_with_asked(result, document, expected)
    except (KeyError, TypeError, AttributeError):
        raise UnbelievableError("it does not say what it was asked for") from None


def _compare_with_asked(result: Result, document: dict[str, Any], expected: Expected) -> None:
    options = document["options"]
    also = [size["n"] for size in options.get("also", [])]
    said = [options[name] for name in ("kernel", "secret", "seed", "schedules", "schedule", "n", "against")]
    if [*said, also] != [
        expected.kernel,
        expected.secret,
        None,
        expected.schedules,
        None,
        None,
        None,
        [*expected.also],
    ]:
        raise UnbelievableError(f"it was not run as asked, but with {options!r:.200}")
    build = document["build"]
    if result.verdict != "INFRA" and (not build or build["source_sha256"] != expected.kernel_sha256):
        raise UnbelievableError("it is about another kernel.cu")
    if expected.possible is not None and result.possible != expected.possible:
        raise UnbelievableError(f"it gives {result.possible:g} points, not {expected.possible:g}")
    cases = document["cases"]
    is_right = result.verdict in ("PASS", "SLOW")
    if is_right and (not cases or build["verdict"] != "PASS"):
        raise UnbelievableError(f"it says {result.verdict}, but no case passed")


def _harmless(value: Any) -> Any:
    """The same with every text printable: names of files and functions are their author's."""
    match value:
        case str():
            return value if value.isprintable() else "".join(map(_shown, value))
        case list():
            return [_harmless(one) for one in value]
        case dict():
            return {_harmless(name): _harmless(one) for name, one in value.items()}
    return value


def _shown(character: str) -> str:
    return character if character in "\n\t" else printable(character)


@functools.cache
def _validator(schema: Path) -> "Draft202012Validator":
    try:
        from jsonschema import Draft202012Validator  # of make class, and of nothing before it
    except ImportError:
        raise MachineError(
            "the Python package jsonschema is missing, without which no result is believed: "
            "pip install -r requirements/class.txt"
        ) from None
    return Draft202012Validator(json.loads(schema.read_text("utf-8")))


def _load(raw: bytes) -> dict[str, Any]:
    if len(raw) > MOST_RECORD:
        raise UnbelievableError(f"its record has {len(raw):,} bytes")
    try:
        document = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UnbelievableError(f"its record is not JSON ({str(error)[:80]})") from None
    if not isinstance(document, dict):
        raise UnbelievableError("its record is not a JSON object")
    return document


def _kernel(kernel: object) -> dict[str, Any]:
    if not isinstance(kernel, dict) or not isinstance(kernel.get("name"), str):
        raise UnbelievableError("its list of kernels makes no sense")
    return {
        "name": printable(kernel["name"][:255])[:255],
        **{name: _whole(kernel.get(name)) for name in _NUMBERS},
    }


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value < 2**31:
        raise UnbelievableError(f"{value!r:.40} is not a valid count")
    return value


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        return 0.0
    return float(value)
