"""What longfat depends on: licences, sources, versions. What needs a network is for `make audit`."""

from __future__ import annotations

import importlib.metadata as installed
import json
import re
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from packaging.markers import Marker

from support import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYTHON = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "HPND",
    "ISC",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "MPL-2.0",
    "PSF-2.0",
    "Zlib",
}
"""Licences of Python packages. They are installed beside longfat, not distributed with it."""

CLASSIFIED = {
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""Licences as older packages name them."""

WITH_PYTHON = {"pip", "setuptools", "wheel"}
"""A virtual environment may begin with these, at a version of its own."""


def toml(name: str) -> dict[str, Any]:
    read: dict[str, Any] = tomllib.loads((ROOT / name).read_text(encoding="utf-8"))
    return read


def allows(expression: str, allowed: set[str]) -> bool:
    """Whether an SPDX expression can be satisfied; older ones write `/` for `OR`."""
    words = re.findall(r"[()]|[^\s()/]+", expression.replace("/", " OR "))

    def any_of() -> bool:
        found = all_of()
        while words and words[0] == "OR":
            words.pop(0)
            found = all_of() or found
        return found

    def all_of() -> bool:
        found = one()
        while words and words[0] == "AND":
            words.pop(0)
            found = one() and found
        return found

    def one() -> bool:
        word = words.pop(0)
        if word == "(":
            found = any_of()
            words.pop(0)
            return found
        if words and words[0] == "WITH":
            words.pop(0)
            word = f"{word} WITH {words.pop(0)}"
        return word in allowed

    return any_of()


@pytest.mark.parametrize(
    ("expression", "fine"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("MIT/Apache-2.0", True),
        ("MIT AND GPL-3.0-only", False),
        ("(GPL-3.0-only OR MIT) AND Zlib", True),
        ("(GPL-3.0-only AND MIT) OR LGPL-2.1-or-later", False),
        ("Apache-2.0 WITH LLVM-exception", False),
        ("MIT AND Zlib OR GPL-3.0-only", True),
    ],
)
def test_expressions_are_understood(expression: str, fine: bool) -> None:  # noqa: FBT001
    assert allows(expression, {"MIT", "Zlib", "Apache-2.0"}) is fine


WORKSPACES = pytest.mark.parametrize(("folder", "several"), [(".", 100), ("live", 40)])
"""The folders of workspaces, each with a number of packages that it has at least."""


@WORKSPACES
def test_crates_may_be_used_and_come_from_the_registry(folder: str, several: int) -> None:
    found = subprocess.run(
        ["cargo", "metadata", "--locked", "--format-version", "1"],  # noqa: S607
        cwd=ROOT / folder,
        capture_output=True,
        check=True,
    )
    packages = json.loads(found.stdout)["packages"]
    assert len(packages) > several
    allowed = set(toml("deny.toml")["licenses"]["allow"])
    refused = {
        package["name"]: package["license"]
        for package in packages
        if not allows(package["license"] or "none", allowed)
    }
    assert refused == {}
    ours = [package for package in packages if package["source"] is None]
    assert {package["name"].partition("-")[0] for package in ours} == {"longfat"}
    # One registry, and nothing from a repository.
    (registry,) = {package["source"] for package in packages} - {None}
    assert registry.startswith("registry+")


@WORKSPACES
def test_crates_have_checksums_and_one_version(folder: str, several: int) -> None:
    crates = toml(f"{folder}/Cargo.lock")["package"]
    assert len(crates) > several
    foreign = [crate for crate in crates if not crate["name"].startswith("longfat-")]
    assert all(len(crate["checksum"]) == 64 for crate in foreign)
    counted = Counter(crate["name"] for crate in crates)
    twice = {name for name, count in counted.items() if count > 1}
    borne = {skipped["crate"] for skipped in toml("deny.toml")["bans"]["skip"]}
    # What is borne is there, so that the list does not outlive its reasons.
    assert twice == borne if folder == "." else twice <= borne


def test_every_lock_file_has_the_same_versions() -> None:
    """So nothing is looked at twice, what two need is compiled once, and none is forgotten at a release."""
    versions: dict[tuple[str, str], dict[str, str]] = {}
    for folder in (".", "live", "fuzz", "examples/quic", "examples/rust-controller"):
        for crate in toml(f"{folder}/Cargo.lock")["package"]:
            # Cargo takes 1.2 for 1.1, but neither 2.0 for 1.1 nor 0.2 for 0.1. Of ours there is one of each.
            ours = crate["name"].startswith("longfat-")
            (compatible,) = [""] if ours else re.findall(r"^(?:0\.)*\d+", crate["version"])
            known = versions.setdefault((crate["name"], compatible), {})
            known.setdefault(crate["version"], folder)
    assert {name: known for (name, _), known in versions.items() if len(known) > 1} == {}


def licences(package: installed.Distribution) -> list[str]:
    told = package.metadata.get_all("License-Expression") or []
    if not told:
        classifiers = package.metadata.get_all("Classifier") or []
        names = [
            line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")
        ]
        told = [CLASSIFIED.get(name, name) for name in names]
    named = package.metadata.get_all("License") or ["none"]
    return told or [CLASSIFIED.get(name, name) for name in named]


def test_python_packages_may_be_used() -> None:
    refused = {
        package.name: licences(package)
        for package in installed.distributions()
        if not any(allows(licence, PYTHON) for licence in licences(package))
    }
    assert refused == {}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_python_package_is_at_the_version_of_constraints() -> None:
    pinned = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        pin, _, marker = line.partition(";")
        if not line.startswith("#") and (not marker or Marker(marker.strip()).evaluate()):
            name, _, version = pin.strip().partition("==")
            pinned[plain(name)] = version
    found = {plain(each.name): each.version for each in installed.distributions()}
    wrong = {
        name: f"{version} is installed, {pinned.get(name)} is pinned"
        for name, version in found.items()
        if name not in {"longfat", *WITH_PYTHON} and pinned.get(name) != version
    }
    assert wrong == {}


BORDERS = ("foreign", "pages", "py", "wasm")
"""The crates that may have `unsafe`, where it is expected with a reason."""


def test_no_crate_has_unsafe_code() -> None:
    """`forbid` cannot be lifted further down; so every crate must only ask for the lints of the workspace.

    But for the borders, which have a copy of them that can be lifted.
    """
    lints = toml("Cargo.toml")["workspace"]["lints"]
    assert lints["rust"]["unsafe_code"] == "forbid"
    liftable = {**lints, "rust": {**lints["rust"], "unsafe_code": "deny"}}
    manifests = [*ROOT.glob("crates/*/Cargo.toml"), ROOT / "bench/Cargo.toml"]
    assert len(manifests) == 16
    for manifest in manifests:
        given = toml(str(manifest.relative_to(ROOT)))["lints"]
        expected = liftable if manifest.parent.name in BORDERS else {"workspace": True}
        assert given == expected, manifest
