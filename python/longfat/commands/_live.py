"""`longfat live`: a controller on a stack that exists, over the link that is up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longfat.commands._link import binary
from longfat.commands._options import Quantity, command

if TYPE_CHECKING:
    from collections.abc import Iterator

TCP, TCP_PLACE = "longfat-tcp", "LONGFAT_TCP"
"""The program that runs the controller, and the environment variable that says where it is."""

RUN = {"tcp": ("run",), "tcp-kernel": ("kernel", "run")}
"""What it is asked for each stack: the controller outside of the kernel, or its table in the kernel."""

QUIC, QUIC_PLACE = "longfat-quic", "LONGFAT_QUIC"
"""The same of the program that is both ends of transfers over QUIC."""

TOLD = (
    "reports",
    "answered_us",
    "table_error",
    "table_B",
    "acknowledgments",
    "acknowledgment_ns",
    "priority",
    "ecn",
    "processor_share",
    "spare",
)
"""What is kept of what programs say, as far as they say it."""

ENDS = Path(__file__).resolve().parents[1] / "live" / "_ends.py"
"""What runs at the ends of the link."""

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
"""Where Linux says which controllers it has."""

FAILED = 1
FILLED = 0.95
"""What share of its window a flow over QUIC must have in flight for the window to be what limits it."""
PATIENCE = 15
"""How long programs have to come and go, in seconds."""


@command("live")
@click.option(
    "--stack",
    type=click.Choice([*RUN, "linux", "quic"]),
    default="tcp",
    show_default=True,
    help="tcp: that of Linux, in which the controller decides about the window; tcp-kernel: the same, by a "
    "table of its law in the kernel; linux: with a controller that the kernel has; quic: quinn.",
)
@click.option(
    "--control", required=True, help='As in a scenario: exp, or { kind = "aimd", b = 0.3 }.'
)
@click.option("--flows", type=click.IntRange(1, 64), default=1, show_default=True, help="How many.")
@click.option(
    "--for",
    "duration",
    type=Quantity("time", usual="s"),
    default="60s",
    show_default=True,
    help="How long.",
)
@click.option(
    "--warmup", type=Quantity("time", usual="s"), help="What averages leave out [a quarter of it]."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder [runs/live-CONTROL; on other stacks runs/live-STACK-CONTROL].",
)
@click.option("--json", "as_json", is_flag=True, help="Print the averages as one JSON object.")
def live_command(
    *,
    stack: str,
    control: str,
    flows: int,
    duration: str,
    warmup: str | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Send bulk data over the link that is up, under a controller of longfat in a real stack.

    The controller is the same object as in the simulator. The folder holds the averages and samples of what the
    stack says of each flow every 10 ms. It needs root and what `make live` builds; in TCP, Linux 6.10 or later.

    \b
    sudo longfat link up --rate 50Mbit/s --rtt 40ms
    sudo longfat live --stack tcp --control exp --flows 2 --for 60s
    sudo longfat live --stack quic --control exp --for 60s
    sudo longfat link down
    """  # noqa: D301 - the command line reads the backspace: keep these lines as they are
    from longfat._longfat import quantity
    from longfat.foreign import json_text
    from longfat.live._measurement import averages, filled, series, write

    seconds = quantity("time", duration) / 1e12
    warmup_s = seconds / 4 if warmup is None else quantity("time", warmup) / 1e12
    if warmup_s >= seconds:
        message = f"--warmup is {warmup_s:g} s, and nothing is left of {seconds:g} s"
        raise click.UsageError(message)
    link = _link()
    measure = _over_quic if stack == "quic" else partial(_in_tcp, stack)
    code, errors, told = measure(control, flows, seconds, link)
    if code != 0:
        click.echo(errors, file=sys.stderr, nl=False)
        return code
    samples = [tuple(each) for each in told["samples"]]
    try:
        rows = averages(samples, warmup_s)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if stack == "quic" and (share := filled(samples, warmup_s)) < FILLED:
        message = (
            f"this measurement counts for nothing: only {100 * share:.0f} % of the window was in flight, so "
            "something else limited the flows, most likely the processors: let less run beside it, or ask for "
            "a lower rate"
        )
        raise click.ClickException(message)
    name = told["control"]
    kept = ("rate_bit_s", "rtt_s", "scenario")
    summary = {
        "what": f"{name} {told['where']}",
        "stack": stack,
        "control": control,
        "duration_s": seconds,
        "warmup_s": warmup_s,
        "link": {key: link[key] for key in kept if key in link},
        "flows": rows,
        **{key: told[key] for key in TOLD if key in told},
    }
    kind = name if stack == "tcp" else f"{stack}-{name}"
    target = Path("runs") / f"live-{kind}" if out is None else out
    write(target, summary, series(samples))
    if as_json:
        click.echo(json_text(summary, indent=2))
        return 0
    for row in rows:
        click.echo(
            f"{row['name']}: window {row['window_mean']:.1f} segments, RTT {row['rtt_mean_s'] * 1e3:.1f} ms, "
            f"{row['throughput_bit_s'] / 1e6:.1f} Mbit/s, {row['retransmitted']} retransmitted"
        )
    shares = [f"{name} {100 * share:.1f} %" for name, share in summary["processor_share"].items()]
    if shares:
        click.echo(f"of one processor: {', '.join(shares)}")
    click.echo(f"written to {target}")
    return 0


def _in_tcp(
    stack: str, control: str, flows: int, seconds: float, link: dict[str, Any]
) -> tuple[int, str, dict[str, Any]]:
    """Measures in the TCP of Linux: exit code, errors, and what was measured."""
    from longfat.live._processor import shares

    steered = _kernels_own(control) if stack == "linux" else _daemon(control, stack)
    with steered as told:
        if told.get("reads_spare") and not link.get("anti_ecn"):
            message = (
                f"{told['control']} reads the AntiECN bit, and the link that is up does not write it: make one "
                "from a scenario whose link has `anti_ecn = true`"
            )
            raise click.UsageError(message)
        programs = {"daemon": told["process"]} if "process" in told else {}
        watched = {**programs, "link": link.get("process")}
        with _taking(flows), shares(watched) as found:
            code, out, errors = _given(flows, seconds, told["congestion"])
    if code != 0:
        return FAILED, errors, told
    where = "in the TCP of Linux, over a real link; sampled from tcp_info"
    return 0, "", {**told, "processor_share": found, "where": where, **json.loads(out)}


def _over_quic(
    control: str, flows: int, seconds: float, link: dict[str, Any]
) -> tuple[int, str, dict[str, Any]]:
    """Measures over QUIC: exit code, errors, and what was measured."""
    from longfat.live._processor import shares

    if "packet_bytes" not in link:
        message = "the link does not say how large its packets are: build it anew with `make live`"
        raise click.UsageError(message)
    options = {"flows": flows, "seconds": seconds, "packet": link["packet_bytes"]}
    asked = [f"--{name}={value}" for name, value in options.items()]
    with (
        shares({"link": link.get("process")}) as found,
        _behind("--", binary(QUIC, QUIC_PLACE), "run", control, *asked) as process,
    ):
        out, errors = process.communicate()
    if process.returncode != 0:
        return process.returncode, errors, {}
    told = json.loads(out)
    ends = zip(("sender", "receiver"), told.pop("processor_s"), strict=True)
    of_ends = {name: used / seconds for name, used in ends}
    where = "over QUIC, by a real link; sampled from quinn"
    return 0, "", {**told, "processor_share": {**of_ends, **found}, "where": where}


def _link() -> dict[str, Any]:
    """What the link is; `scenario` has what a simulation of it needs: buffer, queue, losses, packet size.

    Raises:
        click.ClickException: There is none, or it tells what is wrong.
    """
    done = subprocess.run(  # noqa: S603 - a program of longfat's own
        [binary(), "status", "--json"], capture_output=True, text=True, check=False
    )
    try:
        found = json.loads(done.stdout)
    except ValueError:
        message = done.stderr.strip().removeprefix("error: ") or "the link does not say what it is"
        raise click.UsageError(message) from None
    return dict(found)


@contextmanager
def _kernels_own(control: str) -> Iterator[dict[str, Any]]:
    """A controller of the kernel's own, which needs nobody.

    Raises:
        click.UsageError: This kernel does not have it.
    """
    present = AVAILABLE.read_text("ascii").split()
    if control not in present:
        message = (
            f"this kernel has no congestion control called {control!r}: it has {', '.join(present)}"
        )
        raise click.UsageError(message)
    yield {"control": control, "congestion": control}


@contextmanager
def _daemon(control: str, stack: str) -> Iterator[dict[str, Any]]:
    """The controller, in the stack; afterwards the dictionary says what it did.

    Raises:
        click.ClickException: It did not begin, or ended too early: flows then went on under Reno.
    """
    told: dict[str, Any] = {}
    asked = [binary(TCP, TCP_PLACE), *RUN[stack], control]
    with subprocess.Popen(  # noqa: S603 - a program of longfat's own
        asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None  # noqa: S101 - asked for above
        assert process.stderr is not None  # noqa: S101 - asked for above
        try:
            first = process.stdout.readline()
            if not first:
                raise click.UsageError(process.stderr.read().strip().removeprefix("error: "))
            told.update(json.loads(first), process=process.pid)
            yield told
            if process.poll() is not None:
                rest = ", which went on under Reno" if stack == "tcp" else ""
                message = f"the controller ended before the flows{rest}"
                raise click.ClickException(message)
            process.terminate()
            last, _ = process.communicate(timeout=PATIENCE)
            told.update(json.loads(last))
        finally:
            process.kill()


@contextmanager
def _taking(flows: int) -> Iterator[None]:
    """The other end, once it is ready.

    Raises:
        click.ClickException: It did not begin.
    """
    with _behind("--end", "b", "--", sys.executable, str(ENDS), "take", str(flows)) as process:
        assert process.stdout is not None  # noqa: S101 - asked for below
        assert process.stderr is not None  # noqa: S101 - asked for below
        if process.stdout.readline() != "ready\n":
            message = f"nobody listens at end b: {process.stderr.read().strip()}"
            raise click.ClickException(message)
        yield
        process.communicate(timeout=PATIENCE)


def _given(flows: int, seconds: float, congestion: str) -> tuple[int, str, str]:
    """End a sends: exit code, output, errors. It fails where the link says that it counts for nothing."""
    asked = ["--", sys.executable, str(ENDS), "give", str(flows), str(seconds), congestion]
    with _behind(*asked) as process:
        out, errors = process.communicate()
    return process.returncode, out, errors


@contextmanager
def _behind(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A program behind the link. Whatever is left of it at the end is ended, with all that it has begun."""
    with subprocess.Popen(  # noqa: S603 - a program of longfat's own
        [binary(), "shell", "--quiet", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                # It leads a group of its own.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
