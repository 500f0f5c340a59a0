"""Who is evaluated: controllers by name, from files and from libraries, and what they need of a network."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from longfat.errors import EvaluationError, ScenarioError
from longfat.own import Brought, Code, control_of, handle
from longfat.scenario import read
from longfat.study._setup import PLAIN_QUEUE, entry_of, queue_needed

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat._longfat import Scenario
    from longfat.evaluate.cells._cell import Control

Origin = Literal["registry", "python", "library", "policy"]

_FORMS: dict[str, Origin] = {"python": "python", "library": "library", "policy": "policy"}


@dataclass(frozen=True)
class Contender:
    """A controller, and the network that it was made for.

    Attributes:
        name: What it is called.
        control: How scenarios name it.
        origin: Where it comes from.
        code: What scenarios may use beyond longfat, for all that meet in a cell.
        queue: The queue that its routers have in place of drop tail; `None`: any.
        needs_access: Whether it has to know the rate of the sender's own link.
        anti_ecn: Whether its routers tell senders that there is room (AntiECN).
    """

    name: str
    control: Control
    origin: Origin = "registry"
    code: Code = field(default_factory=Code, repr=False)
    queue: str | None = None
    needs_access: bool = False
    anti_ecn: bool = False

    @classmethod
    def of(
        cls, control: str | Mapping[str, Any] | Brought, *, allow_code: bool = False
    ) -> Contender:
        """The controller that somebody names or brings along.

        Args:
            control: Its name; a table such as `{ kind = "exp", gamma = 0.1 }` as text or as a dictionary; a
                name in a Python file, `rules.py:gentle`, or in a library, `librules.so:gentle`; or an
                object, as `controllers=` of `longfat.run` takes.
            allow_code: Let it name code, which is then loaded, and run.

        Raises:
            EvaluationError: It is none of these.
            TypeError: The object is no controller.
        """
        code = Code(allowed=allow_code)
        if isinstance(control, str):
            return cls._of_text(control, code)
        if isinstance(control, Mapping):
            return cls._of_table(dict(control), code)
        own = handle(control, "controller")
        return cls(own.name, own.name, "python", replace(code, controllers=(control,)))

    @classmethod
    def _of_text(cls, text: str, code: Code) -> Contender:
        try:
            named = control_of(text)
        except ValueError as error:
            raise EvaluationError(str(error)) from error
        return cls._of_table({"kind": named} if isinstance(named, str) else named, code)

    @classmethod
    def _of_table(cls, table: dict[str, Any], code: Code) -> Contender:
        form = next((form for form in _FORMS if form in table), None)
        if form is not None:
            stem = re.split(r"[/\\]", str(table[form]))[-1]
            name = stem.rpartition(":")[2] if ":" in stem else stem.partition(".")[0]
            return cls(name, table, _FORMS[form], code)
        kind = table.get("kind")
        if not isinstance(kind, str) or not kind:
            message = f"a controller has a `kind`, or names code as `python` or `library`: {table}"
            raise EvaluationError(message)
        needs = entry_of(table).get("needs", ())
        settings = ", ".join(f"{key} = {value}" for key, value in table.items() if key != "kind")
        return cls(
            f"{kind} ({settings})" if settings else kind,
            table if settings else kind,
            code=code,
            queue=queue_needed(table),
            needs_access="access" in needs,
            anti_ecn="anti_ecn" in needs,
        )

    @property
    def network(self) -> str:
        """What its routers do that others do not, in words; empty if nothing."""
        if self.anti_ecn:
            return "AntiECN on all links"
        return f"queue `{self.queue}` on all links" if self.queue else ""

    def placed(self, scenario: Mapping[str, Any]) -> dict[str, Any]:
        """A scenario with the routers that it needs: where a path has plain queues, and only there."""
        if not (self.network or self.needs_access):
            return dict(scenario)
        changed = deepcopy(dict(scenario))
        for link in changed["link"].values():
            if self.queue and link.get("queue", PLAIN_QUEUE) == PLAIN_QUEUE:
                link["queue"] = self.queue
            if self.anti_ecn and "trace" not in link:
                link["anti_ecn"] = True
        if self.needs_access:
            for group in (*changed.get("flow", ()), *changed.get("traffic", ())):
                if group["control"] == self.control:
                    # A link that follows a trace has none, and the scenario will say what is missing.
                    rate = changed["link"][group["path"][0]].get("rate")
                    if rate is not None:
                        group.setdefault("access", rate)
        return changed

    def read(self, scenario: Mapping[str, Any]) -> Scenario:
        """The scenario for the engine, checked.

        Raises:
            ScenarioError: It is refused.
        """
        found, _ = read(self.placed(scenario), code=self.code)
        return found

    def beside(self, others: Sequence[Contender]) -> Contender:
        """The same, where those it meets may be code as well."""
        brought = {id(each): each for other in (self, *others) for each in other.code.controllers}
        allowed = any(other.code.allowed for other in (self, *others))
        return replace(self, code=Code(tuple(brought.values()), (), allowed))

    def digest(self, scenario: Scenario) -> str | None:
        """The digest of its code, as a scenario that it was read into tells; `None` for one of longfat."""
        if self.origin == "registry":
            return None
        control = tomllib.loads(scenario.to_toml())["flow"][0]["control"]
        return control.get("code") if isinstance(control, dict) else None


def reason(error: ScenarioError) -> str:
    """The reasons of a refusal without their places: nobody has written the file that they point to."""
    told = [
        line.removeprefix("error: ")
        for line in str(error).splitlines()
        if line.startswith("error: ")
    ]
    return "; ".join(dict.fromkeys(told)) or str(error)
