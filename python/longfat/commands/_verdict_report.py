"""Verdicts on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.units import COUNT, TIME, amount, plural

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.table import Table
    from rich.text import Text

    from longfat.paper._claims import Claim
    from longfat.paper._remake import Remade
    from longfat.paper._verdict import ClaimVerdict

_WIDE = 100
"""On narrower terminals numbers are wrapped between words, so that none is cut."""

_COLOURS = {"reproduced": "green", "differs": "yellow", "not testable": "bright_black"}


def report(remade: Remade, files: Sequence[str], folder: Path, *, committed: bool) -> None:
    """Prints the claims with their verdicts, what was counted, and where the files are."""
    from rich.text import Text

    from longfat.commands._console import console
    from longfat.paper._verdict import counts

    out = console()
    paper = remade.room.paper
    out.print(Text(paper.title, style="bold"), soft_wrap=True)
    changed = f", changed: {remade.changes.in_words}" if remade.changes else ""
    out.print(Text(f"{remade.room.slug}, {remade.scale} scale{changed}\n"), soft_wrap=True)
    beside = _committed(remade) if remade.changes else {}
    out.print(_table(remade, beside, out.width))
    if remade.changes:
        _print_flips(remade, beside)
    out.print(f"\n{counts(remade.verdicts)}", soft_wrap=True)
    if any(verdict.decided is False for verdict in remade.verdicts):
        out.print(
            "undecided: the confidence interval crosses the bound of the criterion, and other seeds might say "
            "otherwise",
            soft_wrap=True,
        )
    _print_seeds(remade)
    engine = remade.to_dict(files)["engine"]
    known = f", {engine['known']} of them from the cache" if engine["known"] else ""
    out.print(
        f"{plural(engine['runs'], 'run')}{known}: {amount(engine['data_packets'], COUNT)} packets "
        f"in {amount(engine['core_s'], TIME)} of one core, {amount(engine['wall_s'], TIME)} of your time"
    )
    out.print(f"{plural(len(files), 'file')} in {folder}", soft_wrap=True)
    if not committed and remade.committed is None:
        out.print(f"nothing is committed at {remade.scale} scale to compare with: --commit does it")
    if committed:
        out.print(f"results committed in {remade.room.path}", soft_wrap=True)


def _table(remade: Remade, beside: dict[str, ClaimVerdict], width: int) -> Table:
    """The claims with their verdicts; of a changed room with the committed ones, `beside` them."""
    from longfat.commands._console import table
    from longfat.paper._verdict import show_estimate

    heads = ("committed", "changed") if remade.changes else ("found", "verdict")
    made = table("claim", "expected", *heads, left=1)
    made.columns[0].ratio = 1
    made.expand = True
    for column in made.columns[1:]:
        column.no_wrap = width >= _WIDE
    made.columns[3].justify = "left"
    figure = None
    for verdict in remade.verdicts:
        if verdict.claim.figure != figure:
            made.add_row("")
            figure = verdict.claim.figure
        cells = (
            (_both(beside.get(verdict.claim.id)), _both(verdict))
            if remade.changes
            else (show_estimate(verdict), _word(verdict))
        )
        made.add_row(_claim(verdict), _expected(verdict.claim), *cells)
    return made


def _claim(verdict: ClaimVerdict) -> Text:
    from rich.text import Text

    claim = verdict.claim
    words = Text.assemble((claim.id, "bold"), f"  {claim.claim}")
    if verdict.reason:
        words.append(f"\n  {verdict.reason}", style="italic")
    if claim.hindsight:
        words.append(f"\n  in hindsight: {claim.hindsight}", style="italic")
    return words


def _expected(claim: Claim) -> str:
    from longfat.paper._verdict import show, show_criterion

    if claim.paper_value is None or claim.paper_value == claim.equals:
        return show_criterion(claim)
    return f"{show_criterion(claim)}\npaper: {show(claim.paper_value, claim.unit)}"


def _committed(remade: Remade) -> dict[str, ClaimVerdict]:
    """The committed verdicts by claim."""
    from longfat.paper._verdict import from_dict

    claims = {claim.id: claim for claim in remade.room.claims}
    entries = (remade.committed or {"claims": []})["claims"]
    return {
        each["id"]: from_dict(claims[each["id"]], each) for each in entries if each["id"] in claims
    }


def _both(verdict: ClaimVerdict | None) -> Text:
    """Number and verdict in one cell."""
    from rich.text import Text

    from longfat.paper._verdict import show_estimate

    if verdict is None:
        return Text("not committed", style="bright_black")
    return Text.assemble(show_estimate(verdict), "\n", _word(verdict))


def _print_flips(remade: Remade, committed: dict[str, ClaimVerdict]) -> None:
    """Names the claims whose verdict is another one in the changed room."""
    from rich.text import Text

    from longfat.commands._console import console
    from longfat.paper._verdict import show_estimate

    flips = [
        (committed[new.claim.id], new)
        for new in remade.verdicts
        if new.claim.id in committed and committed[new.claim.id].verdict != new.verdict
    ]
    out = console()
    out.print(f"\n{plural(len(flips), 'verdict')} flipped" + (":" if flips else ""))
    for old, new in flips:
        told = f"  {new.claim.id}: {old.verdict} ({show_estimate(old)}) → {new.verdict} ({show_estimate(new)})"
        out.print(Text(told), soft_wrap=True)


def _print_seeds(remade: Remade) -> None:
    """How many seeds would decide what is undecided."""
    from rich.text import Text

    from longfat.commands._console import console
    from longfat.paper._verdict import seeds_to_decide

    needed = {each.claim.id: seeds_to_decide(each) for each in remade.verdicts}
    told = [f"{name} {seeds:,}" for name, seeds in needed.items() if seeds is not None]
    if told:
        text = f"seeds that would decide them, if their means stay: {', '.join(told)}"
        console().print(Text(text), soft_wrap=True)


def _word(verdict: ClaimVerdict) -> Text:
    from rich.text import Text

    colour = "bold red" if verdict.failed else _COLOURS[verdict.verdict]
    text = Text(verdict.verdict, style=colour)
    if verdict.failed:
        text.append("\nrequirement")
    elif verdict.decided is False:
        text.append("\nundecided", style="bright_black")
    return text
