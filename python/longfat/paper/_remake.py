"""Remaking papers: from rooms to verdicts, data and pictures in a result folder."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from longfat.errors import LabelError, RoomError
from longfat.paper import _files
from longfat.paper._causes import Fact, cause_here, committed_facts, filled
from longfat.paper._changes import Changes
from longfat.paper._claims import quoted
from longfat.paper._results import results
from longfat.paper._verdict import ClaimVerdict, explained, judge, untestable
from longfat.study._plan import Plan, Rows, Spent
from longfat.study._points import Sweep

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from longfat.paper._claims import Claim, Scale
    from longfat.paper._room import Module, Room
    from longfat.study._cache import Cache
    from longfat.study._runner import ProgressCallback

REMADE = "a remade paper"
"""The folder of a remade paper: verdicts as JSON and as Markdown; pictures and data of each figure."""


@dataclass(frozen=True)
class FigureResult:
    """The outcome of one experiment.

    Attributes:
        module: The experiment.
        rows: What was measured.
        verdicts: The verdicts on its claims, in the order of `claims.toml`.
        facts: What causes quote besides, by id.
        pictures: By the stem of their files.
    """

    module: Module
    rows: Rows
    verdicts: list[ClaimVerdict]
    facts: dict[str, Fact]
    pictures: dict[str, Figure]


@dataclass(frozen=True)
class Remade:
    """The outcome of a paper.

    Attributes:
        room: Its room.
        scale: `quick` or `full`.
        figures: The outcome of each experiment that was run.
        loose: Verdicts on claims that belong to no figure.
        spent: What the simulations cost, of all papers remade together, each counted once.
        wall_s: How long these took, in seconds.
        changes: What was changed in the room for this run.
    """

    room: Room
    scale: Scale
    figures: list[FigureResult]
    loose: list[ClaimVerdict] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)
    wall_s: float = 0.0
    changes: Changes = field(default_factory=Changes)

    @property
    def facts(self) -> dict[str, Fact]:
        """What causes quote besides the numbers of claims, by id."""
        return {name: fact for figure in self.figures for name, fact in figure.facts.items()}

    @property
    def verdicts(self) -> list[ClaimVerdict]:
        """All verdicts, in the order of `claims.toml`."""
        order = {claim.id: index for index, claim in enumerate(self.room.claims)}
        every = [verdict for figure in self.figures for verdict in figure.verdicts]
        return sorted([*every, *self.loose], key=lambda verdict: order[verdict.claim.id])

    @cached_property
    def committed(self) -> dict[str, Any] | None:
        """The results that the room keeps at this scale."""
        return results(self.room, self.scale)

    def to_dict(self, files: Sequence[str]) -> dict[str, Any]:
        """The result as plain data: what `--json` prints and `claims.json` holds."""
        claims = [verdict.to_dict() for verdict in self.verdicts]
        told: dict[str, Any] = {"paper": self.room.slug, "scale": self.scale}
        if self.changes:
            told["changes"] = self.changes.to_dict()
            committed = {
                entry["id"]: entry for entry in (self.committed or {"claims": []})["claims"]
            }
            for claim in claims:
                claim["committed"] = committed.get(claim["id"])
        return {
            **told,
            "claims": claims,
            "facts": {name: fact.to_dict() for name, fact in sorted(self.facts.items())},
            "files": list(files),
            "engine": {**vars(self.spent), "wall_s": self.wall_s},
        }

    def write_files(self, folder: Path) -> list[str]:
        """Writes everything into an existing folder, and returns the names of the files."""
        names = []
        for figure in self.figures:
            names += _files.write(folder, figure.module.about, figure.rows)
            for stem, picture in figure.pictures.items():
                names += _save(picture, folder, stem)
        (folder / "table.md").write_text(_files.markdown(self.verdicts), encoding="utf-8")
        names = sorted([*names, "claims.json", "table.md"])
        _files.write_json(folder / "claims.json", self.to_dict(names))
        return names


class Remaking:
    """The experiments of some rooms at one scale, planned together."""

    def __init__(
        self,
        rooms: Sequence[Room],
        scale: Scale,
        *,
        figure: str | None = None,
        cache: Cache | None = None,
        fresh: bool = False,
        changes: Changes | None = None,
        commit: bool = False,
    ) -> None:
        """Loads the rooms and plans all runs; nothing is simulated yet.

        Args:
            rooms: The rooms.
            scale: `quick` or `full`.
            figure: Only this experiment of each room, and its claims.
            cache: Where finished runs are kept.
            fresh: Simulate everything, even what is cached.
            changes: What to change in the rooms first.
            commit: Whether the results will be committed, and with them the causes as they are now.

        Raises:
            RoomError: A room is wrong.
            ScenarioError: A scenario is wrong.
            OSError: A file cannot be read.
        """
        self.scale: Scale = scale
        self._figure = figure
        self._chosen = [
            (room, module)
            for room in rooms
            for module in room.modules.values()
            if figure in (None, module.about.id)
        ]
        self._rooms = rooms
        self.changes = changes or Changes()
        self._commit = commit
        self._sweeps = [_sweep(room, module, scale) for room, module in self._chosen]
        if self.changes:
            self._sweeps = self.changes.applied(self._sweeps)
        try:
            self.plan = Plan(self._sweeps, cache=cache, fresh=fresh)
        except LabelError as error:
            raise RoomError(str(error)) from error

    def run(
        self, *, workers: int | None = None, progress: ProgressCallback | None = None
    ) -> list[Remade]:
        """Runs all experiments together, judges their claims and draws their pictures.

        Raises:
            RoomError: A module answers claims other than its own, or its code failed.
            MeasureError: A run failed.
            KeyboardInterrupt: Ctrl-C.
        """
        rows = self.plan.run(workers=workers, progress=progress)
        made: dict[str, list[FigureResult]] = {room.slug: [] for room in self._rooms}
        for (room, module), sweep, measured in zip(self._chosen, self._sweeps, rows, strict=True):
            made[room.slug].append(self._finish(room, module, sweep, measured))
        return [
            self._explained(
                Remade(
                    room,
                    self.scale,
                    made[room.slug],
                    self._loose(room),
                    self.plan.spent,
                    changes=self.changes,
                )
            )
            for room in self._rooms
        ]

    def _explained(self, remade: Remade) -> Remade:
        """With the reasons of its verdicts, which may quote any experiment of the room."""
        known = committed_facts(remade.room, remade.committed)
        now = remade.facts | {each.claim.id: Fact.claimed(each) for each in remade.verdicts}
        facts = known | now

        def reason(verdict: ClaimVerdict) -> ClaimVerdict:
            if self._commit:
                return explained(verdict, filled(verdict.claim, facts))
            cause = cause_here(verdict, facts, known, changed=bool(self.changes))
            return explained(verdict, cause)

        figures = [
            replace(figure, verdicts=[reason(verdict) for verdict in figure.verdicts])
            for figure in remade.figures
        ]
        return replace(remade, figures=figures)

    def _finish(self, room: Room, module: Module, sweep: Sweep, rows: Rows) -> FigureResult:
        wanted = [claim for claim in room.claims if claim.figure == module.about.id]
        answers = dict(_call(module, "claims", rows))
        _check_answers(module, wanted, answers, self.scale)
        verdicts = [judge(claim, answers.get(claim.id), self.scale) for claim in wanted]
        facts = {} if module.facts is None else dict(_call(module, "facts", rows))
        _check_facts(room, module, facts)
        from longfat.paper import plots

        drawn = _call(module, "draw", rows)
        parts = drawn if isinstance(drawn, Mapping) else {"": drawn}
        pictures = {}
        for name, picture in parts.items():
            plots.head(
                picture,
                module.about,
                room.slug,
                self.scale,
                sweep.seed_counts,
                changes=self.changes.in_words,
            )
            pictures[f"{module.about.id}-{name}".rstrip("-")] = picture
        numbers = {name: Fact.of(answer) for name, answer in facts.items()}
        return FigureResult(module, rows, verdicts, numbers, pictures)

    def _loose(self, room: Room) -> list[ClaimVerdict]:
        if self._figure is not None:
            return []
        return [
            untestable(claim, claim.untestable[self.scale])
            for claim in room.claims
            if claim.figure is None
        ]


def _sweep(room: Room, module: Module, scale: Scale) -> Sweep:
    try:
        points = list(module.points(scale))
        return Sweep(f"{room.slug}, {module.about.id}", points, module.measure, module.path.parent)
    except Exception as error:
        raise RoomError(_failed(module, "points", error)) from error


def _call(module: Module, name: str, rows: Rows) -> Any:  # noqa: ANN401 - what the module returns
    from longfat.plot import style

    try:
        with style.applied():
            return getattr(module, name)(rows.frame)
    except Exception as error:
        raise RoomError(_failed(module, name, error)) from error


def _failed(module: Module, name: str, error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == str(module.path)] or frames
    return f"{module.path}:{own[-1].lineno}: `{name}` failed: {type(error).__name__}: {error}"


def _check_answers(
    module: Module, wanted: Sequence[Claim], answers: Mapping[str, object], scale: Scale
) -> None:
    ids = {claim.id for claim in wanted}
    for name in answers:
        if name not in ids:
            message = (
                f"{module.path}: it answers `{name}`, which is not a claim of {module.about.id}"
            )
            raise RoomError(message)
    for claim in wanted:
        if claim.id not in answers and scale not in claim.untestable:
            message = f"{module.path}: it does not answer its claim `{claim.id}`"
            raise RoomError(message)


def _check_facts(room: Room, module: Module, facts: Mapping[str, object]) -> None:
    claimed = {claim.id for claim in room.claims}
    for name in facts:
        if not name.startswith(f"{module.about.id}/"):
            message = f"{module.path}: the fact `{name}` must be called {module.about.id}/…"
            raise RoomError(message)
        if name in claimed:
            message = f"{module.path}: `{name}` is a claim, which causes can quote; it cannot be a fact too"
            raise RoomError(message)
    for claim in room.claims:
        for name in quoted(claim):
            if name.startswith(f"{module.about.id}/") and name not in claimed and name not in facts:
                known = ", ".join(facts) or "none"
                message = (
                    f'{room.path / "claims.toml"}: claim "{claim.id}": its cause quotes `{name}`, but '
                    f"{module.path.name} gives no such fact; its facts are: {known}"
                )
                raise RoomError(message)


def _save(picture: Figure, folder: Path, stem: str) -> list[str]:
    from longfat.plot import style

    names = [f"{stem}.png", f"{stem}.svg"]
    for name in names:
        style.save(picture, folder / name)
    return names
