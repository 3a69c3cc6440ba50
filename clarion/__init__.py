"""clarion: define-by-run automatic differentiation with PyTorch's API, that says out loud what others keep silent."""

from __future__ import annotations

from typing import Any

from .core.dtypes import Size as Size
from .core.dtypes import bfloat16 as bfloat16
from .core.dtypes import bool_ as bool  # noqa: A004, F401
from .core.dtypes import complex64 as complex64
from .core.dtypes import complex128 as complex128
from .core.dtypes import device as device
from .core.dtypes import dtype as dtype
from .core.dtypes import float16 as float16
from .core.dtypes import float32 as float32
from .core.dtypes import float64 as float64
from .core.dtypes import int8 as int8
from .core.dtypes import int16 as int16
from .core.dtypes import int32 as int32
from .core.dtypes import int64 as int64
from .core.dtypes import uint8 as uint8
from .core.modes import enable_grad as enable_grad
from .core.modes import inference_mode as inference_mode
from .core.modes import is_grad_enabled as is_grad_enabled
from .core.modes import no_grad as no_grad
from .core.modes import set_grad_enabled as set_grad_enabled
from .core.tensor import Tensor as Tensor
from .ops.api import FUNCTIONS as _FUNCTIONS
from . import ops as _ops  # noqa: E402, F401

globals().update(_FUNCTIONS)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"clarion has no attribute {name!r}")
