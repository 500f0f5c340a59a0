"""What comes out of longfat: runs, fluid solutions, their tables, and the folders they are kept in."""

from longfat.results._finished import Finished
from longfat.results._fluid import Fluid, fluid, synchronised
from longfat.results._folder import ResultFolder
from longfat.results._run import Run, run
from longfat.results._table import Table

__all__ = ["Finished", "Fluid", "ResultFolder", "Run", "Table", "fluid", "run", "synchronised"]
