"""The command `longfat`. Every command imports what it needs only when it runs."""

from __future__ import annotations

import _thread
import codecs
import contextlib
import io
import os
import signal
import sys
import time
import traceback
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

import click

from longfat._longfat import (
    Cancelled,
    CodeError,
    EngineError,
    FluidError,
    ScenarioError,
    __version__,
)
from longfat.commands._advise import advise_command
from longfat.commands._attack import attack_command
from longfat.commands._bench import bench_command
from longfat.commands._check import check_command
from longfat.commands._evaluate import evaluate_command
from longfat.commands._explain import explain_command
from longfat.commands._explore import explore_command
from longfat.commands._fluid import fluid_command
from longfat.commands._kernel import kernel_command
from longfat.commands._link import link_command
from longfat.commands._list import list_command
from longfat.commands._live import live_command
from longfat.commands._overlay import overlay_command
from longfat.commands._page import compare_command, report_command
from longfat.commands._paper import paper_command
from longfat.commands._run import run_command
from longfat.commands._schema import schema_command
from longfat.commands._study import study_command
from longfat.commands._try import try_command
from longfat.errors import (
    AttackError,
    CacheWarning,
    EvaluationError,
    MeasureError,
    MemoryWarning,
    ResultError,
    RoomError,
    StudyError,
    TraceError,
)
from longfat.foreign import ascii_text, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

DONE, FAILED, WRONG_INPUT, INTERRUPTED, SIGNALLED = 0, 1, 2, 130, 128
"""The exit codes; the number of a signal that ended the command is added to the last one."""


_LATER_S = 0.02


class Terminated(BaseException):
    """The process was asked to end: it leaves nothing half-done, and goes."""

    def __init__(self, number: int) -> None:
        """Remembers the `number` of the signal."""
        super().__init__(number)
        self.number = number


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="longfat", message="%(prog)s %(version)s")
def commands() -> None:
    """A laboratory for congestion control on long fat networks.

    \b
    longfat try --rate 1Gbit/s --rtt 40ms --flows 2 --control reno    a first look
    longfat advise --rate 1Gbit/s --rtt 100ms --loss 1e-6             what to use on a path
    longfat run scenarios/first.toml --plot                           one scenario
    longfat fluid scenarios/first.toml --with-packets                 its differential equations
    longfat report runs/first-1                                       a page of any result
    longfat study studies/controllers.toml                            a question over many runs
    longfat evaluate exp                                              is a controller good?
    longfat paper exp-tcp                                             the figures of a paper
    """  # noqa: D301 - the command line reads the backspace: keep these lines as they are


commands.add_command(run_command)
commands.add_command(try_command)
commands.add_command(advise_command)
commands.add_command(study_command)
commands.add_command(evaluate_command)
commands.add_command(paper_command)
commands.add_command(fluid_command)
commands.add_command(report_command)
commands.add_command(compare_command)
commands.add_command(check_command)
commands.add_command(attack_command)
commands.add_command(explain_command)
commands.add_command(explore_command)
commands.add_command(kernel_command)
commands.add_command(link_command)
commands.add_command(list_command)
commands.add_command(live_command)
commands.add_command(overlay_command)
commands.add_command(schema_command)
commands.add_command(bench_command)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line and exits with its code.

    Codes: 0 done, 1 a check or a simulation failed, 2 the input was wrong, 130 interrupted, 143 asked to end
    (SIGTERM), 129 the terminal is gone (SIGHUP).
    """
    _open_streams()
    _end_on_signals()
    with _warnings_told():
        sys.exit(_run(arguments))


def _open_streams() -> None:
    """Makes sure that there is something to print to, and that any text can be printed."""
    codecs.register_error(SPELLED, spelled)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller, as in `longfat list >&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=SPELLED)


SPELLED = "longfat.spelled"
"""The name of the handler for letters that an encoding lacks."""


def spelled(error: UnicodeError) -> tuple[str, int]:
    """Writes letters that an encoding lacks otherwise: our own signs in ASCII, all others by their numbers.

    Raises:
        UnicodeError: It is none of writing.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return ascii_text(lacking).encode("ascii", "backslashreplace").decode("ascii"), error.end


def _end_on_signals() -> None:
    """Lets the signals that ask a process to end unwind the stack, so that everything is cleaned up."""

    def end(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)  # once is enough; cleaning up is not disturbed
        raise Terminated(number)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # What the caller has ignored, as `nohup` does, stays ignored.
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, end)

    others = sys.unraisablehook

    def dropped(told: sys.UnraisableHookArgs) -> None:
        # What is raised in a destructor leads nowhere: whoever asked is heard a little later.
        if isinstance(told.exc_value, Terminated):
            signal.signal(told.exc_value.number, end)
            _thread.start_new_thread(_again, (told.exc_value.number,))
        elif isinstance(told.exc_value, KeyboardInterrupt):
            _thread.start_new_thread(_again, (signal.SIGINT,))
        else:
            others(told)

    sys.unraisablehook = dropped


def _again(number: int) -> None:
    """Lets the main thread hear a signal again, once it has left where it could not be heard."""
    time.sleep(_LATER_S)
    _thread.interrupt_main(signal.Signals(number))


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = commands.main(arguments, prog_name="longfat", standalone_mode=False)
        sys.stdout.flush()
    except (click.exceptions.Abort, KeyboardInterrupt, Cancelled):
        _complain("interrupted")
        code = INTERRUPTED
    except Terminated as error:
        _complain("asked to stop: nothing unfinished is left behind")
        code = SIGNALLED + error.number
    except click.ClickException as error:
        told = io.StringIO()
        error.show(told)
        _complain(told.getvalue().rstrip("\n"))
        code = error.exit_code
    except tuple(_ENDINGS) as error:
        message, code = next(told for kind, told in _ENDINGS.items() if isinstance(error, kind))
        if message is not None:
            refusal = message + _reason(error)
            if isinstance(error, ScenarioError) and not refusal.startswith("error"):
                refusal = f"error: {refusal}"
            _complain(_traceback(error) + refusal)
        _abandon_output()
    return code if isinstance(code, int) else DONE


_ENDINGS: dict[type[Exception], tuple[str | None, int]] = {
    BrokenPipeError: (None, FAILED),  # whoever was reading has gone
    OSError: ("error: ", WRONG_INPUT),
    ScenarioError: ("", WRONG_INPUT),
    RoomError: ("error: ", WRONG_INPUT),
    StudyError: ("error: ", WRONG_INPUT),
    EvaluationError: ("error: ", WRONG_INPUT),
    AttackError: ("error: ", WRONG_INPUT),
    ResultError: ("error: ", WRONG_INPUT),
    TraceError: ("error: ", WRONG_INPUT),
    ImportError: ("error: ", WRONG_INPUT),
    FluidError: ("error: ", WRONG_INPUT),
    MeasureError: ("error: ", FAILED),
    CodeError: ("error: ", FAILED),
    EngineError: ("error: the simulation stopped: ", FAILED),
    UnicodeEncodeError: ("error: the input is not Unicode text: ", WRONG_INPUT),
    MemoryError: ("error: this machine does not have enough memory ", FAILED),
}
"""What is said before the message of an error (`None`: nothing at all), and the exit code."""


def _abandon_output() -> None:
    """What has not been printed yet is not tried again at exit: the reader has gone, or the disk is full."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _traceback(error: Exception) -> str:
    """Where code that somebody brought along failed; nothing for other errors."""
    if not isinstance(error, CodeError) or error.__cause__ is None:
        return ""
    return "".join(traceback.format_exception(error.__cause__))


def _reason(error: Exception) -> str:
    if not isinstance(error, OSError):
        return str(error)
    if error.filename is None and isinstance(error, FileNotFoundError) and _is_adrift():
        return "the working folder is not there any more: change to another one"
    if error.filename is None:
        return error.strerror or str(error)
    return f"{error.filename}: {(error.strerror or 'it cannot be used').lower()}"


def _is_adrift() -> bool:
    """Whether somebody has removed the working folder."""
    try:
        os.getcwd()  # noqa: PTH109 - asks the same of the system
    except FileNotFoundError:
        return True
    return False


@contextlib.contextmanager
def _warnings_told() -> Iterator[None]:
    """Reports warnings meant for users in one line, without the place in the code that raised them."""
    with warnings.catch_warnings():
        other = warnings.showwarning

        def tell(message: Warning | str, category: type[Warning], *place: Any) -> None:  # noqa: ANN401
            if issubclass(category, (CacheWarning, MemoryWarning)):
                _complain(f"warning: {message}")
            else:
                other(message, category, *place)

        warnings.showwarning = tell  # type: ignore[assignment]
        yield


def _complain(message: str) -> None:
    with contextlib.suppress(OSError):
        # Not `err=True`, with which click writes UTF-8 where the stream has only ASCII.
        click.echo(shown(message), file=sys.stderr)
