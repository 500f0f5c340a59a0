"""Pictures of a run and what limited it, of comparisons, studies, fluid solutions and measurements.

Figures are made without matplotlib's global state, so they work without a display and in any thread. Most are
1200 by 1000 pixels; the ending of the file chooses PNG, SVG or PDF. `longfat.plot.style` has the look that all
pictures share.
"""

from longfat.plot._advice import advice
from longfat.plot._comparison import comparison
from longfat.plot._fluid import fluid, phase_plane
from longfat.plot._limits import limits
from longfat.plot._overlay import overlay
from longfat.plot._run import run
from longfat.plot._study import study
from longfat.plot.style import save

__all__ = [
    "advice",
    "comparison",
    "fluid",
    "limits",
    "overlay",
    "phase_plane",
    "run",
    "save",
    "study",
]
