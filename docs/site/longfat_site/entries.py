"""Controllers, queues and keys as tables of Markdown, from the catalogues that the program itself reads."""

from __future__ import annotations

import json
from typing import Any

from longfat import _longfat

TINY, HUGE = 1e-300, 1e300
"""Bounds beyond these are none."""

_FORMS = {
    "time": "a time",
    "rate": "a rate",
    "size": "a size",
    "packets": "packets",
    "length": "a length",
    "frequency": "a number per second",
    "percent": "per cent",
    "flag": "true or false",
    "true": "`true`",
    "false": "`false`",
    "name": "a name",
    "text": "a text",
    "controller": "a [controller](controllers.md)",
    "queue": "a [queue](queues.md)",
    "profile": "a profile",
}


def described(entry: dict[str, Any]) -> str:
    """A controller or a queue with its parameters, as a section of the third level."""
    title = entry["title"][0].upper() + entry["title"][1:]
    text = f"\n### `{entry['name']}`\n\n{title} ({entry['source']}).\n"
    if not entry["parameters"]:
        return text + "\nIt has no parameters.\n"
    text += "\n| parameter | default | value | meaning |\n|---|---|---|---|\n"
    for each in entry["parameters"]:
        row = (f"`{each['name']}`", default_of(each), range_of(each), each["about"])
        text += f"| {' | '.join(row)} |\n"
    return text


def default_of(parameter: dict[str, Any]) -> str:
    """The default of a parameter, as a scenario would have it."""
    default = parameter["default"]
    if default is None:
        return "required"
    if parameter["kind"] == "frequency":
        default = f"{default:.15g} /s"
    number = isinstance(default, float)
    return f"`{default:.15g}`" if number else f"`{json.dumps(default, ensure_ascii=False)}`"


def range_of(parameter: dict[str, Any]) -> str:
    """Which values a parameter may have."""
    kind = parameter["kind"]
    if parameter["words"]:
        words = ", ".join(f"`{json.dumps(word)}`" for word in parameter["words"])
        return words if kind == "word" else f"a number{_bounds_of(parameter)}, or {words}"
    what = {
        "number": "a number",
        "count": "a count",
        "frequency": "per second",
        "time": "a time",
        "length": "a length",
        "flag": "true or false",
        "controller": "a controller",
    }[kind]
    return what + _bounds_of(parameter)


def _bounds_of(parameter: dict[str, Any]) -> str:
    least, most = parameter["minimum"], parameter["maximum"]
    if least is None:
        return ""
    least = "above 0" if 0 < least < TINY else f"{least:g} or more"
    return f", {least}" + ("" if most > HUGE else f", at most {most:g}")


def profile_table(profiles: list[dict[str, Any]]) -> str:
    """The profiles and the keys that they set."""
    text = "\n| profile | what it is | it sets | source |\n|---|---|---|---|\n"
    for each in profiles:
        keys = [f"`{key} = {json.dumps(value)}`" for key, value in each["keys"]]
        keys += [f"with `{kind}` `{key} = {json.dumps(it)}`" for kind, key, it in each["with"]]
        text += f"| `{each['name']}` | {each['title']} | {', '.join(keys)} | {each['source']} |\n"
    return text + "\n"


def key_table(name: str, written: str) -> str:
    """The keys of a table for the guide, below the head that is there; those of the transport stand once."""
    head = "".join(written.splitlines(keepends=True)[:2])
    shared = {key["name"] for key in transport_keys()} if name == "traffic" else set()
    rows = ""
    for table in _longfat.scenario_keys():
        if table["name"] != name:
            continue
        kind = [f'`"{table["kind"]}"`'] if table["kind"] else []
        for key in table["keys"]:
            if key["name"] in shared or (kind and key["name"] == "kind"):
                continue
            cells = [*kind, f"`{key['name']}`", usual_of(key), key["about"]]
            rows += f"| {' | '.join(cells)} |\n"
            kind = kind and [""]
    return head + rows.replace("|  |", "| |")


def transport_keys() -> list[dict[str, Any]]:
    """The keys of a flow from `profile` on."""
    (flow,) = (table for table in _longfat.scenario_keys() if table["name"] == "flow")
    keys: list[dict[str, Any]] = flow["keys"]
    names = [key["name"] for key in keys]
    return keys[names.index("profile") :]


def usual_of(key: dict[str, Any]) -> str:
    """What holds where a key of a scenario is not given."""
    return f"`{key['default']}`" if key["default"] else key["otherwise"] or "required"


def accepted(forms: list[dict[str, Any]]) -> str:
    """What a key of a scenario accepts, in words; nothing that only a resolved scenario has."""
    told = [_form(form) for form in forms if form["form"] != "resolved"]
    *others, last = told
    return f"{', '.join(others)} or {last}" if others else last


def _form(form: dict[str, Any]) -> str:
    kind, text = form["form"], form["text"]
    if kind in {"number", "count"}:
        return _number(form)
    if kind in {"list", "pair"}:
        return f"a {kind} of " + accepted(form["of"])
    named = {
        "word": f'`"{text}"`',
        "pattern": f"a text like `{text}`",
        "table": f"a table [{text}](#{text})",
        "tables": f"tables [{text}](#{text}), by name",
    }
    return named[kind] if kind in named else _FORMS[kind]


def _number(form: dict[str, Any]) -> str:
    what = "a count" if form["form"] == "count" else "a number"
    low, high = form["minimum"], form["maximum"]
    if low is None:
        return what
    largest = 1e18 if form["form"] == "count" else HUGE
    return f"{what}, {low:g} or more" if high >= largest else f"{what}, {low:g} to {high:g}"
