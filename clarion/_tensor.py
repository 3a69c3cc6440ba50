"""`torch._tensor`: where PyTorch keeps its Tensor."""

from typing import Any

from .core.tensor import Tensor as Tensor


def _rebuild_from_type_v2(func: Any, type: Any, args: Any, state: Any) -> Any:
    """A tensor with attributes, or of a subclass, out of a pickle that PyTorch wrote."""
    from .serialization.rebuild import rebuild_from_type_v2

    return rebuild_from_type_v2(func, type, args, state)
