"""Time-outs and phase effects: `bench/time-outs` writes their pages in docs/concepts.

`experiments` has the scenarios and what is measured in a run, `report` the tables and the pictures.
"""
