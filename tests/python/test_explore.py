"""`longfat explore`: a server for one page, one reader and this machine, of which nothing is left."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from longfat import _longfat
from longfat.playground._server import Explorer
from support import ENDLESS, ROOT, SMALL, Command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def explorer() -> Iterator[Explorer]:
    with Explorer([SMALL]) as server:
        running = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        running.start()
        yield server
        server.shutdown()
        running.join()


def ask(
    server: Explorer, what: str, request: Any = None, *, token: str | None = None, **headers: str
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    path = f"/{server.token if token is None else token}/{what}"
    body = None if request is None else json.dumps(request)
    with_names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("GET" if request is None else "POST", path, body, with_names)
    response = connection.getresponse()
    return response.status, response.read()


def messages(body: bytes) -> list[tuple[str, bytes]]:
    found, at = [], 0
    while at < len(body):
        (length,) = struct.unpack_from("<I", body, at + 1)
        found.append((chr(body[at]), body[at + 5 : at + 5 + length]))
        at += 5 + length
    return found


def summary(frame: bytes) -> dict[str, Any]:
    (length,) = struct.unpack_from("<I", frame)
    told: dict[str, Any] = json.loads(frame[4 : 4 + length])["summary"]
    return told


def test_it_simulates_as_the_command_line_does(explorer: Explorer, small: Path) -> None:
    status, body = ask(explorer, "run", {"text": SMALL})
    assert status == 200
    *pictures, (kind, told) = messages(body)
    assert (kind, {each for each, _ in pictures} <= {"s"}) == ("d", True)
    session = _longfat.Session()
    session.read(json.dumps({"text": SMALL}).encode())
    session.start()
    while session.advance(10_000):
        pass
    assert told[8:] == session.finish()
    assert small.read_text("utf-8") == SMALL
    assert [flow["name"] for flow in summary(told[8:])["flows"]] == ["forward[0]", "forward[1]"]


def test_pictures_are_sent_while_a_run_goes_on(explorer: Explorer) -> None:
    # Several times longer than from one picture to the next, on a fast machine too.
    text = SMALL.replace("10 Mbit/s", "1 Gbit/s").replace("4 s", "400 s")
    _, body = ask(explorer, "run", {"text": text})
    found = messages(body)
    shares = [struct.unpack_from("<d", each)[0] for kind, each in found if kind == "s"]
    assert len(shares) > 0
    assert shares == sorted(set(shares))
    assert all(0 < share < 1 for share in shares)
    assert found[-1][0] == "d"


def test_what_is_wrong_is_told(explorer: Explorer) -> None:
    text = SMALL.replace('"reno"', '"renno"')
    _, answer = ask(explorer, "read", {"text": text})
    (problem,) = json.loads(answer)["error"]["diagnostics"]
    assert problem["line"] == 10
    assert messages(ask(explorer, "run", {"text": text})[1]) == [("r", answer)]
    assert "cannot be read" in json.loads(ask(explorer, "read", [1])[1])["error"]["message"]


def test_what_does_not_fit_is_refused(explorer: Explorer) -> None:
    text = 'sample = "4 us"\n' + SMALL.replace("count = 2", "count = 100000")
    ((kind, told),) = messages(ask(explorer, "run", {"text": text})[1])
    assert kind == "f"
    assert b"of memory" in told
    assert b"longer `sample`" in told


def test_nobody_else_can_ask(explorer: Explorer) -> None:
    assert ask(explorer, "")[0] == 200
    assert ask(explorer, "", token="guess")[0] == 404  # noqa: S106 - it is wrong
    assert ask(explorer, "", token="")[0] == 404
    assert ask(explorer, "other")[0] == 404
    assert ask(explorer, "other", {})[0] == 404
    # A name that somebody has made to point here, and a page of somebody else.
    assert ask(explorer, "", Host=f"example.org:{explorer.server_port}")[0] == 421
    assert ask(explorer, "read", {"text": SMALL}, Origin="http://example.org")[0] == 403
    assert ask(explorer, "read", {"text": SMALL}, Origin="null")[0] == 403
    port = explorer.server_port
    assert ask(explorer, "read", {"text": SMALL}, Origin=f"http://127.0.0.1:{port}")[0] == 200
    assert ask(explorer, "read", {"text": SMALL}, Content_Length="99999999999")[0] == 413
    assert ask(explorer, "read", {"text": SMALL}, Content_Length=5000 * "9")[0] == 413
    assert explorer.server_address[0] == "127.0.0.1"


def test_no_other_page_can_hold_it_in_a_frame(explorer: Explorer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", explorer.server_port, timeout=20)
    connection.request("GET", f"/{explorer.token}/")
    headers = connection.getresponse().headers
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_files_are_read_in_one_folder_only(own_folder: Path) -> None:
    text = SMALL.replace('rate = "10 Mbit/s"', 'trace = "NAME"')
    (own_folder / "inside").mkdir()
    (own_folder / "inside/own.trace").write_text("1\n2\n")
    (own_folder / "secret.trace").write_text("1\n2\n")
    with Explorer([text], folder=own_folder / "inside") as server:
        running = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        running.start()
        told = {
            name: json.loads(ask(server, "read", {"text": text.replace("NAME", name)})[1])
            for name in ("own.trace", "../secret.trace", str(own_folder / "secret.trace"))
        }
        server.shutdown()
        running.join()
    assert [list(each) for each in told.values()] == [["scenario"], ["error"], ["error"]]


def test_a_run_that_nobody_waits_for_ends(explorer: Explorer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", explorer.server_port, timeout=20)
    body = json.dumps({"text": ENDLESS})
    connection.request("POST", f"/{explorer.token}/run", body)
    response = connection.getresponse()
    assert response.read(1) == b"s"
    before = threading.active_count()
    response.close()
    connection.close()
    deadline = time.monotonic() + 20
    while threading.active_count() >= before:
        assert time.monotonic() < deadline, "it still runs"
        time.sleep(0.05)


def start(*arguments: object) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "longfat", "explore", "--no-browser", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address), address
    return process, address


def connected(address: str) -> tuple[http.client.HTTPConnection, str]:
    host, _, token = address.removeprefix("http://").rstrip("/").partition("/")
    return http.client.HTTPConnection(host, timeout=20), token


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_ends_it_whatever_is_under_way(number: signal.Signals, code: int) -> None:
    process, address = start(ROOT / "scenarios/first.toml")
    connection, token = connected(address)
    connection.request("POST", f"/{token}/run", json.dumps({"text": ENDLESS}))
    response = connection.getresponse()
    assert response.read(1) == b"s"
    # Browsers open connections ahead of time, on which nothing is said.
    silent = socket.create_connection((connection.host, connection.port))
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    silent.close()
    assert process.returncode == code, said
    assert "Traceback" not in said


def test_closing_the_page_ends_it() -> None:
    process, address = start()
    connection, token = connected(address)
    connection.request("GET", f"/{token}/alive")
    response = connection.getresponse()
    assert response.read(1) == b"\n"
    assert process.poll() is None
    response.close()
    connection.close()
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (0, "")


def test_wrong_words_are_refused(longfat: Command, own_folder: Path) -> None:
    done = longfat("explore", "missing.toml")
    assert (done.returncode, "there is no file missing.toml" in done.stderr) == (2, True)
    files = [own_folder / f"{index}.toml" for index in range(3)]
    for file in files:
        file.write_text(SMALL, encoding="utf-8")
    done = longfat("explore", *files)
    assert (done.returncode, "not 3" in done.stderr) == (2, True)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = longfat("explore", "--no-browser", "--port", taken.getsockname()[1])
    assert (done.returncode, "in use" in done.stderr) == (2, True)
    assert "Traceback" not in done.stderr
