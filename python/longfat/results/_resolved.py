"""What every result knows of its scenario."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from longfat._longfat import __version__
from longfat.foreign import shown_name
from longfat.results._folder import SCENARIO
from longfat.scenario import quantities

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longfat._longfat import Scenario
    from longfat.scenario import Quantities


class Resolved:
    """What a result tells of its scenario.

    Attributes:
        name: A short name: the stem of the scenario file, or `scenario`.
        settings: The fields that were set, as on the command line: `link.bottleneck.rate="1 Gbit/s"`.
    """

    def __init__(self, scenario: Scenario, name: str, settings: Sequence[str] = ()) -> None:
        """Keeps the scenario as it was read."""
        self._scenario = scenario
        self.name = name
        self.settings = tuple(settings)

    @property
    def scenario(self) -> str:
        """The scenario as resolved, every default filled in: a TOML file that gives the same result again."""
        return self._scenario.to_toml()

    def write_scenario(self, folder: Path) -> None:
        """Writes the resolved scenario into a folder, headed by what it was made of."""
        head = [
            f"longfat {__version__}: {self.name}, with every default filled in.",
            *self.settings,
        ]
        comment = "".join(f"# {shown_name(line)}\n" for line in head)
        (folder / SCENARIO).write_text(f"{comment}\n{self.scenario}", encoding="utf-8")

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
