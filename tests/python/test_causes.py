"""Causes quote what was measured; changed rooms do not claim the causes of others; hindsight is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from longfat.errors import RoomError
from longfat.paper._causes import Fact, filled, unfounded
from longfat.paper._claims import Claim
from longfat.paper._commit import write_readme
from longfat.paper._room import Room
from paper_support import edit, in_process, make_room

if TYPE_CHECKING:
    from support import Command


@pytest.fixture
def longfat(capsys: pytest.CaptureFixture[str]) -> Command:
    return in_process(capsys)


@pytest.fixture
def room(own_folder: Path) -> Path:
    return make_room(own_folder / "papers")


def remake(longfat: Command, *arguments: str, code: int = 0) -> dict[str, dict[str, Any]]:
    """The claims by id."""
    done = longfat("paper", "links", "--json", *arguments)
    assert done.returncode == code, done.stderr
    return {claim["id"]: claim for claim in json.loads(done.stdout)["claims"]}


def claim(cause: str) -> Claim:
    return Claim(
        id="a/b",
        figure="a",
        where="Fig. 1",
        claim="It is 7.",
        measured="it",
        because="7",
        at_least=7.0,
        cause=cause,
    )


def test_numbers_are_filled_in_with_their_units() -> None:
    facts = {"a/x": Fact(0.5, (0.25, 0.75), 3), "a/y": Fact(12.0, unit="s"), "a/z": Fact(None)}
    text = "{a/x} {~a/x} {a/x:%} {~a/x:points} {a/y} {a/y:round trips} {a/z} {a/gone:%}"
    assert filled(claim(text), facts) == (
        "0.50 ± 0.25 0.50 50.0 ± 25.0 % 0.50 points 12.0 s 12.0 round trips "
        "(a/z: not measured) (a/gone: not measured)"
    )


def test_a_committed_fact_is_kept_and_quoted(room: Path, longfat: Command) -> None:
    remake(longfat, "--commit")
    committed = json.loads((room / "results/quick.json").read_text("utf-8"))
    assert committed["facts"]["figure-1/cubic"]["seeds"] == 3
    assert committed["facts"]["figure-1/cubic"]["value"] > 0.99
    # Another figure of the room may quote it, even if only that one is run.
    edit(
        room / "claims.toml", "equals = 1.0\nrel", 'cause = "{figure-1/cubic:%}"\nequals = 2.0\nrel'
    )
    edit(room / "claims.toml", "requirement = true", "requirement = false")
    found = remake(longfat, "--figure", "theory", "--commit")
    assert found["theory/third"]["reason"] == "100.0 ± 0.0 %"
    edit(
        room / "figure_1.py",
        'yield Point("link.toml", set',
        'yield Point("link.toml", seeds=2, set',
    )
    remake(longfat, "--figure", "figure-1", "--commit")
    committed = json.loads((room / "results/quick.json").read_text("utf-8"))
    value, (low, high) = (
        committed["facts"]["figure-1/cubic"][key] for key in ("value", "interval")
    )
    (third,) = (each for each in committed["claims"] if each["id"] == "theory/third")
    assert third["reason"] == f"{100 * value:.1f} ± {50 * (high - low):.1f} %"


@pytest.mark.parametrize(
    ("edited", "says"),
    [
        (
            ("claims.toml", "~figure-1/cubic", "~figure-1/cubci"),
            "gives no such fact; its facts are: fig",
        ),
        (("claims.toml", "~figure-1/cubic", "~figure-9/cubic"), "neither a claim nor a fact of an"),
        (("figure_1.py", '"figure-1/cubic"', '"theory/cubic"'), "must be called figure-1/"),
        (
            ("figure_1.py", '"figure-1/cubic"', '"figure-1/used"'),
            "is a claim, which causes can quote",
        ),
    ],
)
def test_a_quotation_that_leads_nowhere_is_refused(
    room: Path, longfat: Command, edited: tuple[str, str, str], says: str
) -> None:
    file, old, new = edited
    edit(room / file, old, new)
    done = longfat("paper", "links")
    assert done.returncode == 2
    assert says in done.stderr


@pytest.mark.parametrize(
    ("cause", "refused"),
    [
        ("At 10 Mbit/s, with a share of 5 % and no number: {a/x:%}.", []),
        ("They are 7 points apart.", ["7 points"]),
        ("It is 10 ± 1.", ["10"]),
        ("Without it TCP takes 28 s.", ["28 s"]),
        ("With `a = 0.015` it falls to 98.9 %.", ["98.9 %"]),
        ("Of 3 seeds in figure-17, by RFC 3168, 6.1.4.", []),
    ],
)
def test_a_number_that_no_experiment_gives_is_found(
    room: Path, cause: str, refused: list[str]
) -> None:
    (room / "shared.py").write_text("THREE = 3\nRATE = 1e7\nSHARE = 0.05\n", "utf-8")
    text = (room / "claims.toml").read_text("utf-8")
    line = next(line for line in text.splitlines() if line.startswith("cause"))
    edit(room / "claims.toml", line, f'cause = "{cause}"')
    found = [complaint.split("`")[1] for complaint in unfounded(Room(room))]
    assert found == refused


def test_an_edited_room_does_not_claim_the_old_cause(room: Path, longfat: Command) -> None:
    remake(longfat, "--commit")
    assert "They do not" in remake(longfat)["figure-1/empty"]["reason"]
    edit(room / "link.toml", 'rate = "10 Mbit/s"', 'rate = "10 Mbit/s"\nloss = 0.02')
    assert remake(longfat)["figure-1/empty"]["reason"].startswith(
        "the cause in claims.toml was found where this was 1.00"
    )
    assert "They do not" in remake(longfat, "--commit")["figure-1/empty"]["reason"]


def test_both_verdicts_of_a_changed_room(room: Path, longfat: Command) -> None:
    remake(longfat, "--commit")
    before = sorted(path.read_bytes() for path in room.rglob("*") if path.is_file())
    edit(room / "claims.toml", "at_least = 0.5", "at_least = 0.8")
    done = longfat("paper", "links", "--set", "link.bottleneck.loss=0.05", "--seeds", "4")
    assert done.returncode == 0, done.stderr
    assert "changed: --seeds 4, link.bottleneck.loss = 0.05" in done.stdout
    assert (
        "1 verdict flipped:\n  figure-1/used: reproduced (99.9 ± 0.1 %) → differs (" in done.stdout
    )
    assert "the cause in claims.toml was found where this was 1.00" in " ".join(done.stdout.split())
    content = json.loads(Path("runs/paper-links-quick-changed/claims.json").read_text("utf-8"))
    assert content["changes"]["set"] == {"link.bottleneck.loss": 0.05}
    used = next(each for each in content["claims"] if each["id"] == "figure-1/used")
    assert (used["committed"]["verdict"], used["verdict"]) == ("reproduced", "differs")
    assert (used["committed"]["seeds"], used["seeds"]) == (3, 4)
    edit(room / "claims.toml", "at_least = 0.8", "at_least = 0.5")
    assert before == sorted(path.read_bytes() for path in room.rglob("*") if path.is_file())


@pytest.mark.usefixtures("room")
def test_a_setting_never_makes_labels_untrue(longfat: Command) -> None:
    done = longfat("paper", "links", "--set", "flow.forward.control=reno", "--quiet")
    assert done.returncode == 0, done.stderr
    assert (
        "links, figure-1: flow.forward.control is left as it is: its points differ" in done.stderr
    )
    for assignment in ("link.nowhere.loss=0.1", "link.bottleneck.lss=0.1"):
        done = longfat("paper", "links", "--set", assignment)
        assert done.returncode == 2
        assert "changes nothing:" in done.stderr
    done = longfat("paper", "links", "--set", "loss")
    assert (done.returncode, "KEY=VALUE is needed" in done.stderr) == (2, True)
    done = longfat("paper", "links", "--seeds", "4", "--commit")
    assert (done.returncode, "in its files" in done.stderr) == (2, True)


def test_hindsight_is_told_and_counted(room: Path, longfat: Command) -> None:
    edit(room / "claims.toml", "at_most = 0.01", 'at_most = 0.01\nhindsight = "It was 99 %."')
    done = longfat("paper", "links", "--commit")
    counted = (
        "3 reproduced, 1 differs, 3 not testable; of them 1 undecided and 1 chosen in hindsight"
    )
    assert counted in " ".join(done.stdout.split())
    assert "in hindsight: It was 99 %." in done.stdout
    text = (room / "README.md").read_text("utf-8")
    assert f"- `longfat paper links --scale quick`: {counted}\n" in text
    assert "*In hindsight:* It was 99 %." in text
    write_readme(Room(room))
    assert (room / "README.md").read_text("utf-8") == text
    edit(room / "claims.toml", "It was 99 %.", " ")
    with pytest.raises(RoomError, match="`hindsight` is empty"):
        assert Room(room).claims
