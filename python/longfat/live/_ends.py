"""What runs at the two ends of a link: `python _ends.py ROLE ...`, with sockets and nothing else.

A file of its own without any import of longfat, so that it starts at once and disturbs no measurement.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from contextlib import suppress

ADDRESS, PORT = "198.18.0.2", 7008
"""Of end b."""

CONGESTION = "longfat"
"""What `longfat-tcp` has registered, unless another name is given."""

PAUSE = 0.01
"""Between two samples, in seconds."""

PIECE = 1 << 18
"""Bytes handed to the kernel at a time."""

PATIENCE = 10
"""How long a connection may take to come about, and how long nothing may come, in seconds."""

# `struct tcp_info` of Linux: eight bytes, the sixth with what both ends agreed on, 24 numbers of 32 bits, then
# among others what was acknowledged.
_NUMBERS = struct.Struct("=8x24I")
_ACKNOWLEDGED = struct.Struct("=120xQ")
_INFO = 192
_AGREED, _AGREED_ECN = 5, 8
_PAYLOAD, _UNACKNOWLEDGED, _SACKED, _LOST, _RESENT = 2, 4, 5, 6, 7
_RTT, _THRESHOLD, _WINDOW, _RETRANSMITTED = 15, 17, 18, 23


def take(flows: int) -> None:
    """Takes so many transfers, and throws away what comes."""
    with socket.create_server((ADDRESS, PORT), backlog=flows) as listener:
        listener.settimeout(PATIENCE)
        print("ready", flush=True)
        own = [listener.accept()[0] for _ in range(flows)]
    threads = [threading.Thread(target=_drain, args=(each,)) for each in own]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def _drain(own: socket.socket) -> None:
    memory = bytearray(1 << 20)
    # The other side ends with data under way, or is gone with the link.
    own.settimeout(PATIENCE)
    with own, suppress(ConnectionResetError, TimeoutError):
        while own.recv_into(memory):
            pass


def give(flows: int, seconds: float, congestion: str = CONGESTION) -> None:
    """Sends with so many flows for so long. Prints all samples, and whether with ECN, as one object of JSON."""
    own = [_connected(congestion) for _ in range(flows)]
    ecn = all(agreed_on_ecn(_info(each)) for each in own)
    end = threading.Event()
    start = time.monotonic()
    for each in own:
        threading.Thread(target=_fill, args=(each, end), daemon=True).start()
    samples = []
    while (now := time.monotonic() - start) < seconds:
        samples += [(now, flow, *sampled(_info(each))) for flow, each in enumerate(own)]
        time.sleep(PAUSE)
    end.set()
    for each in own:
        # What waits in the kernel is not waited for.
        each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        each.close()
    print(json.dumps({"samples": samples, "ecn": ecn}))


def _connected(congestion: str) -> socket.socket:
    own = socket.socket()
    own.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    own.settimeout(PATIENCE)
    own.connect((ADDRESS, PORT))
    own.settimeout(1)
    return own


def _fill(own: socket.socket, end: threading.Event) -> None:
    data = bytes(PIECE)
    # Closed: it is over.
    with suppress(OSError):
        while not end.is_set():
            # The kernel may hold all that it wants.
            with suppress(TimeoutError):
                own.send(data)


def _info(own: socket.socket) -> bytes:
    return own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO)


def agreed_on_ecn(info: bytes) -> bool:
    """Whether both ends use ECN (RFC 3168, section 6.1.1)."""
    return bool(info[_AGREED] & _AGREED_ECN)


def sampled(info: bytes) -> tuple[int, int, int, int, int, int, int]:
    """Window, threshold, in flight, RTT in us, bytes acknowledged, segments resent, bytes of a segment."""
    numbers = _NUMBERS.unpack_from(info)
    (acknowledged,) = _ACKNOWLEDGED.unpack_from(info)
    gone = numbers[_SACKED] + numbers[_LOST] - numbers[_RESENT]
    return (
        numbers[_WINDOW],
        numbers[_THRESHOLD],
        max(numbers[_UNACKNOWLEDGED] - gone, 0),
        numbers[_RTT],
        acknowledged,
        numbers[_RETRANSMITTED],
        numbers[_PAYLOAD],
    )


if __name__ == "__main__":
    if sys.argv[1] == "take":
        take(int(sys.argv[2]))
    else:
        give(int(sys.argv[2]), float(sys.argv[3]), *sys.argv[4:])
