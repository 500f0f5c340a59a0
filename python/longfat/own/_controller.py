"""Controllers with a memory of their own, compiled from a class."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from longfat.own import _abi
from longfat.own._compiled import Compiled, Description, bits
from longfat.own._state import methods, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from longfat.own._compile import Compiler

_EVENTS = {
    "begin": ("state", "start", "p"),
    "on_feedback": ("state", "feedback", "path", "p"),
    "on_congestion": ("state", "congestion", "path", "p"),
    "on_adjustment": ("state", "adjustment", "path", "p"),
    "on_recovered": ("state", "now", "path", "p"),
    "on_restart": ("state", "now", "path", "p"),
    "on_lost": ("state", "lost", "path", "p"),
    "on_sent": ("state", "sent", "path", "p"),
    "on_timer": ("state", "now", "path", "p"),
}
"""What is called, with what it is given in C, which is what a method is given."""

_ASKED = {"pacing": ("state", "path", "p"), "timer": ("state", "p")}

_WANTS = ("pacing", "delivery_rate", "own_recovery", "spurious", "one_way_delay")

_SAME = """\
def wrapped(state, p):
    state_ = carray(state, 1)[0]
    failed = state_.longfat_failed
    return raised[failed] if failed else state_.window
"""
_THRESHOLD = """\
def wrapped(state, p):
    return carray(state, 1)[0].threshold
"""


class CompiledController(Compiled):
    """A controller, as `longfat.controller` makes it: to be given to `longfat.run(..., controllers=[...])`."""

    kind = what = "controller"
    unobserved = ("window", "threshold")

    def __init__(
        self,
        owner: type,
        described: Description,
        *,
        needs: Iterable[str],
        wants: Iterable[str],
        per_mark: bool,
        losses_apart: bool,
    ) -> None:
        """Use `longfat.controller`."""
        told = f"controller `{described.name}`"
        state = variables(owner, told)
        written = methods(owner, [*_EVENTS, *_ASKED], told)
        if not isinstance(state.get("window"), float):
            message = f"the {told} has no variable `window`, what may be in flight: write `window: float = 1.0`"
            raise TypeError(message)
        for key in ("on_feedback", "on_congestion"):
            if key not in written:
                message = f"the {told} has no method `{key}`"
                raise TypeError(message)
        wished = bits("wish", wants, {key: _abi.WANTS[key] for key in _WANTS})
        for key, wish in (("on_lost", "losses"), ("on_sent", "departures"), ("timer", "timer")):
            wished |= _abi.WANTS[wish] * (key in written)
        if ("timer" in written) != ("on_timer" in written):
            message = f"the {told} needs both `timer` and `on_timer`, or neither"
            raise TypeError(message)
        numbers = {
            "needs": bits("need", needs, _abi.NEEDS),
            "wants": wished,
            "manner": _abi.PER_MARK * per_mark + _abi.LOSSES_APART * losses_apart,
        }
        super().__init__(described, owner, written, state, numbers)

    def _fill(self, made: Compiler) -> None:
        written = self._functions
        made.begin(written.get("begin"), _EVENTS["begin"], "state_.window = start_.window")
        for key, arguments in _EVENTS.items():
            if key != "begin":
                made.function(key, written.get(key), arguments, "nothing")
        made.function("pacing", written.get("pacing"), _ASKED["pacing"], "pacing")
        made.function("timer", written.get("timer"), _ASKED["timer"], "number")
        made.text("window", _SAME, ("state", "p"), "number")
        if isinstance(self._state.get("threshold"), float):
            made.text("threshold", _THRESHOLD, ("state", "p"), "number")


def controller(
    name: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    title: str = "",
    source: str = "",
    needs: Iterable[str] = (),
    wants: Iterable[str] = (),
    per_mark: bool = False,
    losses_apart: bool = False,
) -> Callable[[type], CompiledController]:
    """Makes a compiled controller of a class: its variables are its memory, its methods what it is told.

    Example::

        @longfat.controller(name="mine", parameters={"a": 1.0, "b": 0.5})
        class Mine:
            window: float = 1.0
            threshold: float = math.inf

            def on_feedback(self, feedback, path, p):
                if feedback.limited > 1 or feedback.recovery_begins or feedback.marked:
                    return
                slow = self.window < self.threshold
                self.window += feedback.acked * (1.0 if slow else p.a / self.window)

            def on_congestion(self, event, path, p):
                self.threshold = max(2.0, self.window * (1.0 - p.b))
                self.window = 1.0 if event.cause == longfat.own.Cause.TIMEOUT else self.threshold

    It is compiled when it is first used (Numba: `pip install "longfat[jit]"`), and then runs without the
    interpreter, in all threads. Variables are numbers with first values; they are copied with the flow. One
    that begins as a whole number, and is not said to be a `float`, stays whole: to set it to a fraction is
    refused.
    `window`, in segments, must be there: it begins as the initial window of the flow, and is what may be in
    flight. A variable `threshold` is the slow-start threshold for the host. All others without an underscore
    are observed.

    Methods, of which `on_feedback` and `on_congestion` must be there; arguments may be left out from the end:

        begin(self, start, p)                   a flow begins
        on_feedback(self, feedback, path, p)    an acknowledgment brought news
        on_congestion(self, event, path, p)     the path is congested: event.cause
        on_adjustment(self, event, path, p)     the host asks for another window
        on_recovered(self, now, path, p)        what was in flight when recovery began is acknowledged
        on_restart(self, now, path, p)          data leaves again, after nothing was in flight
        on_lost(self, lost, path, p)            a segment was found lost
        on_sent(self, sent, path, p)            a segment has left
        pacing(self, path, p)                   one of longfat.own.Pacing, and its number
        timer(self, p)                          when to call on_timer, in seconds; NaN: not at all
        on_timer(self, now, path, p)

    The fields of what they are given are those of `longfat.h`: times in seconds, windows in segments.

    Args:
        name: Its name in scenario files.
        parameters: Its parameters, as for `longfat.law`.
        title: What it is, in one line.
        source: Where it was published.
        needs: What a flow must have: `ecn`, `accurate_ecn`, `ect1`, `spare`, `pacing`.
        wants: What is worked out on request: `delivery_rate`, `one_way_delay`, `spurious`; `own_recovery`, if
            its window holds while losses are repaired; `pacing`, to be asked for it after every call.
        per_mark: It is told of each marked segment, not once per window of data.
        losses_apart: It is told of a loss also where a mark of its window has been answered: for controllers
            that answer marks by their share. Not with `per_mark`.

    Returns:
        A decorator, which makes a `CompiledController`.
    """
    if per_mark and losses_apart:
        message = f"controller `{name}` has both `per_mark` and `losses_apart`: leave out one"
        raise ValueError(message)
    described = Description(name, parameters, title, source)
    return partial(
        CompiledController,
        described=described,
        needs=needs,
        wants=wants,
        per_mark=per_mark,
        losses_apart=losses_apart,
    )
