"""What is left of an input that fails, once all that can be is left out."""

from __future__ import annotations

import copy
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from fuzzer.trees import Tree, holder, places, write

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzzer.cases import Case

PATIENCE_S = 60.0
"""After this time the input is small enough."""


def smallest(case: Case, fails: Callable[[Case], bool]) -> Case:
    """The case without whatever does not matter to its failing."""
    end = time.monotonic() + PATIENCE_S

    def still(less: Case) -> bool:
        return time.monotonic() < end and fails(less)

    try:
        tree = tomllib.loads(case.text)
    except tomllib.TOMLDecodeError:
        case = replace(
            case, text=_fewest_lines(case.text, lambda text: still(replace(case, text=text)))
        )
    else:
        small = _smallest_tree(tree, lambda less: still(replace(case, text=write(less))))
        if case.text and still(replace(case, text=write(small))):
            case = replace(case, text=write(small))
    if case.kind in ("synchronised", "study", "room"):
        case = replace(
            case, tree=_smallest_tree(case.tree, lambda less: still(replace(case, tree=less)))
        )
    return case


def _smallest_tree(tree: Tree, fails: Callable[[Tree], bool]) -> Tree:
    again = True
    while again:
        again = False
        for place in reversed(list(places(tree))):
            less = copy.deepcopy(tree)
            del holder(less, place)[place[-1]]
            if fails(less):
                tree, again = less, True
                break
    return tree


def _fewest_lines(text: str, fails: Callable[[str], bool]) -> str:
    lines = text.split("\n")
    for index in reversed(range(len(lines))):
        less = [*lines[:index], *lines[index + 1 :]]
        if fails("\n".join(less) + "\n"):
            lines = less
    return "\n".join(lines) + "\n"
