"""A tensor that carries a mask: elements whose mask is False are not there.

Like a sparse tensor (NOTE [Sparse]) it is a Tensor whose class takes every call over and answers it with operations on its data, which
is what a graph records. `operations` has the functions that it knows.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...core.dtypes import bool_, float16, float32, float64, int8, int16, int32, int64, sparse_coo, sparse_csr, strided
from ...core.overriding import Disabled
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, ArgumentValueError
from ...ops.faces.api import FUNCTIONS
from ...sparse.values import SAFE, OfValues, name_of

_TYPES = (float16, float32, float64, bool_, int8, int16, int32, int64)


class MaskedTensor(OfValues):
    """A tensor, and a mask that says which of its elements are there."""

    _mask: Tensor

    layout: Any = property(lambda self: self._held.layout)
    is_sparse: Any = property(lambda self: self._held.layout is not strided)

    def __new__(cls, data: Any, mask: Any, requires_grad: bool = False) -> Any:
        for name, given in (("data", data), ("mask", mask)):
            if is_masked_tensor(given) or not isinstance(given, Tensor):
                raise ArgumentTypeError(f"{name} must be a Tensor")
        warnings.warn(
            "The PyTorch API of MaskedTensors is in prototype stage and will change in the near future.",
            UserWarning,
            stacklevel=2,
        )
        if data.requires_grad:
            warnings.warn(
                "It is not recommended to create a MaskedTensor with a tensor that requires_grad. "
                "To avoid this, you can use data.detach().clone()",
                UserWarning,
                stacklevel=2,
            )
        return masked(data.detach().clone(), mask.detach().clone(), cls).requires_grad_(requires_grad)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        from .operations import handler

        name, kwargs = name_of(func), kwargs or {}
        found = handler(name)
        if found is not None:
            return found(func, *args, **kwargs)
        if name in SAFE or func.__name__ == "__set__":
            with Disabled():
                return func(*args, **kwargs)
        raise ArgumentTypeError(
            f"no implementation found for 'torch._ops.aten.{name}.default' on types that implement __torch_dispatch__: "
            "[<class 'torch.masked.maskedtensor.core.MaskedTensor'>]\n"
            "Masked tensors have no form of this operation; get_data() and get_mask() give their parts, to_tensor(value) a "
            "tensor with a value in the place of what is not there."
        )

    def alike(self, values: Any) -> Any:
        """Other data behind the same mask."""
        return _made(values, self._mask, type(self))

    gradient = alike

    def arriving(self, gradient: Any) -> Any:
        """The data of a gradient that arrives."""
        return gradient._held if is_masked_tensor(gradient) else gradient

    def become(self, other: Any) -> Any:
        """Take over what another holds: writing in place."""
        self._held, self._mask, self._array = other._held, other._mask, other._array
        return self

    def get_data(self) -> Any:
        """Its data, with whatever stands where its mask is False."""
        if not self._held.requires_grad or self.is_sparse:
            return self._held
        return self._held.view_as(self._held)  # so that what is written there is no write to a leaf

    def get_mask(self) -> Any:
        """Where it has elements."""
        return self._mask

    def to_tensor(self, value: Any) -> Any:
        """Its data, with `value` where it has no elements."""
        return self.get_data().masked_fill(~self._mask, value)

    def is_sparse_coo(self) -> bool:
        """Are its places named one by one?"""
        return self.layout is sparse_coo

    def is_sparse_csr(self) -> bool:  # type: ignore[override]
        """Are its rows compressed?"""
        return self.layout is sparse_csr

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        if self.dim() == 0:
            shown = bool(self._mask.item())
            return f"MaskedTensor({_text(self._held.item()) if shown else '--'}, {shown})"
        data, mask = (x.to_dense() if self.is_sparse else x for x in (self._held.detach(), self._mask))
        return f"MaskedTensor(\n{_indented(_texts(data.tolist(), mask.tolist()))}\n)"

    __str__ = __repr__

    def __deepcopy__(self, memo: Any) -> Any:
        copied = memo[id(self)] = masked(self._held.detach().clone(), self._mask.clone()).requires_grad_(
            self.requires_grad
        )
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        return masked, (self._held.detach(), self._mask)


def is_masked_tensor(obj: Any, /) -> bool:
    """Is it a tensor that carries a mask?"""
    return isinstance(obj, MaskedTensor)


def _made(data: Any, mask: Any, kind: type = MaskedTensor) -> Any:
    result: Any = object.__new__(kind)
    result._array = data._array
    result._edge, result._nr, result._rg, result._vc, result._view = None, 0, False, None, None
    result._held, result._mask = data, mask
    return result


def masked(data: Any, mask: Any, kind: type = MaskedTensor) -> Any:
    """Data behind a mask; its history is the data's."""
    if data.layout is not mask.layout:
        raise ArgumentTypeError("data and mask must have the same layout.")
    if data.layout is not strided:
        data, mask = _same_places(data, mask)
    if mask.dtype is not bool_:
        raise ArgumentTypeError("mask must have dtype bool.")
    if data.dtype not in _TYPES:
        raise ArgumentTypeError(f"{data.dtype} is not supported in MaskedTensor.")
    if data.dim() != mask.dim():
        raise ArgumentValueError("data.dim() must equal mask.dim()")
    if data.shape != mask.shape:
        raise ArgumentValueError("data.size() must equal mask.size()")
    return _made(data, mask, kind)


def _same_places(data: Any, mask: Any) -> tuple[Any, Any]:
    """Sparse data and a sparse mask, which have the same entries."""
    if data.layout not in (sparse_coo, sparse_csr):
        raise ArgumentTypeError(f"data layout of {data.layout} is not supported.")
    if data.layout is sparse_coo:
        data, mask = data.coalesce(), mask.coalesce()
    if data._nnz() != mask._nnz():
        data = data.to_dense().sparse_mask(mask)
    if not FUNCTIONS["equal"](data._at, mask._at):
        raise ArgumentValueError(
            "data and mask are both sparse COO tensors but do not have the same indices."
            if data.layout is sparse_coo
            else "data and mask are both sparse CSR tensors but do not share either crow or col indices."
        )
    return data, mask


def _tensors_match(a: Any, b: Any, exact: bool = True, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    """Are two tensors without masks equal, or close?"""
    if is_masked_tensor(a) or is_masked_tensor(b):
        raise ArgumentValueError("Neither `a` nor `b` can be a MaskedTensor.")
    if a.layout is not b.layout:
        raise ArgumentValueError(f"`a` and `b` must have the same layout. Got {a.layout} and {b.layout}")
    if a.dtype is not b.dtype:
        b = b.type(a.dtype)
    if a.layout is not strided:
        return _tensors_match(a._at, b._at) and _tensors_match(a._held, b._held, exact, rtol, atol)
    if exact:
        return bool(FUNCTIONS["equal"](a, b))
    return a.shape == b.shape and bool(FUNCTIONS["allclose"](a, b, rtol=rtol, atol=atol, equal_nan=True))


def _masks_match(a: Any, b: Any) -> bool:
    """Do two tensors have their elements at the same places? One without a mask has them wherever the other has."""
    return not (is_masked_tensor(a) and is_masked_tensor(b)) or _tensors_match(a._mask, b._mask)


def _text(value: Any) -> str:
    return f"{value:8.4f}" if isinstance(value, float) else str(value)


def _texts(data: Any, mask: Any) -> str:
    if not data or not isinstance(data[0], list):
        texts = [_text(value) for value in data]
        width = max((len(text) if shown else 8 for text, shown in zip(texts, mask, strict=True)), default=0)
        return f"[{', '.join(text if shown else '--'.rjust(width) for text, shown in zip(texts, mask, strict=True))}]"
    rows = ",\n".join(_indented(_texts(*each)) for each in zip(data, mask, strict=True))
    return f"[\n{rows}\n]"


def _indented(text: str) -> str:
    return "\n".join("  " + line for line in text.split("\n"))
