"""segment_reduce: consecutive segments of a dimension, empty ones among them."""

from itertools import pairwise

import numpy as np

from ..row import Row

CUTS = [0, 2, 2, 6]


def _by_numpy(reduce, empty):
    def run(x):
        return np.array([reduce(x[a:b], axis=0) if b > a else np.full(x.shape[1:], empty) for a, b in pairwise(CUTS)])

    return run


def _call(reduce, **options):
    return lambda t, x: t.segment_reduce(x, reduce, offsets=t.tensor(CUTS), **options)


def _by_length(t, x):
    lengths = t.tensor([[1, 3, 0], [2, 0, 2]])
    return t.segment_reduce(x, "mean", lengths=lengths, axis=1, initial=1.5)


def _apart(rng):
    return (rng.permutation(18).reshape(6, 3) / 4.0,)


def _weights(t, x):
    if hasattr(t, "core"):
        index = t.tensor([0, 0, 2, 2, 2, 2]).reshape(6, 1).expand(6, 3)
        out = t.segment_reduce(x, "prod", offsets=t.tensor(CUTS))
        return t.core.namespace.OPS["segment_weights"].call(x, index, out, 0, 3, "prod", None)
    x = x.detach().requires_grad_()
    return t.autograd.grad(t.segment_reduce(x, "prod", offsets=t.tensor(CUTS)).sum(), x)[0]


ROWS = [
    Row("segment_reduce", _call("sum"), ((6, 3),), _by_numpy(np.sum, 0), second=False),
    Row("segment_reduce", _by_length, ((2, 4, 3),), second=False, label="averaged"),
    Row("segment_reduce", _call("prod"), ((6, 3),), _by_numpy(np.prod, 1), second=False, label="prod"),
    Row(
        "segment_reduce",
        _call("max"),
        inputs=_apart,
        ref=_by_numpy(np.max, -np.inf),
        second=False,
        grad=(),
        label="max",
    ),
    Row("segment_reduce", _call("min", initial=1.6), inputs=_apart, second=False, label="min"),
    Row("segment_weights", _weights, ((6, 3),), grad=()),
]
