"""What every result knows of its scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat._longfat import Scenario


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

    @property
    def duration_s(self) -> float:
        """Simulated time in seconds."""
        return self._scenario.duration_s

    @property
    def warmup_s(self) -> float:
        """How much of the beginning every average leaves out, in seconds."""
        return self._scenario.warmup_s
