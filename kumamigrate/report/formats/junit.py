"""JUnit's XML: every finding a failed case, or one case that passed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kumamigrate.report.formats.findings import (
    level_of,
    name_of,
    open_findings,
    proposed_findings,
    text_of,
    verdict_of,
)

NAME = "kumamigrate"


def junit(report: Mapping[str, Any]) -> str:
    """Return one suite. Advice is no failure; a run that is not proven is one."""
    suite = Element("testsuite", name=NAME)
    failures = cases = 0
    for entry, _ in (*open_findings(report), *proposed_findings(report)):
        where = f"{entry['file']}:{entry['line']}" if entry["file"] else "inventory"
        case = _case(suite, entry["file"] or NAME, f"{entry['rule']} {name_of(entry)} {where}")
        cases += 1
        if level_of(entry) != "note":
            failures += 1
            _failure(case, entry["message"], entry["danger"], f"{where}\n{text_of(entry)}")
    verdict = verdict_of(report)
    if verdict:
        _failure(_case(suite, NAME, "proof"), verdict, str(report["whole"]), verdict)
        failures, cases = failures + 1, cases + 1
    if not cases:
        _case(suite, NAME, f"nothing is left to do for Kuma {report['target']}")
        cases = 1
    suite.set("tests", str(cases))
    suite.set("failures", str(failures))
    root = Element("testsuites")
    root.append(suite)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _case(suite: Element, group: str, name: str) -> Element:
    return SubElement(suite, "testcase", classname=_legal(group), name=_legal(name))


def _failure(case: Element, message: str, kind: str, text: str) -> None:
    SubElement(case, "failure", message=_legal(message), type=kind).text = _legal(text)


def _legal(text: str) -> str:
    """Return text without what XML cannot hold, escaped as it would be in a string."""
    return "".join(
        c if c in "\t\n" or (c.isprintable() and c <= "\ufffd") or c > "\uffff" else ascii(c)[1:-1]
        for c in text
    )
