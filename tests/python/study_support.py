"""What pages keep of the studies that they tell of: `studies/NAME.csv`, to which tests hold them."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

ROOT = Path(__file__).parents[2]


def kept(study: str, names: dict[str, str], numbers: tuple[str, ...]) -> pl.DataFrame:
    """What came out of a study: the columns `names`, by what they are called here, and these numbers.

    After `longfat study studies/NAME.toml`, UPDATE=1 takes over what came out.
    """
    table = ROOT / f"studies/{study}.csv"
    finished = ROOT / f"runs/study-{study}/table.csv"
    if os.environ.get("UPDATE") and finished.exists():
        keys = [pl.col(key).alias(name) for key, name in names.items()]
        means = [pl.col(number).round_sig_figs(4) for number in numbers]
        pl.read_csv(finished, infer_schema_length=None).select(*keys, *means).write_csv(table)
    return pl.read_csv(table, infer_schema_length=None)
