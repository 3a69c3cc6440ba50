"""`torch.sparse.as_sparse_gradcheck`: numerical derivatives of functions of sparse tensors, by their entries."""

from __future__ import annotations

import functools
from typing import Any

from ..core.dtypes import sparse_coo
from ..core.tensor import Tensor
from ..ops.faces.api import FUNCTIONS
from .compressed import dense_dims
from .tensor import coalesced, dense, is_sparse


def as_sparse_gradcheck(gradcheck: Any) -> Any:
    """`gradcheck` that varies the entries of a function's sparse arguments, and looks at all elements of its sparse results."""

    @functools.wraps(gradcheck)
    def check(func: Any, inputs: Any, **options: Any) -> Any:
        masked = options.pop("masked", False)
        given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
        whole = [_opened(each, masked) for each in given]
        parts = [x if each is None else each._held.requires_grad_(True) for each, x in zip(whole, given, strict=True)]

        def run(*values: Any) -> Any:
            pairs = zip(whole, values, strict=True)
            found = func(*[value if each is None else each.alike(value) for each, value in pairs])
            if isinstance(found, (tuple, list)):
                return tuple(dense(x) if is_sparse(x) else x for x in found)
            return dense(found) if is_sparse(found) else found

        return gradcheck(run, tuple(parts), **options)

    return check


def _opened(x: Any, masked: bool) -> Any:
    """The sparse tensor whose entries are varied: with all places there, if all elements count. None: it is no such argument."""
    if not is_sparse(x) or not x.requires_grad:
        return None
    x = x.detach()
    if masked:
        return coalesced(x) if x._layout is sparse_coo else x
    full, inner = FUNCTIONS["ones"](x.shape, dtype=x.dtype), dense_dims(x)
    if x._layout is sparse_coo:
        return dense(x).sparse_mask(full.to_sparse(x.dim() - inner))
    return dense(x).sparse_mask(full.to_sparse(layout=x._layout, blocksize=x._block or None, dense_dim=inner))
