"""The fluid model: a scenario as differential equations."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from longfat import _longfat
from longfat._longfat import FluidError
from longfat.errors import ScenarioError
from longfat.own import Brought, Code
from longfat.results._fluid_tables import overview
from longfat.results._folder import FLUID, FLUID_TABLES, ResultFolder
from longfat.results._json import decoded
from longfat.results._names import named
from longfat.results._resolved import Resolved
from longfat.results._simulate import refuse_excess
from longfat.results._table import Table
from longfat.scenario import Changes, Source, assignments, read
from longfat.tables import page

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from longfat.results._run import Run

Model = Literal["mean-field", "hybrid", "synchronised"]
"""How window laws are read: as rates, as windows that jump at random losses, or as all losing together."""

Price = Literal["queue", "avq", "overflow", "red", "loss"]
"""What links charge: what their queues do, marks of a virtual queue, losses of a full buffer, RED's marks, or
corruption alone."""

MODELS: tuple[Model, ...] = get_args(Model)
PRICES: tuple[Price, ...] = get_args(Price)

_LEAST_WINDOW = 2
"""What a loss leaves at least, in segments."""


class FluidProgress(Protocol):
    """Is told how far a solution has come, about twenty times a second."""

    def examined(self, count: float, /) -> object:
        """So many steps and frequencies have been examined on the way to an equilibrium and its stability."""

    def solved(self, share: float, /) -> object:
        """This share of the time, 0 to 1, has been solved for."""


def fluid(
    source: Source,
    *,
    seed: int | None = None,
    set: Changes = (),  # noqa: A002 - the name of the command-line option
    model: Model = "mean-field",
    price: Price = "queue",
    delay: bool = True,
    integrate: bool = True,
    equilibrium: bool = False,
    stability: bool = False,
    controllers: Sequence[Brought] = (),
    queues: Sequence[Brought] = (),
    allow_code: bool = False,
) -> Fluid:
    """Solves the differential equations of a scenario.

    Args:
        source: The path of a scenario file, its text, or its content as a dictionary, as for `longfat.run`.
        seed: Replaces the seed of the scenario. Only the hybrid model draws random numbers.
        set: Fields to set first, as for `longfat.run`.
        model: `"mean-field"`: rates, of which losses are a share. `"hybrid"`: windows that grow continuously
            and jump at random losses. `"synchronised"`: one drop-tail link whose flows all lose together.
        price: `"queue"`: what the queue of each link does; where the model has no equations of it, a virtual
            queue, and `stand_ins` says where. Or the same for all links. `"avq"`: a virtual queue marks what
            exceeds the capacity, and no queue forms. `"overflow"`: what
            exceeds a full buffer is lost. `"red"`: the RED queues of the scenario. `"loss"`: nothing
            beyond the `loss` of the links, whatever the load. The synchronised model does not ask, and neither
            do flows of XCP or VCP: their routers say how rates change.
        delay: With feedback delay: a flow learns a round trip late what its packets met.
        integrate: Solve in time.
        equilibrium: Find where the flows that never stop settle, without integrating.
        stability: Also judge whether they stay there. Implies `equilibrium`.
        controllers: Controllers of your own, as for `longfat.run`; those that are window laws can be solved.
        queues: Queues of your own, likewise.
        allow_code: Let it name code, as for `longfat.run`.

    Returns:
        What was found.

    Raises:
        ScenarioError: The scenario is wrong.
        FluidError: The fluid model cannot solve it as asked; the message names the reason.
        OSError: The file cannot be read.
        CodeError: A law of your own failed.
        ValueError: There is no such model or price.
    """
    _refuse_unknown("model", model, MODELS)
    _refuse_unknown("price", price, PRICES)
    code = Code.of(controllers, queues, allow_code)
    scenario, name = read(source, seed=seed, changes=set, code=code)
    return solve(
        scenario,
        name,
        model=model,
        price=price,
        delay=delay,
        integrate=integrate,
        equilibrium=equilibrium,
        stability=stability,
        settings=assignments(set),
    )


def solve(
    scenario: _longfat.Scenario,
    name: str,
    *,
    model: Model,
    price: Price,
    delay: bool,
    integrate: bool,
    equilibrium: bool,
    stability: bool,
    progress: FluidProgress | None = None,
    settings: Sequence[str] = (),
) -> Fluid:
    """Does what `fluid` does, for a scenario already read.

    Raises:
        FluidError: It cannot be solved as asked.
        ScenarioError: It would need more memory than is free.
    """
    path = rest = None
    in_time, at_rest = _longfat.fluid_memory(scenario)
    if integrate:
        refuse_excess(in_time, "a longer `sample` or fewer flows make it less")
    if equilibrium or stability:
        refuse_excess(at_rest, "an equilibrium takes memory for each pair of links")
    if model == "synchronised" and (equilibrium or stability):
        message = (
            "flows that lose together never settle: use the mean-field model for an equilibrium"
        )
        raise FluidError(message)
    if equilibrium or stability:
        found = _longfat.fluid_rest(
            scenario,
            price=price,
            delay=delay,
            judge=stability,
            progress=None if progress is None else progress.examined,
        )
        rest = decoded(found)
    if integrate:
        path = _longfat.fluid_solve(
            scenario,
            model=model,
            price=price,
            delay=delay,
            progress=None if progress is None else progress.solved,
        )
    charged, unknown = _longfat.fluid_price(scenario, price)
    options = {
        "model": model,
        "price": ", ".join(charged),
        "stand_ins": dict(unknown),
        "delay": delay,
    }
    solved = Fluid(scenario, name, path, rest, options)
    solved.settings = tuple(settings)
    solved.default_folder = default_folder(name, model, price, delay=delay, settings=settings)
    return solved


def synchronised(
    control: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]],
    *,
    rate: str,
    rtt: str | Sequence[str],
    window: Sequence[float],
    duration: str,
    buffer: str = "1 packet",
    packet: str = "1500 B",
    sample: str | None = None,
    controllers: Sequence[Brought] = (),
) -> Fluid:
    """Flows that share one drop-tail link and lose together: a trajectory for a phase plane.

    All windows grow by their laws until the buffer is full, and then all give up their shares at once (Chiu and
    Jain 1989); see `docs/concepts/fluid.md`. The series has two rows at each loss: before it, and after.

    Args:
        control: The controller of all flows, or one for each, as in a scenario file.
        rate: Capacity of the link.
        rtt: Round trip without the queue of all flows, or one for each.
        window: The first window of each flow, two segments or more; each starts in congestion avoidance.
        duration: The time to solve for.
        buffer: How much the queue of the link holds, one packet at least.
        packet: Size of the packets.
        sample: Spacing of the series.
        controllers: Window laws of your own, as for `longfat.run`.

    Returns:
        The solution: `.flow_series` has the windows and rates, `.link_series` the queue.

    Raises:
        ScenarioError: A quantity or a controller is wrong, or a window is below two segments.
        FluidError: A controller has no window law.
        ValueError: The lists are not of the same length.
    """
    count = len(window)
    controls = (
        [control] * count if isinstance(control, str) or hasattr(control, "keys") else control
    )
    trips = [rtt] * count if isinstance(rtt, str) else rtt
    if not len(controls) == len(trips) == count:
        message = (
            f"one controller and one round trip are needed for each window: there are {len(controls)}, "
            f"{len(trips)} and {count}"
        )
        raise ValueError(message)
    for first in window:
        # What is no number is refused as a scenario is, with its place.
        if isinstance(first, (int, float)) and not first >= _LEAST_WINDOW:  # type: ignore[redundant-expr]
            message = (
                f"a window of {first} segments is less than a loss leaves: each first window must be "
                f"{_LEAST_WINDOW} segments or more"
            )
            raise ScenarioError(message)
    flows = [
        {
            "name": f"flow-{index}",
            "control": each,
            "path": ["link"],
            "rtt": trip,
            "packet": packet,
            "initial_window": first,
            "initial_threshold": first,
        }
        for index, (each, trip, first) in enumerate(zip(controls, trips, window, strict=True))
    ]
    scenario: dict[str, Any] = {
        "duration": duration,
        "link": {"link": {"rate": rate, "delay": "0 s", "buffer": buffer}},
        "flow": flows,
    }
    if sample is not None:
        scenario["sample"] = sample
    return fluid(scenario, model="synchronised", controllers=controllers)


def _refuse_unknown(what: str, asked: str, known: Sequence[str]) -> None:
    if asked not in known:
        message = f"there is no {what} {asked!r}: there are {', '.join(known)}"
        raise ValueError(message)


class Fluid(Resolved):
    """A solution of the fluid model: series, averages, an equilibrium.

    Attributes:
        name: A short name: the stem of the scenario file, or `scenario`.
        options: The model, the price (`xcp` or `vcp` where their routers say how rates change, whatever was
            asked for), the links for whose queues a virtual one stands in, by their kinds (`stand_ins`), and
            whether there was feedback delay.
        settings: The fields that were set, as on the command line: `link.bottleneck.rate="1 Gbit/s"`.
        default_folder: Where `save` writes it by default.
    """

    def __init__(
        self,
        scenario: _longfat.Scenario,
        name: str,
        path: _longfat.FluidPath | None,
        rest: dict[str, Any] | None,
        options: dict[str, Any],
    ) -> None:
        """Wraps what the engine found; use `longfat.fluid` to get one."""
        super().__init__(scenario, name)
        self.default_folder = Path("runs") / f"{name}-fluid"
        self._path = path
        self._rest = rest
        self.options = options

    def __repr__(self) -> str:
        """The name and the model, in one line."""
        return f"<Fluid {self.name}: {self.options['model']}, price {self.options['price']}>"

    def _repr_html_(self) -> str:
        """What was found, for a notebook."""
        head = f"{self.name}: {self.options['model']} fluid, price {self.options['price']}"
        return page([head, *overview(self.summary)])

    @property
    def integrated(self) -> bool:
        """Whether it was solved in time."""
        return self._path is not None

    @property
    def equilibrium(self) -> dict[str, Any] | None:
        """Where the network settles: windows, rates and prices; `None` unless it was asked for."""
        if self._rest is None:
            return None
        return deepcopy({key: self._rest[key] for key in ("flows", "links", "steps")})

    @property
    def stable(self) -> bool | None:
        """Whether small disturbances of the equilibrium die out; `None` unless it was asked for."""
        return None if self._rest is None else self._rest.get("stable")

    @property
    def margin(self) -> float | None:
        """The factor of all feedback delays at which `stable` changes.

        `None` if it changes for none, if it was judged without delay, or if it was not asked for.
        """
        return None if self._rest is None else self._rest.get("margin")

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The object that `longfat fluid --json` prints."""
        return self._told()

    def _told(self) -> dict[str, Any]:
        """The same as it was solved, whatever has been done with `summary` since."""
        path: dict[str, Any] = {"t": [], "flows": [], "links": {}}
        if self._path is not None:
            path = decoded(self._path.to_json())
        return {
            "seed": self._scenario.seed,
            **self.options,
            **path,
            "equilibrium": self.equilibrium,
            "stable": self.stable,
            "margin": self.margin,
        }

    @cached_property
    def flows(self) -> Table:
        """One row for each flow: mean window (segments), mean rate (bit/s), jumps."""
        return self._table("flows")

    @cached_property
    def flow_series(self) -> Table:
        """One row for each active flow and instant: window (segments), rate (bit/s)."""
        return self._table("flow_series")

    @cached_property
    def link_series(self) -> Table:
        """One row for each direction of a link and instant: price, load (share of the rate), queue (s)."""
        return self._table("link_series")

    def _table(self, name: str) -> Table:
        if self._path is None:
            message = "there is no series: it was not solved in time (integrate=False)"
            raise ValueError(message)
        return Table(self._path.table(name))

    def plot(
        self, path: str | os.PathLike[str] | None = None, *, packets: Run | None = None
    ) -> Figure:
        """Draws windows, rates and prices against time.

        Args:
            path: Also write the picture there; the suffix (`.png`, `.svg`, `.pdf`) selects the format.
            packets: A run of the same scenario, drawn behind in fainter lines.

        Returns:
            The figure, which a notebook displays.

        Raises:
            ValueError: It was not solved in time.
        """
        from longfat import plot

        figure = plot.fluid(self, packets)
        if path is not None:
            plot.save(figure, path)
        return figure

    def phase_plane(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        fair: float | None = None,
        panel: Axes | None = None,
    ) -> Figure:
        """Draws the windows of two flows against each other (Chiu and Jain 1989).

        Trajectory, efficiency line (the two fill the link, the queue is empty) and fairness line.

        Args:
            path: Also write the picture there; the suffix (`.png`, `.svg`, `.pdf`) selects the format.
            fair: Slope of the fairness line, the second window over the first. By default that of equal rates,
                the ratio of the round trips; 1 is for equal windows.
            panel: Draw there instead of into a new figure. `longfat.plot.phase_plane` also takes several
                solutions, for trajectories from several starts.

        Returns:
            The figure, which a notebook displays.

        Raises:
            ValueError: There are not two flows on one link, or it was not solved in time.
        """
        from longfat import plot

        figure = plot.phase_plane(self, fair=fair, panel=panel)
        if path is not None:
            plot.save(figure, path)
        return figure

    def save(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        pictures: bool = False,
        packets: Run | None = None,
    ) -> Path:
        """Writes a folder: the scenario, `fluid.json`, the tables, pictures on request.

        Args:
            folder: Where to write; by default `runs/NAME-fluid`, with other settings than the usual ones behind
                it. An earlier solution there is replaced whole.
            pictures: Also draw `fluid.png` and `fluid.svg`.
            packets: A run of the same scenario, drawn behind.

        Returns:
            The folder.

        Raises:
            FileExistsError: Something other than a solution is there.
            OSError: The folder cannot be written; nothing is left half-written.
        """
        target = self.default_folder if folder is None else Path(folder)
        with ResultFolder(target, FLUID) as result:
            self.write_scenario(result.path)
            # What somebody has had may have been changed.
            summary = self._told() if "summary" in self.__dict__ else self.summary
            text = json.dumps(summary, indent=1, ensure_ascii=False)
            (result.path / "fluid.json").write_text(text + "\n", encoding="utf-8")
            if self.integrated:
                for name in FLUID_TABLES:
                    self._table(name).write_parquet(result.path / f"{name}.parquet")
            if pictures:
                from longfat import plot

                figure = self.plot(result.path / "fluid.png", packets=packets)
                plot.save(figure, result.path / "fluid.svg")
            result.commit()
        return target


def default_folder(
    name: str, model: str, price: str, *, delay: bool, settings: Sequence[str] = ()
) -> Path:
    """Where a solution is written by default: those with other settings go elsewhere."""
    told = [
        model if model != "mean-field" else "",
        price if price != "queue" else "",
        "" if delay else "no-delay",
        *settings,
    ]
    return Path("runs") / named(f"{name}-fluid", *told)
