"""What autocast is set to in each thread, and its casts."""

from __future__ import annotations

import threading
from typing import Any

from ..core import modes
from ..core.devices import HALVES, kind_of
from ..core.dtypes import HALF, bfloat16, dtype, f32, float16
from ..core.tensor import Tensor
from ..ops.elementwise.cast import cast
from .weights import Weights, lowered

# PyTorch's kinds of device with autocast, and the lower precision of each.
DEVICES = {
    "cpu": bfloat16, "cuda": float16, "xpu": bfloat16, "mps": float16, "hpu": bfloat16, "ipu": float16, "xla": bfloat16,
    "mtia": bfloat16, "maia": bfloat16,
}  # fmt: skip


class _State(threading.local):
    def __init__(self) -> None:
        self.enabled = dict.fromkeys(DEVICES, False)
        self.dtype: dict[str, dtype] = dict(DEVICES)
        self.cache_enabled = True
        self.nesting = 0
        self.weights = Weights()
        # True while operations are to be cast: autocast is on, and we are not inside one that was.
        self.casting = False


state = _State()


# Casts ----------------------------------------------------------------------------------------------


def device_of(args: Any, kwargs: Any) -> str:
    """The kind of device that the first tensor among the arguments lives on."""
    if args and type(args[0]) is Tensor:
        known = _NAMES.get(type(args[0]._array))
        if known is not None:
            return known
    for value in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(value, Tensor):
            name = kind_of(value._array).name
            name = _NAMES[type(value._array)] = name if name in DEVICES else "cpu"
            return name
        if type(value) in (list, tuple) and value and isinstance(value[0], Tensor):
            return device_of(value, {})
    return "cpu"


_NAMES: dict[type, str] = {}  # by the type of arrays


def holds_half(args: Any, kwargs: Any) -> bool:
    """May anything among the arguments be in lower precision?"""
    for value in (*args, *kwargs.values()) if kwargs else args:
        if type(value) is Tensor or isinstance(value, Tensor):
            if value._array.dtype is not f32:
                return True
        elif type(value) is list or type(value) is tuple:
            if value and type(value[0]) is not int:
                return True
    return False


def lower(value: Any, device: str = "cpu") -> Any:
    """A floating tensor (float64 excepted) in the lower precision; weights are cast once per region."""
    if value is None:
        return None
    if not isinstance(value, Tensor):
        if type(value) not in (list, tuple) or (value and type(value[0]) is int):
            return value
        return type(value)(lower(v, device) for v in value)
    kind, wanted = value._array.dtype, state.dtype[device]
    if kind is wanted.numpy:
        return value
    if kind is not f32 and ((kind != f32 and kind not in HALF) or kind == wanted.numpy):
        return value
    if value._rg and value._edge is None and value._view is None and kind is f32 and state.cache_enabled:
        return state.weights.lowered(value, wanted)
    if type(value._array) in HALVES and kind is f32:
        return lowered(value, wanted.numpy)
    return cast(value, wanted.numpy)


def lower_all(args: tuple[Any, ...], device: str) -> tuple[Any, ...]:
    """The same of all arguments of a call. What has that type already, and weights that this region has cast, ask little."""
    mine = state.__dict__  # (of this thread: asked for once)
    wanted, known = mine["dtype"][device], mine["weights"].recorded
    kind, quickly = wanted.numpy, modes.special == 0 and mine["cache_enabled"]
    made = []
    for value in args:
        found = known.get(id(value)) if quickly else None
        if found is not None and found[1] is wanted and value._rg:
            counter = value._vc
            if found[2] == (0 if counter is None else counter.n):
                made.append(found[3])
                continue
        made.append(value if type(value) is Tensor and value._array.dtype is kind else lower(value, device))
    return tuple(made)


def full(value: Any) -> Any:
    """A tensor in lower precision as float32."""
    if not isinstance(value, Tensor):
        return type(value)(full(v) for v in value) if type(value) in (list, tuple) else value
    return value.float() if value._array.dtype in HALF else value


def widest(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A cast to float32 if any tensor has that type, else none."""
    given = [v for v in (*args, *kwargs.values()) if isinstance(v, Tensor)]
    return full if any(v._array.dtype == f32 for v in given) else lambda value: value
