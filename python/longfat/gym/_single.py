"""One environment with one agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from longfat.errors import GymError
from longfat.gym._core import Core

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from longfat.gym._options import Options, Settings
    from longfat.scenario import Source

SEEDS = 2**62
"""Episodes have seeds below this."""


class Env(gymnasium.Env["NDArray[np.float32]", "NDArray[np.float32]"]):
    """An agent that steers one flow of a scenario, by Gymnasium's rules.

    A step is a monitor interval. The episode is truncated at the end of the scenario, or when the flow is told
    to `stop`; it terminates when a flow with a `size` has had everything acknowledged.

    `info` has the parts of the reward (`throughput`, `delay`, `loss`), whether an interval has ended
    (`active`), and everything that was measured with its unit (`rtt_s`, `delivered_bit_s`, ...); after `reset`
    also `drawn`, what was drawn for this episode.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium has it

    def __init__(
        self, source: Source, *, render_mode: str | None = None, **settings: Unpack[Settings]
    ) -> None:
        """Makes an environment.

        Args:
            source: A scenario, or the file of an environment: as a path, as text or as a dictionary.
            render_mode: Nothing is rendered: None.
            settings: What else it is asked for: `longfat.gym.Settings` has all keywords.

        Raises:
            GymError: A setting is wrong, or there is more than one agent.
            ScenarioError: The scenario is wrong.
            OSError: A file cannot be read.
        """
        self._core = Core(source, settings)
        if len(self._core.agents) != 1:
            message = (
                f"{len(self._core.agents)} agents steer flows here, and `Env` is for one: take `ParallelEnv` "
                "or `VectorEnv`, or set the `count` of the flow to 1"
            )
            raise GymError(message)
        self.render_mode = render_mode
        self.observation_space = self._core.observation_space
        self.action_space = self._core.action_space

    @property
    def settings(self) -> Options:
        """What it was asked for, with every default filled in."""
        return self._core.options

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode, and goes on to the end of its first interval.

        Args:
            seed: The same seed gives the same episodes from here on, to the byte.
            options: None are known.

        Raises:
            GymError: What was drawn makes no scenario, or an option is unknown.
        """
        super().reset(seed=seed)
        refuse_options(options)
        drawn = self._core.prepare(0, int(self.np_random.integers(SEEDS)))
        self._core.begin()
        return self._core.observations[0, 0], {**self._core.told(0, 0), "drawn": drawn}

    def step(
        self,
        action: Any,  # noqa: ANN401 - whatever numpy makes an array of
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Acts, and waits for the end of the next interval.

        Raises:
            GymError: The action is no number, or the episode is over.
        """
        core = self._core
        core.step(np.asarray(action, dtype=np.float64).reshape(-1))
        return (
            core.observations[0, 0],
            float(core.rewards[0, 0]),
            bool(core.terminated[0, 0]),
            bool(core.truncated[0, 0]),
            core.told(0, 0),
        )


def refuse_options(options: dict[str, Any] | None) -> None:
    """Refuses options of `reset`: there are none.

    Raises:
        GymError: There are some.
    """
    if options:
        message = f"reset() knows no options, and was given {', '.join(map(str, options))}"
        raise GymError(message)
