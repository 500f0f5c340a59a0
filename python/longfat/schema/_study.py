"""The schema of a study file."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import msgspec

from longfat.schema._scenario import DIALECT, scenario_schema
from longfat.study._file import StudyFile

if TYPE_CHECKING:
    from longfat.schema._forms import Schema

_ATTRIBUTE = re.compile(r"^    (\w+): ((?:.|\n        )+)", re.MULTILINE)


def study_schema() -> Schema:
    """The JSON Schema of a study file, as a dictionary; a scenario in it is described by its own schema."""
    (_,), definitions = msgspec.json.schema_components([StudyFile], ref_template="#/$defs/{name}")
    for schema in definitions.values():
        _describe(schema)
    top = definitions.pop(StudyFile.__name__)
    scenario = scenario_schema()
    inner = scenario.pop("$defs")
    del scenario["$schema"]
    # A scenario in a study may lack what the study varies.
    for table in (scenario, inner["link"], inner["flow"], inner["traffic"]):
        table.pop("required", None)
        table.pop("anyOf", None)
    definitions |= {"scenario": scenario, **inner}
    top["properties"]["scenario"] |= {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/scenario"}]}
    return {"$schema": DIALECT, **top, "title": "A study of longfat", "$defs": definitions}


def _describe(schema: dict[str, Any]) -> None:
    """Moves what a docstring says of attributes to the properties."""
    text = cleandoc(schema.get("description", ""))
    summary, _, attributes = text.partition("\nAttributes:\n")
    schema["description"] = summary.strip()
    for name, about in _ATTRIBUTE.findall(attributes):
        schema["properties"][name]["description"] = " ".join(about.split())
