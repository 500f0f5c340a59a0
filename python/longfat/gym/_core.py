"""What environments of every kind have in common: compiled code, spaces, arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from longfat._longfat import Environments, features
from longfat.errors import GymError
from longfat.foreign import shown
from longfat.gym._domain import Domain
from longfat.gym._options import Options, RewardFunction, Settings, options
from longfat.own import Code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from longfat.scenario import Source


class Core:
    """A number of environments with the same settings.

    Attributes:
        options: The settings.
        agents: What the agents of an environment are called.
        observation_space: What an agent observes.
        action_space: What it does.
    """

    def __init__(self, source: Source, settings: Settings) -> None:
        """Reads everything, and refuses what makes no sense. At first there is one environment.

        Raises:
            TypeError: There is no such setting.
            GymError: A setting is wrong.
            ScenarioError: The scenario is wrong.
            OSError: A file cannot be read.
        """
        if unknown := sorted(set(settings) - set(Settings.__annotations__)):
            known = ", ".join(Settings.__annotations__)
            message = f"there is no setting `{unknown[0]}` of an environment: there are {known}"
            raise TypeError(message)
        given: dict[str, Any] = dict(settings)
        code = Code(
            controllers=tuple(given.pop("controllers", ())),
            queues=tuple(given.pop("queues", ())),
            allowed=given.pop("allow_code", False),
        )
        reward = given.get("reward")
        self._function: RewardFunction | None = reward if callable(reward) else None
        weights = None if callable(reward) else reward
        self.options, scenario = options(source, {**given, "reward": weights})
        asked = self.options
        self.domain = Domain(scenario, asked.set, asked.randomise, code)
        self._steered = self._groups(asked)
        observed, action = asked.observed, asked.action
        self.multiply(1, 1)
        self.agents = self._names(self._steered)
        bounds = {name: (low, high) for name, _, low, high, _ in features()}
        low, high = (
            np.tile([bounds[name][end] for name in observed], asked.history).astype(np.float32)
            for end in (0, 1)
        )
        self.observation_space = spaces.Box(low, high, dtype=np.float32)
        least, most = action.space
        self.action_space = spaces.Box(least, most, (1,), dtype=np.float32)
        self.names: list[str] = self._compiled.information_names()

    def multiply(self, count: int, threads: int) -> None:
        """Makes so many environments, stepped by so many threads, before any of them has begun."""
        asked = self.options
        action, weight = asked.action, asked.reward
        self.count = count
        self._compiled = Environments(
            count,
            self._steered,
            self.domain.example,
            interval=asked.interval,
            observe=asked.observed,
            history=asked.history,
            sets=action.sets,
            scale=action.scale,
            octaves=action.octaves,
            bounds=action.limits,
            weights=(weight.throughput, weight.delay, weight.loss),
            fluid=asked.fluid,
            threads=threads,
        )

    def _groups(self, asked: Options) -> list[str]:
        known = [
            name
            for name, group in dict(self.domain.example.quantities()["groups"]).items()
            if not group["short"]
        ]
        if asked.agents is not None:
            return asked.agents
        if len(known) == 1:
            return known
        told = ", ".join(map(shown, known)) if known else "none"
        message = f"which flows do agents steer? This scenario has {told}: name some with `agents`"
        raise GymError(message)

    def _names(self, groups: Sequence[str]) -> list[str]:
        """A name for each agent, in the order of the scenario."""
        found = []
        for name, group in dict(self.domain.example.quantities()["groups"]).items():
            if name in groups and not group["short"]:
                count = group["count"]
                found += [name] if count == 1 else [f"{name}-{index}" for index in range(count)]
        if len(found) != self._compiled.agents:  # clients with several connections
            found = [f"agent-{index}" for index in range(self._compiled.agents)]
        return found

    def prepare(self, index: int, seed: int) -> dict[str, Any]:
        """Has an environment begin the episode with this seed at the next step; returns what was drawn."""
        scenario, drawn = self.domain.draw(seed)
        self._compiled.prepare(index, scenario)
        return drawn

    def begin(self) -> None:
        """Begins the episodes that were prepared."""
        self._compiled.begin()
        self._look()

    def step(self, actions: NDArray[Any]) -> None:
        """Takes a step in all environments, or begins what was prepared there.

        Raises:
            GymError: There are not as many actions as agents, or one of them is no number.
        """
        self._compiled.step(np.ascontiguousarray(actions, dtype=np.float64).tobytes())
        self._look()

    def _look(self) -> None:
        shape = (self.count, len(self.agents))
        compiled = self._compiled
        self.observations = (
            np.frombuffer(compiled.observations(), np.float32).reshape(*shape, -1).copy()
        )
        self.terminated = np.frombuffer(compiled.terminated(), np.bool_).reshape(shape).copy()
        self.truncated = np.frombuffer(compiled.truncated(), np.bool_).reshape(shape).copy()
        self.information = np.frombuffer(compiled.information(), np.float64).reshape(*shape, -1)
        if self._function is None:
            self.rewards = np.frombuffer(compiled.rewards(), np.float64).reshape(shape).copy()
        else:
            self.rewards = self._own_rewards(self._function).reshape(shape)

    def _own_rewards(self, function: RewardFunction) -> NDArray[np.float64]:
        """What the user's function makes of the parts; nothing where no interval has ended.

        Raises:
            GymError: That is not a number for each agent.
        """
        flat = self.information.reshape(-1, len(self.names))
        parts = {name: flat[:, index].copy() for index, name in enumerate(self.names)}
        given = np.asarray(function(parts), dtype=np.float64)
        if given.shape != (len(flat),) or not np.all(np.isfinite(given)):
            message = (
                f"the reward function returned {shown(repr(given)[:100])}, and {len(flat)} finite numbers are "
                "needed, one for each agent"
            )
            raise GymError(message)
        return np.where(parts["active"] > 0, given, 0.0)

    def told(self, index: int, agent: int) -> dict[str, Any]:
        """What is known of one agent, by name."""
        return dict(zip(self.names, self.information[index, agent].tolist(), strict=True))
