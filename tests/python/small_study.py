"""A study of a small scenario, for those who test studies."""

from __future__ import annotations

from typing import Any

UTILISATION = "links.bottleneck.forward.utilisation"
GOODPUT = "flows.forward.goodput_bit_s"
RATE = "link.bottleneck.rate"
CONTROL = "flow.forward.control"
BUFFER = "link.bottleneck.buffer"

STUDY: dict[str, Any] = {
    "scenario": "small.toml",
    "seeds": 3,
    "vary": {RATE: ["5 Mbit/s", "10 Mbit/s"], CONTROL: ["reno", "exp"]},
}
FILE = """\
scenario = "small.toml"
seeds = 3
[vary]
"link.bottleneck.rate" = ["5 Mbit/s", "10 Mbit/s"]
"flow.forward.control" = ["reno", "exp"]
[[plot]]
x = "link.bottleneck.rate"
y = "links.bottleneck.forward.utilisation"
colour = "flow.forward.control"
"""


def vary(**more: Any) -> dict[str, Any]:
    return {"scenario": "small.toml", "seeds": 1, **more}
