"""Pages to read and to show: one HTML file each, which opens anywhere, offline, and needs nothing else.

`report` makes the page of a result folder, `compare` sets runs side by side, `write_evaluation` makes the
report of an evaluation. Pages are light or dark, fit a phone and a printer, can be used with a keyboard, and
have tables and drawings even where scripts do not run.
"""

from longfat.page._compare import compare
from longfat.page._evaluation import write_evaluation
from longfat.page._report import report

__all__ = ["compare", "report", "write_evaluation"]
