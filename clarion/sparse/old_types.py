"""The old types of sparse tensors: `torch.sparse.FloatTensor(indices, values, size)`."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import ALL, Size, sparse_coo
from ..core.tensor import Tensor
from .making import sparse_coo_tensor


class _TypeMeta(type):
    """`isinstance` asks for layout and dtype; calling one makes a tensor of it."""

    dtype: Any

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value.layout is sparse_coo and value.dtype == cls.dtype

    def __call__(cls, *args: Any) -> Any:
        if not args or isinstance(args[0], (int, Size)):  # sizes alone
            sizes = args[0] if args and not isinstance(args[0], int) else args or (0,)
            return sparse_coo_tensor(size=sizes, dtype=cls.dtype)
        return sparse_coo_tensor(*args)

    def __repr__(cls) -> str:
        return f"<class 'torch.sparse.{cls.__name__}'>"


OLD_TYPES = {
    f"{kind.old}Tensor": _TypeMeta(f"{kind.old}Tensor", (), {"dtype": kind, "layout": sparse_coo, "is_sparse": True})
    for kind in ALL
    if not kind.old.startswith(("UInt", "Complex"))
}
