"""The schema of a scenario file."""

from __future__ import annotations

import re
import sys
from itertools import groupby
from typing import Any

from longfat import _longfat
from longfat.schema._forms import Schema, any_of, chosen, schema_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DIALECT = "http://json-schema.org/draft-07/schema#"
"""What editors for TOML understand."""

INSTEAD = {
    "link": (["rate"], ["trace"]),
    "traffic": (["arrivals", "size"], ["replay"]),
}
"""Tables that need the first keys or the second."""

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def scenario_schema() -> Schema:
    """The JSON Schema of a scenario file, as a dictionary."""
    tables = _longfat.scenario_keys()
    definitions: Schema = {
        "controller": chosen(_longfat.controllers(), "controller"),
        "queue_discipline": chosen(_longfat.queues(), "queue discipline"),
    }
    for name, kinds in groupby(tables, key=lambda table: table["name"]):
        definitions[name] = any_of([_table(each) for each in kinds])
    _leave_to_the_link(definitions["reverse"])
    for name, alternatives in INSTEAD.items():
        definitions[name]["anyOf"] = [{"required": keys} for keys in alternatives]
    top = definitions.pop("scenario")
    return {
        "$schema": DIALECT,
        "title": "A scenario of longfat",
        **top,
        "anyOf": [
            {"required": [group], "properties": {group: {"minItems": 1}}}
            for group in ("flow", "traffic")
        ],
        "$defs": definitions,
    }


def plain(about: str) -> str:
    """A meaning without its links."""
    return _LINK.sub(r"\1", about)


def _table(table: dict[str, Any]) -> Schema:
    schema: Schema = {
        "type": "object",
        "properties": {key["name"]: _key(key) for key in table["keys"]},
        "additionalProperties": False,
    }
    if table["one_of"]:
        schema |= {"minProperties": 1, "maxProperties": 1}
    elif required := [key["name"] for key in table["keys"] if key["required"]]:
        schema["required"] = required
    return schema


def _leave_to_the_link(reverse: Schema) -> None:
    """What the reverse direction of a link does not say is as in the other one."""
    reverse.pop("required")
    for key in reverse["properties"].values():
        key.pop("default", None)


def _key(key: dict[str, Any]) -> Schema:
    meaning = plain(key["about"])
    if key["otherwise"] is not None:
        meaning += f" (if it is not given: {plain(key['otherwise'])})"
    schema = {**any_of([schema_of(each) for each in key["accepts"]]), "description": meaning}
    if key["default"] is not None:
        schema["default"] = tomllib.loads(f"value = {key['default']}")["value"]
    return schema
