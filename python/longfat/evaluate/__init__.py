"""Evaluations: what RFC 9743 and its kin want to be shown of a congestion controller, shown.

The module itself can be called: `longfat.evaluate("exp")` runs the suite, and so does `evaluate` from here,
which type checkers know. It returns an `Evaluation`.

    found = longfat.evaluate("exp", cells=["range"])
    print(found.table)
    for finding in found.findings:
        print(finding.cell.name, finding.verdict, finding.story)

A suite consists of groups of cells (`longfat.evaluate.cells`). A `Cell` has a source, a question, scenarios
for a controller and measures. `Prepared` reads all of them and says what they take; a pool runs them, each
scenario once.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from longfat.errors import EvaluationError
from longfat.evaluate._evaluation import Evaluation, default_folder, evaluate, run
from longfat.evaluate._finding import Finding, Value
from longfat.evaluate._prepared import INCUMBENTS, SEEDS, Planned, Prepared
from longfat.evaluate.cells._cell import Cell, Chart, Group, Measure, Scene, Source

__all__ = [
    "INCUMBENTS",
    "SEEDS",
    "Cell",
    "Chart",
    "Evaluation",
    "EvaluationError",
    "Finding",
    "Group",
    "Measure",
    "Planned",
    "Prepared",
    "Scene",
    "Source",
    "Value",
    "default_folder",
    "evaluate",
    "run",
]


class _EvaluateModule(ModuleType):
    """This module, which is also the function `evaluate`: `longfat.evaluate(...)`, as `longfat.study(...)`."""

    def __call__(self, *arguments: Any, **options: Any) -> Evaluation:  # noqa: ANN401 - those of `evaluate`
        return evaluate(*arguments, **options)


sys.modules[__name__].__class__ = _EvaluateModule
