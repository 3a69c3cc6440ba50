"""Products of sparse tensors: of empty batches, of rows."""

from __future__ import annotations

from .programs import refusal


def products_of_empty_batches(t):
    found = []
    for batch, rows, inner, columns in ((0, 2, 3, 4), (2, 0, 3, 4), (2, 3, 0, 4), (2, 3, 4, 0), (1, 0, 0, 2)):
        x = t.zeros(batch, rows, inner).to_sparse()
        found.append(tuple(t.bmm(x, t.ones(batch, inner, columns)).shape))
    x = t.tensor([[[1.0, 0, 2], [0, 0, 0]]]).to_sparse()
    return found, [refusal(lambda: t.bmm(x, t.ones(shape))) for shape in ((1, 4, 2), (2, 3, 2), (1, 6, 1))]


def rows_of_a_product(t):
    """`hspmm` keeps the rows that the first matrix has entries in, also where they come to nothing."""
    x = t.tensor([[1.0, -1, 0], [0, 0, 0], [0, 3, 0]]).to_sparse()
    y = t.hspmm(x, t.ones(3, 2))
    return (
        str(y.layout), y.sparse_dim(), y.dense_dim(), y._indices().tolist(), y._values().tolist(), y.is_coalesced(),
        tuple(t.hspmm(t.zeros(2, 3).to_sparse(), t.ones(3, 0)).shape), refusal(lambda: t.hspmm(x, t.ones(2, 2))),
    )  # fmt: skip
