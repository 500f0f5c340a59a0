"""What limited each flow, and when: in numbers, in sentences, in a picture.

    print(longfat.explain(longfat.run("scenarios/first.toml")))

A sender that could have more in flight is held back by one cause at a time: its window, its pacing, its
receiver, its application, or the repair of losses. The simulator keeps for how long each one has, exactly, in
the table `limits`. Where window or pacing held a sender back while a link of its path was full, more would only
have made the queue longer: that time counts as the link's.
"""

from longfat.explanation._explain import FULL, explain
from longfat.explanation._explanation import Explanation, FlowLimits
from longfat.explanation._phases import CAUSES, Phase

__all__ = ["CAUSES", "FULL", "Explanation", "FlowLimits", "Phase", "explain"]
