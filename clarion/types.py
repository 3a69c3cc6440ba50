"""`torch.types`: names for annotations."""

from __future__ import annotations

import os
from builtins import bool as _bool  # noqa: F401
from builtins import bytes as _bytes  # noqa: F401
from builtins import complex as _complex  # noqa: F401
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str  # noqa: F401
from collections.abc import Sequence
from typing import IO

from .core.devices import device as _device
from .core.dtypes import Size, dtype
from .core.dtypes import layout as _layout  # noqa: F401
from .core.tensor import Tensor

_dtype = dtype
_symsize = Size
_TensorOrTensors = Tensor | Sequence[Tensor]
_TensorOrOptionalTensors = Tensor | Sequence[Tensor | None]
_size = Size | list[int] | tuple[int, ...]

Number = int | float | bool
_Number = (int, float, bool)
IntLikeType = _int
FloatLikeType = _float
BoolLikeType = bool
Device = _device | str | int | None
FileLike = str | os.PathLike[str] | IO[bytes]
