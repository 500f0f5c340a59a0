"""The study file: what it may say, and what it says with every default filled in."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import msgspec

from longfat.errors import StudyError
from longfat.foreign import read_text, shown
from longfat.own._code import located_all
from longfat.scenario import Piped, Source, check_seed, plain_value
from longfat.study._design import MOST_POINTS, Axis, Design, Range, axes_of, read_expression
from longfat.study._points import seeds_of
from longfat.study._values import between
from longfat.units import some_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FEWEST_OF_BOOTSTRAP = 10
"""With fewer seeds than this a bootstrap interval is too narrow."""

ENGINE = "engine"
ENGINES = ("packets", "fluid")
_GROUP = re.compile(r"(link|flow|traffic)(\.[^.]+)?|link\.[^.]+\.reverse")
_EXAMPLE = "studies/controllers.toml"
_MOST_MEANT = 4
_PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")


class Until(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Seeds are added until the answer is precise enough.

    Attributes:
        until: Half of the interval as a share of the mean, such as `2 %`.
        most: No more seeds than this.
        least: As many at the beginning.
        of: The numbers that are to be so precise; by default those of the plots, otherwise all goodputs.
    """

    until: str
    most: int = 50
    least: int = 5
    of: str | list[str] = []

    @property
    def share(self) -> float:
        """The share of the mean, 0 to 1."""
        found = _PERCENT.fullmatch(self.until)
        if found is None or not 0 < float(found[1]) < 100:  # noqa: PLR2004 - per cent
            message = f'`seeds.until` is a share such as "2 %", not "{shown(self.until)}"'
            raise StudyError(message)
        return float(found[1]) / 100

    @property
    def looks(self) -> list[int]:
        """After how many seeds it is decided whether they suffice: half as many more each time."""
        found = [self.least]
        while found[-1] < self.most:
            found.append(min(self.most, found[-1] + -(-found[-1] // 2)))
        return found


class Sample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Points drawn at random.

    Attributes:
        points: How many.
        vary: What is drawn: ranges `{ from, to, scale }`, or lists to choose from.
        method: `latin-hypercube`: one in each of as many intervals as there are points, for every key; or
            `random`.
        seed: Of the draws; it has nothing to do with the seeds of the runs.
    """

    points: int
    vary: dict[str, Any]
    method: Literal["latin-hypercube", "random"] = "latin-hypercube"
    seed: int = 1


class Plot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A picture.

    Attributes:
        x: What varies along it.
        y: The number to draw.
        colour: What has a colour for each value.
        panel: What has a panel for each value.
        title: Its title; by default what is drawn.
        name: The name of its files; by default `plot-1` and so on.
    """

    x: str
    y: str
    colour: str | None = None
    panel: str | None = None
    title: str | None = None
    name: str | None = None


class Compare(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Differences between values of a key, paired by seed, at every setting of the others.

    Attributes:
        of: The number.
        between: The key.
        to: The value that the others are compared to; by default each is compared with each.
        correction: For many comparisons: `holm` or `bonferroni`.
    """

    of: str
    between: str
    to: Any = None
    correction: Literal["holm", "bonferroni"] = "holm"


class FluidOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the fluid model is solved, as by `longfat fluid`.

    Attributes:
        model: `mean-field`, `hybrid` or `synchronised`.
        price: `queue`, `avq`, `overflow`, `red` or `loss`.
        delay: With feedback delay.
        equilibrium: Where it settles, instead of means over time.
    """

    model: Literal["mean-field", "hybrid", "synchronised"] = "mean-field"
    price: Literal["queue", "avq", "overflow", "red", "loss"] = "queue"
    delay: bool = True
    equilibrium: bool = False


class StudyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """What a study file says.

    Attributes:
        scenario: The path of a scenario, relative to the study file, or its content.
        seeds: How many, which, or until when.
        engine: `packets` or `fluid`; `engine` may also be a key of `vary`.
        set: Fields to set at all points.
        vary: Keys with their values: a list, or a range `{ from, to, steps, scale }`.
        zip: Keys whose lists are gone through together.
        sample: Points drawn at random.
        where: SQL conditions on the keys, as numbers: points that do not meet all are left out.
        derive: Further numbers of a run, as SQL over its columns.
        series: Time series to keep: `flow_series`, `link_series`.
        interval: `student` or `bootstrap`.
        fluid: How the fluid model is solved.
        plot: Pictures.
        compare: Differences to judge.
    """

    scenario: str | dict[str, Any]
    seeds: int | list[int] | Until = 3
    engine: Literal["packets", "fluid"] = "packets"
    set: dict[str, Any] = {}
    vary: dict[str, Any] = {}
    zip: list[dict[str, Any]] = []
    sample: Sample | None = None
    where: str | list[str] = []
    derive: dict[str, str] = {}
    series: list[Literal["flow_series", "link_series"]] = []
    interval: Literal["student", "bootstrap"] = "student"
    fluid: FluidOptions = FluidOptions()
    plot: list[Plot] = []
    compare: list[Compare] = []

    @cached_property
    def design(self) -> Design:
        """The points.

        Raises:
            StudyError: A range is wrong, lists do not fit together, no point is left.
        """
        vary = {key: _values(key, given) for key, given in flat(self.vary).items()}
        zipped = [_together(flat(each)) for each in self.zip]
        sample = None
        if (drawn := self.sample) is not None:
            choices = {key: choice(key, given) for key, given in flat(drawn.vary).items()}
            if not choices or not 1 <= drawn.points <= MOST_POINTS:
                message = f"`[sample]` needs `points`, from 1 to {MOST_POINTS:,}, and a key in `[sample.vary]`"
                raise StudyError(message)
            sample = choices, drawn.points, drawn.seed, drawn.method == "latin-hypercube"
        axes = list(axes_of(vary, zipped, sample))
        _refuse_twice(axes)
        made = Design(axes)
        made.check()
        return made.where([self.where] if isinstance(self.where, str) else self.where)

    @property
    def first_seeds(self) -> list[int]:
        """The seeds of every point; with `until`, as many as there may be."""
        return seeds_of(self.seeds.most if isinstance(self.seeds, Until) else self.seeds)

    def resolved(self, scenario: dict[str, Any]) -> str:
        """The file with every default, and the scenario in it: it needs no other file."""
        import tomli_w

        content: dict[str, Any] = msgspec.to_builtins(self)
        content["scenario"] = scenario
        content["where"] = [self.where] if isinstance(self.where, str) else self.where
        for name in ("sample",):
            if content[name] is None:
                del content[name]
        for name in ("plot", "compare"):
            content[name] = [
                {key: value for key, value in entry.items() if value is not None}
                for entry in content[name]
            ]
        # Values before tables, as TOML wants them; and the scenario, which is long, at the end.
        plain = {key: value for key, value in content.items() if not _is_table(value)}
        tables = {key: value for key, value in content.items() if _is_table(value)}
        tables["scenario"] = tables.pop("scenario")
        return (
            "# A study of longfat, with every default: `longfat study` runs it as it is.\n"
            + tomli_w.dumps({**plain, **tables})
        )


def read_study(source: Source | Piped, *, seeds: int | None = None) -> tuple[StudyFile, Path, str]:
    """Reads a study.

    Args:
        source: A path, the text of a study file (recognised by its line breaks), or its content.
        seeds: Replaces the seeds of the study: so many.

    Returns:
        The study, the folder that its paths are relative to, and a short name.

    Raises:
        StudyError: It is wrong: the message says where, and what to do.
        OSError: It cannot be read.
    """
    content, origin, folder, name = _load(source)
    if "scenario" not in content and content.keys() & {"link", "flow", "traffic"}:
        message = f"{origin} is a scenario, not a study: `longfat run` runs it"
        raise StudyError(message)
    # Code is where this file names it, not where the scenario is.
    content = located_all(content, folder)
    if seeds is not None:
        content = {**content, "seeds": seeds}
    try:
        if isinstance(given := content.get("set"), Mapping):
            content = {**content, "set": assigned(given)}
        study = msgspec.convert(content, StudyFile)
        _check(study)
    except msgspec.ValidationError as error:
        message = f"{origin}: {_in_words(error)}"
        raise StudyError(message) from error
    except (StudyError, ValueError) as error:
        message = f"{origin}: {error}"
        raise StudyError(message) from error
    return study, folder, name


def _load(source: Source | Piped) -> tuple[dict[str, Any], str, Path, str]:
    if isinstance(source, Piped):
        return _parsed(source.text, source.origin), source.origin, Path(), source.name
    if isinstance(source, Mapping):
        try:
            return plain_value(source), "the study", Path(), "study"
        except (TypeError, ValueError) as error:
            message = f"the study: {error}"
            raise StudyError(message) from error
    if isinstance(source, str) and "\n" in source:
        return _parsed(source, "the study"), "the study", Path(), "study"
    path = Path(source)
    origin = shown(os.fspath(path))
    if path.is_dir():
        _refuse_folder(path, origin)
        path = path / "study.toml"
    try:
        text = read_text(path)
    except ValueError as error:
        message = f"{origin} is not a study file: {error}"
        raise StudyError(message) from error
    name = path.parent.name if path.name == "study.toml" and path.parent.name else path.stem
    return _parsed(text, origin), origin, path.parent, name.removeprefix("study-")


def _refuse_folder(folder: Path, origin: str) -> None:
    """Refuses a folder that is not one of a study, and names the study files in it.

    Raises:
        StudyError: It is none.
    """
    if (folder / "study.toml").is_file():
        return
    files = [path.name for path in folder.glob("*.toml") if _is_study(path)]
    found = sorted([*files, *(path.parent.name for path in folder.glob("*/study.toml"))])
    there = f"there is none in it either; name one, such as {_EXAMPLE}"
    if found:
        there = f"name one in it: {some_of([shown(name) for name in found])}"
    message = f"{origin} is a folder, and not the folder of a study: {there}"
    raise StudyError(message)


def _is_study(path: Path) -> bool:
    try:
        return "scenario" in tomllib.loads(read_text(path))
    except (OSError, ValueError):
        return False


def subject(text: str) -> dict[str, Any]:
    """What makes a study file another one: its scenario, what is set, and which keys vary.

    Raises:
        StudyError: It is no study.
    """
    try:
        study = msgspec.convert(_parsed(text, "the study"), StudyFile)
    except msgspec.ValidationError as error:
        raise StudyError(_in_words(error)) from error
    tables = [study.vary, *study.zip, *([study.sample.vary] if study.sample else [])]
    keys = sorted(key for table in tables for key in flat(table))
    return {"scenario": study.scenario, "set": study.set, "keys": keys}


def _parsed(text: str, origin: str) -> dict[str, Any]:
    try:
        content: dict[str, Any] = tomllib.loads(text)
    except ValueError as error:  # a number of thousands of digits is none of TOML's own errors
        message = f"{origin} is not TOML: {error}"
        raise StudyError(message) from error
    return content


def _check(study: StudyFile) -> None:
    """Refuses what no type can tell."""
    _check_seeds(study)
    keys = study.design.keys
    for key in study.set:
        # What varies is set later, and a table replaces what is in it.
        if over := next((each for each in keys if f"{key}.".startswith(f"{each}.")), None):
            message = (
                f"`{shown(key)}` is in `[set]`, but `{shown(over)}` varies: leave one of them out"
            )
            raise StudyError(message)
    for key, expression in study.derive.items():
        if key in (*keys, "seed", "error", "run"):
            message = f"`derive` has `{key}`, which is already a column"
            raise StudyError(message)
        read_expression(expression, f"derive.{key}")
    names = [plot.name for plot in study.plot if plot.name]
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", name) or names.count(name) > 1:
            message = (
                f"`{shown(name)}` is no name for a plot: letters, digits, - and _, and each once"
            )
            raise StudyError(message)
    asked = [("a plot has", key) for plot in study.plot for key in (plot.colour, plot.panel) if key]
    asked += [("`compare` is between values of", each.between) for each in study.compare]
    for what, key in asked:
        if key not in keys:
            message = f"{what} `{shown(key)}`, which does not vary: {suggestion(key, keys)}"
            raise StudyError(message)


def _check_seeds(study: StudyFile) -> None:
    seeds = study.seeds
    if isinstance(seeds, Until):
        _ = seeds.share
        if not 2 <= seeds.least <= seeds.most:  # noqa: PLR2004 - an interval takes two
            message = f"`seeds` has least = {seeds.least}, most = {seeds.most}: 2 ≤ least ≤ most is needed"
            raise StudyError(message)
    elif isinstance(seeds, int) and seeds < 1:
        message = f"`seeds` is {seeds}: at least one is needed"
        raise StudyError(message)
    found = study.first_seeds
    for seed in found:
        check_seed(seed)
    if not found or len(set(found)) < len(found):
        message = "`seeds` is a list of different numbers, at least one"
        raise StudyError(message)
    fewest = seeds.least if isinstance(seeds, Until) else len(found)
    if study.interval == "bootstrap" and fewest < FEWEST_OF_BOOTSTRAP:
        message = f"a bootstrap interval needs at least {FEWEST_OF_BOOTSTRAP} seeds, and there are {fewest}"
        raise StudyError(message)


def suggestion(given: str, known: Sequence[str]) -> str:
    """What a misspelt or shortened key or number was probably meant to be, or what there is.

    >>> suggestion("goodput", ["links.b.forward.utilisation", "flows.a.goodput_bit_s"])
    'did you mean `flows.a.goodput_bit_s`?'
    """
    if near := get_close_matches(given, known, n=1):
        return f"did you mean `{near[0]}`?"
    if parts := [name for name in known if given and given in name]:
        listed = [f"`{name}`" for name in parts[:_MOST_MEANT]]
        more = f", or one of {len(parts) - len(listed):,} more" if len(parts) > len(listed) else ""
        return f"did you mean {', '.join(listed)}{more}?"
    return f"there are {some_of(known)}" if known else "nothing does"


def flat(table: Mapping[str, Any]) -> dict[str, Any]:
    """Keys that vary, with their dots, whether they were quoted or are nested tables.

    Raises:
        StudyError: One is there twice, quoted and nested.
    """
    ranges = {"from", "to", "steps", "scale"}
    return _flat(table, lambda _, value: bool(value) and not ranges & set(value))


def assigned(table: Mapping[str, Any]) -> dict[str, Any]:
    """Keys that are set, with their dots, whether they were quoted or are nested tables.

    A table may be a value, too: those nest that hold the keys of a link, a group of flows, or short flows, be
    they none. A quoted path is one of `--set`: its table replaces what is there.

    Raises:
        StudyError: One is there twice, quoted and nested.
    """
    quoted = {key for key in table if "." in key}
    return _flat(table, lambda name, _: name not in quoted and _GROUP.fullmatch(name) is not None)


def _flat(
    table: Mapping[str, Any], nests: Callable[[str, Mapping[str, Any]], bool], before: str = ""
) -> dict[str, Any]:
    """Keys with their dots. `nests` says which tables hold further keys."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{before}{key}"
        nested = isinstance(value, Mapping) and nests(name, value)
        inside = _flat(value, nests, f"{name}.") if nested else {name: value}
        if twice := found.keys() & inside:
            message = f"`{shown(min(twice))}` is there twice: leave one of them out"
            raise StudyError(message)
        found |= inside
    return found


def _values(key: str, given: object) -> list[Any]:
    """The values of a key of `[vary]`."""
    if isinstance(given, Mapping):
        found, steps = _range(key, given, {"from", "to", "steps", "scale"}), given.get("steps")
        if not isinstance(steps, int) or not 2 <= steps <= MOST_POINTS:  # noqa: PLR2004 - both ends
            message = f"`{key}`: a range needs `steps`, from 2 to {MOST_POINTS:,}"
            raise StudyError(message)
        values = [found.at(Fraction(step, steps - 1)) for step in range(steps)]
        return list(dict.fromkeys(values))
    if not isinstance(given, list) or not given:
        message = (
            f"`{key}` needs a list of values or a range, such as {{ from = 1, to = 100, steps = 3, scale = "
            '"log" }; what does not vary goes into `[set]`'
        )
        raise StudyError(message)
    if key == ENGINE and (wrong := [each for each in given if each not in ENGINES]):
        message = f"there is no engine {wrong[0]!r}: there are {', '.join(ENGINES)}"
        raise StudyError(message)
    return given


def choice(key: str, given: object) -> Range | list[Any]:
    """What a key of `[sample.vary]` is drawn from."""
    if isinstance(given, Mapping):
        return _range(key, given, {"from", "to", "scale"})
    return _values(key, given)


def _range(key: str, given: Mapping[str, Any], known: set[str]) -> Range:
    if unknown := sorted(set(given) - known):
        message = f"`{key}`: a range has {', '.join(sorted(known))}, and no `{shown(unknown[0])}`"
        raise StudyError(message)
    if missing := {"from", "to"} - set(given):
        message = f"`{key}`: a range needs `{min(missing)}`"
        raise StudyError(message)
    scale = given.get("scale", "linear")
    if scale not in ("linear", "log"):
        message = f'`{key}`: `scale` is "linear" or "log"'
        raise StudyError(message)
    try:
        between(given["from"], given["to"], 0.5, scale)
    except ValueError as error:
        message = f"`{key}`: {error}"
        raise StudyError(message) from error
    return Range(given["from"], given["to"], scale)


def _together(given: Mapping[str, Any]) -> dict[str, list[Any]]:
    found = {key: _values(key, values) for key, values in given.items()}
    lengths = {len(values) for values in found.values()}
    if len(lengths) > 1:
        told = ", ".join(f"`{key}` has {len(values)}" for key, values in found.items())
        message = f"lists that go together are of one length: {told}"
        raise StudyError(message)
    if not found:
        message = "`[[zip]]` is empty"
        raise StudyError(message)
    return found


def _refuse_twice(axes: list[Axis]) -> None:
    keys = [key for axis in axes for key in axis.keys]
    for key in keys:
        if keys.count(key) > 1:
            message = f"`{key}` varies twice"
            raise StudyError(message)
        if key in ("seed", "error", "run"):
            message = "seeds are given by `seeds`" if key == "seed" else f"`{key}` is no key"
            raise StudyError(message)


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)
    )


def _in_words(error: msgspec.ValidationError) -> str:
    """What msgspec says, with the key that was probably meant."""
    text = str(error)
    if found := re.search(r"unknown field `([^`]*)`(?: - at `\$\.?([^`]*)`)?", text):
        name, place = shown(found[1]), found[2] or ""
        kinds: dict[str, Any] = {
            "": StudyFile,
            "seeds": Until,
            "sample": Sample,
            "plot[...]": Plot,
            "compare[...]": Compare,
            "fluid": FluidOptions,
        }
        known = [each.name for each in msgspec.structs.fields(kinds.get(place, StudyFile))]
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(known)}"
        inside = f" in `{place.replace('[...]', '')}`" if place else ""
        return f"there is no key `{name}`{inside}: {hint}"
    if found := re.search(r"missing required field `([^`]*)`(?: - at `\$\.?([^`]*)`)?", text):
        inside = f" of `{found[2].replace('[...]', '')}`" if found[2] else ""
        return f"`{found[1]}`{inside} is missing"
    return text.replace(" - at `$.", " at `")
