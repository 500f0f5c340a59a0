"""What was learned: a small network with all that it takes to use it, in a file."""

from __future__ import annotations

import json
import math
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from longfat import _longfat
from longfat._longfat import Own, policy_controller
from longfat.errors import GymError
from longfat.foreign import read_text, shown
from longfat.gym._options import Action

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from longfat.gym._parallel import ParallelEnv
    from longfat.gym._single import Env
    from longfat.gym._vector import VectorEnv

LONGEST = 20_000_000
"""No policy's file is longer, in bytes."""
VERSION = 1


class Layer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A layer of a network: `activation(weights @ inputs + bias)`.

    Attributes:
        weights: A row for each output.
        bias: A number for each output.
        activation: `linear`, `tanh` or `relu`.
    """

    weights: list[list[float]]
    bias: list[float]
    activation: str = "tanh"


class Policy:
    """A trained policy: what it observes, how often it decides, and how.

    Environments and controllers use the same compiled code, so that a flow that follows the policy in a
    simulation does what the policy did in its environment, to the byte.
    """

    def __init__(
        self,
        layers: Sequence[Layer | tuple[Any, Any, str]],
        *,
        name: str,
        observe: Sequence[str],
        history: int = 1,
        interval: float = 1.0,
        action: Action = Action(),  # noqa: B008 - it cannot be changed
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        """Makes a policy of the layers of a network: each a `Layer`, or weights, biases and an activation.

        Args:
            layers: From the observation to a single number, the action.
            name: What the controller is called.
            observe: The features that it observes, by name.
            history: In how many intervals, the oldest first.
            interval: Smoothed round trips between decisions.
            action: What its output means.
            provenance: Whatever helps others to judge it: who trained it, with what, on which paths.

        Raises:
            GymError: The layers do not fit together, or a setting is wrong.
        """
        made = [
            each
            if isinstance(each, Layer)
            else Layer(
                np.asarray(each[0], float).tolist(), np.asarray(each[1], float).tolist(), each[2]
            )
            for each in layers
        ]
        self._table: dict[str, Any] = {
            "longfat_policy": VERSION,
            "name": name,
            "provenance": dict(provenance or {}),
            "interval": float(interval),
            "observe": list(observe),
            "history": int(history),
            "action": {
                "sets": action.sets,
                "scale": action.scale,
                "octaves": float(action.octaves),
                "bounds": [float(each) for each in action.limits],
            },
            "layers": [msgspec.to_builtins(each) for each in made],
        }
        for layer in made:
            if not all(map(math.isfinite, chain(layer.bias, *layer.weights))):
                message = "the weights and biases of a policy are finite numbers"
                raise GymError(message)
        self._compiled = _longfat.Policy(self.text)

    @classmethod
    def of(
        cls,
        env: Env | VectorEnv | ParallelEnv,
        layers: Sequence[Layer | tuple[Any, Any, str]],
        *,
        name: str,
        action: Action | None = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> Policy:
        """Makes a policy that observes and acts as agents do in this environment.

        Args:
            env: The environment.
            layers: The layers of its network, as for `Policy`.
            name: What the controller is called.
            action: What its output means, if not what it means there: with wider bounds, say.
            provenance: Whatever helps others to judge it.

        Raises:
            GymError: The layers do not fit together, or do not fit what is observed.
        """
        asked = env.settings
        return cls(
            layers,
            name=name,
            observe=asked.observed,
            history=asked.history,
            interval=asked.interval,
            action=asked.action if action is None else action,
            provenance=provenance,
        )

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Policy:
        """Reads a policy's file.

        Raises:
            GymError: It is not the file of a policy.
            OSError: It cannot be read.
        """
        try:
            return cls.parsed(read_text(Path(path), LONGEST))
        except ValueError as error:
            message = f"{shown(str(path))}: {error}"
            raise GymError(message) from error

    @classmethod
    def parsed(cls, text: str) -> Policy:
        """The policy in the text of its file.

        Raises:
            GymError: It is not the text of a policy.
        """
        made = cls.__new__(cls)
        made._compiled = _longfat.Policy(text)  # noqa: SLF001 - it is being made
        made._table = json.loads(text)  # noqa: SLF001
        return made

    def __longfat__(self) -> Own:
        """A handle of it, so that `longfat.run(..., controllers=[policy])` takes it."""
        return policy_controller(self.text)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """Its text is all that another process needs."""
        return Policy.parsed, (self.text,)

    @property
    def name(self) -> str:
        """What the controller is called."""
        return self._compiled.name

    @property
    def provenance(self) -> dict[str, Any]:
        """What its file says about where it comes from."""
        return dict(self._table["provenance"])

    @property
    def text(self) -> str:
        """Its file: JSON."""
        return json.dumps(self._table, indent=1, allow_nan=False) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes its file, whole or not at all: a policy that was there is never lost half-way.

        Raises:
            OSError: It cannot be written.
        """
        from longfat.results._folder import write_whole

        write_whole(Path(path), lambda made: made.write_text(self.text, "utf-8"))

    def decide(self, observations: NDArray[np.float32] | Sequence[float]) -> NDArray[np.float64]:
        """The actions for one observation or for many, with an axis for the action at the end.

        Raises:
            GymError: They are no numbers, or the last axis has not as many as the policy observes.
        """
        needed = len(self._table["observe"]) * int(self._table["history"])
        try:
            given = np.asarray(observations, dtype=np.float32, order="C")
        except (TypeError, ValueError) as error:
            message = f"`{self.name}` observes {needed} numbers at a time, and was not given numbers: {error}"
            raise GymError(message) from error
        if given.ndim == 0 or given.shape[-1] != needed:
            message = (
                f"`{self.name}` observes {needed} numbers at a time, and the observations have the shape "
                f"{given.shape}: give an array whose last axis has {needed}, as ({needed},) or (..., {needed})"
            )
            raise GymError(message)
        if not given.size:
            return np.empty((*given.shape[:-1], 1))
        actions = np.frombuffer(self._compiled.decide(given.tobytes()), np.float64)
        return np.array(actions).reshape(*given.shape[:-1], 1)
