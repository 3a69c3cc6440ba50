"""Products as functions of NumPy's, and what is offered of them: transposes are strides, a batch is one call, a bias is where sums begin."""

from __future__ import annotations

import ctypes
import functools
from array import array
from dataclasses import replace
from typing import Any

import numpy as np

from .... import config
from ...portable.products.matmul import _rows
from ...registry import offer
from .. import build, machine, ufuncs
from ..places import address
from ..text import module
from . import blocks, few_rows, packed, rooms
from .tiles import shape_for

_ANY = config.COMPILE == "all"
LEAST = (
    1 if _ANY else 1 << 18
)  # multiplications from which a product is worth the call: BLAS takes several threads from here on
LEAST_OF_BATCH = 1 if _ANY else 1 << 17  # the same where BLAS would need more than one call
LEAST_WITH_BIAS = 1 if _ANY else 80_000  # and more than one pass (OpenBLAS packs from here on, too)
ELEMENTS = 1 if _ANY else 512  # of the first operand: with fewer nobody asks
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


class Products:
    """The functions of one type: of matrices, with a bias, of batches with one dimension or two."""

    def __init__(self, dtype: Any, pairs: bool = False) -> None:
        x86, width = machine.x86(), machine.processor()[1]
        shape = replace(shape_for("double" if dtype is F64 else "float", width, x86), pairs=pairs)
        engine = machine.compiled(module([*blocks.functions(shape, x86), *packed.functions(shape)], rooms.GLOBALS))
        running = build.running()
        plan = (ctypes.c_int64 * 2)(running.parallel, running.threads)
        self.place = machine.address(engine, "product")
        self.run = machine.callable_at(self.place, None, ctypes.c_void_p)
        self.block = machine.address(engine, "block")
        self.packed, self.columns = machine.address(engine, "packed_product"), shape.columns
        self.pack = machine.address(engine, "pack")
        for name, (_, bias, signature) in blocks.FORMS.items():
            inputs = 3 if bias else 2
            loop = machine.address(engine, name)
            setattr(self, name, ufuncs.make(name, loop, plan, [dtype] * (inputs + 1), inputs, signature))

    place: int  # of the product itself, which takes a context (blocks.py)
    run: Any  # the same, to be called
    block: int  # of the product of two matrices on one thread
    packed: int  # of the product with a matrix in panels (packed.py)
    columns: int  # of a panel
    pack: int  # of what brings a matrix into panels
    matrices: Any
    with_bias: Any
    batch: Any
    batches: Any


@functools.cache
def products(dtype: Any) -> Products | None:
    """The functions of a type, compiled at first use; None where there are none."""
    if dtype is not F32 and dtype is not F64:
        return None
    try:
        return Products(dtype) if machine.multiplies_and_adds() else None
    except machine.NoCompiler:
        return None


@functools.cache
def products_of_pairs() -> Products | None:
    """The functions of pairs of bfloat16 (each in the place of a float32); None where the processor cannot multiply those."""
    if "avx512_bf16" not in machine.processor()[0].split() or machine.processor()[1] != 64:
        return None
    try:
        return Products(F32, pairs=True)
    except (machine.NoCompiler, RuntimeError):  # (older compilers spell the instruction differently)
        return None


def product(x: Any, y: Any) -> Any:
    """x @ y of two matrices."""
    if x.size * y.shape[1] < LEAST or x.dtype is not y.dtype or x.shape[1] != y.shape[0]:
        return NotImplemented
    return NotImplemented if products(x.dtype) is None else with_bias(x, y)


def context_of(x: Any, y: Any, out: Any, adds: bool = False) -> Any:
    """What the product itself is told: out = x @ y, or out += x @ y."""
    running, place = build.running(), address(out)
    assert out.strides[1] == out.itemsize
    operands = address(x), address(y), place, place if adds else 0
    sizes = x.shape[0], *y.shape, 1, 1  # and the batch
    strides = *x.strides, *y.strides, out.strides[0]
    rest = (0,) * (len(blocks.FIELDS) - len(operands) - len(strides) - len(sizes) - 2)
    return array("q", (*operands, *strides, *sizes, *rest, running.parallel, running.threads))


def add_product(x: Any, y: Any, out: Any) -> Any:
    """out += x @ y, whatever the sizes; gives `out`."""
    made = products(x.dtype)
    assert made is not None
    context = context_of(x, y, out, adds=True)
    made.run(context.buffer_info()[0])
    return out


def _with_bias(x: Any, y: Any, bias: Any) -> Any:
    """The same, plus a number for each column."""
    if bias is None:
        return product(x, y)
    dtype = x.dtype
    if x.size * y.shape[1] < LEAST_WITH_BIAS or dtype is not y.dtype or dtype is not bias.dtype:
        return NotImplemented
    if bias.shape != y.shape[1:] or x.shape[1] != y.shape[0]:
        return NotImplemented
    return NotImplemented if products(dtype) is None else with_bias(x, y, bias)


def with_bias(x: Any, y: Any, bias: Any = None) -> Any:
    """x @ y of two matrices of a type that there are products of, whatever their sizes, plus a number for each column."""
    if bias is not None and not bias.flags.c_contiguous:
        bias = bias.copy()
    if few_rows.is_for(x, y):
        return few_rows.product(x, y, bias)
    made = products(x.dtype)
    assert made is not None
    return made.matrices(x, y) if bias is None else made.with_bias(x, y, bias)


def _fold(x: Any, y: Any) -> Any:
    """The same with any number of leading dimensions."""
    if x.ndim == 2:
        return product(x, y)
    out = product(_rows(x), y)
    return out if out is NotImplemented else out.reshape(*x.shape[:-1], y.shape[1])


def _fold_nt(x: Any, y: Any) -> Any:
    return _fold(x, y.T)


def _fold_tn(x: Any, y: Any) -> Any:
    return product(x.T, y) if x.ndim == 2 else product(_rows(x).T, _rows(y))


def _linear(x: Any, w: Any, b: Any) -> Any:
    if x.ndim == 2:
        return _with_bias(x, w.T, b)
    out = _with_bias(_rows(x), w.T, b)
    return out if out is NotImplemented else out.reshape(*x.shape[:-1], w.shape[0])


def _addmm(x: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    return _with_bias(mat1, mat2, x) if beta == 1 and alpha == 1 else NotImplemented


def batch(x: Any, y: Any) -> Any:
    """x @ y, matrix by matrix."""
    ndim = x.ndim
    if ndim != y.ndim or not 2 <= ndim <= 4 or x.shape[:-2] != y.shape[:-2]:
        return NotImplemented
    if ndim == 2:
        return product(x, y)
    if x.size * y.shape[-1] < LEAST_OF_BATCH or x.dtype is not y.dtype or x.shape[-1] != y.shape[-2]:
        return NotImplemented
    made = products(x.dtype)
    if made is None:
        return NotImplemented
    return made.batch(x, y) if ndim == 3 else made.batches(x, y)


def _batch_into(x: Any, y: Any, out: Any) -> Any:
    made = products(x.dtype) if x.dtype is y.dtype is out.dtype else None
    if made is None or x.ndim not in (3, 4) or y.ndim != x.ndim or out.strides[-1] != out.itemsize:
        return NotImplemented
    if x.shape[:-2] != y.shape[:-2] or x.size * y.shape[-1] < LEAST:
        return NotImplemented
    return made.batch(x, y, out=out) if x.ndim == 3 else made.batches(x, y, out=out)


def _batch_nt(x: Any, y: Any) -> Any:
    return batch(x, y.swapaxes(-1, -2)) if y.ndim > 1 else NotImplemented


def _batch_tn(x: Any, y: Any) -> Any:
    return batch(x.swapaxes(-1, -2), y) if x.ndim > 1 else NotImplemented


def make() -> None:
    """Make all offers."""
    offers = {
        _fold: "fold_mm mm", _fold_nt: "fold_nt mm_nt", _fold_tn: "fold_tn", _linear: "linear linear_rows",
        batch: "matmul bmm", _batch_into: "matmul_into", _batch_nt: "matmul_nt", _batch_tn: "matmul_tn",
    }  # fmt: skip
    for function, names in offers.items():
        for name in names.split():
            offer(name, "llvm", function, least=ELEMENTS)
    offer("addmm", "llvm", _addmm, least=1)
