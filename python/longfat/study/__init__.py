"""Studies: many simulations, in parallel and cached, measured into one table.

The module itself can be called: `longfat.study("study.toml")` runs a study file, and so does `study` from here,
which type checkers know. It returns a `Study`.

    found = longfat.study("study.toml", seeds=10)
    print(found.rows, found.table("links.bottleneck.forward.utilisation"))
    found.plot(path="answer.png")

Below that are the pieces it is made of.

A `Point` is a scenario with several seeds, a `Computation` a Python function in its place. `run_points` runs
them and measures each run into a row:

    from longfat.study import Point, run_points

    points = [
        Point("first.toml", set={"link.bottleneck.rate": f"{rate} Mbit/s"}, labels={"rate": rate})
        for rate in (10, 100, 1000)
    ]
    rows = run_points(points, lambda run: {"utilisation": run.link()["utilisation"]})

A `Plan` does the same for several `Sweep`s at once, so that what they share is simulated once. Below it,
`run_many` and `reduce_many` run resolved scenarios (`Job`) on all cores; finished runs are kept in a `Cache`.
`estimate` gives the mean over seeds with its confidence interval. `compare` is `longfat.compare`: controllers
on one path, without a scenario.

Nothing here knows of papers, claims or pictures of them; `longfat.paper` is built on top.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from longfat.errors import CacheWarning, LabelError, MeasureError, MemoryWarning, StudyError
from longfat.study._cache import Cache
from longfat.study._comparison import Comparison, compare
from longfat.study._plan import Plan, Rows, Spent, run_points
from longfat.study._points import Computation, Measured, Point, Row, Sweep
from longfat.study._runner import (
    Call,
    Job,
    ProgressCallback,
    Result,
    Returned,
    reduce_many,
    run_many,
    usable_cores,
)
from longfat.study._statistics import Estimate, estimate, t_quantile

__all__ = [
    "Cache",
    "CacheWarning",
    "Call",
    "Comparison",
    "Computation",
    "Estimate",
    "Job",
    "LabelError",
    "MeasureError",
    "Measured",
    "MemoryWarning",
    "Plan",
    "Point",
    "ProgressCallback",
    "Result",
    "Returned",
    "Row",
    "Rows",
    "Spent",
    "Study",
    "StudyError",
    "Sweep",
    "compare",
    "estimate",
    "reduce_many",
    "run_many",
    "run_points",
    "study",
    "t_quantile",
    "usable_cores",
]

if TYPE_CHECKING:
    from longfat.study._study import Study, study  # noqa: TC004 - `__getattr__` has them at run time


class _StudyModule(ModuleType):
    """This module, which is also the function `study`: `longfat.study(...)` beside `longfat.run(...)`.

    A function of that name in `longfat` would hide the package, and with it `longfat.study.Point`.
    """

    def __call__(self, *arguments: Any, **options: Any) -> Study:  # noqa: ANN401 - those of `study`
        return self.study(*arguments, **options)  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - `Study` or `study`
        # Only whoever asks for them loads numpy.
        if name in ("Study", "study"):
            from longfat.study import _study

            return getattr(_study, name)
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)


sys.modules[__name__].__class__ = _StudyModule
