"""`longfat.explore`: the playground in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.playground._presets import presets
from longfat.scenario import Source, Template

if TYPE_CHECKING:
    from longfat.playground._widget import Playground

_MOST = 2


def explore(*scenarios: Source, height: int = 760) -> Playground:
    """The playground as a widget: a page with sliders in a notebook, simulated by its kernel as they move.

    It is the page of the command `longfat explore`. What is set up in it can be used in the next cell:
    `longfat.run(widget.text)`. While a cell runs, the page waits for the kernel.

    Args:
        scenarios: What it begins with: one scenario, or two side by side, each the path of a file, its text or
            its content as a dictionary. None: two Reno flows on a link.
        height: Of the page in the notebook, in pixels; it scrolls within.

    Returns:
        The widget, which a notebook shows. Files that scenarios name are read from the folder of the first.

    Raises:
        ImportError: anywidget is not installed: `pip install longfat[notebook]`.
        ScenarioError: A scenario is no text, or a dictionary that TOML cannot hold. One with other mistakes is
            shown with them.
        OSError: A file cannot be read.
        ValueError: There are more than two scenarios.
    """
    if len(scenarios) > _MOST:
        message = f"the playground shows one scenario or two, not {len(scenarios)}"
        raise ValueError(message)
    try:
        from longfat.playground._widget import Playground
    except ImportError as error:
        message = (
            "the playground in a notebook needs anywidget, which is not installed: "
            "pip install longfat[notebook]"
        )
        raise ImportError(message) from error
    given = [Template(each) for each in scenarios]
    texts = [each.text for each in given] or presets()[0]["texts"]
    return Playground(texts, folder=given[0].folder if given else None, height=height)
