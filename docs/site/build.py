"""Builds the site of the documents and checks its links: what `make docs` runs.

Warnings are errors. With `--rust`, what `cargo doc` has made is put beside it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from longfat_site import links
from longfat_site.pages import FRONT, ROOT
from longfat_site.reference import RUST


def main() -> int:
    """Builds the site; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="the folder of the site")
    parser.add_argument("--rust", type=Path, help="the folder that cargo doc has made")
    asked = parser.parse_args()
    out: Path = asked.out
    code = build(out)
    if code:
        return code
    if asked.rust is not None:
        shutil.rmtree(out / RUST, ignore_errors=True)
        shutil.copytree(asked.rust, out / RUST)
    complaints = links.broken(out, leave=(RUST,))
    for complaint in complaints:
        print(f"broken link: {complaint}", file=sys.stderr)
    print(f"the site is in {out}: open {out / 'index.html'}")
    return 1 if complaints else 0


def build(out: Path) -> int:
    """Has Sphinx write the site into a folder; returns its exit code."""
    from sphinx.cmd.build import main as sphinx

    # All anew each time: what fills pages and the contents, the program and a list, is not watched by Sphinx.
    options = ["-b", "html", "-E", "-W", "--keep-going", "-q", "-j", "auto"]
    places = ["-c", str(Path(__file__).parent), "-d", str(out / ".doctrees"), str(ROOT), str(out)]
    code = sphinx([*options, *places])
    if code == 0:
        # The front page is the README of the repository; browsers look for it under this name.
        shutil.copyfile(out / FRONT.replace(".md", ".html"), out / "index.html")
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
