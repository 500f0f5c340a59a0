"""Measurements over a real link: what runs at its ends, and what is kept of it."""
