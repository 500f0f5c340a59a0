"""The compiled part of longfat: scenarios, simulations, tables, and the registries."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict, final, type_check_only

from typing_extensions import Self, disjoint_base

__all__ = [
    "LONGEST_FILE",
    "LONGEST_TEXT",
    "PROFILED",
    "Adjustment",
    "ArrowTable",
    "Cancellation",
    "Cancelled",
    "CodeError",
    "Congestion",
    "ControllerBase",
    "EngineError",
    "Environments",
    "Feedback",
    "FluidError",
    "FluidPath",
    "GymError",
    "Lost",
    "Own",
    "Path",
    "Policy",
    "RateSample",
    "Recording",
    "Scenario",
    "ScenarioError",
    "Sent",
    "Session",
    "Start",
    "Trace",
    "TraceError",
    "__version__",
    "class_controller",
    "compiled",
    "controllers",
    "examine",
    "features",
    "fluid_memory",
    "fluid_price",
    "fluid_rest",
    "fluid_solve",
    "known_units",
    "load_library",
    "policy_controller",
    "profiles",
    "quantity",
    "queues",
    "scenario_keys",
    "simulate",
]

__version__: str

PROFILED: bool
"""Whether the module was compiled with a profile of what it does most: `make fast`."""

LONGEST_TEXT: int
"""The most bytes that the text of a scenario may have, apart from lists of flows."""
LONGEST_FILE: int
"""The most bytes that it may have with them."""

@type_check_only
class Diagnostic(TypedDict):
    """One thing that is wrong with a scenario, for editors and other programs."""

    message: str
    help: str | None
    file: str
    """The name of the text that is wrong: that of the file, or `--set` for an override."""
    override: int | None
    """Which override that is, from 0; `None` for the file."""
    line: int | None
    """The line, from 1; `None`, as the next two, where something is missing from the whole text."""
    column: int | None
    """The first character in it, from 1."""
    length: int | None
    """How many characters."""

class ScenarioError(ValueError):
    """A scenario is wrong. The message names the place, the reason and, where one is near, a remedy."""

    diagnostics: tuple[Diagnostic, ...]
    """Everything that is wrong, in the order of the text; empty where it could not be read at all."""

class EngineError(RuntimeError):
    """The simulator broke one of its own rules: a bug of longfat, not of the scenario."""

class GymError(ValueError):
    """An environment, a step or a policy is not as asked for. The message says what was found, and a remedy."""

class FluidError(ValueError):
    """A scenario that the fluid model cannot solve as asked. The message says why, and what would help."""

class CodeError(RuntimeError):
    """Code that was brought along failed, or answered nonsense, while it ran: which, what, and when.

    An exception of that code is its `__cause__`.
    """

class Cancelled(Exception):  # noqa: N818 - a stop that was asked for is no error
    """A simulation was stopped through its `Cancellation`."""

@final
class Scenario:
    """A complete, checked scenario: every default filled in, every reference resolved."""

    @staticmethod
    def parse(
        text: str,
        origin: str = "scenario",
        *,
        overrides: Sequence[str] = (),
        seed: int | None = None,
        folder: str | PathLike[str] | None = None,
        tables: Callable[[str], str] | None = None,
        own: Sequence[Own] = (),
        code: Callable[
            [Literal["python", "library"], str, Literal["controller", "queue"]], tuple[Own, str]
        ]
        | None = None,
    ) -> Scenario:
        """Reads a scenario from TOML text.

        Args:
            text: The scenario file.
            origin: What stands for the file in messages.
            overrides: Changes `key.of.a.field=value`, applied before the check.
            seed: Replaces the seed of the file.
            folder: Where the traces and lists of flows lie that it names; without one it can name none.
            tables: Makes text of a Parquet file, given its path; raises `ValueError` if it cannot.
            own: Controllers and queues that it can choose from beside those of longfat.
            code: Fetches the code that it names; without it, it can name none. Called with how it names what,
                and what that has to be; returns a handle, and what stands for it in the resolved scenario.

        Raises:
            ValueError: Something of `own` has a name that is taken, or no scenario could choose it.
            ScenarioError: With the place, the reason and, where one is near, a remedy.
        """
    def with_seed(self, seed: int, /) -> Scenario:
        """The same scenario with another seed."""
    @property
    def seed(self) -> int:
        """The number from which every stream of random numbers is derived."""
    @property
    def duration_s(self) -> float:
        """Simulated time in seconds."""
    @property
    def warmup_s(self) -> float:
        """How much of the beginning every average leaves out, in seconds."""
    def to_toml(self) -> str:
        """The scenario as a TOML file that reads back to the same scenario."""
    def quantities(self) -> dict[str, Any]:
        """Its quantities as plain numbers: what `longfat.scenario.Quantities` holds."""
    def estimate(self, *, record: bool = True, transfers: bool = True) -> dict[str, Any]:
        """What a run will ask for, roughly: `packets` of data, `seconds` on one core, bytes of `memory`.

        Links count as full where the flows could fill them. `largest` is what takes most of the memory:
        `packets`, `links`, `flows`, `transfers`, `rows` or `applications`.

        Args:
            record: Count the time series.
            transfers: Count the table of transfers.
        """
    def to_json(self) -> str:
        """The scenario as JSON text."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Own:
    """A controller or a queue that is no part of longfat, ready to be chosen by a scenario."""

    @property
    def name(self) -> str:
        """Its name in scenario files."""
    @property
    def kind(self) -> Literal["controller", "queue"]:
        """What it is."""
    @property
    def digest(self) -> str:
        """A digest of its code: another one for code that may do something else."""
    @property
    def is_law(self) -> bool:
        """Whether it has a window law, which the fluid model can solve."""
    def describe(self) -> dict[str, Any]:
        """What `controllers()` or `queues()` say of an entry."""

def load_library(path: str | PathLike[str], /) -> list[Own]:
    """What is in a shared library that uses longfat.h: laws, controllers, queues, in its order.

    Raises:
        ValueError: It cannot be read or loaded, or is not what longfat.h asks for.
    """

@final
class Feedback:
    """What one acknowledgment reports. It is filled in anew for the next one: `copy()` keeps it."""
    def __deepcopy__(self, memo: object, /) -> Self: ...
    @property
    def now(self) -> float:
        """When it arrived, in seconds."""
    @property
    def acked(self) -> int:
        """Segments acknowledged in order that no earlier acknowledgment had reported."""
    @property
    def sacked(self) -> int:
        """Segments above these, reported for the first time by a selective acknowledgment."""
    @property
    def delivered(self) -> int:
        """Both together."""
    @property
    def lost(self) -> int:
        """Segments that newly count as lost."""
    @property
    def marked(self) -> int:
        """Segments newly reported as marked."""
    @property
    def rtt(self) -> float | None:
        """Round trip of the segment that triggered it, in seconds; `None` where that is not known."""
    @property
    def in_flight(self) -> int:
        """Segments sent but neither acknowledged nor known to be lost, before it arrived."""
    @property
    def limited(self) -> Literal["window", "pacing", "application", "receiver", "recovery"]:
        """What kept more from being in flight: "window", "pacing", "application", "receiver" or "recovery"."""
    @property
    def may_grow(self) -> bool:
        """Whether the window was tested and nothing was congested: only then may it grow."""
    @property
    def round_starts(self) -> bool:
        """True once per round trip."""
    @property
    def recovery_begins(self) -> bool:
        """Whether loss recovery begins with it; `on_congestion` follows."""
    @property
    def spare(self) -> bool | None:
        """AntiECN: whether every router had room; `None` where not every router can say."""
    @property
    def delivery_rate(self) -> float | None:
        """Segments per second that the network delivers, or `None`; with `wants = "delivery_rate"`."""
    @property
    def rate(self) -> RateSample | None:
        """The whole sample behind `delivery_rate`, or `None` as there."""
    @property
    def one_way_delay(self) -> float | None:
        """Seconds that the data took, up to a constant, or `None`; with `wants = "one_way_delay"`."""
    @property
    def spurious(self) -> Literal["loss", "mark", "timeout"] | None:
        """A "loss", "mark" or "timeout" that it shows to be spurious, or `None`; with `wants = "spurious"`."""
    def copy(self) -> Feedback:
        """The same, as it is now."""

@final
class RateSample:
    """How fast the network delivered segments, while the newest of them was on its way."""
    def __deepcopy__(self, memo: object, /) -> Self: ...
    @property
    def delivered(self) -> int:
        """Segments delivered in `interval`."""
    @property
    def interval(self) -> float:
        """The length of the sample in seconds."""
    @property
    def delivered_before(self) -> int:
        """Segments delivered before the newest one left."""
    @property
    def delivered_total(self) -> int:
        """Segments delivered in total so far."""
    @property
    def lost(self) -> int:
        """Segments lost since the newest one left."""
    @property
    def in_flight(self) -> int:
        """Segments in flight just after the newest one left."""
    @property
    def application_limited(self) -> bool:
        """Whether the application ran out of data in it: the path may be faster."""

@final
class Path:
    """What is known about the path."""
    def __deepcopy__(self, memo: object, /) -> Self: ...
    @property
    def rtt(self) -> float:
        """Smoothed round trip in seconds."""
    @property
    def base_rtt(self) -> float | None:
        """Smallest round trip seen, in seconds; `None` before the first one."""

@final
class Congestion:
    """A congestion event."""
    def __deepcopy__(self, memo: object, /) -> Self: ...
    @property
    def now(self) -> float:
        """When it was noticed, in seconds."""
    @property
    def cause(self) -> Literal["loss", "mark", "timeout"]:
        """What signalled it: "loss", "mark" or "timeout"."""
    @property
    def in_flight(self) -> int:
        """Segments in flight before it."""
    @property
    def again(self) -> bool:
        """Whether it is a time-out of data that had timed out before."""

@final
class Adjustment:
    """The host asks for another window: part of it was not used, or the path is known from an earlier flow."""
    def __deepcopy__(self, memo: object, /) -> Self: ...
    @property
    def now(self) -> float:
        """When, in seconds."""
    @property
    def window(self) -> float:
        """The window from now on, in segments."""
    @property
    def threshold(self) -> float | None:
        """The threshold from now on, in segments; `None`: as it is."""

@final
class Sent:
    """A segment that has left."""
    def __deepcopy__(self, memo: object, /) -> Self: ...
    @property
    def now(self) -> float:
        """When, in seconds."""
    @property
    def again(self) -> bool:
        """Whether it had been sent before."""
    @property
    def in_flight(self) -> int:
        """Segments in flight, this one included."""

@final
class Lost:
    """A segment that has been found lost."""
    def __deepcopy__(self, memo: object, /) -> Self: ...
    @property
    def now(self) -> float:
        """When, in seconds."""
    @property
    def segment(self) -> int:
        """Its place among the segments of the flow, from 0."""
    @property
    def sent(self) -> float:
        """When it left, in seconds; if more than once, the last time."""
    @property
    def in_flight(self) -> int:
        """Segments in flight just after it left."""
    @property
    def lost(self) -> int:
        """Segments lost since it left, itself included."""
    @property
    def delivered_total(self) -> int:
        """Segments delivered in total so far."""
    @property
    def application_limited(self) -> bool:
        """Whether the application had run out of data before it left."""

@final
class Start:
    """How a flow begins."""
    def __deepcopy__(self, memo: object, /) -> Self: ...
    def __new__(
        cls,
        window: float = 10.0,
        threshold: float | None = None,
        *,
        packet: int = 1500,
        access: float | None = None,
        transfer: int | None = None,
        chance: int = 0,
    ) -> Start: ...
    @property
    def window(self) -> float:
        """Initial window, in segments."""
    @property
    def threshold(self) -> float | None:
        """Initial slow-start threshold; `None`: as high as needed."""
    @property
    def slow_start(self) -> Literal["standard", "limited", "hystart", "hystart++"]:
        """How the window grows below it: "standard", "limited", "hystart" or "hystart++"."""
    @property
    def packet(self) -> int:
        """Bytes of a segment on the wire, headers included."""
    @property
    def access(self) -> float | None:
        """Rate of the sender's own link in segments per second; `None` where it is not known."""
    @property
    def transfer(self) -> int | None:
        """Segments to send in all; `None`: without end."""
    @property
    def round_trip(self) -> float | None:
        """Round trip measured before the first data leaves, in seconds; `None`: there was none."""
    @property
    def chance(self) -> int:
        """A number for everything that the flow decides by chance: another one for each flow and seed."""

@disjoint_base
class ControllerBase:
    """What `longfat.Controller` is made of: the part that the simulator reads without asking Python."""

    def __new__(cls, start: Start, p: Any) -> Self: ...  # noqa: ANN401 - whatever has the parameters
    def __getnewargs__(self) -> tuple[Start, Any]: ...
    def __getstate__(self) -> tuple[object, object]: ...
    def __setstate__(self, state: Any, /) -> None: ...  # noqa: ANN401
    window: float
    threshold: float | None
    pacing: float | tuple[str, float] | None
    timer: float | None
    @property
    def in_slow_start(self) -> bool:
        """Whether the window is below the threshold."""
    @property
    def start(self) -> Start:
        """How the flow began."""
    @property
    def p(self) -> Any:  # noqa: ANN401 - the parameters are the scenario's
        """The parameters that the scenario gives, as attributes."""
    def slow_start(self, feedback: Feedback, /) -> int:
        """Slow start as the scenario asks for it, limited or ended early too.

        Returns:
            How many acknowledged segments are left for congestion avoidance: 0 where the window may not grow.
        """
    def time_out(self, event: Congestion, /) -> None:
        """What a time-out does to any window (RFC 5681, 3.1): one segment, the threshold at half the flight."""
    def on_feedback(self, feedback: Feedback, path: Path) -> None:
        """An acknowledgment brought news. If it calls for an answer to congestion, `on_congestion` follows."""
    def on_congestion(self, event: Congestion, path: Path) -> None:
        """The path is congested: at most once per window of data, or for every mark."""
    def on_adjustment(self, adjustment: Adjustment, path: Path) -> None:
        """The host asks for another window, which it gets."""

def class_controller(
    class_: type, name: str, parameters: Sequence[dict[str, Any]], digest: str, /
) -> Own:
    """A handle of a class that derives from `ControllerBase`.

    Args:
        class_: The class.
        name: What scenarios call it.
        parameters: What they may set: `name`, `kind`, `default`, `bounds`, `words`, `about` of each.
        digest: A digest of its code.

    Raises:
        TypeError: It lacks a method, or says something about itself that has the wrong type.
        ValueError: It says something about itself that makes no sense.
    """

@type_check_only
class Step(TypedDict):
    """An event of a sequence that breaks a promise."""

    now_s: float
    event: str
    window: float | None

@type_check_only
class Broken(TypedDict):
    """How a promise was broken."""

    what: str
    settings: list[tuple[str, str]]
    window: float | None
    threshold: float | None
    events: list[Step]

@type_check_only
class Examined(TypedDict):
    """A promise, and how it was broken if it was."""

    promise: str
    expected: str
    failure: Broken | None

def examine(
    controller: str | Own,
    *,
    seed: int,
    cases: int,
    progress: Callable[[float], object] | None = None,
) -> list[Examined] | None:
    """Goes through the conformance suite.

    Args:
        controller: The name of a controller of longfat, or a handle.
        seed: What the random sequences of events follow from.
        cases: How many there are.
        progress: Called with the number of those that are done.

    Returns:
        Every promise that it gives; `None` for a controller without a window.

    Raises:
        TypeError: It is the handle of a queue.
        ValueError: There is no such controller.
    """

def compiled(
    kind: Literal["law", "controller", "queue"], address: int, keep: object, digest: str, /
) -> Own:
    """A handle of compiled functions.

    Args:
        kind: Which structure of longfat.h is there.
        address: Where. It and all that it points to must stay as they are as long as `keep` lives.
        keep: What keeps them.
        digest: A digest of the code.

    Raises:
        ValueError: The structure is wrong.
    """

@final
class Cancellation:
    """A flag that stops the simulations sharing it. Any thread may raise it."""

    def __new__(cls) -> Cancellation: ...
    def cancel(self) -> None:
        """Stops every simulation that shares this flag, now and later."""
    @property
    def cancelled(self) -> bool:
        """Whether it has been raised."""

@final
class ArrowTable:
    """A table of a recording, through the Arrow C stream interface."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Recording:
    """The results of a finished run."""

    def summary_json(self) -> str:
        """The averages, as JSON text."""
    def table(self, name: str, /) -> ArrowTable:
        """The table called `name`.

        Raises:
            KeyError: There is no such table.
        """

@final
class Session:
    """A conversation with a page: requests and answers as JSON text, results as columns.

    The crate `longfat-session` tells what they look like. A call out of its turn does nothing.
    """

    def __new__(cls) -> Session: ...
    def read(
        self,
        request: bytes,
        /,
        *,
        folder: str | PathLike[str] | None = None,
        tables: Callable[[str], str] | None = None,
    ) -> str:
        """Reads a scenario, and forgets the one before it with its run. The answer tells what is wrong.

        Args:
            request: `{"text": …}` in JSON, and if need be `origin`, `overrides`, `seed`, `files`.
            folder: Where traces and lists of flows are that it names; without one it can name none.
            tables: Makes text of a Parquet file, given its path.
        """
    def resolved(self) -> str:
        """The scenario as it was understood, as a file; empty if there is none."""
    def start(self) -> None:
        """Begins a run of the scenario that was read."""
    def advance(self, events: int) -> bool:
        """Handles up to so many events, and tells whether more remain."""
    def progress(self) -> float:
        """The share of the simulated time that has elapsed, 0 to 1."""
    def series(self) -> bytes:
        """The time series so far."""
    def finish(self) -> bytes:
        """The summary and all tables, at the end."""
    @staticmethod
    def catalogue() -> str:
        """What a scenario can choose from, as JSON text."""

class TraceError(ValueError):
    """Flows cannot be traced as asked. The message says what was asked, what there is, and what to do."""

@final
class Trace:
    """Files of what the senders of one run do and hear."""

    def __new__(
        cls,
        scenario: Scenario,
        *,
        pcap: str | PathLike[str] | None = None,
        qlog: str | PathLike[str] | None = None,
        at: Sequence[str] = ...,
        packets: int,
    ) -> Trace:
        """Prepares the files.

        Args:
            scenario: What will be simulated.
            pcap: The file of packets.
            qlog: The folder of qlog files, which exists.
            at: Flows and groups of flows; with none, all are traced.
            packets: How many packets are written at most.

        Raises:
            TraceError: There is no such flow, or its packets cannot be written so.
            OSError: The file of packets cannot be written.
        """
    @property
    def packets(self) -> int:
        """How many packets were written: data that left, and acknowledgments that arrived."""
    @property
    def cut_s(self) -> float | None:
        """When the files end, in seconds, if they do before the run."""
    @property
    def ambiguous(self) -> list[str]:
        """Connections that had more in flight than the sequence numbers of TCP can tell."""

def simulate(
    scenario: Scenario,
    *,
    record: bool = True,
    progress: Callable[[float], object] | None = None,
    transfers: Callable[[ArrowTable], object] | None = None,
    cancellation: Cancellation | None = None,
    trace: Trace | None = None,
) -> Recording:
    """Simulates a scenario to its end, without the interpreter's lock.

    Args:
        scenario: What to simulate.
        record: Keep the time series; nothing else changes.
        progress: Called every few hundredths of a second with the share of simulated time that has passed.
        transfers: Called with finished transfers, a hundred thousand or so at a time; the table `transfers` of
            the recording then holds only the rest.
        cancellation: Stops the simulation from another thread.
        trace: Files of what senders do and hear, written meanwhile.

    Raises:
        Cancelled: `cancellation` was raised.
        CodeError: A controller or queue that was brought along failed.
        EngineError: A bug of longfat.
        OSError: A file of `trace` cannot be written.
        KeyboardInterrupt: Ctrl-C, on the main thread.
    """

@final
class FluidPath:
    """A solution in time."""

    def to_json(self) -> str:
        """The instants, flows and links as JSON text."""
    def table(self, name: str, /) -> ArrowTable:
        """The table called `name`.

        Raises:
            ValueError: There is no such table.
        """

def fluid_price(scenario: Scenario, price: str, /) -> tuple[list[str], list[tuple[str, str]]]:
    """What links charge: `price`, or `xcp` or `vcp` where their routers say how rates change.

    Raises:
        FluidError: The fluid model cannot solve the scenario.
    """

def fluid_memory(scenario: Scenario) -> tuple[float, float]:
    """Roughly the memory of the fluid model in bytes: to be solved in time, and for its equilibrium."""

def fluid_solve(
    scenario: Scenario,
    *,
    model: str,
    price: str,
    delay: bool,
    progress: Callable[[float], object] | None = None,
) -> FluidPath:
    """Solves the equations of a scenario in time, without the interpreter's lock.

    Args:
        scenario: What to solve.
        model: `"mean-field"`, `"hybrid"` or `"synchronised"`.
        price: `"avq"`, `"overflow"`, `"red"` or `"loss"`.
        delay: With feedback delay.
        progress: Called every few hundredths of a second with the share of the time that has been solved for.

    Raises:
        FluidError: It cannot be solved as asked.
        EngineError: A bug of longfat.
        KeyboardInterrupt: Ctrl-C, on the main thread.
    """

def fluid_rest(
    scenario: Scenario,
    *,
    price: str,
    delay: bool,
    judge: bool,
    progress: Callable[[float], object] | None = None,
) -> str:
    """Finds where a scenario settles, and on request judges its stability; returns JSON text.

    Args:
        scenario: What to solve.
        price: As for `fluid_solve`.
        delay: With feedback delay.
        judge: Judge the stability.
        progress: Called every few hundredths of a second with how many steps of Newton's method have been tried
            and frequencies examined. How many there will be is not known.

    Raises:
        FluidError: There is no equilibrium, or it was not found.
        EngineError: A bug of longfat.
        KeyboardInterrupt: Ctrl-C, on the main thread.
    """

def quantity(kind: Literal["time", "rate", "size"], text: str, /, usual: str | None = None) -> int:
    """Reads a quantity with its unit: a time in picoseconds, a rate in bit/s, a size in bytes.

    A number without one probably has the `usual` unit.

    Raises:
        ValueError: With the reason and, where one is near, what was probably meant.
    """

def controllers() -> list[dict[str, Any]]:
    """Every controller: name, title, source, family, needs, queue and parameters;
    family by family.

    `needs` is what it cannot do without, with its defaults: some of `ecn`, `accurate_ecn`, `ect1`, `anti_ecn`,
    `pacing`, `priorities`, and `access`, a link of its host whose rate it knows. `queue` is what its routers
    must have, or `None`. Of code from outside neither is known.
    """

def queues() -> list[dict[str, Any]]:
    """Every queue discipline: name, title, source and parameters."""

def profiles() -> list[dict[str, Any]]:
    """Every named set of flow defaults: name, title, source, the keys, and those with a controller."""

def scenario_keys() -> list[dict[str, Any]]:
    """Every table of a scenario file: its name, its kind, whether it has exactly one of its keys, and these."""

def known_units() -> list[tuple[str, list[str]]]:
    """What can be written with a unit, and every unit that is understood."""

def features() -> list[tuple[str, str, float, float, bool]]:
    """What agents can observe: name, description, least, most, and whether it means the same on every path.

    The first are without a scale; all values are moved to their bounds.
    """

@final
class Environments:
    """Any number of environments that are stepped together, each with episodes of its own."""

    def __new__(
        cls,
        count: int,
        groups: Sequence[str],
        example: Scenario,
        *,
        interval: float,
        observe: Sequence[str],
        history: int,
        sets: str,
        scale: str,
        octaves: float,
        bounds: tuple[float, float],
        weights: tuple[float, float, float],
        fluid: str | None = None,
        threads: int = 1,
    ) -> Environments:
        """Environments with these settings, for scenarios with as many agents as this example.

        Raises:
            GymError: A setting is wrong, or the example has no such flows.
        """
    @property
    def agents(self) -> int:
        """How many agents each environment has."""
    @staticmethod
    def information_names() -> list[str]:
        """The names of what `information` has for each agent."""
    def prepare(self, index: int, scenario: Scenario) -> None:
        """Has an environment begin an episode of `scenario` at the next step, whatever it does now.

        Raises:
            GymError: Agents have no flows there, or there are more or fewer of them.
        """
    def begin(self) -> None:
        """Begins the episodes that were prepared, and leaves all other environments as they are.

        Raises:
            GymError: The fluid model cannot solve one.
        """
    def step(self, actions: bytes) -> None:
        """Takes a step in every environment with an action for each agent, as 64-bit numbers.

        Raises:
            GymError: There are more or fewer actions, one is no number, or an episode is over.
        """
    def observations(self) -> bytes:
        """What every agent observes, as 32-bit numbers: environments, agents, intervals, features."""
    def rewards(self) -> bytes:
        """The reward of every agent, as 64-bit numbers."""
    def terminated(self) -> bytes:
        """Whether the episode of every agent has terminated, as bytes."""
    def truncated(self) -> bytes:
        """Whether the episode of every agent has been truncated, as bytes."""
    def information(self) -> bytes:
        """What else is known of every agent, as 64-bit numbers: environments, agents, `information_names`."""

def policy_controller(text: str, /) -> Own:
    """The handle of a trained policy, from the text of its file.

    Raises:
        GymError: It is not the text of a policy.
    """

@final
class Policy:
    """A trained policy, read from the text of its file."""

    def __new__(cls, text: str) -> Policy:
        """Reads it.

        Raises:
            GymError: It is not the text of a policy.
        """
    @property
    def name(self) -> str:
        """What it is called."""
    def decide(self, observed: bytes) -> bytes:
        """Its decisions, as 64-bit numbers, for any number of observations, as 32-bit numbers.

        Raises:
            GymError: An observation has not as many numbers as it observes.
        """
