"""What an installed longfat consists of, and that it works without a checkout. The wheel is built as users get
it, but compiled as the module here was, which takes seconds because the compiled part has just been built.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import longfat
from longfat.bench._benchmarks import BENCHMARKS
from support import ROOT, Finished, made_once

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = ROOT / "python/longfat"
PAGE = (
    "page/assets/**/*",
    "page/templates/*",
    "playground/assets/*",
    "playground/presets/*",
    "playground/templates/*",
    "playground/engine.wasm.gz",
)
"""What pages are made of: scripts, style sheets, templates, uPlot with its licence; and where it was built, the
engine of the playground.
"""
SHIPPED = ("bench/scenarios/*.toml", "scenarios/*.toml", "scenarios/*.trace")
SHIPPED_ROOM = ("papers/*/*.toml", "papers/*/*.py", "papers/*/results/*.json")
MOST_BYTES_OF_ROOMS = 500_000


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def build(folder: Path) -> None:
        # As the module here was built, so that nothing of it is compiled anew.
        options = os.environ.get("MODULE_OPTIONS", "--profile release").split()
        command = ["maturin", "build", *options, "--locked", "--offline", "--out", str(folder)]
        # The one that pip named: pyo3, and all that is linked with it, is compiled anew for another.
        command += ["--interpreter", sys.executable]
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    # Two at once would take each other's library away.
    (made,) = made_once(tmp_path_factory, "wheel", build).glob("*.whl")
    return made


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to import the wheel from."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)  # noqa: S202 - our own
    return folder


def python(site: Path, *arguments: str) -> Finished:
    """Runs Python in the working folder of the test, which is empty, with the package from the wheel."""
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_it_has_the_code_the_rooms_and_the_scenarios_and_nothing_else(wheel: Path) -> None:
    code = {
        path.relative_to(PACKAGE).as_posix()
        for ending in ("py", "pyi", "typed")
        for path in PACKAGE.rglob(f"*.{ending}")
        if not any(parent.is_symlink() for parent in path.parents)
    }
    shipped = {
        f"shipped/{path.relative_to(ROOT).as_posix()}"
        for pattern in (*SHIPPED, *SHIPPED_ROOM)
        for path in ROOT.glob(pattern)
    }
    made_of = {
        path.relative_to(PACKAGE).as_posix()
        for pattern in PAGE
        for path in PACKAGE.glob(pattern)
        if path.is_file()
    }
    some = {"page/assets/uplot/LICENSE", "page/templates/run.html", "playground/assets/main.js"}
    assert some <= made_of
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert all(name.startswith("longfat/") for name in names)
    found = {name.removeprefix("longfat/") for name in names}
    compiled = {name for name in found if name.endswith((".so", ".pyd"))}
    assert len(compiled) == 1
    assert found - compiled == code | shipped | made_of
    assert "study/_cache.py" in found
    assert "shipped/papers/exp-tcp/claims.toml" in found


def test_the_source_distribution_can_be_built_with_the_same_crates(tmp_path: Path) -> None:
    maturin = [sys.executable, "-m", "maturin"]
    subprocess.run([*maturin, "sdist", "--out", str(tmp_path)], cwd=ROOT, check=True)
    (packed,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path, filter="data")
    unpacked = tmp_path / packed.name.removesuffix(".tar.gz")
    # What pip does first. It has fewer crates than the checkout: cargo takes the others out of Cargo.lock.
    asked = ["pep517", "write-dist-info", "--metadata-directory", str(tmp_path / "told")]
    done = subprocess.run(
        [*maturin, *asked, "--interpreter", sys.executable],
        cwd=unpacked,
        env={**os.environ, "CARGO_NET_OFFLINE": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kept, every = (
        {
            (crate["name"], crate["version"])
            for crate in tomllib.loads((root / "Cargo.lock").read_text("utf-8"))["package"]
        }
        for root in (unpacked, ROOT)
    )
    assert ("longfat-sim", longfat.__version__) in kept
    assert kept < every


def test_its_rooms_are_small(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        rooms = [each for each in archive.infolist() if "/shipped/papers/" in each.filename]
    assert 0 < sum(each.compress_size for each in rooms) < MOST_BYTES_OF_ROOMS


def test_it_knows_papers_and_scenarios_without_a_checkout(site: Path) -> None:
    done = python(site, "-m", "longfat", "list")
    assert done.returncode == 0, done.stderr
    for room in ROOT.glob("papers/*/claims.toml"):
        assert room.parent.name in done.stdout
    assert "first.toml" in done.stdout
    plan = python(site, "-m", "longfat", "paper", "exp-tcp", "--plan")
    assert plan.returncode == 0, plan.stderr
    code = (
        "from longfat.bench._benchmarks import BENCHMARKS\n"
        "import longfat; print(longfat.__file__)\n"
        "for each in BENCHMARKS: print(each.letter, each.scenario(full=True, seed=1).duration_s)"
    )
    done = python(site, "-c", code)
    assert done.stdout.splitlines()[0] == str(site / "longfat/__init__.py")
    assert len(done.stdout.splitlines()) == 1 + len(BENCHMARKS), done.stderr


def test_it_remakes_a_figure_and_compares_it_with_what_is_committed(site: Path) -> None:
    done = python(site, "-m", "longfat", "paper", "fiber-tcp", "--figure", "figure-2")
    assert done.returncode == 0, done.stderr
    assert "nothing is committed" not in done.stdout
    assert Path("runs/paper-fiber-tcp-quick/figure-2.svg").is_file()


def test_it_makes_a_page(site: Path) -> None:
    done = python(site, "-m", "longfat", "report", "fiber-tcp")
    assert done.returncode == 0, done.stderr
    assert "uPlot" in Path("runs/paper-fiber-tcp.html").read_text("utf-8")


def test_what_needs_a_checkout_says_so(site: Path) -> None:
    done = python(site, "-m", "longfat", "bench", "--scenario", "A", "--against", "ns2")
    assert done.returncode == 2
    assert "run it in a checkout" in done.stderr
    words = ("paper", "fiber-tcp", "--figure", "figure-2", "--quiet", "--commit")
    before = sorted(site.rglob("shipped/papers/fiber-tcp/**/*"))
    done = python(site, "-m", "longfat", *words)
    assert done.returncode == 2
    assert "came with the installed package" in done.stderr
    assert sorted(site.rglob("shipped/papers/fiber-tcp/**/*")) == before
