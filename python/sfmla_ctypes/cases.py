# SPDX-License-Identifier: Apache-2.0
"""Realistic calls: the models, modes and sizes that serving engines use.

A ``CaseSpec`` says in a few words what a call is like; ``build_case`` makes the NumPy arrays and
attributes of its operator for it: ``sparse_flash_mla``, ``sparse_attn_sharedkv`` or
``sparse_flash_attention`` of ``sfmla_ctypes``.

Values: queries and caches are standard normal, so that scores have a spread of 1 under the scale
1/sqrt(512), or 1/sqrt(576) with a rope part; sinks are standard normal. Page ids are shuffled over
a pool a little larger than needed. The same spec gives the same arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from .case_arrays import (
    HEAD_DIM,
    ROPE_DIM,
    Arguments,
    build_sparse_flash_attention,
    build_sparse_flash_mla,
)

WINDOW_TOKENS = 128
LAYOUTS_Q = ("BSND", "TND")
LAYOUTS_KV = ("PA_BBND", "TND", "BSND")
FLASH_MLA, SHARED_KV, FLASH_ATTENTION = OPERATORS = (
    "sparse_flash_mla",
    "sparse_attn_sharedkv",
    "sparse_flash_attention",
)
# What each operator calls a paged layout.
PAGED_NAMES: Mapping[str, str] = dict(zip(OPERATORS, ("PA_BBND", "PA_ND", "PA_BSND"), strict=True))


@dataclass(frozen=True)
class Model:
    """What a model fixes for its attention layers: heads as they are split over processors."""

    heads: int
    topk: int
    modes: tuple[str, ...]


@dataclass(frozen=True)
class Mode:
    """An attention mode: whether there are compressed keys, and which parts are listed."""

    cmp_ratio: int  # 1: no compressed cache
    lists_original: bool
    lists_compressed: bool
    operator: str = FLASH_MLA


MODES: Mapping[str, Mode] = {
    "swa": Mode(cmp_ratio=1, lists_original=False, lists_compressed=False),
    "csa": Mode(cmp_ratio=4, lists_original=False, lists_compressed=True),
    "hca": Mode(cmp_ratio=128, lists_original=False, lists_compressed=False),
    "ori-sparse": Mode(cmp_ratio=1, lists_original=True, lists_compressed=False),
    "ori-cmp-sparse": Mode(cmp_ratio=4, lists_original=True, lists_compressed=True),
    "sfa": Mode(cmp_ratio=1, lists_original=True, lists_compressed=False, operator=FLASH_ATTENTION),
}
V4_MODES = tuple(name for name, mode in MODES.items() if mode.operator == FLASH_MLA)
MODELS: Mapping[str, Model] = {
    "v4-flash": Model(heads=64, topk=512, modes=V4_MODES),
    "v4-pro": Model(heads=128, topk=1024, modes=V4_MODES),
    "v3.2": Model(heads=16, topk=2048, modes=("sfa",)),
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

    ``query_tokens`` are the newest tokens of ``kv_tokens``, which counts them too. ``layout_kv``
    "PA_BBND" stands for paged caches, whatever the operator calls them.
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
    operator: str | None = None  # None: the operator of the mode

    @property
    def rules(self) -> Mode:
        return MODES[self.mode]

    @property
    def function(self) -> str:
        """The operator that the arguments are for."""
        return self.rules.operator if self.operator is None else self.operator

    @property
    def batch(self) -> int:
        return len(self.kv_tokens)

    @property
    def compression(self) -> int:
        """Original tokens per compressed token; 1 without a compressed cache in named modes."""
        return self.rules.cmp_ratio if self.cmp_ratio is None else self.cmp_ratio

    @property
    def has_lists(self) -> bool:
        return self.rules.lists_original or self.rules.lists_compressed

    @property
    def has_compressed(self) -> bool:
        return self.rules.cmp_ratio != 1


def case_names() -> list[str]:
    """Names that ``named_case`` knows: MODEL-MODE-PHASE."""
    return [
        f"{name}-{mode}-{phase}"
        for name, model in MODELS.items()
        for mode in model.modes
        for phase in PHASES
    ]


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
    """The spec with another batch or other lengths; shorter lists repeat up to the batch."""
    count = batch_of(spec, batch, query_tokens, kv_tokens)
    return replace(
        spec,
        query_tokens=_repeat(query_tokens or spec.query_tokens, count),
        kv_tokens=_repeat(kv_tokens or spec.kv_tokens, count),
    )


def batch_of(
    spec: CaseSpec,
    batch: int | None = None,
    query_tokens: Sequence[int] | None = None,
    kv_tokens: Sequence[int] | None = None,
) -> int:
    """The batch that ``resize`` makes.

    Without ``batch`` the longer of the two lists given decides, else the batch of the spec.
    """
    given = [len(lengths) for lengths in (query_tokens, kv_tokens) if lengths is not None]
    return batch or (max(given) if given and max(given) > 1 else spec.batch)


def build_case(spec: CaseSpec) -> Arguments:
    """The arguments of the operator of a spec, without ``metadata``.

    Raises CaseError for lengths that no request can have, and for a mode that the operator has not.
    """
    _check(spec)
    if spec.function == FLASH_ATTENTION:
        return build_sparse_flash_attention(spec) | _flash_attributes(spec)
    arguments = build_sparse_flash_mla(spec) | _attributes(spec)
    return as_shared_kv(arguments) if spec.function == SHARED_KV else arguments


def as_shared_kv(arguments: Arguments) -> Arguments:
    """The call of ``sparse_attn_sharedkv`` that does what one of ``sparse_flash_mla`` does.

    Of a call with the mask modes 4 and 3 whose compressed lengths follow from the original ones.
    """
    implied = ("seqused_ori_kv", "seqused_cmp_kv", "cmp_residual_kv", "topk_value_mode")
    made = {name: value for name, value in arguments.items() if name not in implied}
    if "seqused_ori_kv" in arguments:
        made["seqused_kv"] = arguments["seqused_ori_kv"]
    if made["layout_kv"] == PAGED_NAMES[FLASH_MLA]:
        made["layout_kv"] = PAGED_NAMES[SHARED_KV]
    return made | {"cmp_mask_mode": 3, "ori_kv_stride": 0, "cmp_kv_stride": 0}


def _repeat(lengths: Sequence[int], count: int) -> tuple[int, ...]:
    return tuple(lengths[index % len(lengths)] for index in range(count))


def _check(spec: CaseSpec) -> None:
    _check_operator(spec)
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


def _check_operator(spec: CaseSpec) -> None:
    can_be_shared_kv = spec.rules.operator == FLASH_MLA and not spec.rules.lists_original
    if spec.function == spec.rules.operator or (spec.function == SHARED_KV and can_be_shared_kv):
        return
    allowed = f"{FLASH_MLA} or {SHARED_KV}" if can_be_shared_kv else spec.rules.operator
    raise CaseError(f"operator: {spec.function} with mode {spec.mode}, must be {allowed}")


def _attributes(spec: CaseSpec) -> Arguments:
    # A list of original keys carries the causal order itself, as a drafting model's does. Without
    # a mask windows mean nothing, but Atlas A2 and A3, which know such lists without a compressed
    # cache only, refuse negative ones.
    window = {"ori_mask_mode": 4, "ori_win_left": WINDOW_TOKENS - 1, "ori_win_right": 0}
    unused = -1 if spec.has_compressed else 0
    no_mask = {"ori_mask_mode": 0, "ori_win_left": unused, "ori_win_right": unused}
    return {
        "softmax_scale": HEAD_DIM**-0.5,
        "cmp_ratio": spec.compression,
        **(no_mask if spec.rules.lists_original else window),
        "cmp_mask_mode": 3 if spec.has_compressed else 0,
        "layout_q": spec.layout_q,
        "layout_kv": spec.layout_kv,
        "return_softmax_lse": spec.return_softmax_lse,
    }


def _flash_attributes(spec: CaseSpec) -> Arguments:
    paged = PAGED_NAMES[FLASH_ATTENTION]
    return {
        "scale_value": (HEAD_DIM + ROPE_DIM) ** -0.5,
        "sparse_block_size": 1,
        "layout_query": spec.layout_q,
        "layout_kv": paged if spec.layout_kv == PAGED_NAMES[FLASH_MLA] else spec.layout_kv,
        "sparse_mode": 3,
        "return_softmax_lse": spec.return_softmax_lse,
    }
