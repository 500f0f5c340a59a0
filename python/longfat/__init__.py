"""A laboratory for congestion control on long fat networks.

>>> import longfat
>>> run = longfat.run("scenarios/first.toml", seed=1)  # doctest: +SKIP
>>> run.summary["links"]["bottleneck"]["forward"]["utilisation"]  # doctest: +SKIP
>>> run.flow_series.to_polars()  # doctest: +SKIP
>>> run.plot("first.png")  # doctest: +SKIP

The modules, from the ground up; each uses only those before it:

- `longfat.errors`, `longfat.units`, `longfat.tables`: errors, quantities as text, tables
- `longfat.own`: controllers and queues of your own
- `longfat.scenario`: scenarios from anywhere
- `longfat.plot`: pictures
- `longfat.results`: runs, fluid solutions, tables, result folders
- `longfat.explanation`: what limited each flow of a run, and when
- `longfat.study`: many runs, in parallel and cached, measured into one table
- `longfat.fairness`, `longfat.power`, `longfat.fiber`: numbers from finished runs, and for controllers
- `longfat.gym`: scenarios as environments in which agents learn
- `longfat.conformance`: what every controller owes its host
- `longfat.evaluate`: is a controller good? cells, incumbents, verdicts
- `longfat.attack`: the path on which a controller fails
- `longfat.paper`: papers remade, their claims judged
- `longfat.playground`: a page that simulates as its sliders move, also in a notebook: `longfat.explore`
- `longfat.live`: measurements over a real link, beside simulations
- `longfat.commands`: the command line
"""

from importlib import import_module
from typing import TYPE_CHECKING

from longfat import _fork, errors, units  # noqa: F401 - which process this is
from longfat._longfat import (
    CodeError,
    EngineError,
    FluidError,
    ScenarioError,
    __version__,
    controllers,
    queues,
)

if TYPE_CHECKING:
    from longfat import (
        attack,
        conformance,
        evaluate,
        explanation,
        fairness,
        fiber,
        gym,
        live,
        own,
        paper,
        playground,
        plot,
        power,
        results,
        scenario,
        study,
        tables,
    )
    from longfat.conformance import check
    from longfat.explanation import explain
    from longfat.fiber import fiber_alpha
    from longfat.live import overlay
    from longfat.own import Controller, controller, law, load_library, queue
    from longfat.playground import explore
    from longfat.results import Fluid, Run, Table, fluid, run, synchronised
    from longfat.study import Comparison, compare

__all__ = [
    "CodeError",
    "Comparison",
    "Controller",
    "EngineError",
    "Fluid",
    "FluidError",
    "Run",
    "ScenarioError",
    "Table",
    "__version__",
    "attack",
    "check",
    "compare",
    "conformance",
    "controller",
    "controllers",
    "errors",
    "evaluate",
    "explain",
    "explanation",
    "explore",
    "fairness",
    "fiber",
    "fiber_alpha",
    "fluid",
    "gym",
    "law",
    "live",
    "load_library",
    "overlay",
    "own",
    "paper",
    "playground",
    "plot",
    "power",
    "queue",
    "queues",
    "results",
    "run",
    "scenario",
    "study",
    "synchronised",
    "tables",
    "units",
]

_NAMES = {
    "Comparison": "study",
    "Controller": "own",
    "Fluid": "results",
    "Run": "results",
    "Table": "results",
    "check": "conformance",
    "compare": "study",
    "controller": "own",
    "explain": "explanation",
    "explore": "playground",
    "fiber_alpha": "fiber",
    "fluid": "results",
    "law": "own",
    "load_library": "own",
    "overlay": "live",
    "queue": "own",
    "run": "results",
    "synchronised": "results",
}
"""Where names come from that are not there until somebody asks for them: all of them take longer than many a
command that needs a few.
"""

if not TYPE_CHECKING:  # else every misspelt name would have a type

    def __getattr__(name: str) -> object:
        """Imports what `name` is, the first time: one of those above, or else a module."""
        if name in _NAMES:
            value = getattr(import_module(f"longfat.{_NAMES[name]}"), name)
            globals()[name] = value
            return value
        if name in __all__:
            return import_module(f"longfat.{name}")
        message = f"module 'longfat' has no attribute {name!r}"
        raise AttributeError(message)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
