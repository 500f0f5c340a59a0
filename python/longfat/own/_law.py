"""Window laws in Python: two formulas, compiled."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from longfat.own import _abi
from longfat.own._compiled import Compiled, Description, bits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from longfat.own._compile import Compiler

_HALF = 0.5


def _half(at: Any) -> float:  # noqa: ANN401, ARG001 - compiled
    return _HALF


class Law(Compiled):
    """A window law, as `longfat.law` makes it.

    The decorated function is the gain; the others are added to it: `@gentle.give_up`, `@gentle.slow_start`,
    `@gentle.pacing`. `longfat.run(..., controllers=[gentle])` takes it, and so does `longfat.fluid`.
    """

    kind, what = "law", "window law"

    def __init__(
        self,
        gain: Callable[..., float],
        described: Description,
        *,
        needs: Iterable[str],
        per_mark: bool,
        heeds_delay: bool,
    ) -> None:
        """Use `longfat.law`."""
        numbers = {
            "needs": bits("need", needs, _abi.NEEDS),
            "manner": _abi.PER_MARK * per_mark + _abi.HEEDS_DELAY * heeds_delay,
        }
        super().__init__(described, gain, {"gain": gain, "give_up": _half}, None, numbers)

    def __call__(self, *arguments: Any) -> float:  # noqa: ANN401 - what the function takes
        """The gain, in plain Python."""
        return float(self._functions["gain"](*arguments))

    def _add(self, key: str, function: Callable[..., Any]) -> Callable[..., Any]:
        self._functions[key] = function
        self._own = None
        return function

    def give_up(self, function: Callable[..., float]) -> Callable[..., float]:
        """Decorates the share of the window that a loss or a mark takes, from 0 to 1.

        Without it, half. A time-out takes the window to one segment, whatever the law.

        Args:
            function: `(at, p, cause)`, the cause one of `longfat.own.Cause`; the last ones may be left out.
        """
        return self._add("give_up", function)

    def slow_start(self, function: Callable[..., float]) -> Callable[..., float]:
        """Decorates the segments that an acknowledged segment adds in slow start; without it, 1.

        Args:
            function: `(at, p)`.
        """
        return self._add("slow_start", function)

    def pacing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Decorates how the window is sent, asked once per round trip and at congestion; without it, unpaced.

        Args:
            function: `(at, p)`; returns one of `longfat.own.Pacing` and its number.
        """
        return self._add("pacing", function)

    def _fill(self, made: Compiler) -> None:
        functions, at = self._functions, ("operating", "p")
        order = ("operating", "p", "cause")
        made.function("gain", functions["gain"], at, "number")
        made.function("give_up", functions["give_up"], ("operating", "cause", "p"), "number", order)
        made.function("slow_start", functions.get("slow_start"), at, "number")
        made.function("pacing", functions.get("pacing"), at, "pacing")


def law(
    name: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    title: str = "",
    source: str = "",
    needs: Iterable[str] = (),
    per_mark: bool = False,
    heeds_delay: bool = False,
) -> Callable[[Callable[..., float]], Law]:
    """Makes a window law of a function: the segments that one acknowledged segment adds.

    Example::

        @longfat.law(name="gentle", parameters={"a": 1.0, "b": 0.3})
        def gentle(at, p):
            return p.a / at.window

        @gentle.give_up
        def give_up(at, p, cause):
            return p.b * min(1.0, at.window / 1000)

    It is compiled when it is first used (Numba: `pip install "longfat[jit]"`), and then runs at the speed of
    longfat's own laws, in all threads. It may use numbers, `math`, and functions compiled with `numba.njit`.
    longfat adds slow start, the bounds of the window, time-outs and recovery. The gain must be finite and not
    negative.

    `at` is where the flow stands: `window` and `epoch_window` (after the last decrease; NaN when lost), in
    segments; `rtt` (smoothed), `base_rtt` (smallest) and `since_event` (since the last congestion; NaN if
    none), in seconds; `spare`, the AntiECN bit; `phase`, one of `longfat.own.Phase`.

    Args:
        name: Its name in scenario files.
        parameters: Its parameters, `p` in the functions: defaults, `(default, least, most)`, or
            `longfat.own.Parameter`. Texts are times, which arrive in seconds.
        title: What it is, in one line.
        source: Where it was published.
        needs: What a flow must have: `ecn`, `accurate_ecn`, `ect1`, `spare`, `pacing`.
        per_mark: It gives up at each marked segment, not once per window of data.
        heeds_delay: Its gain may be negative, because it answers delay. The window stays at two segments
            or more.

    Returns:
        A decorator, which makes a `Law`.
    """
    described = Description(name, parameters, title, source)
    return partial(
        Law, described=described, needs=needs, per_mark=per_mark, heeds_delay=heeds_delay
    )
