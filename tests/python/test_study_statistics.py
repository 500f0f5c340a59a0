"""Studies: seeds, intervals, differences, and numbers that are derived."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from longfat.errors import StudyError
from longfat.study import study
from longfat.study._parts import PARTS
from small_study import CONTROL, FILE, GOODPUT, RATE, STUDY, UTILISATION, vary
from support import SMALL, Command


def test_seeds_are_added_until_they_suffice(small: Path) -> None:
    assert small.exists()
    given = {**STUDY, "seeds": {"until": "5 %", "most": 12, "of": GOODPUT}}
    found = study(given, workers=3)
    counts = found.table(GOODPUT)
    looks = {5, 8, 12}
    for mean, half, n in counts.select(
        GOODPUT, f"{GOODPUT}_half_width", f"{GOODPUT}_n"
    ).iter_rows():
        assert n in looks
        assert half <= 0.05 * mean or n == 12
        if n > 5:
            earlier = max(look for look in looks if look < n)
            rows = found.rows.filter(pl.col("seed") <= earlier)
            assert rows.height  # the seeds are the first ones
    assert study(given, out="other", workers=1).rows.equals(found.rows)
    assert study(given).known >= 20
    with pytest.raises(StudyError, match=r"no run has `flows\.forward\.goodput`"):
        study({**given, "seeds": {"until": "5 %", "of": "flows.forward.goodput"}})


def test_differences_are_paired_and_corrected(small: Path) -> None:
    assert small.exists()
    found = study({**STUDY, "seeds": 6})
    told = found.differences(UTILISATION, CONTROL, to="reno")
    assert told.columns == [
        RATE, "number", "first", "second", "difference", "half_width", "n", "p", "p_corrected",
        "comparisons", "correction", "verdict",
    ]  # fmt: skip
    assert told["comparisons"].to_list() == [2, 2]
    rows = found.rows.filter(pl.col(RATE) == "5 Mbit/s")
    pairs = [
        other - one
        for one, other in zip(
            rows.filter(pl.col(CONTROL) == "reno")[UTILISATION],
            rows.filter(pl.col(CONTROL) == "exp")[UTILISATION],
            strict=True,
        )
    ]
    from scipy import stats

    expected = stats.ttest_1samp(pairs, 0.0)
    assert told["p"][0] == pytest.approx(expected.pvalue)
    assert told["difference"][0] == pytest.approx(sum(pairs) / 6)
    # What goes together with the key is no other setting.
    tied = {CONTROL: ["reno", "exp"], "flow.forward.count": [1, 2]}
    zipped = study({**STUDY, "vary": {RATE: ["5 Mbit/s"]}, "zip": [tied]}, out="zipped")
    assert zipped.differences(UTILISATION, CONTROL)["n"].to_list() == [3]
    few = study({**STUDY, "seeds": 1}, out="few").differences(UTILISATION, CONTROL)
    assert set(few["verdict"]) == {"not enough seeds to tell"}


def test_the_command_says_what_it_cannot_tell(file: Path, longfat: Command) -> None:
    compare = (
        f'[[compare]]\nof = "{UTILISATION}"\nbetween = "{CONTROL}"\ncorrection = "bonferroni"\n'
    )
    file.write_text(FILE.replace("seeds = 3", "seeds = 1") + compare, "utf-8")
    done = longfat("study", file)
    assert done.returncode == 0, done.stderr
    assert "corrected by Bonferroni" in done.stdout
    assert "not enough seeds to tell in 2 of them" in done.stdout
    assert "one value at 4 points, so no interval there" in done.stdout
    assert Path("runs/study-question/differences.csv").is_file()


def test_seeds_that_change_nothing_are_noticed(small: Path, longfat: Command) -> None:
    small.write_text(SMALL.replace('start = { uniform = ["0 s", "100 ms"] }\n', ""), "utf-8")
    Path("question.toml").write_text(FILE, "utf-8")
    done = longfat("study", "question.toml")
    assert "all seeds give the same at 4 points" in done.stdout


def test_bootstrap_intervals_are_those_of_scipy(small: Path) -> None:
    assert small.exists()
    found = study({**STUDY, "seeds": 10, "interval": "bootstrap"})
    values = found.rows[UTILISATION][:10].to_list()
    import numpy as np
    from scipy import stats

    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=9999, method="BCa", rng=np.random.default_rng(9999)
    ).confidence_interval
    half = found.table(UTILISATION)[f"{UTILISATION}_half_width"][0]
    assert half == pytest.approx((expected.high - expected.low) / 2)


def test_numbers_are_derived(small: Path) -> None:
    assert small.exists()
    given = {**STUDY, "derive": {"of capacity": f'"{GOODPUT}" / "{RATE}"'}}
    found = study(given)
    row = found.rows.row(0, named=True)
    assert row["of capacity"] == pytest.approx(row[GOODPUT] / 5e6)
    assert "of capacity_half_width" in found.table("of capacity").columns
    # Nothing is run again for another derivation; a misspelt name is refused.
    assert study({**STUDY, "derive": {"twice": f'2 * "{GOODPUT}"'}}).known == 12
    with pytest.raises(StudyError, match=r"did you mean .flows\.forward\.goodput_bit_s"):
        study({**STUDY, "derive": {"x": '"flows.forward.goodput_bits"'}})


@pytest.mark.parametrize("expression", ["1/0", "SQRT(-1)", "1e400", '"seed" / 0'])
def test_what_is_finite_in_no_run_is_refused(small: Path, expression: str) -> None:
    assert small.exists()
    with pytest.raises(StudyError, match=r"`derive\.x`: .* is no finite number in any run"):
        study(vary(vary={CONTROL: ["reno"]}, derive={"x": expression}))


def test_what_is_finite_in_some_runs_is_told(file: Path, longfat: Command) -> None:
    compare = f'[[compare]]\nof = "x"\nbetween = "{CONTROL}"\n'
    given = FILE + f"""[derive]\nx = '1 / ("{RATE}" - 5e6) / ("seed" - 2)'\n""" + compare
    file.write_text(given, "utf-8")
    done = longfat("study", file)
    assert done.returncode == 0, done.stderr
    assert "x: no finite number in some runs at 4 points, so no mean there" in done.stdout
    assert "not enough seeds to tell in 2 of them" in done.stdout


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"derive": {"x": '"flows.forward.goodput_bits" / 2'}},
            "`derive.x`: no run has `flows.forward.goodput_bits`: did you mean `flows.forward.goodput_b",
        ),
        ({"plot": [{"x": RATE, "y": "links.botleneck.forward.utilisation"}]}, "`plot.y`"),
        ({"plot": [{"x": "link.botleneck.rate", "y": GOODPUT}]}, f"did you mean `{RATE}`"),
        ({"compare": [{"of": "jain.foward", "between": RATE}]}, "did you mean `jain.forward`"),
        ({"seeds": {"until": "5 %", "of": "jain.foward"}}, "`seeds.of`"),
    ],
)
def test_a_misspelt_number_is_found_after_the_first_run(
    small: Path, change: dict[str, Any], told: str
) -> None:
    assert small.exists()
    given = {**vary(vary={RATE: ["5 Mbit/s", "10 Mbit/s"]}), **change}
    with pytest.raises(StudyError, match="what is finished is kept") as caught:
        study(given, workers=1)
    assert told in str(caught.value)
    assert list(Path("runs/study-study", PARTS).glob("*.parquet"))
    assert not Path("runs/study-study/rows.parquet").exists()


def test_what_a_first_run_lacks_may_be_asked_for(small: Path) -> None:
    """Nothing is delivered in so short a time, so the goodput is absent, but not unknown."""
    assert small.exists()
    late = {"flow.forward.start": ["3900 ms", "0 s"]}
    given = vary(vary=late, derive={"half": f'"{GOODPUT}" / 2', "one": "1.0"})
    found = study({**given, "plot": [{"x": "flow.forward.start", "y": "one"}]}, workers=1)
    assert found.failed == 0
    limited = {"flow.forward.receive_window": ["none", "3 packets"]}
    waited = "flows.forward.receiver_limited_s"
    assert waited in study(vary(vary=limited, derive={"w": f'"{waited}"'}), out="w").numbers
    both = vary(vary={"engine": ["packets", "fluid"]}, fluid={"price": "overflow"})
    price = "links.bottleneck.forward.price"
    assert price in study({**both, "derive": {"p": f'2 * "{price}"'}}, out="both").numbers


def test_what_is_no_sql_is_refused_when_the_file_is_read(small: Path, longfat: Command) -> None:
    assert small.exists()
    Path("question.toml").write_text(FILE + '[derive]\nx = "1 +"\n', "utf-8")
    wrong = longfat("study", "question.toml", "--dry-run")
    assert wrong.returncode == 2
    assert "`derive.x`: `1 +` cannot be read" in wrong.stderr
