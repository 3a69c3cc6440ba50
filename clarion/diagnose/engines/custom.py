"""A user's own Function, called again on clarion's engine: with the random numbers of its first call."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.function import CustomNode
from ...core.namespace import lifted
from ...core.tensor import Tensor, new_tensor


def random_state() -> Any:
    from ...ops.random.generator import get_rng_state

    return get_rng_state()


def custom_call(function: Any, values: list[Any], checked: list[int], state: Any) -> tuple[list[Any], Any]:
    from ...ops.random.generator import set_rng_state

    set_rng_state(state)
    arguments = []
    for i, value in enumerate(values):
        if isinstance(value, np.ndarray):
            value = new_tensor(value.copy())
            if i in checked:
                value._rg = True
                value = lifted.clone(value)  # forward may write into it, and into a leaf it may not
        arguments.append(value)
    output = function.apply(*arguments)
    every = output if isinstance(output, (tuple, list)) else (output,)
    outs = [o for o in every if isinstance(o, Tensor) and isinstance(o._edge, CustomNode)]

    def gradients(weights: list[Any]) -> dict[int, Any]:
        made_by: Any = outs[0]._edge
        parts: list[Any] = [None] * made_by.n_out
        for out, weight in zip(outs, weights, strict=True):
            parts[out._nr] = weight
        result = made_by.apply_raw(tuple(parts) if made_by.n_out > 1 else parts[0])
        return dict(zip([i for i, a in enumerate(arguments) if isinstance(a, Tensor)], result, strict=True))

    return [out._array for out in outs], gradients
