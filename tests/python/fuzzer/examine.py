"""Asks a case, and looks at the answer: a result that can be, or a refusal by an error of longfat's own."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import longfat
from fuzzer import rooms
from fuzzer.absurd import (
    AbsurdError,
    check_fluid,
    check_numbers,
    check_rest,
    check_run,
    check_tables,
)
from fuzzer.limits import FLUID_S, PATIENCE_S, Memory, StoppedError, in_time
from longfat import _longfat
from longfat.errors import FluidError, LabelError, MeasureError, RoomError, ScenarioError
from longfat.results._fluid import solve
from longfat.results._run import Run
from longfat.results._simulate import simulate
from longfat.scenario import quantities, read
from longfat.study import Cache, Point, run_points

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from fuzzer.cases import Case

Scenario = _longfat.Scenario

REFUSALS = (ScenarioError, FluidError, RoomError, MeasureError, LabelError)
"""The errors by which an input may be refused."""

MOST_PACKETS, MOST_MEMORY = 5_000, 50e6
"""What is accepted but asks for more is made shorter, or passed over."""

MOST_TRIPS = 2_000
"""The fluid makes no estimate: it is small with so many round trips of all its flows, and so many rows."""

DURATIONS = ("", "1 s", "30 ms", "200 us")


def examine(case: Case, memory: Memory | None = None) -> str:
    """Asks a case, if it is right and small.

    Returns:
        What was done: `run`, `solved`, `stopped`, `refused` or `large`.

    Raises:
        AbsurdError: The answer cannot be.
        TooLongError: It took too long.
        TooLargeError: It took too much memory.
        Exception: Anything else is a fault as well.
    """
    with in_time(stop_s=FLUID_S if case.kind == "fluid" else PATIENCE_S):
        try:
            done = _ASK[case.kind](case)
        except REFUSALS as error:
            if not str(error):
                message = f"a refusal without a word: {error!r}"
                raise AbsurdError(message) from error
            done = "refused"
        except StoppedError:
            done = "stopped"
    if memory is not None:
        memory.check()
    return done


def _read_twice(text: str) -> Scenario:
    """The scenario; what is written of it reads back to the same."""
    scenario, _ = read(text)
    if read(scenario.to_toml())[0] != scenario:
        message = "the resolved scenario reads back to another one"
        raise AbsurdError(message)
    return scenario


def _shortened(text: str, scenario: Scenario) -> Iterator[Scenario]:
    """The scenario, and then shorter and shorter ones."""
    for duration in DURATIONS:
        if not duration:
            yield scenario
            continue
        changes = ["warmup=0 s", f"duration={duration}", f"sample={duration}"]
        try:
            yield read(text, changes=changes)[0]
        except ScenarioError:
            continue


def _is_small(scenario: Scenario) -> bool:
    needed = scenario.estimate()
    return bool(needed["packets"] <= MOST_PACKETS and needed["memory"] <= MOST_MEMORY)


def _ask_run(case: Case) -> str:
    scenario = _read_twice(case.text)
    for short in _shortened(case.text, scenario):
        if _is_small(short):
            check(Run(short, simulate(short), "scenario"))
            return "run"
    return "large"


def check(run: Run) -> None:
    """Refuses a run that cannot be.

    Raises:
        AbsurdError: With what is wrong.
    """
    given = quantities(run._scenario)  # noqa: SLF001 - the object that was just made
    check_run(run.summary, given)
    series = run.link_series.to_polars().drop("link", "direction").to_dict(as_series=False)
    check_tables(run.summary, run.flows.to_polars().to_dicts(), series, given)


def _ask_fluid(case: Case) -> str:
    scenario = _read_twice(case.text)
    asked = dict(case.tree)
    for short in _shortened(case.text, scenario):
        if _is_small_fluid(short):
            solved = solve(short, "scenario", **asked).summary
            given = quantities(short)
            priced = asked["price"] != "loss" or asked["model"] == "synchronised"
            check_fluid(solved, given, priced=priced)
            if (rest := solved["equilibrium"]) is not None:
                check_rest(rest, given, priced=priced)
            if solved["margin"] is not None:
                check_numbers("stability", {"margin": solved["margin"]})
            return "solved"
    return "large"


def _is_small_fluid(scenario: Scenario) -> bool:
    content = json.loads(scenario.to_json())
    trips = 0.0
    flows = 2.0 * len(content["link"])
    for flow in content.get("flow", ()):
        shortest = min(map(_picoseconds, _texts(flow["rtt"])))
        flows += flow["count"]
        trips += flow["count"] * scenario.duration_s * 1e12 / max(shortest, 1)
    rows = scenario.duration_s * 1e12 / quantities(scenario).sample_ps * flows
    return max(trips, rows) <= MOST_TRIPS


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value[:1].isdigit():
            yield value
    elif isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def _ask_synchronised(case: Case) -> str:
    if not _is_small_plane(**case.tree):
        return "large"
    try:
        solved = longfat.synchronised(**case.tree)
    except ValueError as error:
        if isinstance(error, REFUSALS) or "one controller and one round trip" in str(error):
            return "refused"
        raise
    check_fluid(solved.summary, solved.quantities, priced=True)
    return "solved"


def _is_small_plane(
    *, rtt: Any, duration: Any, window: list[Any], sample: Any = None, **_: Any
) -> bool:
    """Whether a phase plane has few round trips and few rows; what is no time is refused soon enough."""
    shortest = min(map(_picoseconds, _texts(rtt)), default=0)
    most = MOST_TRIPS * min(shortest, _picoseconds(sample) if sample is not None else shortest)
    return len(window) * _picoseconds(duration) <= most


def _picoseconds(text: Any) -> int:
    try:
        return _longfat.quantity("time", text)
    except (TypeError, ValueError):
        return 0


def _ask_study(case: Case) -> str:
    points = case.tree.get("points")
    workers = case.tree.get("workers")
    if not isinstance(points, list) or not isinstance(workers, int) or not 1 <= workers <= 4:
        return "refused"  # by the types of Python
    made = [_point(point) for point in points if isinstance(point, dict)]
    expected = [_expected(point) for point in made]
    if sum(expected) > 20:
        return "large"
    for point in made:
        scenario = point.scenario if not isinstance(point.scenario, str) else f"{point.scenario}\n"
        if not _is_small(read(scenario, changes=point.set)[0]):
            return "large"
    with tempfile.TemporaryDirectory() as folder:
        frame = run_points(made, _measure, workers=workers, cache=Cache(folder))
    for row in frame.to_dicts():
        check_numbers("a row", {"utilisation": row["utilisation"]})
    if len(frame) != sum(expected):
        message = f"{len(frame)} rows, not {sum(expected)}"
        raise AbsurdError(message)
    return "run"


def _point(tree: dict[str, Any]) -> Point:
    """The point that a tree stands for, with nothing that the types of Python forbid."""

    def of(key: str, kind: type, default: Any) -> Any:
        found = tree.get(key, default)
        return found if isinstance(found, kind) else default

    seeds = tree.get("seeds", 1)
    if isinstance(seeds, list):
        seeds = [seed for seed in seeds if isinstance(seed, int)]
    elif not isinstance(seeds, int):
        seeds = 1
    return Point(
        of("scenario", dict, {}),
        set=of("set", dict, {}),
        labels=of("labels", dict, {}),
        seeds=seeds,
        tables=tuple(str(name) for name in of("tables", list, [])),
    )


def _expected(point: Point) -> int:
    return max(0, point.seeds) if isinstance(point.seeds, int) else len(point.seeds)


def _measure(run: longfat.study.Measured) -> dict[str, Any]:
    (link, *_) = run.summary["links"].values()
    return {"utilisation": link["forward"]["utilisation"]}


def _ask_claims(case: Case) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return rooms.judge_file(Path(folder), case.text, case.tree)


def _ask_room(case: Case) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return rooms.remake(Path(folder), case.tree)


_ASK = {
    "run": _ask_run,
    "fluid": _ask_fluid,
    "synchronised": _ask_synchronised,
    "study": _ask_study,
    "claims": _ask_claims,
    "room": _ask_room,
}


def failing(
    case: Case, done: Counter[str] | None = None, memory: Memory | None = None
) -> str | None:
    """How a case fails, in words that its smallest form shares; `None` if it does not. Counts in `done`."""
    try:
        what = examine(case, memory)
        if done is not None:
            done[what] += 1
    except AbsurdError as error:
        return f"absurd: {str(error).rpartition(' = ')[0][-20:] or str(error)[-40:]}"
    except Exception as error:  # noqa: BLE001 - whatever it is
        return f"{type(error).__name__}: {str(error)[:60]}"
    return None
