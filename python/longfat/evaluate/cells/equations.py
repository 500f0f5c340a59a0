"""Equations: where a window law settles in the fluid model, and how late its feedback may come."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from longfat.errors import FluidError
from longfat.evaluate.cells._cell import Cell, Group, Measure, Solved, Source
from longfat.results import fluid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from longfat.evaluate.cells._cell import Control, Row
    from longfat.own import Brought
    from longfat.results import Fluid

CONTROL_THEORY = Source(
    "Hollot, Misra, Towsley and Gong, INFOCOM 2001",
    "flows and their queue are a loop with delayed feedback, which is stable near its equilibrium up to "
    "some delay",
)

_MOST = 100.0
"""A margin that is larger, or infinite, counts as this."""


def _cells(_: Mapping[str, Control]) -> list[Cell]:
    return [
        *(
            _settles(count, full_only)
            for count, full_only in ((10, True), (60, False), (200, True))
        ),
        _trips(),
    ]


def _settles(count: int, full_only: bool) -> Cell:  # noqa: FBT001 - a row of a table
    def scenes(control: Control) -> dict[str, Solved]:
        return {"solved": Solved(_network(control, count, ("45 ms", "55 ms")), _margin)}

    margin = Measure(
        "margin",
        "factor of all feedback delays at which stability is lost",
        "",
        "more",
        0.05,
        0.05,
        censored=_MOST,
    )
    window = Measure("window", "mean window at equilibrium, segments", "")
    return Cell(
        name=f"equations/margin-{count}",
        title=f"stability with {count} flows",
        source=CONTROL_THEORY,
        question=f"{count} flows share 100 Mbit/s with round trips of 45 to 55 ms, and a virtual queue "
        "marks what exceeds it, or, for laws that answer queueing delay, a queue holds it: by which factor "
        "may all feedback be later until the equilibrium is no longer stable? Below one it is not.",
        scenes=scenes,
        measures=(margin, window),
        says=f"is stable while feedback takes less than {{margin}} times as long, with {count} flows at "
        "{window} segments each",
        briefly="({margin})",
        full_only=full_only,
        chancy=False,
    )


def _trips() -> Cell:
    """What different round trips get at equilibrium."""

    def scenes(control: Control) -> dict[str, Solved]:
        return {"solved": Solved(_network(control, 20, ("20 ms", "200 ms")), _exponent)}

    exponent = Measure("exponent", "rates fall with the round trip to the power of")
    apart = Measure("apart", "how far that power is from zero", "", "less", 0.1)
    return Cell(
        name="equations/round-trips",
        title="rates of different round trips at equilibrium",
        source=CONTROL_THEORY,
        question="20 flows with round trips of 20 to 200 ms share 100 Mbit/s: how do their rates at "
        "equilibrium depend on the round trip? An exponent of 0 would be not at all, 1 is that of equal "
        "windows.",
        scenes=scenes,
        measures=(exponent, apart),
        says="gives rates that fall with the round trip to the power of {exponent}",
        briefly="({exponent})",
        full_only=False,
        chancy=False,
    )


def _network(control: Control, count: int, trips: tuple[str, str]) -> dict[str, Any]:
    return {
        "duration": "10 s",
        "link": {"bottleneck": {"rate": "100 Mbit/s", "delay": "5 ms"}},
        "flow": [
            {
                "name": "flow",
                "control": control,
                "count": count,
                "path": ["bottleneck"],
                "rtt": {"spread": list(trips)},
            }
        ],
    }


def _solved(solve: Callable[..., Fluid]) -> Fluid:
    """The equations with the price of a virtual queue; of a queue where a law answers its delay."""
    try:
        return solve(price="avq")
    except FluidError as refused:
        try:
            return solve(price="overflow")
        except FluidError:
            # Neither price is what it lacks.
            raise refused from None


def _margin(
    scenario: Mapping[str, Any], controllers: Sequence[Brought] = (), *, allow_code: bool = False
) -> Row:
    found = _solved(
        partial(
            fluid,
            scenario,
            integrate=False,
            stability=True,
            controllers=controllers,
            allow_code=allow_code,
        )
    )
    windows = [each["window"] for each in (found.equilibrium or {})["flows"]]
    margin = found.margin if found.margin is not None else (_MOST if found.stable else 0.0)
    return {"margin": min(margin, _MOST), "window": sum(windows) / len(windows)}


def _exponent(
    scenario: Mapping[str, Any], controllers: Sequence[Brought] = (), *, allow_code: bool = False
) -> Row:
    from longfat.fairness import fit_exponent

    found = _solved(
        partial(
            fluid,
            scenario,
            integrate=False,
            equilibrium=True,
            controllers=controllers,
            allow_code=allow_code,
        )
    )
    flows = (found.equilibrium or {})["flows"]
    trips = [each["round_trip_s"] for each in flows]
    exponent = fit_exponent(trips, [each["rate_bit_s"] for each in flows]).value
    return {"exponent": exponent, "apart": abs(exponent)}


GROUP = Group(
    "equations",
    "Equations",
    "For window laws: where they settle in the fluid model, and how much later their feedback may come.",
    _cells,
)
