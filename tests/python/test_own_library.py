"""Controllers and queues from shared libraries, through longfat.h."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import longfat
from longfat.commands import commands
from longfat.errors import StudyError
from longfat.own import Code
from longfat.scenario import read
from longfat.study import Cache, Job, run_many, study
from own_support import FIRST, LAWS, SHORT, against_reno, averages, build, first, same_as_reno

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.own import LibraryEntry


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("library") / "liblaws.so")


@pytest.fixture(scope="module")
def entries(built: Path) -> dict[str, LibraryEntry]:
    return {entry.name: entry for entry in longfat.load_library(built)}


def test_a_library_says_what_is_in_it(entries: dict[str, LibraryEntry]) -> None:
    found = {name: entry.__longfat__() for name, entry in entries.items()}
    assert {name: own.kind for name, own in found.items()} == {
        "c-reno": "controller",
        "c-aimd": "controller",
        "c-bad": "controller",
        "c-own-reno": "controller",
        "c-bad-window": "controller",
        "c-step": "queue",
        "c-lottery": "queue",
    }
    assert [name for name, own in found.items() if own.is_law] == ["c-reno", "c-aimd", "c-bad"]
    told = found["c-aimd"].describe()
    assert [each["name"] for each in told["parameters"]] == ["a", "b"]
    assert told["parameters"][0]["maximum"] == 100.0
    assert (found["c-reno"].describe()["title"], len(found["c-reno"].digest)) == ("Reno in C", 32)


def test_the_same_law_gives_the_same_bytes(entries: dict[str, LibraryEntry]) -> None:
    expected = averages(first("reno"))
    for name in ("c-reno", "c-own-reno"):
        assert averages(first(name, controllers=[entries[name]]), name, "reno") == expected
    aimd = averages(first({"kind": "aimd", "a": 2, "b": 0.25}))
    own = first({"kind": "c-aimd", "a": 2, "b": 0.25}, controllers=[entries["c-aimd"]])
    assert averages(own, "c-aimd", "aimd") == aimd
    assert aimd != expected


def test_the_same_queue_gives_the_same_bytes(entries: dict[str, LibraryEntry]) -> None:
    def run(kind: str) -> str:
        queue = {"kind": kind, "threshold": "50 packets"}
        changes = {"link.bottleneck.queue": queue}
        return averages(first("reno", changes=changes, queues=[entries["c-step"]]))

    assert run("c-step") == run("step")


def test_the_fluid_model_solves_a_law_in_c(entries: dict[str, LibraryEntry]) -> None:
    law = [entries["c-reno"]]
    own = longfat.fluid(FIRST, controllers=law, set={"flow.reno.control": "c-reno"}, stability=True)
    rust = longfat.fluid(FIRST, stability=True)
    assert json.dumps(own.summary).replace("c-reno", "reno") == json.dumps(rust.summary)
    with pytest.raises(longfat.FluidError, match="c-own-reno"):
        longfat.fluid(
            FIRST,
            controllers=[entries["c-own-reno"]],
            set={"flow.reno.control": "c-own-reno"},
        )


@pytest.mark.parametrize(
    ("control", "told"),
    [
        (
            "c-bad",
            r"the controller `c-bad`, flow reno\[[01]\], after 0\.\d+ s: `gain` is NaN at a window of \d+",
        ),
        (
            "c-bad-window",
            r"`c-bad-window`, flow reno\[[01]\], after [\d.]+ s: `window` is -1: a finite number of segments",
        ),
    ],
)
def test_a_value_that_is_not_allowed_ends_the_run(
    entries: dict[str, LibraryEntry], control: str, told: str
) -> None:
    with pytest.raises(longfat.CodeError, match=told):
        first(control, controllers=[entries[control]])
    # The next run of the same thread knows nothing of it.
    assert first("reno").summary["flows"]


def test_a_bad_law_ends_the_fluid_model_too(entries: dict[str, LibraryEntry]) -> None:
    for options in ({}, {"integrate": False, "equilibrium": True}, {"model": "synchronised"}):
        with pytest.raises(longfat.CodeError, match="`c-bad`: `gain` is NaN"):
            longfat.fluid(
                FIRST,
                controllers=[entries["c-bad"]],
                set={"flow.reno.control": "c-bad", "flow.reno.count": 1},
                **options,
            )


def test_a_queue_that_answers_nonsense_ends_the_run(entries: dict[str, LibraryEntry]) -> None:
    queue = {"kind": "c-lottery", "last": 1000}
    told = r"the queue `c-lottery`, after [\d.]+ s: `on_arrival` is 7: 0 to keep"
    with pytest.raises(longfat.CodeError, match=told):
        first("reno", changes={"link.bottleneck.queue": queue}, queues=[entries["c-lottery"]])


def test_a_queue_gets_random_numbers_from_the_seed(entries: dict[str, LibraryEntry]) -> None:
    def drops(seed: int) -> tuple[float, str]:
        queues, changes = [entries["c-lottery"]], {"link.bottleneck.queue": "c-lottery"}
        run = first("reno", changes=changes, queues=queues, seed=seed)
        return run.summary["links"]["bottleneck"]["forward"]["drop_rate"], averages(run)

    (rate, one), (_, again), (_, other) = drops(1), drops(1), drops(2)
    assert one == again != other
    # One in a hundred; among 10 000 packets the count has a standard deviation of ten.
    assert rate == pytest.approx(0.01, rel=0.4)


def test_one_bad_run_of_many_harms_no_other(
    entries: dict[str, LibraryEntry], tmp_path: Path
) -> None:
    from longfat.own import Code
    from longfat.scenario import read

    code = Code((entries["c-reno"], entries["c-bad"]))
    jobs = [
        Job(read(FIRST, changes={**SHORT, "flow.reno.control": name}, code=code)[0], seed)
        for seed in (1, 2)
        for name in ("c-reno", "c-bad", "reno")
    ]
    found = list(run_many(jobs, workers=2, cache=Cache(tmp_path)))
    assert ["CodeError" if each.error else "fine" for each in found] == [
        "fine",
        "CodeError",
        "fine",
    ] * 2
    assert all("`gain` is NaN" in str(each.error) for each in found[1::3])


def test_a_library_that_is_compiled_again_is_another_one(tmp_path: Path) -> None:
    path = build(tmp_path / "libown.so")
    cache = Cache(tmp_path / "cache")

    def run() -> tuple[bool, str, str]:
        from longfat.own import Code
        from longfat.scenario import read

        choice = {"library": f"{path}:c-aimd"}
        changes = {**SHORT, "flow.reno.control": choice}
        scenario, _ = read(FIRST, changes=changes, code=Code(allowed=True))
        (found,) = run_many([Job(scenario)], cache=cache)
        assert found.summary is not None
        return found.cached, json.dumps(found.summary["flows"]), scenario.to_toml()

    cached, before, resolved = run()
    assert not cached
    assert run() == (True, before, resolved)
    source = tmp_path / "other.c"
    source.write_text(LAWS.read_text("utf-8").replace("p[0] / at->window", "2 * p[0] / at->window"))
    build(path, source=source)
    cached, after, _ = run()
    assert not cached
    assert after != before
    with pytest.raises(longfat.ScenarioError, match="the code of `c-aimd` is now another one"):
        longfat.run(resolved, allow_code=True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["-Dlongfat_plugin=other"], "has no function `longfat_plugin`"),
        (
            ["-DVERSION=2"],
            "is made for version 2 of longfat.h, and this is version 1: compile it again",
        ),
        (["-DSIZE=8"], "a longfat_plugin_table says that it has 8 bytes, and it has at least"),
        (["-DLAWS=5000"], "it says that it has 5000 entries of kind law"),
    ],
)
def test_a_library_of_no_use_is_refused(tmp_path: Path, options: list[str], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        longfat.load_library(build(tmp_path / "libbad.so", *options))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ((".gain = bad_gain, ", ""), "`c-bad` has no function `gain`"),
        (('.name = "c-bad", ', ""), "an entry has no name"),
        (
            ('.name = "c-bad"', '.name = "c-bad", .needs = 256'),
            "`needs` has bits that mean nothing",
        ),
        (('.name = "c-bad"', '.name = "\\xff"'), "is not UTF-8 text"),
        ((".parameter_count = 2", ".parameter_count = 65"), "it says that it has 65 parameters"),
        (("LONGFAT_COUNT}", "LONGFAT_COUNT + 9}"), "parameter `last`: there is no kind 10"),
        (('"0.2 bdp"', "NULL"), "the default of a time or a length is its `text`"),
        (("1.0, 0.0, 100.0, LONGFAT_NUMBER", "1.0, 0.0, 100.0, LONGFAT_LENGTH"), "is its `text`"),
        ((".state_size = sizeof(lottery_state)", ".state_size = 17000000"), "17000000 bytes"),
        ((".observe = observe,", ""), "`c-own-reno` has no function `observe`"),
        (("&c_reno, ", "NULL, "), "a longfat_law is missing"),
        (
            ('.size = sizeof(longfat_law),\n    .name = "c-aimd"', '.size = 8, .name = "c-aimd"'),
            "8 bytes",
        ),
    ],
)
def test_a_table_that_is_wrong_is_refused(
    tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    text = LAWS.read_text("utf-8")
    assert change[0] in text
    source = tmp_path / "wrong.c"
    source.write_text(text.replace(*change, 1), "utf-8")
    options = ["-Wno-unused-function", "-Wno-unused-const-variable", "-Wno-unused-variable"]
    with pytest.raises(ValueError, match=told):
        longfat.load_library(build(tmp_path / "libwrong.so", *options, source=source))


def test_what_is_no_library_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "libtext.so"
    text.write_text("not a library", "utf-8")
    with pytest.raises(ValueError, match=r"libtext.so is not a shared library for this machine: "):
        longfat.load_library(text)
    with pytest.raises(ValueError, match=r"libnone.so: No such file"):
        longfat.load_library(tmp_path / "libnone.so")


LOAD = """
import sys
import longfat
for path in sys.argv[1:]:
    try:
        longfat.load_library(path)
        print("loaded")
    except ValueError as error:
        print(error)
"""


def loaded(*paths: Path) -> list[str]:
    """What comes of loading libraries, in a process that a wrong one may end."""
    done = subprocess.run(
        [sys.executable, "-c", LOAD, *map(str, paths)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_a_part_of_a_library_is_refused_or_complete(built: Path, tmp_path: Path) -> None:
    """What the loader maps beyond the end of a file ends the process that looks at it."""
    content = built.read_bytes()
    lengths = [*range(0, len(content), len(content) // 60), len(content)]
    parts = [tmp_path / f"{length}.so" for length in lengths]
    for part, length in zip(parts, lengths, strict=True):
        part.write_bytes(content[:length])
    told = loaded(*parts)
    assert told[-1] == "loaded"
    refused = [each for each in told if each != "loaded"]
    assert all("is not a shared library for this machine: " in each for each in refused)
    assert told[: len(refused)] == refused, "what lacks more is refused as well"
    cut = [each for each in refused if "it is cut off: it has " in each]
    assert len(cut) > len(refused) / 2


def test_a_library_for_another_processor_is_refused(built: Path, tmp_path: Path) -> None:
    other = bytearray(built.read_bytes())
    other[18:20] = (243).to_bytes(2, "little")  # RISC-V
    path = tmp_path / "libother.so"
    path.write_bytes(other)
    assert loaded(path) == [
        f"{path} is not a shared library for this machine: it is made for another kind of processor"
    ]


def test_a_library_that_lacks_a_function_is_refused_at_once(tmp_path: Path) -> None:
    """Otherwise the first acknowledgment that comes to it would end the process."""
    source = tmp_path / "lacking.c"
    text = LAWS.read_text("utf-8")
    source.write_text(
        text.replace("#include", "double elsewhere(double window);\n#include", 1).replace(
            "return 1.0 / at->window;", "return elsewhere(at->window);", 1
        ),
        "utf-8",
    )
    assert source.read_text("utf-8").count("elsewhere") == 2
    (told,) = loaded(build(tmp_path / "liblacking.so", source=source))
    assert told.endswith("is not a shared library for this machine: undefined symbol: elsewhere")


def test_what_flows_and_queues_keep_is_part_of_the_estimate(
    entries: dict[str, LibraryEntry], tmp_path: Path
) -> None:
    """A run that does not fit is refused before it begins, whoever asks for the memory."""
    source = tmp_path / "large.c"
    text = LAWS.read_text("utf-8")
    for state in ("reno_state", "lottery_state"):
        assert text.count(f".state_size = sizeof({state}),") >= 1
        text = text.replace(f".state_size = sizeof({state}),", ".state_size = 10000000,", 1)
    source.write_text(text, "utf-8")
    found = longfat.load_library(build(tmp_path / "liblarge.so", source=source))
    large = {each.name: each for each in found}

    def memory(code: Code, **changes: Any) -> float:
        scenario, _ = read(FIRST, changes={**SHORT, **changes}, code=code)
        return float(scenario.estimate(record=False)["memory"])

    flows = {"flow.reno.control": "c-own-reno", "flow.reno.count": 5}
    large_ones, small_ones = (Code((which["c-own-reno"],)) for which in (large, entries))
    more = memory(large_ones, **flows) - memory(small_ones, **flows)
    assert more == pytest.approx(5 * 10e6, rel=1e-3)
    queues = {"link.bottleneck.queue": "c-lottery"}
    large_ones, small_ones = (Code((), (which["c-lottery"],)) for which in (large, entries))
    more = memory(large_ones, **queues) - memory(small_ones, **queues)
    assert more == pytest.approx(2 * 10e6, rel=1e-3)


def test_names_are_unique(entries: dict[str, LibraryEntry], tmp_path: Path) -> None:
    twice = [entries["c-reno"], entries["c-reno"]]
    assert first("c-reno", controllers=twice).summary["flows"][0]["control"] == "c-reno"
    source = tmp_path / "taken.c"
    source.write_text(LAWS.read_text("utf-8").replace('"c-reno"', '"reno"'), "utf-8")
    taken = longfat.load_library(build(tmp_path / "libtaken.so", source=source))[0]
    with pytest.raises(ValueError, match="there is already a controller called `reno`"):
        first("reno", controllers=[taken])
    with pytest.raises(TypeError, match="`c-reno` is a controller, not a queue"):
        first("reno", queues=[entries["c-reno"]])
    with pytest.raises(TypeError, match="'reno' is neither a controller nor a queue"):
        first("reno", controllers=["reno"])


def scenario_with(folder: Path, control: str) -> Path:
    path = folder / "own.toml"
    text = FIRST.read_text("utf-8").replace('control = "reno"', f"control = {control}")
    for long, short in (("120 s", "10 s"), ("20 s", "2 s")):
        text = text.replace(f'"{long}"', f'"{short}"')
    path.write_text(text, "utf-8")
    return path


def test_a_scenario_with_code_runs_only_where_that_is_allowed(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "rules").mkdir()
    shutil.copy(built, tmp_path / "rules/libown.so")
    monkeypatch.chdir(tmp_path / "elsewhere")
    # The path is relative to the file, not to the working directory.
    path = scenario_with(tmp_path / "rules", '{ library = "libown.so:c-aimd", a = 3 }')
    for command in ("run", "fluid"):
        with pytest.raises(longfat.ScenarioError, match="this scenario would run code") as told:
            CliRunner().invoke(commands, [command, str(path)], catch_exceptions=False)
        assert "own.toml:" in str(told.value)
        done = CliRunner().invoke(commands, [command, str(path), "--quiet", "--allow-code"])
        assert done.exit_code == 0, done.output
    resolved = (tmp_path / "elsewhere/runs/own-1/scenario.toml").read_text("utf-8")
    assert f'library = "{tmp_path / "rules/libown.so"}:c-aimd", code = "' in resolved
    assert longfat.run(resolved, allow_code=True).flows.to_polars()["control"][0] == "c-aimd"


@pytest.mark.parametrize(
    ("control", "told"),
    [
        ('{ library = "libnone.so" }', "there is no such file beside the scenario file"),
        ('{ library = "LIB" }', "it has several: add a name after a colon. There is c-reno"),
        ('{ library = "LIB:nobody" }', "it has no controller called `nobody`: there is c-reno"),
        ('{ library = "LIB:c-step" }', "it has no controller called `c-step`"),
        ('{ library = "LIB:c-aimd", a = 101 }', "`a` must be a number from 0 to 100"),
        ('{ library = "LIB:c-aimd", c = 1 }', "has no parameter `c`"),
        ('{ library = "LIB:c-aimd", code = "abc" }', "the code of `c-aimd` is now another one"),
        ('{ library = "own.toml" }', "is not a shared library for this machine"),
    ],
)
def test_wrong_code_in_a_scenario_is_shown_where_it_stands(
    built: Path, tmp_path: Path, control: str, told: str
) -> None:
    path = scenario_with(tmp_path, control.replace("LIB", str(built)))
    with pytest.raises(longfat.ScenarioError) as refused:
        longfat.run(path, allow_code=True)
    assert told in str(refused.value)
    assert refused.value.diagnostics[0]["line"] == 16


def test_the_command_line_refuses_code_with_exit_2(built: Path, tmp_path: Path) -> None:
    program = [sys.executable, "-m", "longfat"]
    path = scenario_with(tmp_path, f'{{ library = "{built}:c-aimd" }}')
    done = subprocess.run([*program, "run", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "this scenario would run code" in done.stderr
    path = scenario_with(tmp_path, f'{{ library = "{built}:c-bad" }}')
    arguments = ["run", str(path), "--allow-code", "--quiet", "--out", str(tmp_path / "out")]
    done = subprocess.run([*program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "the controller `c-bad`, flow reno[0], after " in done.stderr
    assert not (tmp_path / "out").exists()


def test_try_takes_code(built: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path))
    control = f'reno,{{library="{built}:c-reno"}}'
    arguments = ["try", "--rate=10Mbit/s", "--rtt=20ms", "--duration=5s", "--seeds=1", "--json"]
    with pytest.raises(StudyError, match="would run code"):
        CliRunner().invoke(commands, [*arguments, "--control", control], catch_exceptions=False)
    done = CliRunner().invoke(commands, [*arguments, "--control", control, "--allow-code"])
    assert done.exit_code == 0, done.output
    one, other = json.loads(done.stdout)["controls"]
    assert one["goodput_bit_s"] == other["goodput_bit_s"]


STUDY = against_reno("c-reno")


def test_a_study_runs_own_controllers_in_other_processes(
    entries: dict[str, LibraryEntry], tmp_path: Path
) -> None:
    own = [entries["c-reno"]]
    same_as_reno(study(STUDY, out=tmp_path / "threads", controllers=own), "c-reno")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = study(STUDY, out=tmp_path / "spawned", controllers=own, executor=pool)
    same_as_reno(found, "c-reno")


def test_a_study_file_names_code(built: Path, tmp_path: Path) -> None:
    shutil.copy(built, tmp_path / "libown.so")
    file = tmp_path / "own.toml"
    file.write_text(
        f'scenario = "{FIRST}"\nseeds = 1\n[set]\nduration = "5 s"\nwarmup = "1 s"\n"flow.reno.start" = "0 s"\n'
        '[vary]\n"flow.reno.control" = ["reno", { library = "libown.so:c-reno" }]\n',
        "utf-8",
    )
    with pytest.raises(longfat.errors.StudyError, match="would run code"):
        study(file, out=tmp_path / "study")
    found = study(file, out=tmp_path / "study", allow_code=True)
    assert (found.failed, found.runs, found.known) == (0, 2, 0)
    # The folder stands for the file, wherever it is; an edited library is not what was run.
    again = study(tmp_path / "study", out=tmp_path / "study", allow_code=True)
    assert again.known == 2
    source = tmp_path / "other.c"
    source.write_text(LAWS.read_text("utf-8").replace("1.0 / at->window", "2.0 / at->window"))
    build(tmp_path / "libown.so", source=source)
    again = study(tmp_path / "study", out=tmp_path / "study", allow_code=True)
    assert again.known == 1
