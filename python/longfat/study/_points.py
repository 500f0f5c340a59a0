"""What a study runs and measures: points, computations, and sweeps of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from longfat.errors import ScenarioError
from longfat.scenario import MOST_SEEDS, check_seed, quantities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import polars as pl

    from longfat._longfat import Scenario
    from longfat.own import Brought
    from longfat.scenario import Quantities

Row = dict[str, Any]
"""Measured columns by name: numbers, texts, truth values or `None`."""


@dataclass(frozen=True)
class Point:
    """A scenario, to be simulated with several seeds.

    Attributes:
        scenario: The path of a scenario file, relative to the folder of the sweep, or its content as a
            dictionary.
        set: Fields to set first, as with `longfat.run`: `{"link.bottleneck.rate": "1 Gbit/s"}`.
        labels: What distinguishes this point, such as `{"control": "exp", "rate_bit_s": 2.5e6}`: the
            first columns of its rows. All points of a sweep have the same labels.
        seeds: The seeds, or how many: 3 stands for 1, 2, 3.
        tables: Tables to measure besides the averages, such as `("flow_series",)`.
        controllers: Controllers of your own, as for `longfat.run`.
        queues: Queues of your own, likewise.
        allow_code: Let the scenario name code, as for `longfat.run`.
    """

    scenario: str | Path | Mapping[str, Any]
    set: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)
    seeds: int | Sequence[int] = 3
    tables: tuple[str, ...] = ()
    controllers: Sequence[Brought] = ()
    queues: Sequence[Brought] = ()
    allow_code: bool = False


@dataclass(frozen=True)
class Computation:
    """A point that is a Python function instead of a simulation: a fluid model, or theory.

    It runs alongside the simulations and is neither cached nor interrupted, so it should take seconds at most.

    Attributes:
        labels: What distinguishes this point.
        function: What to call.
        arguments: Its arguments by name.
        seeds: `None` calls it once; otherwise it is called with `seed=` for each seed, as with `Point`.
        seconds: About how long one call takes, to order the work and to draw the progress bar.
    """

    labels: Mapping[str, Any]
    function: Callable[..., object]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    seeds: int | Sequence[int] | None = None
    seconds: float = 0.1


@dataclass(frozen=True)
class Measured:
    """One finished run of a point, or what its computation returned.

    Attributes:
        labels: The labels of the point.
        seed: The seed; `None` for a computation without chance.
        summary: The averages, as `longfat run --json` prints them; empty for a computation.
        value: What the function of a computation returned.
    """

    labels: Mapping[str, Any]
    seed: int | None
    summary: dict[str, Any]
    value: Any = None
    _scenario: Scenario | None = field(default=None, repr=False)
    _tables: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def quantities(self) -> Quantities:
        """The scenario of the run in numbers: durations, rates, sizes, lengths of queues.

        Raises:
            ValueError: It is a computation, which has no scenario.
        """
        if self._scenario is None:
            message = "a computation has no scenario"
            raise ValueError(message)
        return quantities(self._scenario)

    def table(self, name: str) -> pl.DataFrame:
        """A table that the point asked for, such as `flow_series`.

        Raises:
            KeyError: The point did not ask for it.
        """
        if name not in self._tables:
            message = f'the point did not ask for `{name}`: pass tables=("{name}",)'
            raise KeyError(message)
        frame: pl.DataFrame = self._tables[name].to_polars()
        return frame

    def link(self, name: str = "bottleneck", direction: str = "forward") -> dict[str, Any]:
        """The averages of one direction of a link, such as `utilisation` and `queue_mean`."""
        averages: dict[str, Any] = self.summary["links"][name][direction]
        return averages

    def flows(self, group: str | None = None) -> list[dict[str, Any]]:
        """The averages of the long flows, of one group or of all."""
        flows: list[dict[str, Any]] = self.summary["flows"]
        return [flow for flow in flows if group in (None, flow["name"].partition("[")[0])]


@dataclass(frozen=True)
class Sweep:
    """Points, and what is measured at each.

    Attributes:
        name: For messages.
        points: The points.
        measure: Turns one finished run into a row, or several; labels and seed are added.
        folder: What paths of scenarios are relative to.
    """

    name: str
    points: Sequence[Point | Computation]
    measure: Callable[[Measured], Row | list[Row]]
    folder: Path = field(default_factory=Path)

    @property
    def seed_counts(self) -> list[int]:
        """How many seeds each point has; a computation without chance is left out."""
        return [len(seeds_of(point.seeds)) for point in self.points if point.seeds is not None]


def seeds_of(seeds: int | Iterable[int]) -> list[int]:
    """The seeds themselves: 3 stands for 1, 2, 3.

    Raises:
        ScenarioError: One of them is negative, or larger than a scenario file could say; or there are too many.
    """
    given: Iterable[int]
    # The integers of NumPy too.
    if isinstance(seeds, SupportsIndex):
        number = index(seeds)
        given, count = range(1, number + 1), f"{number:,}"
    else:
        given, count = seeds, f"more than {MOST_SEEDS:,}"
    found = list(islice(given, MOST_SEEDS + 1))
    if len(found) > MOST_SEEDS:
        message = (
            f"{count} seeds are asked for: no more than {MOST_SEEDS:,} are run of each setting"
        )
        raise ScenarioError(message)
    for seed in found:
        check_seed(seed)
    return found
