"""The essays of controllers and queues: the table of parameters has the defaults of the catalogue."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import longfat

CRATES = Path(__file__).resolve().parents[2] / "crates"
FOLDERS = {"controller": "control/src/controller", "queue": "queue/src/discipline"}
# What the essay of another one says of the parameters that both have.
ALSO_IN = {"cw-hstcp": "hstcp"}
ENTRIES = [
    pytest.param(kind, entry, id=f"{kind} {entry['name']}")
    for kind, entries in (("controller", longfat.controllers()), ("queue", longfat.queues()))
    for entry in entries
]
DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def told(kind: str, name: str) -> dict[str, str]:
    """The defaults in the table of the essay, by parameter."""
    file = CRATES / FOLDERS[kind] / name.replace("++", "-plus-plus").replace("-", "_")
    path = file.with_name(f"{file.name}.rs")
    text = (path if path.exists() else file / "mod.rs").read_text("utf-8")
    found: dict[str, str] = {}
    columns = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line[4:].strip().strip("|").split("|")]
        if not line.startswith("//! |"):
            columns = None
        elif "default" in cells:
            columns = cells
        elif columns is not None:
            names, default = cells[0], cells[columns.index("default")]
            parameters = re.findall(r"`([\w]+)`", names)
            # Two parameters in a row have two defaults, or the same one.
            defaults = default.split(", ") if ", " in default else [default] * len(parameters)
            found |= dict(zip(parameters, defaults, strict=False))
    return found


def number(text: str) -> float:
    """`83 000`, `1/8`, `1 1/4 /s`, `10⁻⁷`, `1514 bytes`, `2/ln 2 = 2.89`."""
    text = text.rpartition("= ")[2]
    power = re.fullmatch(r"10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", text)
    if power:
        return float(f"1e{power[1].translate(DIGITS)}")
    text = re.sub(r" (?:/s|bytes)$", "", text)
    mixed = re.fullmatch(r"(?:(\d+) )?(\d+/\d+)", text)
    if mixed:
        return float(int(mixed[1] or 0) + Fraction(mixed[2]))
    return float(text.replace(" ", ""))


def same(text: str, default: Any) -> bool:
    text = text.strip('`"').replace('"', "")
    if isinstance(default, bool):
        return text == str(default).lower()
    if isinstance(default, (int, float)):
        # What follows from a formula is told to three digits.
        tolerance = 2e-3 if "= " in text else 1e-9
        return number(text) == pytest.approx(default, rel=tolerance)
    return longfat_text(text) == longfat_text(default)


def longfat_text(text: str) -> str:
    """Times in one unit: `0.8 ms` is `800 us`."""
    time = re.fullmatch(r"([\d.]+) (us|ms|s)", text)
    if not time:
        return text
    return f"{float(time[1]) * {'us': 1, 'ms': 1e3, 's': 1e6}[time[2]]:.12g} us"


@pytest.mark.parametrize(("kind", "entry"), ENTRIES)
def test_the_defaults_are_those_that_the_essay_tells(kind: str, entry: dict[str, Any]) -> None:
    name = entry["name"]
    own = told(kind, name)
    essay = (told(kind, ALSO_IN[name]) if name in ALSO_IN else {}) | own
    defaults = {parameter["name"]: parameter["default"] for parameter in entry["parameters"]}
    assert set(own) <= set(defaults), "the essay has parameters that there are not"
    for parameter, default in defaults.items():
        assert parameter in essay, f"the essay says nothing of {parameter}"
        text = essay[parameter]
        assert same(text, default), f"{parameter} is {default!r}, and {text} in the essay"
