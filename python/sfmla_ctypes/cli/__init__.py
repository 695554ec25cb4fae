# SPDX-License-Identifier: Apache-2.0
"""The command ``sfmla``: one file per sub-command, thin over the package.

Exit codes: 0 success; 1 the answer is no: numbers that differ from the reference, a workload slower
than the one compared with, a cliff, a fault of an emulated core; 2 input that was refused, or a
file that could not be written, with one sentence on standard error.
"""

from __future__ import annotations

import click

from .. import __version__
from .bench import bench
from .case import case
from .demo import demo
from .group import Commands
from .info import info
from .plan import plan
from .run import run
from .sim import sim


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="sfmla")
def main() -> None:
    """Sparse attention over latent KV caches, on this machine's processor."""


for command in (demo, case, run, sim, plan, info, bench):
    main.add_command(command)
