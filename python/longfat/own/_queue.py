"""Queue policies, compiled from a function or a class."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from longfat.own import _abi
from longfat.own._compiled import Compiled, Description, bits
from longfat.own._state import methods, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from longfat.own._compile import Compiler

_METHODS = {
    "begin": ("state", "site", "p"),
    "on_arrival": ("state", "arrival", "p"),
    "on_overflow": ("state", "arrival", "p"),
    "on_departure": ("state", "now", "remaining", "p"),
    "period": ("state", "p"),
    "on_ticks": ("state", "count", "waiting_packets", "waiting_bytes", "p"),
}
_RETURNS = {"on_arrival": "verdict", "period": "number"}


class CompiledQueue(Compiled):
    """A queue policy, as `longfat.queue` makes it: to be given to `longfat.run(..., queues=[...])`."""

    kind = what = "queue"

    def __init__(
        self, written: type | Callable[..., int], described: Description, *, wants: Iterable[str]
    ) -> None:
        """Use `longfat.queue`."""
        told = f"queue `{described.name}`"
        self._plain = not inspect.isclass(written)
        state: dict[str, float | int | bool] = {}
        functions: dict[str, Any] = {"on_arrival": written}
        if inspect.isclass(written):
            state, functions = variables(written, told), methods(written, _METHODS, told)
        if "on_arrival" not in functions:
            message = f"the {told} has no method `on_arrival`"
            raise TypeError(message)
        if ("period" in functions) != ("on_ticks" in functions):
            message = f"the {told} needs both `period` and `on_ticks`, or neither"
            raise TypeError(message)
        numbers = {"wants": bits("wish", wants, {"chance": _abi.WANTS["chance"]})}
        super().__init__(described, written, functions, state, numbers)

    def _fill(self, made: Compiler) -> None:
        made.begin(self._functions.get("begin"), _METHODS["begin"])
        for key, arguments in _METHODS.items():
            if key == "begin":
                continue
            order = arguments[1:] if self._plain else arguments
            returns = _RETURNS.get(key, "nothing")
            made.function(key, self._functions.get(key), arguments, returns, order)


def queue(
    name: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    title: str = "",
    source: str = "",
    wants: Iterable[str] = (),
) -> Callable[[Any], CompiledQueue]:
    """Makes a compiled queue policy of a function, or of a class with a memory.

    Example::

        @longfat.queue(name="step", parameters={"threshold": "0.2 bdp"})
        def step(arrival, p):
            above = arrival.waiting_packets > p.threshold
            return longfat.own.Verdict.MARK if above else longfat.own.Verdict.KEEP

    A policy decides on each packet that arrives at a first-in, first-out queue with space for it: whether it is
    kept, marked or dropped (`longfat.own.Verdict`). It is compiled when it is first used (Numba: `pip install
    "longfat[jit]"`), and then runs without the interpreter, in all threads.

    A class has variables, numbers with first values, and these methods, of which `on_arrival` must be there;
    arguments may be left out from the end:

        begin(self, site, p)                     where it stands: site.rate, site.capacity, …
        on_arrival(self, arrival, p)             a Verdict
        on_overflow(self, arrival, p)            a packet found the queue full
        on_departure(self, now, remaining, p)    a packet has left, and so many remain
        period(self, p)                          how often it looks at the queue by the clock, in seconds
        on_ticks(self, count, waiting_packets, waiting_bytes, p)

    The fields of `arrival` are those of `longfat.h`: `now`, `bytes`, `ecn`, `waiting_packets`, `waiting_bytes`,
    `idle_since`, `chance`.

    Args:
        name: Its name in scenario files.
        parameters: Its parameters, as for `longfat.law`. Texts are times, which arrive in seconds, or lengths
            such as `"0.2 bdp"`, which arrive in the unit in which the queue counts (`site.in_bytes`).
        title: What it is, in one line.
        source: Where it was published.
        wants: `chance`: a random number in [0, 1) with each arrival.

    Returns:
        A decorator, which makes a `CompiledQueue`.
    """
    return partial(
        CompiledQueue, described=Description(name, parameters, title, source), wants=wants
    )
