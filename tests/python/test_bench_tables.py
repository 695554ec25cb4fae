# SPDX-License-Identifier: Apache-2.0
"""The tables of ``sfmla bench``, and what they say of wall times that others disturbed: that they
are that. Such a time is held against nothing."""

from dataclasses import replace

import pytest
from bench_samples import cells, report_of, samples

from sfmla_ctypes.bench.compare import compare
from sfmla_ctypes.bench.report import (
    comparison_table,
    memory_table,
    peers_table,
    results_table,
    speedups_table,
    summary,
    sweep_table,
)
from sfmla_ctypes.bench.results import speedup_of, summarize
from sfmla_ctypes.bench.sweeps import Axis, summarize_sweep
from sfmla_ctypes.bench.workloads import WORKLOADS
from sfmla_ctypes.cli.output import print_table


def test_the_table_marks_what_misses_its_target() -> None:
    own, peer = samples("sfmla", [20.0]), samples("peer", [30.0])
    table = results_table(report_of(summarize("w", own, [peer], 0.6, 1.4)))
    assert table.rows == [("w", "1", "2e+04", "0.0", "0.50!", "0.60", "1.50", "1.40", "0.00")]
    big = replace(own, extra_bytes=4 << 20, workspace_bytes=2 << 20)
    table = memory_table(report_of(summarize("w", big, [], None, None)))
    assert table.rows == [("w", "1", "0.00", "4.00!", "2.00")]
    assert table.columns[3:] == ("extra MiB", "workspace MiB")


def test_tables_have_no_empty_columns() -> None:
    own = replace(samples("sfmla", [20.0], other_cores=None), extra_bytes=None)
    report = report_of(summarize("w", own, [], 0.6, 1.4))
    expected = ("workload", "threads", "time\nms", "GFLOP/s", "of\npeak", "target")
    assert results_table(report).columns == expected
    assert memory_table(report).columns == ("workload", "threads", "KV GB/s")


@pytest.mark.parametrize(
    ("threads", "other_cores", "expected"),
    [(2, 0.15, True), (2, 0.14, False), (2, None, False), (1, 1.9, False)],
)
def test_wall_times_are_disturbed_processor_times_are_not(
    threads: int, other_cores: float | None, expected: bool
) -> None:
    own = samples("sfmla", [20.0], threads, other_cores)
    result = summarize("w", own, [samples("peer", [10.0], threads)], 0.6, 1.4)
    assert result.is_disturbed is result.peers[0].is_disturbed is expected
    report = report_of(result)
    row, mark = cells(results_table(report)), "?" if expected else "!"
    assert row["of\npeak"].endswith(mark)
    assert row["x best\npeer"].endswith(mark)
    assert row["time\nms"].endswith("?") is expected
    assert [line.startswith("this machine is busy: 1 of 1 wall times") for line in summary(report)][
        3:
    ] == [True] * expected
    assert report.as_dict()["results"][0]["is_disturbed"] is expected


def test_a_disturbed_peer_spoils_the_ratio_only() -> None:
    quiet, loud = samples("sfmla", [20.0], 2), samples("peer", [10.0], 2, other_cores=1.0)
    report = report_of(summarize("w", quiet, [loud], None, 1.4))
    row = cells(results_table(report))
    assert (row["x best\npeer"], row["time\nms"]) == ("0.50?", "4e+04")
    row = cells(peers_table(report))
    assert (row["x"], row["time\nms"]) == ("0.50?", "2e+04?")


@pytest.mark.parametrize(
    ("one_other", "two_other", "busy", "expected"),
    [
        (0.1, 0.1, 0, "1.00!"),
        (0.2, 0.1, 0, "1.00?"),  # the wall time of one thread counts too
        (0.1, 0.2, 0, "1.00?"),
        (1.0, 0.7, 1, "1.00!"),  # the busy process is not a disturbance
        (1.3, 0.7, 1, "1.00?"),
        (None, None, 0, "1.00!"),
    ],
)
def test_speedups_beside_others(
    one_other: float | None, two_other: float | None, busy: int, expected: str
) -> None:
    one, two = samples("a", [10.0], 1, one_other), samples("a", [10.0], 2, two_other)
    speedup = speedup_of("w", one, two, busy, 1.85)
    assert speedup.is_disturbed is expected.endswith("?")
    row = cells(speedups_table(replace(report_of(), speedups=(speedup,))))
    assert row["x"] == expected
    assert row["busy processes"] == str(busy or "none")


def test_no_table_needs_more_than_100_columns(capsys: pytest.CaptureFixture[str]) -> None:
    peer = replace(samples("torch-sdpa-bfloat16 gathered 16", [0.1], 2, 1.0), extra_bytes=99 << 20)
    results = [
        summarize(name, samples("sfmla", [0.9], 2, 1.0), [peer, peer], 0.6, 1.4)
        for name in WORKLOADS
    ]
    report = report_of(*(replace(result, workspace_bytes=99 << 20) for result in results))
    shown = [results_table(report), memory_table(report), peers_table(report)]
    speedup = speedup_of(max(WORKLOADS, key=len), samples("a", [1.0]), samples("a", [1.0]), 1, 1.0)
    shown.append(speedups_table(replace(report, speedups=(speedup,))))
    for table in shown:
        print_table(table.title, table.columns, table.rows)
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) > 3
        assert max(len(line.rstrip()) for line in lines) <= 100


@pytest.mark.parametrize("loud", [None, 1, 2, 4, 8])
def test_a_cliff_is_none_where_others_disturbed_it_or_a_neighbour(loud: int | None) -> None:
    found = {
        value: samples("a", [20.0 if value == 2 else 5.0], 2, 1.0 if value == loud else 0.0)
        for value in (1, 2, 4, 8)
    }
    points = summarize_sweep(Axis("heads", "CSA", (1, 2, 4, 8)), found).points
    assert [point.is_cliff for point in points] == [False, loud in (None, 8), False, False]
    assert [point.is_disturbed for point in points] == [value == loud for value in found]


def test_a_time_ratio_is_not_judged_beside_others() -> None:
    found = {1: samples("a", [10.0], 2), 2: samples("a", [20.0], 2)}
    axis = Axis("table_factor", "CSA", (1, 2), plain=1)
    assert cells(sweep_table(summarize_sweep(axis, found)), 1)["time / plain"] == "2.00!"
    found[1] = samples("a", [10.0], 2, other_cores=1.0)
    assert cells(sweep_table(summarize_sweep(axis, found)), 1)["time / plain"] == "2.00?"


@pytest.mark.parametrize(("base_cores", "now_cores"), [(1.0, 0.0), (0.0, 1.0)])
def test_compare_does_not_judge_what_others_disturbed(base_cores: float, now_cores: float) -> None:
    base = report_of(summarize("a", samples("s", [10.0], 2, base_cores), [], None, None))
    now = report_of(summarize("a", samples("s", [20.0], 2, now_cores), [], None, None))
    changes = compare(base.as_dict(), now)
    assert [(change.is_disturbed, change.is_regression) for change in changes] == [(True, False)]
    assert comparison_table(changes).rows[0][:2] == ("a", "disturbed")
    quiet = report_of(summarize("a", samples("s", [20.0], 2), [], None, None))
    base = report_of(summarize("a", samples("s", [10.0], 2), [], None, None))
    assert comparison_table(compare(base.as_dict(), quiet)).rows[0][:2] == ("a", "SLOWER")
