"""Queue policies, compiled from a function or a class."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from longfat.own import _abi
from longfat.own._compile import Compiler, code_digest
from longfat.own._compiled import Compiled, bits
from longfat.own._controller import _Named, observe_text, observed_variables
from longfat.own._state import methods, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from longfat._longfat import Own

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

    what = "queue"

    def __init__(
        self,
        written: type | Callable[..., int],
        *,
        name: str,
        parameters: Mapping[str, Any],
        title: str,
        source: str,
        wants: Iterable[str],
    ) -> None:
        """Use `longfat.queue`."""
        super().__init__(name, parameters, title, source)
        told = f"queue `{name}`"
        self._name, self._module = written.__qualname__, written.__module__
        self._plain = not inspect.isclass(written)
        if inspect.isclass(written):
            self._state = variables(written, told)
            self._methods: dict[str, Any] = methods(written, _METHODS, told)
        else:
            self._state, self._methods = {}, {"on_arrival": written}
        if "on_arrival" not in self._methods:
            message = f"the {told} has no method `on_arrival`"
            raise TypeError(message)
        if ("period" in self._methods) != ("on_ticks" in self._methods):
            message = f"the {told} needs both `period` and `on_ticks`, or neither"
            raise TypeError(message)
        self._wants = bits("wish", wants, {"chance": _abi.WANTS["chance"]})

    def _origin(self) -> Any:  # noqa: ANN401
        return _Named(self._module, self._name)

    def _compile(self) -> Own:
        made = Compiler("queue", self.name, self.parameters, self._state)
        made.begin(self._methods.get("begin"), _METHODS["begin"])
        for key, arguments in _METHODS.items():
            if key == "begin":
                continue
            order = arguments[1:] if self._plain else arguments
            returns = _RETURNS.get(key, "nothing")
            made.function(key, self._methods.get(key), arguments, returns, order)
        observed = observed_variables(self._state)
        if observed:
            made.text("observe", observe_text(observed), ("state", "values", "p"), "nothing")
        told = {**self._told(), "wants": self._wants, "state": list(self._state.items())}
        digest = code_digest("queue", self.name, {**told, **self._methods})
        return made.finish(
            digest,
            title=self.title,
            source=self.source,
            observed=observed,
            numbers={"wants": self._wants, "state_size": made.state_size},
        )


def queue(
    name: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    title: str = "",
    source: str = "",
    wants: Iterable[str] = (),
) -> Callable[[Any], CompiledQueue]:
    """Makes a compiled queue policy of a function, or of a class with a memory.

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

    def decorate(written: Any) -> CompiledQueue:  # noqa: ANN401 - a function or a class
        return CompiledQueue(
            written,
            name=name,
            parameters=parameters or {},
            title=title,
            source=source,
            wants=wants,
        )

    return decorate
