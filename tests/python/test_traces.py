"""Traces for other tools: what is in the files, as we read it and as tshark does; and they change nothing."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
import pytest

import longfat as package
from longfat.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support import Command

LOSSY = """\
duration = "8 s"

[link.bottleneck]
rate = "20 Mbit/s"
delay = "10 ms"
buffer = "0.5 bdp"
loss = 1e-3
queue = { kind = "red", ecn = true }

[[flow]]
name = "sack"
control = "reno"
count = 2
path = ["bottleneck"]
rtt = "40 ms"

[[flow]]
name = "rack"
control = "cubic"
recovery = "rack"
path = ["bottleneck"]
rtt = "60 ms"
ecn = false

[[flow]]
name = "newreno"
control = "reno"
recovery = "newreno"
path = ["bottleneck"]
rtt = "50 ms"

[[flow]]
name = "accurate"
control = "dctcp"
ecn_feedback = "accurate"
path = ["bottleneck"]
rtt = "50 ms"

[[traffic]]
name = "web"
control = "reno"
path = ["bottleneck"]
rtt = "40 ms"
arrivals = { poisson = "3 /s" }
size = "30 packets"
"""
"""Losses on the wire and in the queue, marks, every kind of TCP, and short flows."""

SACK, OPTIONS_FROM = 5, 40
MOST_BLOCKS = 3


class Packet(NamedTuple):
    """A captured packet.

    Attributes:
        interface: The number of its interface.
        nanoseconds: When it was seen.
        length: Its length on the wire.
        headers: What was captured.
        comment: Its comment, if it has one.
    """

    interface: int
    nanoseconds: int
    length: int
    headers: bytes
    comment: str

    @property
    def ends(self) -> tuple[bytes, bytes]:
        return self.headers[12:16] + self.headers[20:22], self.headers[16:20] + self.headers[22:24]

    @property
    def flags(self) -> int:
        return int(struct.unpack_from(">H", self.headers, 32)[0]) & 0x0FFF

    @property
    def sequence(self) -> int:
        return int(struct.unpack_from(">I", self.headers, 24)[0])

    @property
    def payload(self) -> int:
        return self.length - len(self.headers)

    @property
    def blocks(self) -> int:
        """How many blocks of selective acknowledgments there are."""
        options = self.headers[OPTIONS_FROM:]
        while options and options[0] != 0:
            if options[0] == SACK:
                return (options[1] - 2) // 8
            options = options[1 if options[0] == 1 else options[1] :]
        return 0


class Capture(NamedTuple):
    """A pcapng file, read by this test: names of interfaces, and packets."""

    interfaces: list[str]
    packets: list[Packet]


def options(body: bytes) -> Iterator[tuple[int, bytes]]:
    while body:
        code, length = struct.unpack_from("<HH", body)
        if code == 0:
            assert len(body) == 4, "nothing follows the end"
            return
        yield code, body[4 : 4 + length]
        body = body[4 + length + -length % 4 :]


def read(path: Path) -> Capture:
    """Reads the blocks of draft-ietf-opsawg-pcapng, section 4, and checks how they are built."""
    content = path.read_bytes()
    found = Capture([], [])
    place = 0
    while place < len(content):
        kind, length = struct.unpack_from("<II", content, place)
        assert length % 4 == 0
        assert struct.unpack_from("<I", content, place + length - 4)[0] == length
        body = content[place + 8 : place + length - 4]
        if kind == 0x0A0D0D0A:
            assert place == 0
            assert struct.unpack_from("<IHHq", body) == (0x1A2B3C4D, 1, 0, -1)
        elif kind == 1:
            link_type, _, snap = struct.unpack_from("<HHI", body)
            told = dict(options(body[8:]))
            assert (link_type, snap, told[9]) == (101, 80, b"\x09")
            found.interfaces.append(told[2].decode())
        else:
            assert kind == 6
            interface, high, low, captured, whole = struct.unpack_from("<IIIII", body)
            headers = body[20 : 20 + captured]
            assert captured <= 80
            comment = dict(options(body[20 + captured + -captured % 4 :])).get(1, b"").decode()
            found.packets.append(Packet(interface, high << 32 | low, whole, headers, comment))
        place += length
    return found


def complement(data: bytes) -> int:
    """The sum of RFC 1071: 16-bit words with end-around carry; all ones if the checksum within is right."""
    words = struct.unpack(f">{len(data) // 2}H", data)
    total: int = sum(words)
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def tshark(path: Path, *arguments: str) -> list[list[str]]:
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed: apt-get install tshark")
    done = subprocess.run(
        [program, "-r", path, *arguments], capture_output=True, text=True, check=True
    )
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = package.run(LOSSY, pcap=True, qlog=True)
    return run.save(tmp_path_factory.mktemp("traces") / "run")


def resent(folder: Path) -> dict[str, int]:
    """What the run counts as sent again, by the flow; of short flows together."""
    flows = pl.read_parquet(folder / "flows.parquet")
    short = pl.read_parquet(folder / "transfers.parquet").filter(pl.col("group") == "web")
    long = dict(zip(flows["name"].cast(str), flows["retransmitted"], strict=True))
    return long | {"web": int(short["retransmitted"].sum())}


def test_packets_are_those_of_the_run(traced: Path) -> None:
    capture = read(traced / "trace.pcapng")
    names = ["sack[0]", "sack[1]", "rack[0]", "newreno[0]", "accurate[0]", "web"]
    assert capture.interfaces == names
    assert all(
        one.nanoseconds <= other.nanoseconds
        for one, other in zip(capture.packets, capture.packets[1:], strict=False)
    )
    # Data that leaves is what carries some. Sent again is what a sender sends that it has sent before.
    sent: Counter[str] = Counter()
    again: Counter[str] = Counter()
    seen: dict[tuple[bytes, bytes], set[int]] = defaultdict(set)
    for packet in capture.packets:
        if packet.payload == 0:
            continue
        name = names[packet.interface]
        sent[name] += 1
        again[name] += packet.sequence in seen[packet.ends]
        seen[packet.ends].add(packet.sequence)
    flows = pl.read_parquet(traced / "flows.parquet")
    assert {name: sent[name] for name in names[:-1]} == dict(
        zip(flows["name"].cast(str), flows["sent"], strict=True)
    )
    counted = resent(traced)
    assert sum(counted.values()) > 50
    assert dict(again) == {name: count for name, count in counted.items() if count}


def test_headers_are_right(traced: Path) -> None:
    capture = read(traced / "trace.pcapng")
    blocks: dict[str, int] = defaultdict(int)
    ecn: dict[str, set[int]] = defaultdict(set)
    flags: dict[str, set[int]] = defaultdict(set)
    for packet in capture.packets:
        ip, tcp = packet.headers[:20], packet.headers[20:]
        assert ip[0] == 0x45
        assert struct.unpack_from(">H", ip, 2)[0] == packet.length
        assert complement(ip) == 0xFFFF
        # What was not captured is zero, and adds nothing.
        pseudo = ip[12:20] + struct.pack(">HH", 6, packet.length - 20)
        assert complement(pseudo + tcp) == 0xFFFF
        name = capture.interfaces[packet.interface]
        blocks[name] = max(blocks[name], packet.blocks)
        if not packet.comment:
            ecn[name].add(ip[1] & 0b11)
            flags[name].add(packet.flags)
        else:
            assert packet.comment.startswith("synthetic")
    assert 1 <= blocks["sack[0]"] <= MOST_BLOCKS
    assert blocks["newreno[0]"] == 0
    # ECT(0) on new data only; echoes and their answers (RFC 3168), or counts in three bits (RFC 9768).
    assert ecn["sack[0]"] == {0b00, 0b10}
    assert ecn["rack[0]"] == {0b00}
    assert flags["rack[0]"] == {0x010}
    assert flags["sack[0]"] == {0x010, 0x050, 0x090}
    assert flags["accurate[0]"] >= {0x150, 0x190, 0x1D0, 0x010, 0x050, 0x090, 0x0D0, 0x110}
    opened = sum(packet.comment != "" for packet in capture.packets)
    connections = {frozenset(packet.ends) for packet in capture.packets}
    assert opened == 3 * len(connections)


def test_tshark_reads_every_packet(traced: Path) -> None:
    path = traced / "trace.pcapng"
    checks = ("-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE")
    wrong = "_ws.malformed or _ws.expert.severity == error or ip.checksum.status == bad"
    assert tshark(path, *checks, "-Y", wrong) == []
    seen = tshark(path, "-T", "fields", "-e", "tcp.srcport", "-e", "frame.interface_name")
    capture = read(path)
    assert [name for _, name in seen] == [
        capture.interfaces[packet.interface] for packet in capture.packets
    ]
    reported = tshark(
        path, "-Y", "tcp.options.sack", "-T", "fields", "-e", "tcp.options.sack.count"
    )
    assert [int(count) for (count,) in reported] == [
        packet.blocks for packet in capture.packets if packet.blocks
    ]


def test_tshark_finds_the_same_retransmissions(traced: Path) -> None:
    """Seen from the sender nothing comes out of order: what tshark takes for that was sent again too."""
    found: Counter[str] = Counter()
    for (name,) in tshark(
        traced / "trace.pcapng",
        *("-Y", "tcp.analysis.retransmission or tcp.analysis.out_of_order"),
        *("-T", "fields", "-e", "frame.interface_name"),
    ):
        found[name] += 1
    assert dict(found) == {name: count for name, count in resent(traced).items() if count}


EVENTS: dict[str, tuple[set[str], set[str]]] = {
    "transport:packet_sent": ({"header", "frames", "raw"}, set()),
    "transport:packet_received": ({"header", "frames", "raw"}, set()),
    "recovery:packet_lost": ({"header", "frames"}, set()),
    "recovery:congestion_state_updated": ({"new"}, {"old"}),
    "recovery:metrics_updated": (
        set(),
        {
            *("min_rtt", "smoothed_rtt", "latest_rtt", "congestion_window", "bytes_in_flight"),
            *("ssthresh", "packets_in_flight"),
        },
    ),
}
"""What each event must have and may have: draft-ietf-quic-qlog-quic-events-03, sections 4.2 and 5.2."""


def records(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The first text of a JSON text sequence (RFC 7464), and the events after it, as the drafts have them."""
    first, *texts = path.read_bytes().split(b"\x1e")
    assert first == b""
    assert all(text.endswith(b"\n") for text in texts)
    head, *events = map(json.loads, texts)
    assert set(head) == {"qlog_version", "qlog_format", "title", "description", "trace"}
    assert (head["qlog_version"], head["qlog_format"]) == ("0.3", "JSON-SEQ")
    assert set(head["trace"]) == {"title", "common_fields", "vantage_point"}
    assert head["trace"]["common_fields"]["time_format"] == "relative"
    last = 0.0
    for event in events:
        assert set(event) == {"time", "name", "data"}
        assert event["time"] >= last
        last = event["time"]
        must, may = EVENTS[event["name"]]
        assert must <= set(event["data"]) <= must | may, event
        if "header" in must:
            assert set(event["data"]["header"]) == {"packet_type", "packet_number"}
    return head, events


@pytest.mark.parametrize("name", ["sack[0]", "rack[0]", "newreno[0]", "accurate[0]"])
def test_qlog_tells_the_same_story(name: str, traced: Path) -> None:
    head, events = records(traced / f"{name}.sqlog")
    assert head["trace"]["common_fields"]["protocol_type"] == ["TCP"]
    of = {kind: [event["data"] for event in events if event["name"] == kind] for kind in EVENTS}
    flow = pl.read_parquet(traced / "flows.parquet").filter(pl.col("name").cast(str) == name)
    sent = of["transport:packet_sent"]
    assert [data["header"]["packet_number"] for data in sent] == list(range(len(sent)))
    assert len(sent) == flow["sent"].item()
    offsets = [data["frames"][0]["offset"] for data in sent]
    assert len(offsets) - len(set(offsets)) == flow["retransmitted"].item()
    # No packet is acknowledged twice, and what is sent again was lost, except after time-outs.
    acked = [
        number
        for data in of["transport:packet_received"]
        for each in data["frames"][0].get("acked_ranges", [])
        for number in range(each[0], each[-1] + 1)
    ]
    assert len(acked) == len(set(acked))
    assert set(acked) <= set(range(len(sent)))
    lost = {data["frames"][0]["offset"] for data in of["recovery:packet_lost"]}
    twice = {offset for offset, count in Counter(offsets).items() if count > 1}
    assert twice <= lost
    states = [data["new"] for data in of["recovery:congestion_state_updated"]]
    assert {"slow_start", "recovery", "congestion_avoidance"} <= set(states)
    assert any("ssthresh" in data for data in of["recovery:metrics_updated"])


def test_packets_with_numbers_have_a_qlog_but_no_pcapng(own_folder: Path, longfat: Command) -> None:
    text = LOSSY.replace('recovery = "rack"', 'recovery = "quic"').replace("8 s", "3 s")
    (own_folder / "quic.toml").write_text(text, "utf-8")
    refused = longfat("run", "quic.toml", "--pcap")
    assert refused.returncode == 2
    assert "`rack` sends as QUIC does" in refused.stderr
    assert "qlog tells what they are; or name the other flows" in refused.stderr
    assert not (own_folder / "runs").exists()
    done = longfat("run", "quic.toml", "--qlog", "--at", "rack", "--out", "one", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in (own_folder / "one").glob("*.sqlog")) == ["rack[0].sqlog"]
    head, events = records(own_folder / "one/rack[0].sqlog")
    assert head["trace"]["common_fields"]["protocol_type"] == ["QUIC"]
    sent = [event for event in events if event["name"] == "transport:packet_sent"]
    flow = pl.read_parquet(own_folder / "one/flows.parquet").filter(pl.col("group") == "rack")
    assert len(sent) == flow["sent"].item()
    done = longfat("run", "quic.toml", "--pcap", "--at", "sack[1]", "--at", "web", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert read(own_folder / "runs/quic-1/trace.pcapng").interfaces == ["sack[1]", "web"]


def test_tracing_changes_nothing(traced: Path) -> None:
    plain = package.run(LOSSY)
    summary = json.loads((traced / "summary.json").read_text("utf-8"))
    for told in (summary, plain.summary):
        del told["engine"]
    # NaN is written as null.
    assert summary == json.loads(json.dumps(plain.summary))
    for name in ("flows", "links", "transfers", "flow_series", "link_series", "limits"):
        assert plain.table(name).equals(pl.read_parquet(traced / f"{name}.parquet"))


def test_a_trace_ends_where_it_is_told_to(own_folder: Path, longfat: Command) -> None:
    (own_folder / "lossy.toml").write_text(LOSSY, "utf-8")
    done = longfat("run", "lossy.toml", "--pcap", "--trace-packets", "1000", "--out", "short")
    assert done.returncode == 0
    capture = read(own_folder / "short/trace.pcapng")
    seen = [packet for packet in capture.packets if not packet.comment]
    assert len(seen) == 1000
    told = next(line for line in done.stderr.splitlines() if line.startswith("the trace ends"))
    assert f"after 1,000 packets, at {seen[-1].nanoseconds / 1e9:.6g} s of the run" in told
    assert "--trace-packets asks for more" in told
    run = package.run(LOSSY, pcap=True, trace_packets=1000)
    assert run.traces is not None
    (file,) = run.traces.files
    assert file.read_bytes() == (own_folder / "short/trace.pcapng").read_bytes()
    assert run.traces.packets == 1000


def test_what_cannot_be_traced_is_refused(own_folder: Path, longfat: Command) -> None:
    (own_folder / "lossy.toml").write_text(LOSSY, "utf-8")
    for arguments, told in (
        (("--pcap", "--at", "sock"), "error: there is no flow `sock` to trace"),
        (("--pcap", "--at", "sack[2]"), "flows, `sack` or `sack[0]` to `sack[1]`"),
        (("--qlog", "--at", "web"), "qlog has a file for each long flow, and there is none"),
        (("--at", "sack"), "ask for a trace with --pcap or --qlog"),
        (("--trace-packets", "10"), "ask for a trace with --pcap or --qlog"),
        (("--pcap", "--trace-packets", "0"), "0 is not in the range"),
        (("--pcap", "--trace-packets", "9" * 23), "is not in the range"),
    ):
        done = longfat("run", "lossy.toml", *arguments)
        assert done.returncode == 2, arguments
        assert told in done.stderr
    assert not (own_folder / "runs").exists()
    with pytest.raises(TraceError, match="qlog has a file for each long flow, for 1000 at most"):
        package.run(LOSSY.replace("count = 2", "count = 1001"), qlog=True)
    with pytest.raises(TraceError, match="renos"):
        package.run(LOSSY, qlog=True, at="renos")
    with pytest.raises(TraceError, match="0 packets are no trace"):
        package.run(LOSSY, pcap=True, trace_packets=0)
    with pytest.raises(ValueError, match="no trace"):
        package.run(LOSSY, pcap=True, trace_packets=2**80)


@pytest.mark.parametrize("asked", [{"at": ["reno"]}, {"trace_packets": 0}])
def test_what_to_trace_is_refused_without_a_trace(asked: dict[str, Any]) -> None:
    """As the command line refuses it: it was ignored."""
    with pytest.raises(TraceError, match="ask for a trace with `pcap` or `qlog`"):
        package.run(LOSSY, **asked)
