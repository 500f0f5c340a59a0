"""Scenarios as environments in which agents learn to control congestion, by the rules of Gymnasium.

An agent sets the window or the rate of a flow once per monitor interval, a round trip or so, and is told what
came of it. Any scenario will do: agents steer the flows that they are told to, whatever controllers these name.

>>> from longfat.gym import Env, VectorEnv  # doctest: +SKIP
>>> env = Env("scenarios/first.toml", set={"flow.reno.count": 1})  # doctest: +SKIP
>>> observation, info = env.reset(seed=1)  # doctest: +SKIP
>>> observation, reward, terminated, truncated, info = env.step([0.2])  # doctest: +SKIP

- `Env`: one environment with one agent
- `VectorEnv`: many environments, stepped by compiled code in parallel, without the interpreter's lock
- `ParallelEnv`: several agents in one environment, by PettingZoo's parallel interface
- `Settings`: the keywords of all three
- `Policy`: what was learned, as a file and as an ordinary controller

`docs/guides/gym.md` says what can be observed, what actions mean, and how paths are randomised.
"""

try:
    import gymnasium
except ModuleNotFoundError as missing:
    if missing.name != "gymnasium":
        raise
    message = 'longfat.gym needs Gymnasium, which is not installed: pip install "longfat[gym]"'
    raise ModuleNotFoundError(message, name="gymnasium") from missing

from longfat._longfat import features
from longfat.errors import GymError
from longfat.gym._options import Action, Options, Reward, Settings
from longfat.gym._parallel import ParallelEnv
from longfat.gym._policy import Policy
from longfat.gym._single import Env
from longfat.gym._vector import VectorEnv

__all__ = [
    "Action",
    "Env",
    "GymError",
    "Options",
    "ParallelEnv",
    "Policy",
    "Reward",
    "Settings",
    "VectorEnv",
    "features",
]

gymnasium.register(
    id="longfat/Path-v0",
    entry_point="longfat.gym:Env",
    vector_entry_point="longfat.gym:VectorEnv",
)
