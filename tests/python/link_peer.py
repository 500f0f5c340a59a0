"""What runs at the ends of a real link in tests: `python link_peer.py ROLE`, with sockets and nothing else.

Servers print `ready` once they listen; what was measured is printed as JSON.
"""

from __future__ import annotations

import json
import os
import random
import socket
import sys
import time

HERE, HERE_V6, PORT = "198.18.0.2", "2001:2::2", 7007
"""The addresses of end b."""

ECHOES, PAUSE = 200, 0.005
"""How many echoes are asked for, and how long after one another."""

PACKETS, PAYLOAD = 20_000, 100
"""What is sent to see how much is lost."""

CONTENT = 20_000_000
"""How many bytes are compared."""

DATAGRAMS, TOGETHER, DATAGRAM = 2000, 20, 1200
"""How many datagrams are compared, how many are sent as one, how long all but the last of these are."""

UDP_SEGMENT = 103
"""UDP_SEGMENT of Linux, which Python does not name."""

SECONDS, WARMUP = 10.0, 4.0
"""How long a transfer takes, and when it begins to count."""

RECEIVE_BUFFER = 33
"""SO_RCVBUFFORCE of Linux, which Python does not name."""


def ready() -> None:
    """Tells the other side to begin."""
    print("ready", flush=True)


def tell(**measured: float) -> None:
    """What was measured."""
    print(json.dumps(measured), flush=True)


def echo() -> None:
    """Sends back what comes, until nothing has come for a while."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind((HERE, PORT))
        own.settimeout(10)
        ready()
        for _ in range(ECHOES):
            data, address = own.recvfrom(100)
            own.sendto(data, address)


def ask() -> None:
    """Round trips of small packets, in seconds."""
    times = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.settimeout(10)
        own.connect((HERE, PORT))
        for _ in range(ECHOES):
            before = time.monotonic()
            own.send(b"?")
            own.recv(100)
            times.append(time.monotonic() - before)
            time.sleep(PAUSE)
    times.sort()
    tell(least=times[0], median=times[len(times) // 2])


def take() -> None:
    """Takes a transfer: how fast it arrives, once it has warmed up, in bit/s."""
    with socket.create_server((HERE, PORT)) as listener:
        ready()
        own, _ = listener.accept()
    memory = bytearray(1 << 20)
    received, counted_from, counted = 0, 0.0, 0
    start = time.monotonic()
    with own:
        while number := own.recv_into(memory):
            received += number
            now = time.monotonic()
            if not counted_from and now - start > WARMUP:
                counted_from, counted = now, received
    tell(rate=8 * (received - counted) / (now - counted_from))


def give() -> None:
    """Sends as fast as TCP does."""
    data = bytes(1 << 18)
    with socket.create_connection((HERE, PORT)) as own:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            own.sendall(data)


def family() -> tuple[socket.AddressFamily, str]:
    """How the content is carried: the second argument says `4` or `6`."""
    return (socket.AF_INET6, HERE_V6) if sys.argv[2] == "6" else (socket.AF_INET, HERE)


def content() -> bytes:
    """Bytes that do not repeat."""
    return random.Random(7).randbytes(CONTENT)  # noqa: S311 - they need not be secret


def check() -> None:
    """Takes the content: is it whole?"""
    kind, address = family()
    with socket.create_server((address, PORT), family=kind) as listener:
        ready()
        own, _ = listener.accept()
    with own, own.makefile("rb") as stream:
        tell(whole=stream.read() == content())


def hand() -> None:
    """Sends the content."""
    _, address = family()
    with socket.create_connection((address, PORT)) as own:
        own.sendall(content())


def gather() -> None:
    """Takes datagrams that were sent as one: how many, and are they whole?"""
    kind, address = family()
    received, whole = 0, True
    with socket.socket(kind, socket.SOCK_DGRAM) as own:
        own.setsockopt(socket.SOL_SOCKET, RECEIVE_BUFFER, 1 << 28)
        own.bind((address, PORT))
        own.settimeout(10)
        ready()
        try:
            while data := own.recv(65536):
                number = int.from_bytes(data[:4], "big")
                whole &= data == datagram(number)
                received += 1
                own.settimeout(2)
        except TimeoutError:
            pass
    tell(received=received, whole=whole)


def scatter() -> None:
    """Sends datagrams, many as one (`UDP_SEGMENT`); the last of each is shorter."""
    kind, address = family()
    with socket.socket(kind, socket.SOCK_DGRAM) as own:
        own.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, DATAGRAM)
        own.connect((address, PORT))
        for first in range(0, DATAGRAMS, TOGETHER):
            own.send(b"".join(map(datagram, range(first, first + TOGETHER))))
            time.sleep(0.002)


def datagram(number: int) -> bytes:
    """One that says which it is, and differs from all others throughout."""
    length = DATAGRAM - 100 if number % TOGETHER == TOGETHER - 1 else DATAGRAM
    return number.to_bytes(4, "big") + random.Random(number).randbytes(length - 4)  # noqa: S311


def count() -> None:
    """Counts packets until none has come for two seconds."""
    received = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.setsockopt(socket.SOL_SOCKET, RECEIVE_BUFFER, 1 << 28)
        own.bind((HERE, PORT))
        own.settimeout(10)
        ready()
        try:
            while own.recv(PAYLOAD):
                received += 1
                own.settimeout(2)
        except TimeoutError:
            pass
    tell(received=received)


def spray() -> None:
    """Sends packets, a few at a time."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.connect((HERE, PORT))
        for number in range(PACKETS):
            own.send(b"." * PAYLOAD)
            if number % 100 == 0:
                time.sleep(0.002)


ROLES = {
    each.__name__: each
    for each in (echo, ask, take, give, check, hand, gather, scatter, count, spray)
}

if __name__ == "__main__":
    # Before all else that runs here, or it is the machine that is measured; the link itself comes first still.
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))
    ROLES[sys.argv[1]]()
