"""What every result knows of its scenario."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from longfat.scenario import quantities

if TYPE_CHECKING:
    from longfat._longfat import Scenario
    from longfat.scenario import Quantities


class Resolved:
    """What a result tells of its scenario.

    Attributes:
        name: A short name: the stem of the scenario file, or `scenario`.
    """

    def __init__(self, scenario: Scenario, name: str) -> None:
        """Keeps the scenario as it was read."""
        self._scenario = scenario
        self.name = name

    @property
    def scenario(self) -> str:
        """The scenario as resolved, every default filled in: a TOML file that gives the same result again."""
        return self._scenario.to_toml()

    @cached_property
    def quantities(self) -> Quantities:
        """The scenario in numbers: durations, rates, sizes, lengths of queues."""
        return quantities(self._scenario)

    @property
    def duration_s(self) -> float:
        """Simulated time in seconds."""
        return self._scenario.duration_s

    @property
    def warmup_s(self) -> float:
        """How much of the beginning every average leaves out, in seconds."""
        return self._scenario.warmup_s
