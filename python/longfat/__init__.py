"""A laboratory for congestion control on long fat networks.

>>> import longfat
>>> run = longfat.run("scenarios/first.toml", seed=1)  # doctest: +SKIP
>>> run.summary["links"]["bottleneck"]["forward"]["utilisation"]  # doctest: +SKIP
>>> run.flow_series.to_polars()  # doctest: +SKIP
>>> run.plot("first.png")  # doctest: +SKIP
"""

from longfat import fairness
from longfat._api import Run, run
from longfat._fiber import fiber_alpha
from longfat._fluid import Fluid, fluid, synchronised
from longfat._longfat import (
    EngineError,
    FluidError,
    ScenarioError,
    __version__,
    controllers,
    queues,
)
from longfat._table import Table

__all__ = [
    "EngineError",
    "Fluid",
    "FluidError",
    "Run",
    "ScenarioError",
    "Table",
    "__version__",
    "controllers",
    "fairness",
    "fiber_alpha",
    "fluid",
    "queues",
    "run",
    "synchronised",
]
