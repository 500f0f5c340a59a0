"""The page in a notebook, with the native engine of the kernel behind it.

The engine is not the one in WebAssembly: every installation has the native one, it is twice as fast, has all of
the memory, reads the files beside a scenario, and a notebook has a kernel anyway. What a page asks comes as
messages of the widget, each with the `engine` that it is for, a set-up of one view; answers go back the same
way. A run has a thread: the kernel hears of what is no longer wanted, and other cells can run meanwhile.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from longfat import _longfat
from longfat.playground import _native
from longfat.playground._bundle import text
from longfat.playground._page import page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class Playground(anywidget.AnyWidget):
    """The playground in a notebook, as `longfat.explore` makes it.

    Attributes:
        texts: The scenario files as they are set up now: one, or two side by side. Setting them shows others.
        height: Of the frame in the notebook, in pixels of CSS.
    """

    _esm = text("widget.js")
    texts = traitlets.List(traitlets.Unicode(), minlen=1, maxlen=2).tag(sync=True)
    height = traitlets.Int(760, min=200).tag(sync=True)

    def __init__(
        self, texts: Sequence[str], *, folder: Path | None = None, height: int = 760
    ) -> None:
        """Takes scenario files; `longfat.explore` takes them from anywhere.

        Args:
            texts: One or two.
            folder: Where the files are that they may name; `None`: they can name none.
            height: Of the frame, in pixels of CSS.

        Raises:
            traitlets.TraitError: There are none or more than two, or the height is below 200.
        """
        self._folder = folder
        self._wanted: dict[str, threading.Event] = {}
        super().__init__(texts=list(texts), height=height)
        self.on_msg(self._hear)

    @property
    def text(self) -> str:
        """The scenario file as it is set up now, the first of two: `longfat.run(widget.text)` runs it."""
        return str(self.texts[0])

    def _hear(self, _: object, content: Mapping[str, Any], __: object) -> None:
        """A message of a page."""
        kind, engine = content.get("kind"), str(content.get("engine"))
        about = {"engine": engine, "run": content.get("run")}
        if kind == "page":
            html = page(self.texts, kernel=True)
            self.send({"kind": "page", "view": content.get("view"), "html": html})
        elif kind == "catalogue":
            self.send({**about, "kind": kind, "answer": _longfat.Session.catalogue()})
        elif kind == "read":
            answer = _native.read(_request(content), self._folder)
            self.send({**about, "kind": "answer", "answer": answer})
        elif kind == "run":
            self._stop(engine)
            ending = self._wanted[engine] = threading.Event()
            line = _Line(self, about, ending)
            arguments = (_request(content), self._folder, line)
            threading.Thread(target=_run, args=arguments, daemon=True).start()
        elif kind == "stop":
            self._stop(engine)
        elif kind == "gone":
            view = str(content.get("view"))
            for name in [each for each in self._wanted if each.startswith(f"{view}/")]:
                self._stop(name)

    def _stop(self, engine: str) -> None:
        """Ends the run of an engine, if there is one."""
        ending = self._wanted.pop(engine, None)
        if ending is not None:
            ending.set()

    def close(self) -> None:
        """Takes it from the notebook, and ends what it still runs."""
        for engine in list(self._wanted):
            self._stop(engine)
        super().close()


def _request(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content.get("request")).encode()


def _run(request: bytes, folder: Path | None, line: _Line) -> None:
    try:
        _native.run(request, folder, line, lambda: not line.ending.is_set())
    except Exception as error:
        line.failed(f"{type(error).__name__}: {error}")
        raise


class _Line:
    """Tells the page of a run, for as long as it is wanted."""

    def __init__(
        self, widget: Playground, about: Mapping[str, Any], ending: threading.Event
    ) -> None:
        self._widget = widget
        self._about = about
        self.ending = ending

    def refused(self, answer: str) -> None:
        self._send({"kind": "refused", "answer": answer})

    def failed(self, message: str) -> None:
        self._send({"kind": "failed", "message": message})

    def series(self, progress: float, frame: bytes) -> None:
        self._send({"kind": "series", "progress": progress}, [frame])

    def done(self, seconds: float, frame: bytes) -> None:
        self._send({"kind": "done", "seconds": seconds}, [frame])

    def _send(self, content: Mapping[str, Any], buffers: Sequence[bytes] = ()) -> None:
        if not self.ending.is_set():
            self._widget.send({**self._about, **content}, list(buffers))
