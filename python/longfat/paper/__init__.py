"""Remaking papers: what the experiments of a room use.

A room is a folder `papers/SLUG` with `claims.toml`, `deviations.toml`, scenarios, and a Python file for each
experiment. Such a file has

    FIGURE                  an `Experiment`: id, title, question
    points(scale)           the `Point`s to simulate, or `Computation`s to call, at "quick" or "full" scale
    measure(run)            one row of measured columns (or several) from one finished run, a `Measured`
    claims(rows)            for each claim: a value per seed, one value if chance plays no part, or `Untestable`
    facts(rows)             numbers that causes quote, answered like claims; a module without any leaves it out
    draw(rows)              a matplotlib figure, or several by name

Points, rows and what is measured are those of `longfat.study`. `longfat paper SLUG` does the rest; see
docs/guides/papers.md.

`beside` puts numbers of one's own beside the claims of a paper and what its room has found.
"""

from longfat.errors import RoomError
from longfat.paper._beside import Beside, beside
from longfat.paper._claims import Scale, Untestable
from longfat.paper._room import Experiment
from longfat.paper._select import across, at, per_seed
from longfat.paper._verdict import Answer
from longfat.study import Computation, Measured, Point, Row, run_points

__all__ = [
    "Answer",
    "Beside",
    "Computation",
    "Experiment",
    "Measured",
    "Point",
    "RoomError",
    "Row",
    "Scale",
    "Untestable",
    "across",
    "at",
    "beside",
    "per_seed",
    "run_points",
]
