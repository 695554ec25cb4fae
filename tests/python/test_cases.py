# SPDX-License-Identifier: Apache-2.0
"""Cases: what is built is consistent, runs, and survives a file."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from sfmla_ctypes import case_files
from sfmla_ctypes.case_files import load_case, save_arrays
from sfmla_ctypes.cases import (
    V4_MODES,
    CaseError,
    CaseSpec,
    build_case,
    case_names,
    named_case,
    resize,
)
from sfmla_ctypes.cli.execute import compare, execute
from sfmla_ctypes.operators import operator_of
from sfmla_ctypes.reference import Call, SharedKvCall, requests

RAGGED: dict[str, Any] = {"query_tokens": (2, 0, 5, 1), "kv_tokens": (130, 0, 700, 3)}
LAYOUTS = [("BSND", "BSND"), ("TND", "TND"), ("BSND", "PA_BBND"), ("TND", "PA_BBND")]
KINDS = [
    *(("sparse_flash_mla", mode) for mode in V4_MODES),
    *(("sparse_attn_sharedkv", mode) for mode in ("swa", "csa", "hca")),
    ("sparse_flash_attention", "sfa"),
]


def small(mode: str, **changes: Any) -> CaseSpec:
    return replace(CaseSpec(mode, heads=4, topk=24, page_tokens=16, **RAGGED), **changes)


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert np.asarray(found[name]).dtype == np.asarray(value).dtype, name
        assert np.array_equal(found[name], value), name


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize(("layout_q", "layout_kv"), LAYOUTS)
@pytest.mark.parametrize(("operator", "mode"), KINDS)
def test_every_kind_of_case_runs_and_is_right(
    operator: str, mode: str, layout_q: str, layout_kv: str, dtype: str
) -> None:
    layouts = {"layout_q": layout_q, "layout_kv": layout_kv}
    arguments = build_case(small(mode, operator=operator, dtype=dtype, **layouts))
    found = operator_of(arguments)
    assert found.name == operator
    verdicts = compare(found, arguments, execute(found, arguments), title="")
    assert [verdict.output for verdict in verdicts] == list(found.outputs)
    assert all(verdict.ok for verdict in verdicts)


@pytest.mark.parametrize("name", case_names())
def test_named_cases_have_the_sizes_of_their_model(name: str) -> None:
    spec = named_case(name)
    sizes = {"v4-flash": (64, 512), "v4-pro": (128, 1024), "v3.2": (16, 2048)}
    model = next(model for model in sizes if name.startswith(model))
    assert (spec.heads, spec.topk) == sizes[model]
    arguments = build_case(resize(spec, batch=2, query_tokens=[2], kv_tokens=[300]))
    call = operator_of(arguments).call(**arguments)
    assert call.mode == spec.mode.upper().replace("-", "_")
    if isinstance(call, Call):
        assert [request.original_tokens for request in requests(call)] == [300, 300]
    else:
        assert [row.keys[0].size for row in call.attended_rows()] == [299, 300] * 2


@pytest.mark.parametrize("mode", ["swa", "csa", "hca"])
@pytest.mark.parametrize(("layout_q", "layout_kv"), LAYOUTS)
def test_a_case_means_the_same_to_the_older_operator(
    mode: str, layout_q: str, layout_kv: str
) -> None:
    spec = small(mode, layout_q=layout_q, layout_kv=layout_kv)
    call, older = (
        Call(**build_case(spec)),
        build_case(replace(spec, operator="sparse_attn_sharedkv")),
    )
    for one, other in zip(call.attended_rows(), SharedKvCall(**older).attended_rows(), strict=True):
        assert one[:2] == other[:2]
        for keys, other_keys in zip(one.keys, other.keys, strict=True):
            np.testing.assert_array_equal(keys, other_keys)


@pytest.mark.parametrize(
    ("names", "operator", "expected"),
    [
        (["q", "ori_kv", "sinks"], None, "sparse_flash_mla"),
        (["q", "ori_kv", "sinks"], "sparse_attn_sharedkv", "sparse_attn_sharedkv"),
        (["q", "seqused_kv"], None, "sparse_attn_sharedkv"),
        (["query", "key"], None, "sparse_flash_attention"),
    ],
)
def test_names_tell_the_operator(names: list[str], operator: str | None, expected: str) -> None:
    assert operator_of(names, operator).name == expected


@pytest.mark.parametrize(
    ("names", "operator", "sentence"),
    [
        (["q", "ori_kv", "query"], None, "query: no argument of sparse_flash_mla, the"),
        (["q", "key", "query"], None, "q: no argument of sparse_flash_attention, the"),
        (["q", "sinks"], "sparse_flash_attention", "q: no argument of sparse_flash_attention, the"),
    ],
)
def test_names_of_several_operators_are_refused(
    names: list[str], operator: str | None, sentence: str
) -> None:
    with pytest.raises(CaseError, match=sentence):
        operator_of(names, operator)


def test_pages_belong_to_one_request_each() -> None:
    arguments = build_case(small("hca", cmp_ratio=4))
    for side, lengths in (("ori", (130, 0, 700, 3)), ("cmp", (32, 0, 175, 0))):
        table = arguments[f"{side}_block_table"]
        used = [row[: -(-n // 16)] for row, n in zip(table, lengths, strict=True)]
        pages = np.concatenate(used)
        assert np.unique(pages).size == pages.size
        assert pages.max() < arguments[f"{side}_kv"].shape[0]
        assert not np.array_equal(np.sort(pages), pages)


def test_lists_name_distinct_visible_keys_then_end() -> None:
    arguments = build_case(small("csa"))
    # The third request: rows at 695..699, restored tokens 700, ratio 4.
    for row, position in zip(range(2, 7), range(695, 700), strict=True):
        listed = arguments["cmp_sparse_indices"][row, 0]
        assert np.unique(listed).size == 24
        assert listed.min() >= 0
        assert listed.max() < (position + 1) // 4
    assert (arguments["cmp_sparse_indices"][7] == -1).all()  # 3 tokens: nothing compressed yet


def test_the_seed_decides_the_values() -> None:
    assert_same(build_case(small("csa")), build_case(small("csa")))
    other = build_case(small("csa", seed=1))
    assert not np.array_equal(other["q"], build_case(small("csa"))["q"])


def test_scores_have_a_spread_of_one() -> None:
    arguments = build_case(small("swa", layout_kv="TND"))
    q, keys = (arguments[name].astype(np.float64) for name in ("q", "ori_kv"))
    scores = arguments["softmax_scale"] * np.einsum("thd,ksd->thk", q, keys)
    assert scores.std() == pytest.approx(1, abs=0.05)


def test_resize_repeats_lengths_up_to_the_batch() -> None:
    spec = named_case("v4-flash-swa-decode")
    assert resize(spec, batch=3).kv_tokens == (8192,) * 3
    assert resize(spec, kv_tokens=[10, 20]).query_tokens == (2, 2)
    assert resize(spec, batch=3, kv_tokens=[10, 20]).kv_tokens == (10, 20, 10)
    assert resize(spec, kv_tokens=[10]).kv_tokens == (10,) * 4


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"query_tokens": (2, 1, 5, 1)}, "query tokens: 1 of a request with 0 KV tokens"),
        ({"layout_kv": "BSND"}, "layout_kv: BSND with layout_q TND"),
        (
            {"mode": "ori-sparse", "operator": "sparse_attn_sharedkv"},
            "operator: sparse_attn_sharedkv with mode ori-sparse, must be sparse_flash_mla",
        ),
        (
            {"operator": "sparse_flash_attention"},
            "must be sparse_flash_mla or sparse_attn_sharedkv",
        ),
    ],
)
def test_impossible_cases_are_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(CaseError, match=sentence):
        build_case(small(**({"mode": "swa"} | changes)))


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(CaseError, match="'v5-swa-decode' is unknown"):
        named_case("v5-swa-decode")


@pytest.mark.parametrize("suffix", case_files.SUFFIXES)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_file_keeps_everything(tmp_path: Path, suffix: str, dtype: str) -> None:
    arguments = build_case(small("ori-cmp-sparse", dtype=dtype))
    path = tmp_path / f"case{suffix}"
    save_arrays(path, arguments)
    assert_same(load_case(path), arguments)


def test_arrays_that_numpy_saved_itself_are_read(tmp_path: Path) -> None:
    q = np.ones((1, 2, 512), ml_dtypes.bfloat16)
    np.savez(tmp_path / "own.npz", q=q, layout_q="TND", softmax_scale=1)
    found = load_case(tmp_path / "own.npz")
    assert_same(found, {"q": q, "layout_q": "TND", "softmax_scale": 1.0})


def test_a_bare_word_and_foreign_notes_in_a_safetensors_header(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    path = tmp_path / "own.safetensors"
    save_file({"q": np.zeros(2, np.float16)}, path, {"layout_q": "TND", "format": "np"})
    assert load_case(path)["layout_q"] == "TND"


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"queue": np.zeros(2)}, "array 'queue' is no argument"),
        ({"cmp_ratio": 1.5}, "cmp_ratio: found 1.5, must be of type int"),
        ({"cmp_ratio": True}, "cmp_ratio: found True, must be of type int"),
        ({"layout_q": 3}, "layout_q: found 3, must be of type str"),
    ],
)
@pytest.mark.parametrize("suffix", case_files.SUFFIXES)
def test_names_and_types_of_a_file_are_checked(
    tmp_path: Path, suffix: str, arrays: dict[str, Any], sentence: str
) -> None:
    path = tmp_path / f"case{suffix}"
    save_arrays(path, arrays)
    with pytest.raises(CaseError, match=sentence):
        load_case(path)


def test_an_unknown_attribute_of_an_npz_file_is_refused(tmp_path: Path) -> None:
    save_arrays(tmp_path / "case.npz", {"scale": 1.0})
    with pytest.raises(CaseError, match="attribute 'scale' is no argument"):
        load_case(tmp_path / "case.npz")


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    for name, sentence in (("a.npz", "not an .npz file"), ("a.safetensors", "not a readable")):
        with pytest.raises(CaseError, match="no such file"):
            load_case(tmp_path / name)
        (tmp_path / name).write_bytes(b"neither")
        with pytest.raises(CaseError, match=sentence):
            load_case(tmp_path / name)
    with pytest.raises(CaseError, match=r"suffix '.npy', must be .npz or .safetensors"):
        load_case(tmp_path / "a.npy")
    with pytest.raises(CaseError, match="cannot be written"):
        save_arrays(tmp_path / "missing" / "a.npz", {"q": np.zeros(1)})


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_damaged_file_is_refused_or_read(tmp_path: Path, save: Any) -> None:
    """Every byte in turn, so that zip headers, compressed data and array headers are all hit."""
    path = tmp_path / "case.npz"
    save(path, q=np.zeros((2, 3), np.float16), layout_q="TND", softmax_scale=0.5)
    whole = path.read_bytes()
    sentences = []
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            load_case(path)
        except CaseError as error:
            sentences.append(str(error))
    assert len(sentences) > len(whole) / 4
    assert all(sentence.startswith(str(path)) for sentence in sentences)


def test_an_array_of_objects_is_not_unpickled(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", q=np.array([{}], object))
    with pytest.raises(CaseError, match="not a readable"):
        load_case(tmp_path / "a.npz")


def test_without_safetensors_the_sentence_says_how_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "safetensors", None)
    with pytest.raises(CaseError, match=r"pip install 'sfmla-ctypes\[safetensors\]'"):
        save_arrays(tmp_path / "a.safetensors", {"q": np.zeros(1)})
