# SPDX-License-Identifier: Apache-2.0
"""``sfmla info``: what is installed, and what it runs on."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from .. import Device, __version__, toolkit_path
from ..bench.probes import instruction_set
from .device import device_option, product_rules
from .output import json_option, print_json, print_table
from .refusals import as_refusals

SETTINGS = (
    "SFMLA_DEVICE",
    "SFMLA_NUM_THREADS",
    "SFMLA_RULES",
    "SFMLA_ISA",
    "SFMLA_CHECK",
    "SFMLA_DEVICE_MEMORY",
    "SFMLA_SIM_CORES",
    "SFMLA_SIM_SEED",
    "SFMLA_SIM_CHECKS",
    "SFMLA_SIM_TRACE",
)
LIKENESS = 0.8  # from which on a name counts as misspelt: SFMLA_THREADS
VECTOR_EXTENSION = re.compile(r"(avx|amx|asimd|sve|bf16).*|fma|f16c|sme(\d.*)?")


@click.command()
@click.option("--prefix", is_flag=True, help="Print only the install prefix.")
@device_option
@json_option
def info(prefix: bool, as_json: bool) -> None:
    """Show version, device, whose rules it has, cores, memory and the install prefix.

    Variables SFMLA_* that the library does not know, and so ignores, have a line each. The prefix
    has the shape of a CANN toolkit, for ASCEND_HOME_PATH: include/ and lib64/.
    """
    if prefix:
        click.echo(toolkit_path())
        return
    with as_refusals():
        facts = _facts()
    if as_json:
        print_json(facts)
        return
    unknown = facts.pop("unknown_settings")
    print_table("sfmla", ("what", "value"), [(name, _text(facts[name])) for name in facts])
    for name in unknown:
        nearest = get_close_matches(name, SETTINGS, 1, LIKENESS)
        click.echo(f"{name}: no variable of the library, ignored" + _meant(nearest))


def _facts() -> dict[str, Any]:
    device = Device()
    memory = device.memory_info()
    return {
        "version": __version__,
        "devices": Device.count(),
        "device": device.name,
        "rules": product_rules(),
        "cube_cores": device.cores.cube,
        "vector_cores": device.cores.vector,
        "processors": len(os.sched_getaffinity(0)),
        "vector_extensions": _vector_extensions(),
        "instruction_set": instruction_set(),
        "memory_total_bytes": memory.total_bytes,
        "memory_free_bytes": memory.free_bytes,
        "prefix": str(toolkit_path()),
        "settings": {name: os.environ[name] for name in SETTINGS if name in os.environ},
        "unknown_settings": _unknown_settings(),
    }


def _unknown_settings() -> list[str]:
    return sorted(name for name in os.environ if name.startswith("SFMLA_") and name not in SETTINGS)


def _meant(nearest: list[str]) -> str:
    return f"; did you mean {nearest[0]}?" if nearest else ""


def _vector_extensions() -> list[str]:
    """What the processor offers, as the kernel names it; empty where the kernel does not say."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    flags = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    words = flags.partition(":")[2].split()
    return sorted(word for word in words if VECTOR_EXTENSION.fullmatch(word))


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(value) or "-"
    if isinstance(value, dict):
        return " ".join(f"{name}={text}" for name, text in value.items()) or "-"
    return str(value) or "-"
