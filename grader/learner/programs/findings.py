"""The findings of whole programs, as SARIF 2.1.0 and as JUnit XML for continuous integration."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from ... import __version__
from ...core.errors import UsageError
from ...core.xml_text import sayable, token

SCHEMA = "warpbook/program-findings/1"

# What each verdict means: the rules of SARIF, and the tables of docs/programs.md.
KERNEL_VERDICTS = {
    "OOB": "a kernel reads or writes outside of memory",
    "MISALIGNED": "a kernel reads or writes at an address that is not a multiple of the access's size",
    "UNINIT": "a kernel uses a value that nothing has written",
    "RACE": "two threads of a kernel use the same memory, one of them writes, and no barrier is between them",
    "SYNC": "threads of a kernel do not meet at a barrier, a shuffle or a vote as they must",
    "FAULT": "a kernel ends by a trap, an assert or a bad call",
    "TIMEOUT": "a kernel never ends",
    "LAUNCH": "a launch does not fit the kernel",
    "RESOURCE": "a kernel needs more than the device has",
    "OUTPUT_LIMIT": "a kernel prints too much",
    "UNSUPPORTED": "a kernel uses a construct that the emulator does not know",
}
HOST_VERDICTS = {
    "HOST_ACCESS": "the host read or wrote device memory",
    "HOST_POINTER": "a call that works on device memory got a host pointer",
    "COPY_DIRECTION": "the direction of a copy does not fit its pointers",
    "COPY_SIZE": "a copy or a fill goes past the end of an allocation",
    "BAD_FREE": "memory was freed twice, with the wrong function, or was never allocated",
    "USE_AFTER_FREE": "the host, or a copy, used memory that was freed",
    "LEAK": "an allocation was not freed when the program ended",
    "BAD_LAUNCH": "a launch that the device refuses: its kernel did not run",
    "UNCHECKED": "a call failed, and the program ended with status 0 without looking at the error",
    "BAD_CALL": "a call got a stream or an event that was destroyed",
    "READ_TOO_EARLY": "the host used memory, or asked for a time, before the work on it was waited for",
    "UNORDERED": "work in two streams uses the same memory, one of the two writes, and nothing orders them",
}
_VERDICTS = KERNEL_VERDICTS | HOST_VERDICTS
_WARNINGS = ("LEAK", "UNCHECKED")  # the program may do its work anyway


@dataclass(frozen=True)
class Finding:
    """One mistake; `line` is 0 if it is not known, and `file` then names the program or a function."""

    verdict: str
    file: str
    line: int
    message: str

    @property
    def place(self) -> str:
        """file:line, as compilers write it."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Checked:
    """One run of a program. `status` is its own exit status, with findings or without."""

    program: str
    status: int
    findings: list[Finding]


def read_findings(path: Path) -> Checked:
    """What the runtime library has written. UsageError: the file holds something else."""
    try:
        document = json.loads(path.read_text("utf-8"))
        if document["schema"] != SCHEMA:
            raise UsageError(f"{path}: the schema is {document['schema']}, not {SCHEMA}")
        findings = [Finding(f["verdict"], f["file"], f["line"], f["message"]) for f in document["findings"]]
        return Checked(document["program"], document["status"], findings)
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: these are not the findings of a program") from error


# ---- SARIF


def sarif(runs: list[Checked], root: Path) -> str:
    """SARIF of all runs; files below `root`, the repository, are named relative to it."""
    unique = dict.fromkeys(finding for run in runs for finding in run.findings)
    rules = [
        {
            "id": verdict,
            "shortDescription": {"text": f"{meaning[0].upper()}{meaning[1:]}."},
            "defaultConfiguration": {"level": _level(verdict)},
        }
        for verdict, meaning in _VERDICTS.items()
    ]
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "Warpbook", "semanticVersion": __version__, "rules": rules}},
                "invocations": [
                    {"executionSuccessful": run.status == 0, "exitCode": run.status} for run in runs
                ],
                "results": [_result(finding, root) for finding in unique],
            }
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _level(verdict: str) -> str:
    return "warning" if verdict in _WARNINGS else "error"


def _result(finding: Finding, root: Path) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.verdict,
        "ruleIndex": list(_VERDICTS).index(finding.verdict),
        "level": _level(finding.verdict),
        "message": {"text": finding.message},
    }
    if finding.line:
        place = {"artifactLocation": _artifact(finding.file, root), "region": {"startLine": finding.line}}
        result["locations"] = [{"physicalLocation": place}]
    return result


def _artifact(file: str, root: Path) -> dict[str, str]:
    path = Path(os.path.normpath(root / file))
    if not path.is_relative_to(root):
        return {"uri": path.as_uri()}
    return {"uri": quote(path.relative_to(root).as_posix()), "uriBaseId": "%SRCROOT%"}


# ---- JUnit


def junit(runs: list[Checked]) -> str:
    """A suite for each run: one case for the program's own end, and one for each finding."""
    suites = ElementTree.Element("testsuites")
    for run in runs:
        failures = len(run.findings) + (run.status != 0)
        suite = ElementTree.SubElement(
            suites,
            "testsuite",
            {
                "name": token(run.program),
                "tests": str(len(run.findings) + 1),
                "failures": str(failures),
                "errors": "0",
                "skipped": "0",
            },
        )
        name = token(f"warpbook.{run.program}")
        ended = ElementTree.SubElement(suite, "testcase", {"name": "ends with status 0", "classname": name})
        if run.status:
            message = f"{run.program} ended with status {run.status}"
            ElementTree.SubElement(ended, "failure", {"message": sayable(message), "type": "STATUS"})
        for finding in run.findings:
            _case(suite, name, finding)
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def _case(suite: ElementTree.Element, name: str, finding: Finding) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        {
            "name": token(f"{finding.verdict} at {finding.place}"),
            "classname": name,
            "file": sayable(finding.file),
            "line": str(finding.line),
        },
    )
    first = finding.message.partition("\n")[0]
    why = ElementTree.SubElement(case, "failure", {"message": sayable(first), "type": finding.verdict})
    why.text = sayable(f"{finding.place}: {finding.message}")
