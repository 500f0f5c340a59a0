"""The command `longfat`. Every command imports what it needs only when it runs."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

import click

from longfat._longfat import Cancelled, EngineError, FluidError, ScenarioError, __version__
from longfat.commands._bench import bench_command
from longfat.commands._fluid import fluid_command
from longfat.commands._list import list_command
from longfat.commands._paper import paper_command
from longfat.commands._run import run_command
from longfat.commands._try import try_command
from longfat.errors import CacheWarning, MeasureError, RoomError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DONE, FAILED, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130
"""The exit codes."""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="longfat", message="%(prog)s %(version)s")
def commands() -> None:
    """A laboratory for congestion control on long fat networks.

    \b
    longfat try --rate 1Gbit/s --rtt 40ms --flows 2 --control reno    a first look
    longfat run scenarios/first.toml --plot                           one scenario
    longfat fluid scenarios/first.toml --with-packets                 its differential equations
    longfat paper exp-tcp                                             the figures of a paper
    """  # noqa: D301 - the command line reads the backspace: keep these lines as they are


commands.add_command(run_command)
commands.add_command(try_command)
commands.add_command(paper_command)
commands.add_command(fluid_command)
commands.add_command(list_command)
commands.add_command(bench_command)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line and exits with its code.

    Codes: 0 done, 1 a check or a simulation failed, 2 the input was wrong, 130 interrupted.
    """
    with _warnings_told():
        sys.exit(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:  # noqa: PLR0911 - one for each way to end
    try:
        code = commands.main(arguments, prog_name="longfat", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except (click.exceptions.Abort, KeyboardInterrupt, Cancelled):
        _complain("interrupted")
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except ScenarioError as error:
        _complain(str(error))
        return WRONG_INPUT
    except EngineError as error:
        _complain(f"error: the simulation stopped: {error}")
        return FAILED
    except BrokenPipeError:
        # The reader of the output has gone; flushing the rest must not fail again at exit.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (RoomError, FluidError, MeasureError) as error:
        _complain(f"error: {error}")
        return FAILED if isinstance(error, MeasureError) else WRONG_INPUT
    except OSError as error:
        _complain(f"error: {_reason(error)}")
        return WRONG_INPUT


def _reason(error: OSError) -> str:
    if error.filename is None:
        return error.strerror or str(error)
    return f"{error.filename}: {(error.strerror or 'it cannot be used').lower()}"


@contextlib.contextmanager
def _warnings_told() -> Iterator[None]:
    """Reports warnings meant for users in one line, without the place in the code that raised them."""
    with warnings.catch_warnings():
        other = warnings.showwarning

        def tell(message: Warning | str, category: type[Warning], *place: Any) -> None:  # noqa: ANN401
            if issubclass(category, CacheWarning):
                _complain(f"warning: {message}")
            else:
                other(message, category, *place)

        warnings.showwarning = tell  # type: ignore[assignment]
        yield


def _complain(message: str) -> None:
    with contextlib.suppress(OSError):
        click.echo(message, err=True)
