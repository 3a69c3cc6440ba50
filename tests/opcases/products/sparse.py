"""Rows of products with sparse matrices."""

from __future__ import annotations

import numpy as np

from ..row import Row

AT = ([0, 1, 1, 2, 0], [2, 0, 2, 1, 2])  # one place twice


def _product(t, values, dense):
    return t.sparse.mm(t.sparse_coo_tensor(t.tensor(AT), values, (3, 4)), dense)


def _reference(values, dense):
    matrix = np.zeros((3, 4), values.dtype)
    np.add.at(matrix, AT, values)
    return matrix @ dense


def _picked(t, weight):
    return t.nn.functional.embedding(t.tensor([[1, 2], [1, 0]]), weight, sparse=True)


def _gathered(t, x):
    return x.gather(0, t.tensor([[0, 2]]), sparse_grad=True)


ROWS = [
    Row("coo_mm", _product, ((5,), (4, 2)), _reference, dtypes=("complex128",)),
    Row("sparse_gather", _gathered, ((3, 2),), lambda x: x[[0, 2], [0, 1]][None], grad=()),
    Row("sparse_embedding", _picked, ((4, 3),), lambda w: w[np.array([[1, 2], [1, 0]])], grad=()),
]
