"""The page with the native engine behind it: a server for one reader on this machine, while the page is open.

Whoever can reach the port could have this machine simulate, so not many can: it listens on the loopback
interface, every path begins with a random token, and requests that name another host (a site whose name was
made to point here) or come from another page are refused. What it answers is text and numbers; it reads no file
but those that a scenario names, in the folder of the file that `longfat explore` was given.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import socket
import struct
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from longfat import _longfat
from longfat.playground import _native
from longfat.playground._page import page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_HOST = "127.0.0.1"
_ALIVE_S = 0.5
_HEED_S = 0.2
_GONE_S = 3.0
"""A page that is loaded anew is away for less."""
_FIRST_S = 600.0
"""For so long a page has time to come at all: somebody may have to carry the address to a browser."""


class Explorer(ThreadingHTTPServer):
    """Serves the page, and simulates for it.

    Attributes:
        address: Where the page is, with its token.
    """

    daemon_threads = False  # a run that is under way ends before the process does
    allow_reuse_address = True

    def __init__(
        self, texts: Sequence[str] = (), *, folder: Path | None = None, port: int = 0
    ) -> None:
        """Begins to listen.

        Args:
            texts: What the page begins with.
            folder: Where the files are that scenarios may name; `None`: they can name none.
            port: Where to listen; 0: wherever there is room.

        Raises:
            OSError: The port is taken.
        """
        self.token = secrets.token_urlsafe(24)
        self.folder = folder
        self.html = page(texts, server=f"/{self.token}/").encode()
        self.ending = threading.Event()
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._open = 0
        self._since = time.monotonic() + _FIRST_S
        # Where it cannot listen, it is closed at once: everything is there by now.
        super().__init__((_HOST, port), _Handler)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{_HOST}:{self.server_port}/{self.token}/"

    def came(self) -> None:
        """A page is open."""
        with self._lock:
            self._open += 1

    def went(self) -> None:
        """It is not any more."""
        with self._lock:
            self._open -= 1
            self._since = time.monotonic() + _GONE_S

    def service_actions(self) -> None:
        """Ends when no page has been open for a while; called about twice a second."""
        with self._lock:
            over = self._open == 0 and time.monotonic() > self._since
        if over and not self.ending.is_set():
            self.ending.set()
            threading.Thread(target=self.shutdown).start()

    def server_close(self) -> None:
        """Ends everything that is under way, and waits for it."""
        self.ending.set()
        with self._lock:
            for connection in self._connections:
                # Browsers open some ahead of time, and say nothing on them.
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        super().server_close()

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accepts a connection, and remembers it until it is closed."""
        connection, address = super().get_request()
        with self._lock:
            self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - as in the class above
        """Closes a connection."""
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as in the class above
        """A reader that has gone, or never said a word, is no error; anything else is."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def serve(
    texts: Sequence[str] = (),
    *,
    folder: Path | None = None,
    port: int = 0,
    ready: Callable[[str], object] = print,
) -> None:
    """Serves the page until it is closed, or until Ctrl-C.

    Args:
        texts: What it begins with: one scenario file or two. None: the first preset.
        folder: Where the files are that scenarios may name; `None`: they can name none.
        port: Where to listen; 0: wherever there is room.
        ready: Called with the address of the page.

    Raises:
        OSError: The port is taken.
    """
    with Explorer(texts, folder=folder, port=port) as server:
        ready(server.address)
        # Not here, where a signal could strike between a connection's arrival and its being remembered.
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            # The kernel may tell another thread of a signal; this one hears of it when it wakes.
            while serving.is_alive():
                serving.join(_HEED_S)
        finally:
            server.shutdown()
            serving.join()


class _Handler(BaseHTTPRequestHandler):
    server: Explorer
    timeout = 30
    # Each connection has one request, so none is waited for at the end.
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        what = self._asked()
        if what == "":
            self._answer("text/html; charset=utf-8", self.server.html)
        elif what == "alive":
            self._stay()
        elif what is not None:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")

    def do_POST(self) -> None:
        what = self._asked()
        if what is None:
            return
        length = self.headers.get("Content-Length", "")
        most = 2 * _longfat.LONGEST_TEXT
        # Python refuses to read numbers of thousands of digits.
        if not length.isdecimal() or len(length) > len(str(most)) or int(length) > most:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the request is too long")
            return
        request = self.rfile.read(int(length))
        if what == "catalogue":
            self._answer("application/json", _longfat.Session.catalogue().encode())
        elif what == "read":
            self._answer("application/json", _native.read(request, self.server.folder).encode())
        elif what == "run":
            self._begin("application/octet-stream")
            ending = self.server.ending
            _native.run(request, self.server.folder, self, lambda: not ending.is_set())
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")

    def _asked(self) -> str | None:
        """What is asked for, after the token; `None` once it was refused."""
        server = self.server
        port = server.server_port
        hosts = {f"{name}:{port}" for name in (_HOST, "localhost")}
        token, _, rest = self.path.partition("?")[0].removeprefix("/").partition("/")
        origin = self.headers.get("Origin")
        if self.headers.get("Host") not in hosts:
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST, "this server has another name")
        elif not hmac.compare_digest(token.encode(), server.token.encode()):
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")
        elif origin is not None and origin not in {f"http://{host}" for host in hosts}:
            self._refuse(HTTPStatus.FORBIDDEN, "only the page itself may ask")
        else:
            return rest
        return None

    def _begin(self, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.end_headers()

    def _answer(self, kind: str, body: bytes, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._begin(kind, status)
        self.wfile.write(body)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self._answer("text/plain; charset=utf-8", why.encode(), status)

    def _stay(self) -> None:
        """Holds on to a page for as long as it is open: what is written tells when it is not."""
        self.server.came()
        try:
            self._begin("text/plain")
            with contextlib.suppress(OSError):
                while not self.server.ending.wait(_ALIVE_S):
                    self.wfile.write(b"\n")
        finally:
            self.server.went()

    def refused(self, answer: str) -> None:
        self._send(b"r", answer.encode())

    def failed(self, message: str) -> None:
        self._send(b"f", message.encode())

    # Writing fails once the page does not want it any more, which ends the run.
    def series(self, progress: float, frame: bytes) -> None:
        self._send(b"s", struct.pack("<d", progress) + frame)

    def done(self, seconds: float, frame: bytes) -> None:
        self._send(b"d", struct.pack("<d", seconds) + frame)

    def _send(self, kind: bytes, body: bytes) -> None:
        self.wfile.write(kind + struct.pack("<I", len(body)) + body)

    def log_message(self, *_: object) -> None:
        """Nobody wants to read this."""
