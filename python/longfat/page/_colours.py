"""The colours of pages: the palette of the pictures, and the same hues on a dark ground."""

from __future__ import annotations

from longfat.plot import style as pictures

COUNT = len(pictures.COLOURS)
"""Lines beyond so many begin with the first colour again, dashed."""

LIGHT_GROUND, DARK_GROUND = "#ffffff", "#15171b"
_LIFT = 0.32
"""On a dark ground, so much of the way to white."""


def on_dark(colour: str) -> str:
    """A colour of the palette for a dark ground: the hue stays, so it is told apart from the others as before.

    >>> on_dark("#000000")
    '#525252'
    """
    parts = (int(colour[index : index + 2], 16) for index in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * _LIFT):02x}" for part in parts)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, 1 to 21 (WCAG 2.2, "contrast ratio").

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    first, second = sorted((_luminance(one), _luminance(other)))
    return (second + 0.05) / (first + 0.05)


def style() -> str:
    """The colours of lines in a style sheet, light and dark: variables, and a class for each stroke."""
    light = "".join(f"--line-{i}:{each};" for i, each in enumerate(pictures.COLOURS))
    dark = "".join(f"--line-{i}:{on_dark(each)};" for i, each in enumerate(pictures.COLOURS))
    light += f"--ground:{LIGHT_GROUND};"
    dark += f"--ground:{DARK_GROUND};"
    strokes = "".join(f".l{i}{{stroke:var(--line-{i})}}" for i in range(COUNT))
    return (
        f"{strokes}\n:root{{{light}}}\n"
        f'@media screen and (prefers-color-scheme:dark){{:root:not([data-theme="light"]){{{dark}}}}}\n'
        f'@media screen{{:root[data-theme="dark"]{{{dark}}}}}'
    )


def _luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    red, green, blue = (_linear(int(colour[index : index + 2], 16) / 255) for index in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4  # noqa: PLR2004
