"""A cache returns what was put into it or nothing, and removes only what is its own."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from longfat.errors import CacheWarning
from longfat.scenario import read
from longfat.study import _cache
from longfat.study._cache import UNUSED_DAYS, Cache, default_root, engine_address
from longfat.study._runner import Job, run_many
from support import ROOT, SMALL, Command

if TYPE_CHECKING:
    from longfat import _longfat

DAY_S = 86_400
TABLES = ("flow_series", "links")


@pytest.fixture(scope="module")
def scenario() -> _longfat.Scenario:
    return read(SMALL)[0]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "mine")


def cached(cache: Cache, scenario: _longfat.Scenario, tables: tuple[str, ...] = ()) -> bool:
    """Whether a run comes from the cache; if not, puts it there."""
    (result,) = run_many([Job(scenario, tables=tables)], cache=cache)
    assert result.summary is not None, result.error
    assert result.summary["seed"] == scenario.seed
    assert result.tables.keys() == set(tables)
    return result.cached


def entry_of(cache: Cache) -> Path:
    (record,) = cache.root.rglob("run.entry")
    return record.parent


def age(path: Path, days: float) -> None:
    """Makes a file or folder, and everything in it, that old."""
    then = time.time() - days * DAY_S
    for each in [*path.rglob("*"), path] if path.is_dir() else [path]:
        os.utime(each, (then, then), follow_symlinks=False)


def seal(entry: Path, summary: object, *, marker: str = "longfat cache entry 1") -> None:
    """Puts another summary into an entry, with checksums that match."""
    text = json.dumps(summary)
    (entry / "summary.json").write_text(text, "utf-8")
    checksums = {"summary.json": hashlib.sha256(text.encode()).hexdigest()}
    body = json.dumps({"address": entry.name, "files": checksums}).encode()
    header = f"{marker} sha256 {hashlib.sha256(body).hexdigest()}\n"
    (entry / "run.entry").write_bytes(header.encode() + body)


def summary_of(entry: Path) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads((entry / "summary.json").read_bytes())
    return summary


def test_it_is_where_the_variable_says(scenario: _longfat.Scenario, tmp_path: Path) -> None:
    assert default_root() == tmp_path / "cache"
    assert not next(run_many([Job(scenario)])).cached
    (entry,) = (tmp_path / "cache" / engine_address()).iterdir()
    assert sorted(path.name for path in entry.iterdir()) == ["run.entry", "summary.json"]
    assert next(run_many([Job(scenario)])).cached


def test_tables_kept_earlier_stay(cache: Cache, scenario: _longfat.Scenario) -> None:
    assert not cached(cache, scenario, ("links",))
    assert not cached(cache, scenario, ("flow_series",))
    assert cached(cache, scenario, TABLES)
    assert cached(cache, scenario)


def test_a_flipped_bit_is_found_wherever_it_is(cache: Cache, scenario: _longfat.Scenario) -> None:
    cached(cache, scenario, TABLES)
    files = sorted(entry_of(cache).iterdir())
    assert len(files) == 4
    for file in files:
        whole = file.read_bytes()
        step = max(1, len(whole) // 150)
        for place in {*range(0, len(whole), step), *range(80), len(whole) - 1}:
            flipped = bytearray(whole)
            flipped[place] ^= 1 << place % 8
            file.write_bytes(flipped)
            assert cache.load(scenario, TABLES) is None, f"{file.name}, byte {place}"
        file.write_bytes(whole)
    assert cache.load(scenario, TABLES) is not None


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
@pytest.mark.parametrize("name", ["run.entry", "summary.json", "links.parquet"])
def test_what_is_cut_short_is_simulated_again(
    cache: Cache, scenario: _longfat.Scenario, name: str, share: float
) -> None:
    cached(cache, scenario, TABLES)
    file = entry_of(cache) / name
    whole = file.read_bytes()
    file.write_bytes(whole[: int(share * len(whole))])
    assert not cached(cache, scenario, TABLES)
    assert cached(cache, scenario, TABLES)


@pytest.mark.parametrize("name", ["run.entry", "summary.json", "links.parquet"])
def test_what_is_missing_is_simulated_again(
    cache: Cache, scenario: _longfat.Scenario, name: str
) -> None:
    cached(cache, scenario, TABLES)
    (entry_of(cache) / name).unlink()
    assert not cached(cache, scenario, TABLES)
    assert cached(cache, scenario, TABLES)


@pytest.mark.parametrize(
    "summary",
    [{}, [], None, "text", 3.5, {"seed": 1}, float("nan")],
    ids=["{}", "[]", "null", "text", "number", "seed alone", "NaN"],
)
def test_a_summary_of_the_wrong_type_is_not_read(
    cache: Cache, scenario: _longfat.Scenario, summary: object
) -> None:
    cached(cache, scenario)
    seal(entry_of(cache), summary)
    assert cache.load(scenario) is None
    assert not cached(cache, scenario)
    assert cached(cache, scenario)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seed", "1"),
        ("seed", 7),
        ("flows", {}),
        ("links", []),
        ("jain", None),
        ("engine", float("inf")),
    ],
)
def test_a_wrong_value_in_a_summary_is_not_read(
    cache: Cache, scenario: _longfat.Scenario, key: str, value: object
) -> None:
    cached(cache, scenario)
    entry = entry_of(cache)
    seal(entry, summary_of(entry))
    assert cache.load(scenario) is not None
    seal(entry, {**summary_of(entry), key: value})
    assert cache.load(scenario) is None


def test_an_entry_in_the_place_of_another_is_not_read(
    cache: Cache, scenario: _longfat.Scenario
) -> None:
    cached(cache, scenario)
    one = entry_of(cache)
    other = scenario.with_seed(2)
    cached(cache, other)
    (two,) = set(one.parent.iterdir()) - {one}
    for name in ("run.entry", "summary.json"):
        shutil.copy(one / name, two / name)
    assert cache.load(other) is None


def test_another_version_of_the_format_is_not_read(
    cache: Cache, scenario: _longfat.Scenario
) -> None:
    cached(cache, scenario)
    entry = entry_of(cache)
    seal(entry, summary_of(entry), marker="longfat cache entry 2")
    assert cache.load(scenario) is None


def test_entries_without_a_marker_are_neither_read_nor_removed(
    cache: Cache, scenario: _longfat.Scenario
) -> None:
    cached(cache, scenario)
    entry = entry_of(cache)
    (entry / "run.entry").unlink()
    age(entry.parent, 100)
    assert cache.load(scenario) is None
    assert not cached(Cache(cache.root), scenario.with_seed(2))
    assert (entry / "summary.json").is_file()


def test_only_its_own_entries_are_removed(cache: Cache, scenario: _longfat.Scenario) -> None:
    cached(cache, scenario, ("links", "limits"))
    old = entry_of(cache)
    root, hashed = cache.root, "0123456789abcdef"
    elsewhere = root.parent / "elsewhere"
    strangers = [
        root / "thesis" / "chapter-1.tex",
        root / "notes.txt",
        root / hashed / "letter.txt",
        root / hashed / (2 * hashed) / "data.csv",
        root / hashed / (2 * hashed[::-1]) / "run.entry",
        old.parent / "readme.txt",
        old.parent / "thesis" / "run.entry",
        elsewhere / "run.entry",
    ]
    for file in strangers:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("mine\n", "utf-8")
    (root / "fedcba9876543210").mkdir()
    # A link is not followed, even to something that looks like an entry in every way.
    twin = elsewhere / (2 * hashed)
    shutil.copytree(old, twin)
    (old.parent / ("e" * 32)).symlink_to(twin)
    (root / "eeeeeeeeeeeeeeee").symlink_to(elsewhere)
    linked = old.parent / ("d" * 32)
    linked.mkdir()
    (linked / "run.entry").symlink_to(twin / "run.entry")
    age(root, UNUSED_DAYS + 10)
    age(elsewhere, UNUSED_DAYS + 10)

    assert not cached(Cache(root), scenario.with_seed(2))
    assert not old.exists()
    assert all(file.read_text("utf-8") == "mine\n" for file in strangers)
    assert (root / "fedcba9876543210").is_dir()
    assert sorted(path.name for path in twin.iterdir()) == [
        "limits.parquet",
        "links.parquet",
        "run.entry",
        "summary.json",
    ]
    assert (linked / "run.entry").is_symlink()


def test_a_stranger_within_an_entry_survives_it(cache: Cache, scenario: _longfat.Scenario) -> None:
    cached(cache, scenario)
    entry = entry_of(cache)
    (entry / "remark.txt").write_text("mine", "utf-8")
    age(cache.root, UNUSED_DAYS + 1)
    cached(Cache(cache.root), scenario.with_seed(2))
    assert [path.name for path in entry.iterdir()] == ["remark.txt"]


def test_an_engine_without_entries_goes(cache: Cache, scenario: _longfat.Scenario) -> None:
    cached(cache, scenario)
    engine = entry_of(cache).parent
    other = engine.with_name("0" * 16)
    engine.rename(other)
    age(cache.root, UNUSED_DAYS + 1)
    cached(Cache(cache.root), scenario)
    assert not other.exists()


def test_unused_entries_are_looked_for_once_an_hour(
    cache: Cache, scenario: _longfat.Scenario
) -> None:
    cached(cache, scenario)
    entry = entry_of(cache)
    age(entry, UNUSED_DAYS + 1)
    cached(Cache(cache.root), scenario.with_seed(2))
    assert entry.exists()
    age(cache.root / ".longfat-looked", 1)
    cached(Cache(cache.root), scenario.with_seed(3))
    assert not entry.exists()


def test_of_very_many_entries_some_are_looked_at(
    cache: Cache, scenario: _longfat.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that keeps a run does not wait for gigabytes of earlier ones, nor does whoever stops it."""
    many = 3000
    for number in range(many):
        (cache.root / f"{0:016x}" / f"{number:032x}").mkdir(parents=True)
    looked = set()

    def look(entry: Path) -> float:
        looked.add(entry)
        return float("inf")

    monkeypatch.setattr(_cache, "_last_used", look)
    cached(cache, scenario)
    assert 0 < len(looked) < many


def test_what_is_read_counts_as_used(cache: Cache, scenario: _longfat.Scenario) -> None:
    for seed in (1, 2):
        cached(cache, scenario.with_seed(seed))
    age(cache.root, UNUSED_DAYS + 1)
    assert cached(cache, scenario.with_seed(1))
    assert not cached(Cache(cache.root), scenario.with_seed(3))
    assert [cached(cache, scenario.with_seed(seed)) for seed in (1, 2)] == [True, False]


def test_what_is_young_stays(cache: Cache, scenario: _longfat.Scenario) -> None:
    cached(cache, scenario)
    age(cache.root, UNUSED_DAYS - 1)
    cached(Cache(cache.root), scenario.with_seed(2))
    assert cached(cache, scenario)


def test_a_place_that_cannot_be_written_is_told_once(scenario: _longfat.Scenario) -> None:
    cache = Cache("/dev/null/cache")
    with pytest.warns(
        CacheWarning, match="/dev/null/cache is not writable: let LONGFAT_CACHE name"
    ) as told:
        results = list(run_many([Job(scenario, seed) for seed in (1, 2, 3)], cache=cache))
    assert all(result.summary and not result.cached for result in results)
    assert len(told) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_fails_no_run(
    cache: Cache, scenario: _longfat.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    def onto_a_full_disk(path: Path, content: bytes) -> int:
        with path.open("wb") as file, Path("/dev/full").open("wb", buffering=0) as full:
            file.write(content[: len(content) // 2])
            return full.write(content)

    monkeypatch.setattr(Path, "write_bytes", onto_a_full_disk)
    with pytest.warns(CacheWarning, match="on a full disk: make room, .* No space left"):
        assert not cached(cache, scenario)
    assert not list(cache.root.rglob("*entry*"))


def test_a_cache_that_can_only_be_read_is_read(
    cache: Cache, scenario: _longfat.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached(cache, scenario)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(30, "Read-only file system")

    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr("longfat.study._cache.write_whole", refuse)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cached(cache, scenario)
    with pytest.warns(CacheWarning, match="Read-only"):
        assert not cached(cache, scenario.with_seed(2))


def test_the_command_line_tells_it_in_one_line(
    longfat: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGFAT_CACHE", "/dev/null/cache")
    done = longfat(
        "try", "--rate", "10Mbit/s", "--rtt", "20ms", "--duration", "4s", "--seeds", "2", "--quiet"
    )
    assert done.returncode == 0
    assert done.stderr.startswith("warning: finished runs are not kept: /dev/null/cache")
    assert len(done.stderr.splitlines()) == 1
    assert str(ROOT) not in done.stderr
