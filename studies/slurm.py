"""Runs a study on a SLURM cluster, through dask-jobqueue.

    pip install 'longfat[dask]' dask-jobqueue
    python slurm.py study.toml --jobs 8 --cores 16 --memory 32GB --walltime 01:00:00
    python slurm.py study.toml --local        the same on this machine, to try it

The scheduler runs here, so start it where it may stay: on a login node, or in a small job. Whatever happens,
start it again: it goes on where it stopped.
"""

from __future__ import annotations

import argparse
from typing import Any

from longfat.study import study


def cluster(given: argparse.Namespace) -> Any:  # noqa: ANN401 - of either kind
    """A cluster of so many jobs, each with a worker for each core."""
    if given.local:
        from distributed import LocalCluster

        options: dict[str, Any] = {"n_workers": given.jobs, "threads_per_worker": 1}
        return LocalCluster(**options, dashboard_address=None)  # type: ignore[no-untyped-call]
    from dask_jobqueue import SLURMCluster  # type: ignore[import-not-found]

    made = SLURMCluster(
        queue=given.partition,
        account=given.account,
        cores=given.cores,
        processes=given.cores,
        memory=given.memory,
        walltime=given.walltime,
        interface=given.interface,
    )
    made.scale(jobs=given.jobs)
    return made


def main() -> None:
    """Reads the command line, and runs the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="the study file")
    parser.add_argument("--out", help="the folder, on a file system that all nodes share")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cores", type=int, default=4, help="of each job")
    parser.add_argument("--memory", default="8GB", help="of each job")
    parser.add_argument("--walltime", default="01:00:00")
    parser.add_argument("--partition")
    parser.add_argument("--account")
    parser.add_argument("--interface", help="the network interface of the nodes, such as ib0")
    parser.add_argument("--local", action="store_true", help="on this machine, without SLURM")
    given = parser.parse_args()
    with cluster(given) as made:
        found = study(given.file, out=given.out, dask=made.scheduler_address)
    print(f"{found.runs} runs, {found.known} known, {found.failed} failed: {found.folder}")


if __name__ == "__main__":
    main()
