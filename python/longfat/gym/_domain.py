"""The scenarios of an environment: one for each episode."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from longfat.errors import GymError, ScenarioError, StudyError
from longfat.foreign import shown
from longfat.own import NOTHING, Code
from longfat.scenario import LARGEST_SEED, Source, Template
from longfat.study._design import Range
from longfat.study._file import choice, flat
from longfat.study._values import describe, label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat._longfat import Scenario


class Domain:
    """A scenario, and what varies from episode to episode."""

    def __init__(
        self,
        source: Source,
        changes: Mapping[str, Any],
        randomise: Mapping[str, Any],
        code: Code = NOTHING,
    ) -> None:
        """Reads the scenario at the ends of every range, and with every entry of a list.

        Raises:
            GymError: What is to be drawn is no range and no list, or makes no scenario.
            ScenarioError: The scenario is wrong without it.
            OSError: The scenario cannot be read.
        """
        self._template = Template(source, code)
        # There are no averages that could leave out the beginning.
        self._changes = {"warmup": "0 s", **changes}
        try:
            self._choices = {key: choice(key, given) for key, given in flat(randomise).items()}
        except StudyError as error:
            message = f"`randomise`: {error}"
            raise GymError(message) from error
        if "seed" in self._choices:
            message = "`randomise`: every episode has a seed of its own already, so `seed` cannot be drawn"
            raise GymError(message)
        self.example = self._template.read(changes=self._changes)
        for key, each in self._choices.items():
            ends = [each.low, each.high] if isinstance(each, Range) else each
            for value in ends:
                self._read({key: value}, None)

    def draw(self, seed: int) -> tuple[Scenario, dict[str, Any]]:
        """The scenario of the episode with this seed, and what was drawn for it.

        What is drawn for a field depends on the seed and the name of the field alone.

        Raises:
            GymError: What was drawn makes no scenario.
        """
        drawn = {}
        for key, each in self._choices.items():
            share = random.Random(f"{seed}/{key}").random()  # noqa: S311 - to be repeatable, not secret
            drawn[key] = each.at(share) if isinstance(each, Range) else each[int(share * len(each))]
        scenario = self._read(drawn, seed % (LARGEST_SEED + 1))
        return scenario, {key: label(value) for key, value in drawn.items()}

    def _read(self, drawn: dict[str, Any], seed: int | None) -> Scenario:
        try:
            return self._template.read(seed=seed, changes={**self._changes, **drawn})
        except ScenarioError as error:
            told = shown(describe({key: label(value) for key, value in drawn.items()}))
            message = f"`randomise`: with {told} this is no scenario:\n{error}"
            raise GymError(message) from error
