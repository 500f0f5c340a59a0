"""What a remade paper writes: data of figures, and verdicts as JSON and as a Markdown table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from longfat import foreign, frames
from longfat.paper._verdict import show_estimate, show_expected
from longfat.results._table import writing
from longfat.study._statistics import estimate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longfat.paper._room import Experiment
    from longfat.paper._verdict import ClaimVerdict
    from longfat.study._plan import Rows


def write(folder: Path, about: Experiment, rows: Rows) -> list[str]:
    """Writes the rows of an experiment and their means, and returns the names of the files."""
    names = [f"{about.id}.csv", f"{about.id}.parquet"]
    means = aggregate(rows.frame, (*rows.labels, *about.by))
    with writing(folder / about.id):
        frames.write_csv(means, folder / names[0])
        frames.write(rows.frame, folder / names[1])
    return names


def aggregate(frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """For each measured number its mean over the seeds, half of the 95 % interval, and the number of values."""
    numbers = [
        name
        for name, kind in frame.schema.items()
        if name not in (*keys, "seed") and (kind.is_numeric() or kind == pl.Boolean)
    ]
    rows = []
    parts = frame.group_by(keys, maintain_order=True) if keys else [((), frame)]
    for key, part in parts:
        row: dict[str, Any] = dict(zip(keys, key, strict=True))
        for name in numbers:
            known = estimate(part[name].cast(pl.Float64).to_list())
            row |= {name: known.mean, f"{name}_half_width": known.half_width, f"{name}_n": known.n}
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def markdown(verdicts: Sequence[ClaimVerdict]) -> str:
    """The verdicts as a table."""
    lines = [
        "| where | the paper says | we measure | expected | found | verdict |",
        "|---|---|---|---|---|---|",
    ]
    for verdict in verdicts:
        claim = verdict.claim
        expected = show_expected(claim)
        word = f"**{verdict.verdict}**" + (", a requirement" if claim.requirement else "")
        cells = (
            f"{cell(claim.where)}<br>`{claim.id}`",
            cell(claim.claim),
            cell(claim.measured or "–"),
            cell(expected),
            cell(show_estimate(verdict)),
            cell(
                word
                + (f": {verdict.reason}" if verdict.reason else "")
                + (f" *In hindsight:* {claim.hindsight}" if claim.hindsight else "")
            ),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def write_json(path: Path, content: object) -> None:
    """Writes JSON that people can read as well."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def cell(text: str) -> str:
    """A text as a cell of a Markdown table."""
    return " ".join(foreign.markdown(text).replace("|", "\\|").split())
