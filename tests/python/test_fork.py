# SPDX-License-Identifier: Apache-2.0
"""What a forked process may use of its parent."""

import subprocess
import sys
from pathlib import Path

import pytest

FORK = """
import os, sys, threading, traceback
import numpy as np
import sfmla_ctypes as sfmla
from sfmla_ctypes import DeviceArray, Stream
from sfmla_ctypes._library import ffi, lib

def in_child(function):
    pid = os.fork()
    if pid == 0:
        try:
            function()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0

def attend(to_array=lambda array: array):
    ones = to_array(np.ones((1, 2, 8, 512), np.float16))
    words = sfmla.sparse_flash_mla_metadata(
        8, 1, 512, batch_size=1, max_seqlen_q=2, max_seqlen_ori_kv=2, has_cmp_kv=False
    )
    out, _ = sfmla.sparse_flash_mla(
        ones, ori_kv=ones[:, :, :1], sinks=to_array(np.full(8, -np.inf, np.float32)),
        metadata=to_array(words),
    )
    assert (np.asarray(out) == 1).all()

def work():
    attend()
    attend(DeviceArray.from_numpy)
    assert DeviceArray.zeros(8, "f4").numpy().sum() == 0
    sfmla.Device().synchronize()

def refuses(function):
    try:
        function()
    except sfmla.AclRuntimeError as error:
        assert error.code == 107003, error
    else:
        raise AssertionError(function)
"""

FORKS = {
    "after work": """
work()
in_child(work)
work()
""",
    "inside blocks of a stream": """
with Stream() as stream:
    DeviceArray.zeros(8, "f4")
    in_child(work)
    pid = os.fork()
    if pid == 0:
        work()
        refuses(stream.synchronize)
        assert Stream.current() is not stream
if pid == 0:
    work()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
""",
    "with arrays": """
copied = DeviceArray.from_numpy(np.arange(8))
waited = DeviceArray.zeros(8, "f4")
waited.numpy()
finished = DeviceArray.zeros(8, "f4")
while not Stream.current().query():
    pass
def read():
    assert copied.numpy().sum() == 28
    assert waited.numpy().sum() == 0
    assert finished.numpy().sum() == 0
in_child(read)
read()
""",
    "with a failed array": """
ones = DeviceArray.from_numpy(np.ones((1, 2, 8, 512), np.float16))
bad, _ = sfmla.sparse_flash_mla(
    ones, ori_kv=ones[:, :, :1], sinks=DeviceArray.zeros(8, "f4"),
    metadata=DeviceArray.from_numpy(np.zeros(1024, np.int32)),
)
while not Stream.current().query():
    pass
def read():
    try:
        bad.numpy()
    except sfmla.AclDeviceError as error:
        assert error.code == 507018
    else:
        raise AssertionError
in_child(read)
read()
""",
    "with a graph": """
stream, array = Stream(), DeviceArray.from_numpy(np.ones(8, "f4"))
pinned = sfmla.pinned_empty(8, "f4")
pinned[:] = 2
with stream.capture() as graph:
    array.copy_from(pinned)
def use():
    refuses(graph.replay)
    assert pinned.sum() == 16
    assert array.numpy().sum() == 8
    work()
in_child(use)
graph.replay()
assert array.numpy().sum() == 16
""",
    "inside captures": """
stream = Stream()
with stream.capture() as graph:
    array = DeviceArray.zeros(8, "f4")
    def use():
        refuses(graph.replay)
        array.copy_from(np.ones(8, "f4"))
        assert array.numpy().sum() == 8
        work()
    in_child(use)
    pid = os.fork()
    if pid == 0:
        work()
if pid == 0:
    refuses(graph.replay)
    work()
    with Stream().capture() as graph:
        array = DeviceArray.zeros(8, "f4")
    graph.replay()
    assert array.numpy().sum() == 0
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
graph.replay()
assert array.numpy().sum() == 0
""",
    "inside the block of a device": """
with sfmla.Device(0):
    work()
    pid = os.fork()
    work()
work()
if pid == 0:
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
""",
    "with unfinished work": """
from stream_work import held
def read():
    refuses(late.numpy)
    refuses(event.synchronize)
    late.copy_from(np.ones(8, "f4"))
    assert late.numpy().sum() == 8
with held(Stream.current()):
    late = DeviceArray.zeros(8, "f4")
    event = sfmla.Event()
    event.record()
    in_child(read)
assert late.numpy().sum() == 0
""",
}


@pytest.mark.parametrize("script", FORKS.values(), ids=FORKS)
def test_fork(script: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK + script],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parent,
    )
    assert done.returncode == 0, done.stderr
