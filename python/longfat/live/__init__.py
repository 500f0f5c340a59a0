"""Measurements over a real link: what runs at its ends, what is kept of it, and how it compares with a simulation."""

from longfat.live._overlay import Overlay, overlay
from longfat.live._verdict import Finding

__all__ = ["Finding", "Overlay", "overlay"]
