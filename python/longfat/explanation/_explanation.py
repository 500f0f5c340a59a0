"""What limited the flows of a run: what is known, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from longfat.explanation._phases import CAUSES, Course, Phase, phases
from longfat.explanation._words import causes, events, time
from longfat.units import plural

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.figure import Figure

_MOST_PHASES = 6
_MOST_FLOWS = 6


@dataclass(frozen=True)
class FlowLimits:
    """What limited a flow.

    Attributes:
        name: The flow, such as `reno[0]`.
        control: Its controller.
        active_s: For how long it could send, in seconds.
        shares: For which share of that each cause limited it; empty if that is not known. They sum to 1.
        losses: How many times it answered losses.
        marks: How many times it answered marks.
        timeouts: How many time-outs there were.
        windowed: Whether it has a window; without one it sends at the rate of its own link.
        rows: The time series behind it: `time_s`, `window`, and seconds for each cause.
        course: The same as plain numbers.
    """

    name: str
    control: str
    active_s: float
    shares: dict[str, float]
    losses: int
    marks: int
    timeouts: int
    windowed: bool
    rows: pl.DataFrame = field(repr=False, compare=False)
    course: Course = field(repr=False, compare=False)

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """When what limited it, in order."""
        return tuple(phases(self.course)) if self.shares else ()

    @property
    def sentences(self) -> list[str]:
        """What limited it, in sentences."""
        if not self.windowed:
            return [f"{self.name} has no window: it sends at the rate of its own link."]
        if not self.shares:
            return [f"{self.name} was never limited: it had no time to send."]
        limited = causes(self.shares, f"its {time(self.active_s)}")
        answered = events(self.losses, self.marks, self.timeouts)
        told = [
            f"{self.name} was limited {limited}.",
            f"It answered {answered}." if answered else "Nothing was lost or marked.",
        ]
        longest = sorted(self.phases, key=lambda phase: phase.begin_s - phase.end_s)[:_MOST_PHASES]
        return told + [phase.told for phase in self.phases if phase in longest]


@dataclass(frozen=True)
class Explanation:
    """What limited the flows of a run.

    Attributes:
        name: The name of the run.
        duration_s: Simulated time in seconds.
        warmup_s: How much of it averages leave out.
        flows: The long flows.
    """

    name: str
    duration_s: float
    warmup_s: float
    flows: tuple[FlowLimits, ...]

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """What limited them, in sentences: of each of a few flows, or of each group of many."""
        if not self.flows:
            return ("The run has no long flows, and short ones are not followed one by one.",)
        if len(self.flows) <= _MOST_FLOWS:
            return tuple(each for flow in self.flows for each in flow.sentences)
        groups: dict[str, list[FlowLimits]] = {}
        for flow in self.flows:
            groups.setdefault(flow.name.partition("[")[0], []).append(flow)
        return tuple(_of_group(name, flows) for name, flows in groups.items())

    def __str__(self) -> str:
        """The sentences, a paragraph for each flow."""
        if len(self.flows) > _MOST_FLOWS or not self.flows:
            return "\n".join(self.sentences)
        return "\n\n".join("\n".join(flow.sentences) for flow in self.flows)

    __repr__ = __str__

    def as_dict(self) -> dict[str, Any]:
        """The object that `longfat explain --json` prints."""
        flows = [
            {
                "name": flow.name,
                "control": flow.control,
                "active_s": flow.active_s,
                "shares": flow.shares,
                "losses": flow.losses,
                "marks": flow.marks,
                "timeouts": flow.timeouts,
                "phases": [vars(phase) for phase in flow.phases],
            }
            for flow in self.flows
        ]
        return {"name": self.name, "flows": flows, "sentences": list(self.sentences)}

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draws the window of each of the first flows, and below it a band that shows what limited it.

        Args:
            path: Also write the picture there; the suffix (`.png`, `.svg`, `.pdf`) selects the format.

        Returns:
            The figure, which a notebook displays.

        Raises:
            ValueError: The run has no long flows.
        """
        from longfat import plot

        if not self.flows:
            message = f"{self.name} has no long flows: there is no window to draw"
            raise ValueError(message)
        figure = plot.limits(self)
        if path is not None:
            plot.save(figure, path)
        return figure


def _of_group(name: str, flows: Sequence[FlowLimits]) -> str:
    alone = len(flows) == 1
    which = f"The flow of {name}" if alone else f"The {plural(len(flows), 'flow')} of {name}"
    known = [flow for flow in flows if flow.shares]
    if not known and not any(flow.windowed for flow in flows):
        return (
            f"{which} sends at the rate of its own link."
            if alone
            else (f"{which} send at the rate of their own links.")
        )
    if not known:
        return f"{which} had no time to send."
    means = {cause: sum(flow.shares[cause] for flow in known) / len(known) for cause in CAUSES}
    if alone:
        told, answer = f"{which} was limited {causes(means, 'its time')}", "it answered"
    else:
        limited = causes(means, "their time", several=True)
        told = f"{which} were limited {limited}, on average"
        answer = "they answered"
    sums = (sum(getattr(flow, each) for flow in known) for each in ("losses", "marks", "timeouts"))
    answered = events(*sums)
    return f"{told}; {answer} {answered}." if answered else f"{told}."
