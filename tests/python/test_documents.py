"""What the documents show is true.

- Every `$ longfat` line of a ```console block is run. Output shown below it is what it prints, except for
  wall-clock times; `...` stands for anything. Output that begins with `error` or `Usage` belongs to a command
  that is refused.
- Every ```python block is run. One that begins with a comment `# NAME.py` is that file, which later blocks and
  commands use.
- Every ```toml block is read as a scenario; what a fragment lacks is added. A block that begins with a comment
  `# NAME.toml` is that file: it says the same as the example of that name, or is written for what follows.
  One with `[vary]` is a study; one in a ```toml environment block is the file of an environment.

The blocks of one document run in order, in one folder, which holds a copy of the examples. A fence with
more words, such as ```console skip, is left alone. `UPDATE=1` writes the current output into the
documents: read what changed before keeping it.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import shutil
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import longfat as package
from longfat import _longfat
from longfat._longfat import Scenario
from longfat.gym import Env
from longfat.results._folder import TABLES
from longfat.study._file import StudyFile, read_study
from longfat_site.entries import described, key_table, profile_table
from support import ROOT, SMALL, Command

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENTS = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("bench/*.md"),
        *ROOT.glob("papers/*/*.md"),
    ]
)
PAGES = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))

BLOCK = re.compile(
    r"^```(python|console|toml|toml environment)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
ENTRY = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
WALL_CLOCK = re.compile(r"in \S+ \S+: \S+(?: \S)? packets/s, .* real time")
SCRIPT = re.compile(r"# (\w+\.py)\n")
FILE = re.compile(r"# (\S+\.toml)\n")
LINK = re.compile(r"\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)")
ROW = re.compile(r"^\| `(\w+)` \| `([^`]+)` \|", re.MULTILINE)
UPDATE = bool(os.environ.get("UPDATE"))
WRONG_INPUT = 2


@dataclass(frozen=True)
class ConsoleCommand:
    """One command of a console block, and where in the block its output stands."""

    arguments: list[str]
    shown: str
    start: int
    end: int


def entries(block: str) -> Iterator[ConsoleCommand]:
    for found in ENTRY.finditer(block):
        words = shlex.split(found[1].replace("\\\n", " "), comments=True)
        if words and Path(words[0]).name == "longfat":
            yield ConsoleCommand(words[1:], found[2], *found.span(2))


def run_console(block: str, longfat: Command) -> tuple[str, list[str]]:
    """Runs a block; returns how it looks with the current output, and what is wrong with it."""
    updated, complaints = "", []
    end = 0
    for entry in entries(block):
        refused = entry.shown.startswith(("error", "Usage"))
        done = longfat(*entry.arguments)
        command = shlex.join(entry.arguments)
        if done.returncode != (WRONG_INPUT if refused else 0):
            complaints.append(f"longfat {command} ends with {done.returncode}: {done.stderr}")
        lines = (done.stderr if refused else done.stdout).rstrip().splitlines()
        printed = "".join(f"{line.rstrip()}\n" for line in lines)
        wrong = bool(entry.shown.strip()) and not same(entry.shown, printed)
        update = wrong and UPDATE and "..." not in entry.shown
        if wrong and not update:
            complaints.append(f"longfat {command} prints\n{printed}and not\n{entry.shown}")
        updated += block[end : entry.start] + (printed if update else entry.shown)
        end = entry.end
    return updated + block[end:], complaints


def same(shown: str, printed: str) -> bool:
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    shown, printed = (WALL_CLOCK.sub("in some time", text) for text in (shown, printed))
    return doctest.OutputChecker().check_output(shown, printed, options)


def read_toml(block: str) -> None:
    """Reads a scenario or a study, and keeps it as a file if it names one that is not there."""
    name = FILE.match(block)
    if re.search(r"^\[vary\]", block, re.MULTILINE):
        assert name is not None, "a study begins with the name of its file"
        study, path = read_study(block)[0], Path(name[1])
        if path.exists():
            assert study == read_study(path)[0], f"{path} says something else"
        else:
            path.write_text(block, "utf-8")
        return
    scenario = Scenario.parse(completed(block))
    if name is None:
        return
    path = Path(name[1])
    if path.exists():
        assert scenario == Scenario.parse(path.read_text("utf-8")), f"{path} says something else"
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block, "utf-8")


def read_environment(block: str) -> None:
    """Keeps the file of an environment, and makes one of it."""
    name = FILE.match(block)
    assert name is not None, "it begins with the name of its file"
    Path(name[1]).write_text(block, "utf-8")
    Env(name[1])


def completed(fragment: str) -> str:
    """A whole scenario around a fragment."""
    before, after = "", ""
    if not re.search(r"^duration\b", fragment, re.MULTILINE):
        before = 'duration = "20 s"\n'
    links = re.findall(r"^\[link\.([\w-]+)\]", fragment, re.MULTILINE)
    if not links:
        paths = re.findall(r"^path\s*=\s*(\[.*?\])", fragment, re.MULTILINE)
        # The name of a link, or a table that has it.
        named = {name for path in paths for name in re.findall(r'"([\w-]+)"', path)}
        links = sorted(named) or ["bottleneck"]
        for link in links:
            after += f'\n[link.{link}]\nrate = "10 Mbit/s"\ndelay = "5 ms"\n'
    if not re.search(r"^\[\[(flow|traffic)\]\]", fragment, re.MULTILINE):
        path = json.dumps(links)
        after += f'\n[[flow]]\nname = "some"\ncontrol = "reno"\npath = {path}\nrtt = "1 s"\n'
    return before + fragment + after


@pytest.fixture
def modules_of_its_own(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Modules come from the folder of the test, and are forgotten: two documents may have a `rules.py`."""
    monkeypatch.syspath_prepend(str(own_folder))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and Path(file).is_relative_to(own_folder):
            del sys.modules[name]


@PAGES
@pytest.mark.usefixtures("modules_of_its_own")
def test_the_examples_of_a_document_work(document: Path, longfat: Command) -> None:
    for folder in ("scenarios", "studies"):
        shutil.copytree(ROOT / folder, folder)
    names: dict[str, Any] = {"__name__": "example"}
    text = document.read_text("utf-8")
    updated, complaints = text, []
    edits = []
    for found in BLOCK.finditer(text):
        language, block = found.groups()
        line = text.count("\n", 0, found.start()) + 1
        place = f"{document.relative_to(ROOT)}:{line}"
        if language == "console":
            new, wrong = run_console(block, longfat)
            edits.append((*found.span(2), new))
            complaints += [f"{place}: {complaint}" for complaint in wrong]
            continue
        try:
            if language == "toml environment":
                read_environment(block)
            elif language == "python" and (name := SCRIPT.match(block)):
                Path(name[1]).write_text(block, "utf-8")
            elif language == "python":
                exec(compile("\n" * line + block, str(document), "exec"), names)  # noqa: S102
            else:
                read_toml(block)
        except Exception as error:  # noqa: BLE001 - one report for the whole document
            complaints.append(f"{place}: {error}")
    if UPDATE:
        for start, end, new in reversed(edits):
            updated = updated[:start] + new + updated[end:]
        document.write_text(updated, "utf-8")
    assert not complaints, "\n" + "\n".join(complaints)


@PAGES
def test_every_link_leads_somewhere(document: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", document.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target, anchor in LINK.findall(text):
        path = (document.parent / target) if target else document
        assert path.exists(), f"{document.relative_to(ROOT)} links to {target}, which is not there"
        if anchor:
            assert anchor in anchors(path), f"{target}#{anchor}: no such heading"


def anchors(document: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("kind", ["controllers", "queues"])
def test_the_readme_names_every_controller_and_queue(kind: str) -> None:
    readme = ROOT / "README.md"
    text = readme.read_text("utf-8")
    names = ", ".join(f"`{entry['name']}`" for entry in getattr(package, kind)())
    row = f"| {kind} | {names} |"
    if UPDATE:
        text = re.sub(rf"^\| {kind} \|.*$", row, text, flags=re.MULTILINE)
        readme.write_text(text, "utf-8")
    assert row in text.splitlines(), f"README.md lists other {kind}: run with UPDATE=1"


def test_the_numbers_on_the_first_screen_are_those_of_their_sources() -> None:
    screen = (ROOT / "README.md").read_text("utf-8").partition("\n## ")[0]
    speed = (ROOT / "bench/README.md").read_text("utf-8")
    (real_time,) = re.findall(r"\| ([\d.]+) × real time \|", screen)
    assert re.search(rf"^\| D \|.*\| {real_time} \| [\d.]+ MB \|$", speed, re.MULTILINE)
    (faster,) = re.findall(r"\| ([\d.]+) × and ([\d.]+) × faster \|", screen)
    for peer, times in zip(("ns-2", "ns-3"), faster, strict=True):
        assert re.search(rf"^\| A \| {peer} .* \| {times} × faster \|", speed, re.MULTILINE)
    tutorial = (ROOT / "docs/guides/tutorial.md").read_text("utf-8")
    hours = [float(each) for each in re.findall(r"([\d.]+) h[ ,]", screen)]
    (told,) = re.findall(r"^time for 1 TB .*$", tutorial, re.MULTILINE)
    assert hours == [round(float(each), 1) for each in re.findall(r"([\d.]+) ±", told)]
    verdicts = Counter(
        claim["verdict"]
        for path in ROOT.glob("papers/*/results/full.json")
        for claim in json.loads(path.read_text("utf-8"))["claims"]
    )
    (judged,) = re.findall(r"\| (\d+) reproduced, (\d+) differ, (\d+) not testable \|", screen)
    assert [int(each) for each in judged] == [
        verdicts[each] for each in ("reproduced", "differs", "not testable")
    ]


REFERENCE = ROOT / "docs/guides/scenario-file.md"
SPARSE = """\
duration = "4 s"
[link.bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"
[[flow]]
name = "forward"
control = "reno"
path = ["bottleneck"]
rtt = "20 ms"
"""
"""Sets nothing that has a default."""
PREFIXES = {
    "Top of the file": "",
    "Links": "link.bottleneck.",
    "AntiECN": "link.bottleneck.anti_ecn.",
    "Flows": "flow.forward.",
}


def section(heading: str) -> str:
    _, _, rest = REFERENCE.read_text("utf-8").partition(f"\n## {heading}\n")
    assert rest, f"the reference has no section {heading}"
    return rest.partition("\n## ")[0]


@pytest.mark.parametrize("heading", PREFIXES)
def test_a_default_of_the_reference_written_out_changes_nothing(heading: str) -> None:
    rows = ROW.findall(section(heading))
    assert rows
    # A link supports AntiECN when it says so; what its table leaves out has defaults.
    on = ["link.bottleneck.anti_ecn=true"] if heading == "AntiECN" else []
    plain = Scenario.parse(SPARSE, overrides=on)
    for key, default in rows:
        set_it = f"{PREFIXES[heading]}{key}={default}"
        assert Scenario.parse(SPARSE, overrides=[*on, set_it]) == plain, (
            f"{set_it} is not the default"
        )


def test_the_reference_has_every_key() -> None:
    scenario = json.loads(Scenario.parse(SMALL).to_json())
    keys = {
        "Top of the file": scenario.keys() - {"link", "flow", "traffic"},
        "Links": scenario["link"]["bottleneck"].keys(),
        "Flows": scenario["flow"][0].keys(),
        "Short flows": {"arrivals", "count", "size", "rtt", "start", "stop"},
    }
    for heading, names in keys.items():
        text = section(heading)
        for name in names:
            assert f"| `{name}` |" in text, f"section {heading} has no row for `{name}`"


@pytest.mark.parametrize("kind", ["queues", "controllers", "profiles"])
def test_the_reference_of_names_is_made_from_the_registry(kind: str) -> None:
    opening, closing = f"<!-- {kind}: made from the registry -->\n", f"<!-- end of {kind} -->"
    text = REFERENCE.read_text("utf-8")
    before, _, rest = text.partition(opening)
    written, _, after = rest.partition(closing)
    listed = getattr(_longfat, kind)()
    made = profile_table(listed) if kind == "profiles" else "".join(map(described, listed)) + "\n"
    if UPDATE:
        REFERENCE.write_text(before + opening + made + closing + after, "utf-8")
        written = made
    assert written == made, f"{REFERENCE.name} is older than the list of {kind}: run with UPDATE=1"


KEYS = re.compile(
    r"<!-- keys of (\w+): made from the registry -->\n\n(.*?)\n<!-- end of keys -->\n", re.DOTALL
)


def test_the_keys_of_the_reference_are_those_of_the_registry() -> None:
    text = REFERENCE.read_text("utf-8")
    made = KEYS.sub(lambda found: found[0].replace(found[2], key_table(found[1], found[2])), text)
    if UPDATE:
        REFERENCE.write_text(made, "utf-8")
        text = made
    assert text == made, f"{REFERENCE.name} is older than the list of keys: run with UPDATE=1"


def test_the_guide_to_results_has_every_name() -> None:
    text = (ROOT / "docs/guides/results.md").read_text("utf-8")
    run = package.run(SMALL)
    names = {column for table in TABLES for column in getattr(run, table).columns}
    names |= set(run.summary) | set(run.summary["engine"]) | set(run.summary["flows"][0])
    names |= set(run.summary["links"]["bottleneck"]["forward"])
    missing = sorted(name for name in names if f"`{name}`" not in text)
    assert not missing, f"docs/guides/results.md does not explain {', '.join(missing)}"


def test_the_guide_to_results_has_the_summary_key_by_key() -> None:
    text = (ROOT / "docs/guides/results.md").read_text("utf-8")
    table = text.partition("\n## The summary\n")[2].partition("\n\nFlows with")[0]
    told = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)))
    assert "applications" in told, "of flows that have applications, as here there are none"
    assert sorted(told) == sorted([*package.run(SMALL).summary, "applications"])


def test_the_guide_to_studies_has_every_key() -> None:
    text = (ROOT / "docs/guides/studies.md").read_text("utf-8")
    for field in StudyFile.__struct_fields__:
        assert f"| `{field}` |" in text, f"docs/guides/studies.md has no row for `{field}`"


def test_commands_are_found_in_a_console_block() -> None:
    block = "$ make demo\n$ longfat run a.toml \\\n    --plot  # draws\nsome output\n$ .venv/bin/longfat list\n"
    found = [(entry.arguments, entry.shown) for entry in entries(block)]
    assert found == [(["run", "a.toml", "--plot"], "some output\n"), (["list"], "")]


def test_a_fragment_becomes_a_scenario() -> None:
    for fragment in ('seed = 3\n[link.x]\nrate = "1 Gbit/s"\ndelay = "1 ms"\n', SMALL, ""):
        Scenario.parse(completed(fragment))
