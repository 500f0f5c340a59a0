"""Errors that the command line tells without a traceback: here, so that it need not import what raises them."""


class MeasureError(RuntimeError):
    """A run failed, or could not be measured."""


class RoomError(ValueError):
    """A paper's room is wrong: the message names the file, the line and the reason."""


class CacheWarning(UserWarning):
    """Finished runs cannot be kept, so they will be simulated again."""
