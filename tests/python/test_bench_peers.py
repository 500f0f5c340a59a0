from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from longfat._longfat import Scenario
from longfat.bench._benchmarks import BENCHMARKS, Benchmark, Speed
from longfat.bench._longfat_run import timed
from longfat.bench._measure import LONGFAT, Timed, as_json, measure
from longfat.bench._peer import PeerAbsent
from longfat.bench._process import ProcessError
from longfat_peers import PEERS
from longfat_peers._dumbbell import COMMON, Abilities, Dumbbell, dumbbell, lines, refusal
from longfat_peers._htsim import FOLDER, Htsim
from longfat_peers._ns2 import Ns2
from longfat_peers._ns3 import Ns3
from longfat_peers._program import Program, first_reading, read_result
from longfat_peers._program import timed as timed_in
from support import SMALL

if TYPE_CHECKING:
    from pathlib import Path

    from support import Command

FAKE = """\
#!{python}
import sys
if len(sys.argv) == 1:
    print("9.99")
    raise SystemExit
_, script, given, written = sys.argv
top = open(given).readline().split()[1:]
top = dict(zip(top[::2], top[1::2]))
reached = min({reached}, float(top["duration"]))
rows = []
warmup = float(top["warmup"])
for time in [*(warmup * i / 8 for i in range(1, 9) if warmup * i / 8 < reached), reached]:
    rows += [f"at {{time}}"] + [f"flow {{i}} delivered {{round(time * 100 * (i + 1))}}" for i in range(2)]
    rows += [f"link forward arrived {{1000 * time}} dropped {{2 * time}} marked {{time}}"]
    rows[-1] += f" backlog_s {{4 * time}}"
    rows += ["link reverse arrived 0 dropped 0 marked 0 backlog_s 0"]
open(written, "w").write("\\n".join([f"top engine_s 2.0 reached_s {{reached}}", *rows]) + "\\n")
"""
"""An ns-2 whose flows get 100 and 200 packets per second, and whose queue always holds 4 packets."""


def install_fake(monkeypatch: pytest.MonkeyPatch, folder: Path, *, reached: float) -> None:
    program = folder / "bin" / "ns"
    program.parent.mkdir()
    program.write_text(FAKE.format(python=sys.executable, reached=reached), "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)


def scene_of(text: str = SMALL, *changes: str, seed: int = 1, can: Abilities = COMMON) -> Dumbbell:
    scenario = Scenario.parse(text, overrides=changes, seed=seed)
    return dumbbell(scenario, timed(scenario)[1], can)


def run_small(peer: Program, path: Path) -> Timed:
    small = Benchmark("A", "small", str(path), ("4 s", "1 s"), Speed(1, 2), {})
    (found,) = measure([small], repeat=1, full=True, peers=[peer], progress=lambda *_: None)
    return found


def test_a_peer_is_measured_as_longfat_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, small: Path
) -> None:
    install_fake(monkeypatch, tmp_path, reached=100.0)
    found = run_small(Ns2(), small)
    (outcome,) = found.outcomes["ns2"]
    assert outcome.complete
    # 4 s of 100 and of 200 packets per second.
    assert outcome.data_packets == 1200
    assert outcome.packets_per_s == 600.0
    network = outcome.network
    assert network is not None
    # 300 packets of 1500 bytes per second; the flows start before the measured interval.
    assert network.goodput_bit_s == pytest.approx(3.6e6)
    # 10 Mbit/s for 20 ms is 16.7 packets, so the buffer has 17.
    assert network.queue_mean == pytest.approx(4 / 17)
    assert network.drop_rate == pytest.approx(0.002)
    assert network.mark_rate == pytest.approx(0.001)
    assert network.jain == pytest.approx(0.9)
    ratio = found.ratio("ns2")
    assert ratio is not None
    assert ratio.median == pytest.approx(found.outcomes[LONGFAT][0].packets_per_s / 600)
    assert found.same_part == {"ns2": found.outcomes[LONGFAT]}


def test_a_peer_that_is_stopped_is_compared_over_what_it_simulated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, small: Path
) -> None:
    install_fake(monkeypatch, tmp_path, reached=3.0)
    found = run_small(Ns2(), small)
    assert not found.outcomes["ns2"][0].complete
    (part,) = found.same_part["ns2"]
    assert part is not None
    assert part.simulated_s == 3.0
    assert found.outcomes[LONGFAT][0].simulated_s == 4.0
    ratio = found.ratio("ns2")
    assert ratio is not None
    # 3 s of 100 and of 200 packets per second, in 2 s.
    assert ratio.median == pytest.approx(part.packets_per_s / 450)


def test_of_a_peer_that_is_stopped_within_the_warm_up_the_second_half_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, small: Path
) -> None:
    install_fake(monkeypatch, tmp_path, reached=0.8)
    found = run_small(Ns2(), small)
    (outcome,) = found.outcomes["ns2"]
    # Eighths of a second: 3/8 is the last before 0.4 s.
    assert outcome.measured_from_s == 0.375
    assert outcome.network is not None
    assert outcome.network.goodput_bit_s == pytest.approx(3.6e6, rel=0.02)
    (part,) = found.same_part["ns2"]
    assert part is not None
    assert (part.measured_from_s, part.simulated_s) == (0.375, 0.8)
    assert found.ratio("ns2") is not None


def test_a_peer_that_is_stopped_at_once_has_no_results(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, small: Path
) -> None:
    install_fake(monkeypatch, tmp_path, reached=0.11)
    found = run_small(Ns2(), small)
    assert found.outcomes["ns2"][0].network is None
    (part,) = found.same_part["ns2"]
    assert part is not None
    assert part.simulated_s == 0.11
    assert found.ratio("ns2") is not None
    assert found.network("ns2", "jain").mean is None
    assert found.network(LONGFAT, "jain", part_of="ns2").mean is None


def test_a_peer_that_is_stopped_before_all_flows_begin_has_no_ratio(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install_fake(monkeypatch, tmp_path, reached=0.5)
    late = tmp_path / "late.toml"
    late.write_text(SMALL.replace('"100 ms"', '"800 ms"'), "utf-8")
    found = run_small(Ns2(), late)
    assert found.same_part["ns2"] == [None]
    assert found.ratio("ns2") is None
    (row,) = as_json([found], [Ns2()])["scenarios"]
    assert row["simulators"]["ns2"]["longfat_is_faster"] is None


def test_the_command_prints_ratios_and_results(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, longfat: Command
) -> None:
    install_fake(monkeypatch, tmp_path, reached=40.0)
    short = ("--set", 'duration="2 s"', "--set", 'warmup="1 s"')
    options = ("--repeat", "1", "--against", "ns2", *short)
    done = longfat("bench", "--scenario", "B,F", *options)
    assert done.returncode == 1
    assert "error: B: ns-2 wrote no result of this scenario" in done.stderr, (
        "three flows, and the fake has two"
    )
    assert "1 Gbit/s, drop tail" in done.stdout, "what was measured is not lost"
    assert "the others cannot run F: it has short flows" in done.stdout
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    done = longfat("bench", "--scenario", "F", *options, "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["machine"]["ns2"] == "9.99"
    (row,) = printed["scenarios"]
    assert row["refused"] == "it has short flows"
    assert list(row["simulators"]) == [LONGFAT]


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("ns2", "apt-get install ns2"),
        ("ns3", "apt-get install libns3-dev g++ pkg-config"),
        ("ns2,ns3", "brings it; ns-3 is not installed"),
        ("htsim", "git clone https://github.com/Broadcom/csg-htsim"),
        ("ns4", "there is no simulator `ns4`: there are ns2, ns3, htsim"),
        (",", "names no simulator"),
    ],
)
def test_a_simulator_that_is_not_there_is_refused(
    monkeypatch: pytest.MonkeyPatch, longfat: Command, against: str, message: str
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv(FOLDER, raising=False)
    done = longfat("bench", "--scenario", "A", "--against", against)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("flow.forward.control=exp", "it has the controller `exp`"),
        ('flow.forward.recovery="reno"', "`recovery` of group `forward` is 'reno'"),
        ("flow.forward.delayed_ack=true", "`delayed_ack` of group `forward` is True"),
        (
            'flow.forward.ecn_feedback="accurate"',
            "`ecn_feedback` of group `forward` is 'accurate'",
        ),
        ('link.bottleneck.queue="codel"', "it has the queue `codel`"),
        ("link.bottleneck.loss=0.1", "its link corrupts packets"),
        ('link.bottleneck.reverse.buffer="unlimited"', "its buffer is unlimited"),
        (
            'link.bottleneck.queue={ kind = "red", weight = "auto" }',
            'its queue has `weight = "auto"`',
        ),
    ],
)
def test_what_peers_cannot_run_is_told(change: str, reason: str) -> None:
    assert refusal(Scenario.parse(SMALL)) is None
    assert refusal(Scenario.parse(SMALL, overrides=[change])) == reason


def test_the_scenarios_with_ratios_are_those_that_peers_can_run() -> None:
    runnable = {e.letter for e in BENCHMARKS if refusal(e.scenario(full=True, seed=1)) is None}
    assert runnable == {"A", "B", "C", "E"}
    assert {each.letter for each in BENCHMARKS if each.ratios} <= runnable


def test_a_peer_gets_what_longfat_drew() -> None:
    scene = scene_of(SMALL, 'link.bottleneck.queue={ kind = "red", mode = "bytes" }', seed=3)
    assert [flow.rtt_s for flow in scene.flows] == [0.02, 0.02]
    assert len({flow.start_s for flow in scene.flows}) == 2
    top, forward, _, first, _ = lines(scene, cap_s=5, options={"tick": 0.01})
    assert top == "top duration 4.0 warmup 1.0 seed 3 cap 5 tick 0.01"
    # A tenth and three tenths of 10 Mbit/s · 20 ms = 25 kB.
    words = "queue red buffer 25000 unit bytes packet 1500 min 2500 max 7500 weight 0.002 max_p 0.1"
    assert words in forward
    # 20 ms less 2 · 5 ms on the link leaves 5 ms each way, all before the link: only one direction has data.
    assert "rtt 0.02 delay_before 0.005 delay_behind none initial_window 10" in first


def test_hosts_are_where_longfat_has_them_when_both_ways_have_data() -> None:
    back = '[[flow]]\nname = "back"\ncontrol = "reno"\npath = ["bottleneck"]\nreverse = true\nrtt = "20 ms"\n'
    scene = scene_of(SMALL + back)
    assert scene.busy == ("forward", "reverse")
    assert all(
        "delay_before 0.0025 delay_behind 0.0025" in line
        for line in lines(scene, cap_s=5, options={})
        if line.startswith("flow")
    )


def test_a_peer_is_told_how_losses_are_repaired() -> None:
    for recovery in ("sack", "newreno"):
        scene = scene_of(SMALL, f'flow.forward.recovery="{recovery}"')
        flow = lines(scene, cap_s=5, options={})[-1].split()
        assert flow[flow.index("recovery") + 1] == recovery


@pytest.mark.parametrize(
    "change",
    [
        *(
            f"flow.forward.control={each}"
            for each in sorted(Ns3.abilities.controls - {"reno", "hstcp", "stcp"})
        ),
        'flow.forward.recovery="rack"',
        "flow.forward.delayed_ack=true",
        *(f'link.bottleneck.queue="{each}"' for each in ("codel", "fq-codel", "pie", "step")),
    ],
)
def test_ns3_runs_what_ns2_does_not_have(change: str) -> None:
    scenario = Scenario.parse(SMALL, overrides=[change])
    assert Ns2().refusal(scenario) is not None
    assert Ns3().refusal(scenario) is None


def test_a_peer_is_told_times_in_seconds_and_how_acknowledgments_wait() -> None:
    plain = lines(scene_of(), cap_s=5, options={})[-1]
    assert "ack_every 1 ack_delay 0.0" in plain
    _, forward, _, flow, *_ = lines(
        scene_of(
            SMALL,
            "flow.forward.delayed_ack=true",
            'flow.forward.ack_delay="40 ms"',
            'link.bottleneck.queue="codel"',
            can=Ns3.abilities,
        ),
        cap_s=5,
        options={},
    )
    assert "ack_every 2 ack_delay 0.04" in flow
    assert (
        "queue codel buffer 17 unit packets packet 1500 target 0.005 interval 0.1 ecn 1" in forward
    )


def test_an_unexpected_result_is_refused() -> None:
    with pytest.raises(ValueError, match="unexpected line"):
        read_result("top engine_s 1 reached_s 1\nwhat 3\n")
    with pytest.raises(ValueError, match="no readings"):
        read_result("top engine_s 1 reached_s 1\n")
    scene = scene_of()
    one = "at 0.5\nflow 0 delivered 1\nflow 1 delivered 1\n"
    assert first_reading(scene, read_result(f"top engine_s 1 reached_s 0.5\n{one}")) is None


def test_a_peer_that_fails_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install_fake(monkeypatch, tmp_path, reached=1.0)
    (tmp_path / "bin" / "ns").write_text("#!/bin/sh\necho out of luck >&2\nexit 4\n", "utf-8")
    with pytest.raises(ProcessError, match="code 4\nout of luck"):
        timed_in(Ns2(), scene_of(), cap_s=5)
    with pytest.raises(KeyError, match="no option"):
        timed_in(Ns2(), scene_of(), cap_s=5, options={"colour": 1})


def installed(name: str) -> bool:
    try:
        PEERS[name]().version()
        PEERS[name]().command()
    except PeerAbsent:
        return False
    return True


AS_HTSIM = ['flow.*.recovery="newreno"', 'flow.*.rto_min="250 ms"']
"""What htsim has instead of longfat's defaults."""


@pytest.mark.parametrize("name", PEERS)
def test_a_lone_reno_flow_gives_the_same_in_a_peer(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # Compiled once for all tests of a session.
    kept = tmp_path_factory.getbasetemp() / "peers"
    monkeypatch.setenv("LONGFAT_CACHE", str(kept))
    if not installed(name):
        pytest.skip(f"{name} is not installed")
    peer = PEERS[name]()
    lone = ['duration="20 s"', 'warmup="5 s"', "flow.0.count=1"]
    scenario = Scenario.parse(SMALL, overrides=[*lone, *(AS_HTSIM if name == "htsim" else [])])
    ours, summary = timed(scenario)
    theirs = timed_in(peer, dumbbell(scenario, summary, peer.abilities), cap_s=60)
    assert theirs.complete
    assert ours.network is not None
    assert theirs.network is not None
    # A buffer of one bandwidth-delay product keeps the link busy in any of them.
    for network in (ours.network, theirs.network):
        assert network.goodput_bit_s == pytest.approx(10e6, rel=0.01)
        assert network.queue_mean == pytest.approx(0.5, abs=0.1)
        assert network.drop_rate > 0


_HALVED = (0.4, 0.65)
"""Mean queue of a window that is halved when the buffer, a bandwidth-delay product, is full."""


@pytest.mark.parametrize(
    ("changes", "least_goodput", "queue", "marks"),
    [
        # CUBIC gives up 30 %, BIC an eighth.
        (["flow.0.control=cubic"], 0.99, (0.5, 0.9), False),
        (["flow.0.control=bic"], 0.99, (0.75, 0.95), False),
        # The others are Reno, or nearly, on a path this short.
        *(
            ([f"flow.0.control={control}"], 0.98, _HALVED, False)
            for control in ("h-tcp", "hybla", "westwood", "yeah")
        ),
        (["flow.0.delayed_ack=true"], 0.99, _HALVED, False),
        (['flow.0.recovery="rack"'], 0.99, _HALVED, False),
        # A threshold of five packets in a buffer of 17.
        (
            [
                "flow.0.control=dctcp",
                'link.bottleneck.queue={ kind = "step", threshold = "5 packets" }',
            ],
            0.98,
            (0.15, 0.35),
            True,
        ),
        # Waiting beyond 5 ms, which is four packets, is not for long.
        (['link.bottleneck.queue="codel"'], 0.85, (0.05, 0.35), True),
        (['link.bottleneck.queue="fq-codel"'], 0.85, (0.05, 0.35), True),
    ],
)
def test_a_lone_flow_of_today_gives_the_same_in_ns3(
    changes: list[str],
    least_goodput: float,
    queue: tuple[float, float],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    *,
    marks: bool,
) -> None:
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path_factory.getbasetemp() / "peers"))
    if not installed("ns3"):
        pytest.skip("ns3 is not installed")
    lone = ['duration="20 s"', 'warmup="5 s"', "flow.0.count=1"]
    scenario = Scenario.parse(SMALL, overrides=[*lone, *changes])
    ours, summary = timed(scenario)
    theirs = timed_in(Ns3(), dumbbell(scenario, summary, Ns3.abilities), cap_s=60)
    assert theirs.complete
    assert ours.network is not None
    assert theirs.network is not None
    for network in (ours.network, theirs.network):
        assert network.goodput_bit_s >= least_goodput * 10e6
        assert network.queue_mean is not None
        assert queue[0] <= network.queue_mean <= queue[1]
        assert (network.mark_rate > 0) == marks
        assert (network.drop_rate > 0) == (not marks)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("flow.*.control=hstcp", "it has the controller `hstcp`"),
        ("flow.*.recovery=sack", "`recovery` of group `forward` is 'sack'"),
        ('flow.*.rto_min="200 ms"', "`rto_min` of group `forward` is '200 ms'"),
        ("flow.*.delayed_ack=true", "`delayed_ack` of group `forward` is True"),
        ("link.*.queue=red", "it has the queue `red`"),
    ],
)
def test_htsim_refuses_what_only_others_have(change: str, reason: str) -> None:
    assert Htsim().refusal(Scenario.parse(SMALL, overrides=AS_HTSIM)) is None
    scenario = Scenario.parse(SMALL, overrides=[*AS_HTSIM, change])
    assert Htsim().refusal(scenario) == reason


def test_only_htsim_is_told_where_slow_start_ends() -> None:
    scenario = Scenario.parse(SMALL, overrides=[*AS_HTSIM, "flow.*.initial_threshold=8"])
    assert Htsim().refusal(scenario) is None
    assert Ns2().refusal(scenario) == "`initial_threshold` of group `forward` is 8"
    summary = timed(scenario)[1]
    flow = lines(dumbbell(scenario, summary, Htsim.abilities), cap_s=5, options={})[-1]
    assert "initial_threshold 8" in flow


def test_a_folder_without_htsim_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, longfat: Command
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    done = longfat("bench", "--scenario", "A", "--against", "htsim")
    assert done.returncode == 2
    assert f"{FOLDER} is {tmp_path}, which has no config.cpp of htsim" in done.stderr
    assert "git clone" in done.stderr
    with pytest.raises(PeerAbsent, match="of htsim"):
        Htsim().version()


def htsim_command(monkeypatch: pytest.MonkeyPatch, kept: Path) -> list[str]:
    """The program for htsim, compiled once for all tests of a session."""
    monkeypatch.setenv("LONGFAT_CACHE", str(kept / "peers"))
    if FOLDER not in os.environ:
        pytest.skip(f"{FOLDER} does not name a checkout of htsim")
    return Htsim().command()


@pytest.mark.parametrize(
    ("changes", "agree"),
    [
        # A flow alone is the same in both, but for what it sends while it repairs a loss.
        (["flow.0.count=1"], 0.01),
        (["flow.0.count=1", 'link.bottleneck.buffer="25000 B"'], 0.01),
        (["flow.0.count=1", "flow.0.max_window=10"], 0.001),
        (["flow.0.count=1", "flow.0.initial_threshold=8"], 0.01),
        # Two flows lose more than one packet of a window.
        ([], 0.05),
    ],
)
def test_htsim_gives_nearly_the_same(
    changes: list[str],
    agree: float,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    htsim_command(monkeypatch, tmp_path_factory.getbasetemp())
    long = ['duration="60 s"', 'warmup="20 s"']
    scenario = Scenario.parse(SMALL, overrides=[*AS_HTSIM, *long, *changes])
    ours, summary = timed(scenario)
    theirs = timed_in(Htsim(), dumbbell(scenario, summary, Htsim.abilities), cap_s=60)
    assert ours.network is not None
    assert theirs.network is not None
    assert theirs.network.goodput_bit_s == pytest.approx(ours.network.goodput_bit_s, rel=0.002)
    assert theirs.network.queue_mean == pytest.approx(ours.network.queue_mean, abs=agree)
    assert theirs.network.drop_rate == pytest.approx(ours.network.drop_rate, rel=agree)


def test_windows_of_htsim_stop_growing_unless_fractions_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    htsim_command(monkeypatch, tmp_path_factory.getbasetemp())
    # Packets of 100 bytes: a hundred of them are a window beyond which there is no whole byte to add. The path
    # holds 250.
    wide = [
        "flow.0.count=1",
        'flow.0.packet="100 B"',
        "flow.0.initial_threshold=120",
        'link.bottleneck.buffer="200 packets"',
        'duration="40 s"',
        'warmup="10 s"',
    ]
    scenario = Scenario.parse(SMALL, overrides=[*AS_HTSIM, *wide])
    ours, summary = timed(scenario)
    scene = dumbbell(scenario, summary, Htsim.abilities)
    whole, carried = (
        timed_in(Htsim(), scene, cap_s=60, options={"whole": whole}) for whole in (1, 0)
    )
    assert ours.network is not None
    assert whole.network is not None
    assert carried.network is not None
    assert carried.network.goodput_bit_s == pytest.approx(ours.network.goodput_bit_s, rel=0.01)
    # 120 of the 250, for ever.
    assert whole.network.goodput_bit_s == pytest.approx(0.48 * 10e6, rel=0.01)
    assert whole.network.drop_rate == 0


def test_htsim_stops_where_its_time_is_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    htsim_command(monkeypatch, tmp_path_factory.getbasetemp())
    scenario = Scenario.parse(SMALL, overrides=AS_HTSIM)
    scene = dumbbell(scenario, timed(scenario)[1], Htsim.abilities)
    stopped = timed_in(Htsim(), scene, cap_s=0)
    assert not stopped.complete
    assert stopped.simulated_s < 0.01


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((0, "duration", "long"), "duration is long, which is no number"),
        ((0, "duration", "0"), "duration must be more than 0"),
        ((0, "tick", None), "the scenario does not say tick"),
        ((1, "queue", "red"), "htsim has no queue red here, only drop-tail"),
        ((1, "rate", "-1"), "rate is -1, which is no number"),
        ((3, "control", "hstcp"), "htsim has no control hstcp here, only reno"),
        ((3, "recovery", "sack"), "htsim has no recovery sack here, only newreno"),
        ((3, "rto_min", "0.2"), "htsim has no rto_min 0.2, only 0.25"),
        ((3, "packet", "1000"), "all flows must have the same packet"),
        ((3, "direction", "up"), "there is no direction up"),
        ((4, "packet", None), "the scenario does not say packet"),
    ],
)
def test_the_program_for_htsim_refuses_a_wrong_scenario(
    change: tuple[int, str, str | None],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
) -> None:
    command = htsim_command(monkeypatch, tmp_path_factory.getbasetemp())
    scenario = Scenario.parse(SMALL, overrides=AS_HTSIM)
    scene = dumbbell(scenario, timed(scenario)[1], Htsim.abilities)
    given = [each.split() for each in lines(scene, cap_s=60, options=Htsim.defaults)]
    line, word, instead = change
    place = given[line].index(word)
    given[line][place : place + 2] = [] if instead is None else [word, instead]
    wrong, result = tmp_path / "scenario", tmp_path / "result"
    wrong.write_text("\n".join(map(" ".join, given)) + "\n", "utf-8")
    done = subprocess.run(
        [*command, str(wrong), str(result)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert not result.exists()
