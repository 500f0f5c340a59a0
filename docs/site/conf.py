"""How Sphinx makes the site of the documents that are there. `make docs` runs it; see `build.py`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

from longfat import __version__
from longfat_site import pages, reference

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "longfat"
version = release = __version__
html_title = f"longfat {__version__}"
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = pages.FRONT.removesuffix(".md")
source_suffix = {".md": "markdown"}
include_patterns = pages.documents()
exclude_patterns = [
    "target",
    "site",
    ".*",
    "crates",
    "python",
    "tests",
    "fuzz",
    "live",
    "dist",
    "runs",
]

myst_heading_anchors = 5
# Code with an ellipsis is no code, and is shown all the same.
suppress_warnings = ["misc.highlighting_failure"]
highlight_language = "text"

default_role = "literal"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"
napoleon_numpy_docstring = False
add_module_names = False
python_display_short_literal_types = True

html_theme = "furo"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False


def setup(app: Sphinx) -> None:
    """Puts what is made into the pages as they are read."""
    app.connect("source-read", _fill)


def _fill(_app: Sphinx, name: str, source: list[str]) -> None:
    source[0] = reference.filled(source[0])
    if name == root_doc:
        source[0] += pages.contents()
