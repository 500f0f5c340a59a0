"""Trains a small policy with CMA-ES on two cores, and writes its file.

    python examples/gym/train.py                      # some minutes
    python examples/gym/train.py --generations 3      # to see that it works

The policy is a network of one hidden layer; CMA-ES (N. Hansen, "The CMA Evolution Strategy: A Tutorial", 2016)
needs no gradients, only a number for each candidate. All candidates of a generation are tried on the same
paths, drawn anew for each generation, and all of their environments are stepped together.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cma
import msgspec
import numpy as np

import longfat
from longfat.gym import Policy, VectorEnv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

HERE = Path(__file__).parent
HIDDEN = 6
SPREAD = 0.5
"""Standard deviation of the first weights."""


def shapes(inputs: int) -> list[tuple[int, ...]]:
    """Of the weights and biases of both layers."""
    return [(HIDDEN, inputs), (HIDDEN,), (1, HIDDEN), (1,)]


def unpacked(candidates: NDArray[Any], inputs: int) -> list[NDArray[Any]]:
    """The weights and biases of many candidates, a row of numbers for each."""
    found, first = [], 0
    for shape in shapes(inputs):
        size = int(np.prod(shape))
        found.append(candidates[:, first : first + size].reshape(-1, *shape))
        first += size
    return found


def observed(env: VectorEnv) -> int:
    """How many numbers an agent observes."""
    return int(np.prod(env.single_observation_space.shape or 0))


def scores(
    env: VectorEnv, candidates: NDArray[Any], seeds: Sequence[int], steps: int
) -> NDArray[Any]:
    """The mean reward of each candidate over the same paths, and the same number of intervals of each path."""
    count = len(candidates)
    first, second, third, fourth = unpacked(candidates, observed(env))
    observations, _ = env.reset(seed=list(seeds) * count)
    total = np.zeros(count)
    for _ in range(steps):
        seen = observations.reshape(count, -1, observations.shape[1])
        hidden = np.tanh(np.einsum("cni,chi->cnh", seen, first) + second[:, None])
        actions = np.tanh(np.einsum("cnh,coh->cno", hidden, third) + fourth[:, None])
        observations, rewards, *_ = env.step(actions.reshape(-1, 1))
        total += rewards.reshape(count, -1).mean(axis=1)
    return total / steps


def main(arguments: Sequence[str] | None = None) -> None:
    """Trains, and writes the policy."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--generations", type=int, default=150)
    parser.add_argument("--candidates", type=int, default=20, help="in each generation")
    parser.add_argument("--paths", type=int, default=10, help="in each generation")
    parser.add_argument("--steps", type=int, default=160, help="intervals on each path")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=HERE / "policy.json")
    asked = parser.parse_args(arguments)

    paths = HERE / "paths.toml"
    env = VectorEnv(paths, num_envs=asked.candidates * asked.paths * 2, threads=asked.threads)
    inputs = observed(env)
    size = sum(int(np.prod(shape)) for shape in shapes(inputs))
    settings = {"popsize": asked.candidates, "seed": asked.seed, "verbose": -9}
    search = cma.CMAEvolutionStrategy(np.zeros(size), SPREAD, settings)
    start, steps = time.perf_counter(), 0
    for generation in range(asked.generations):
        candidates = np.array(search.ask())
        # Paths that no other generation has, nor any other seed of the training.
        first = (asked.seed * 1_000_000 + generation) * 1_000
        found = scores(env, candidates, range(first, first + asked.paths), asked.steps)
        search.tell(list(candidates), list(-found))
        steps += env.num_envs * asked.steps
        if generation % 10 == 0 or generation == asked.generations - 1:
            spent = time.perf_counter() - start
            print(
                f"generation {generation:4}: mean reward {found.mean():7.3f}, best {found.max():7.3f}, "
                f"{spent:5.0f} s, {steps / spent:6.0f} steps/s",
                flush=True,
            )
    # The mean of the last distribution: better than its best candidate, which was also lucky.
    mean = np.asarray(search.result.xfavorite)
    first_weights, first_bias, last_weights, last_bias = (
        each[0] for each in unpacked(mean[None], inputs)
    )
    policy = Policy.of(
        env,
        [(first_weights, first_bias, "tanh"), (last_weights, last_bias, "tanh")],
        name="learned",
        # Faster paths than those of the training have larger windows.
        action=msgspec.structs.replace(env.settings.action, bounds=(2, 1_000_000)),
        provenance={
            "trained by": "examples/gym/train.py, CMA-ES of pycma " + cma.__version__.split()[0],
            "trained on": "examples/gym/paths.toml",
            "longfat": longfat.__version__,
            "generations": asked.generations,
            "candidates": asked.candidates,
            "paths in each generation": asked.paths,
            "intervals on each path": asked.steps,
            "seed": asked.seed,
        },
    )
    policy.save(asked.out)
    print(f"{asked.out} is written: {size} numbers")


if __name__ == "__main__":
    main()
