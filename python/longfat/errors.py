"""Every error and warning that longfat raises of its own accord.

They live together, below everything else, so that whoever reports one need not import what raises it.
"""

from longfat._longfat import (
    Cancelled,
    CodeError,
    EngineError,
    FluidError,
    GymError,
    ScenarioError,
    TraceError,
)

__all__ = [
    "AttackError",
    "CacheWarning",
    "Cancelled",
    "CodeError",
    "EngineError",
    "EvaluationError",
    "FluidError",
    "ForkError",
    "GymError",
    "LabelError",
    "MeasureError",
    "MemoryWarning",
    "ResultError",
    "RoomError",
    "ScenarioError",
    "StudyError",
    "TraceError",
]


class AttackError(ValueError):
    """An attack that cannot be begun as asked: the message says what was asked, and what there is."""


class ForkError(RuntimeError):
    """Tables are to be read or written in a fork of a process that has used them: the message has a remedy."""

    def __init__(
        self,
        message: str = "this process was forked from one that had used tables of polars, whose threads a fork "
        'lacks: start it with `multiprocessing.get_context("spawn")` or "forkserver", or let it return '
        "`run.summary`",
    ) -> None:
        """Says it, and what to do."""
        super().__init__(message)


class MeasureError(RuntimeError):
    """A run of a study failed, or could not be measured: the message names point, seed and reason."""


class LabelError(ValueError):
    """The labels of a sweep do not tell its points apart."""


class RoomError(ValueError):
    """A paper's room is wrong: the message names the file, the line and the reason."""


class ResultError(ValueError):
    """A result folder cannot be read: the message names the place, what was found there, and a remedy."""


class StudyError(ValueError):
    """A study is wrong, or its folder cannot be used: the message names the place, the reason and a remedy."""


class MemoryWarning(UserWarning):
    """Not as many runs as asked for fit into memory at a time, so some wait for others."""


class CacheWarning(UserWarning):
    """Finished runs cannot be kept, so they will be simulated again."""


class EvaluationError(ValueError):
    """An evaluation cannot be done as asked: the message says what was asked, and what there is."""
