"""`torch.testing`: compare tensors within tolerances, and make random ones."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.devices import kind_of, to_host
from ..core.dtypes import EIGHT_BITS, FROM_NUMPY, strided
from ..core.op_node import cast
from ..core.tensor import Tensor, created
from ..errors import ArgumentTypeError, ArgumentValueError
from ..kernels import random as draw
from ..kernels.mt19937 import default_generator
from ..ops.creation.questions import finfo
from ..ops.faces.api import FUNCTIONS
from ..ops.faces.options import numpy_type, place, size_of

# (rtol, atol) by type: PyTorch's
TOLERANCES = {
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip


class _Check:
    """One comparison: its options, and the way to the values being compared."""

    def __init__(self, rtol: Any, atol: Any, equal_nan: bool, flags: dict[str, bool]) -> None:
        self.rtol, self.atol, self.equal_nan, self.flags = rtol, atol, equal_nan, flags

    def compare(self, actual: Any, expected: Any, path: tuple[Any, ...]) -> str | None:
        """None if equal, else the text that says what is not."""
        if self.flags["allow_subclasses"] is False and type(actual) is not type(expected):
            return f"{type(actual)} != {type(expected)}"
        if isinstance(expected, Mapping) and isinstance(actual, Mapping):
            return self._mappings(actual, expected, path)
        if _is_list(expected) and _is_list(actual):
            return self._sequences(actual, expected, path)
        if actual is None or expected is None:
            return None if actual is expected else self._at(f"None mismatch: {actual} is not {expected}", path)
        if _is_sparse(actual) or _is_sparse(expected):
            return self._sparse(actual, expected, path)
        pair = _arrays(actual, expected)
        if pair is None:
            raise ArgumentTypeError(
                f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
            )
        return self._values(*pair, path)

    def _mappings(self, actual: Any, expected: Any, path: tuple[Any, ...]) -> str | None:
        if actual.keys() != expected.keys():
            missing, more = set(expected) - set(actual), set(actual) - set(expected)
            return self._at(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(missing)}\n"
                f"Additional keys in the actual mapping: {sorted(more)}",
                path,
            )
        texts = (self.compare(actual[key], expected[key], (*path, key)) for key in expected)
        return next((text for text in texts if text is not None), None)

    def _sequences(self, actual: Any, expected: Any, path: tuple[Any, ...]) -> str | None:
        if len(actual) != len(expected):
            return self._at(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", path)
        texts = (self.compare(a, e, (*path, i)) for i, (a, e) in enumerate(zip(actual, expected, strict=True)))
        return next((text for text in texts if text is not None), None)

    def _values(self, a: Any, e: Any, kind: str, path: tuple[Any, ...]) -> str | None:
        if kind == "numbers" and self.flags["check_dtype"] and a.dtype != e.dtype:
            return self._at(f"The (d)types do not match: {type(a.item())} != {type(e.item())}.", path)
        if a.shape != e.shape:
            shapes = [f"torch.Size({list(x.shape)})" for x in (a, e)]
            return self._at(f"The values for attribute 'shape' do not match: {shapes[0]} != {shapes[1]}.", path)
        if kind == "tensors" and self.flags["check_dtype"] and a.dtype != e.dtype:
            types = [FROM_NUMPY[x.dtype] for x in (a, e)]
            return self._at(f"The values for attribute 'dtype' do not match: {types[0]} != {types[1]}.", path)
        if kind == "tensors" and self.flags["check_stride"] and a.strides != e.strides:
            steps = [tuple(s // x.itemsize for s in x.strides) for x in (a, e)]
            return self._at(f"The values for attribute 'stride()' do not match: {steps[0]} != {steps[1]}.", path)
        where = [kind_of(x).device(x) for x in (a, e)]
        if kind == "tensors" and self.flags["check_device"] and where[0] != where[1]:
            return self._at(f"The values for attribute 'device' do not match: {where[0]} != {where[1]}.", path)
        rtol, atol = self._tolerance(a, e)
        text = _difference(to_host(a), to_host(e), rtol, atol, self.equal_nan)
        return None if text is None else self._at(text, path)

    def _sparse(self, a: Any, e: Any, path: tuple[Any, ...]) -> str | None:
        """Tensors of which one or both are sparse: of one layout their parts are compared, else their values."""
        if not (isinstance(a, Tensor) and isinstance(e, Tensor)):
            raise ArgumentTypeError(f"No comparison pair was able to handle inputs of type {type(a)} and {type(e)}.")
        asked = {"shape": True, "layout": self.flags["check_layout"], "dtype": self.flags["check_dtype"]}
        for name, compared in asked.items():
            one, other = getattr(a, name), getattr(e, name)
            if compared and one != other:
                return self._at(f"The values for attribute '{name}' do not match: {one} != {other}.", path)
        if a.layout is not e.layout:
            return self.compare(a.to_dense(), e.to_dense(), path)
        name = str(a.layout).removeprefix("torch.sparse_").upper()
        if a._nnz() != e._nnz():
            what = f"The number of specified values in sparse {name} tensors does not match"
            return self._at(f"{what}: {a._nnz()} != {e._nnz()}", path)
        for part in _PARTS[name]:
            one, other = (getattr(x, part)().detach() for x in (a, e))
            limits = self._tolerance(one._array, other._array) if part.endswith("values") else (0.0, 0.0)
            equal_nan = self.equal_nan and part.endswith("values")
            text = _difference(to_host(one._array), to_host(other._array), *limits, equal_nan)
            if text is not None:
                return self._at(text.replace("Tensor-likes", f"Sparse {name} {part.removeprefix('_')}", 1), path)
        return None

    def _tolerance(self, a: Any, e: Any) -> tuple[float, float]:
        if self.rtol is not None:
            return self.rtol, self.atol
        pairs = [TOLERANCES.get(x.dtype.name, (0.0, 0.0)) for x in (a, e)]
        return max(p[0] for p in pairs), max(p[1] for p in pairs)

    @staticmethod
    def _at(text: str, path: tuple[Any, ...]) -> str:
        where = "".join(f"[{step!r}]" for step in path)
        return f"{text}\n\nThe failure occurred for item {where}" if path else text


_ROWS, _COLUMNS = ("crow_indices", "col_indices", "values"), ("ccol_indices", "row_indices", "values")
_PARTS = {"COO": ("_indices", "_values"), "CSR": _ROWS, "BSR": _ROWS, "CSC": _COLUMNS, "BSC": _COLUMNS}


def _is_sparse(value: Any) -> bool:
    return isinstance(value, Tensor) and value.layout is not strided


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _arrays(actual: Any, expected: Any) -> tuple[Any, Any, str] | None:
    numbers = (bool, int, float, complex)
    if isinstance(actual, numbers) and isinstance(expected, numbers):
        return np.asarray(actual), np.asarray(expected), "numbers"
    if all(isinstance(v, (Tensor, np.ndarray, np.generic)) for v in (actual, expected)):
        a, e = (v._array if isinstance(v, Tensor) else np.asarray(v) for v in (actual, expected))
        return a, e, "tensors"
    return None


def _difference(a: Any, e: Any, rtol: float, atol: float, equal_nan: bool) -> str | None:
    wide = np.complex128 if "c" in (a.dtype.kind, e.dtype.kind) else np.float64
    exact = rtol == 0 and atol == 0
    if exact and a.dtype.kind in "biu" and e.dtype.kind in "biu":
        x, y = (v.astype(np.int64) if v.dtype.kind != "u" or v.itemsize < 8 else v for v in (a, e))
        close = x == y
    else:
        x, y = a.astype(wide), e.astype(wide)
        with np.errstate(all="ignore"):
            close = np.asarray((x == y) | (np.abs(x - y) <= atol + rtol * np.abs(y)) & np.isfinite(y))
        if equal_nan:
            close = close | (np.isnan(x) & np.isnan(y))
    close = np.asarray(close)
    if close.all():
        return None
    return _report(np.asarray(x), np.asarray(y), close, rtol, atol, double=wide in (a.dtype, e.dtype))


def _report(x: Any, y: Any, close: Any, rtol: float, atol: float, double: bool) -> str:
    what = "equal" if rtol == 0 and atol == 0 else "close"
    allowed = ("", "") if what == "equal" else (f" (up to {atol} allowed)", f" (up to {rtol} allowed)")
    with np.errstate(all="ignore"):
        gap = np.asarray(np.abs(x - y))
        share = np.asarray(gap / np.abs(y))
        share = share if double else share.astype(np.float32)
    if x.ndim == 0:
        return (
            f"Scalars are not {what}!\n\nExpected {y.item()} but got {x.item()}.\n"
            f"Absolute difference: {gap.item()}{allowed[0]}\nRelative difference: {share.item()}{allowed[1]}"
        )
    wrong, total = int((~close).sum()), close.size
    lines = [f"Tensor-likes are not {what}!\n", f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})"]
    for name, values, note in (("absolute", gap, allowed[0]), ("relative", share, allowed[1])):
        masked = np.where(close, 0, values)
        place = np.unravel_index(int(np.argmax(np.nan_to_num(masked, nan=math.inf))), x.shape)
        index = tuple(int(i) for i in place)
        lines.append(f"Greatest {name} difference: {values[place].item()} at index {index}{note}")
    return "\n".join(lines)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise AssertionError unless two values (tensors, numbers, or nests of them) agree within tolerances."""
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ArgumentValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    flags = {
        "allow_subclasses": allow_subclasses,
        "check_device": check_device,
        "check_dtype": check_dtype,
        "check_layout": check_layout,
        "check_stride": check_stride,
    }
    text = _Check(rtol, atol, equal_nan, flags).compare(actual, expected, ())
    if text is not None:
        raise AssertionError(text if msg is None else msg(text) if callable(msg) else msg)


# PyTorch's of this old function, which is looser
_OLD_TOLERANCES = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The old name of `assert_close`: types may differ, what is no tensor becomes one, NaN equals NaN."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. "
        "Please use `torch.testing.assert_close()` instead.",
        FutureWarning,
        stacklevel=2,
    )
    actual = actual if isinstance(actual, Tensor) else FUNCTIONS["tensor"](actual)
    expected = expected if isinstance(expected, Tensor) else FUNCTIONS["tensor"](expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        limits = [_OLD_TOLERANCES.get(str(t.dtype).removeprefix("torch."), (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = (max(each) for each in zip(*limits, strict=True))
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_dtype=False,
        check_stride=False,
        msg=msg or None,
    )


def _limits(kind: Any, low: float | None, high: float | None) -> tuple[float, float]:
    """From where to where values are drawn: what was asked for, as far as the type goes."""
    least: float
    most: float
    default: tuple[int, int]
    if kind.kind == "b":
        least, most, default = 0, 2, (0, 2)
    elif kind.kind in "iu":
        least, most, default = int(np.iinfo(kind).min), int(np.iinfo(kind).max) + (kind != np.int64), (-9, 10)
    else:
        info = finfo(FROM_NUMPY[kind])
        least, most, default = info.min, info.max, (-9, 9)
    low, high = default[0] if low is None else low, default[1] if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ArgumentValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and kind.kind not in "biu":
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 and will be "
            "removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=3,
        )
    elif low >= high:
        raise ArgumentValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= most:
        raise ArgumentValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {FROM_NUMPY[kind]} only supports "
            f"[{least}, {most})"
        )
    return min(max(low, least), most), min(max(high, least), most)


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of uniform random values in [low, high), by default in [-9, 9) (booleans in [0, 2))."""
    where = place("make_tensor", device)
    kind, size = numpy_type("make_tensor", dtype), size_of("make_tensor", shape or ((),))
    if noncontiguous and memory_format is not None:
        raise ArgumentValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous={noncontiguous} and memory_format={memory_format}"
        )
    if requires_grad and kind.kind in "biu":
        raise ArgumentValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={FROM_NUMPY[kind]}"
        )
    if noncontiguous and math.prod(size) > 1:
        size = (*size[:-1], 2 * size[-1])
    lowest, highest = _limits(kind, low, high)
    if kind.kind in "biu":
        array = draw.randint(default_generator, size, math.ceil(lowest), math.ceil(highest), kind)
    elif kind in EIGHT_BITS:
        array = cast(draw.uniform(default_generator, size, np.float32, lowest, highest), kind)
    elif kind.itemsize == 2:
        array = cast(draw.uniform(default_generator, size, kind, lowest, highest), kind)
    else:
        array = draw.uniform(default_generator, size, kind, lowest, highest)
    if exclude_zero:
        array[array == 0] = 1 if kind.kind in "biu" else FROM_NUMPY[kind].numpy.type(np.finfo(np.float16).tiny)
    if noncontiguous and math.prod(size) > 1:
        array = array[..., 1::2]
    if memory_format is None:
        return created(where.receive(array), requires_grad)
    made: Tensor = created(where.receive(array)).clone(memory_format=memory_format)  # type: ignore[attr-defined]
    return made.requires_grad_(requires_grad)
