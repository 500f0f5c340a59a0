"""Environments: Gymnasium's rules, the same bytes from the same seeds, and what is refused in which words."""

from __future__ import annotations

import copy
import errno
import json
import os
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from pettingzoo.test import parallel_api_test, parallel_seed_test

import longfat as package
from longfat.errors import GymError, ScenarioError
from longfat.gym import Action, Env, ParallelEnv, Policy, Reward, VectorEnv, features
from support import ROOT, Command

if TYPE_CHECKING:
    from pathlib import Path

PATH = """\
duration = "4 s"

[link.bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "1 bdp"

[[flow]]
name = "agent"
control = "reno"
path = ["bottleneck"]
rtt = "40 ms"

[[flow]]
name = "other"
control = "reno"
path = ["bottleneck"]
rtt = "60 ms"
start = "1 s"
"""
AGENT: dict[str, Any] = {"agents": ["agent"]}
RANGES = {
    "link.bottleneck.rate": {"from": "2 Mbit/s", "to": "40 Mbit/s", "scale": "log"},
    "flow.other.control": ["reno", "hstcp"],
    "flow.other.count": {"from": 1, "to": 3},
}
BOTH = pytest.mark.parametrize("fluid", [None, "overflow"])


def rollout(env: Env, seed: int | None, episodes: int = 1) -> list[Any]:
    """Everything that episodes show, with actions that depend on the step alone."""
    shown: list[Any] = []
    for _ in range(episodes):
        observation, info = env.reset(seed=seed)
        seed = None
        shown += [observation.tolist(), info]
        over, step = False, 0
        while not over:
            observation, reward, terminated, truncated, info = env.step([np.sin(step) * 0.5])
            shown += [observation.tolist(), reward, terminated, truncated, info]
            over, step = terminated or truncated, step + 1
    return shown


@BOTH
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"action": Action(sets="rate"), "history": 3},
        {"action": {"scale": "absolute", "bounds": [1, 1000]}, "observe": ["rtt", "loss"]},
        {"randomise": RANGES, "interval": 2.0},
    ],
)
def test_gymnasium_finds_nothing_wrong(fluid: str | None, options: dict[str, Any]) -> None:
    env = gymnasium.make("longfat/Path-v0", source=PATH, fluid=fluid, **AGENT, **options)
    with warnings.catch_warnings():
        # It recommends actions from -1 to 1, which is what multiplicative ones are.
        warnings.filterwarnings("ignore", ".*symmetric and normalized.*")
        check_env(env.unwrapped, skip_render_check=True)


def test_raw_observations_have_no_bounds_above() -> None:
    env = Env(PATH, observe="raw", **AGENT)
    observation, info = env.reset(seed=1)
    names = [name for name, _, _, _, free in features() if not free and name != "time_s"]
    assert observation.tolist() == [np.float32(info[name]) for name in names]
    with warnings.catch_warnings():
        # Gymnasium asks whether infinity is meant as a bound. It is.
        warnings.filterwarnings("ignore", ".*infinity.*")
        check_env(env, skip_render_check=True)


@BOTH
def test_the_same_seed_gives_the_same_bytes(fluid: str | None) -> None:
    def env() -> Env:
        return Env(PATH, randomise=RANGES, fluid=fluid, **AGENT)

    first = rollout(env(), 7, episodes=3)
    assert first == rollout(env(), 7, episodes=3)
    assert first != rollout(env(), 8, episodes=3)
    used = env()
    rollout(used, 1)
    assert first == rollout(used, 7, episodes=3), "what went before leaves no trace"


@BOTH
@pytest.mark.parametrize("threads", [1, 3])
def test_vector_environments_do_what_single_ones_do(fluid: str | None, threads: int) -> None:
    options = {"randomise": RANGES, "fluid": fluid, **AGENT}
    count, steps = 5, 180
    vector = VectorEnv(PATH, num_envs=count, threads=threads, **options)
    singles = [Env(PATH, **options) for _ in range(count)]
    observations, infos = vector.reset(seed=11)
    for index, single in enumerate(singles):
        observation, info = single.reset(seed=11 + index)
        assert observation.tolist() == observations[index].tolist()
        assert infos["drawn"][index] == info["drawn"]
    over = [False] * count
    ends = 0
    for step in range(steps):
        actions = np.sin(step + np.arange(count, dtype=np.float32))[:, None] * 0.4
        observations, rewards, terminated, truncated, infos = vector.step(actions)
        for index, single in enumerate(singles):
            if over[index]:
                observation, info = single.reset()
                found = (observation.tolist(), 0.0, False, False)
                assert infos["drawn"][index] == info.pop("drawn")
                assert infos["_drawn"][index]
            else:
                observation, reward, ended, cut, info = single.step(actions[index])
                found = (observation.tolist(), reward, ended, cut)
            told = {name: infos[name][index] for name in info}
            assert told == info
            at = (observations[index].tolist(), rewards[index], terminated[index], truncated[index])
            assert at == found
            over[index] = bool(found[2] or found[3])
            ends += over[index]
    assert ends >= count, "episodes end, and begin anew"
    assert vector.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    assert vector.observation_space.contains(observations)
    assert vector.action_space.contains(actions.astype(np.float32))


def test_a_vector_environment_by_its_name() -> None:
    env = gymnasium.make_vec("longfat/Path-v0", num_envs=3, source=PATH, **AGENT)
    observations, _ = env.reset(seed=1)
    assert observations.shape == (3, 10)
    env.close()


@BOTH
def test_pettingzoo_finds_nothing_wrong(fluid: str | None) -> None:
    def env() -> Any:
        return ParallelEnv(PATH, agents=["agent", "other"], fluid=fluid, randomise=ranges)

    ranges = {"link.bottleneck.rate": RANGES["link.bottleneck.rate"]}
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", category=UserWarning
        )  # it has no base class of PettingZoo
        parallel_api_test(env(), num_cycles=150)
        parallel_seed_test(env)


def test_agents_act_at_the_same_instants() -> None:
    env = ParallelEnv(PATH, agents=["agent", "other"], set={"flow.agent.count": 2})
    assert env.possible_agents == ["agent-0", "agent-1", "other"]
    observations, infos = env.reset(seed=1)
    assert infos["agent-0"]["active"] == 1
    assert infos["other"]["active"] == 0
    assert not observations["other"].any(), "nothing is known of a flow that has not started"
    while env.agents:
        *_, truncated, infos = env.step({key: [0.02] for key in env.agents})
        active = {info["time_s"] for info in infos.values() if info["active"]}
        assert len(active) == 1
    assert all(truncated.values())
    assert infos["other"]["active"] == 1


def test_agents_of_one_scenario_are_environments_of_a_vector() -> None:
    pair: dict[str, Any] = {"agents": ["agent"], "set": {"flow.agent.count": 2}}
    vector = VectorEnv(PATH, num_envs=4, **pair)
    parallel = ParallelEnv(PATH, **pair)
    observations, _ = vector.reset(seed=[3, 4])
    found, _ = parallel.reset(seed=4)
    assert observations[2:].tolist() == [found["agent-0"].tolist(), found["agent-1"].tolist()]
    with pytest.raises(GymError, match="each scenario has 2 agents"):
        VectorEnv(PATH, num_envs=3, **pair)


def test_the_default_reward_is_what_it_says() -> None:
    weights = Reward(throughput=2.0, delay=0.25, loss=3.0)
    env = Env(PATH, reward=weights, **AGENT)
    env.reset(seed=1)
    lost = 0.0
    for step in range(60):
        _, reward, *_, info = env.step([0.4 if step < 40 else -0.4])
        wanted = 2.0 * np.log2(max(info["throughput"], 1 / 1024))
        wanted -= 0.25 * np.log2(max(info["delay"], 1.0)) + 3.0 * info["loss"]
        assert reward == pytest.approx(wanted, rel=1e-12, abs=1e-12)
        lost += info["loss"]
        assert info["throughput"] == pytest.approx(info["delivered_bit_s"] / 1e7)
        assert info["delay"] == pytest.approx(info["rtt_s"] / 0.04)
    assert lost > 0


def test_a_reward_of_ones_own() -> None:
    def reward(parts: Any) -> Any:
        return parts["delivered_bit_s"] / 1e6 - 100 * parts["loss"]

    env = Env(PATH, reward=reward, **AGENT)
    vector = VectorEnv(PATH, num_envs=2, reward=reward, **AGENT)
    env.reset(seed=5)
    vector.reset(seed=5)
    for _ in range(10):
        _, given, *_, info = env.step([0.3])
        _, several, *_ = vector.step(np.full((2, 1), 0.3))
        assert given == info["delivered_bit_s"] / 1e6 - 100 * info["loss"] == several[0]


def test_a_flow_with_a_size_terminates() -> None:
    env = Env(PATH, set={"flow.agent.size": "500 kB"}, **AGENT)
    env.reset(seed=1)
    for _ in range(200):
        *_, terminated, truncated, _ = env.step([0.05])
        if terminated or truncated:
            break
    assert terminated
    assert not truncated
    with pytest.raises(GymError, match="reset"):
        env.step([0.0])


def test_what_is_drawn_depends_on_the_seed_and_the_name_alone() -> None:
    def drawn(ranges: dict[str, Any]) -> dict[str, Any]:
        _, info = Env(PATH, randomise=ranges, **AGENT).reset(seed=3)
        found: dict[str, Any] = info["drawn"]
        return found

    every = drawn(RANGES)
    assert every.keys() == RANGES.keys()
    for key, given in RANGES.items():
        assert drawn({key: given}) == {key: every[key]}
    env = Env(PATH, randomise=RANGES, **AGENT)
    rates = []
    for seed in range(100):
        _, info = env.reset(seed=seed)
        number, unit = info["drawn"]["link.bottleneck.rate"].split()
        rates.append(float(number) * {"Mbit/s": 1e6, "kbit/s": 1e3}[unit])
    assert 2e6 <= min(rates) < 3e6
    assert 3e7 < max(rates) <= 4e7
    # Half of a logarithmic range is below its geometric mean.
    assert 35 <= sum(rate < (2e6 * 4e7) ** 0.5 for rate in rates) <= 65


def test_the_file_of_an_environment(tmp_path: Path) -> None:
    (tmp_path / "path.toml").write_text(PATH, "utf-8")
    file = tmp_path / "environment.toml"
    file.write_text(
        """
        scenario = "path.toml"
        agents = ["agent"]
        interval = 0.5
        history = 2
        observe = ["rtt", "delivery"]
        set = { duration = "2 s" }
        [action]
        sets = "rate"
        [reward]
        loss = 0.0
        [randomise.link.bottleneck]
        rate = { from = "2 Mbit/s", to = "40 Mbit/s", scale = "log" }
        """,
        "utf-8",
    )
    env = Env(file)
    settings = env.settings
    assert (settings.interval, settings.history, settings.action.sets) == (0.5, 2, "rate")
    assert (settings.reward.loss, settings.reward.delay) == (0.0, 0.5)
    same = Env(
        PATH,
        interval=0.5,
        history=2,
        observe=["rtt", "delivery"],
        set={"duration": "2 s"},
        action=Action(sets="rate"),
        reward=Reward(loss=0.0),
        randomise={"link.bottleneck.rate": RANGES["link.bottleneck.rate"]},
        **AGENT,
    )
    assert rollout(env, 1) == rollout(same, 1)
    assert Env(file, history=1).observation_space.shape == (2,)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"agents": ["agnet"]}, "there is no flow `agnet`"),
        ({"agents": None}, "name some with `agents`"),
        ({"agents": ["agent", "other"]}, "2 agents steer flows here"),
        ({"interval": 0.0}, "its interval is 0 round trips"),
        ({"interval": "1 s"}, "interval"),
        ({"history": 0}, "its history is 0"),
        ({"observe": ["rrt"]}, "`rrt` is nothing that can be observed"),
        ({"observe": "everything"}, "scale-free"),
        ({"observe": []}, "it observes nothing"),
        ({"action": {"sets": "windows"}}, "windows"),
        ({"action": {"set": "window"}}, "did you mean `sets`?"),
        ({"action": {"octaves": 0}}, "0 octaves"),
        ({"action": {"bounds": [10, 1]}}, "the lower one first"),
        ({"reward": {"loss": -1}}, "the weight of loss"),
        ({"reward": {"losses": 1}}, "did you mean `loss`?"),
        ({"fluid": "foam"}, "it is one of queue, avq, overflow, red, loss"),
        ({"randomise": {"link.bottleneck.rat": ["1 Mbit/s"]}}, "rat"),
        ({"randomise": {"link.bottleneck.rate": []}}, "needs a list of values or a range"),
        ({"randomise": {"link.bottleneck.rate": {"from": "1 Mbit/s"}}}, "needs `to`"),
        (
            {"randomise": {"link.bottleneck.rate": {"from": "1 s", "to": "2 Mbit/s"}}},
            "count the same",
        ),
        (
            {"randomise": {"link.bottleneck.rate": {"from": "0 Mbit/s", "to": "2 Mbit/s"}}},
            "no scenario",
        ),
        ({"randomise": {"seed": [1, 2]}}, "a seed of its own"),
        ({"randomise": {"flow.agent.count": [1, 2]}}, "number of agents"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(GymError) as error:
        Env(PATH, **{**AGENT, **options}).reset(seed=1)
    assert said in str(error.value)


def test_wrong_scenarios_and_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="rtt"):
        Env(PATH.replace('rtt = "40 ms"', 'rrt = "40 ms"'), **AGENT)
    with pytest.raises(FileNotFoundError):
        Env(tmp_path / "missing.toml")
    file = tmp_path / "environment.toml"
    file.write_text('scenario = "path.toml"\nagent = ["agent"]\n', "utf-8")
    with pytest.raises(GymError, match=r"environment\.toml.*did you mean `agents`\?"):
        Env(file)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ([float("nan")], "the action of agent 0 is NaN"),
        ([0.1, 0.2], "1 actions are needed"),
        ([], "not 0"),
    ],
)
def test_actions_that_are_none_are_refused(action: list[float], said: str) -> None:
    env = Env(PATH, **AGENT)
    env.reset(seed=1)
    with pytest.raises(GymError, match=said):
        env.step(action)
    env.step([0.0])


@pytest.mark.parametrize("actions", [[0.5], 0.5, [0.5] * 3, np.zeros((4, 2)), []])
def test_each_environment_of_a_vector_has_an_action_of_its_own(actions: Any) -> None:
    vector = VectorEnv(PATH, num_envs=4, **AGENT)
    vector.reset(seed=1)
    with pytest.raises(GymError, match=r"actions were given for 4 environments"):
        vector.step(actions)
    vector.step(np.zeros((4, 1)))


@pytest.mark.parametrize("action", [[0.1, 0.9], []])
def test_each_agent_has_a_single_action(action: list[float]) -> None:
    env = ParallelEnv(PATH, agents=["agent"], set={"flow.agent.count": 2})
    env.reset(seed=1)
    with pytest.raises(GymError, match=r"agent `agent-1` was given [02] actions"):
        env.step({"agent-0": [0.1], "agent-1": action})


def test_steps_without_an_episode_are_refused() -> None:
    either: list[Any] = [Env(PATH, **AGENT), VectorEnv(PATH, num_envs=1, **AGENT)]
    for env in either:
        with pytest.raises(GymError, match="reset"):
            env.step(np.zeros(env.action_space.shape))
    parallel = ParallelEnv(PATH, **AGENT)
    with pytest.raises(GymError, match="reset"):
        parallel.step({"agent": [0.0]})
    parallel.reset(seed=1)
    with pytest.raises(GymError, match="agent `agent` does not act"):
        parallel.step({})
    with pytest.raises(GymError, match="there is no agent `agnet`"):
        parallel.step({"agent": [0.0], "agnet": [0.0]})
    with pytest.raises(GymError, match=r"reset\(\) knows no options"):
        Env(PATH, **AGENT).reset(options={"rate": 1})


@pytest.mark.parametrize("given", [lambda _: 1.0, lambda parts: parts["loss"] * np.nan])
def test_rewards_that_are_none_are_refused(given: Any) -> None:
    env = Env(PATH, reward=given, **AGENT)
    with pytest.raises(GymError, match="the reward function returned"):
        env.reset(seed=1)


@pytest.mark.parametrize(
    ("key", "given", "said"),
    [
        ("interval", "long", "the argument `interval` is wrong: Expected `float`, got `str`"),
        ("history", 1.5, "the argument `history` is wrong: Expected `int`, got `float`"),
        ("action", {"set": "rate"}, "the argument `action` is wrong: there is no key `set`"),
    ],
)
def test_keywords_are_blamed_for_themselves(
    key: str, given: object, said: str, tmp_path: Path
) -> None:
    scenario, environment = tmp_path / "path.toml", tmp_path / "env.toml"
    scenario.write_text(PATH, "utf-8")
    environment.write_text('scenario = "path.toml"\nagents = ["agent"]\n', "utf-8")
    for source in (scenario, environment):
        with pytest.raises(GymError) as error:
            Env(source, **{**AGENT, key: given})
        assert str(error.value).startswith(said)
    environment.write_text('scenario = "path.toml"\nagents = 3\n', "utf-8")
    with pytest.raises(GymError, match=r"env\.toml: .*`agents`"):
        Env(environment, interval=2.0)


def test_seeds_may_be_an_array() -> None:
    envs = VectorEnv(PATH, num_envs=2, **AGENT)

    def begun(seed: Any) -> list[Any]:
        return [envs.reset(seed=seed)[0], *(envs.step(np.zeros((2, 1)))[0] for _ in range(3))]

    for one, other in zip(begun([4, 9]), begun(np.array([4, 9])), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        (np.arange(3), "3 seeds were given for 2 scenarios"),
        (np.array([[1, 2]]), r"shape \(1, 2\): give a number, or one axis"),
        (np.array([0.5, 1.0]), "0.5.* is no seed: a seed is a whole number from 0 up"),
        ([1, -1], "-1 is no seed"),
        (1.5, "`seed` is 1.5: give a whole number"),
    ],
)
def test_seeds_that_are_none_are_refused(seed: Any, said: str) -> None:
    with pytest.raises(GymError, match=said):
        VectorEnv(PATH, num_envs=2, **AGENT).reset(seed=seed)


def test_without_gymnasium_the_remedy_is_told() -> None:
    code = "import sys; sys.modules['gymnasium'] = None; import longfat, longfat.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'pip install "longfat[gym]"' in done.stderr.splitlines()[-1]


OBSERVED = ["delivery", "rtt", "window"]


def policy(**changes: Any) -> Policy:
    layers = [
        ([[0.5, -1.0, -0.4], [0.2, 0.3, -0.8]], [0.6, 0.1], "tanh"),
        ([[1.0, 0.5]], [0.1], "tanh"),
    ]
    given = {"name": "trained", "observe": OBSERVED, "provenance": {"by": "hand"}, **changes}
    return Policy(given.pop("layers", layers), **given)


def test_a_policy_survives_its_file(tmp_path: Path) -> None:
    made = policy(action=Action(octaves=0.5, bounds=(2, 5000)), interval=1.5)
    made.save(tmp_path / "policy.json")
    read = Policy.read(tmp_path / "policy.json")
    assert (read.text, read.name, read.provenance) == (made.text, "trained", {"by": "hand"})
    seen = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    assert read.decide(seen).tolist() == made.decide(seen).tolist()
    hidden = np.tanh(seen @ np.array([[0.5, -1.0, -0.4], [0.2, 0.3, -0.8]]).T + [0.6, 0.1])
    expected = np.tanh(hidden @ np.array([[1.0], [0.5]]) + 0.1)
    np.testing.assert_allclose(made.decide(seen), expected, rtol=1e-6)


def test_a_policy_takes_the_settings_of_its_environment() -> None:
    env = Env(PATH, observe=OBSERVED, interval=2.0, action=Action(sets="rate"), **AGENT)
    made = json.loads(Policy.of(env, [(np.zeros((1, 3)), [0.0], "linear")], name="still").text)
    assert (made["interval"], made["observe"], made["action"]["sets"]) == (2.0, OBSERVED, "rate")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"observe": ["delivery"]}, "3 weights in a row, and 1 are needed"),
        ({"observe": ["speed", "rtt", "loss"]}, "`speed` is nothing that can be observed"),
        ({"layers": [([[float("inf")] * 3], [0.0], "tanh")]}, "finite"),
        (
            {"layers": [([[1e300] * 3], [0.0], "tanh")]},
            "the weight 1e300: finite numbers up to 1e6",
        ),
        ({"layers": []}, "0 layers"),
        ({"history": 100}, "history"),
        ({"name": "two words"}, "two words"),
    ],
)
def test_policies_that_do_not_fit_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(GymError) as error:
        policy(**changes)
    assert said in str(error.value)


def test_a_file_that_is_no_policy_is_refused(tmp_path: Path) -> None:
    for text in ("", "{}", PATH, '{"longfat_policy": 3}'):
        file = tmp_path / "policy.json"
        file.write_text(text, "utf-8")
        with pytest.raises(GymError, match="not a policy"):
            Policy.read(file)
    with pytest.raises(GymError, match="observes 3 numbers at a time"):
        policy().decide([0.0, 1.0])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        # As many numbers in all as two observations have.
        (np.zeros((3, 2)), r"have the shape \(3, 2\): give an array whose last axis has 3"),
        (np.zeros(6), r"have the shape \(6,\)"),
        (3.0, r"have the shape \(\)"),
        ("far", "was not given numbers"),
    ],
)
def test_observations_of_another_shape_are_refused(given: Any, said: str) -> None:
    with pytest.raises(GymError, match=f"`trained` observes 3 numbers at a time, and .*{said}"):
        policy().decide(given)
    for shape, decided in (((2, 5, 3), (2, 5, 1)), ((0, 3), (0, 1))):
        assert policy().decide(np.zeros(shape, np.float32)).shape == decided


def test_the_example_trains(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples/gym/train.py"), "--generations", "2"]
    command += ["--candidates", "4", "--paths", "2", "--steps", "20"]
    texts = []
    for threads in ("1", "2"):
        out = tmp_path / f"policy-{threads}.json"
        subprocess.run(
            [*command, "--threads", threads, "--out", str(out)], check=True, cwd=tmp_path
        )
        texts.append(out.read_text("utf-8"))
    assert texts[0] == texts[1], "the same seed gives the same policy"
    assert Policy.read(out).name == "learned"


@pytest.mark.long
def test_the_example_compares(tmp_path: Path) -> None:
    command = [
        sys.executable,
        str(ROOT / "examples/gym/compare.py"),
        "--seeds",
        "1",
        "--out",
        str(tmp_path),
    ]
    subprocess.run(command, check=True, cwd=tmp_path, capture_output=True)
    assert (tmp_path / "results.svg").stat().st_size > 1000
    found, committed = (
        {
            tuple(row.split(",")[:3])
            for row in (folder / "results.csv").read_text("utf-8").splitlines()
        }
        for folder in (tmp_path, ROOT / "examples/gym")
    )
    assert found == committed
    read = Policy.read(ROOT / "examples/gym/policy.json")
    assert read.provenance["trained by"].startswith("examples/gym/train.py")


def test_the_guide_has_every_feature_and_key() -> None:
    text = (ROOT / "docs/guides/gym.md").read_text("utf-8")
    for name, title, _, _, free in features():
        assert f"| `{name}` | {title}" in text or not free, name
    for kind in (package.gym.Options, Action, Reward):
        for field in kind.__struct_fields__:
            assert f"| `{field}` |" in text, field


STEADY = {"flow.agent.control": "trained"}


def outcome(run: package.Run) -> dict[str, Any]:
    return {name: value for name, value in run.summary.items() if name != "engine"}


def test_a_policy_is_an_ordinary_controller(tmp_path: Path) -> None:
    policy().save(tmp_path / "trained.json")
    scenario = tmp_path / "path.toml"
    scenario.write_text(
        PATH.replace('control = "reno"', 'control = { policy = "trained.json" }', 1), "utf-8"
    )
    named = package.run(scenario)
    handed = package.run(PATH, set=STEADY, controllers=[policy()])
    assert outcome(named)["links"] == outcome(handed)["links"]
    assert named.summary["flows"][0]["control"] == "trained"
    # The scenario of a result folder is found again from anywhere, and says which policy it was.
    named.save(tmp_path / "results")
    written = (tmp_path / "results/scenario.toml").read_text("utf-8")
    assert str(tmp_path / "trained.json") in written
    assert outcome(package.run(tmp_path / "results/scenario.toml")) == outcome(named)
    policy(interval=2.0).save(tmp_path / "trained.json")
    with pytest.raises(ScenarioError, match="is now another one"):
        package.run(tmp_path / "results/scenario.toml")
    assert outcome(package.run(scenario)) != outcome(named)


def test_a_policy_is_saved_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "trained.json"
    policy().save(place)
    before = place.read_bytes()

    write_text = type(place).write_text

    def onto_a_full_disk(path: Path, text: str, encoding: str) -> int:
        if path.name != place.name:
            return write_text(path, text, encoding)
        path.write_bytes(text[: len(text) // 2].encode())
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pathlib.Path.write_text", onto_a_full_disk)
    with pytest.raises(OSError, match="No space left"):
        policy(interval=2.0).save(place)
    assert place.read_bytes() == before
    assert not list(tmp_path.glob(".longfat*"))


def test_no_code_has_to_be_allowed_for_a_policy(tmp_path: Path, longfat: Command) -> None:
    policy().save(tmp_path / "trained.json")
    (tmp_path / "path.toml").write_text(PATH, "utf-8")
    chosen = 'flow.agent.control={ policy = "trained.json" }'
    done = longfat(
        "run", str(tmp_path / "path.toml"), "--set", chosen, "--out", str(tmp_path / "out")
    )
    assert done.returncode == 0, done.stderr
    assert "trained" in done.stdout


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"policy": "missing.json"}, "there is no such file beside the scenario file"),
        ({"policy": "path.toml"}, "it is not the file of a policy"),
        ({"policy": "wide.json"}, "3 weights in a row, and 6 are needed"),
        ({"policy": 1}, "the path of a trained policy"),
        ({"policy": "trained.json", "kind": "reno"}, "leave one of them out"),
        ({"policy": "trained.json", "gain": 1}, "gain"),
    ],
)
def test_wrong_policies_are_refused(tmp_path: Path, choice: dict[str, Any], said: str) -> None:
    policy().save(tmp_path / "trained.json")
    text = policy().text.replace('"history": 1', '"history": 2')
    (tmp_path / "wide.json").write_text(text, "utf-8")
    (tmp_path / "path.toml").write_text(PATH, "utf-8")
    with pytest.raises(ScenarioError) as error:
        package.run(tmp_path / "path.toml", set={"flow.agent.control": choice})
    assert said in str(error.value)


def test_a_study_tells_policies_apart(tmp_path: Path) -> None:
    policy().save(tmp_path / "one.json")
    policy(interval=3.0).save(tmp_path / "other.json")
    (tmp_path / "path.toml").write_text(PATH, "utf-8")
    chosen = [{"policy": f"{name}.json"} for name in ("one", "other")]
    asked = {"scenario": str(tmp_path / "path.toml"), "vary": {"flow.agent.control": chosen}}
    study = package.study.study({**asked, "seeds": 2}, out=tmp_path / "study")
    goodputs = study.rows["flows.agent.goodput_bit_s"].to_list()
    assert len(goodputs) == 4
    assert goodputs[0] != goodputs[2]


@pytest.fixture(scope="module")
def laws(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Controllers from a shared library, good and bad."""
    path = tmp_path_factory.mktemp("library") / "liblaws.so"
    command = ["cc", "-std=c99", "-O2", "-shared", "-fPIC", f"-I{ROOT / 'crates/foreign/include'}"]
    subprocess.run([*command, "-o", path, ROOT / "tests/own/laws.c"], check=True)
    return {entry.name: entry for entry in package.load_library(path)}


def test_the_other_flows_may_have_controllers_of_ones_own(laws: dict[str, Any]) -> None:
    beside: dict[str, Any] = {
        "set": {"flow.other.control": "c-reno"},
        "controllers": [laws["c-reno"]],
    }
    assert rollout(Env(PATH, **AGENT, **beside), 1) == rollout(Env(PATH, **AGENT), 1)


def test_code_that_fails_beside_an_agent_ends_the_episode(laws: dict[str, Any]) -> None:
    beside: dict[str, Any] = {
        "set": {"flow.other.control": "c-bad"},
        "controllers": [laws["c-bad"]],
    }
    env = VectorEnv(PATH, num_envs=3, threads=2, **AGENT, **beside)
    env.reset(seed=1)

    def go_on() -> None:
        for _ in range(200):
            env.step(np.zeros((3, 1)))

    with pytest.raises(package.CodeError, match=r"`c-bad`, flow other.*NaN"):
        go_on()


def test_a_policy_goes_to_another_process() -> None:
    made = policy()
    assert copy.deepcopy(made).text == made.text


@pytest.mark.parametrize("kind", [Env, VectorEnv, ParallelEnv])
def test_an_unknown_keyword_is_refused(kind: Any) -> None:
    with pytest.raises(
        TypeError, match=r"no setting `histroy` of an environment: there are agents,"
    ):
        kind(PATH, **AGENT, histroy=4)


def test_several_agents_read_the_scenario_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    once = package.scenario.Template.read

    def counted(*arguments: Any, **keywords: Any) -> Any:
        read.append(arguments)
        return once(*arguments, **keywords)

    monkeypatch.setattr(package.scenario.Template, "read", counted)
    VectorEnv(PATH, num_envs=4, agents=["agent", "other"])
    assert len(read) == 1
