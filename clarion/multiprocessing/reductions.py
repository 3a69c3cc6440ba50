"""How tensors travel between processes: as a descriptor of shared memory, not as a copy.

A tensor that is sent moves into shared memory first, as in PyTorch: what one process writes the other sees.
"""

from __future__ import annotations

import contextlib
from multiprocessing import reduction
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from ..core.tensor import Tensor, make_subclass, new_tensor
from ..errors import EngineError, NotSupportedError
from ..kernels import shared
from ..nn.parameter import Parameter
from ..ops.faces.api import FUNCTIONS


def reduce_tensor(tensor: Tensor) -> tuple[Any, tuple[Any, ...]]:
    """What is sent of a tensor."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise EngineError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing "
            "process boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing "
            "(e.g., putting it on the queue)."
        )
    own = {name: value for name, value in vars(tensor).items() if not name.startswith("_")}
    if tensor.is_meta:
        facts = (tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.requires_grad)
        return rebuild_meta_tensor, (type(tensor), *facts, own)
    # A view moves together with its base. Where others see that memory, too, a copy is sent: they would be left behind.
    with contextlib.suppress(NotSupportedError):
        tensor.share_memory_()  # type: ignore[attr-defined]
    array = tensor._array if shared.find(tensor._array) is not None else shared.share(tensor._array)
    place = shared.find(array)
    assert place is not None
    handle, size, offset = place
    kind = array.dtype.name if array.dtype.isbuiltin == 2 else array.dtype.str
    return rebuild_tensor, (
        type(tensor), reduction.DupFd(handle), size, offset, array.shape, array.strides, kind, tensor.requires_grad, own,
    )  # fmt: skip


def rebuild_tensor(
    cls: type, handle: Any, size: int, offset: int, shape: Any, strides: Any, kind: str, requires_grad: bool, own: Any
) -> Tensor:
    """The tensor on the other side: the same memory."""
    piece = shared.attach(handle.detach(), size)
    array = np.ndarray(shape, np.dtype(kind), piece, offset, strides)
    made: Tensor = make_subclass(cls, new_tensor(array), requires_grad)
    made.__dict__.update(own)
    return made


def rebuild_meta_tensor(cls: type, dtype: Any, size: Any, stride: Any, requires_grad: bool, own: Any) -> Tensor:
    """A tensor that has no values, on the other side."""
    made: Tensor = make_subclass(
        cls, FUNCTIONS["empty_strided"](size, stride, dtype=dtype, device="meta"), requires_grad
    )
    made.__dict__.update(own)
    return made


def init_reductions() -> None:
    """Teach multiprocessing how tensors travel."""
    for kind in (Tensor, Parameter):
        ForkingPickler.register(kind, reduce_tensor)
