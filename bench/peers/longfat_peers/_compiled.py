"""The programs for the peers that are compiled at first use, and kept."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.bench._peer import PeerAbsent
from longfat.bench._process import run
from longfat.shipped import checkout
from longfat.study import Cache

if TYPE_CHECKING:
    from collections.abc import Sequence


def compiled(name: str, title: str, arguments: Sequence[str], made_of: bytes) -> str:
    """A program in the cache folder, compiled if it is not there.

    Args:
        name: The peer, for the name of the file.
        title: The peer in print.
        arguments: For the compiler: options, sources and libraries.
        made_of: What the program depends on beside what all of them share; another program is compiled when
            either changes.

    Raises:
        PeerAbsent: There is no compiler.
        ProcessError: It does not compile.
    """
    shared = (checkout() / "bench/peers/scene.h").read_bytes()
    address = hashlib.sha256(shared + made_of).hexdigest()[:16]
    program = Cache().root / "peers" / f"{name}-{address}"
    if not program.exists():
        compiler = shutil.which(os.environ.get("CXX", "c++"))
        if compiler is None:
            message = (
                f"{title} needs a C++ compiler: `apt-get install g++` (Debian, Ubuntu) brings one"
            )
            raise PeerAbsent(message)
        program.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=program.parent) as folder:
            made = Path(folder, "dumbbell")
            run([compiler, *arguments, "-o", str(made)])
            made.replace(program)
    return str(program)
