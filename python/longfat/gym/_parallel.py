"""Several agents in one environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.utils import seeding

from longfat.errors import GymError
from longfat.foreign import shown
from longfat.gym._core import Core
from longfat.gym._single import SEEDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gymnasium.spaces import Box
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from longfat.gym._options import Options, Settings
    from longfat.scenario import Source


class ParallelEnv:
    """Agents that steer several flows of one scenario, by PettingZoo's parallel interface.

    It does not need PettingZoo. All agents act at the same instants: an interval is so many of the longest
    smoothed round trip among them. An agent whose flow has not been heard of yet observes zeros, and what it
    does has no effect.

    Attributes:
        possible_agents: All agents: the name of the group of flows, with a number if it has several flows.
        agents: Those whose episode is not over.
    """

    metadata = {"name": "longfat", "render_modes": [], "is_parallelizable": True}  # noqa: RUF012
    render_mode = None

    def __init__(self, source: Source, **settings: Unpack[Settings]) -> None:
        """Makes an environment.

        Args:
            source: A scenario, or the file of an environment: as a path, as text or as a dictionary.
            settings: What it is asked for: `longfat.gym.Settings` has all keywords.

        Raises:
            GymError: A setting is wrong.
            ScenarioError: The scenario is wrong.
            OSError: A file cannot be read.
        """
        self._core = Core(source, settings)
        self.possible_agents: list[str] = list(self._core.agents)
        self.agents: list[str] = []
        self._chance = seeding.np_random(None)[0]
        self.observation_spaces = dict.fromkeys(self._core.agents, self._core.observation_space)
        self.action_spaces = dict.fromkeys(self._core.agents, self._core.action_space)

    @property
    def num_agents(self) -> int:
        """How many agents are not done yet."""
        return len(self.agents)

    @property
    def max_num_agents(self) -> int:
        """How many agents there are."""
        return len(self.possible_agents)

    @property
    def unwrapped(self) -> ParallelEnv:
        """Itself."""
        return self

    def observation_space(self, agent: str) -> Box:
        """What an agent observes."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Box:
        """What an agent does."""
        return self.action_spaces[agent]

    @property
    def settings(self) -> Options:
        """What it was asked for, with every default filled in."""
        return self._core.options

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[np.float32]], dict[str, dict[str, Any]]]:
        """Begins an episode: observations and information of every agent.

        Args:
            seed: The same seed gives the same episodes from here on, to the byte.
            options: None are known, and those of others are passed over, as PettingZoo's tests expect.

        Raises:
            GymError: What was drawn makes no scenario.
        """
        del options
        if seed is not None:
            self._chance = seeding.np_random(seed)[0]
        drawn = self._core.prepare(0, int(self._chance.integers(SEEDS)))
        self._core.begin()
        self.agents = list(self.possible_agents)
        infos = self._by_agent(lambda place: {**self._core.told(0, place), "drawn": drawn})
        return self._by_agent(lambda place: self._core.observations[0, place]), infos

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[
        dict[str, NDArray[np.float32]],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Every agent acts; observations, rewards, terminations, truncations and information of each.

        Raises:
            GymError: An agent does not act, or does not exist; an action is not a single number; or the episode
                is over.
        """
        if not self.agents:
            message = "the episode is over, or has not begun: call reset() first"
            raise GymError(message)
        wanted = np.zeros(len(self.possible_agents))
        if unknown := [name for name in actions if name not in self.possible_agents]:
            known = ", ".join(self.possible_agents)
            message = f"there is no agent `{shown(str(unknown[0]))}`: there are {known}"
            raise GymError(message)
        for place, name in enumerate(self.possible_agents):
            if name in self.agents:
                if name not in actions:
                    message = f"agent `{name}` does not act: an action is needed for {', '.join(self.agents)}"
                    raise GymError(message)
                given = np.asarray(actions[name], dtype=np.float64).reshape(-1)
                if given.size != 1:
                    message = (
                        f"agent `{name}` was given {given.size} actions: a single one is needed"
                    )
                    raise GymError(message)
                wanted[place] = given[0]
        core = self._core
        core.step(wanted)
        found = (
            self._by_agent(lambda place: core.observations[0, place]),
            self._by_agent(lambda place: float(core.rewards[0, place])),
            self._by_agent(lambda place: bool(core.terminated[0, place])),
            self._by_agent(lambda place: bool(core.truncated[0, place])),
            self._by_agent(lambda place: core.told(0, place)),
        )
        _, _, terminated, truncated, _ = found
        self.agents = [name for name in self.agents if not (terminated[name] or truncated[name])]
        return found

    def _by_agent(self, read: Any) -> dict[str, Any]:  # noqa: ANN401 - of any kind
        places = {name: place for place, name in enumerate(self.possible_agents)}
        return {name: read(places[name]) for name in self.agents}

    def render(self) -> None:
        """Nothing is rendered."""

    def close(self) -> None:
        """Nothing is to be closed."""
