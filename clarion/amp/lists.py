"""Which functions are cast, and to what: PyTorch's lists for the CPU, in terms of clarion's functions."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from ..core.dtypes import HALF

POLICIES: dict[str, tuple[str, ...]] = {
    # Products: computed in the lower precision.
    "lower": (
        "_convolve", "conv_tbc", "bmm", "mm", "baddbmm", "addmm", "addbmm", "linear", "matmul", "prelu", "vecdot",
        "scaled_dot_product_attention", "einsum", "tensordot", "inner", "chain_matmul", "multi_dot",
        "lstm", "gru", "rnn_tanh", "rnn_relu",
    ),
    # Losses, decompositions, what loses too much: computed in float32.
    "float32": (
        "prod", "quantile", "nanquantile", "trace", "cdist", "polar", "view_as_complex", "stft", "cholesky", "inverse",
        "pinverse", "qr", "svd", "triangular_solve", "cholesky_inverse", "cholesky_solve", "lu_solve", "orgqr", "ormqr",
        "geqrf", "cond", "matrix_rank", "solve", "cholesky_ex", "inv", "inv_ex", "svdvals", "eigh", "eigvalsh", "eig",
        "eigvals", "lstsq", "householder_product", "tensorinv", "tensorsolve",
        "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "cross_entropy", "ctc_loss",
        "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "margin_ranking_loss", "mse_loss", "multi_margin_loss",
        "multilabel_margin_loss", "nll_loss", "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss",
        "triplet_margin_loss",
        "avg_pool3d", "max_pool3d", "max_unpool2d", "max_unpool3d", "adaptive_avg_pool3d", "adaptive_max_pool3d",
        "fractional_max_pool2d", "fractional_max_pool3d", "grid_sample", "grid_sampler", "grid_sampler_2d",
        "grid_sampler_3d", "pad",
        "fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftn", "ifftn", "rfftn", "irfftn",
    ),
    # All arguments in the widest type among them.
    "widest": ("index_copy",),
    # Computed as they come, though they are written with functions that are cast.
    "plain": ("bilinear",),
}  # fmt: skip


def _contracts(equation: Any, *operands: Any) -> bool:
    """Is anything summed over pairs? (Else einsum only moves and multiplies.)"""
    if not isinstance(equation, str) or len(operands) < 2:
        return not isinstance(equation, str) and len(operands) > 2
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    letters = [c for c in inputs if c.isalpha()]
    if not arrow:
        return len(set(letters)) < len(letters)
    return any(c not in output for c in letters)


def _pads_by_content(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> bool:
    return mode in ("reflect", "replicate")


def _is_low(input: Any, *rest: Any) -> bool:
    """A GRU keeps the type of its input."""
    return input._array.dtype in HALF


# Where it depends on the arguments: is the call on the list?
ONLY_IF: dict[str, Callable[..., bool]] = {
    "einsum": _contracts,
    "inner": lambda input, other: input.dim() > 1 or other.dim() > 1,
    "pad": _pads_by_content,
    "gru": _is_low,
}


def linear_algebra() -> dict[str, Any]:
    """The functions of torch.linalg."""
    return vars(importlib.import_module("clarion.linalg"))  # by its name: it stands above this room
