"""Tensors into Python and NumPy: numbers, lists, arrays, truth, iteration backwards, text."""

from __future__ import annotations

from typing import Any

from ...core import modes
from ...core.devices import HOST, as_array, kind_of, to_host, visible, write
from ...core.dtypes import COMPLEX, FROM_NUMPY, STORED, b1, bf16, f32, get_default_dtype, uint8
from ...core.inplace import refuse, wrote
from ...core.printing import tensor_text
from ...core.provenance import text as place_text
from ...core.saved import hand_to_numpy
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentTypeError, ArgumentValueError, DtypeError, EngineError
from ...events import hub
from ...kernels.batched.levels import Mapped
from ...kernels.mirrors import mirror_of
from ..faces.api import METHODS, method, public
from .from_data import share, warn_left

# Numbers -------------------------------------------------------------------------------------------


@public(function=False)
def item(self: Tensor) -> Any:
    """The one element as a Python number."""
    array = self._array
    if array.size != 1:
        raise EngineError(
            f"a Tensor with {array.size} elements cannot be converted to Scalar\n"
            f"Its shape is {list(array.shape)}; take one element (x[i]), reduce it (x.sum()), or use tolist()."
        )
    if hub.left is not None and self._rg:
        hub.left(self, "item")
    return array.item() if array.dtype is not bf16 else float(array.item())


def _single(self: Tensor) -> Any:
    if self._array.size != 1:
        raise ArgumentValueError(
            "only one element tensors can be converted to Python scalars\n"
            f"This tensor has shape {list(self._array.shape)}."
        )
    return self.item()


def _float(self: Tensor) -> float:
    value = _single(self)
    if self._array.dtype in COMPLEX:
        raise DtypeError("value cannot be converted to type double without overflow")
    if self._rg:
        warn_left(self)
    return float(value)


def _int(self: Tensor) -> int:
    value = _single(self)
    if self._array.dtype in COMPLEX:
        raise DtypeError("value cannot be converted to type int64_t without overflow")
    return int(value)


def _complex(self: Tensor) -> complex:
    return complex(_single(self))


def _index(self: Tensor) -> int:
    array = self._array
    if array.size != 1 or array.dtype.kind not in "iub":
        raise ArgumentTypeError("only integer tensors of a single element can be converted to an index")
    return int(array.item())


def _bool(self: Tensor) -> bool:
    array = self._array
    if array.size == 1:
        return bool(array if isinstance(array, Mapped) else array.item())
    what = "no values" if array.size == 0 else "more than one value"
    raise EngineError(
        f"Boolean value of Tensor with {what} is ambiguous\n"
        f"Its shape is {list(array.shape)}; say x.any(), x.all() or torch.equal(a, b)."
    )


METHODS.update(
    __float__=_float,
    __int__=_int,
    __complex__=_complex,
    __index__=_index,
    __bool__=_bool,
)


@public()
def is_nonzero(input: Any) -> bool:
    """Is the one element different from zero?"""
    return _bool(input)


@method()
def tolist(self: Tensor) -> Any:
    """The elements as nested lists of Python numbers (a number for a 0-dim tensor)."""
    array = self._array
    if hub.left is not None and self._rg:
        hub.left(self, "tolist")
    return to_host(array.astype(f32) if array.dtype is bf16 else array).tolist()


# NumPy ---------------------------------------------------------------------------------------------


@method()
def numpy(self: Tensor, *, force: bool = False) -> Any:
    """The tensor's memory as a NumPy array; with `force`, detached and copied as far as necessary."""
    if self.requires_grad:
        if not force and (modes.special == 0 or modes.recording()):
            raise EngineError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.\n"
                + (f"It was computed at {place_text(self._edge.place)}." if self._edge is not None else "It is a leaf.")
                + " What NumPy computes is not recorded, so no gradient would flow through it."
            )
    if mirror_of(self._array) is not None and not force:
        word, bit = ("conjugate", "conj") if self.is_complex() else ("negative", "neg")
        if bit == "conj" or self.is_neg():
            raise EngineError(
                f"Can't call numpy() on Tensor that has {word} bit set. Use tensor.resolve_{bit}().numpy() instead."
            )
    if hub.left is not None:  # also what was detached before: a value that is followed goes out of sight
        hub.left(self, "numpy")
    array = self._array
    if not visible(array):
        if isinstance(array, Mapped):
            array.tolist()  # type: ignore[attr-defined]  # refuses
        if kind_of(array).name == "wrapper":
            raise EngineError(".numpy() is not supported for tensor subclasses.")
        raise ArgumentTypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory "
            "first."
        )
    array = to_host(array)
    if array.dtype is bf16 or FROM_NUMPY[array.dtype] in STORED:
        kind = FROM_NUMPY[array.dtype]
        way = "x.cfloat()" if kind.is_complex else "x.float()"
        raise ArgumentTypeError(f"Got unsupported ScalarType {kind.old}\nNumPy has no such type; use {way}.numpy().")
    hand_to_numpy(self)
    return array.view()


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ArgumentValueError("Unable to avoid copy while creating an array as requested.")
        return array.astype(dtype)
    return array.copy() if copy else array


def _array_wrap(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    """What a NumPy function computed from this tensor, as a tensor (PyTorch makes bytes of booleans)."""
    array = as_array(array)
    if array.dtype == b1:
        array = array.astype(uint8.numpy)
    return share(array)


METHODS.update(__array__=_array, __array_wrap__=_array_wrap)


# Text ----------------------------------------------------------------------------------------------


def suffixes(self: Tensor) -> list[str]:
    """What follows the values in the text of a tensor."""
    try:
        found = [f"grad_fn=<{type(self.grad_fn).__name__}>"] if self.grad_fn is not None else []
    except EngineError:  # a view that may no longer be used
        found = ["grad_fn=<Invalid>"]
    if not found and self._rg:
        found = ["requires_grad=True"]
    if modes.special and modes.dual is not None and modes.dual.touches((self,)):
        found.append(f"tangent={modes.dual.tangent_of(self)}")
    return found


def _all_samples(array: Any) -> str:
    """PyTorch's text of a tensor that stands for all samples."""
    whole = new_tensor(array.data)
    depth = 1
    inner = array.data
    while isinstance(inner, Mapped):
        depth, inner = depth + 1, inner.data
    if not array.varies:
        return repr(whole)
    value = "\n".join(f"    {line}" for line in repr(whole).split("\n"))
    return f"BatchedTensor(lvl={depth}, bdim=0, value=\n{value}\n)"


def _repr(self: Tensor, *, tensor_contents: Any = None) -> str:
    cls = type(self)
    plain = cls is Tensor or "_is_parameter" in vars(cls)
    if isinstance(self._array, Mapped):  # inside `vmap`
        return _all_samples(self._array)
    title = "tensor(" if plain else f"{cls.__name__}("
    if tensor_contents is not None:
        text = f"{title}{', '.join([str(tensor_contents), *suffixes(self)])})"
    else:
        text = tensor_text(
            self._array if self.is_meta else to_host(self._array),
            prefix=title,
            default_dtype=repr(get_default_dtype()),
            dtype_name=repr(self.dtype),
            device="" if self.is_cpu else str(self.device),
            suffixes=suffixes(self),
            values=not self.is_meta,
        )
    return f"Parameter({text})" if self._is_parameter and not plain else text  # of a class of its own


def _format(self: Tensor, spec: str) -> str:
    if self._array.ndim == 0 and type(self) is Tensor and not self.is_meta:
        return format(self.item(), spec)
    return object.__format__(self, spec)


METHODS.update(__repr__=_repr, __format__=_format)  # str(x) is repr(x)


# Element by element, in Python ----------------------------------------------------------------------


def _loop(name: str, self: Tensor, function: Any, *others: Tensor) -> Tensor:
    if not callable(function):
        raise ArgumentTypeError(f"'{type(function).__name__}' object is not callable")
    for t in (self, *others):
        if t.requires_grad:
            raise EngineError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    refuse(self, name)
    others = tuple(t.expand(self.shape) for t in others)
    values = HOST.xp.frompyfunc(function, 1 + len(others), 1)(
        *[
            to_host(t._array if t._array.dtype is not bf16 else t._array.astype(f32)).astype(object)
            for t in (self, *others)
        ]
    )
    for value in HOST.xp.ravel(values).tolist():
        if isinstance(value, str):
            raise ArgumentTypeError(f"must be real number, not {type(value).__name__}")
    write(self._array, as_array(values).astype(self._array.dtype))
    wrote(self)
    return self


@method("apply_")
def apply_(self: Tensor, callable: Any) -> Tensor:
    """Replace each element by `callable(element)`: a loop in Python, for other things than speed."""
    return _loop("apply_", self, callable)


@method("map_")
def map_(self: Tensor, tensor: Tensor, callable: Any) -> Tensor:
    """Replace each element by `callable(element, element of tensor)`."""
    return _loop("map_", self, callable, tensor)


@method("map2_")
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Any) -> Tensor:
    """Replace each element by `callable(element, element of x, element of y)`."""
    return _loop("map2_", self, callable, x, y)
