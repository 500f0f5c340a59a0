"""JSON Schemas of scenario and study files, from which editors complete keys and show what they mean.

They are made from the lists that the reader of scenarios itself uses. What a schema cannot say, such as that a
path names a link of the file, only reading the file can tell: `longfat run`.

Example:
    >>> from longfat.schema import scenario_schema
    >>> scenario_schema()["required"]
    ['duration', 'link']
"""

from __future__ import annotations

from longfat.schema._scenario import scenario_schema
from longfat.schema._study import study_schema

__all__ = ["scenario_schema", "study_schema"]
