"""Measurements over a real link: what runs at its ends, what is kept, and what simulations say of the same."""

from longfat.live._overlay import Overlay, overlay
from longfat.live._verdict import Finding

__all__ = ["Finding", "Overlay", "overlay"]
