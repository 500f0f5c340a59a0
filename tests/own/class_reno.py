"""For the tests and benchmarks: Reno as a class in plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import longfat

if TYPE_CHECKING:
    from longfat.own import Congestion, Feedback, Path


class ClassReno(longfat.Controller):
    """Reno, to the byte."""

    promises = ("any_batching", "additive", "doubles_at_most", "forgetful")

    def on_feedback(self, feedback: Feedback, path: Path) -> None:
        for _ in range(self.slow_start(feedback)):
            self.window += 1.0 / self.window

    def on_congestion(self, event: Congestion, path: Path) -> None:
        if event.cause == "timeout":
            self.time_out(event)
        else:
            self.threshold = max(2.0, self.window * 0.5)
            self.window = min(self.window, self.threshold)
