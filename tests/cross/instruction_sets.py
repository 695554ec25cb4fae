# SPDX-License-Identifier: Apache-2.0
"""Call servers for the instruction sets of a processor, native or emulated."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import test_sparse_flash_attention as flash

from cross.server import CallServer
from reference.compare import as_on
from reference.sparse_flash_attention_cases import SparseFlashCase, build
from sfmla_ctypes import AclParamError

Servers = dict[str, CallServer]


def server_of(command: Sequence[str], isa: str = "", threads: int = 0) -> CallServer:
    """A call server on an instruction set and number of threads, or what the library picks."""
    environment = dict(os.environ)
    for name, value in (("SFMLA_ISA", isa), ("SFMLA_NUM_THREADS", str(threads or ""))):
        environment.pop(name, None)
        if value:
            environment[name] = value
    return CallServer(command, environment)


def answer(command: Sequence[str], isa: str) -> str:
    """What the library says to a small call: a refusal, or nothing."""
    server = server_of(command, isa)
    try:
        with server.serves():
            flash.attend(build(SparseFlashCase(heads=1, tokens=(1,))))
    except AclParamError as error:
        return error.text
    finally:
        server.close()
    return ""


def instruction_sets(command: Sequence[str]) -> list[str]:
    """What the library can use where the command runs, best first: it says so when it refuses one
    of another kind of processor."""
    text = answer(command, "neon") or answer(command, "avx2")
    found = re.fullmatch(
        r"environment variable SFMLA_ISA: '\w+', must be one of (.*) on this processor", text
    )
    assert found, text
    return found[1].split(", ")


@contextmanager
def all_servers(command: Sequence[str]) -> Iterator[Servers]:
    """One server for each instruction set; they must end well."""
    with ExitStack() as stack:
        servers = {}
        for isa in instruction_sets(command):
            servers[isa] = server_of(command, isa)
            stack.callback(servers[isa].close)
        yield servers


def on_each(servers: Servers, check: Callable[..., None], *arguments: Any) -> None:
    """Runs a test of tests/python in each server."""
    for isa, server in servers.items():
        with server.serves(), as_on(isa):
            try:
                check(*arguments)
            except AssertionError as error:
                raise AssertionError(f"SFMLA_ISA={isa}: {error}") from error
