"""What a paper claims, beside numbers of one's own and those that its room has committed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.errors import RoomError
from longfat.foreign import shown
from longfat.paper._results import results
from longfat.paper._room import rooms
from longfat.paper._verdict import (
    ClaimVerdict,
    from_dict,
    judge,
    show_estimate,
    show_expected,
)
from longfat.tables import TextTable, paragraph

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from longfat.paper._claims import Scale


@dataclass(frozen=True, repr=False)
class Beside:
    """Claims of a paper, each with a number of one's own and that of its room; a notebook shows a table.

    Attributes:
        paper: The name of the room.
        scale: That of its committed results: `quick` or `full`.
        here: The verdicts on one's own numbers, by the ids of claims: each has a `value` and its `interval`.
        committed: The room's verdicts on the same claims.
    """

    paper: str
    scale: Scale
    here: Mapping[str, ClaimVerdict]
    committed: Mapping[str, ClaimVerdict]

    @property
    def table(self) -> TextTable:
        """A row for each claim."""
        head = ["where", "the paper says", "we measure", "expected", "here", "the room"]
        made = TextTable(head, words=len(head))
        for name, own in self.here.items():
            claim = own.claim
            told = (_told(each) for each in (own, self.committed[name]))
            made.add(claim.where, claim.claim, claim.measured, show_expected(claim), *told)
        return made

    @property
    def legend(self) -> str:
        """What the numbers of the table are."""
        seeds = {own.seeds for own in self.here.values() if own.seeds}
        many = (
            f"means of {max(seeds)} runs ± half of the 95 % confidence interval; " if seeds else ""
        )
        return f"{many}the room is papers/{self.paper}, at {self.scale} scale"

    def __str__(self) -> str:
        """The table, in Markdown."""
        return f"{self.table.markdown}\n\n{self.legend}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table.html + paragraph(self.legend)


def beside(
    paper: str,
    numbers: Mapping[str, Iterable[float | None] | float],
    *,
    scale: Scale = "full",
) -> Beside:
    """Puts numbers of one's own beside what a paper claims, and beside what its room has found.

    Args:
        paper: The name of a room, as `longfat list papers` has them.
        numbers: By the id of the claim that each answers: a value for each seed, or a single number where
            chance plays no part; shares as fractions of 1, times in seconds, rates in bit/s.
        scale: Which of the committed results of the room.

    Returns:
        What a notebook shows as a table, and `print` as Markdown.

    Raises:
        RoomError: There is no such room or claim, or the room has no verdict on it at this scale.
    """
    known = {room.slug: room for room in rooms()}
    if paper not in known:
        message = f"there is no paper {shown(paper)}: the papers are {', '.join(known)}"
        raise RoomError(message)
    room = known[paper]
    claims = {claim.id: claim for claim in room.claims}
    content = results(room, scale) or {"claims": []}
    entries: dict[str, dict[str, Any]] = {entry["id"]: entry for entry in content["claims"]}
    for name in numbers:
        if name not in claims:
            figure = name.partition("/")[0]
            near = [each for each in claims if each.startswith(figure)] or list(claims)
            message = f"{paper} has no claim {shown(name)}; it has {', '.join(near)}"
            raise RoomError(message)
        if name not in entries:
            message = f"{paper} has no verdict on {name} at {scale} scale"
            raise RoomError(message)
    return Beside(
        paper,
        scale,
        {name: judge(claims[name], values, scale) for name, values in numbers.items()},
        {name: from_dict(claims[name], entries[name]) for name in numbers},
    )


def _told(verdict: ClaimVerdict) -> str:
    """A number and its verdict: `97.9 ± 0.1 %, reproduced`."""
    return f"{show_estimate(verdict)}, {verdict.verdict}"
