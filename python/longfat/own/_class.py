"""Controllers that are classes in plain Python."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar

from longfat._fork import Turns
from longfat._longfat import (
    Adjustment,
    Congestion,
    ControllerBase,
    Feedback,
    Lost,
    Own,
    Path,
    RateSample,
    Sent,
    Start,
    class_controller,
)
from longfat.foreign import shown
from longfat.own._compile import Parameter
from longfat.own._digest import SENT, digest_of, is_ours, members

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "Adjustment",
    "Congestion",
    "Controller",
    "Feedback",
    "Lost",
    "Path",
    "RateSample",
    "Sent",
    "Start",
]

_LARGEST = 1e300
_LARGEST_COUNT = 1e15
_BOUNDS = 3
_TOLD = (
    "on_feedback",
    "on_congestion",
    "on_timer",
    "on_sent",
    "on_lost",
    "on_recovered",
    "on_restart",
    "on_adjustment",
)
"""The methods that tell a class what has happened."""


class Controller(ControllerBase):
    """A congestion controller as a class: derive from it, and hand the class over.

        class Halving(longfat.Controller):
            def on_feedback(self, feedback, path):
                for _ in range(self.slow_start(feedback)):
                    self.window += 1 / self.window

            def on_congestion(self, event, path):
                if event.cause == "timeout":
                    self.time_out(event)
                else:
                    self.threshold = self.window = max(2.0, self.window / 2)

        longfat.run("scenarios/first.toml", controllers=[Halving], set={"flow.reno.control": "halving"})

    There is an instance for each flow. The methods `on_...` are told what happened, and set the attributes
    that say how much may be sent, and how fast; they return nothing. Times are in seconds, windows in segments,
    rates in segments per second. The arguments are filled in anew for the next call: keep numbers, not the
    objects.

    Attributes that a flow has:

    - `window`: How much may be in flight, 1 or more; at first that of the scenario.
    - `threshold`: The window below which slow start goes on; `None`: as high as needed. At first that of the
      scenario.
    - `pacing`: How fast the window may leave: `None` at once, a number for a rate, `("spread", 1.25)` for so
      many windows per round trip, `("blocks", 4)` for that many equal parts, `("loose_blocks", 4)` for such
      parts that an acknowledgment may let go earlier.
    - `timer`: When `on_timer` is to be called, once; `None`: never.
    - `in_slow_start`: Is the window below the threshold?
    - `start`: How the flow began (`Start`).
    - `p`: The parameters that the scenario gives, as attributes.

    A class may also have `window`, `threshold`, `pacing` or `timer` as a property or a method: then that is
    asked after each call.

    Attributes that a class may have:

    - `name`: What scenarios call it; otherwise the name of the class, `MyRule` as `my-rule`.
    - `parameters`: What scenarios may set, with defaults: a number, `(number, least, most)`, a whole number, a
      truth value, a time such as `"25 ms"` (seconds in `p`), a tuple of words, the default first, or a
      `longfat.own.Parameter`, which also says what it means.
    - `source`: Where it was published.
    - `wants`: What costs something on every packet, and is there only on request: `delivery_rate`,
      `one_way_delay`, `spurious`, `own_recovery`.
    - `needs`: What it cannot do without: `ecn`, `accurate_ecn`, `ect1`, `spare`, `pacing`, `access`. A flow
      that lacks any of it is refused.
    - `reaction`: `per_window` for one call of `on_congestion` per window of data, `per_mark`, or `losses_apart`
      for one for its marks and one for its losses: for controllers that answer marks by their share.
    - `promises`: What `longfat.check` holds it to beyond what holds for all: `any_batching`, `additive`,
      `doubles_at_most`, `forgetful`.

    `on_feedback` and `on_congestion` must be there. The others are called if they are; any other `on_...`
    method is refused:

    - `__init__(self, start, p)`: A flow begins; `self.start` and `self.p` are there already.
    - `on_timer(self, now, path)`: The time of `timer` has come.
    - `on_sent(self, sent, path)`, `on_lost(self, lost, path)`: A segment has left, or has been found lost.
    - `on_recovered(self, now, path)`: All losses are repaired.
    - `on_restart(self, now, path)`: Data leaves again after the application had nothing to send.
    - `on_adjustment(self, adjustment, path)`: The host asks for another window; otherwise it gets it.
    - `observe(self)`: Returns a dictionary of names and numbers, which become columns of the time series where
      the scenario says `observe = true`.

    What a method raises ends the run with a `CodeError` that names controller, flow and simulated time, and has
    the exception as its `__cause__`, with its traceback.

    Numbers that change at random must follow from `self.start.chance`, and nothing may outlive a run in the
    class or its module: otherwise runs could not be repeated.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    parameters: ClassVar[Mapping[str, Any]] = {}
    wants: ClassVar[Sequence[str] | str]
    needs: ClassVar[Sequence[str] | str]
    promises: ClassVar[Sequence[str] | str]
    reaction: ClassVar[str]

    @classmethod
    def __longfat__(cls) -> Own:
        """A handle of the class, for `controllers=`.

        Raises:
            TypeError: It lacks a method, or says something about itself that has the wrong type.
            ValueError: It says something about itself that makes no sense.
        """
        if cls is Controller:
            message = "longfat.Controller is what controllers derive from, and none itself"
            raise TypeError(message)
        name = getattr(cls, "name", None) or kebab(cls.__name__)
        if not isinstance(name, str):
            message = f"the name of {cls.__name__} is {name!r}, which is no text"
            raise TypeError(message)
        _check_beginning(cls)
        _check_methods(cls, name)
        key = (cls, name, digest(cls))
        with _making.one():
            if key not in _handles:
                given = [_parameter(name, key, each) for key, each in _parameters(cls).items()]
                _handles[key] = class_controller(cls, name, given, key[2])
            return _handles[key]


_handles: dict[tuple[type, str, str], Own] = {}
_making = Turns()


def _check_beginning(cls: type) -> None:
    """Raises `TypeError` if the class cannot be made as flows make it; otherwise each of them would fail."""
    begin = inspect.signature(cls.__init__)  # type: ignore[misc]
    try:
        begin.bind(None, None, None)
    except TypeError as error:
        message = (
            f"`{cls.__name__}.__init__{begin}` is called with how a flow begins and with the parameters, as "
            f"`__init__(self, start, p)` would be: {error}"
        )
        raise TypeError(message) from None


def _check_methods(cls: type, name: str) -> None:
    """Raises `TypeError` if the class has a method `on_...` that nobody calls: most likely it is misspelt."""
    written = (method for each in cls.__mro__ if is_ours(each) for method in vars(each))
    for method in written:
        if method.startswith("on_") and method not in _TOLD and callable(getattr(cls, method)):
            near = get_close_matches(method, _TOLD, n=1)
            meant = f"did you mean `{near[0]}`?" if near else f"it may have {', '.join(_TOLD)}."
            message = (
                f"nothing calls `{shown(method)}` of the controller `{shown(name)}`: {meant} What only the "
                f"class itself calls has another name, such as `_{shown(method)}`"
            )
            raise TypeError(message)


def _parameters(cls: type[Controller]) -> dict[str, Any]:
    """The parameters of a class by name.

    Raises:
        TypeError: They are no dictionary, or something in it has a name that is no text.
    """
    told: object = cls.parameters
    if not isinstance(told, Mapping):
        message = (
            f"`parameters` of {cls.__name__} is {shown(repr(told))}: it is a dictionary with defaults by "
            'name, such as {"gain": 1.0}'
        )
        raise TypeError(message)
    for key in told:
        if not isinstance(key, str):
            message = (
                f"{shown(repr(key))} in `parameters` of {cls.__name__} is no name for a parameter: names are "
                'text, as in {"gain": 1.0}'
            )
            raise TypeError(message)
    return dict(told)


def kebab(name: str) -> str:
    """`MyRule` as scenarios write it: `my-rule`."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name)
    return parts.replace("_", "-").strip("-").lower()


def _parameter(controller: str, name: str, given: object) -> dict[str, Any]:
    """A parameter as the engine reads it."""
    if not isinstance(given, Parameter):
        return _undescribed(controller, name, given)
    about = {"about": given.about}
    if given.default is None or isinstance(given.default, (bool, str)):
        return _undescribed(controller, name, given.default) | about
    kind, lowest, highest = "number", -_LARGEST, _LARGEST
    if given.whole:
        kind, lowest, highest = "count", 0.0, _LARGEST_COUNT
    least = lowest if given.least is None else given.least
    most = highest if given.most is None else given.most
    made = _undescribed(controller, name, given.default)
    return made | about | {"kind": kind, "default": given.default, "bounds": (least, most)}


def _undescribed(controller: str, name: str, given: object) -> dict[str, Any]:
    """A parameter that says what it is by its default alone."""
    made: dict[str, Any] = {
        "name": name,
        "kind": "number",
        "default": given,
        "bounds": (-_LARGEST, _LARGEST),
        "words": [],
        "about": "",
    }
    if isinstance(given, bool):
        return made | {"kind": "flag"}
    if isinstance(given, int) and given >= 0:
        return made | {"kind": "count", "bounds": (0.0, _LARGEST_COUNT)}
    if isinstance(given, (int, float)):
        return made | {"default": float(given)}
    if isinstance(given, str):
        return made | {"kind": "time"}
    if isinstance(given, tuple) and given:
        if all(isinstance(word, str) for word in given):
            return made | {"kind": "word", "default": given[0], "words": list(given)}
        if len(given) == _BOUNDS and all(isinstance(number, (int, float)) for number in given):
            default, least, most = map(float, given)
            return made | {"default": default, "bounds": (least, most)}
    message = (
        f"the parameter `{name}` of the controller `{controller}` is {given!r}: a number, "
        '(number, least, most), a truth value, a time such as "25 ms", a tuple of words, or a '
        "longfat.own.Parameter with a default is needed"
    )
    raise TypeError(message)


def digest(cls: type) -> str:
    """A digest of the code of a class: another one for a class that may do something else.

    It covers the files in which the class and its bases are written, whole, so that the functions they use are
    covered as well, what the class holds now, and what its methods read: functions, classes and objects, which
    in a notebook are in no file. Of what these files import, what came with Python or was installed is not
    covered. A class that was sent from another process keeps the digest that it had there.
    """
    if SENT in vars(cls):
        return str(vars(cls)[SENT])
    mine = [base for base in cls.__mro__ if is_ours(base)]
    told = [(base.__qualname__, _file(base), members(base)) for base in mine]
    return digest_of(sys.version, told, objects=True)


_sending = Turns()
"""One at a time: others would find the digests of each other."""


@contextmanager
def labelled(classes: Sequence[object]) -> Iterator[None]:
    """While the block sends classes to another process, they carry their digests, which need their files."""
    with _sending.one():
        mine = {
            each: digest(each)
            for each in classes
            if isinstance(each, type) and issubclass(each, Controller) and SENT not in vars(each)
        }
        for each, told in mine.items():
            setattr(each, SENT, told)
        try:
            yield
        finally:
            for each in mine:
                delattr(each, SENT)


def _file(cls: type) -> bytes:
    try:
        path = inspect.getsourcefile(cls)
        if path is None:
            return b""
        with open(path, "rb") as file:  # noqa: PTH123 - what it names may be no path
            return file.read()
    except (OSError, TypeError):
        return b""
