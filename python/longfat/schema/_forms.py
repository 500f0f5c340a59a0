"""The forms of values as JSON Schema: quantities with units, controllers and queues with their parameters."""

from __future__ import annotations

import re
from typing import Any, get_args

from longfat import _longfat
from longfat.own._code import Form

Schema = dict[str, Any]

_NUMBER = r"\+?(?:[0-9]{1,3}(?:_[0-9]{3})+|[0-9]+)?\.?[0-9]*(?:[eE][+-]?[0-9]+)?"
_LARGEST_COUNT = 2**63
_NAME: Schema = {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"}


def schema_of(accepts: dict[str, Any]) -> Schema:
    """The schema of one form, as the catalogue of keys describes it."""
    form = accepts["form"]
    if form in {"number", "count"}:
        return _number(accepts, whole=form == "count")
    if form in {"list", "pair"}:
        items = any_of([schema_of(each) for each in accepts["of"]])
        bounds = {"minItems": 2, "maxItems": 2} if form == "pair" else {}
        return {"type": "array", "items": items, **bounds}
    text = accepts["text"]
    if text is None:
        return _plain()[form]
    return {
        "word": {"const": text},
        "pattern": {"type": "string", "pattern": f"^{text}$"},
        "table": reference(text),
        "tables": {
            "type": "object",
            "propertyNames": _NAME,
            "additionalProperties": reference(text),
        },
    }[form]


def reference(name: str) -> Schema:
    """A definition of the same schema."""
    return {"$ref": f"#/$defs/{name}"}


def any_of(schemas: list[Schema]) -> Schema:
    """Any of these; words become one list, which editors offer."""
    words = [each["const"] for each in schemas if set(each) == {"const"}]
    others = [each for each in schemas if set(each) != {"const"}]
    if words:
        others.append({"enum": words})
    # Where there is a reference, readers of this dialect see nothing else.
    return others[0] if len(others) == 1 and "$ref" not in others[0] else {"anyOf": others}


def _plain() -> dict[str, Schema]:
    """The forms that need no more than their name."""
    quantity = {
        name: _written(units, example)
        for (name, units), example in zip(
            _longfat.known_units(), ("10 ms", "10 Gbit/s", "1500 B"), strict=True
        )
    }
    units = dict(_longfat.known_units())
    lengths = [*units["size"], *units["time"], "packets", "packet", "bdp", "buffer"]
    return {
        **quantity,
        "packets": _written(["packets", "packet"], "30 packets"),
        "length": _written(lengths, "1 bdp"),
        "frequency": _written(["/s"], "10 /s"),
        "percent": _written(["%"], "10 %"),
        "flag": {"type": "boolean"},
        "true": {"const": True},
        "false": {"const": False},
        "name": _NAME,
        "text": {"type": "string"},
        "resolved": {"type": "object"},
        "controller": reference("controller"),
        "queue": reference("queue_discipline"),
        "profile": {"enum": [each["name"] for each in _longfat.profiles()]},
    }


def _written(units: list[str], example: str) -> Schema:
    """A number with one of these units."""
    alternatives = "|".join(re.escape(unit).replace(r"\ ", " ") for unit in units)
    pattern = rf"^\s*{_NUMBER}\s*(?:{alternatives})\s*$"
    return {"type": "string", "pattern": pattern, "examples": [example]}


def _number(bounds: dict[str, Any], *, whole: bool) -> Schema:
    schema: Schema = {"type": "integer" if whole else "number"}
    for key, word in (("minimum", "minimum"), ("maximum", "maximum")):
        bound = bounds[key]
        if bound is not None and abs(bound) < _LARGEST_COUNT:
            schema[word] = int(bound) if whole else bound
    return schema


def chosen(entries: list[dict[str, Any]], what: str) -> Schema:
    """A controller or a queue: a name, a table with its `kind` and its parameters, or code."""
    tables = [
        {
            "title": entry["name"],
            "description": f"{entry['title']} ({entry['source']})",
            "type": "object",
            "properties": {
                "kind": {"const": entry["name"]},
                **{each["name"]: _parameter(each) for each in entry["parameters"]},
            },
            "required": [
                "kind",
                *(each["name"] for each in entry["parameters"] if each["default"] is None),
            ],
            "additionalProperties": False,
        }
        for entry in entries
    ]
    code = [
        {"type": "object", "properties": {form: {"type": "string"}}, "required": [form]}
        for form in get_args(Form)
    ]
    names = {"enum": [entry["name"] for entry in entries]}
    description = f"The name of a {what}, a table with its `kind` and its parameters, or code."
    return {"description": description, "anyOf": [names, *tables, *code]}


def _parameter(parameter: dict[str, Any]) -> Schema:
    kind = parameter["kind"]
    words: list[Schema] = [{"const": word} for word in parameter["words"] or []]
    if kind in {"number", "count", "number or word"}:
        values = [_number(parameter, whole=kind == "count"), *words]
    elif kind == "word":
        values = words
    elif kind == "controller":
        values = [reference("controller")]
    else:
        values = [_plain()[kind]]
    schema = {**any_of(values), "description": parameter["about"]}
    default = parameter["default"]
    if default is not None:
        schema["default"] = f"{default:.15g} /s" if kind == "frequency" else default
    return schema
