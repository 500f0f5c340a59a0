"""Many environments at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector import VectorEnv as GymnasiumVectorEnv
from gymnasium.vector.utils import batch_space

from longfat.errors import GymError
from longfat.foreign import shown
from longfat.gym._core import Core
from longfat.gym._single import SEEDS, refuse_options

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from longfat.gym._options import Options, Settings
    from longfat.scenario import Source


class VectorEnv(GymnasiumVectorEnv["NDArray[np.float32]", "NDArray[np.float32]", "NDArray[Any]"]):
    """Environments that are stepped together by compiled code, without the interpreter's lock.

    Each has episodes and draws of its own: with the same seed, the environment numbered i does what an `Env`
    does that is reset with seed + i. Episodes that are over begin anew at the next step, as Gymnasium's mode
    `NEXT_STEP` has it: that step ignores the action, and its reward is 0.

    With several agents in a scenario, each of them is an environment of its own to the learner, for one policy
    that all of them share: agents of the same scenario follow one another, and their episodes end together.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        source: Source,
        *,
        num_envs: int = 1,
        threads: int = 1,
        render_mode: str | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        """Makes environments.

        Args:
            source: A scenario, or the file of an environment: as a path, as text or as a dictionary.
            num_envs: How many: a multiple of the number of agents in the scenario.
            threads: How many threads step them; results do not depend on it.
            render_mode: Nothing is rendered: None.
            settings: What else they are asked for: `longfat.gym.Settings` has all keywords.

        Raises:
            GymError: A setting is wrong.
            ScenarioError: The scenario is wrong.
            OSError: A file cannot be read.
        """
        if num_envs < 1 or threads < 1:
            message = f"num_envs is {num_envs} and threads is {threads}: both are 1 or more"
            raise GymError(message)
        self._core = Core(source, settings)
        each = len(self._core.agents)
        if num_envs % each:
            message = (
                f"num_envs is {num_envs}, and each scenario has {each} agents: a multiple is needed"
            )
            raise GymError(message)
        self._core.multiply(num_envs // each, threads)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.single_observation_space = self._core.observation_space
        self.single_action_space = self._core.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._chances: list[np.random.Generator] = []
        self._begins = np.zeros(num_envs, dtype=np.bool_)
        self._drawn: dict[int, dict[str, Any]] = {}

    @property
    def settings(self) -> Options:
        """What it was asked for, with every default filled in."""
        return self._core.options

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | NDArray[np.integer[Any]] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode in every environment.

        Args:
            seed: That of the first scenario; the others have those that follow. Or a list or an array of
                them, with one for each scenario. Whole numbers from 0 up; None goes on with what was there.
            options: None are known.

        Raises:
            GymError: A seed is none, there are not as many as scenarios, what was drawn makes no scenario, or
                an option is unknown.
        """
        count = self._core.count
        refuse_options(options)
        if seed is None or isinstance(seed, (int, np.integer)):
            first = None if seed is None else _seed(seed)
            super().reset(seed=first)
            seeds: list[int | None] = [None if first is None else first + i for i in range(count)]
        else:
            seeds = _seeds(seed)
            if len(seeds) != count:
                message = (
                    f"{len(seeds)} seeds were given for {count} scenarios: one for each is needed"
                )
                raise GymError(message)
        for index, each in enumerate(seeds):
            if len(self._chances) <= index:
                self._chances.append(seeding.np_random(each)[0])
            elif each is not None:
                self._chances[index] = seeding.np_random(each)[0]
        self._drawn = {index: self._prepare(index) for index in range(count)}
        self._begins[:] = False
        self._core.begin()
        return self._flat(self._core.observations), self._told()

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[
        NDArray[np.float32],
        NDArray[np.float64],
        NDArray[np.bool_],
        NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Acts in every environment, and waits for the end of the next interval of each.

        Raises:
            GymError: There are not as many actions as environments, or one of them is no number.
        """
        core, begins = self._core, self._begins
        if not self._chances:
            message = "the episodes have not begun: call reset() first"
            raise GymError(message)
        given = np.asarray(actions, dtype=np.float64).reshape(-1)
        if given.size != self.num_envs:
            message = (
                f"{given.size} actions were given for {self.num_envs} environments: each needs one"
            )
            raise GymError(message)
        core.step(np.where(begins, 0.0, given))
        rewards = np.where(begins, 0.0, self._flat(core.rewards))
        # Agents of one scenario end together.
        over = np.all(core.terminated | core.truncated, axis=1)
        terminated = self._flat(core.terminated & over[:, None])
        truncated = self._flat(core.truncated & over[:, None])
        self._drawn = {i: self._drawn[i] for i in np.flatnonzero(self._scenarios(begins)).tolist()}
        told = self._told()
        observations = self._flat(core.observations)
        for index in np.flatnonzero(over).tolist():
            self._drawn[index] = self._prepare(index)
        self._begins = np.repeat(over, len(core.agents))
        return observations, rewards, terminated, truncated, told

    def _prepare(self, index: int) -> dict[str, Any]:
        return self._core.prepare(index, int(self._chances[index].integers(SEEDS)))

    def _scenarios(self, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """One flag for each scenario, from one for each agent."""
        return flags.reshape(self._core.count, -1)[:, 0]

    def _flat(self, values: NDArray[Any]) -> Any:  # noqa: ANN401 - of the same kind
        """One row for each agent."""
        return values.reshape(self.num_envs, *values.shape[2:])

    def _told(self) -> dict[str, Any]:
        """`info`, with a mask for each name, and what was drawn for episodes that begin."""
        rows = self._flat(self._core.information)
        told: dict[str, Any] = {}
        for index, name in enumerate(self._core.names):
            told[name] = rows[:, index].copy()
            told[f"_{name}"] = np.ones(self.num_envs, dtype=np.bool_)
        if self._drawn:
            each = len(self._core.agents)
            drawn = np.full(self.num_envs, None, dtype=object)
            for scenario, values in self._drawn.items():
                for place in range(scenario * each, (scenario + 1) * each):
                    drawn[place] = values
            told["drawn"] = drawn
            told["_drawn"] = np.array([value is not None for value in drawn])
        return told


def _seeds(given: object) -> list[int | None]:
    """Seeds as a list: NumPy's numbers are no seeds to Gymnasium.

    Raises:
        GymError: They are no list, or one of them is no seed.
    """
    if isinstance(given, np.ndarray) and given.ndim != 1:
        message = f"`seed` is an array of shape {given.shape}: give a number, or one axis of seeds"
        raise GymError(message)
    if isinstance(given, str) or not isinstance(given, (np.ndarray, Sequence)):
        message = (
            f"`seed` is {shown(repr(given))}: give a whole number from 0 up, or a list of them"
        )
        raise GymError(message)
    return [None if each is None else _seed(each) for each in given]


def _seed(given: object) -> int:
    """A seed.

    Raises:
        GymError: It is no whole number from 0 up.
    """
    if isinstance(given, (int, np.integer)) and given >= 0:
        return int(given)
    message = f"{shown(repr(given))} is no seed: a seed is a whole number from 0 up"
    raise GymError(message)
