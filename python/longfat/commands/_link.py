"""`longfat link`: a real link between two network namespaces, for the packets of any program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import click

from longfat.commands._options import Quantity, Share, command

BINARY = "longfat-link"
"""The program that does the work."""

PLACE = "LONGFAT_LINK"
"""The environment variable that says where it is."""

BUILT = Path(__file__).resolve().parents[3] / "live" / "target" / "release" / BINARY
"""Where `make live` puts it, in a checkout."""


@click.group("link")
def link_command() -> None:
    """A real link between two network namespaces, for the packets of any program.

    The queue, the rate, the delay and the losses are those of the simulator. It needs Linux and root, and the
    program longfat-link, which `make live` builds.

    \b
    sudo longfat link up --rate 200Mbit/s --rtt 40ms
    sudo longfat link shell --end b -- iperf3 --server
    sudo longfat link shell -- iperf3 --client 198.18.0.2
    sudo longfat link status
    sudo longfat link down
    """  # noqa: D301 - the command line reads the backspace: keep these lines as they are


@command("up")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--rate", type=Quantity("rate"), help="Rate of the link, both ways: 200Mbit/s.")
@click.option("--rtt", type=Quantity("time"), help="Its delays there and back: 40ms.")
@click.option("--buffer", help='"1 bdp", "5000 packets", "5 MB" or "50 ms" [1 bdp].')
@click.option("--queue", help="Queue discipline, as in a scenario [drop-tail].")
@click.option("--packet", type=Quantity("size"), help="Size of the largest packet [1500 B].")
@click.option(
    "--loss", type=Share(), help="Probability of loss per packet, each way: 1e-4, or 0.01% [0]."
)
@click.option(
    "--capture",
    type=click.Path(path_type=Path),
    help="Write what leaves the link there, as pcapng.",
)
@click.option(
    "--capture-bytes",
    type=click.IntRange(20, 65_535),
    help="How many bytes of each packet [128, which headers fit into].",
)
@click.option(
    "--normal-priority", is_flag=True, help="Do not carry packets before all else that runs."
)
def up_command(
    *,
    file: Path | None,
    rate: str | None,
    rtt: str | None,
    buffer: str | None,
    queue: str | None,
    packet: str | None,
    loss: float | None,
    capture: Path | None,
    capture_bytes: int | None,
    normal_priority: bool,
) -> int:
    """Make the link: from options, or from the only link of a scenario FILE; - is the standard input.

    The two ends are the network namespaces longfat-a and longfat-b. A scenario can also say how the directions
    differ, and how rate, delay and loss change in time.

    \b
    sudo longfat link up --rate 200Mbit/s --rtt 40ms --queue red
    sudo longfat link up scenarios/first.toml
    sudo longfat link up --rate 50Mbit/s --rtt 40ms --capture packets.pcapng
    """  # noqa: D301 - the command line reads the backspace: keep these lines as they are
    from longfat.commands._console import given as given_file
    from longfat.scenario import read
    from longfat.study._setup import Setup

    given = {"buffer": buffer, "queue": queue, "packet": packet, "loss": loss}
    given = {name: value for name, value in given.items() if value is not None}
    if file is not None:
        if rate or rtt or given:
            message = "the link comes from a scenario or from options, not from both"
            raise click.UsageError(message)
        scenario, _ = read(given_file(file))
    elif rate and rtt:
        scenario = Setup(rate, rtt, **given).scenario("reno")  # type: ignore[arg-type]
    else:
        message = "say which link: --rate and --rtt, or a scenario"
        raise click.UsageError(message)
    if capture_bytes is not None and capture is None:
        message = "--capture-bytes says how much of each packet --capture keeps, and there is no --capture"
        raise click.UsageError(message)
    options = ["--normal-priority"] if normal_priority else []
    options += [f"--capture={capture}"] if capture is not None else []
    options += [f"--capture-bytes={capture_bytes}"] if capture_bytes is not None else []
    return _run("up", *options, "-", text=scenario.to_toml())


@command("down")
def down_command() -> int:
    """Remove the link and all that was made for it, also after its process was killed.

    Tells what crossed it. Ends with 1 if packets were so late that what was measured counts for nothing.
    """
    return _run("down")


@command("status")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status_command(*, as_json: bool) -> int:
    """Tell what the link is, what crossed it so far, and how late packets were.

    Ends with 1 if they were so late that what was measured counts for nothing.
    """
    return _run("status", *(["--json"] if as_json else []))


@command("shell", context_settings={"ignore_unknown_options": True})
@click.option(
    "--end",
    type=click.Choice(["a", "b"]),
    default="a",
    show_default=True,
    help="Where: the forward direction leads from a to b.",
)
@click.option("--quiet", is_flag=True, help="Do not tell what crossed the link meanwhile.")
@click.argument("arguments", metavar="COMMAND...", nargs=-1, type=click.UNPROCESSED)
def shell_command(*, end: str, quiet: bool, arguments: tuple[str, ...]) -> NoReturn:
    """Run any program at one end of the link; without one, a shell.

    Ends as the program does; with 1 if it succeeds but packets were so late that what was measured counts for
    nothing.
    """
    told = ["--quiet"] if quiet else []
    program = arguments or (os.environ.get("SHELL", "/bin/sh"),)
    path = binary()
    sys.stdout.flush()
    # It takes the place of this process, and hears the signals that are meant for it.
    os.execv(path, [path, "shell", "--end", end, *told, "--", *program])  # noqa: S606 - it is what was asked


for each in (up_command, shell_command, status_command, down_command):
    link_command.add_command(each)


def _run(*arguments: str, text: str | None = None) -> int:
    """Runs the program, with its own output; returns its exit code."""
    sys.stdout.flush()
    done = subprocess.run([binary(), *arguments], input=text, text=True, check=False)  # noqa: S603
    return done.returncode


def binary(name: str = BINARY, place: str = PLACE) -> str:
    """Where the program `name` is, or another one that `make live` builds; the variable `place` may say so.

    Raises:
        click.UsageError: It is nowhere.
    """
    if sys.platform != "linux":
        message = "a link is made of network namespaces and TUN devices, which only Linux has"
        raise click.UsageError(message)
    named = os.environ.get(place)
    if named:
        if not os.access(named, os.X_OK):
            message = f"{place} is {named}, which is no program"
            raise click.UsageError(message)
        return named
    built = BUILT.with_name(name)
    found = str(built) if os.access(built, os.X_OK) else shutil.which(name)
    if found is None:
        message = f"the program {name} is not here: `make live` in a checkout of longfat builds it"
        raise click.UsageError(message)
    return found
