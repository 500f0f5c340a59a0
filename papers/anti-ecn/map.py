"""Beyond the paper: a map of thresholds and virtual buffers, utilisation against loss.

The paper says that a small virtual buffer makes the link aggressive and may lead to losses, and that a huge
one makes it conservative without much improvement.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from beyond import beyond, difference, head, marker, ratio
from longfat.paper import Answer, Experiment, Scale, at, plots
from longfat.study import Measured, Point, Row

FIGURE = Experiment(
    id="map",
    title="Thresholds and virtual buffers: what is gained, and what is lost for it",
    question="Which threshold and virtual buffer bring utilisation, and at what loss?",
)
THRESHOLDS = (0.4, 0.5, 0.75, 0.9)
BUFFERS = (0.02, 0.2, 1.0, 4.0)
COLOURS = ("#C0392B", "#E08E1B", "#2E86AB", "#0B3C5D")


def points(scale: Scale) -> Iterator[Point]:
    """Two flows into a drop-tail buffer of a quarter of a product."""
    cells = [(0.0, 0.0), *((eta, buffer) for eta in THRESHOLDS for buffer in BUFFERS)]
    for threshold, buffer in cells:
        changes = {
            "link.bottleneck.queue": "drop-tail",
            "link.bottleneck.buffer": "0.25 bdp",
            "link.bottleneck.anti_ecn": marker(threshold, f"{buffer:g} bdp"),
            "flow.flow.count": 2,
        }
        yield beyond(scale, 30, changes, threshold=threshold, buffer=buffer)


def measure(run: Measured) -> Row:
    """Utilisation and drops per packet."""
    link = run.link()
    return {"used": link["utilisation"], "drops": link["drop_rate"]}


def ranks(values: list[float]) -> list[float]:
    """The rank of each value."""
    return pl.Series(values).rank().to_list()


def claims(rows: pl.DataFrame) -> dict[str, Answer]:
    """Seed by seed; the correlation is over the cells of one seed."""
    small, whole, huge = ({"threshold": 0.5, "buffer": buffer} for buffer in (0.02, 1.0, 4.0))
    low, high = ({"threshold": threshold, "buffer": 1.0} for threshold in (0.4, 0.9))
    worth: list[float | None] = []
    for _, cells in (
        at(rows, threshold=list(THRESHOLDS)).sort("seed").group_by("seed", maintain_order=True)
    ):
        pair = ranks(cells["used"].to_list()), ranks(cells["drops"].to_list())
        worth.append(float(np.corrcoef(*pair)[0, 1]))
    return {
        "map/losses": ratio(rows, "drops", small, whole),
        "map/conservative": difference(rows, "used", huge, {"threshold": 0.0}),
        "map/threshold": ratio(rows, "drops", high, low),
        "map/worth": worth,
    }


def draw(rows: pl.DataFrame) -> Figure:
    """Two maps, and their cells plotted against each other."""
    figure, axes = plots.grid(1, 3, width=15, height=5.4)
    figure.subplots_adjust(wspace=0.3)

    def mean(column: str, threshold: float, buffer: float) -> float:
        return (100 if column == "used" else 1e6) * float(
            str(at(rows, threshold=threshold, buffer=buffer)[column].mean())
        )

    names = (("used", "Utilisation (%)", "Blues"), ("drops", "Lost per million", "Reds"))
    for panel, (column, title, shades) in zip(axes[0], names, strict=False):
        cells = np.array([[mean(column, eta, buffer) for buffer in BUFFERS] for eta in THRESHOLDS])
        low, span = cells.min(), float(np.ptp(cells)) or 1.0
        panel.imshow(cells, cmap=shades, vmin=low - 0.3 * span, vmax=low + 1.6 * span, origin="lower",
                     aspect="auto")  # fmt: skip
        for (row, place), value in np.ndenumerate(cells):
            text = f"{value:.1f}" if column == "used" else f"{value:.0f}"
            panel.annotate(text, (place, row), ha="center", va="center", fontsize=11)
        panel.set_xticks(range(len(BUFFERS)), [f"{buffer:g}" for buffer in BUFFERS])
        panel.set_yticks(range(len(THRESHOLDS)), [f"{100 * eta:.0f} %" for eta in THRESHOLDS])
        panel.grid(visible=False)
        panel.set(xlabel="virtual buffer (products)", ylabel="threshold")
        tcp = mean(column, 0.0, 0.0)
        head(panel, f"{title}; TCP {tcp:.1f}" if column == "used" else f"{title}; TCP {tcp:.0f}")
    panel = axes[0, 2]
    for buffer, colour, shape in zip(BUFFERS, COLOURS, "o^sD", strict=True):
        pairs = [(mean("drops", eta, buffer), mean("used", eta, buffer)) for eta in THRESHOLDS]
        panel.plot(*zip(*pairs, strict=True), shape, color=colour, markersize=8,
                   label=f"{buffer:g} product" + ("s" if buffer > 1 else ""))  # fmt: skip
    panel.plot(mean("drops", 0.0, 0.0), mean("used", 0.0, 0.0), "*", color="#222222", markersize=14,
               label="TCP")  # fmt: skip
    panel.set(xlabel="lost packets per million", ylabel="utilisation (%)")
    panel.margins(0.1)
    panel.legend(frameon=False, fontsize=10)
    head(panel, "What a loss buys")
    return figure
