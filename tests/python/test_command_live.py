"""`longfat live` with programs that stand in for the real ones: what it asks of them, and what it says."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from support import Command

WRONG_INPUT, FAILED = 2, 1

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such links")

SAMPLES = {
    "samples": [[now, 0, 10, 9, 8, 20_000, 1000 * now, 0, 1448] for now in range(5)],
}

SCENARIO = '[link.link]\nrate = "1 Mbit/s"\n'

STATUS = {"rate_bit_s": 1_000_000, "rtt_s": 0.02, "counts": True, "packet_bytes": 1400}


def over_quic(in_flight: int) -> str:
    """What the program of QUIC tells."""
    told = {
        "control": "exp",
        "priority": ["SCHED_FIFO on processor 0", "SCHED_FIFO on processor 1"],
        "processor_s": [1.0, 0.5],
        "samples": [
            [now, 0, 10.5, None, in_flight, 20_000.0, 1000 * now, 3, 1372] for now in range(5)
        ],
    }
    return json.dumps(told)


LINK = f"""\
case "$*" in
    status*) printf '%s' '{json.dumps({**STATUS, "scenario": SCENARIO})}' ;;
    *take*) echo ready ;;
    *give*) echo '{json.dumps(SAMPLES)}' ;;
    *longfat-quic*--packet=1400*) echo '{over_quic(10)}' ;;
esac
"""

TCP = """\
trap 'echo "{\\"flows\\": 1, \\"reports\\": 7, \\"answered_us\\": null}"; exit' TERM
echo '{"control": "exp", "congestion": "longfat"}'
while :; do sleep 0.1; done
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Puts a script in the place of a program."""

    def put(name: str, script: str) -> None:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{script}", "utf-8")
        path.chmod(0o755)
        monkeypatch.setenv(name.upper().replace("-", "_"), str(path))

    put("longfat-link", LINK)
    put("longfat-tcp", TCP)
    put("longfat-quic", "exit 9\n")  # only the link runs it
    return put


@pytest.mark.usefixtures("stand_in")
def test_a_measurement_is_told_and_written(longfat: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = longfat("live", "--control=exp", "--for=4s", "--warmup=1s", f"--out={out}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "flow[0]: window 10.0 segments, RTT 20.0 ms" in done.stdout
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert summary["what"].startswith("exp in the TCP of Linux, over a real link")
    assert (summary["reports"], summary["link"]["rate_bit_s"]) == (7, 1_000_000)
    assert summary["link"]["scenario"] == SCENARIO
    assert (out / "flow_series.parquet").exists()


def test_a_law_in_the_kernel_is_asked_for_by_its_name(
    longfat: Command, stand_in: Callable[[str, str], None], tmp_path: Path
) -> None:
    asked = tmp_path / "asked"
    ready = {"control": "exp", "congestion": "longfat_exp", "table_error": 0.0004, "table_B": 8640}
    stand_in(
        "longfat-tcp",
        f"""\
echo "$*" > {asked}
trap 'echo "{{\\"acknowledgments\\": null, \\"acknowledgment_ns\\": null}}"; exit' TERM
echo '{json.dumps(ready)}'
while :; do sleep 0.1; done
""",
    )
    stand_in("longfat-link", f'case "$*" in *give*) echo "$*" >> {asked} ;; esac\n' + LINK)
    out = tmp_path / "out"
    done = longfat("live", "--stack=tcp-kernel", "--control=exp", "--for=4s", f"--out={out}")
    assert (done.returncode, done.stderr) == (0, "")
    of_program, of_ends = asked.read_text("utf-8").splitlines()
    assert of_program == "kernel run exp"
    assert of_ends.endswith("give 1 4.0 longfat_exp")
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert (summary["stack"], summary["table_error"]) == ("tcp-kernel", 0.0004)
    assert "reports" not in summary


def test_a_link_that_keeps_no_scenario_is_measured_without(
    longfat: Command, stand_in: Callable[[str, str], None], tmp_path: Path
) -> None:
    told = json.dumps({**STATUS, "scenario": SCENARIO})
    stand_in("longfat-link", LINK.replace(told, json.dumps(STATUS)))
    done = longfat("live", "--control=exp", "--for=4s", f"--out={tmp_path / 'out'}")
    assert (done.returncode, done.stderr) == (0, "")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    assert summary["link"] == {"rate_bit_s": 1_000_000, "rtt_s": 0.02}


def test_without_a_link_there_is_nothing_to_measure(
    longfat: Command, stand_in: Callable[[str, str], None]
) -> None:
    stand_in("longfat-link", 'echo "error: there is no link: make one" >&2; exit 2\n')
    done = longfat("live", "--control=exp", "--for=4s")
    assert done.returncode == WRONG_INPUT
    assert "there is no link: make one" in done.stderr


def test_a_controller_that_cannot_run_is_refused(
    longfat: Command, stand_in: Callable[[str, str], None]
) -> None:
    stand_in("longfat-tcp", 'echo "error: no, not $2" >&2; exit 2\n')
    done = longfat("live", "--control=bbr1", "--for=4s")
    assert done.returncode == WRONG_INPUT
    assert "no, not bbr1" in done.stderr


def test_a_link_that_was_too_late_refuses_the_measurement(
    longfat: Command, stand_in: Callable[[str, str], None], tmp_path: Path
) -> None:
    late = 'case "$*" in *give*) echo "it counts for nothing" >&2; exit 1 ;; esac\n'
    stand_in("longfat-link", late + LINK)
    out = tmp_path / "out"
    done = longfat("live", "--control=exp", "--for=4s", f"--out={out}")
    assert done.returncode == FAILED
    assert "counts for nothing" in done.stderr
    assert not out.exists()


def test_a_controller_that_dies_is_no_measurement(
    longfat: Command, stand_in: Callable[[str, str], None], tmp_path: Path
) -> None:
    stand_in("longfat-tcp", 'echo "{\\"control\\": \\"exp\\", \\"congestion\\": \\"longfat\\"}"\n')
    stand_in("longfat-link", 'case "$*" in *give*) sleep 0.3 ;; esac\n' + LINK)
    out = tmp_path / "out"
    done = longfat("live", "--control=exp", "--for=4s", f"--out={out}")
    assert done.returncode == FAILED
    assert "went on under Reno" in done.stderr
    assert not out.exists()


@pytest.mark.usefixtures("stand_in")
def test_a_measurement_over_quic_is_told_and_written(
    longfat: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = longfat("live", "--stack=quic", "--control=exp", "--for=4s", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    summary = json.loads(done.stdout)
    # Beside what the same controller did in TCP.
    written = Path("runs/live-quic-exp/summary.json").read_text("utf-8")
    assert summary == json.loads(written)
    assert summary["what"].startswith("exp over QUIC")
    assert summary["stack"] == "quic"
    # Processor time of the ends per second; the link of this test does not say which process it is.
    assert summary["processor_share"] == {"sender": 0.25, "receiver": 0.125}
    (flow,) = summary["flows"]
    assert (flow["window_mean"], flow["segment_payload_B"]) == (10.5, 1372)


def test_a_window_that_is_not_filled_is_no_measurement(
    longfat: Command, stand_in: Callable[[str, str], None], tmp_path: Path
) -> None:
    stand_in("longfat-link", LINK.replace(over_quic(10), over_quic(5)))
    out = tmp_path / "out"
    done = longfat("live", "--stack=quic", "--control=exp", "--for=4s", f"--out={out}")
    assert done.returncode == FAILED
    assert "only 48 % of the window was in flight" in done.stderr
    assert not out.exists()


def test_what_quic_refuses_is_refused(
    longfat: Command, stand_in: Callable[[str, str], None]
) -> None:
    no = 'case "$*" in *longfat-quic*) echo "error: no, not $5" >&2; exit 2 ;; esac\n'
    stand_in("longfat-link", no + LINK)
    done = longfat("live", "--stack=quic", "--control=bbr1", "--for=4s")
    assert done.returncode == WRONG_INPUT
    assert "error: no, not" in done.stderr


def test_processor_time_is_that_of_the_daemon(
    longfat: Command, stand_in: Callable[[str, str], None], tmp_path: Path
) -> None:
    stand_in("longfat-link", 'case "$*" in *give*) sleep 0.5 ;; esac\n' + LINK)
    done = longfat("live", "--control=exp", "--for=4s", f"--out={tmp_path / 'out'}", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    share = json.loads(done.stdout)["processor_share"]
    assert set(share) == {"daemon"}
    assert 0 <= share["daemon"] <= 1


@pytest.mark.usefixtures("stand_in")
def test_a_warmup_leaves_something(longfat: Command) -> None:
    done = longfat("live", "--control=exp", "--for=4s", "--warmup=4s")
    assert done.returncode == WRONG_INPUT
    assert "nothing is left" in done.stderr


def test_the_program_is_looked_for(longfat: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGFAT_LINK", "/bin/true")
    done = longfat("live", "--control=exp")
    assert done.returncode == WRONG_INPUT
    assert "does not say what it is" in done.stderr
