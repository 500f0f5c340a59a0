"""The SQL of studies: expressions over columns, and nothing that reaches a file or the network."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from longfat.errors import StudyError
from longfat.study._design import evaluate, read_expression
from support import SMALL

if TYPE_CHECKING:
    from support import Command

CONTROL = "flow.forward.control"
STUDY = f"""scenario = "small.toml"
seeds = 1
[set]
duration = "1 s"
warmup = "0 s"
[vary]
"{CONTROL}" = ["reno"]
"""


@pytest.fixture
def pipe(own_folder: Path) -> Path:
    """A named pipe: whoever opens it waits for ever."""
    (own_folder / "small.toml").write_text(SMALL, "utf-8")
    made = own_folder / "x.csv"
    os.mkfifo(made)
    return made


@pytest.mark.parametrize("key", ["where", "derive"])
@pytest.mark.parametrize("query", ["SELECT a FROM read_csv('{}')", "from\nRead_Csv('{}')"])
def test_a_study_opens_no_file_by_its_sql(
    pipe: Path, longfat: Command, key: str, query: str
) -> None:
    condition = f"1 in ({query.format(pipe)})"
    where, derive = (condition, "1") if key == "where" else ("1 = 1", condition)
    given = f'where = """{where}"""\n{STUDY}[derive]\nx = """{derive}"""\n'
    Path("question.toml").write_text(given, "utf-8")
    # Whoever opened the pipe would not come back.
    done = longfat("study", "question.toml", "--dry-run", timeout=60)
    assert done.returncode == 2, done.stdout
    assert "belongs to a query; an expression has columns in double quotes" in done.stderr
    assert "no query, table or file" in done.stderr


@pytest.mark.parametrize(
    "expression",
    [
        "(select 1)",
        "1 in (sElEcT a from t)",
        "exists (from t)",
        "1 = any(with t as (select 1) from t)",
        "1 in (values (1))",
        "1 in (table t)",
        "(from t)",
        "count(distinct from t)",
        "extract(year from (from t))",
        "trim(from t)",
        "1 is distinct from (from t)",
        "'a' in ('b') union select 1",
        "read_csv('a')",
        "\"READ_parquet\" ('a')",
        "scan_ipc('a')",
        # Quotes by which two readers could disagree on where a text ends.
        "E'\\' in (select 1) --'",
        "U&'x'",
        "$$ (select 1) $$",
        "`a`",
        "'a' /* ' */ in (select 1) /* ' */",
        "1 -- 2",
        "1 # 2",
        "1; select 1",
        "1_select",
        "'no end",
        "1\u00a0+ 1",
    ],
)
def test_what_is_more_than_an_expression_never_reaches_polars(
    monkeypatch: pytest.MonkeyPatch, expression: str
) -> None:
    def reads(text: str) -> pl.Expr:
        message = f"polars has read {text}"
        raise AssertionError(message)

    monkeypatch.setattr(pl, "sql_expr", reads)
    with pytest.raises(StudyError, match=r"is not possible: .* no query, table or file"):
        read_expression(expression, "where")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ('"a.b" * 2 >= 6 and not "a.b" <> 3', True),
        ("'select' || ' from read_csv(''x'') -- /* '", "select from read_csv('x') -- /* "),
        ('"from (select)" + .5e1', 6.0),
        ('case when "a.b" between 1 and 4 then LN(1) else -1.5E-3 end', 0.0),
        ("\"text\" in ('x', 'y')\n\tand \"text\" like '\\%' is not null", True),
        ('"a.b" is not distinct from 3', True),
        ("substring(\"text\" from 1 for 1) || trim(both '-' from '-z-')", "yz"),
        ('round(cast("a.b" as double) / 2::int, 1)', 1.5),
        ('- -"a.b"%2', 1),
    ],
)
def test_expressions_are_computed(expression: str, value: object) -> None:
    frame = pl.DataFrame({"a.b": [3], "text": ["y"], "from (select)": [1]})
    assert evaluate(frame, expression, "derive.x").to_list() == [value]


def test_a_chain_that_would_overflow_the_stack_is_refused() -> None:
    with pytest.raises(StudyError, match="more than 500 names, numbers and operators"):
        read_expression("'a'" + "||'a'" * 20_000, "derive.x")
    frame = pl.DataFrame({"a": [1]})
    assert evaluate(frame, '"a"' + '+"a"' * 249, "derive.x").to_list() == [250]
