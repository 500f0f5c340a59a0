"""What an environment is asked for: by keywords, by a file, or both."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import msgspec
import numpy as np
from numpy.typing import NDArray

from longfat._longfat import LONGEST_FILE, features
from longfat.errors import GymError
from longfat.foreign import read_text, shown

if TYPE_CHECKING:
    from longfat.own import Brought
    from longfat.scenario import Source

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SETS = {"scale-free": True, "raw": False}

Parts = Mapping[str, NDArray[np.float64]]
RewardFunction = Callable[[Parts], NDArray[np.float64]]
"""The rewards of agents from what is known of them: arrays by name, with an entry for each agent."""


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What actions mean.

    Attributes:
        sets: `window`, in segments; or `rate`, in Mbit/s, which is paced, with a window of twice what the rate
            has in flight.
        scale: `multiplicative`: an action is a number from -1 to 1, and the new value the old one times two to
            the power of `octaves` times it; or `absolute`: an action is the new value.
        octaves: By how many powers of two a single action changes it at most.
        bounds: Between which values it stays: segments from 1 up, or Mbit/s from 0.001 up. By default up to
            1 000 000 segments, and from 0.01 to 100 000 Mbit/s.
    """

    sets: Literal["window", "rate"] = "window"
    scale: Literal["multiplicative", "absolute"] = "multiplicative"
    octaves: float = 1.0
    bounds: tuple[float, float] | None = None

    @property
    def limits(self) -> tuple[float, float]:
        """The bounds, given or not."""
        if self.bounds is not None:
            return self.bounds
        return (1.0, 1e6) if self.sets == "window" else (0.01, 1e5)

    @property
    def space(self) -> tuple[float, float]:
        """The least and the most that an action can be."""
        return (-1.0, 1.0) if self.scale == "multiplicative" else self.limits


class Reward(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reward of an interval: `throughput·log2(x) - delay·log2(d) - loss·l`.

    After K. Winstein and H. Balakrishnan, "TCP ex Machina: Computer-Generated Congestion Control", SIGCOMM
    2013, whose objective is the logarithm of throughput less that of delay: a path of ten times the rate gives
    no larger reward, and agents that share a link gain most in total by sharing it equally.

    x is the rate of what was delivered as a share of the slowest link of the path, at least 1/1024; d the mean
    round trip over that without queues, at least 1; l the share of segments that were lost.

    Attributes:
        throughput: Weight of the throughput.
        delay: Weight of the delay.
        loss: Weight of losses: with 10, as much is taken off for 10 % as for half of the throughput.
    """

    throughput: float = 1.0
    delay: float = 0.5
    loss: float = 10.0


class Settings(TypedDict, total=False):
    """The keywords of every environment. What they give replaces what the file of an environment says.

    Attributes:
        agents: The flows that agents steer, by the names of their groups. May be left out if the scenario has a
            single group of flows.
        interval: The length of a monitor interval in smoothed round trips, 1 by default.
        observe: `scale-free` (the default), `raw`, or features by name.
        history: How many intervals an observation has, 1 by default.
        action: What actions mean.
        reward: Weights of the default reward, or a function: from arrays by name, with an entry for each agent,
            to an array of rewards.
        set: Fields of the scenario to set, beside those that the file sets.
        randomise: Fields of the scenario to draw for each episode.
        fluid: Solve the fluid model, with what links charge.
        controllers: Controllers of your own that the scenario can choose by their names.
        queues: Queues of your own, likewise.
        allow_code: Whether the scenario may name code, which is then run.
    """

    agents: Sequence[str] | None
    interval: float | None
    observe: str | Sequence[str] | None
    history: int | None
    action: Action | Mapping[str, Any] | None
    reward: Reward | RewardFunction | Mapping[str, float] | None
    set: Mapping[str, Any] | None
    randomise: Mapping[str, Any] | None
    fluid: str | None
    controllers: Sequence[Brought]
    queues: Sequence[Brought]
    allow_code: bool


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An environment as its file has it.

    Attributes:
        scenario: The path of a scenario, relative to the file, or the scenario itself as a table.
        agents: The groups of flows that agents steer, an agent for each flow. May be left out if the scenario
            has a single group of flows.
        interval: How long a monitor interval is, in smoothed round trips: of several agents, the longest.
        observe: `scale-free`, `raw`, or a list of features by name: `longfat.gym.features()` has all of them.
        history: How many intervals an observation has, the oldest first.
        action: What actions mean.
        reward: The weights of the reward.
        set: Fields of the scenario to set in every episode.
        randomise: Fields of the scenario that are drawn anew for every episode: ranges
            `{ from, to, scale }`, where `scale` is `linear` (the default) or `log`, or lists to choose from.
        fluid: Solve the fluid model instead of moving packets, with what links charge: `avq`, `overflow`, `red`
            or `loss`.
    """

    scenario: str | dict[str, Any]
    agents: list[str] | None = None
    interval: float = 1.0
    observe: str | list[str] = "scale-free"
    history: int = 1
    action: Action = Action()
    reward: Reward = Reward()
    set: dict[str, Any] = {}
    randomise: dict[str, Any] = {}
    fluid: str | None = None

    @property
    def observed(self) -> list[str]:
        """What is observed, by name.

        Raises:
            GymError: There is no such set of features.
        """
        if isinstance(self.observe, list):
            return self.observe
        if (wanted := SETS.get(self.observe)) is None:
            message = f'`observe` is "{shown(self.observe)}": it is "scale-free", "raw", or a list of features'
            raise GymError(message)
        # Simulated time tells an agent when the episode ends, which no flow knows.
        return [name for name, _, _, _, free in features() if free == wanted and name != "time_s"]


def options(source: Source, given: Mapping[str, Any]) -> tuple[Options, Source]:
    """What is asked for, and the scenario: from the file of an environment or a scenario, and from keywords.

    Raises:
        GymError: The file or a keyword is wrong.
        OSError: The file cannot be read.
    """
    asked = {key: value for key, value in given.items() if value is not None}
    scenario: Source = source
    if isinstance(source, Mapping):
        found = dict(source) if "scenario" in source else {}
        where, folder = "", Path()
    elif isinstance(source, str) and "\n" in source:
        found, where, folder = _parsed(source), "", Path()
    else:
        path = Path(os.fspath(source))
        try:
            found = _parsed(read_text(path, LONGEST_FILE))
        except ValueError as error:
            message = f"{shown(str(path))} cannot be read: {error}"
            raise GymError(message) from error
        where, folder = f"{shown(str(path))}: ", path.parent
    if "set" in asked and isinstance(found.get("set"), Mapping):
        asked["set"] = {**found["set"], **asked["set"]}
    told = _plain({"scenario": "", **found, **asked})
    try:
        made = msgspec.convert(told, Options, strict=True)
    except msgspec.ValidationError as error:
        raise _wrong(told, asked, where, error) from error
    if found:
        inner = found["scenario"]
        scenario = inner if isinstance(inner, Mapping) else folder / str(inner)
    return made, scenario


def _wrong(
    told: Mapping[str, Any], asked: Mapping[str, Any], where: str, error: msgspec.ValidationError
) -> GymError:
    """Where a setting comes from that is wrong: a keyword, or else the file."""
    for key in asked:
        if own := _fault(key, told[key]):
            return GymError(f"the argument `{key}` is wrong: {_in_words(own)}")
    return GymError(where + _in_words(error))


def _fault(key: str, value: object) -> msgspec.ValidationError | None:
    """What is wrong with a setting, whatever the others are."""
    try:
        msgspec.convert({"scenario": "", key: value}, Options, strict=True)
    except msgspec.ValidationError as error:
        return error
    return None


def _parsed(text: str) -> dict[str, Any]:
    """The table of the file of an environment; nothing if it is something else, such as a scenario."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        # If it was to be a scenario, its reader shows the place.
        return {}
    return table if "scenario" in table else {}


def _plain(value: object) -> Any:  # noqa: ANN401 - what msgspec converts
    """Tables and lists as msgspec converts them: settings that are made in Python are taken apart."""
    if isinstance(value, msgspec.Struct):
        return _plain(msgspec.to_builtins(value))
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value


def _in_words(error: msgspec.ValidationError) -> str:
    """What msgspec says, with the key that was probably meant."""
    text = str(error)
    if found := re.search(r"unknown field `([^`]*)`(?: - at `\$\.?([^`]*)`)?", text):
        name, place = shown(found[1]), found[2] or ""
        kinds: dict[str, Any] = {"": Options, "action": Action, "reward": Reward}
        known = [each.name for each in msgspec.structs.fields(kinds.get(place, Options))]
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(known)}"
        return f"there is no key `{name}`{f' in `{place}`' if place else ''}: {hint}"
    return text.replace(" - at `$.", " at `")
