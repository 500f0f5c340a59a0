"""Controllers and queues of your own: what `controllers=` and `queues=` take, and what scenarios name as code.

Whatever has a method `__longfat__()` that returns a handle (`longfat._longfat.Own`) can be given to
`longfat.run`, `longfat.fluid`, `longfat.study`: window laws and controllers compiled from Python, entries of
shared libraries, classes. `Code` holds what a scenario may use beyond longfat, and fetches what it names.
"""

from longfat._longfat import Own
from longfat.own._abi import Cause, Limited, Pacing, Phase, Verdict
from longfat.own._class import (
    Adjustment,
    Congestion,
    Controller,
    Feedback,
    Lost,
    Path,
    RateSample,
    Sent,
    Start,
)
from longfat.own._code import NOTHING, Brought, Code, handle, located
from longfat.own._compile import Parameter
from longfat.own._controller import CompiledController, controller
from longfat.own._law import Law, law
from longfat.own._library import LibraryEntry, load_library
from longfat.own._named import code_form, control_of
from longfat.own._queue import CompiledQueue, queue

__all__ = [
    "NOTHING",
    "Adjustment",
    "Brought",
    "Cause",
    "Code",
    "CompiledController",
    "CompiledQueue",
    "Congestion",
    "Controller",
    "Feedback",
    "Law",
    "LibraryEntry",
    "Limited",
    "Lost",
    "Own",
    "Pacing",
    "Parameter",
    "Path",
    "Phase",
    "RateSample",
    "Sent",
    "Start",
    "Verdict",
    "code_form",
    "control_of",
    "controller",
    "handle",
    "law",
    "load_library",
    "located",
    "queue",
]
