"""Embedding and the parts of its gradient."""

from __future__ import annotations

from ..row import Row, either


def rows_and_indices(rng):
    return [rng.standard_normal((6, 4)), rng.integers(0, 6, (3, 5))]


def gradient_rows(rng):
    return [rng.standard_normal((3, 5, 4)), rng.integers(0, 6, (3, 5))]


def dense(t, g, indices, padding=-1, scale=False):
    """The gradient of an embedding in PyTorch."""
    return t.ops.aten.embedding_dense_backward(g, indices, 6, padding, scale)


ROWS = [
    Row("embedding", lambda t, w, i: t.nn.functional.embedding(i, w), inputs=rows_and_indices, ref=lambda w, i: w[i]),
    Row(
        "embedding",
        lambda t, w, i: t.nn.functional.embedding(i, w, 2),
        inputs=rows_and_indices,
        label="padding",
        numeric=False,
    ),
    Row(
        "embedding",
        lambda t, w, i: t.nn.functional.embedding(i, w, 2, scale_grad_by_freq=True),
        inputs=rows_and_indices,
        label="frequency",
        numeric=False,
    ),
]

# Parts of gradients: their own derivatives are what second derivatives are made of.
ROWS += [
    Row(
        "embedding_dense_backward",
        either("embedding_dense_backward", (6, 2, False), lambda t, g, i: dense(t, g, i, 2)),
        inputs=gradient_rows,
        label="padding",
    ),
    Row(  # PyTorch's own derivative of this one forgets the frequencies
        "embedding_dense_backward",
        either("embedding_dense_backward", (6, 2, True), lambda t, g, i: dense(t, g, i, 2, True)),
        inputs=gradient_rows,
        grad=(),
        label="frequency",
        numeric=False,
    ),
    Row(
        "embedding_dense_backward",
        either("embedding_dense_backward", (6, -1, False), dense),
        inputs=gradient_rows,
        label="plain",
    ),
    Row(
        "zero_rows_at",
        either("zero_rows_at", (2,), lambda t, x, i: x.masked_fill((i == 2)[..., None], 0)),
        inputs=gradient_rows,
    ),
    Row(
        "index_counts",
        either("index_counts", (6,), lambda t, i: t.bincount(i.reshape(-1), minlength=6)[i][..., None].double()),
        inputs=lambda rng: [rng.integers(0, 6, (3, 5))],
        grad=(),
    ),
]
