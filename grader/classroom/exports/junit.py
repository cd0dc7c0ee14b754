"""JUnit XML: a suite for each student, a case for each chapter."""

import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ...core.workbook import write_whole
from ...core.xml_text import sayable, token
from ..views.remarks import MEANINGS, Remark, remarks


def export(document: dict[str, Any], folder: Path) -> list[Path]:
    """junit.xml of the class."""
    path = folder / "junit.xml"
    write_whole(path, xml(document, document["students"]))
    return [path]


def xml(document: dict[str, Any], students: list[dict[str, Any]]) -> str:
    """The whole file."""
    suites = ElementTree.Element("testsuites")
    begun = datetime.datetime.fromisoformat(document["times"]["begun"]).astimezone(datetime.UTC)
    for number, student in enumerate(students):
        _suite(suites, document, student, number, begun.strftime("%Y-%m-%dT%H:%M:%S"))
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def _suite(
    suites: ElementTree.Element, document: dict[str, Any], student: dict[str, Any], number: int, begun: str
) -> None:
    said = remarks(document, student)
    kinds = [_kind(remark) for remark in said]
    suite = ElementTree.SubElement(
        suites,
        "testsuite",
        {
            "name": token(student["name"] or student["id"]),
            "package": "warpbook",
            "id": str(number),
            "timestamp": begun,
            "hostname": "localhost",
            "tests": str(len(said)),
            "failures": str(kinds.count("failure")),
            "errors": str(kinds.count("error")),
            "skipped": str(kinds.count("skipped")),
            "time": f"{student['seconds']:.3f}",
        },
    )
    properties = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(properties, "property", {"name": "student", "value": sayable(student["id"])})
    for remark, kind, one in zip(said, kinds, student["chapters"], strict=True):
        seconds = ((one["result"] or {}).get("times") or {}).get("run_seconds", 0.0)
        case = ElementTree.SubElement(
            suite,
            "testcase",
            {
                "name": token(f"{remark.chapter} {remark.title}"),
                "classname": token(f"warpbook.{student['id']}"),
                "time": f"{seconds:.3f}",
            },
        )
        if kind == "skipped":
            ElementTree.SubElement(case, "skipped")
        elif kind:
            message = remark.what or MEANINGS[remark.verdict]
            why = ElementTree.SubElement(case, kind, {"message": sayable(message), "type": remark.verdict})
            why.text = sayable(remark.text())
    ElementTree.SubElement(suite, "system-out")
    ElementTree.SubElement(suite, "system-err")


def _kind(remark: Remark) -> str:
    return {"PASS": "", "MISSING": "skipped", "INFRA": "error"}.get(remark.verdict, "failure")
