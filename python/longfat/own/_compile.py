"""Python functions, compiled with Numba into the functions that `longfat.h` asks for.

A function of the interface gets pointers; what users write gets records, whose fields are those of the header.
Between them is a wrapper, made as text for each function:

    def wrapped(state, feedback, path, p):
        try:
            function(carray(state, 1)[0], carray(feedback, 1)[0])
        except Exception:
            carray(state, 1)[0].longfat_failed = 2

Whatever the user's function raises stays inside: it becomes a number that is not allowed, which ends the run. A
function that answers nothing leaves it to the next one that does, with its own place.
"""

from __future__ import annotations

import ctypes as c
import functools
import inspect
import math
import re
import struct
from typing import TYPE_CHECKING, Any

from longfat._longfat import Own, compiled, quantity
from longfat.foreign import shown
from longfat.own import _abi
from longfat.own._digest import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

FAILED = "longfat_failed"
"""The variable of a state that says which function has raised an exception: its place in `SILENT`, from 1."""

Parameters = "Mapping[str, float | int | bool | str | tuple[float, float, float] | Parameter]"


class Parameter:
    """A parameter of a controller or a queue: its default, its bounds, and what it means.

    Attributes:
        default: A number, a truth value, a time such as `"10 ms"`, or of queues a length such as `"0.2 bdp"`.
            `None`: a scenario must give a number.
        least: The smallest number.
        most: The largest number.
        about: What it means, in one line.
        whole: Whether it is a whole number.
    """

    def __init__(
        self,
        default: float | bool | str | None,  # noqa: FBT001 - a flag is one kind of parameter
        least: float | None = None,
        most: float | None = None,
        about: str = "",
        *,
        whole: bool = False,
    ) -> None:
        """Describes it; bounds that are left out are open."""
        self.default = default
        self.least = least
        self.most = most
        self.about = about
        self.whole = whole

    @property
    def told(self) -> tuple[object, ...]:
        """Everything that it says."""
        return self.default, self.least, self.most, self.about, self.whole


def parameter(given: object) -> Parameter:
    """A parameter as it was given: by its default, by default and bounds, or whole.

    Raises:
        TypeError: It is none of these.
    """
    if isinstance(given, Parameter):
        return given
    if given is None or isinstance(given, (bool, int, float, str)):
        return Parameter(given)
    if isinstance(given, tuple) and len(given) == 3:  # noqa: PLR2004 - the default and two bounds
        return Parameter(*given)
    message = (
        f"{shown(repr(given))} is no parameter: give its default, or a `longfat.own.Parameter`"
    )
    raise TypeError(message)


@functools.cache
def numba() -> ModuleType:
    """The compiler.

    Raises:
        ImportError: It is not installed.
    """
    try:
        import numba
    except ImportError as error:
        message = (
            "controllers and queues are compiled from Python with Numba, which is not installed: "
            'pip install "longfat[jit]"'
        )
        raise ImportError(message) from error
    module: ModuleType = numba
    return module


class Compiler:
    """Compiles the functions of one controller or queue, and fills in its table.

    Attributes:
        kind: `law`, `controller` or `queue`.
        name: Its name in scenario files.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        parameters: Mapping[str, Parameter],
        state: Mapping[str, float | int | bool],
    ) -> None:
        """Begins with parameters, and the variables of its state."""
        types = numba().types
        self.kind, self.name = kind, name
        self._parameters = parameters
        self._state = dict(state)
        numbers = {c.c_double: types.float64, c.c_int64: types.int64, c.c_uint64: types.uint64}
        records = {
            event: [(key, numbers[of]) for key, of in fields]
            for event, fields in _abi.EVENTS.items()
        }
        records["p"] = [(key, types.float64) for key in parameters] or [("nothing", types.float64)]
        records["state"] = [
            (key, types.float64 if isinstance(value, float) else types.int64)
            for key, value in {**state, FAILED: 0}.items()
        ]
        self._records = {key: types.Record.make_c_struct(fields) for key, fields in records.items()}
        self._keep: list[object] = []
        self._functions: dict[str, int] = {}

    @property
    def state_size(self) -> int:
        """Bytes of its state."""
        return int(self._records["state"].size)

    def begin(
        self, function: Callable[..., Any] | None, arguments: Sequence[str], before: str = ""
    ) -> None:
        """Compiles what sets the variables of the state to their first values, and calls `begin`.

        Args:
            function: What the user wrote, if anything.
            arguments: What `begin` is given.
            before: A line to begin with.

        Raises:
            ValueError: As for `function`.
        """
        first = {f"first_{name}": value for name, value in self._state.items()}
        lines = [f"state_.{name} = first_{name}" for name in self._state]
        self.function(
            "begin",
            function or _nothing,
            arguments,
            "nothing",
            space=first,
            before=[*lines, before],
        )

    def function(
        self,
        key: str,
        function: Callable[..., Any] | None,
        arguments: Sequence[str],
        returns: str,
        order: Sequence[str] | None = None,
        *,
        space: Mapping[str, Any] | None = None,
        before: Sequence[str] = (),
    ) -> None:
        """Compiles a function of the table.

        Args:
            key: Its name in the table.
            function: What the user wrote; it may leave out arguments from the end.
            arguments: What it is given in C, in order: names of records, or `now`, `cause` and so on.
            returns: `number`, `verdict`, `pacing` or `nothing`.
            order: The arguments as the user's function has them; by default as in C.
            space: What lines before it read.
            before: These lines.

        Raises:
            ValueError: It cannot be compiled, or returns something else; the message says what and where.
        """
        if function is None:
            return
        call = "pass"
        if function is not _nothing:
            order = arguments if order is None else order
            count = _argument_count(function, self._place(key), order)
            function = self._translated(key, function, order[:count], returns)
            given = [self._given(each) for each in order[:count]]
            call = f"function({', '.join(given)})"
        body = {
            "number": f"return float({call})",
            "verdict": f"return {call}",
            "nothing": call,
            "pacing": f"kind, value = {call}\n"
            "        answer.kind = kind\n        answer.value = float(value)",
        }[returns]
        failure = {
            "number": "return raised[0]",
            "verdict": "return -1",
            "pacing": "answer.kind = -1",
        }.get(returns) or f"state_.{FAILED} = {_abi.SILENT.index(key) + 1}"
        parts = [f"def wrapped({', '.join(self._pointers(arguments, returns))}):"]
        parts += [
            f"    {each}_ = carray({each}, 1)[0]" for each in arguments if each in self._records
        ]
        if returns == "pacing":
            parts.append("    answer = carray(out, 1)[0]")
        parts += [f"    {line}" for line in before if line]
        if returns == "verdict":
            parts += [
                f"    if state_.{FAILED}:",
                f"        return {_abi.RAISED} + state_.{FAILED}",
            ]
        parts += ["    try:", f"        {body}", "    except Exception:", f"        {failure}"]
        self._compile(key, "\n".join(parts), function, arguments, returns, space)

    def _translated(
        self, key: str, function: Callable[..., Any], given: Sequence[str], returns: str
    ) -> Callable[..., Any]:
        """The user's function by itself, so that what is wrong with it is said of it."""
        compiler = numba()
        types = compiler.types
        kinds = tuple(
            self._records.get(each, types.float64 if each == "now" else types.int64)
            for each in given
        )
        try:
            # The wrapper is what calls it: nothing comes from Python, nor from C.
            apart = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
            made = compiler.njit(function, error_model="numpy", **apart)
            made.compile(kinds)
        except KeyError as error:
            known = dict.fromkeys(field for kind in kinds for field in getattr(kind, "fields", ()))
            for ours in (FAILED, "nothing"):
                known.pop(ours, None)
            message = f"{self._place(key)} asks for `{error.args[0]}`: there are {', '.join(known)}"
            raise ValueError(message) from error
        except Exception as error:
            message = f"{self._place(key)} cannot be compiled: {_words(error, function)}"
            raise ValueError(message) from error
        found = made.overloads[kinds].signature.return_type
        if not _fits(found, returns, types):
            told = _TOLD.get(str(found).partition("(")[0], str(found))
            message = f"{self._place(key)} returns {told}: {_WANTED[returns]} is needed"
            raise ValueError(message)
        self._refuse_fractions(key, made.overloads[kinds].type_annotation)
        translated: Callable[..., Any] = made
        return translated

    def _refuse_fractions(self, key: str, typed: Any) -> None:  # noqa: ANN401 - of Numba
        """Refuses to put a number with a fraction into a whole one, which the compiler would cut off.

        Raises:
            ValueError: It does.
        """
        compiler = numba()
        blocks = typed.blocks.values()
        for line in (
            each for block in blocks for each in block.find_insts(compiler.core.ir.SetAttr)
        ):
            if typed.typemap[line.target.name] != self._records["state"]:
                continue
            into = self._records["state"].typeof(line.attr)
            value = typed.typemap[line.value.name]
            whole = isinstance(into, compiler.types.Integer)
            if whole and isinstance(value, compiler.types.Float):
                message = (
                    f"{self._place(key)} sets `{line.attr}`, which begins as a whole number, to one with a "
                    f"fraction: begin it as `{line.attr}: float = 0.0`, or set it to `int(...)`"
                )
                raise ValueError(message)

    def text(self, key: str, text: str, arguments: Sequence[str], returns: str) -> None:
        """Compiles a function of the table that longfat writes itself."""
        self._compile(key, text, None, arguments, returns)

    def _given(self, argument: str) -> str:
        return f"{argument}_" if argument in self._records else argument

    def _pointers(self, arguments: Sequence[str], returns: str) -> list[str]:
        """The parameters in C: the pacing is answered through a pointer before the last ones."""
        if returns != "pacing":
            return list(arguments)
        at = 1  # after `at` or `state`
        return [*arguments[:at], "out", *arguments[at:]]

    def _compile(  # noqa: PLR0917 - of this class
        self,
        key: str,
        text: str,
        function: Callable[..., Any] | None,
        arguments: Sequence[str],
        returns: str,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        compiler = numba()
        types = compiler.types
        plain = {"now": types.float64, "out": types.CPointer(self._records["pacing"])}
        plain["values"] = types.CPointer(types.float64)
        kinds = [
            types.CPointer(self._records[each])
            if each in self._records
            else plain.get(each, types.int64)
            for each in self._pointers(arguments, returns)
        ]
        result = {"number": types.float64, "verdict": types.int64}.get(returns, types.void)
        codes = range(_abi.RAISED, _abi.RAISED + len(_abi.SILENT) + 1)
        raised = struct.unpack(f"<{len(codes)}d", struct.pack(f"<{len(codes)}Q", *codes))
        space: dict[str, Any] = {"carray": compiler.carray, "raised": raised, **(more or {})}
        if function is not None:
            space["function"] = function
        exec(text, space)  # noqa: S102 - it was made above
        made = compiler.cfunc(result(*kinds), error_model="numpy")(space["wrapped"])
        self._keep.append(made)
        self._functions[key] = int(made.address)

    def _place(self, key: str) -> str:
        what = "window law" if self.kind == "law" else self.kind
        return f"`{key}` of the {what} `{shown(self.name)}`"

    def finish(
        self,
        digest: str,
        *,
        title: str,
        source: str,
        numbers: Mapping[str, int],
        observed: Sequence[str] = (),
    ) -> Own:
        """Fills in the table, `numbers` being its other fields, and makes a handle of it.

        Raises:
            ValueError: The table is wrong: a name, for example.
        """
        made = _abi.TABLES[self.kind]()
        made.size = c.sizeof(made)
        made.name = self._text(self.name)
        made.title, made.source = self._text(title), self._text(source)
        table = (_abi.ParameterTable * max(len(self._parameters), 1))()
        for entry, (key, each) in zip(table, self._parameters.items(), strict=False):
            self._fill(entry, key, each)
        made.parameters = c.addressof(table)
        made.parameter_count = len(self._parameters)
        if observed:
            names = (c.c_char_p * len(observed))(*map(self._text, observed))
            made.observed = c.addressof(names)
            made.observed_count = len(observed)
            self._keep.append(names)
        for key, value in {**self._functions, **numbers}.items():
            setattr(made, key, value)
        self._keep += [made, table]
        return compiled(self.kind, c.addressof(made), tuple(self._keep), digest)  # type: ignore[arg-type]

    def _fill(self, entry: _abi.ParameterTable, key: str, given: Parameter) -> None:
        entry.name, entry.about = self._text(key), self._text(given.about)
        kind = "count" if given.whole else "number"
        if isinstance(given.default, bool):
            kind = "flag"
        elif isinstance(given.default, str):
            kind = _kind_of(given.default) if self.kind == "queue" else "time"
            entry.text = self._text(given.default)
        number = math.nan if given.default is None or kind in ("time", "length") else given.default
        entry.value = float(number)
        entry.least = math.nan if given.least is None else given.least
        entry.most = math.nan if given.most is None else given.most
        entry.kind = _abi.KINDS[kind]

    def _text(self, text: str) -> bytes:
        encoded = text.encode()
        self._keep.append(encoded)
        return encoded


def _nothing(state: Any) -> None:  # noqa: ANN401 - compiled
    """What begins where nothing is to be done."""


def _kind_of(text: str) -> str:
    """Whether the default of a parameter of a queue is a time or a length: `"50 ms"` is a time."""
    try:
        quantity("time", text)
    except ValueError:
        return "length"
    return "time"


_CALLED = {"state": "self", "operating": "at", "congestion": "event", "adjustment": "event"}
"""What users call what the header calls otherwise."""

_WANTED = {
    "number": "a number",
    "verdict": "a `Verdict`",
    "pacing": "a `Pacing` and its number, as in `return Pacing.RATE, 1000.0`,",
    "nothing": "nothing",
}
_TOLD = {"none": "nothing", "unicode_type": "a text", "Literal[str]": "a text"}


def _fits(found: Any, returns: str, types: Any) -> bool:  # noqa: ANN401 - of Numba
    """Whether a function returns what it has to."""
    number = (types.Number, types.Boolean)
    whole = (types.Integer, types.IntEnumMember, types.Boolean)
    if returns == "number":
        return isinstance(found, number)
    if returns == "verdict":
        return isinstance(found, whole)
    if returns == "pacing":
        kind, *rest = getattr(found, "types", (None,))
        return isinstance(kind, whole) and len(rest) == 1 and isinstance(rest[0], number)
    return True


def _argument_count(function: Callable[..., Any], place: str, order: Sequence[str]) -> int:
    """How many arguments a function takes: the first so many.

    Raises:
        ValueError: They are not what it is given.
    """
    wanted = ", ".join(_CALLED.get(each, each) for each in order)
    given = inspect.signature(function).parameters.values()
    plain = all(
        each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and each.default is each.empty
        for each in given
    )
    if not plain or not 1 <= len(given) <= len(order):
        message = (
            f"{place} takes ({', '.join(map(str, given))}), but is given ({wanted}), of which the last may be "
            "left out"
        )
        raise ValueError(message)
    return len(given)


def _words(error: Exception, function: Callable[..., Any]) -> str:
    """What the compiler says, short, with the line of the user's function."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [
        line for line in lines if not line.startswith(("Failed in nopython", "During:", "File "))
    ]
    place = getattr(error, "loc", None)
    code = getattr(function, "__code__", None)
    inside = place is not None and code is not None and place.filename.endswith(code.co_filename)
    line = f"line {place.line}: " if inside and place is not None else ""
    return line + shown(" ".join(told[:2]) or type(error).__name__)


def code_digest(kind: str, name: str, parts: Mapping[str, object]) -> str:
    """A digest of all that makes a compiled entry what it is.

    Raises:
        TypeError: It reads something that cannot be compared.
    """
    compiler = numba()
    import llvmlite

    versions = (_abi.VERSION, compiler.__version__, llvmlite.__version__)
    return digest_of(versions, kind, name, sorted(parts.items(), key=lambda part: part[0]))
