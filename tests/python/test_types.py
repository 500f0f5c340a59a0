from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from support import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def test_the_stubs_describe_the_compiled_module(own_folder: Path) -> None:
    # Names and parameters are compared, not types; all of what the package imports takes 18 s to read.
    own_folder.joinpath("alone.ini").write_text("[mypy]\nfollow_imports = skip\n", "utf-8")
    options = ["--mypy-config-file", str(own_folder / "alone.ini")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "longfat._longfat", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
