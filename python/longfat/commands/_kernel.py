"""`longfat kernel`: window laws as congestion controls of Linux, without a program outside of the kernel."""

from __future__ import annotations

import subprocess
import sys

import click

from longfat.commands._link import binary
from longfat.commands._live import TCP, TCP_PLACE
from longfat.commands._options import command


@click.group("kernel")
def kernel_command() -> None:
    """Window laws as congestion controls of Linux, which need no program outside of the kernel.

    A table of the law is in the kernel, and what is installed stays until it is removed or the machine starts
    anew. It needs root, Linux 6.10 or later, and the program longfat-tcp, which `make live` builds.

    \b
    sudo longfat kernel install exp
    sudo sysctl -w net.ipv4.tcp_congestion_control=longfat_exp
    sudo longfat kernel list
    sudo sysctl -w net.ipv4.tcp_congestion_control=cubic
    sudo longfat kernel remove exp
    """  # noqa: D301 - the command line reads the backspace: keep these lines as they are


@command("install")
@click.argument("control")
def install_command(*, control: str) -> int:
    """Install the law of CONTROL: exp, or { kind = "exp", gamma = 0.1 }.

    Connections of any user and any network namespace can then ask for longfat_NAME (at most 15 letters). It is
    refused where another set of parameters is installed under that name.
    """
    return _run("install", control)


@command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def list_command(*, as_json: bool) -> int:
    """Tell what is installed: parameters, the error of the table, how many connections have it.

    Where the kernel measures its programs (sysctl kernel.bpf_stats_enabled=1), also how long an acknowledgment
    takes.
    """
    return _run("list", *(["--json"] if as_json else []))


@command("remove")
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="All that is installed.")
def remove_command(*, name: str | None, everything: bool) -> int:
    """Remove the law called NAME, and all that was made for it.

    Connections that have it keep it until they are closed. What new connections get by default is not removed.
    """
    if everything == (name is not None):
        message = "say what to remove: a name, or --all"
        raise click.UsageError(message)
    return _run("remove", *(["--all"] if name is None else [name]))


@command("laws")
def laws_command() -> int:
    """Tell which controllers have a table, how near it is to the law, and why the others have none."""
    return _run("laws")


for each in (install_command, list_command, remove_command, laws_command):
    kernel_command.add_command(each)


def _run(*arguments: str) -> int:
    """Runs the program, with its own output; returns its exit code."""
    sys.stdout.flush()
    path = binary(TCP, TCP_PLACE)
    done = subprocess.run([path, "kernel", *arguments], check=False)  # noqa: S603 - a program of longfat's own
    return done.returncode
