"""The search for the path on which a controller fails.

    from longfat import attack

    found = attack.find("stcp", "unfair", trials=1000)
    print(found)
    found.save("runs/attack-stcp-unfair")

A challenge is a path of one link with bounded round trip, buffer, losses and jitter, whose rate, delay and loss
change a few times, with other traffic or without. Each trial runs the controller on it, and another one in its
place with the same seed; the score is by how much worse the first one did. It needs `longfat[attack]`.
"""

from longfat.attack._attack import ATTACK, Attack
from longfat.attack._challenge import Challenge, Change, Cross, Ground, Wave
from longfat.attack._find import find
from longfat.attack._genome import Bounds
from longfat.attack._goals import GOALS, Goal

__all__ = [
    "ATTACK",
    "GOALS",
    "Attack",
    "Bounds",
    "Challenge",
    "Change",
    "Cross",
    "Goal",
    "Ground",
    "Wave",
    "find",
]
