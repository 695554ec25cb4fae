# SPDX-License-Identifier: Apache-2.0
"""Realistic calls of SparseFlashMla: the models, modes and sizes that serving engines use.

A ``CaseSpec`` says in a few words what a call is like; ``build_case`` makes the NumPy arrays and
attributes of ``sfmla_ctypes.sparse_flash_mla`` for it.

Values: q and both caches are standard normal, so that scores have a spread of 1 under the scale
1/sqrt(512); sinks are standard normal. Page ids are shuffled over a pool a little larger than
needed. The same spec gives the same arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Arguments = dict[str, Any]

HEAD_DIM = 512
# Multiply and add, for the score and for the weighted sum.
FLOP_PER_KEY_AND_HEAD = 4 * HEAD_DIM
WINDOW_TOKENS = 128
DTYPES: Mapping[str, Any] = {"bfloat16": ml_dtypes.bfloat16, "float16": np.float16}
LAYOUTS_Q = ("BSND", "TND")
LAYOUTS_KV = ("PA_BBND", "TND", "BSND")
SELECTION_CHANGE = 0.25  # of a key's importance, from row to row
RANDOM_CHUNK_VALUES = 1 << 22  # bounds the float32 scratch of a pool of many gigabytes


@dataclass(frozen=True)
class Model:
    """What a model fixes for its attention layers."""

    heads: int
    topk: int


@dataclass(frozen=True)
class Mode:
    """An attention mode: whether there are compressed keys, and which parts are listed."""

    cmp_ratio: int  # 1: no compressed cache
    lists_original: bool
    lists_compressed: bool


MODELS: Mapping[str, Model] = {
    "v4-flash": Model(heads=64, topk=512),
    "v4-pro": Model(heads=128, topk=1024),
}
MODES: Mapping[str, Mode] = {
    "swa": Mode(cmp_ratio=1, lists_original=False, lists_compressed=False),
    "csa": Mode(cmp_ratio=4, lists_original=False, lists_compressed=True),
    "hca": Mode(cmp_ratio=128, lists_original=False, lists_compressed=False),
    "ori-sparse": Mode(cmp_ratio=1, lists_original=True, lists_compressed=False),
    "ori-cmp-sparse": Mode(cmp_ratio=4, lists_original=True, lists_compressed=True),
}
# Query tokens and cached tokens of each request, by phase.
PHASES: Mapping[str, tuple[tuple[int, int], ...]] = {
    "decode": ((2, 8192),) * 4,
    "prefill": ((2048, 8192),),
    "mixed": ((1, 28), (2, 16384), (8, 2073), (0, 0), (1, 8193), (4, 513), (1, 65536), (128, 128)),
}


class CaseError(ValueError):
    """A case that cannot be built, read or written; the text is one sentence."""


@dataclass(frozen=True)
class CaseSpec:
    """A call in a few words. Lengths are in tokens, one entry per request.

    ``query_tokens`` are the newest tokens of ``kv_tokens``, which counts them too.
    """

    mode: str
    query_tokens: tuple[int, ...]
    kv_tokens: tuple[int, ...]
    heads: int = 64
    topk: int = 512
    cmp_ratio: int | None = None  # None: the ratio of the mode
    page_tokens: int = 128
    layout_q: str = "TND"
    layout_kv: str = "PA_BBND"
    dtype: str = "bfloat16"
    return_softmax_lse: bool = True
    seed: int = 0

    @property
    def batch(self) -> int:
        return len(self.kv_tokens)

    @property
    def compression(self) -> int:
        """Original tokens per compressed token; 1 without a compressed cache in named modes."""
        return MODES[self.mode].cmp_ratio if self.cmp_ratio is None else self.cmp_ratio

    @property
    def has_lists(self) -> bool:
        return MODES[self.mode].lists_original or MODES[self.mode].lists_compressed

    @property
    def has_compressed(self) -> bool:
        return MODES[self.mode].cmp_ratio != 1


def case_names() -> list[str]:
    """Names that ``named_case`` knows: MODEL-MODE-PHASE."""
    return [f"{model}-{mode}-{phase}" for model in MODELS for mode in MODES for phase in PHASES]


def named_case(name: str) -> CaseSpec:
    """The spec of a named case. Raises CaseError for an unknown name."""
    if name not in case_names():
        raise CaseError(f"case name: {name!r} is unknown, `sfmla case --list` shows the names")
    model_name = next(model for model in MODELS if name.startswith(model + "-"))
    mode, phase = name[len(model_name) + 1 :].rsplit("-", 1)
    query_tokens, kv_tokens = zip(*PHASES[phase], strict=True)
    model = MODELS[model_name]
    return CaseSpec(mode, query_tokens, kv_tokens, heads=model.heads, topk=model.topk)


def resize(
    spec: CaseSpec,
    batch: int | None = None,
    query_tokens: Sequence[int] | None = None,
    kv_tokens: Sequence[int] | None = None,
) -> CaseSpec:
    """The spec with another batch or other lengths; shorter lists repeat up to the batch.

    Without ``batch`` the longer of the two lists given decides, else the batch of the spec.
    """
    given = [len(lengths) for lengths in (query_tokens, kv_tokens) if lengths is not None]
    count = batch or (max(given) if given and max(given) > 1 else spec.batch)
    return replace(
        spec,
        query_tokens=_repeat(query_tokens or spec.query_tokens, count),
        kv_tokens=_repeat(kv_tokens or spec.kv_tokens, count),
    )


def build_case(spec: CaseSpec) -> Arguments:
    """The arguments of ``sparse_flash_mla`` for a spec, without ``metadata``.

    Raises CaseError for lengths that no request can have.
    """
    _check(spec)
    builder = _Builder(spec)
    arguments: Arguments = {"q": builder.query()}
    arguments |= builder.caches()
    arguments |= builder.lengths()
    arguments |= builder.index_lists()
    arguments["sinks"] = builder.rng.standard_normal(spec.heads, dtype=np.float32)
    arguments |= _attributes(spec)
    return arguments


def _repeat(lengths: Sequence[int], count: int) -> tuple[int, ...]:
    return tuple(lengths[index % len(lengths)] for index in range(count))


def _check(spec: CaseSpec) -> None:
    for query_tokens, kv_tokens in zip(spec.query_tokens, spec.kv_tokens, strict=True):
        if not 0 <= query_tokens <= kv_tokens:
            raise CaseError(
                f"query tokens: {query_tokens} of a request with {kv_tokens} KV tokens, "
                "must be between 0 and the KV tokens, which count them too"
            )
    if spec.layout_kv in ("BSND", "TND") and spec.layout_kv != spec.layout_q:
        raise CaseError(
            f"layout_kv: {spec.layout_kv} with layout_q {spec.layout_q}, "
            "must be PA_BBND or equal layout_q"
        )


def _attributes(spec: CaseSpec) -> Arguments:
    mode = MODES[spec.mode]
    # A list of original keys carries the causal order itself, as a drafting model's does.
    window = {"ori_mask_mode": 4, "ori_win_left": WINDOW_TOKENS - 1, "ori_win_right": 0}
    no_mask = {"ori_mask_mode": 0, "ori_win_left": -1, "ori_win_right": -1}
    return {
        "softmax_scale": HEAD_DIM**-0.5,
        "cmp_ratio": spec.compression,
        **(no_mask if mode.lists_original else window),
        "cmp_mask_mode": 3 if spec.has_compressed else 0,
        "layout_q": spec.layout_q,
        "layout_kv": spec.layout_kv,
        "return_softmax_lse": spec.return_softmax_lse,
    }


class _Builder:
    """The arrays of one spec, drawn in a fixed order from one generator."""

    def __init__(self, spec: CaseSpec) -> None:
        self.spec = spec
        self.mode = MODES[spec.mode]
        self.rng = np.random.default_rng(spec.seed)
        self.compressed_tokens = tuple(tokens // spec.compression for tokens in spec.kv_tokens)

    def query(self) -> Array:
        return self._gaussian((*self._query_axes(), self.spec.heads, HEAD_DIM))

    def caches(self) -> Arguments:
        made = self._cache("ori", self.spec.kv_tokens)
        if self.spec.has_compressed:
            made |= self._cache("cmp", self.compressed_tokens)
        return made

    def lengths(self) -> Arguments:
        spec = self.spec
        made: Arguments = {}
        if spec.layout_q == "TND":
            made["cu_seqlens_q"] = _cumulative(spec.query_tokens)
        elif len(set(spec.query_tokens)) > 1:
            made["seqused_q"] = np.array(spec.query_tokens, np.int32)
        sides = {"ori": spec.kv_tokens}
        if spec.has_compressed:
            sides["cmp"] = self.compressed_tokens
            residual = np.array(spec.kv_tokens, np.int32) % spec.compression
            made |= {"cmp_residual_kv": residual} if spec.compression != 1 else {}
        for side, tokens in sides.items():
            if spec.layout_kv == "TND":
                made[f"cu_seqlens_{side}_kv"] = _cumulative(tokens)
            else:
                made[f"seqused_{side}_kv"] = np.array(tokens, np.int32)
        return made

    def index_lists(self) -> Arguments:
        """Each row names distinct visible keys in no order of position, then -1."""
        made: Arguments = {}
        if self.mode.lists_original:
            indices, counts = self._lists("original")
            made["ori_sparse_indices"] = indices
            made["ori_topk_length"] = counts  # required under mask mode 0
        if self.mode.lists_compressed:
            made["cmp_sparse_indices"], _ = self._lists("compressed")
        return made

    def _query_axes(self) -> tuple[int, ...]:
        if self.spec.layout_q == "TND":
            return (sum(self.spec.query_tokens),)
        return (self.spec.batch, max(self.spec.query_tokens))

    def _cache(self, side: str, tokens: tuple[int, ...]) -> Arguments:
        # An empty tensor counts as absent, so every cache holds at least one token.
        if self.spec.layout_kv == "TND":
            return {f"{side}_kv": self._gaussian((max(1, sum(tokens)), 1, HEAD_DIM))}
        if self.spec.layout_kv == "BSND":
            shape = (self.spec.batch, max(1, *tokens), 1, HEAD_DIM)
            return {f"{side}_kv": self._gaussian(shape)}
        pages = [-(-count // self.spec.page_tokens) for count in tokens]
        pool_pages = sum(pages) + 1 + sum(pages) // 16
        table = np.zeros((self.spec.batch, max(1, *pages)), np.int32)
        free_pages = self.rng.permutation(pool_pages).astype(np.int32)
        first = 0
        for row, count in zip(table, pages, strict=True):
            row[:count] = free_pages[first : first + count]
            first += count
        pool = self._gaussian((pool_pages, self.spec.page_tokens, 1, HEAD_DIM))
        return {f"{side}_kv": pool, f"{side}_block_table": table}

    def _lists(self, part: str) -> tuple[Array, Array]:
        indices = np.full((*self._query_axes(), 1, self.spec.topk), -1, np.int32)
        counts = np.zeros((*self._query_axes(), 1), np.int32)
        first_row = 0
        for request, rows in enumerate(self.spec.query_tokens):
            for token, chosen in enumerate(self._selections(request, part)):
                packed = self.spec.layout_q == "TND"
                position = (first_row + token,) if packed else (request, token)
                indices[position][0, : chosen.size] = chosen
                counts[position] = chosen.size
            first_row += rows
        return indices, counts

    def _selections(self, request: int, part: str) -> Iterator[Array]:
        """Chosen keys of each row, best first: mostly the same ones from row to row."""
        ratio = self.spec.compression if part == "compressed" else 1
        rows, kv_tokens = self.spec.query_tokens[request], self.spec.kv_tokens[request]
        importance = self.rng.standard_normal(kv_tokens // ratio, dtype=np.float32)
        for token in range(rows):
            visible = (kv_tokens - rows + token + 1) // ratio
            change = self.rng.standard_normal(visible, dtype=np.float32)
            order = np.argsort(-(importance[:visible] + SELECTION_CHANGE * change))
            yield order[: self.spec.topk]

    def _gaussian(self, shape: tuple[int, ...]) -> Array:
        made = np.empty(shape, DTYPES[self.spec.dtype])
        flat = made.reshape(-1)
        for first in range(0, flat.size, RANDOM_CHUNK_VALUES):
            part = flat[first : first + RANDOM_CHUNK_VALUES]
            part[:] = self.rng.standard_normal(part.size, dtype=np.float32)
        return made


def _cumulative(tokens: Sequence[int]) -> Array:
    return np.concatenate(([0], np.cumsum(tokens))).astype(np.int32)
