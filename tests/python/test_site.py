"""The site of the documents: what its reference names, which pages it has, and that no link is broken."""

from __future__ import annotations

import importlib.util
import pkgutil
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import click
import pytest

import longfat
from longfat import _longfat
from longfat.commands import commands
from longfat.study._file import StudyFile
from longfat_forms.report import filled
from longfat_site import ideas, links, package, pages, reference
from support import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INSIDE = {
    "_fork",
    "_longfat",
    "__main__",
    "bench",
    "commands",
    "foreign",
    "frames",
    "parquet",
    "shipped",
}
"""Modules that are no interface of the package."""


def sections(text: str) -> dict[str, str]:
    """What is made, by its headings of the second level."""
    parts = re.split(r"^## `?([^`\n]+)`?$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_key_of_a_scenario_is_there_with_what_it_accepts() -> None:
    found = sections(reference.scenario_keys())
    tables = _longfat.scenario_keys()
    assert set(found) == {table["name"] for table in tables}
    for table in tables:
        for key in table["keys"]:
            rows = re.findall(
                rf"^\| `{key['name']}` \| (.+) \| (.+) \| (.+) \|$",
                found[table["name"]],
                re.MULTILINE,
            )
            assert rows, f"{table['name']}.{key['name']}"
    assert "| `rate` | a rate | required, unless there is a `trace` |" in found["link"]
    assert "| `seed` | a count, 0 or more | `1` |" in found["scenario"]


def test_every_unit_is_there() -> None:
    text = reference.units()
    for quantity, units in _longfat.known_units():
        assert f"| {quantity} |" in text
        assert all(f"`{unit}`" in text for unit in units)


def test_every_key_of_a_study_is_there() -> None:
    found = sections(reference.study_keys())
    for field in StudyFile.__struct_fields__:
        assert f"| `{field}` |" in found["The file"]
    assert {"Compare", "FluidOptions", "Plot", "Sample", "Until"} < set(found)
    assert "| `least` | a whole number | `5` |" in found["Until"]


@pytest.mark.parametrize("kind", ["controllers", "queues"])
def test_every_controller_and_queue_is_there_with_its_parameters_and_its_essay(kind: str) -> None:
    found = sections(reference.MADE[kind]())
    entries = getattr(longfat, kind)()
    assert list(found) == [entry["name"] for entry in entries]
    for entry in entries:
        text = found[entry["name"]]
        assert entry["source"] in text
        for parameter in entry["parameters"]:
            assert f"| `{parameter['name']}` |" in text
            assert parameter["about"] in text
        essay = reference.essay(kind, entry["name"])
        assert essay in text
        assert len(essay) > 300, f"{entry['name']} has no essay"
        assert "::" not in re.sub(r"```.*?```|`[^`]*`", "", essay, flags=re.DOTALL)


def test_every_profile_is_there() -> None:
    text = reference.profiles()
    assert all(f"| `{profile['name']}` |" in text for profile in _longfat.profiles())


def all_commands(
    group: click.Group, before: str = "longfat"
) -> Iterator[tuple[str, click.Command]]:
    """All commands, those of groups included, by what is typed."""
    for name, command in group.commands.items():
        yield f"{before} {name}", command
        if isinstance(command, click.Group):
            yield from all_commands(command, f"{before} {name}")


def test_every_command_is_there_with_every_option() -> None:
    found = sections(reference.command_line())
    known = dict(all_commands(commands))
    assert set(found) == set(known)
    for name, command in known.items():
        text = found[name]
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert all(f"{option}" in text for option in parameter.opts), (name, parameter)
            else:
                assert parameter.make_metavar(click.Context(command)) in text


def test_every_public_name_of_the_package_is_there() -> None:
    modules = {f"longfat.{each.name}" for each in pkgutil.iter_modules(longfat.__path__)}
    public = {name for name in modules if name.rpartition(".")[2] not in INSIDE}
    assert set(package.MODULES) == {"longfat", *public}
    text = package.python()
    documented = set(re.findall(r"^\.\. [\w:]+:: [\w.]+\.(\w+)$", text, re.MULTILINE))
    for module in package.MODULES:
        assert f"## `{module}`\n" in text
        for name in package.public_names(module):
            made = getattr(importlib.import_module(module), name)
            assert name in documented or isinstance(made, type(sys)), f"{module}.{name}"


def test_every_crate_is_there() -> None:
    text = reference.rust()
    for manifest in ROOT.glob("crates/*/Cargo.toml"):
        crate = manifest.parent.name
        assert (f"<code>longfat-{crate}</code>" in text) is (crate not in reference.WITHOUT_PAGES)


def test_every_part_of_the_reference_has_one_page() -> None:
    marks = [
        mark
        for path in sorted((ROOT / "docs/reference").glob("*.md"))
        for mark in reference.MARK.findall(path.read_text("utf-8"))
    ]
    assert sorted(marks) == sorted(reference.MADE)
    assert reference.filled("<!-- reference: units -->\n") == reference.units()


def test_the_list_of_documents_names_every_document() -> None:
    listed = [page for part in pages.parts() for page in part.pages]
    assert sorted({*listed, pages.FRONT, pages.LIST}) == pages.documents()


def test_the_list_of_documents_names_every_command() -> None:
    text = (ROOT / pages.LIST).read_text("utf-8")
    entry = text.partition("[Command line](")[2].partition("\n- ")[0]
    assert set(re.findall(r"`(\w+)`", entry)) == set(commands.commands)


def test_what_is_said_beside_others_counts_every_controller() -> None:
    text = (ROOT / "docs/comparison.md").read_text("utf-8")
    assert f"| {len(longfat.controllers())} of its own," in text


def test_links_that_lead_nowhere_or_elsewhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top-of-a">A</h1><a href="b/c.html#there">1</a> <a href="#top-of-a">2</a>'
        '<a href="b/c.html#nowhere">3</a> <a href="missing.html">4</a> <a href="b">5</a>'
        '<a href="https://example.org/page">6</a> <img src="https://example.org/picture.png">'
        '<link rel="stylesheet" href="//example.org/a.css"><img src="data:image/png;base64,AA">',
        "utf-8",
    )
    (tmp_path / "b").mkdir()
    (tmp_path / "b/c.html").write_text('<p id="there"><a href="../a.html">back</a>', "utf-8")
    (tmp_path / "b/index.html").write_text('<a href="?q=1">itself</a>', "utf-8")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/index.html").write_text('<a href="made-by-others.html">7</a>', "utf-8")
    assert links.broken(tmp_path, leave=("other",)) == [
        "a.html: b/c.html#nowhere has no such place",
        "a.html: missing.html is not there",
        "a.html: https://example.org/picture.png is loaded from elsewhere",
        "a.html: //example.org/a.css is loaded from elsewhere",
    ]
    assert links.broken(tmp_path)[-1] == "other/index.html: made-by-others.html is not there"
    (tmp_path / "a.html").write_text('<a href="absent/index.html">8</a>', "utf-8")
    assert links.broken(tmp_path, leave=("other", "absent")) == []
    assert links.broken(tmp_path, leave=("other",)) == ["a.html: absent/index.html is not there"]


def test_the_ideas_are_what_is_simulated(tmp_path: Path) -> None:
    text = (ROOT / ideas.PAGE).read_text("utf-8")
    found = ideas.made()
    assert text == filled(text, ideas.tables(found), ideas.COMMAND), f"run {ideas.COMMAND} again"
    for name, idea in found.items():
        assert f"](../images/ideas-{name}.svg)" in text
        ideas.draw(idea).savefig(tmp_path / f"{name}.svg")


@pytest.mark.long
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """What `make docs` does, but for the reference of the crates; that brings Sphinx along."""
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("there is no Sphinx: `make docs` brings it")
    site = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/site/build.py"), "--out", str(site)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    built = {str(path.relative_to(site)) for path in site.rglob("*.html")}
    assert {"index.html", *(page.replace(".md", ".html") for page in pages.documents())} <= built
    text = (site / "docs/reference/controllers.html").read_text("utf-8")
    assert "cwnd₀" in text
