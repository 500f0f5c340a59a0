"""The page that says which controller is for which path: its numbers are those of its studies.

After `longfat study studies/paths.toml`, or `neighbours.toml`, UPDATE=1 takes over what came out.
"""

from __future__ import annotations

import os
import re

import polars as pl

import study_support
from study_support import ROOT

PAGE = ROOT / "docs/which-controller.md"
KEPT = ROOT / "studies/paths.csv"
FINISHED = ROOT / "runs/study-paths/table.csv"
BEGIN, END = (
    "<!-- {}: written by tests/python/test_which_controller.py -->\n",
    "<!-- end of {} -->",
)
NUMBERS = (
    "used",
    "used_half_width",
    "wait",
    "wait_half_width",
    "flows.own.retransmit_rate",
    "jain.own",
)
PATHS = ("fibre", "switch", "home", "radio", "satellite", "cell")


def kept() -> pl.DataFrame:
    """What came out of the study: a row for each controller with its queue, and path."""
    if os.environ.get("UPDATE") and FINISHED.exists():
        table = pl.read_csv(FINISHED)
        path = pl.col("flow.own.path").str.extract(r"(\w+)").alias("path")
        queue = pl.col("link.*.queue").str.extract(r"^([\w-]+)").alias("queue")
        numbers = [pl.col(name).round_sig_figs(4) for name in NUMBERS]
        table.select(path, pl.col("flow.own.control").alias("control"), queue, *numbers).write_csv(
            KEPT
        )
    return pl.read_csv(KEPT)


def share(row: dict[str, float]) -> str:
    """Share used, with half of its interval."""
    used, half = 100 * row["used"], 100 * row["used_half_width"]
    return f"{used:.0f} ± {half:.0f} %" if half >= 0.5 else f"{used:.0f} %"


def cell(row: dict[str, float]) -> str:
    """Share used, and wait, with half of its interval."""
    digits = 0 if row["wait"] >= 9.95 else 1
    wait, half = (f"{row[name]:.{digits}f}" for name in ("wait", "wait_half_width"))
    spread = f" ± {half}" if float(half) > 0 else ""
    return f"{share(row)}, {wait}{spread} ms"


def check_table(study: str, found: str) -> None:
    """The table of this study is the one that was found; with UPDATE=1 it becomes that."""
    begin, end = (text.format(study) for text in (BEGIN, END))
    before, rest = PAGE.read_text("utf-8").split(begin)
    told, after = rest.split(end)
    if os.environ.get("UPDATE"):
        PAGE.write_text(before + begin + found + end + after, "utf-8")
    else:
        assert told == found, f"UPDATE=1 writes the table from studies/{study}.csv"


def rendered() -> str:
    """The table in Markdown."""
    lines = [f"| | {' | '.join(PATHS)} |", "|---|" + "---|" * len(PATHS)]
    table = kept()
    for control, queue in table.select("control", "queue").unique(maintain_order=True).rows():
        name = f"`{control}`" if queue == "drop-tail" else f"`{control}`, `{queue}`"
        of = table.filter((pl.col("control") == control) & (pl.col("queue") == queue))
        cells = [cell(of.filter(pl.col("path") == path).row(0, named=True)) for path in PATHS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def test_the_table_is_that_of_the_study() -> None:
    check_table("paths", rendered())


def test_every_number_of_a_paragraph_is_one_of_its_path_and_of_a_controller_that_it_names() -> None:
    prose = PAGE.read_text("utf-8").split("## What came out")[1].split("None is good everywhere")[0]
    paragraphs = re.findall(r"\*\*(.+?)\.\*\* (.+?)\n\n", prose, flags=re.DOTALL)
    assert len(paragraphs) == len(PATHS)
    seen = 0
    for (title, text), path in zip(paragraphs, PATHS, strict=True):
        names = set(re.findall(r"`([\w+-]+)`", text))
        rows = kept().filter(
            pl.col("path") == path, pl.col("control").str.extract(r"^([\w+-]+)").is_in(names)
        )
        cells = [cell(row) for row in rows.to_dicts()]
        for pattern in (
            r"(\d+(?: ± \d+)? %)",
            r"(?<![\d.])(\d+(?:\.\d+)?(?: ± \d+(?:\.\d+)?)? ms)",
        ):
            told = re.findall(pattern, " ".join(text.split()))
            found = {each for shown in cells for each in re.findall(pattern, shown)}
            # Either may be told without its interval.
            found |= {re.sub(r" ± [\d.]+", "", each) for each in found}
            assert set(told) <= found, title
            seen += len(told)
    assert seen > 30


def test_what_it_says_of_packets_sent_again_and_of_nine_tenths() -> None:
    table = kept()
    plain = table.filter(pl.col("queue") == "drop-tail")
    rows = plain.select("path", "control", "flows.own.retransmit_rate").rows()
    resent = {(path, control): rate for path, control, rate in rows}
    for key, one_in in (
        (("switch", "bbr1"), 9),
        (("fibre", "bbr1"), 19),
        (("fibre", "bbr3"), 200),
    ):
        assert 0.9 < resent[key] * one_in < 1.1, key
    least = table.group_by("control", "queue").agg(pl.col("used").min())
    good = least.filter(pl.col("used") >= 0.9).select("control", "queue").rows()
    controls = ("copa", "copa, turns_at_once = true", "bbr1", "bbr3")
    assert set(good) == {(control, "drop-tail") for control in controls}
    shares = dict(table.filter(pl.col("path") == "fibre").select("control", "jain.own").rows())
    assert min(shares["exp"], shares["udt"]) > 0.95
    assert shares["yeah"] < 0.7


def test_what_the_hosts_add_is_what_the_study_found() -> None:
    names = {"flow.own.control": "control", "flow.own.recovery": "recovery"}
    numbers = ("used", "used_half_width", "timeouts", "resent")
    table = study_support.kept("recovery", names, numbers)
    resent = table.filter(pl.col("control") == "fast")["resent"].to_list()
    assert [f"{100 * each:.1f}" for each in resent] == ["4.5", "1.6"]
    lines = ["| | `sack` | time-outs | `rack` | time-outs |", "|---|---|---|---|---|"]
    for control in table["control"].unique(maintain_order=True):
        cells = [f"`{control}`"]
        for recovery in ("sack", "rack"):
            of = table.filter(pl.col("control") == control, pl.col("recovery") == recovery)
            row = of.row(0, named=True)
            cells += [share(row), f"{row['timeouts']:.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    check_table("recovery", "\n".join(lines) + "\n")


def neighbours() -> dict[tuple[str, str, str], tuple[float, float]]:
    """What others keep, with half of the interval: by rate, kind of the others, and controller."""
    names = {
        "link.bottleneck.rate": "rate",
        "flow.other.control": "other",
        "flow.one.control": "beside",
    }
    rows = study_support.kept("neighbours", names, ("share", "share_half_width")).rows()
    return {(rate, other, beside): (share, half) for rate, other, beside, share, half in rows}


def test_what_others_keep_is_what_the_study_found() -> None:
    found = neighbours()
    bullets = PAGE.read_text("utf-8").split("## Beside others")[1].split("\n- ")[1:]
    seen = 0
    for bullet in bullets:
        text = " ".join(bullet.split())
        told = re.match(r"At (\d+ [MG]bit/s) (Reno|CUBIC) keeps", text)
        assert told, text
        rate, other = told[1], told[2].lower()
        pattern = r"(\d\.\d\d)(?: ± (\d\.\d\d))? beside `([\w+-]+(?:, \w+ = \d+)?)`"
        for share, half, beside in re.findall(pattern, text):
            mean, width = found[rate, other, beside]
            assert f"{mean:.2f}" == share, f"{rate}, {other} beside {beside}"
            assert f"{width:.2f}" == (half or "0.00"), f"{rate}, {other} beside {beside}"
            seen += 1
        assert text.count(" beside ") == len(re.findall(pattern, text)), f"numbers only: {text}"
    assert seen > 15
