"""Data types, PyTorch's type promotion, and `Size`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ml_dtypes
import numpy as np

from ..errors import ArgumentTypeError, EngineError

NumpyDtype = np.dtype[Any]
NumpyNumber = np.generic  # a number out of a NumPy array, which counts as one of Python's
iinfo, finfo = np.iinfo, np.finfo  # the limits of a type
broadcast_shapes = np.broadcast_shapes
NUMBERS = (bool, int, float, complex, np.generic)


class dtype:
    """A data type, printed and compared as PyTorch's. `dtype.numpy` is the array's own."""

    __slots__ = ("category", "is_complex", "is_floating_point", "is_signed", "itemsize", "name", "numpy", "old")

    def __init__(self, name: str, numpy_type: Any, old: str, category: int, *, signed: bool = True) -> None:
        self.name = name
        self.numpy: NumpyDtype = np.dtype(numpy_type)
        self.old = old  # the name in messages: 'Float' of FloatTensor
        self.category = category  # bool 0, integer 1, floating 2, complex 3: promotion's first key
        self.itemsize = self.numpy.itemsize
        self.is_floating_point = category == 2
        self.is_complex = category == 3
        self.is_signed = signed

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return by_name, (self.name,)

    def to_complex(self) -> dtype:
        """The complex type whose parts have this type."""
        if self.category < 2 or self in FLOAT8:
            raise EngineError(f"Unknown Complex ScalarType for {self.old}")
        if self.name in ("float16", "complex32") and complex32 is not None:
            return complex32
        return complex128 if self.name in ("float64", "complex128") else complex64

    def to_real(self) -> dtype:
        """The type of the real part."""
        return {"complex128": float64, "complex64": float32, "complex32": float16}.get(self.name, self)


bool_ = dtype("bool", np.bool_, "Bool", 0, signed=False)
uint8 = dtype("uint8", np.uint8, "Byte", 1, signed=False)
int8 = dtype("int8", np.int8, "Char", 1)
int16 = dtype("int16", np.int16, "Short", 1)
int32 = dtype("int32", np.int32, "Int", 1)
int64 = dtype("int64", np.int64, "Long", 1)
uint16 = dtype("uint16", np.uint16, "UInt16", 1, signed=False)
uint32 = dtype("uint32", np.uint32, "UInt32", 1, signed=False)
uint64 = dtype("uint64", np.uint64, "UInt64", 1, signed=False)
float16 = dtype("float16", np.float16, "Half", 2)
bfloat16 = dtype("bfloat16", ml_dtypes.bfloat16, "BFloat16", 2)
float32 = dtype("float32", np.float32, "Float", 2)
float64 = dtype("float64", np.float64, "Double", 2)
complex64 = dtype("complex64", np.complex64, "ComplexFloat", 3)
complex128 = dtype("complex128", np.complex128, "ComplexDouble", 3)

ALL = (
    bool_, uint8, int8, int16, int32, int64, uint16, uint32, uint64,
    float16, bfloat16, float32, float64, complex64, complex128,
)  # fmt: skip

# Types to store: tensors of them are made, converted, moved and saved. Arithmetic is refused for the 8-bit ones,
# as PyTorch refuses it; complex32 is computed in complex64. (ml_dtypes knows it since 0.6.)
FLOAT8 = tuple(
    dtype(name, getattr(ml_dtypes, name), name.capitalize(), 2)
    for name in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu")
)
complex32 = dtype("complex32", ml_dtypes.complex32, "ComplexHalf", 3) if hasattr(ml_dtypes, "complex32") else None
STORED: tuple[dtype, ...] = FLOAT8 if complex32 is None else (*FLOAT8, complex32)
FROM_NUMPY: dict[NumpyDtype, dtype] = {d.numpy: d for d in (*ALL, *STORED)}

f16, bf16, f32, f64 = float16.numpy, bfloat16.numpy, float32.numpy, float64.numpy
c64, c128, i64, b1 = complex64.numpy, complex128.numpy, int64.numpy, bool_.numpy
c32: NumpyDtype | None = None if complex32 is None else complex32.numpy
FLOATING = frozenset((f16, bf16, f32, f64))
COMPLEX = frozenset((c64, c128)) if c32 is None else frozenset((c32, c64, c128))
EIGHT_BITS = frozenset(d.numpy for d in FLOAT8)
INEXACT = FLOATING | COMPLEX | EIGHT_BITS
HALF = frozenset((f16, bf16))
WIDER: dict[NumpyDtype | None, NumpyDtype] = {f16: f32, bf16: f32, c32: c64}  # what narrow types are computed in

# Within a category the wider wins; these are the pairs where "wider" is not the item size alone.
_ORDER = {d.numpy: i for i, d in enumerate(ALL)}
_default: NumpyDtype = f32


_OF_PYTHON: dict[Any, dtype] = {float: float64, int: int64, bool: bool_, complex: complex128}


def meant(given: Any) -> Any:
    """The type that a `dtype` argument means: Python's own types stand for the widest of their kind."""
    return _OF_PYTHON.get(given, given) if type(given) is type else given


def checked(given: Any) -> dtype:
    """The type that a `dtype` argument means; refuses what is none."""
    found = meant(given)
    if not isinstance(found, dtype):
        raise ArgumentTypeError(f"argument 'dtype' must be torch.dtype, not {type(given).__name__}")
    return found


def get_default_dtype() -> dtype:
    """The floating type of new tensors."""
    return FROM_NUMPY[_default]


def default_float() -> NumpyDtype:
    """The default floating type, as NumPy's."""
    return _default


def set_default_dtype(d: dtype) -> None:
    """Set the floating type of new tensors."""
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise ArgumentTypeError(
            "invalid dtype object: only floating-point types are supported as the default type\n"
            f"set_default_dtype() was given {d!r}; use float32, float64, float16 or bfloat16."
        )
    _default = d.numpy


def from_numpy_dtype(numpy_type: NumpyDtype) -> dtype:
    """clarion's type for a NumPy type (TypeError where PyTorch has none)."""
    found = FROM_NUMPY.get(numpy_type)
    if found is None:
        found = FROM_NUMPY.get(numpy_type.newbyteorder("="))
    if found is None:
        raise ArgumentTypeError(
            f"can't convert np.ndarray of type {numpy_type}. The only supported types are: float64, float32, "
            "float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool."
        )
    return found


def promote_pair(a: NumpyDtype, b: NumpyDtype) -> NumpyDtype:
    """PyTorch's `promote_types` on NumPy types."""
    if a is b or a == b:
        return a
    da, db = FROM_NUMPY[a], FROM_NUMPY[b]
    if a in EIGHT_BITS or b in EIGHT_BITS:
        raise EngineError(f"Promotion for Float8 Types is not supported, attempted to promote {da.old} and {db.old}")
    if c32 is not None and (a == c32 or b == c32):
        other = db if a == c32 else da
        return c32 if other.category < 2 or other is float16 else promote_pair(c64, other.numpy)
    if da.category != db.category:
        low, high = (da, db) if da.category < db.category else (db, da)
        if high.category == 3 and low is float64:
            return c128
        return high.numpy
    if da.category == 1:
        if da.is_signed == db.is_signed:
            return a if da.itemsize > db.itemsize else b
        signed, unsigned = (da, db) if da.is_signed else (db, da)
        if signed.itemsize > unsigned.itemsize:
            return signed.numpy
        if unsigned is not uint8:
            raise EngineError(
                f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {da.old} and {db.old}"
            )
        return np.dtype(np.int16)
    if {a, b} == {f16, bf16}:
        return f32
    return a if _ORDER[a] > _ORDER[b] else b


def scalar_category(value: Any) -> int:
    """Promotion category of a Python number."""
    if isinstance(value, (bool, np.bool_)):
        return 0
    if isinstance(value, (int, np.integer)):
        return 1
    if isinstance(value, (float, np.floating)):
        return 2
    if isinstance(value, (complex, np.complexfloating)):
        return 3
    raise ArgumentTypeError(f"a number or a Tensor was expected, but got {type(value).__name__}")


def _scalar_type(category: int) -> NumpyDtype:
    if category == 3:
        return FROM_NUMPY[_default].to_complex().numpy
    return (b1, i64, _default)[category]


def result_type(operands: Iterable[Any]) -> NumpyDtype:
    """Common type of arrays and Python numbers: arrays with dimensions, then 0-dim arrays, then numbers.

    A lower rank takes part only if its category (bool < integer < floating < complex) is higher.
    """
    ranks: list[NumpyDtype | None] = [None, None, None]
    for value in operands:
        if hasattr(value, "dtype") and not isinstance(value, NumpyNumber):
            rank, kind = (0 if value.ndim else 1), value.dtype
        else:
            rank, kind = 2, _scalar_type(scalar_category(value))
        known = ranks[rank]
        ranks[rank] = kind if known is None else promote_pair(known, kind)
    result: NumpyDtype | None = None
    for kind2 in ranks:
        if kind2 is None:
            continue
        if result is None:
            result = kind2
        else:
            have, more = FROM_NUMPY[result], FROM_NUMPY[kind2]
            if more.category > have.category:
                # A real tensor with a complex number keeps its precision.
                result = have.to_complex().numpy if have.category == 2 else kind2
    if result is None:
        raise EngineError("no operands to take a type from")
    return result


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple that prints as PyTorch's."""

    __slots__ = ()

    def __new__(cls, items: Iterable[Any] = ()) -> Size:
        values = []
        for position, item in enumerate(items):
            try:
                values.append(item.__index__())
            except AttributeError:
                raise ArgumentTypeError(
                    f"torch.Size() takes an iterable of 'int' (item {position} is '{type(item).__name__}')"
                ) from None
        return super().__new__(cls, values)

    def numel(self) -> int:
        """Number of elements of a tensor of this shape."""
        count = 1
        for item in self:
            count *= item
        return count

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def __add__(self, other: Any) -> Any:
        return Size(tuple(self) + tuple(other))

    def __radd__(self, other: Any) -> Any:
        return Size(tuple(other) + tuple(self))

    def __mul__(self, times: Any) -> Any:
        return Size(tuple(self) * times)

    __rmul__ = __mul__

    def __getitem__(self, index: Any, at: Any = tuple.__getitem__) -> Any:
        found = at(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __reduce__(self) -> Any:
        return Size, (tuple(self),)


class layout:
    """Memory layout: strided, or one of the sparse ones."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return by_name, (self.name,)


class memory_format(layout):
    """`contiguous_format`, `preserve_format`, `channels_last`, `channels_last_3d`."""

    __slots__ = ()


strided = layout("strided")
sparse_coo, sparse_csr = layout("sparse_coo"), layout("sparse_csr")
sparse_csc, sparse_bsr, sparse_bsc = layout("sparse_csc"), layout("sparse_bsr"), layout("sparse_bsc")
jagged = layout("jagged")  # of nested tensors, of which there are none
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")

_BY_NAME: dict[str, Any] = {d.name: d for d in (*ALL, *STORED)} | {
    each.name: each
    for each in (
        *(strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc, jagged),
        *(contiguous_format, preserve_format, channels_last, channels_last_3d),
    )
}


def by_name(name: str) -> Any:
    """The dtype, layout or memory format of that name (how they are pickled)."""
    return _BY_NAME[name]
