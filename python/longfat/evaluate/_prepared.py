"""What an evaluation takes: its cells, who takes part in them, and their scenarios, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.errors import EvaluationError, ScenarioError
from longfat.evaluate._contender import Contender, reason
from longfat.evaluate._finding import Finding, found_of
from longfat.evaluate._pool import Pool, Use
from longfat.evaluate.cells import GROUPS
from longfat.evaluate.cells._cell import SCALES, Cell, Group, Scale, Scene, chosen
from longfat.evaluate.cells._scenarios import dumbbell
from longfat.scenario import MOST_SEEDS, made_here

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from longfat._longfat import Scenario
    from longfat.evaluate._pool import Outcome
    from longfat.own import Brought
    from longfat.study import Cache

INCUMBENTS = ("reno", "cubic", "bbr3")
"""What a controller is compared with unless something else is asked for."""

SEEDS = {"quick": 3, "full": 8}
"""How many seeds each scale has unless something else is asked for."""

LONGEST_S = 120.0
"""How long one run may take, in seconds of one core; a cell that may take longer waits until it is named."""

_SUBJECT = 0


@dataclass(frozen=True)
class Planned:
    """What a cell takes.

    Attributes:
        cell: The cell.
        runs: How many simulations, those that other cells ask for as well included.
        seconds: About what they take, in seconds of one core.
        refused: Why the controller has no place in it; `None` if it has.
    """

    cell: Cell
    runs: int
    seconds: float
    refused: str | None = None


class Prepared:
    """An evaluation that has been read and checked: what it would take, and running it.

    Attributes:
        subject: Who is evaluated.
        against: The incumbents.
        scale: `quick` or `full`.
        seeds: How many seeds there are.
        cells: The cells, in order.
        groups: The groups that they belong to.
    """

    def __init__(
        self,
        control: str | Mapping[str, Any] | Brought,
        *,
        against: Sequence[str | Mapping[str, Any] | Brought] = INCUMBENTS,
        scale: Scale = "quick",
        cells: Sequence[str] = (),
        seeds: int | None = None,
        allow_code: bool = False,
        cache: Cache | None = None,
    ) -> None:
        """Reads every scenario; nothing runs, and nothing is written.

        Raises:
            EvaluationError: Something is asked for that there is not.
            ScenarioError: A controller is refused.
        """
        if scale not in SCALES:
            message = f"there is no scale `{scale}`: there are {' and '.join(SCALES)}"
            raise EvaluationError(message)
        self.scale: Scale = scale
        self.seeds = SEEDS[scale] if seeds is None else seeds
        if not 1 <= self.seeds <= MOST_SEEDS:
            message = f"an evaluation has from 1 to {MOST_SEEDS:,} seeds, not {self.seeds:,}"
            raise EvaluationError(message)
        others = [against] if isinstance(against, (str, Mapping)) else against
        mentioned = [Contender.of(each, allow_code=allow_code) for each in (control, *others)]
        self.subject, *self.against = [each.beside(mentioned) for each in mentioned]
        _refuse_twice(self.against)
        self.digest = _probed(self.subject)
        for each in self.against:
            _probed(each)
        incumbents = {each.name: each.control for each in self.against}
        every = [cell for group in GROUPS for cell in group.make(incumbents)]
        asked = [cell for cell in every if scale == "full" or not cell.full_only]
        self.cells = chosen(asked, [cells] if isinstance(cells, str) else cells)
        self._patient = bool(cells)
        present = {cell.group for cell in self.cells}
        self.groups: list[Group] = [group for group in GROUPS if group.name in present]
        self.pool = Pool() if cache is None else Pool(cache)
        self.scenarios: dict[str, Scenario] = {}
        self.refused: dict[tuple[str, int], str] = {}
        self._uses: dict[str, list[Use]] = {}
        for cell in self.cells:
            self._add(cell)

    def contenders(self, cell: Cell) -> list[int]:
        """Who takes part in a cell: the subject, which is 0, and incumbents by their places from 1 on."""
        places = list(range(1, len(self.against) + 1))
        if cell.beside is not None:
            places = [place for place in places if self.against[place - 1].name == cell.beside]
        return [_SUBJECT, *places]

    def seeds_of(self, cell: Cell) -> int:
        """How many seeds a cell has: fewer than others where its runs are long, one without chance."""
        most = self.seeds if cell.most_seeds is None else min(self.seeds, cell.most_seeds)
        return most if cell.chancy else 1

    def contender(self, place: int) -> Contender:
        """Who has a place."""
        return self.subject if place == _SUBJECT else self.against[place - 1]

    def _add(self, cell: Cell) -> None:
        self._uses[cell.name] = []
        for place in self.contenders(cell):
            self._add_one(cell, place)
            if (cell.name, _SUBJECT) in self.refused:  # then nobody else has to run either
                return

    def _add_one(self, cell: Cell, place: int) -> None:
        contender = self.contender(place)
        scenes = cell.scenes(contender.control)
        read: dict[str, Scenario] = {}
        try:
            for name, scene in scenes.items():
                read[name] = contender.read(scene.scenario)
        except ScenarioError as error:
            self.refused[cell.name, place] = reason(error)
            return
        if not self._patient and (told := _too_long(cell, read.values())):
            self.refused[cell.name, place] = told
            return
        if place == _SUBJECT:
            self.scenarios[cell.name] = next(iter(read.values()))
        for index, (name, scene) in enumerate(scenes.items()):
            for seed in range(1, self.seeds_of(cell) + 1):
                use = Use(cell.name, place, name, seed)
                self._uses[cell.name].append(use)
                if isinstance(scene, Scene):
                    charts = cell.charts if index == 0 and seed == 1 else ()
                    drawn = [each for each in charts if place == _SUBJECT or not each.alone]
                    self.pool.add(use, scene, read[name], drawn)
                else:
                    self.pool.solve(use, scene, contender)

    def planned(self) -> list[Planned]:
        """What each cell takes; simulations that several ask for count for each of them."""
        costs = self.pool.costs()
        return [
            Planned(
                cell,
                len(self._uses[cell.name]),
                sum(costs[use] for use in self._uses[cell.name]),
                self.refused.get((cell.name, _SUBJECT)),
            )
            for cell in self.cells
        ]

    def finding(self, cell: Cell, outcomes: Mapping[Use, Outcome]) -> Finding:
        """What a cell has found, from what became of all simulations."""
        mine = {use: outcomes[use] for use in self._uses[cell.name]}
        places = [
            place for place in self.contenders(cell) if (cell.name, place) not in self.refused
        ]
        names = {place: self.contender(place).name for place in places}
        refused = self.refused.get((cell.name, _SUBJECT))
        return found_of(
            cell,
            mine,
            names,
            seeds=self.seeds_of(cell),
            refused=refused,
            subject=self.subject,
        )


def _too_long(cell: Cell, scenarios: Iterable[Scenario]) -> str | None:
    """Why a cell waits until it is named: senders that nothing stops may send a thousand times what arrives."""
    longest = max(each.estimate(record=False)["seconds"] for each in scenarios)
    if longest <= LONGEST_S:
        return None
    return f"one run could take {longest / 60:,.0f} minutes of one core; `--cell {cell.name}` takes the time"


def _probed(contender: Contender) -> str | None:
    """Refuses a controller that has no place on the plainest path, with the routers that it needs.

    Returns:
        The digest of its code.

    Raises:
        ScenarioError: It is refused.
    """
    plain = dumbbell(contender.control, bit_s=100e6, rtt=0.05, duration_s=1.0)
    try:
        return contender.digest(contender.read(plain))
    except ScenarioError as error:
        raise made_here(error) from error


def _refuse_twice(against: Sequence[Contender]) -> None:
    names = [each.name for each in against]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        message = f"`{twice[0]}` is an incumbent twice: name each once"
        raise EvaluationError(message)
