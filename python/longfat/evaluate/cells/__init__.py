"""The cells: one file for each group of them."""

from __future__ import annotations

from longfat.evaluate.cells import fairness, ranges

GROUPS = (ranges.GROUP, fairness.GROUP)
"""The groups, in the order in which they are shown."""

NOT_TESTED: tuple[dict[str, str], ...] = ()
"""What sources ask for and this does not test, with the reasons."""
