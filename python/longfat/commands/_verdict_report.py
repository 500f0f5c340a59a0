"""Verdicts on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.units import COUNT, TIME, amount, plural

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.text import Text

    from longfat.paper._remake import Remade
    from longfat.paper._verdict import ClaimVerdict

_COLOURS = {"reproduced": "green", "differs": "yellow", "not testable": "bright_black"}


def report(remade: Remade, files: Sequence[str], folder: Path, *, committed: bool) -> None:
    """Prints the claims with their verdicts, what was counted, and where the files are."""
    from rich.text import Text

    from longfat.commands._console import console, table
    from longfat.paper._commit import results
    from longfat.paper._verdict import show, show_criterion, show_estimate

    out = console()
    paper = remade.room.paper
    out.print(Text(paper.title, style="bold"), soft_wrap=True)
    out.print(f"{remade.room.slug}, {remade.scale} scale\n")
    made = table("claim", "expected", "found", "verdict", left=1, wrap=True)
    made.columns[0].ratio = 1
    made.expand = True
    for column in made.columns[1:]:
        column.no_wrap = True
    made.columns[3].justify = "left"
    figure = None
    for verdict in remade.verdicts:
        claim = verdict.claim
        if claim.figure != figure:
            made.add_row("")
            figure = claim.figure
        words = Text.assemble((claim.id, "bold"), f"  {claim.claim}")
        if verdict.reason:
            words.append(f"\n  {verdict.reason}", style="italic")
        expected = show_criterion(claim)
        if claim.paper_value is not None and claim.paper_value != claim.equals:
            expected += f"\npaper: {show(claim.paper_value, claim.unit)}"
        made.add_row(words, expected, show_estimate(verdict), _word(verdict))
    out.print(made)
    out.print(f"\n{counts(remade.verdicts)}", soft_wrap=True)
    engine = remade.to_dict(files)["engine"]
    known = f", {engine['known']} of them from the cache" if engine["known"] else ""
    out.print(
        f"{plural(engine['runs'], 'run')}{known}: {amount(engine['data_packets'], COUNT)} packets "
        f"in {amount(engine['core_s'], TIME)} of one core, {amount(engine['wall_s'], TIME)} of your time"
    )
    out.print(f"{plural(len(files), 'file')} in {folder}", soft_wrap=True)
    if not committed and results(remade.room, remade.scale) is None:
        out.print(f"nothing is committed at {remade.scale} scale to compare with: --commit does it")
    if committed:
        out.print(f"results committed in {remade.room.path}", soft_wrap=True)


def counts(verdicts: Sequence[ClaimVerdict]) -> str:
    """How many verdicts there are of each kind.

    >>> counts([])
    'no claims'
    """
    words = [verdict.verdict for verdict in verdicts]
    parts = [f"{words.count(word)} {word}" for word in _COLOURS if word in words]
    undecided = sum(verdict.decided is False for verdict in verdicts)
    if undecided:
        parts.append(f"{undecided} of them undecided: the interval crosses the bound")
    return ", ".join(parts) or "no claims"


def _word(verdict: ClaimVerdict) -> Text:
    from rich.text import Text

    colour = "bold red" if verdict.failed else _COLOURS[verdict.verdict]
    text = Text(verdict.verdict, style=colour)
    if verdict.failed:
        text.append("\nrequirement")
    elif verdict.decided is False:
        text.append("\nundecided", style="bright_black")
    return text
