"""The compiled part of longfat: scenarios, simulations, tables, and the registries."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict, final, type_check_only

__all__ = [
    "LONGEST_FILE",
    "LONGEST_TEXT",
    "ArrowTable",
    "Cancellation",
    "Cancelled",
    "CodeError",
    "EngineError",
    "FluidError",
    "FluidPath",
    "Own",
    "Recording",
    "Scenario",
    "ScenarioError",
    "__version__",
    "compiled",
    "controllers",
    "fluid_memory",
    "fluid_rest",
    "fluid_solve",
    "load_library",
    "profiles",
    "quantity",
    "queues",
    "simulate",
]

__version__: str

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

def simulate(
    scenario: Scenario,
    *,
    record: bool = True,
    progress: Callable[[float], object] | None = None,
    transfers: Callable[[ArrowTable], object] | None = None,
    cancellation: Cancellation | None = None,
) -> Recording:
    """Simulates a scenario to its end, without the interpreter's lock.

    Args:
        scenario: What to simulate.
        record: Keep the time series; nothing else changes.
        progress: Called every few hundredths of a second with the share of simulated time that has passed.
        transfers: Called with finished transfers, a hundred thousand or so at a time; the table `transfers` of
            the recording then holds only the rest.
        cancellation: Stops the simulation from another thread.

    Raises:
        Cancelled: `cancellation` was raised.
        CodeError: A controller or queue that was brought along failed.
        EngineError: A bug of longfat.
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

def quantity(kind: Literal["time", "rate", "size"], text: str, /) -> int:
    """Reads a quantity with its unit: a time in picoseconds, a rate in bit/s, a size in bytes.

    Raises:
        ValueError: With the reason and, where one is near, what was probably meant.
    """

def controllers() -> list[dict[str, Any]]:
    """Every controller: name, title, source, family and parameters; family by family."""

def queues() -> list[dict[str, Any]]:
    """Every queue discipline: name, title, source and parameters."""

def profiles() -> list[dict[str, Any]]:
    """Every named set of flow defaults: name, title, source, the keys, and those with a controller."""

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
