"""Fixtures: a folder of its own for each test, a small scenario, the command line, and pages in a browser."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from prefork import Prefork
from small_study import FILE
from support import SMALL, Command, Finished

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from browser_support import Visits


def pytest_configure() -> None:
    """A job in the background of a script ignores Ctrl-C, and so does what it starts; tests send it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: tests wait for browsers, clusters and deadlines."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture
def environment_stays() -> Iterator[None]:
    """What a test does to the environment ends with it: a cluster, say, sets variables for its workers."""
    with patch.dict(os.environ):
        yield


@pytest.fixture(autouse=True)
def own_folder(environment_stays: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in an empty folder, with an empty cache elsewhere, and asks for no width."""
    monkeypatch.delenv("COLUMNS", raising=False)  # processes that test side by side have one of 80
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def small(own_folder: Path) -> Path:
    """The file of a small scenario."""
    path = own_folder / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def file(small: Path) -> Path:
    """The file of a study of it."""
    path = small.parent / "question.toml"
    path.write_text(FILE, "utf-8")
    return path


@pytest.fixture(scope="session")
def prefork() -> Iterator[Prefork]:
    """What starts commands quickly."""
    started = Prefork()
    yield started
    started.close()


@pytest.fixture
def longfat(prefork: Prefork) -> Command:
    """Runs the command line in a process of its own."""

    def run(*arguments: object, **options: Any) -> Finished:
        return prefork.run([str(each) for each in arguments], **{"timeout": 60, **options})

    return run


# Not for the whole session: while a browser runs, no test of its thread can have an event loop of its own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for the tests of one file."""
    from browser_support import CHROMIUM, NO_CHROMIUM, browsers

    if CHROMIUM is None:
        pytest.skip(NO_CHROMIUM)
    with browsers() as started:
        yield started


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visits]:
    """Opens pages, and closes them after the test."""
    from browser_support import Visits

    opened = Visits(browser)
    yield opened
    opened.close()
