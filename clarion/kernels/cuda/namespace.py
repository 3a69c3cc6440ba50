"""CuPy as an array library of clarion's: its namespace with what it lacks, and how portable kernels run over it."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import cupy
import numpy as np
from ml_dtypes import bfloat16

from ...errors import EngineError
from .. import registry

_HALF = (np.dtype(np.float16), np.dtype(bfloat16))
_SINGLE = np.dtype(np.float32)


class Namespace:
    """`xp` for CuPy's arrays: CuPy's functions, and what NumPy has and CuPy has not."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(cupy, name)
        setattr(self, name, found)
        return found

    @staticmethod
    def vecdot(a: Any, b: Any) -> Any:
        """The sum of products along the last dimension."""
        return cupy.sum(cupy.conj(a) * b, axis=-1)


xp = Namespace()


def adapted(name: str) -> Callable[..., Any]:
    """The portable kernel of an operation over CuPy: numbers as CuPy takes them, half precision by way of float32."""
    function = registry.portable(name, xp)
    computes = name not in registry.moving

    def call(*args: Any) -> Any:
        half = None
        given: list[Any] = []
        for value in args:
            kind = type(value)
            if kind is np.ndarray and value.ndim == 0:
                value = value[()]  # CuPy takes NumPy's numbers, not its arrays
            elif computes and kind is cupy.ndarray and value.dtype in _HALF:
                half = half or value.dtype
                value = value.astype(_SINGLE)
            elif computes and (kind is list or kind is tuple):
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


def refuse_strangers(args: Sequence[Any]) -> None:
    """Arrays of the host do not meet those of the GPU; numbers do."""
    for value in args:
        if type(value) is np.ndarray and value.ndim:
            raise EngineError(
                "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!\n"
                f"The tensor on the CPU has shape {tuple(value.shape)}: bring it to the GPU with .to('cuda')."
            )


def _rounded(result: Any, half: Any) -> Any:
    return result.astype(half) if type(result) is cupy.ndarray and result.dtype == _SINGLE else result


def make_known() -> None:
    """From now on CuPy's arrays find their kernels."""
    missing = _no_triton()
    registry.describe("views", "results that need no copy")
    registry.describe("cublaslt", "matrix products by NVIDIA's library")
    registry.describe("cudnn", "convolutions by NVIDIA's library")
    registry.describe("triton", "kernels compiled for this GPU", lambda: missing)
    _load("cuda", "batch_norm", "convolutions", "joining", "products")
    if missing is not None:
        registry.know("cupy", cupy.ndarray, xp, ("views", "cublaslt", "cudnn"), adapted)
        return
    _load("triton", "attention", "batch_norm", "reductions", "rows", "together", "updates")
    from ..triton import elements

    registry.know(
        "cupy",
        cupy.ndarray,
        xp,
        ("views", "cublaslt", "cudnn", "triton"),
        lambda name: elements.kernel(name, adapted(name)),
        elements.rule,
    )


def _load(room: str, *names: str) -> None:
    """Have the offers of these files made."""
    for name in names:
        importlib.import_module(f"..{room}.{name}", __package__)


def _no_triton() -> str | None:
    return None if importlib.util.find_spec("triton") else "Triton is not installed (pip install triton)"
