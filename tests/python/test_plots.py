# SPDX-License-Identifier: Apache-2.0
"""Pictures: what is drawn is what is attended, and what cannot be drawn is said."""

import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from sfmla_ctypes.plots import (
    BOTH,
    COMPRESSED,
    NOTHING,
    ORIGINAL,
    PlotError,
    attended_map,
    check_can_plot,
    save_attended_keys,
    save_schedule,
)
from sfmla_ctypes.reference import Call
from sfmla_ctypes.schedule import CoreWork, Schedule


def call_with_both_parts() -> Call:
    """Rows at positions 4 and 5 of 6 tokens, window 2; 2 compressed tokens of 2 and a residual."""
    return Call(
        np.zeros((1, 2, 1, 512), np.float16),
        ori_kv=np.zeros((1, 6, 1, 512), np.float16),
        cmp_kv=np.zeros((1, 3, 1, 512), np.float16),
        cmp_sparse_indices=np.array([[[[0, -1]], [[2, 0]]]]),
        cmp_ratio=2,
        ori_mask_mode=4,
        ori_win_left=1,
        ori_win_right=0,
        cmp_mask_mode=3,
    )


def test_the_map_shows_each_key_where_its_tokens_are() -> None:
    n, c, o, b = NOTHING, COMPRESSED, ORIGINAL, BOTH
    expected = [[c, c, n, o, o, n], [c, c, n, n, b, b]]
    np.testing.assert_array_equal(attended_map(call_with_both_parts()), expected)


def test_pictures_are_saved(tmp_path: Path) -> None:
    work = CoreWork(core=0, start=(0, 0, 0), end=(1, 0, 0), rows=2, kv_blocks=4, cost=64)
    save_attended_keys({"both": call_with_both_parts()}, tmp_path / "keys.png")
    save_schedule(Schedule((work,), ()), "case", tmp_path / "plan.svg")
    save_schedule(Schedule((), ()), "nothing to do", tmp_path / "empty.png")
    assert (tmp_path / "keys.png").read_bytes().startswith(b"\x89PNG")
    assert_legend_covers_no_bars(tmp_path / "plan.svg")
    assert (tmp_path / "empty.png").stat().st_size > 0


def assert_legend_covers_no_bars(drawn: Path) -> None:
    """It belongs to the figure, which places it beside its panel."""
    figure = next(group for group in ElementTree.parse(drawn).iter() if group.get("id"))
    assert figure.get("id") == "figure_1"
    assert {"axes_1", "legend_1"} <= {part.get("id") for part in figure}


def test_what_cannot_be_saved_is_said(tmp_path: Path) -> None:
    with pytest.raises(PlotError, match=r"suffix '.npz', must be one of .*\.png"):
        check_can_plot(tmp_path / "picture.npz")
    with pytest.raises(PlotError, match="cannot be written"):
        save_schedule(Schedule((), ()), "case", tmp_path / "missing" / "a.png")


def test_without_matplotlib_the_sentence_says_how_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PlotError, match=r"pip install 'sfmla-ctypes\[plot\]'"):
        check_can_plot(Path("picture.png"))
