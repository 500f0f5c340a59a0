"""An advice in words, as a table, and as a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from longfat._longfat import __version__, quantity
from longfat.results._names import folder_name
from longfat.study._compared import with_interval
from longfat.study._question import KINDS
from longfat.study._setup import label_of
from longfat.tables import TextTable, page
from longfat.units import LASTING, RATE, SHARE, TIME, Units, amount, plain, plural, ruler

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.study._advice import Advice, Advised
    from longfat.study._question import Choice

_COLUMNS: tuple[tuple[str, str, Units], ...] = (
    ("utilisation", "utilisation", SHARE),
    ("added delay", "queue_mean_s", TIME),
    ("p99", "queue_p99_s", TIME),
    ("transfer", "transfer_s", LASTING),
    ("kept", "kept", SHARE),
)


def closely_table(found: Advice) -> TextTable:
    """A row for each choice that was looked at closely."""
    setup = found.question.setup
    queues = [label_of(setup.queue_for(each.choice.control)) for each in found.closely]
    # One that all have is told with the path.
    differ = any(queue != label_of(setup.queue) for queue in queues)
    words = ("controller", *(["queue"] if differ else []), "streams", "buffer")
    made = TextTable((*words, *(head for head, _, _ in _COLUMNS)), words=len(words))
    columns = []
    for _, name, units in _COLUMNS:
        values = [each.numbers[name] for each in found.closely]
        size, unit, digits = ruler([value.mean for value in values], units)
        digits = 1 if units is SHARE else digits
        columns.append([with_interval(value, size, digits, unit) for value in values])
    for each, queue, *cells in zip(found.closely, queues, *columns, strict=True):
        told = (each.control, *([queue] if differ else []), str(each.streams), each.choice.buffer)
        made.add(*told, *cells)
    return made


def headline(found: Advice) -> str:
    """What to take, in a sentence with its numbers."""
    advised = found.picks["advised"]
    streams = "stream" if advised.streams == 1 else "streams"
    other = label_of(found.question.other)
    parts = [
        f"{_number(advised, 'utilisation', SHARE)} of the link used",
        f"{_number(advised, 'queue_mean_s', TIME)} added by the queue on average",
    ]
    if advised.mean("transfer_s") is not None:
        parts.append(f"{found.question.size} in {_number(advised, 'transfer_s', LASTING)}")
    if advised.mean("kept") is None:
        parts.append(f"what a flow of {other} beside it keeps is unknown")
    else:
        kept = _number(advised, "kept", SHARE)
        parts.append(f"a flow of {other} beside it keeps {kept} of what it has beside its like")
    choice = f"{advised.control} with {advised.streams} {streams} and a buffer of {advised.choice.buffer}"
    return f"take {choice}: {'; '.join(parts)}"


def others(found: Advice) -> list[str]:
    """What else might be taken, for another aim."""
    advised = found.picks["advised"]
    told = []
    for aim, name, units in (
        ("fastest", "transfer_s", LASTING),
        ("least delay", "queue_mean_s", TIME),
        ("gentlest", "kept", SHARE),
    ):
        pick = found.picks.get(aim)
        if pick is not None and pick is not advised:
            told.append(f"{aim}: {pick.choice.label}, {_number(pick, name, units)}")
    return told


def _number(of: Advised, name: str, units: Units) -> str:
    value = of.numbers[name]
    size, unit, digits = ruler([value.mean], units)
    return with_interval(value, size, 1 if units is SHARE else digits, unit)


def file_of(choice: Choice, kind: str) -> str:
    """What the scenario of a choice is called."""
    return f"{folder_name(label_of(choice.control), str(choice.streams), choice.buffer, kind)}.toml"


def write_files(folder: Path, found: Advice, json_text: str) -> None:
    """Writes the numbers, every scenario behind them, the picture and the page into a folder."""
    from longfat import plot

    (folder / "advice.json").write_text(json_text + "\n", encoding="utf-8")
    for each in found.closely:
        for kind in KINDS:
            text = getattr(found.question, kind)(each.choice)
            (folder / file_of(each.choice, kind)).write_text(text, encoding="utf-8")
    advised = found.picks["advised"]
    figure = plot.advice(found.closely, found.looked, advised, _title(found))
    plot.save(figure, folder / "advice.png")
    plot.save(figure, folder / "advice.svg")
    svg = (folder / "advice.svg").read_text("utf-8")
    (folder / "advice.html").write_text(_page(found, svg[svg.index("<svg") :]), encoding="utf-8")


def _title(found: Advice) -> str:
    setup = found.question.setup
    rate = amount(quantity("rate", setup.rate), RATE)
    rtt = amount(quantity("time", setup.rtt) * 1e-12, TIME)
    loss = f", loss {plain(setup.loss)}" if setup.loss else ""
    return f"Which controller for {rate} and {rtt}{loss}?"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_METHOD = (
    "Simulated packet by packet, {duration} each, the first {warmup} left out, over {seeds}; ± half of "
    "the 95 % confidence interval. Added delay: what the queue adds to the round trip, on average and at most "
    "99 % of the time. Transfer: {size}, slow start included. Kept: what a flow of {other} has that was there "
    "before, as a share of what it has beside as many of its like."
)
_LOOK = (
    "A first look, one seed each, was taken at {choices} choices; looked at closely were the best of each "
    "controller, and those that no other beats both in utilisation and in delay."
)
_UNTESTED = (
    "Not tested: traffic other than one flow, other round trips on the same link, links that change, receivers "
    "and hosts that are too slow, and whether the network is what was assumed here."
)

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: 0.2rem 0.7rem 0.2rem 0; white-space: nowrap } .wide { overflow-x: auto }
th { border-bottom: 1px solid #999 } svg { max-width: 100%; height: auto } .lead { font-size: 1.25rem }
code { background: #f1f1ee } p.faint, li { color: #555 }
"""


def _page(found: Advice, svg: str) -> str:
    """The whole answer on one page, which needs nothing else."""
    question = found.question
    setup = question.setup
    runs = "".join(
        f"<li><code>longfat run {escape(file_of(each.choice, kind))} --seed N</code></li>"
        for each in found.closely
        for kind in KINDS
    )
    method = [
        _METHOD.format(
            duration=setup.duration,
            warmup=setup.warmup,
            seeds=plural(question.seeds, "seed"),
            size=question.size,
            other=label_of(question.other),
        ),
        _LOOK.format(choices=len(question.choices)),
        _UNTESTED,
        f"longfat {__version__}; the scenarios lie beside this page:",
    ]
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(_title(found))}</title><style>{_STYLE}</style></head><body>
<h1>{escape(_title(found))}</h1>
<p class="lead">{escape(_capital(headline(found)))}.</p>
{page(others(found))}
{svg}
<div class="wide">{closely_table(found).html}</div>
{page(list(found.doubts))}
<h2>What is behind it</h2>
{page(method)}
<ul>{runs}</ul>
</body></html>
"""
