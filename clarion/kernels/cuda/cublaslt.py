"""cuBLASLt: a matrix product with any strides that BLAS knows, batches in one call, bias and GELU inside the product.

CuPy's own products cost 30 µs of Python, know no epilogue, and are refused while a graph is captured. Here a *plan* (descriptors
and the algorithm that the library's heuristic chose) is made once for each combination of shapes, strides and types.

cuBLASLt counts columns first. A row-major product `c = a @ b` is the column-major product `cᵀ = bᵀ @ aᵀ`, so the operands are
handed over in the other order.
"""

from __future__ import annotations

import ctypes
import threading
from ctypes import byref, c_float, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from functools import cache
from typing import Any

import cupy
import numpy as np
from ml_dtypes import bfloat16

from .. import precision
from .arrays import new
from .libraries import LibraryError, check, library
from .memory import pool

# cudaDataType_t, and the type that sums are taken in with the type of alpha.
_F32, _F64, _F16, _BF16 = 0, 1, 2, 14
_TYPES: dict[Any, int] = {
    np.dtype(np.float32): _F32,
    np.dtype(np.float64): _F64,
    np.dtype(np.float16): _F16,
    np.dtype(bfloat16): _BF16,
}
_COMPUTE_F32, _COMPUTE_F64, _COMPUTE_TF32 = 68, 70, 77

# cublasLtMatmulDescAttributes_t, cublasLtMatrixLayoutAttribute_t, cublasLtMatmulPreferenceAttributes_t
_TRANS_A, _TRANS_B, _EPILOGUE, _BIAS, _AUX, _AUX_LD, _AUX_STRIDE = 3, 4, 7, 8, 11, 12, 13
_BATCH_COUNT, _BATCH_STRIDE = 5, 6
_MAX_WORKSPACE = 1

EPILOGUES = {"": 1, "bias": 4, "gelu": 32, "gelu_bias": 36, "gelu_aux": 160, "gelu_aux_bias": 164, "dgelu": 192}
EPILOGUES |= {"dgelu_bgrad": 208, "bgrad_a": 256, "bgrad_b": 512, "relu": 2, "relu_bias": 6}
_POINTERS = {4, 36, 164, 208, 256, 512, 6}  # epilogues that read or write a vector
_SECONDS = {160, 164, 192, 208}  # those with an auxiliary matrix

WORKSPACE = 32 << 20  # bytes; what NVIDIA advises for Hopper


class _Heuristic(ctypes.Structure):
    _fields_ = (
        ("algo", c_uint64 * 8),
        ("workspace", c_size_t),
        ("state", c_int32),
        ("waves", c_float),
        ("reserved", c_int32 * 4),
    )


@cache
def _handle() -> tuple[Any, c_void_p]:
    lt = library("cublasLt")
    handle = c_void_p()
    check("cublasLtCreate", lt.cublasLtCreate(byref(handle)))
    return lt, handle


_rooms: dict[int, int] = {}
_room_memory: list[Any] = []


def _workspace(stream: int) -> int:
    """New scratch memory for a stream: products on one stream come one after the other."""
    _room_memory.append(pool.malloc(WORKSPACE))  # (not of a graph that is being captured)
    found = _rooms[stream] = int(_room_memory[-1].ptr)
    return found


def knows(dtype: Any) -> bool:
    """Does the library multiply this type?"""
    return dtype in _TYPES


def layout(a: Any) -> tuple[bool, int] | None:
    """Of the last two dimensions: are they stored transposed, and the distance of rows; None if BLAS cannot read them."""
    rows, columns = a.shape[-2:]
    size = a.itemsize
    row, column = a.strides[-2] // size, a.strides[-1] // size
    if column == 1 or columns == 1:
        if rows == 1 or row >= max(1, columns):
            return False, max(row if rows > 1 else columns, columns, 1)
    if row == 1 or rows == 1:
        if columns == 1 or column >= max(1, rows):
            return True, max(column if columns > 1 else rows, rows, 1)
    return None


class Plan:
    """Descriptors, algorithm and arguments of one kind of product. The arguments are C values that are filled anew: converting
    sixteen of them at each call would cost more than everything else."""

    def __init__(self, a: Any, b: Any, out: Any, epilogue: int) -> None:
        lt, handle = _handle()
        kind, double = _TYPES[a.dtype], a.dtype.itemsize == 8
        compute = _COMPUTE_F64 if double else _COMPUTE_F32
        if kind == _F32 and precision.products:
            compute = _COMPUTE_TF32
        (ta, lda), (tb, ldb), (_, ldc) = layout(a), layout(b), layout(out)  # type: ignore[misc]
        (m, k), n = a.shape[-2:], b.shape[-1]
        self.desc = c_void_p()
        check(
            "cublasLtMatmulDescCreate", lt.cublasLtMatmulDescCreate(byref(self.desc), compute, _F64 if double else _F32)
        )
        self._set(_TRANS_A, c_int32(int(tb)))
        self._set(_TRANS_B, c_int32(int(ta)))
        self.vector, self.aux = c_void_p(256), c_void_p(256)  # the heuristic looks at their alignment
        if epilogue != 1:
            self._set(_EPILOGUE, c_uint32(epilogue))
        if epilogue in _SECONDS:
            self._set(_AUX_LD, c_int64(ldc))
            self._set(_AUX, self.aux)
        if epilogue in _POINTERS:
            self._set(_BIAS, self.vector)
        batch, (sa, sb, sc) = (a.shape[0] if a.ndim == 3 else 1), [_batch_stride(x) for x in (a, b, out)]
        # Column-major, and in the other order: the first operand is b (n x k), the second a (k x m).
        self.layouts = (
            _matrix(lt, kind, (k, n) if tb else (n, k), ldb, batch, sb),
            _matrix(lt, kind, (m, k) if ta else (k, m), lda, batch, sa),
            _matrix(lt, _TYPES[out.dtype], (n, m), ldc, batch, sc),
        )
        number: Any = ctypes.c_double if double else c_float
        self.alpha, self.beta = number(1), number(0)
        self.algo = self._choose(lt, handle)
        self.first, self.second, self.third, self.stream = c_void_p(), c_void_p(), c_void_p(), c_void_p()
        self.room = c_void_p()
        lb, la, lc = self.layouts
        self.matmul = lt.cublasLtMatmul
        self.arguments = (
            handle, self.desc, byref(self.alpha), self.first, lb, self.second, la, byref(self.beta), self.third, lc,
            self.third, lc, byref(self.algo), self.room, c_size_t(WORKSPACE), self.stream,
        )  # fmt: skip

    def _set(self, attribute: int, value: Any) -> None:
        lt, _ = _handle()
        status = lt.cublasLtMatmulDescSetAttribute(self.desc, attribute, byref(value), c_size_t(ctypes.sizeof(value)))
        check("cublasLtMatmulDescSetAttribute", status)

    def _choose(self, lt: Any, handle: c_void_p) -> _Heuristic:
        preference = c_void_p()
        check("cublasLtMatmulPreferenceCreate", lt.cublasLtMatmulPreferenceCreate(byref(preference)))
        size = c_size_t(WORKSPACE)
        check(
            "preference", lt.cublasLtMatmulPreferenceSetAttribute(preference, _MAX_WORKSPACE, byref(size), c_size_t(8))
        )
        found, count = _Heuristic(), c_int()
        first, second, third = self.layouts
        status = lt.cublasLtMatmulAlgoGetHeuristic(
            handle, self.desc, first, second, third, third, preference, 1, byref(found), byref(count)
        )
        check("cublasLtMatmulAlgoGetHeuristic", status)
        lt.cublasLtMatmulPreferenceDestroy(preference)
        if not count.value:
            raise LibraryError("cuBLASLt has no algorithm for this product")
        return found

    def run(self, a: Any, b: Any, c: Any, vector: Any = None, aux: Any = None, beta: float = 0.0) -> None:
        """Multiply arrays that lie as those the plan was made for."""
        stream = cupy.cuda.get_current_stream().ptr
        with _lock:  # the arguments are filled and used
            if vector is not None and vector.data.ptr != self.vector.value:
                self.vector.value = vector.data.ptr
                self._set(_BIAS, self.vector)
            if aux is not None and aux.data.ptr != self.aux.value:
                self.aux.value = aux.data.ptr
                self._set(_AUX, self.aux)
            self.beta.value, self.stream.value, self.room.value = beta, stream, _rooms.get(stream) or _workspace(stream)
            self.first.value, self.second.value, self.third.value = b.data.ptr, a.data.ptr, c.data.ptr
            status = self.matmul(*self.arguments)
        if status:
            check("cublasLtMatmul", status)


def _batch_stride(x: Any) -> int:
    return int(x.strides[0] // x.itemsize) if x.ndim == 3 else 0


def _matrix(lt: Any, kind: int, shape: tuple[int, int], ld: int, batch: int, stride: int) -> c_void_p:
    made = c_void_p()
    status = lt.cublasLtMatrixLayoutCreate(byref(made), kind, c_uint64(shape[0]), c_uint64(shape[1]), c_int64(ld))
    check("cublasLtMatrixLayoutCreate", status)
    if batch > 1:
        for attribute, value in ((_BATCH_COUNT, c_int32(batch)), (_BATCH_STRIDE, c_int64(stride))):
            status = lt.cublasLtMatrixLayoutSetAttribute(made, attribute, byref(value), c_size_t(ctypes.sizeof(value)))
            check("cublasLtMatrixLayoutSetAttribute", status)
    return made


_plans: dict[Any, Plan] = {}
_lock = threading.Lock()


def product(
    a: Any, b: Any, *, out: Any = None, epilogue: str = "", vector: Any = None, aux: Any = None, add: bool = False
) -> Any:
    """`a @ b` of two matrices, or of two batches of them with one batch dimension (of which one may have stride 0).

    epilogue  a name of EPILOGUES; `vector` is its bias (or receives the bias' gradient), `aux` its auxiliary matrix
    add       the product is added to what `out` holds
    """
    if layout(a) is None:
        a = cupy.ascontiguousarray(a)
    if layout(b) is None:
        b = cupy.ascontiguousarray(b)
    if out is None:
        m, n = a.shape[-2], b.shape[-1]
        out = new((m, n) if a.ndim == 2 else (a.shape[0], m, n), a.dtype)
    plan_for(a, b, out, epilogue).run(a, b, out, vector, aux, 1.0 if add else 0.0)
    return out


def plan_for(a: Any, b: Any, out: Any, epilogue: str = "") -> Plan:
    """The plan of a product of matrices that lie so."""
    key = (a.shape, a.strides, b.shape, b.strides, a.dtype, out.strides, out.dtype, epilogue, precision.products)
    plan = _plans.get(key)
    if plan is None:
        plan = _plans[key] = Plan(a, b, out, EPILOGUES[epilogue])
    return plan
