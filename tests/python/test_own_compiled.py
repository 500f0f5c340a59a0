"""Laws, controllers and queues compiled from Python."""

from __future__ import annotations

import ctypes as c
import json
import math
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import pytest

import longfat
from longfat.own import Code, Pacing, Parameter, Verdict, _abi
from longfat.own._digest import digest_of
from longfat.scenario import read
from longfat.study import Cache, Job, Point, run_many, run_points, study
from own_support import FIRST, OWN, SHORT, against_reno, averages, cluster, first, same_as_reno
from support import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module", autouse=True)
def own_modules() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(OWN))
        # Processes that are started find it as well.
        patch.setenv("PYTHONPATH", str(OWN))
        yield


def made(name: str) -> Any:
    return getattr(import_module("compiled_laws"), name)


def test_the_structures_are_those_of_the_header(tmp_path: Path) -> None:
    """Sizes and offsets, as a C compiler has them."""
    events = {
        name: type(name, (c.Structure,), {"_fields_": fields})
        for name, fields in _abi.EVENTS.items()
    }
    tables = {**events, **_abi.TABLES, "parameter": _abi.ParameterTable}
    lines, expected = [], []
    for name, table in tables.items():
        lines.append(f'printf("%zu\\n", sizeof(longfat_{name}));')
        expected.append(c.sizeof(table))
        for field, _ in table._fields_:  # type: ignore[attr-defined]
            lines.append(f'printf("%zu\\n", offsetof(longfat_{name}, {field}));')
            expected.append(getattr(table, field).offset)
    codes: dict[str, int] = {
        "VERSION": _abi.VERSION,
        "PER_MARK": 1,
        "HEEDS_DELAY": 2,
        "LOSSES_APART": 4,
    }
    codes |= {f"NEEDS_{key.upper()}": value for key, value in _abi.NEEDS.items()}
    codes |= {f"WANTS_{key.upper()}": value for key, value in _abi.WANTS.items()}
    codes |= {key.upper(): value for key, value in _abi.KINDS.items()}
    codes |= {f"BY_{each.name}": each for each in _abi.Limited}
    for kind in (_abi.Cause, _abi.Pacing, _abi.Phase):
        codes |= {each.name: each for each in kind}
    codes |= {"KEEP": 0, "SET_MARK": 1, "DROP": 2}
    lines += [f'printf("%zu\\n", (size_t)LONGFAT_{name});' for name in codes]
    expected += [int(value) for value in codes.values()]
    program = "\n".join(lines)
    source = tmp_path / "offsets.c"
    source.write_text(
        '#include "longfat.h"\n#include <stddef.h>\n#include <stdio.h>\n'
        f"int main(void) {{\n{program}\nreturn 0;\n}}\n"
    )
    header = ROOT / "crates/foreign/include"
    subprocess.run(["cc", "-std=c99", f"-I{header}", source, "-o", tmp_path / "told"], check=True)  # noqa: S607
    told = subprocess.run([tmp_path / "told"], capture_output=True, text=True, check=True).stdout
    assert [int(line) for line in told.split()] == expected
    assert len(expected) > 150


def test_the_functions_that_answer_nothing_are_those_of_the_simulator() -> None:
    """In its order: an exception in one of them is told by its place."""
    rust = (ROOT / "crates/foreign/src/abi.rs").read_text()
    listed = re.search(r"pub const SILENT: \[&str; (\d+)\] = \[(.*?)\];", rust, re.DOTALL)
    assert listed is not None
    names = tuple(re.findall(r'"(\w+)"', listed[2]))
    assert len(names) == int(listed[1])
    assert names == _abi.SILENT


def test_the_same_law_gives_the_same_bytes() -> None:
    expected = averages(first("reno"))
    for name, control in (("reno", "py-reno"), ("OwnReno", "py-own-reno"), ("aimd", "py-aimd")):
        own = averages(first(control, controllers=[made(name)]))
        assert own.replace(control, "reno") == expected, name
    rust = averages(first({"kind": "aimd", "a": 2, "b": 0.25}))
    own = averages(first({"kind": "py-aimd", "a": 2, "b": 0.25}, controllers=[made("aimd")]))
    assert own.replace("py-aimd", "aimd") == rust != expected


def test_the_same_queue_gives_the_same_bytes() -> None:
    def run(kind: str) -> str:
        changes = {"link.bottleneck.queue": {"kind": kind, "threshold": "50 packets"}}
        return averages(first("reno", changes=changes, queues=[made("step")]))

    assert run("py-step") == run("step")


def test_a_queue_with_a_memory_draws_from_the_seed() -> None:
    def drops(seed: int) -> tuple[float, str]:
        queues, changes = [made("Lottery")], {"link.bottleneck.queue": "py-lottery"}
        run = first("reno", changes=changes, queues=queues, seed=seed)
        return run.summary["links"]["bottleneck"]["forward"]["drop_rate"], averages(run)

    (rate, one), (_, again), (_, other) = drops(1), drops(1), drops(2)
    assert one == again != other
    assert rate == pytest.approx(0.01, rel=0.4)


def test_the_fluid_model_solves_a_compiled_law() -> None:
    changes = {"flow.reno.control": "py-reno"}
    own = longfat.fluid(FIRST, controllers=[made("reno")], set=changes, stability=True)
    rust = longfat.fluid(FIRST, stability=True)
    assert json.dumps(own.summary).replace("py-reno", "reno") == json.dumps(rust.summary)


def test_all_threads_run_compiled_code() -> None:
    def run(seed: int) -> str:
        control = {"kind": "py-aimd", "a": 2}
        return averages(first(control, controllers=[made("aimd")], seed=seed))

    alone = [run(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(4))) == alone


def test_a_law_says_what_it_is() -> None:
    told = made("aimd").__longfat__().describe()
    assert told["name"] == "py-aimd"
    a, b = told["parameters"]
    assert (a["default"], a["minimum"], a["maximum"]) == (1.0, 0.0, 100.0)
    assert (b["default"], b["maximum"]) == (0.5, sys.float_info.max)
    with pytest.raises(longfat.ScenarioError, match="`a` must be a number from 0 to 100"):
        first({"kind": "py-aimd", "a": 101}, controllers=[made("aimd")])


def test_parameters_of_every_kind_arrive() -> None:
    @longfat.law(
        name="kinds",
        parameters={
            "number": Parameter(2.0, 1.0, 3.0, "a number"),
            "count": Parameter(3, 0, 9, whole=True),
            "flag": True,
            "time": "250 ms",
            "must": None,
        },
    )
    def kinds(at: Any, p: Any) -> float:
        total = p.number + 10 * p.count + 100 * p.flag + 1000 * p.time + 10000 * p.must
        return math.nan if at.window > 5 else total

    @kinds.slow_start
    def slow(_at: Any, p: Any) -> Any:
        return -(p.number + 10 * p.count + 100 * p.flag + 1000 * p.time + 10000 * p.must)

    with pytest.raises(longfat.ScenarioError, match="`kinds` needs a value for `must`"):
        first("kinds", controllers=[kinds])
    # 3 + 10·4 + 0 + 1000·0.5 + 10000·1
    control = {"kind": "kinds", "number": 3, "count": 4, "flag": False, "time": "0.5 s", "must": 1}
    with pytest.raises(longfat.CodeError, match=r"`slow_start` is -10543 at a window of 10 "):
        first(control, controllers=[kinds])


def failing(when: str) -> Any:
    if when == "law":

        @longfat.law(name="fails")
        def fails(at: Any) -> float:
            if at.window > 50:
                message = "too large"
                raise ValueError(message)
            return float(1 / at.window)

        return fails

    @longfat.controller(name="fails")
    class Fails:
        window: float = 1.0

        def on_feedback(self, feedback: Any) -> None:
            self.window += feedback.acked
            if self.window > 50:
                message = "too large"
                raise ValueError(message)

        def on_congestion(self) -> None:
            self.window = 2.0

    return Fails


@pytest.mark.parametrize(("when", "what"), [("law", "gain"), ("controller", "on_feedback")])
def test_an_exception_in_compiled_code_ends_the_run(when: str, what: str) -> None:
    told = rf"the controller `fails`, flow reno\[\d\], after [\d.]+ s: `{what}` raised an exception"
    with pytest.raises(longfat.CodeError, match=told):
        first("fails", controllers=[failing(when)])


def test_an_exception_in_a_queue_ends_the_run() -> None:
    @longfat.queue(name="fails")
    def fails(arrival: Any) -> Verdict:
        if arrival.waiting_packets > 10:
            raise ValueError
        return Verdict.KEEP

    with pytest.raises(longfat.CodeError, match=r"the queue `fails`, after .* `on_arrival` raised"):
        first("reno", changes={"link.bottleneck.queue": "fails"}, queues=[fails])


RAISES = """
class Wrong:
{members}

    def {method}(self):
        raise ValueError
"""


def raising(kind: str, method: str) -> Any:
    """A sound controller or queue but for one method."""
    members = {
        "controller": {
            "window": "    window: float = 10.0",
            "on_feedback": "    def on_feedback(self): pass",
            "on_congestion": "    def on_congestion(self): self.window = 2.0",
            "timer": "    def timer(self): return 3.0",
            "on_timer": "    def on_timer(self): pass",
        },
        "queue": {
            "on_arrival": f"    def on_arrival(self): return {int(Verdict.KEEP)}",
            "period": "    def period(self): return 0.1",
            "on_ticks": "    def on_ticks(self): pass",
        },
    }[kind]
    kept = "\n".join(text for name, text in members.items() if name != method)
    space: dict[str, Any] = {}
    exec(RAISES.format(members=kept, method=method), space)  # noqa: S102 - it stands above
    made: Any = {"controller": longfat.controller, "queue": longfat.queue}[kind]
    return made(name="wrong")(space["Wrong"])


@pytest.mark.parametrize(
    "method",
    ["begin", "on_feedback", "on_congestion", "on_recovered", "on_lost", "on_sent", "on_timer"],
)
def test_whatever_a_controller_raises_is_told_of_the_method(method: str) -> None:
    with pytest.raises(longfat.CodeError, match=rf"`wrong`, .*: `{method}` raised an exception"):
        first("wrong", controllers=[raising("controller", method)], changes=TIGHT)


@pytest.mark.parametrize("method", ["begin", "on_overflow", "on_departure", "on_ticks"])
def test_whatever_a_queue_raises_ends_the_run(method: str) -> None:
    wrong = raising("queue", method)
    changes = {"link.bottleneck.queue": "wrong", **TIGHT}
    told = rf"the queue `wrong`, after .*: `{method}` raised an exception"
    with pytest.raises(longfat.CodeError, match=told):
        first("reno", changes=changes, queues=[wrong])


TIGHT = {"link.bottleneck.buffer": "5 packets"}


def test_pacing_is_heeded_and_checked() -> None:
    def goodput(pace: Callable[..., Any]) -> float:
        @longfat.law(name="paced")
        def paced(at: Any) -> float:
            return float(1.0 / at.window)

        paced.pacing(pace)
        flows = first("paced", controllers=[paced]).summary["flows"]
        return float(flows[0]["goodput_bit_s"])

    def slowly(_at: Any) -> tuple[Pacing, float]:
        return Pacing.RATE, 100.0

    def backwards(_at: Any) -> tuple[Pacing, float]:
        return Pacing.RATE, -1.0

    # A hundred packets of 1500 bytes per second; a window of them leaves at once before the first round trip.
    assert goodput(slowly) == pytest.approx(1.2e6, rel=0.01)
    with pytest.raises(longfat.CodeError, match=r"`pacing` is -1 .* a rate from 0\.001 to 1e12"):
        goodput(backwards)


def missing(at: Any) -> float:
    return float(at.windw)


def text(at: Any) -> str:
    return "fast"


def nothing(at: Any) -> None:
    pass


def too_many(at: Any, p: Any, cause: Any, more: Any) -> float:
    return 1.0


def unknown(at: Any) -> float:
    return undefined(at)  # type: ignore[name-defined,no-any-return]  # noqa: F821


def changing(at: Any) -> float:
    return float(len(str(OBJECT)))


OBJECT = object()


@pytest.mark.parametrize(
    ("gain", "told"),
    [
        (
            missing,
            "`gain` of the window law `bad` asks for `windw`: there are window, epoch_window",
        ),
        (text, "`gain` of the window law `bad` returns a text: a number is needed"),
        (nothing, "`gain` of the window law `bad` returns nothing: a number is needed"),
        (too_many, r"takes \(at: .*\), but is given \(at, p\), of which the last may be left out"),
        (unknown, r"cannot be compiled: line \d+: NameError: name 'undefined' is not defined"),
        (changing, "cannot be compiled"),
    ],
)
def test_a_function_that_cannot_be_compiled_is_refused(gain: Callable[..., Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        first("bad", controllers=[longfat.law(name="bad")(gain)])


def smoothing(first_value: str) -> Any:
    """A controller with a mean of round trips, which begins like this."""
    space: dict[str, Any] = {"longfat": longfat}
    code = f"""
class Smooth:
    window: float = 1
    mean{first_value}

    def on_feedback(self, feedback, path):
        self.mean = 0.9 * self.mean + 0.1 * path.rtt
        self.window = 10.0

    def on_congestion(self):
        self.window = 2.0
"""
    # Annotations are what they say, and texts only where that is a text.
    exec(compile(code, "smooth", "exec", dont_inherit=True), space)  # noqa: S102 - it stands above
    return longfat.controller(name="smooth")(space["Smooth"])


def test_a_variable_that_is_said_to_be_a_float_is_one() -> None:
    """Also where it begins as 0, which Python takes for a float; its values were cut off to whole numbers."""
    shown = [
        first("smooth", controllers=[smoothing(value)], changes={"observe": True}, record=True)
        .flow_series.to_polars()["mean"]
        .to_list()
        for value in (": float = 0.0", ": float = 0", ': "float" = 0')
    ]
    assert shown[0] == shown[1] == shown[2]
    assert 0.03 < shown[0][-1] < 0.1


@pytest.mark.parametrize("value", [" = 0", ": int = 0", ": bool = False"])
def test_a_fraction_is_not_cut_off_in_silence(value: str) -> None:
    told = (
        "`on_feedback` of the controller `smooth` sets `mean`, which begins as a whole number, to one with a "
        r"fraction: begin it as `mean: float = 0\.0`"
    )
    with pytest.raises(ValueError, match=told):
        first("smooth", controllers=[smoothing(value)])


def test_classes_that_are_no_controllers_are_refused() -> None:
    class NoWindow:
        speed: float = 1.0

        def on_feedback(self) -> None: ...

    class NoNumber:
        window: float = 1.0
        name: str = "x"

    class NoFirst:
        window: float

    class Strange:
        window: float = 1.0

        def on_feedback(self) -> None: ...

        def on_congestion(self) -> None: ...

        def on_everything(self) -> None: ...

    class Half:
        window: float = 1.0

        def on_feedback(self) -> None: ...

    for owner, told in (
        (NoWindow, "the controller `bad` has no variable `window`"),
        (NoNumber, "`name` of the controller `bad` has the first value 'x'"),
        (NoFirst, "`window` of the controller `bad` has no first value"),
        (Strange, "nothing calls `on_everything` of the controller `bad`"),
        (Half, "the controller `bad` has no method `on_congestion`"),
    ):
        with pytest.raises(TypeError, match=told):
            longfat.controller(name="bad")(owner)
    with pytest.raises(ValueError, match="'a b' is no name for a window law"):
        longfat.law(name="a b")(missing)
    with pytest.raises(ValueError, match="there is no need 'ecm': there are ecn"):
        longfat.law(name="bad", needs=["ecm"])(missing)
    with pytest.raises(TypeError, match="the queue `bad` has no method `on_arrival`"):
        longfat.queue(name="bad")(type("Empty", (), {}))


def test_digests_tell_whatever_may_compute_something_else() -> None:
    def of(text: str, **outside: object) -> str:
        space: dict[str, Any] = {**outside}
        exec(text, space)  # noqa: S102 - the text is ours
        return digest_of(space["f"])

    plain = of("def f(x): return x + 1")
    assert of("# why\n\ndef f(x):\n    # more\n    return x + 1") == plain
    assert of("def f(x): return x + 2") != plain
    assert of("def f(x, y=1): return x + 1") != plain
    reading = "def f(x): return x + A"
    assert of(reading, A=1) == of(reading, A=1, B=2)
    assert len({of(reading, A=value) for value in (1, 2, 1.0, -0.0, 0.0, (1,), True)}) == 7
    calling = "def g(x): return x * {}\ndef f(x): return g(x)"
    assert of(calling.format(2)) != of(calling.format(3))
    inner = "def f(x):\n    def g(y): return y + A\n    return g(x)"
    assert of(inner, A=1) != of(inner, A=2)
    recursive = "def f(x): return f(x - 1) if x else {}"
    assert of(recursive.format(1)) != of(recursive.format(2))

    def enclosing(number: float) -> Callable[[float], float]:
        return lambda x: x + number

    assert digest_of(enclosing(1)) != digest_of(enclosing(2))
    assert digest_of(enclosing(1)) == digest_of(enclosing(1))
    with pytest.raises(TypeError, match="a function reads a object"):
        of(reading, A=object())


def test_digests_do_not_depend_on_the_process(tmp_path: Path) -> None:
    text = "import compiled_laws as laws\nprint(laws.OwnReno.__longfat__().digest)"
    told = {
        subprocess.run(
            [sys.executable, "-c", text],
            env={"PYTHONPATH": str(OWN), "PYTHONHASHSEED": seed, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert told == {made("OwnReno").__longfat__().digest}


RULES = """\
import longfat

GAIN = {}

@longfat.law(name="own", parameters={{"a": 1.0}})
def own(at, p):
    return GAIN * p.a / at.window
"""


def test_an_edited_law_is_never_answered_from_the_cache(tmp_path: Path) -> None:
    rules = tmp_path / "rules.py"
    scenario = tmp_path / "own.toml"
    text = FIRST.read_text("utf-8").replace(
        '"reno"\ncount', '{ python = "rules:own", a = 2 }\ncount'
    )
    scenario.write_text(text, "utf-8")
    cache = Cache(tmp_path / "cache")

    def run(gain: str, note: str = "") -> tuple[bool, float]:
        rules.write_text(RULES.format(gain) + note, "utf-8")
        found, _ = read(scenario, changes=SHORT, code=Code(allowed=True))
        (result,) = run_many([Job(found)], cache=cache)
        assert result.summary is not None
        return result.cached, result.summary["flows"][0]["window_mean"]

    with pytest.raises(longfat.ScenarioError, match="would run code"):
        read(scenario)
    cached, one = run("1.0")
    assert not cached
    assert run("1.0", "# a comment\n") == (True, one)
    cached, two = run("2.0")
    assert not cached
    assert two != one
    assert run("1.0") == (True, one)


@pytest.mark.parametrize(
    ("place", "content", "told"),
    [
        ("rules.py:none", RULES.format(1), "there is no `none` in it"),
        ("rules.py", RULES.format(1), "write a module and a name in it, such as `rules.py:gentle`"),
        ("rules.py:GAIN", RULES.format(1), "1 is neither a controller nor a queue"),
        ("other.py:own", "", "there is no such file beside the scenario file"),
        ("other:own", "", "there is no file `other.py` beside the scenario file"),
        ("not a name:own", "", "is neither the path of a Python file nor the name of a module"),
        ("rules:own", "import longfat\n1 / 0\n", "line 2: ZeroDivisionError: division by zero"),
        ("rules:own", "def (", "line 1: SyntaxError"),
        (
            "rules:own",
            "import nobody_has_this\n",
            "ModuleNotFoundError: No module named 'nobody_has",
        ),
        (
            "rules:own",
            'import longfat\n@longfat.queue(name="own")\ndef own(arrival): return 0\n',
            "`own` is a queue, not a controller",
        ),
        (
            "rules:own",
            'import longfat\n@longfat.law(name="own")\ndef own(at): return "x"\n',
            "`gain` of the window law `own` returns a text",
        ),
    ],
)
def test_python_in_a_scenario_that_is_of_no_use_is_refused(
    tmp_path: Path, place: str, content: str, told: str
) -> None:
    (tmp_path / "rules.py").write_text(content, "utf-8")
    scenario = tmp_path / "own.toml"
    text = FIRST.read_text("utf-8").replace('"reno"\ncount', f'{{ python = "{place}" }}\ncount')
    scenario.write_text(text, "utf-8")
    with pytest.raises(longfat.ScenarioError) as refused:
        longfat.run(scenario, allow_code=True)
    assert f"no controller comes from python `{place}`" in str(refused.value)
    assert told in str(refused.value)


def test_without_numba_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from longfat.own._compile import numba

    numba.cache_clear()
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(ImportError, match=r'pip install "longfat\[jit\]"'):
        longfat.law(name="bad")(missing).__longfat__()
    numba.cache_clear()


STUDY = against_reno("py-reno")


def test_points_take_own_controllers() -> None:
    points = [
        Point(
            FIRST,
            set={**SHORT, "flow.reno.control": control},
            labels={"control": control},
            seeds=1,
            controllers=[made("reno")],
        )
        for control in ("reno", "py-reno")
    ]
    rows = run_points(points, lambda run: {"utilisation": run.link()["utilisation"]})
    one, other = rows["utilisation"]
    assert one == other > 0.5


def local() -> Any:
    """A law that no process could import."""

    @longfat.law(name="py-reno")
    def reno(at: Any) -> float:
        return float(1.0 / at.window)

    return reno


@pytest.mark.parametrize("by", ["module", "value"])
def test_other_processes_compile_it_again(tmp_path: Path, by: str) -> None:
    own = made("reno") if by == "module" else local()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        found = study(STUDY, out=tmp_path / "study", controllers=[own], executor=pool)
    same_as_reno(found, "py-reno")


@pytest.mark.long
def test_a_cluster_gets_it_sent(tmp_path: Path) -> None:
    with cluster() as client:
        found = study(STUDY, out=tmp_path / "study", controllers=[local()], executor=client)
    same_as_reno(found, "py-reno")


@pytest.mark.long
def test_code_from_outside_gives_what_rust_gives_and_the_bench_says_how_fast() -> None:
    """It refuses to compare what does not give the same bytes."""
    bench = [sys.executable, str(ROOT / "bench/own/compare.py"), "--repeat", "1"]
    told = subprocess.run(bench, capture_output=True, text=True, check=False, timeout=300)
    assert told.returncode == 0, told.stderr
    rows = [line.split("  ")[0] for line in told.stdout.splitlines()[1:]]
    assert rows == ["window law: Reno"] * 3 + ["controller: Reno"] * 4 + ["controller: CUBIC"] * 2
