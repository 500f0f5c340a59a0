"""What an attack has found."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import _longfat
from longfat.explanation import explain
from longfat.foreign import shown
from longfat.results import ResultFolder
from longfat.study._statistics import Estimate, estimate
from longfat.units import percent

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    import polars as pl
    from matplotlib.figure import Figure

    from longfat.attack._arena import Pair
    from longfat.attack._challenge import Challenge, Ground
    from longfat.attack._goals import Goal
    from longfat.attack._search import Found
    from longfat.study._comparison import Contender

ATTACK = "an attack"
"""The folder of an attack: its numbers, the scenario that it found, and a picture."""

WORTH = 0.01
"""The score below which a challenge is no failure, and is not made plainer."""

_WIDTH = 118


@dataclass(frozen=True)
class Attack:
    """What an attack has found: a path, and what the controller does there.

    Attributes:
        controller: The controller, as people read it.
        against: The one that it is measured against, in the same path with the same seed.
        goal: The way to fail that was looked for.
        ground: What all trials had in common.
        challenge: The path that was found, made plain.
        control: The controller as a scenario has it.
        seed: The seed of the search.
        found: The search.
        before: The score of what was found before it was made plain, on the seeds that chose it.
        outcomes: What came out with fresh seeds, which no trial had.
        contenders: The runs behind them, for the picture: those of the controller, and of the other.
    """

    controller: str
    against: str
    goal: Goal
    ground: Ground
    challenge: Challenge
    control: object
    seed: int
    found: Found
    before: Estimate
    outcomes: tuple[Pair, ...]
    contenders: tuple[Contender, Contender]

    @property
    def score(self) -> Estimate:
        """By how much worse the controller did with the fresh seeds, from -1 to 1, with its interval."""
        return estimate(pair.score for pair in self.outcomes)

    @property
    def failed(self) -> bool:
        """Whether the controller does worse: by more than a hundredth, and by more than chance."""
        score = self.score
        least = (score.mean or 0.0) - (score.half_width or 0.0)
        return least > 0 and (score.mean or 0.0) >= WORTH

    @property
    def title(self) -> str:
        """What both controllers do: the heading of the picture."""
        subject, other = self._means()
        return f"{self.controller}: {self.goal.told(subject)}; {self.against}: {percent(other)}"

    @property
    def flows(self) -> int:
        """How many long flows there are."""
        return len((self.contenders[0].results[0].summary or {}).get("flows", ()))

    def __str__(self) -> str:
        """What was found, in two sentences."""
        subject, other = map(self.goal.told, self._means())
        if not self.failed:
            begin = f"Nothing was found in {self.found.trials:,} trials. Where {self.controller} did worst"
            return f"{begin}, {subject}; with {self.against} in its place, {other}."
        return f"With {self.controller}, {subject}. With {self.against} in its place, {other}."

    __repr__ = __str__

    def _means(self) -> tuple[float, float]:
        return (
            mean(pair.subject for pair in self.outcomes),
            mean(pair.against for pair in self.outcomes),
        )

    @property
    def why(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What limited the flows with the first fresh seed, in sentences: for both controllers."""
        one, two = (explain(_Ran(each)).sentences for each in self.contenders)
        return one, two

    @property
    def scenario(self) -> str:
        """The scenario that was found, as a file with the seed of the first outcome."""
        told = f"{self} Means over seeds {self.outcomes[0].seed} to {self.outcomes[-1].seed}; found in "
        told += f"{self.found.trials:,} trials, seed {self.seed}."
        comment = textwrap.fill(
            shown(told), _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
        )
        text = self.ground.text(self.challenge, self.control, self.outcomes[0].seed)
        return f"{comment}\n\n{text}"

    def as_dict(self) -> dict[str, Any]:
        """The object that `attack.json` holds and `longfat attack --json` prints."""
        return {
            "longfat": _longfat.__version__,
            "controller": self.controller,
            "against": self.against,
            "goal": self.goal.name,
            "failed": self.failed,
            "told": str(self),
            "score": asdict(self.score),
            "outcomes": [
                {
                    "seed": each.seed,
                    "value": each.subject,
                    "against": each.against,
                    "score": each.score,
                }
                for each in self.outcomes
            ],
            "search": {
                "seed": self.seed,
                "trials": self.found.trials,
                "not_run": self.found.failed,
                "first_error": self.found.error,
                "interrupted": self.found.interrupted,
                "course": [{"trial": trial, "score": score} for trial, score in self.found.course],
                "score_before_shrinking": asdict(self.before),
            },
            "why": dict(zip(("controller", "against"), map(list, self.why), strict=True)),
            "scenario": self.scenario,
        }

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draws window, throughput, queue and utilisation on the path: the controller beside the other.

        Args:
            path: Also write the picture there; the suffix (`.png`, `.svg`, `.pdf`) selects the format.

        Returns:
            The figure, which a notebook displays.
        """
        from longfat import plot

        figure = plot.comparison(self, self.contenders)
        if path is not None:
            plot.save(figure, path)
        return figure

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Writes `attack.json`, `winner.toml` and `winner.png` into a folder, which appears whole.

        Args:
            folder: Where; an earlier attack there is replaced.

        Raises:
            FileExistsError: Something other than an attack is there.
            OSError: The folder cannot be written.
        """
        with ResultFolder(folder, ATTACK) as result:
            self.write_files(result.path)
            result.commit()
        return Path(folder)

    def write_files(self, folder: Path) -> None:
        """Writes the files of the attack into an existing folder."""
        text = json.dumps(self.as_dict(), indent=2, ensure_ascii=False)
        (folder / "attack.json").write_text(text + "\n", encoding="utf-8")
        (folder / "winner.toml").write_text(self.scenario, encoding="utf-8")
        self.plot(folder / "winner.png")


class _Ran:
    """The first run of a contender, as `explain` takes it."""

    def __init__(self, contender: Contender) -> None:
        self.name = contender.label
        self._first = contender.results[0]

    @property
    def summary(self) -> dict[str, Any]:
        return self._first.summary or {}

    def table(self, name: str) -> pl.DataFrame:
        return self._first.tables[name].to_polars()


def mean(values: Iterable[float]) -> float:
    """The mean of some numbers."""
    return estimate(values).mean or 0.0
