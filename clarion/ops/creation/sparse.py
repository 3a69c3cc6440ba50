"""The public faces of sparse tensors. What they do is in `clarion/sparse`, which is loaded when the first is used."""

from __future__ import annotations

import importlib
from typing import Any

from ...errors import EngineError
from ..faces.api import FUNCTIONS, METHODS

_MAKERS = {
    "sparse_coo_tensor": "A sparse tensor from places and values.",
    "sparse_csr_tensor": "A sparse matrix with compressed rows.",
    "sparse_csc_tensor": "A sparse matrix with compressed columns.",
    "sparse_bsr_tensor": "A sparse matrix of blocks, with compressed rows of them.",
    "sparse_bsc_tensor": "A sparse matrix of blocks, with compressed columns of them.",
    "sparse_compressed_tensor": "A sparse matrix with compressed rows or columns, as `layout` says.",
}
_PRODUCTS = {
    "smm": "The product of a sparse and a dense matrix.",
    "spmm": "The product of a sparse and a dense matrix.",
    "dsmm": "The product of a sparse and a dense matrix.",
    "hspmm": "The product of a sparse and a dense matrix.",
    "sspaddmm": "beta * input + alpha * (mat1 @ mat2), all of it sparse.",
}
_CONVERTERS = (
    "to_sparse", "to_sparse_coo", "to_sparse_csr", "to_sparse_csc", "to_sparse_bsr", "to_sparse_bsc", "sparse_mask",
)  # fmt: skip
_QUESTIONS = (
    "coalesce", "_coalesced_", "is_coalesced", "indices", "values", "_indices", "_values", "_nnz", "crow_indices", "col_indices",
    "ccol_indices", "row_indices", "sparse_resize_", "sparse_resize_and_clear_", "resize_as_sparse_",
)  # fmt: skip


_EXPECTED = {
    **dict.fromkeys(("coalesce", "is_coalesced", "indices"), "coordinate "),
    **dict.fromkeys(("crow_indices", "col_indices"), "row compressed "),
    **dict.fromkeys(("ccol_indices", "row_indices"), "column compressed "),
}


def _handler(name: str) -> Any:
    for each in ("making", "shapes", "operations", "products", "questions"):
        importlib.import_module(f"clarion.sparse.{each}")
    return importlib.import_module("clarion.sparse.tensor").HANDLERS[name]


def _maker(name: str) -> Any:
    def make(*args: Any, **options: Any) -> Any:
        _handler("to_sparse")
        return getattr(importlib.import_module("clarion.sparse.making"), name)(*args, **options)

    return make


def _converter(name: str) -> Any:
    def convert(self: Any, *args: Any, **options: Any) -> Any:
        return _handler(name)(self, *args, **options)

    return convert


def _question(name: str) -> Any:
    def ask(self: Any, *args: Any, **options: Any) -> Any:
        """Of a dense tensor: there is no answer."""
        raise EngineError(f"{name} expected sparse {_EXPECTED.get(name, '')}tensor layout but got Strided")

    return ask


def _declare(table: Any, name: str, function: Any, words: str = "") -> None:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = words or function.__doc__
    table[name] = function


for _name in _MAKERS:
    _declare(FUNCTIONS, _name, _maker(_name), _MAKERS[_name])
for _name in _PRODUCTS:
    _declare(FUNCTIONS, _name, _converter(_name), _PRODUCTS[_name])
    if _name in ("smm", "sspaddmm"):
        METHODS[_name] = FUNCTIONS[_name]
for _name in _CONVERTERS:
    _declare(METHODS, _name, _converter(_name))
for _name in _QUESTIONS:
    _declare(METHODS, _name, _question(_name))


def _to_dense(self: Any, dtype: Any = None, *, masked_grad: Any = None) -> Any:
    """All elements: of a dense tensor itself."""
    return self if dtype is None else self.to(dtype)


_declare(METHODS, "to_dense", _to_dense)
_declare(METHODS, "sparse_dim", lambda self: 0)
_declare(METHODS, "dense_dim", lambda self: self.dim())


def _to_csr(rows: Any, size: int, *, out_int32: bool = False) -> Any:
    """Where rows begin, from the (ordered) row of each entry."""
    from ...core.tensor import new_tensor
    from ...kernels.coo import pointers_of

    made = new_tensor(pointers_of(rows._array, size))
    return made.int() if out_int32 else made


def _to_coo(crow: Any, columns: Any, *, out_int32: bool = False, transpose: bool = False) -> Any:
    """The row and column of each entry, from where rows begin."""
    from ...core.tensor import new_tensor
    from ...kernels.coo import rows_of

    rows = new_tensor(rows_of(crow._array)).to(columns.dtype)
    made = FUNCTIONS["stack"]((columns, rows) if transpose else (rows, columns))
    return made.int() if out_int32 else made


def _validator(maker: str) -> Any:
    """Parts are looked at where a sparse tensor is made."""

    def validate(*parts: Any, **options: Any) -> None:
        """Refuse parts that make no sparse tensor."""
        if maker == "sparse_compressed_tensor":
            parts, options["layout"] = parts[:-1], parts[-1]
        FUNCTIONS[maker](*parts, check_invariants=True, **options)

    return validate


for _name in _MAKERS:
    _declare(FUNCTIONS, f"_validate_{_name}_args", _validator(_name))
_declare(FUNCTIONS, "_convert_indices_from_coo_to_csr", _to_csr)
_declare(FUNCTIONS, "_convert_indices_from_csr_to_coo", _to_coo)
