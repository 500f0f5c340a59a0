"""How evenly flows share: indices, time scales, time slices, round trips, and who bears the losses.

Every function takes a finished run: what `longfat.run` returns, what a study hands to its measure, or anything
else with `summary`, `quantities` and `table`. Names of groups select flows; without any, all long flows count.

>>> import longfat
>>> from longfat import fairness
>>> run = longfat.run(
...     {
...         "duration": "6 s",
...         "warmup": "2 s",
...         "sample": "500 ms",
...         "link": {"wire": {"rate": "10 Mbit/s", "delay": "5 ms"}},
...         "flow": [
...             {"name": "near", "control": "reno", "path": ["wire"], "rtt": "20 ms"},
...             {"name": "far", "control": "reno", "path": ["wire"], "rtt": "80 ms"},
...         ],
...     }
... )
>>> fairness.index(run) == fairness.jain(flow["goodput_bit_s"] for flow in run.summary["flows"])
True
>>> fairness.by_time_scale(run, scales=(0.5, 1, 2))["windows"].to_list()
[8, 4, 2]
>>> fairness.utilisation(run, edges=(2, 4, 6)).columns
['from_s', 'until_s', 'flow', 'group', 'utilisation']
>>> fairness.loss_rate(run, "near") == run.summary["flows"][0]["drop_rate"]
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from longfat.results import Finished
from longfat.scenario import PICOSECONDS, no_series
from longfat.study import t_quantile
from longfat.study._statistics import squarable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

__all__ = [
    "Exponent",
    "Finished",
    "by_time_scale",
    "fit_exponent",
    "index",
    "jain",
    "loss_rate",
    "rtt_exponent",
    "share",
    "utilisation",
]

TIME_SCALES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
"""The default time scales of `by_time_scale`, in seconds."""


@dataclass(frozen=True)
class Exponent:
    """How goodput falls with the round trip: in proportion to RTT to the power of `-value`.

    Attributes:
        value: The exponent: 0 if round trips do not matter, 1 for equal windows, 2 for Reno under synchronised
            losses.
        half_width: Half the width of its 95 % confidence interval by Student's t, taking flows as independent;
            `None` with two flows.
        n: How many flows were fitted.
        starved: How many flows received nothing, and so have no logarithm: they are left out.
    """

    value: float
    half_width: float | None
    n: int
    starved: int


def jain(values: Iterable[float]) -> float | None:
    """Jain's index of fairness, (sum of x)^2 / (n times the sum of x^2).

    It is 1 if all get the same, and k/n if k of n share everything evenly (Chiu and Jain 1989).

    Args:
        values: What each one gets, in any unit.

    Returns:
        The index; `None` if nobody gets anything.

    >>> jain([3, 1])
    0.8
    >>> jain([10, 0, 0, 0])
    0.25
    """
    known, _ = squarable(list(values))
    squares = math.fsum(value * value for value in known)
    return math.fsum(known) ** 2 / (len(known) * squares) if squares > 0 else None


def index(run: Finished, *groups: str) -> float | None:
    """Jain's index of the goodputs of the flows that are active in the measured interval.

    With one group it is the number in `run.summary["jain"]`; with several, that of all their flows together.

    Args:
        run: The finished run.
        groups: Groups of long flows.

    Returns:
        The index; `None` if nobody gets anything.

    Raises:
        ValueError: There is no such group.
    """
    return jain(flow.goodput_bit_s for flow in _flows(run, groups) if flow.active_s > 0)


def by_time_scale(
    run: Finished,
    *groups: str,
    scales: Sequence[float] = TIME_SCALES,
    from_s: float | None = None,
    until_s: float | None = None,
) -> pl.DataFrame:
    """Jain's index within windows of time, averaged: what is fair in the long run may not be in the short.

    The steady part is cut into consecutive windows; a remainder at its end is not used. A flow counts in the
    windows throughout which it is active. Windows in which nobody gets anything have no index.

    Args:
        run: A finished run that kept its time series.
        groups: Groups of long flows.
        scales: The lengths of windows in seconds: whole multiples of `sample`, the spacing of the time series.
        from_s: Where the steady part begins; by default at the end of the warm-up.
        until_s: Where it ends; by default at the end of the run.

    Returns:
        One row for each scale: `scale_s`, `jain` (null if no window has one) and `windows`, how many have.

    Raises:
        ValueError: There is no such group, no time series, or a scale that `sample` does not divide.
    """
    import polars as pl

    flows = _flows(run, groups)
    series = _series(run, flows)
    sample, first, last = _steady(run, from_s, until_s)
    rows = []
    for scale in scales:
        length = _multiple(scale, sample, "a time scale")
        windows = (last - first) // length
        inside = pl.col("edge").is_between(first + 1, first + windows * length)
        within = series.filter(inside).with_columns((pl.col("edge") - 1 - first) // length)
        begins = (first + pl.col("edge") * length) * sample
        ends = begins + length * sample
        rates = (
            within.filter(pl.col("from_ps") <= begins, pl.col("until_ps") >= ends)
            .group_by("edge", "flow")
            .agg(pl.col("throughput_bit_s").mean().alias("rate"))
        )
        found = [
            jain(rates)
            for (rates,) in rates.group_by("edge").agg("rate").select("rate").iter_rows()
        ]
        known = [one for one in found if one is not None]
        mean = math.fsum(known) / len(known) if known else None
        rows.append({"scale_s": float(scale), "jain": mean, "windows": len(known)})
    schema = {"scale_s": pl.Float64, "jain": pl.Float64, "windows": pl.Int64}
    return pl.DataFrame(rows, schema=schema)


def utilisation(
    run: Finished, *groups: str, edges: Sequence[float] | None = None, link: str | None = None
) -> pl.DataFrame:
    """The share of a link that the new data of each flow take in each slice of time.

    Args:
        run: A finished run that kept its time series.
        groups: Groups of long flows; by default those that cross the link.
        edges: Where slices begin and end, in seconds and in order, such as (50, 100, 150) for two slices: whole
            multiples of `sample`. By default one slice, from the end of the warm-up to the end of the run.
        link: A link that the flows cross; needed if the scenario has several.

    Returns:
        One row for each slice and flow: `from_s`, `until_s`, `flow`, `group`, `utilisation` (0 to 1).

    Raises:
        ValueError: There is no such group or link, no time series, or edges that do not fit.
    """
    import polars as pl

    if link is not None and not groups:
        groups = _crossing(run, link, short=False)
    flows = _flows(run, groups) if groups or link is None else []
    rates = {flow.name: _rate(run, flow.group, link)[0] for flow in flows}
    series = _series(run, flows)
    sample, first, last = _steady(run, None, None)
    marks = (
        [first, last] if edges is None else [_multiple(edge, sample, "an edge") for edge in edges]
    )
    if len(marks) < 2 or any(b <= a for a, b in pairwise(marks)):  # noqa: PLR2004
        message = "edges of slices must be at least two instants, each later than the one before"
        raise ValueError(message)
    if marks[-1] > last:
        message = f"the run ends at {last * sample / PICOSECONDS:g} s, before the last edge"
        raise ValueError(message)
    rows = []
    for begin, end in pairwise(marks):
        within = series.filter(pl.col("edge").is_between(begin + 1, end))
        sums = dict(within.group_by("flow").agg(pl.col("throughput_bit_s").sum()).iter_rows())
        rows += [
            {
                "from_s": begin * sample / PICOSECONDS,
                "until_s": end * sample / PICOSECONDS,
                "flow": flow.name,
                "group": flow.group,
                "utilisation": sums.get(flow.name, 0.0) / (end - begin) / rates[flow.name],
            }
            for flow in flows
        ]
    schema = {
        "from_s": pl.Float64,
        "until_s": pl.Float64,
        "flow": pl.String,
        "group": pl.String,
        "utilisation": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema)


def share(run: Finished, *groups: str, link: str | None = None) -> float:
    """The share of a link that the new data of some groups take together, in the measured interval.

    Data counts by whole packets when it arrives. The first of them may have crossed the link before the
    interval began: what is more than the link can carry in the interval is none of its capacity, and does not
    count.

    Args:
        run: The finished run.
        groups: Groups of long or short flows; by default all that cross the link.
        link: A link that the flows cross; needed if the scenario has several.

    Returns:
        A share, 0 to 1; of groups that cross the link in both directions the sum of two.

    Raises:
        ValueError: There is no such group or link.
    """
    measured = run.quantities.measured_s
    if link is not None and not groups:
        groups = _crossing(run, link, short=True)
        if not groups:
            return 0.0
    used: dict[bool, float] = {}
    for group, flows, traffic in _members(run, groups):
        bits = math.fsum(flow.goodput_bit_s * flow.active_s / measured for flow in flows)
        bits += traffic.get("goodput_bit_s", 0.0)
        capacity, backwards = _rate(run, group, link)
        used[backwards] = used.get(backwards, 0.0) + bits / capacity
    return sum(min(share, 1.0) for share in used.values())


def loss_rate(run: Finished, *groups: str) -> float | None:
    """Data packets dropped by queues per data packet sent, of some groups together, in the measured interval.

    Retransmissions count; acknowledgments, and packets corrupted on a wire, do not.

    Args:
        run: The finished run.
        groups: Groups of long or short flows; by default all.

    Returns:
        A share, 0 to 1; `None` if nothing was sent.

    Raises:
        ValueError: There is no such group.
    """
    sent = dropped = 0
    for _, flows, traffic in _members(run, groups):
        sent += sum(flow.data_sent for flow in flows) + traffic.get("data_sent", 0)
        dropped += sum(flow.data_dropped for flow in flows) + traffic.get("data_dropped", 0)
    return dropped / sent if sent else None


def rtt_exponent(run: Finished, *groups: str, queueing: bool = False) -> Exponent:
    """How goodput depends on the round trip: a least-squares line through log goodput against log RTT.

    Args:
        run: The finished run.
        groups: Groups of long flows.
        queueing: Use the measured round trips, with the mean queueing delay of each flow, instead of those of
            propagation alone.

    Returns:
        The exponent with its interval, over the flows that are active in the measured interval.

    Raises:
        ValueError: There is no such group, or fewer than two round trips among flows that received something.
    """
    flows = [flow for flow in _flows(run, groups) if flow.active_s > 0]
    rtts = [flow.rtt_s + (flow.queueing_s if queueing else 0.0) for flow in flows]
    return fit_exponent(rtts, [flow.goodput_bit_s for flow in flows])


def fit_exponent(rtts: Iterable[float], goodputs: Iterable[float]) -> Exponent:
    """The exponent with which goodputs fall as round trips grow: `rtt_exponent` for any numbers.

    Args:
        rtts: Round trips, in any unit.
        goodputs: What each flow got, in any unit, in the same order.

    Returns:
        The exponent with its interval.

    Raises:
        ValueError: There are fewer than two round trips among flows that got something.

    Four times the round trip and a quarter of the goodput; a flow with nothing is counted and left out:

    >>> fit_exponent([50, 200, 400], [4, 1, 0])
    Exponent(value=1.0, half_width=None, n=2, starved=1)
    """
    pairs = list(zip(rtts, goodputs, strict=True))
    fed = [(math.log(rtt), math.log(goodput)) for rtt, goodput in pairs if goodput > 0]
    starved = len(pairs) - len(fed)
    x, y = [a for a, _ in fed], [b for _, b in fed]
    if len(set(x)) < 2:  # noqa: PLR2004 - a line needs two
        message = (
            "an exponent needs flows of at least two different round trips that received something"
        )
        raise ValueError(message)
    n = len(fed)
    middle, height = math.fsum(x) / n, math.fsum(y) / n
    spread = math.fsum((a - middle) ** 2 for a in x)
    slope = math.fsum((a - middle) * (b - height) for a, b in fed) / spread
    if n == 2:  # noqa: PLR2004 - a line through two points says nothing of its error
        return Exponent(-slope, None, n, starved)
    residual = math.fsum((b - height - slope * (a - middle)) ** 2 for a, b in fed)
    error = math.sqrt(residual / (n - 2) / spread)
    return Exponent(-slope, t_quantile(n - 2) * error, n, starved)


@dataclass(frozen=True)
class _Flow:
    """A long flow, active from `from_ps` to `until_ps`; `active_s` of that are in the measured interval."""

    name: str
    group: str
    rtt_s: float
    queueing_s: float
    goodput_bit_s: float
    data_sent: int
    data_dropped: int
    from_ps: int
    until_ps: int
    active_s: float


def _flows(run: Finished, groups: Sequence[str]) -> list[_Flow]:
    """The long flows of some groups, or all."""
    given = run.quantities
    described = {name: group for name, group in given.groups.items() if not group.short}
    for name in groups:
        _known(name, described, "group of long flows")
    flows = []
    for flow in run.summary["flows"]:
        group = flow["name"].rpartition("[")[0]
        if groups and group not in groups:
            continue
        from_ps = round(flow["start_s"] * PICOSECONDS)
        ends = [given.duration_ps]
        if flow["completion_s"] is not None:
            ends.append(from_ps + round(flow["completion_s"] * PICOSECONDS))
        if (stop := described[group].stop_ps) is not None:
            ends.append(stop)
        active = min(ends) - max(from_ps, given.warmup_ps)
        flows.append(
            _Flow(
                name=flow["name"],
                group=group,
                rtt_s=flow["rtt_s"],
                queueing_s=flow["queueing_delay_mean_s"] or 0.0,
                goodput_bit_s=flow["goodput_bit_s"],
                data_sent=flow["data_sent"],
                data_dropped=flow["data_dropped"],
                from_ps=from_ps,
                until_ps=min(ends),
                active_s=max(active, 0) / PICOSECONDS,
            )
        )
    return flows


def _members(run: Finished, groups: Sequence[str]) -> list[tuple[str, list[_Flow], dict[str, Any]]]:
    """Groups with their long flows, or with the averages of their short ones."""
    traffic, names = run.summary["traffic"], run.quantities.groups
    for name in groups:
        _known(name, names, "group")
    return [
        (name, [] if name in traffic else _flows(run, (name,)), traffic.get(name, {}))
        for name in (dict.fromkeys(groups) or names)
    ]


def _series(run: Finished, flows: Sequence[_Flow]) -> pl.DataFrame:
    """Throughputs of some flows; `edge` numbers the interval that each row ends."""
    import polars as pl

    series = run.table("flow_series")
    if series.is_empty():
        message = f"the run {no_series(run.summary['scenario'])}"
        raise ValueError(message)
    active = pl.DataFrame(
        {
            "flow": [flow.name for flow in flows],
            "from_ps": [flow.from_ps for flow in flows],
            "until_ps": [flow.until_ps for flow in flows],
        },
        schema={"flow": pl.String, "from_ps": pl.Int64, "until_ps": pl.Int64},
    )
    edge = (pl.col("time_s") * PICOSECONDS / run.quantities.sample_ps).round().cast(pl.Int64)
    rows = series.select(pl.col("flow").cast(pl.String), edge.alias("edge"), "throughput_bit_s")
    return rows.join(active, on="flow")


def _steady(run: Finished, from_s: float | None, until_s: float | None) -> tuple[int, int, int]:
    """The sample in picoseconds, and the first and the last edge of whole intervals in the steady part."""
    given = run.quantities
    sample, duration = given.sample_ps, given.duration_ps
    begin = given.warmup_ps if from_s is None else round(from_s * PICOSECONDS)
    end = duration if until_s is None else min(duration, round(until_s * PICOSECONDS))
    return sample, -(-begin // sample), end // sample


def _multiple(seconds: float, sample: int, what: str) -> int:
    """How many samples make up a time."""
    count, rest = divmod(round(seconds * PICOSECONDS), sample)
    if rest or (count < 1 and what == "a time scale"):
        message = (
            f"{what} of {seconds:g} s is not a whole multiple of the spacing of the time series, "
            f"{sample / PICOSECONDS:g} s: choose another `sample`"
        )
        raise ValueError(message)
    return count


def _rate(run: Finished, group: str, link: str | None) -> tuple[int, bool]:
    """What a link can carry on average, in bit/s, where a group crosses it; and whether that is backwards."""
    links = run.quantities.links
    if link is None and len(links) > 1:
        message = f"say which link: the links are {', '.join(links)}"
        raise ValueError(message)
    name = next(iter(links)) if link is None else link
    _known(name, links, "link")
    crossing = run.quantities.groups[group]
    if name not in crossing.crossed:
        message = f"the flows of `{group}` do not cross the link `{name}`"
        raise ValueError(message)
    backwards = crossing.crossed[name]
    return round(links[name].direction(backwards=backwards).capacity_bit_s), backwards


def _crossing(run: Finished, link: str, *, short: bool) -> tuple[str, ...]:
    """The groups that cross a link: of long flows, and if asked for of short ones."""
    given = run.quantities
    _known(link, given.links, "link")
    return tuple(
        name
        for name, group in given.groups.items()
        if link in group.path and (short or not group.short)
    )


def _known(name: str, names: Iterable[str], what: str) -> None:
    if name not in names:
        message = f"there is no {what} called `{name}`: choose one of {', '.join(names)}"
        raise ValueError(message)
