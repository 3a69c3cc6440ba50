"""CuPy as an array library of clarion's: its namespace with what it lacks, and how portable kernels run over it."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import cupy
import numpy as np
from ml_dtypes import bfloat16

from ...errors import EngineError
from .. import captures, registry
from ..choosing import Strangers

_HALF = (np.dtype(np.float16), np.dtype(bfloat16))
_SINGLE = np.dtype(np.float32)


def _plain_nan(x: Any) -> Any:
    """With every NaN as the ordinary one: CuPy sorts by bits, and puts one with a sign before all numbers."""
    return cupy.where(x == x, x, x.dtype.type(np.nan)) if x.dtype.kind == "f" and x.size else x


class Namespace:
    """`xp` for CuPy's arrays: CuPy's functions, what NumPy has and CuPy has not, and NaN in its place in an order."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(cupy, name)
        setattr(self, name, found)
        return found

    @staticmethod
    def vecdot(a: Any, b: Any) -> Any:
        """The sum of products along the last dimension."""
        return cupy.sum(cupy.conj(a) * b, axis=-1)

    @staticmethod
    def sort(x: Any, axis: int | None = -1, kind: str | None = None) -> Any:
        """In order, NaN last."""
        return cupy.sort(_plain_nan(x), axis, kind)

    @staticmethod
    def argsort(x: Any, axis: int | None = -1, kind: str | None = None) -> Any:
        """The places of the elements in order, NaN last."""
        return cupy.argsort(_plain_nan(x), axis, kind)

    @staticmethod
    def partition(x: Any, kth: Any, axis: int | None = -1) -> Any:
        """The elements of these ranks in their place, NaN last."""
        return cupy.partition(_plain_nan(x), kth, axis)

    @staticmethod
    def argpartition(x: Any, kth: Any, axis: int | None = -1) -> Any:
        """The places of the elements, those of these ranks in order, NaN last."""
        return cupy.argpartition(_plain_nan(x), kth, axis)

    @staticmethod
    def searchsorted(edges: Any, values: Any, side: str = "left") -> Any:
        """Where values belong among edges in order; NaN belongs at the end."""
        found = cupy.searchsorted(edges, values, side)
        real = isinstance(values, cupy.ndarray) and values.dtype.kind == "f"
        return cupy.where(values == values, found, edges.size) if real else found


xp = Namespace()


def adapted(name: str) -> Callable[..., Any]:
    """The portable kernel of an operation over CuPy: numbers as CuPy takes them, half precision by way of float32."""
    function = registry.portable(name, xp)
    computes = name not in registry.moving
    if not computes:
        return _moving(function)

    def call(*args: Any) -> Any:
        half = None
        given: list[Any] = []
        for value in args:
            kind = type(value)
            if kind is np.ndarray and value.ndim == 0:
                value = value[()]  # CuPy takes NumPy's numbers, not its arrays
            elif kind is cupy.ndarray and value.dtype in _HALF:
                half = half or value.dtype
                value = value.astype(_SINGLE)
            elif kind is list or kind is tuple:
                value = kind([v.astype(_SINGLE) if type(v) is cupy.ndarray and v.dtype in _HALF else v for v in value])
            given.append(value)
        try:
            result = function(*given)
        except (TypeError, ValueError, NotImplementedError):
            refuse_strangers(args)
            raise
        if half is None:
            return result
        return tuple([_rounded(r, half) for r in result]) if isinstance(result, tuple) else _rounded(result, half)

    return call


def _moving(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that only moves data, whatever its type."""

    def call(*args: Any) -> Any:
        try:
            return function(*args)
        except (TypeError, ValueError, NotImplementedError):
            refuse_strangers(args)
            raise

    return call


def counted(start: int, step: int, count: int, dtype: Any) -> Any:
    """Integers in even steps, where there is a compiler for the kernel; else None."""
    if _no_triton() is not None:
        return None
    from ..triton import rows

    return rows.counted(start, step, count, dtype)


_ones: dict[Any, Any] = {}


def one(array: Any) -> Any:
    """Ones like an array, which nobody writes to: a single number is made once, unless a graph is captured, whose arrays are its own."""
    if array.ndim or captures.current() is not None:
        return cupy.ones_like(array)
    found = _ones.get(array.dtype)
    if found is None:
        found = _ones[array.dtype] = cupy.ones((), array.dtype)
    return found


def refuse_strangers(args: Sequence[Any]) -> None:
    """Arrays of the host do not meet those of the GPU; numbers do."""
    here = [value for value in args if type(value) is np.ndarray and value.ndim]
    there = [value for value in args if type(value) is cupy.ndarray]
    if here and there:
        known = f"cuda:{there[0].device.id}", "cpu"
        lines = [
            f"On {name}: shape {tuple(each.shape)}, {each.dtype.name}{Strangers.made_where(each)}"
            for name, each in zip(known, (there[0], here[0]), strict=True)
        ]
        text = f"found at least two devices, {' and '.join(known)}!"
        raise EngineError(
            "\n".join(
                [
                    f"Expected all tensors to be on the same device, but {text}",
                    *lines,
                    "Bring one to the other with .to(device).",
                ]
            )
        )


def _rounded(result: Any, half: Any) -> Any:
    return result.astype(half) if type(result) is cupy.ndarray and result.dtype == _SINGLE else result


def _always(node: Any) -> bool:
    return True


def _norm_of_singles(node: Any) -> bool:
    """A norm with weights, whose result is float32: its kernel takes a gradient in another type for one of that."""
    weight = node.saved[1] if node.saved else None
    return weight is not None and weight._array.dtype == _SINGLE and node.out_meta[0][1] == _SINGLE


# Whose gradient rules take gradients of any floating type: core/devices.py.
TAKES_ANY: dict[str, Callable[[Any], bool]] = {}


def make_known() -> None:
    """From now on CuPy's arrays find their kernels."""
    missing = _no_triton()
    Strangers.refuse = staticmethod(refuse_strangers)
    registry.describe("views", "results that need no copy")
    registry.describe("cublaslt", "matrix products by NVIDIA's library")
    registry.describe("cudnn", "convolutions and recurrent layers by NVIDIA's library")
    registry.describe("cuda draws", "random numbers made on the GPU")
    registry.describe("triton", "kernels compiled for this GPU", lambda: missing)
    _load("cuda", "batch_norm", "convolutions", "draws", "products", "recurrent", "views")
    if missing is not None:
        registry.know("cupy", cupy.ndarray, xp, ("views", "cublaslt", "cudnn", "cuda draws"), adapted)
        return
    _load(
        "triton", "attention", "batch_norm", "group_norm", "pooling", "recurrent", "reductions", "rows", "small_products",
        "together", "updates",
    )  # fmt: skip
    from ..triton import elements

    TAKES_ANY.update(linear=_always, linear_rows=_always, layer_norm=_norm_of_singles)
    registry.know(
        "cupy",
        cupy.ndarray,
        xp,
        ("views", "cublaslt", "triton", "cudnn", "cuda draws"),
        lambda name: adapted(name) if name in registry.moving else elements.kernel(name, adapted(name)),
        elements.rule,
    )


def _load(room: str, *names: str) -> None:
    """Have the offers of these files made."""
    for name in names:
        importlib.import_module(f"..{room}.{name}", __package__)


@cache
def _no_triton() -> str | None:
    return None if importlib.util.find_spec("triton") else "Triton is not installed (pip install triton)"
