"""The folder of an evaluation: `evaluate.json`, `junit.xml`, scenarios to run again, and the report."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from longfat._longfat import __version__
from longfat.evaluate.cells import NOT_TESTED
from longfat.foreign import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from longfat._longfat import Scenario
    from longfat.evaluate._finding import Finding, Value
    from longfat.evaluate._prepared import Prepared
    from longfat.study import Estimate, Spent

FORMAT = "longfat evaluation 1"
KIND = "an evaluation"
"""The folder of an evaluation, as messages and manifests have it."""


def write(
    folder: Path,
    content: Mapping[str, Any],
    findings: Sequence[Finding],
    scenarios: Mapping[str, Scenario],
) -> None:
    """Writes the files of an evaluation.

    Args:
        folder: An empty folder.
        content: What `evaluate.json` holds.
        findings: What each cell found.
        scenarios: The scenario of each cell, with the subject in it.

    Raises:
        OSError: It cannot be written.
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    (folder / "evaluate.json").write_text(text + "\n", encoding="utf-8")
    name = str(content["subject"]["name"])
    (folder / "junit.xml").write_bytes(junit(name, findings, content["wall_s"]))
    (folder / "scenarios").mkdir()
    for cell, scenario in scenarios.items():
        (folder / _scenario_file(cell)).write_text(scenario.to_toml(), encoding="utf-8")
    from longfat.page import write_evaluation

    write_evaluation(folder)


def content(
    prepared: Prepared, findings: Sequence[Finding], spent: Spent, wall_s: float
) -> dict[str, Any]:
    """What `evaluate.json` holds; `docs/guides/evaluate.md` says what each field means."""
    subject = prepared.subject
    return {
        "format": FORMAT,
        "longfat": __version__,
        "subject": {
            "name": subject.name,
            "control": subject.control,
            "source": subject.origin,
            "digest": prepared.digest,
            "network": subject.network or None,
        },
        "against": [each.name for each in prepared.against],
        "scale": prepared.scale,
        "seeds": prepared.seeds,
        "runs": spent.runs,
        "core_s": round(spent.core_s, 3),
        "wall_s": round(wall_s, 3),
        "groups": [
            {"id": group.name, "title": group.title, "about": group.about}
            for group in prepared.groups
        ],
        "cells": [_cell(finding) for finding in findings],
        "not_tested": [dict(each) for each in NOT_TESTED],
    }


def _cell(finding: Finding) -> dict[str, Any]:
    cell = finding.cell
    return {
        "id": cell.name,
        "group": cell.group,
        "title": cell.title,
        "source": {
            "document": cell.source.document,
            "section": cell.source.section,
            "says": cell.source.says,
            "url": None,
        },
        "question": cell.question,
        "scenario": None if finding.verdict == "skipped" else _scenario_file(cell.name),
        "measures": [_measure(value) for value in finding.values],
        "kind": cell.kind,
        "verdict": finding.verdict,
        "against": dict(finding.against),
        "story": finding.story,
        "why": finding.why,
        "core_s": round(finding.spent.core_s, 3),
        "charts": [
            {
                "title": chart.title,
                "x": "time",
                "x_unit": "s",
                "y": chart.title,
                "y_unit": chart.unit,
                "series": [
                    {"name": name, "t": times, "v": values}
                    for name, (times, values) in lines.items()
                ],
            }
            for chart, lines in zip(cell.charts, finding.lines, strict=False)
            if lines
        ],
    }


def _measure(value: Value) -> dict[str, Any]:
    measure = value.measure
    threshold = {"at_least": measure.at_least, "at_most": measure.at_most}
    return {
        "id": measure.name,
        "title": measure.title,
        "unit": measure.unit,
        "better": measure.better,
        "matters": measure.matters,
        "matters_share": measure.matters_share,
        "censored": measure.censored,
        "value": _estimate(value.ours),
        "incumbents": {name: _estimate(theirs) for name, theirs in value.theirs.items()},
        "against": {
            name: {"verdict": verdict, "difference": by.mean, "half": by.half_width}
            for name, (verdict, by) in value.against.items()
        },
        "threshold": {key: it for key, it in threshold.items() if it is not None} or None,
        "judged": value.judged,
    }


def _estimate(value: Estimate) -> dict[str, Any]:
    return {"mean": value.mean, "half": value.half_width, "n": value.n}


def junit(subject: str, findings: Sequence[Finding], wall_s: float) -> bytes:
    """The verdicts as JUnit XML: a test case for each cell.

    A cell fails if a number that a source states is not met, and has an error if it could not be run.
    Evidence, and what does not apply, is skipped.
    """
    tags = [_tag(finding) for finding in findings]
    suite = ET.Element(
        "testsuite",
        name=shown(f"longfat evaluate {subject}"),
        tests=str(len(findings)),
        failures=str(tags.count("failure")),
        errors=str(tags.count("error")),
        skipped=str(tags.count("skipped")),
        time=f"{wall_s:.3f}",
    )
    for finding, tag in zip(findings, tags, strict=True):
        group, _, name = finding.cell.name.partition("/")
        case = ET.SubElement(
            suite, "testcase", classname=group, name=name, time=f"{finding.spent.core_s:.3f}"
        )
        if tag is not None:
            ET.SubElement(case, tag, message=shown(_reason(finding)))
        ET.SubElement(case, "system-out").text = shown(finding.story)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _tag(finding: Finding) -> str | None:
    """What a test case says of a verdict that is neither passed nor compared."""
    if finding.verdict == "undecided":
        return "skipped" if finding.cell.kind == "pass or fail" else None
    return _TAGS.get(finding.verdict)


_TAGS = {"fail": "failure", "error": "error", "skipped": "skipped", "evidence": "skipped"}


def _reason(finding: Finding) -> str:
    if finding.why is not None:
        return finding.why
    if finding.verdict == "evidence":
        return "evidence: no source states a number, and neither more nor less of it is better"
    if finding.verdict == "undecided":
        return "undecided: too few seeds to tell"
    return f"not met: {finding.cell.source.document}: {finding.cell.source.says}"


def _scenario_file(cell: str) -> str:
    return f"scenarios/{cell.replace('/', '-')}.toml"


def word(name: str) -> str:
    """A name as a part of a file name."""
    return re.sub(r"[^A-Za-z0-9.+]+", "-", name).strip("-") or "controller"
