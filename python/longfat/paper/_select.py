"""Picking values for claims from rows."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

_TOGETHER = 1e-9


def at(rows: pl.DataFrame, **labels: object) -> pl.DataFrame:
    """The rows with these labels; a list matches any of its values.

    >>> rows = pl.DataFrame({"control": ["reno", "exp"], "seed": [1, 1], "utilisation": [0.8, 0.97]})
    >>> at(rows, control="exp")["utilisation"].to_list()
    [0.97]

    Raises:
        KeyError: There are none.
    """
    found = rows.filter(*(_is(name, value) for name, value in labels.items()))
    if found.is_empty():
        known = {name: sorted(rows[name].unique().to_list(), key=str) for name in labels}
        message = f"no row has {labels}; the rows have {known}"
        raise KeyError(message)
    return found


def per_seed(rows: pl.DataFrame, what: str | pl.Expr, **labels: object) -> list[float | None]:
    """One value for each seed, in the order of the seeds: what a claim is answered with.

    Args:
        rows: The rows.
        what: A column, or an expression over columns, with one row per seed among the rows; or an expression
            that makes one value of all rows of a seed, such as `pl.col("utilisation").min()`.
        labels: Select only the rows with these labels.

    >>> rows = pl.DataFrame({"seed": [1, 1, 2, 2], "rate": [1, 2, 1, 2], "used": [0.9, 0.8, 0.7, 1.0]})
    >>> per_seed(rows, "used", rate=1)
    [0.9, 0.7]
    >>> per_seed(rows, pl.col("used").min())
    [0.8, 0.7]
    >>> per_seed(rows, 2 * pl.col("used"), rate=2)
    [1.6, 2.0]
    >>> per_seed(rows, "used")
    Traceback (most recent call last):
    ValueError: `used`: several rows have the same seed: give more labels, or say how to join them

    Raises:
        KeyError: No row has these labels.
        ValueError: A seed has more than one row, and `what` does not join them.
    """
    found = at(rows, **labels)
    expression = pl.col(what) if isinstance(what, str) else what
    made = found.group_by("seed").agg(expression.alias("value")).sort("seed")
    if isinstance(made.schema["value"], pl.List):
        if found["seed"].is_duplicated().any():
            message = f"`{what}`: several rows have the same seed: give more labels, or say how to join them"
            raise ValueError(message)
        made = made.explode("value")
    values: list[float | None] = made["value"].cast(pl.Float64).to_list()
    return values


def across(
    rows: pl.DataFrame, label: str, column: str, *, keep: Sequence[str], **labels: object
) -> pl.DataFrame:
    """Puts the values of one label side by side, for comparison run by run.

    Args:
        rows: The rows.
        label: The label whose values become columns: `control`.
        column: What is compared: `utilisation`.
        keep: The labels that distinguish the new rows, besides the seed: `["rate_bit_s"]`.
        labels: Select only the rows with these labels.

    Returns:
        A row per seed and `keep`, a column per value of the label.

    >>> rows = pl.DataFrame({"control": ["reno", "exp"], "seed": [1, 1], "used": [0.8, 0.97]})
    >>> across(rows, "control", "used", keep=[]).to_dicts()
    [{'seed': 1, 'reno': 0.8, 'exp': 0.97}]
    """
    wide: pl.DataFrame = at(rows, **labels).pivot(
        on=label, index=["seed", *keep], values=column, aggregate_function=None
    )
    return wide


def _is(name: str, value: Any) -> pl.Expr:  # noqa: ANN401 - any label
    if isinstance(value, (list, tuple)):
        return functools.reduce(
            operator.or_, (_is(name, each) for each in value), pl.lit(value=False)
        )
    column = pl.col(name)
    if isinstance(value, float):
        return (column - value).abs() <= _TOGETHER * abs(value)
    return column.is_null() if value is None else column == value
