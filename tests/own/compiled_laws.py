"""For the tests: laws, controllers and queues in Python, as somebody would write them."""

import math
from typing import Any

import numba

import longfat
from longfat.own import Cause, Limited, Verdict

HALF = 0.5


@longfat.law(name="py-reno", title="Reno in Python", source="RFC 5681")
def reno(at: Any) -> float:
    return float(1.0 / at.window)


@longfat.law(name="py-aimd", parameters={"a": (1.0, 0.0, 100.0), "b": HALF})
def aimd(at: Any, p: Any) -> float:
    return float(p.a / at.window)


@aimd.give_up
def _share(_at: Any, p: Any, cause: int) -> float:
    return 0.0 if cause == Cause.TIMEOUT else float(p.b)


def _avoid(window: float, a: float) -> float:
    return window + a / window


avoid: Any = numba.njit(_avoid)


@longfat.controller(name="py-own-reno", parameters={"a": 1.0, "b": HALF})
class OwnReno:
    window: float = 1.0
    threshold: float = math.inf
    losses: int = 0

    def on_feedback(self, feedback: Any, _path: Any, p: Any) -> None:
        growing = feedback.limited in (Limited.WINDOW, Limited.PACING)
        if not growing or feedback.recovery_begins or feedback.marked:
            return
        for _ in range(feedback.acked):
            if self.window < self.threshold:
                self.window = min(self.window + 1.0, self.threshold)
            else:
                self.window = avoid(self.window, p.a)

    def on_congestion(self, event: Any, _path: Any, p: Any) -> None:
        self.losses += 1
        if event.cause == Cause.TIMEOUT:
            if not event.again:
                self.threshold = max(event.in_flight / 2, 2.0)
            self.window = 1.0
        else:
            self.threshold = max(2.0, self.window * (1.0 - p.b))
            self.window = min(self.window, self.threshold)


@longfat.queue(name="py-step", parameters={"threshold": "0.2 bdp"})
def step(arrival: Any, p: Any) -> Verdict:
    return Verdict.MARK if arrival.waiting_packets > p.threshold else Verdict.KEEP


@longfat.queue(name="py-lottery", parameters={"share": 0.01}, wants=["chance"])
class Lottery:
    drops: int = 0

    def on_arrival(self, arrival: Any, p: Any) -> Verdict:
        if arrival.chance < p.share:
            self.drops += 1
            return Verdict.DROP
        return Verdict.KEEP
