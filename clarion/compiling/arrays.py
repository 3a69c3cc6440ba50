"""Arrays that note what is computed with them: NumPy's values inside, one step noted for everything that is done.

During a recording the tensors of a function hold such arrays. The engine, the kernels and the optimizers take them for arrays
of another device, and run as ever; the values are real, so the call that is recorded is an ordinary call. A kernel is one step; what
is computed beside kernels (a gradient rule `g * out`, the sum of two gradients) is one step for each of NumPy's functions. Whoever
reads a value (`item()`, a condition) gets it, and the recording is told: what depends on values cannot be replayed.
"""

from __future__ import annotations

import operator
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import devices, overriding, provenance
from ..core.devices import CPU, HOST, Kind, device
from ..kernels import registry
from ..ops.creation import to_python
from . import outward
from .numbers import Exported, Listed, of

active: Any = None  # the recording under way, of one thread


def recording() -> Any:
    """The recording of this thread, or None."""
    now = active
    return now if now is not None and now.thread == threading.get_ident() and now.open else None


_DIAGNOSE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "diagnose", "")


def _is_diagnosis() -> bool:
    """Do diagnoses ask? They look on, and nothing depends on what they see."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename.startswith(_DIAGNOSE):
            return True
        frame = frame.f_back
    return False


_CALLED = ("item", "tolist", "numpy")  # methods of Tensor that ask for values
_ON_THE_WAY = (overriding.__file__, overriding.CALL, os.path.join(os.path.dirname(__file__), "stand_ins.py"))


def _reader() -> Any:
    """The user's frame that calls `Tensor.item()`, `tolist()` or `numpy()`, which ask here; None if somebody else asks."""
    frame: Any = sys._getframe(2)
    while frame.f_code.co_filename in (__file__, devices.__file__):
        frame = frame.f_back
    if frame.f_code.co_name not in _CALLED or frame.f_code.co_filename != to_python.__file__:
        return None
    frame = frame.f_back
    # Some class may want to be asked first; `float(x)` and `f"{x}"` ask for the item.
    while frame is not None and (
        frame.f_code.co_filename in _ON_THE_WAY
        or (frame.f_code.co_name == "_format" and frame.f_code.co_filename == to_python.__file__)
    ):
        frame = frame.f_back
    return None if frame is None or provenance.is_inside(frame.f_code.co_filename) else frame


class Recorded:
    """An array of the recording: `array` holds its values, `slot` is its number."""

    __slots__ = ("__weakref__", "array", "slot")

    __array_priority__ = 3000

    def __init__(self, array: Any, slot: int) -> None:
        self.array, self.slot = array, slot

    # What is known of it whatever its values ------------------------------------------------------

    shape = property(lambda self: self.array.shape)
    strides = property(lambda self: self.array.strides)
    dtype = property(lambda self: self.array.dtype)
    ndim = property(lambda self: self.array.ndim)
    size = property(lambda self: self.array.size)
    itemsize = property(lambda self: self.array.itemsize)
    nbytes = property(lambda self: self.array.nbytes)
    flags = property(lambda self: self.array.flags)
    base = property(lambda self: self.array.base)

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Recorded({self.array!r})"

    # Values that leave --------------------------------------------------------------------------------

    def _read(self, how: str) -> Any:
        now = recording()
        if now is not None and not _is_diagnosis():
            now.refuse(f"a value is read on the host ({how})")
        return self.array

    def item(self, *place: Any) -> Any:
        """One element, read. The user's own `x.item()` gives a number that a replay reads, too."""
        now = recording()
        if now is not None and not place and self.array.dtype.kind in "fiu":
            reader = _reader()
            if reader is not None and (self.array.dtype.kind == "f" or outward.only_leaves(reader)):
                return of(self.array.item(), now, self._kept())
        return self._read("item()").item(*place)

    def _kept(self) -> int:
        """The slot of its values as they are now."""
        kept: int = noted(np.ndarray.copy, (self,), {}).slot
        return kept

    def tolist(self) -> Any:
        """All elements, read."""
        return self._read("tolist()").tolist()

    def exported(self) -> Any:
        """The values on the host: for the user's own `x.tolist()` and `x.numpy()` such that a replay reads them, too."""
        now = recording()
        reader = None if now is None else _reader()
        if reader is None or not outward.only_leaves(reader, number=False):
            return self._read("its values on the host")
        return _Leaving(self)

    def __bool__(self) -> bool:
        return bool(self._read("a condition"))

    def __float__(self) -> float:
        return float(self._read("float()"))

    def __int__(self) -> int:
        return int(self._read("int()"))

    def __index__(self) -> int:
        return operator.index(self._read("an index"))

    def __complex__(self) -> complex:
        return complex(self._read("complex()"))

    def __contains__(self, value: Any) -> bool:
        return value in self._read("in")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self._read("a NumPy array of it"), dtype)

    def __getattr__(self, name: str) -> Any:
        """What is not modelled is NumPy's own, and ends the recording."""
        if name.startswith("__") and name != "__array_interface__":
            raise AttributeError(name)
        return getattr(self._read(f"the array's {name}"), name)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    __hash__ = object.__hash__

    # NumPy's functions ----------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.get("out")
        if isinstance(out, tuple):
            options["out"] = out[0] if len(out) == 1 else out
        return noted(getattr(ufunc, method), inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        _refuse_unknown(function, args)
        return noted(function, args, kwargs)

    def __getitem__(self, index: Any) -> Any:
        if index is Ellipsis:
            return self
        _refuse_masks(index)
        return noted(operator.getitem, (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        noted(operator.setitem, (self, index, value), {}, writes=True)

    def copy(self, order: str = "C") -> Any:
        """The same anew."""
        return noted(np.ndarray.copy, (self, order), {})

    T = property(lambda self: noted(np.ndarray.transpose, (self,), {}))
    mT = property(lambda self: noted(np.ndarray.swapaxes, (self, -1, -2), {}))
    real = property(lambda self: self if self.array.dtype.kind != "c" else noted(np.real, (self,), {}))
    imag = property(lambda self: noted(np.imag, (self,), {}))


class _Leaving:
    """What `Tensor.tolist()` and `Tensor.numpy()` see of an array whose values only leave."""

    def __init__(self, array: Recorded) -> None:
        self.array, self.dtype = array, array.dtype

    def tolist(self) -> Any:
        """All elements."""
        values, now = self.array.array.tolist(), recording()
        if type(values) is list:
            return Listed(values).kept(now, self.array._kept())
        return of(values, now, self.array._kept()) if type(values) in (float, int) else self.array.tolist()

    def view(self) -> Any:
        """The values as an array of NumPy's."""
        return self.array.array.view(Exported).kept(recording(), self.array.slot)


# NumPy's functions whose result has a shape that no value decides.
_KNOWN = frozenset(
    """zeros ones empty full zeros_like ones_like empty_like full_like arange array ascontiguousarray concatenate
    stack broadcast_to broadcast_arrays transpose reshape moveaxis swapaxes expand_dims squeeze sum mean prod max
    min amax amin copyto copy dot vdot tensordot einsum outer trace diagonal diag tril triu eye identity linspace
    split array_split flip roll rot90 take take_along_axis put_along_axis clip round real imag conj cumsum cumprod
    sort argsort argmax argmin any all var std kron cross tile atleast_1d atleast_2d atleast_3d norm inv solve det
    cholesky qr svd eigh eigvalsh fft ifft rfft irfft fftn ifftn rfftn irfftn fftshift ifftshift as_strided
    count_nonzero isclose nan_to_num vecdot matrix_transpose astype""".split()  # noqa: SIM905
)


def _refuse_unknown(function: Any, args: Any) -> None:
    name = getattr(function, "__name__", "")
    if name not in _KNOWN and not (name == "where" and len(args) == 3):
        now = recording()
        if now is not None:
            now.refuse(f"the shape of numpy.{name} may depend on values")


def _refuse_masks(index: Any) -> None:
    """How many elements a mask selects depends on its values."""
    for part in index if type(index) is tuple else (index,):
        if isinstance(part, (Recorded, np.ndarray)) and part.dtype.kind == "b" and part.ndim:
            now = recording()
            if now is not None:
                now.refuse("the shape of a selection by a mask depends on its values")


def _operator(ufunc: Any) -> tuple[Any, Any, Any]:
    """`a + b`, `b + a` and `a += b`."""
    return (
        lambda self, other: noted(ufunc, (self, other), {}),
        lambda self, other: noted(ufunc, (other, self), {}),
        lambda self, other: noted(ufunc, (self, other), {"out": self}),
    )


for _name, _ufunc in {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "pow": np.power, "matmul": np.matmul, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift,
}.items():  # fmt: skip
    for _form, _function in zip(("", "r", "i"), _operator(_ufunc), strict=True):
        setattr(Recorded, f"__{_form}{_name}__", _function)
for _name, _ufunc in {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
}.items():  # fmt: skip
    setattr(Recorded, f"__{_name}__", _operator(_ufunc)[0])
for _name, _ufunc in {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}.items():
    setattr(Recorded, f"__{_name}__", lambda self, ufunc=_ufunc: noted(ufunc, (self,), {}))


def _method(name: str, writes: bool = False) -> Callable[..., Any]:
    function = getattr(np.ndarray, name)
    return lambda self, *args, **options: noted(function, (self, *args), options, writes)


_METHODS = """sum mean max min argmax argmin prod any all cumsum cumprod reshape transpose swapaxes astype dot squeeze ravel flatten
view take clip round conj conjugate diagonal std var trace argsort"""
for _name in _METHODS.split():
    if hasattr(np.ndarray, _name):
        setattr(Recorded, _name, _method(_name))
for _name in ("fill", "sort", "partition", "put"):
    setattr(Recorded, _name, _method(_name, writes=True))


# Noting --------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A value with NumPy's arrays in place of recorded ones, in lists and tuples too."""
    kind = type(value)
    if kind is Recorded:
        return value.array
    if kind is tuple or kind is list:
        return kind([plain(each) for each in value])
    if kind is dict:
        return {name: plain(each) for name, each in value.items()}
    return value


def noted(function: Any, args: Any, options: Any, writes: bool = False) -> Any:
    """Run one of NumPy's functions on the values, and note it as a step."""
    result = function(*plain(args), **plain(options))
    now = recording()
    if now is None:
        return result
    out = options.get("out")
    if out is not None:
        now.note(function, args, options, ())
        return out
    if writes:
        now.note(function, args, options, ())
        return result
    return now.note_results(function, args, options, result)


# Kernels -------------------------------------------------------------------------------------------------


def _looks(value: Any) -> Any:
    """What a kernel is given, without values."""
    from ..kernels.meta.array import fresh

    if isinstance(value, (Recorded, np.ndarray)) and value.ndim:
        return fresh(value.shape, value.dtype, value.strides)
    if isinstance(value, Recorded):
        return fresh((), value.dtype)
    return type(value)([_looks(each) for each in value]) if type(value) in (list, tuple) else value


def depends_on_values(name: str, args: Any, result: Any) -> bool:
    """Has a kernel's result a shape that its values decide? Its rule for arrays without values (kernels/meta) knows."""
    from ..kernels.meta.rules import kernel_for

    try:
        found = kernel_for(name)(*_looks(args))
    except Exception:
        return True
    results, looks = ([x] if not isinstance(x, (list, tuple)) else x for x in (result, found))
    if len(results) != len(looks):
        return True
    # (What the backward pass alone reads a backend may keep in another shape.)
    return any(r is not None and np.size(r) != getattr(f, "size", 1) for r, f in zip(results, looks, strict=True))


def kernel(name: str) -> Callable[..., Any]:
    """The kernel of an operation for recorded arrays: the host's own, noted as one step."""
    if name in _SPECIAL:
        return _SPECIAL[name]
    bound = registry.bind

    def run(*args: Any, **options: Any) -> Any:
        result = bound(name)(*plain(args), **plain(options))
        now = recording()
        if now is None:
            return result
        out = options.get("out")
        if out is not None or result is None:
            now.note(name, args, options, ())
            return out
        given = [each for each in args if type(each) is Recorded]
        if len(given) > 1:
            for each in given:
                if result is each.array:  # it has written to one of several that it was given
                    now.note(name, args, options, ())
                    return each
        if depends_on_values(name, args, result):
            now.refuse(f"the shape of {name} depends on values, or is not known beforehand")
        return now.note_results(name, args, options, result)

    return run


def norm_as_array(arrays: Any, order: float) -> Any:
    """The norm of many arrays as an array, not as a number of Python's."""
    return np.asarray(registry.bind("total_norm")(arrays, order), np.float64)


def _total_norm(arrays: Any, order: float) -> Any:
    return noted(norm_as_array, (arrays, order), {})


def updated(params: Any, grads: Any, kept: Any, rule: str, place: Any, how: tuple[str, ...]) -> None:
    """An optimizer's step, with the numbers that lie in `place` now."""
    overwrite, numbers = registry.bind(f"{rule}_"), tuple(place.tolist())
    for p, g, *state in zip(params, grads, *kept, strict=True):
        overwrite(p, g, tuple(state), numbers, how)


def _update_all(params: Any, grads: Any, kept: Any, rule: str, numbers: Any, how: tuple[str, ...]) -> Any:
    place = np.asarray(numbers, np.float64).reshape(len(numbers))
    noted(updated, (params, grads, kept, rule, place, how), {}, writes=True)
    return place


def counted(name: str, x: Any, target: Any, *how: Any) -> Any:
    """A loss of classes, with what each target counts: whether all count alike is another question at each replay."""
    *found, row = registry.bind(name)(x, target, *how)
    return (*found, row if row.ndim else np.full(target.shape, row))


def _counted(name: str) -> Callable[..., Any]:
    return lambda *args: noted(counted, (name, *args), {})


_SPECIAL = {"total_norm": _total_norm, "update_all": _update_all}
_SPECIAL |= {name: _counted(name) for name in ("nll_loss", "nll_loss2d", "cross_entropy", "cross_entropy2d")}


# The namespace, and the kind of device ------------------------------------------------------------------


class Namespace:
    """`xp` of recorded arrays: NumPy's functions; what they make of nothing is noted, too."""

    ndarray = Recorded

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if isinstance(found, (np.ufunc, type)) or not callable(found):
            return found

        def run(*args: Any, **options: Any) -> Any:
            return noted(found, args, options, writes=name in ("copyto", "put", "place", "fill_diagonal"))

        return run

    @staticmethod
    def asarray(value: Any, dtype: Any = None) -> Any:
        if isinstance(value, Recorded):
            return value if dtype is None or value.dtype == dtype else value.astype(dtype)
        return noted(np.array, (value, dtype), {})

    @staticmethod
    def ascontiguousarray(value: Any) -> Any:
        if isinstance(value, Recorded) and value.flags.c_contiguous and value.ndim:
            return value
        return noted(np.ascontiguousarray if isinstance(value, Recorded) else np.array, (value,), {})


class RecordedKind(Kind):
    """The host, while it is recorded. Other threads see the host as ever."""

    array = Recorded
    _own = Namespace()

    @property
    def xp(self) -> Any:  # type: ignore[override]
        return self._own if recording() is not None else HOST.xp

    def device(self, array: Any = None) -> device:
        return CPU

    def receive(self, array: Any) -> Any:
        return array if isinstance(array, Recorded) or recording() is None else noted(np.array, (array,), {})

    def visible(self, array: Any) -> bool:
        """Whoever asks is about to look at values, and to decide something by them."""
        if isinstance(array, Recorded) and _reader() is None:
            array._read("its values are checked")
        return True

    def to_host(self, array: Any) -> Any:
        return array.exported() if isinstance(array, Recorded) else array

    def computed(self, shape: tuple[int, ...], dtype: Any, compute: Callable[[], Any]) -> Any:
        """Random numbers are drawn anew at each replay, in the same order."""
        return compute() if recording() is None else noted(compute, (), {})

    def address(self, array: Any) -> int:
        return int(self.to_host(array).__array_interface__["data"][0])
