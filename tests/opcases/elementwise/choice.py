"""Comparison, logic, bits, choosing between values and writing over."""

from __future__ import annotations

import numpy as np

from ..row import Row

V, PAIR, TRIPLE = (3, 4), ((3, 4), (3, 4)), ((3, 4), (3, 4), (3, 4))
MORE = (((3, 4), (4,)), ((), ()), ((0, 4), (4,)), ((3, 1), (1, 4)))
ANY = ("int64", "uint8", "bool", "float16", "bfloat16")


def integers(rng: np.random.Generator) -> list[np.ndarray]:
    """Small positive integers."""
    return [rng.integers(1, 20, V), rng.integers(1, 6, V)]


def masked(rng: np.random.Generator) -> list[np.ndarray]:
    """Values and a mask."""
    return [rng.uniform(-2, 2, V), rng.random(V) < 0.5]


def masked_value(rng: np.random.Generator) -> list[np.ndarray]:
    """Values, a mask and one value."""
    return [*masked(rng), np.asarray(rng.uniform(-2, 2))]


def chosen(rng: np.random.Generator) -> list[np.ndarray]:
    """A condition and two choices."""
    return [rng.random(V) < 0.5, rng.uniform(-2, 2, V), rng.uniform(-2, 2, (4,))]


def bounded(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """clamp, in NumPy."""
    return np.minimum(np.maximum(x, low), high)


ROWS = [
    *[Row(name, lambda t, x, y, name=name, **k: getattr(t, name)(x, y, **k), PAIR, ref, grad=(), out=True, dtypes=ANY,
          edge_shapes=MORE)
      for name, ref in {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
                        "ge": np.greater_equal}.items()],
    *[Row(name, lambda t, x, y, name=name, **k: getattr(t, name)(x, y, **k), PAIR, getattr(np, name), grad=(), out=True,
          dtypes=ANY, edge_shapes=MORE) for name in ("logical_and", "logical_or", "logical_xor")],
    Row("logical_not", lambda t, x, **k: t.logical_not(x, **k), (V,), np.logical_not, grad=(), out=True, dtypes=ANY),
    *[Row(name, lambda t, x, y, name=name, **k: getattr(t, name)(x, y, **k), ref=getattr(np, name), inputs=integers,
          inplace=lambda t, x, y, name=name: getattr(x, name + "_")(y), grad=(), out=True)
      for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm")],
    Row("bitwise_not", lambda t, x, y: ~x, ref=lambda x, y: ~x, inputs=integers, grad=()),
    Row("bitwise_left_shift", lambda t, x, y: x << y, ref=np.left_shift, inputs=integers, grad=()),
    Row("bitwise_right_shift", lambda t, x, y: x >> y, ref=np.right_shift, inputs=integers, grad=()),
    Row("isclose", lambda t, x, y: t.isclose(x, y, rtol=0.1, atol=0.5), PAIR, lambda x, y: np.isclose(x, y, 0.1, 0.5),
        grad=(), edge_shapes=MORE),
    Row("where", lambda t, c, x, y: t.where(c, x, y), ref=np.where, inputs=chosen),
    Row("where", lambda t, c, x, y: t.where(c, x, 1.5), ref=lambda c, x, y: np.where(c, x, 1.5), inputs=chosen, label="number",
        grad=(1,)),
    Row("clamp", lambda t, x, **k: t.clamp(x, -1, 1, **k), (V,), lambda x: bounded(x, -1, 1),
        inplace=lambda t, x: x.clamp_(-1, 1), out=True, dtypes=("int64", "float16", "bfloat16")),
    Row("clamp", lambda t, x: t.clamp(x, max=0.5), (V,), lambda x: np.minimum(x, 0.5), label="above"),
    Row("clamp_tensor", lambda t, x, low, high, **k: t.clamp(x, low, high, **k), TRIPLE, bounded,
        inplace=lambda t, x, low, high: x.clamp_(low, high), out=True, dtypes=("int64", "float16", "bfloat16")),
    Row("clamp_min", lambda t, x, **k: t.clamp_min(x, 0.2, **k), (V,), lambda x: np.maximum(x, 0.2),
        inplace=lambda t, x: x.clamp_min_(0.2), out=True, dtypes=("float16", "bfloat16")),
    Row("clamp_max", lambda t, x, **k: t.clamp_max(x, 0.2, **k), (V,), lambda x: np.minimum(x, 0.2),
        inplace=lambda t, x: x.clamp_max_(0.2), out=True, dtypes=("float16", "bfloat16")),
    Row("clamp_min_tensor", lambda t, x, y: t.clamp_min(x, y), PAIR, np.maximum, inplace=lambda t, x, y: x.clamp_min_(y)),
    Row("clamp_max_tensor", lambda t, x, y: t.clamp_max(x, y), PAIR, np.minimum, inplace=lambda t, x, y: x.clamp_max_(y)),
    *[Row(name, lambda t, x, y, name=name, **k: getattr(t, name)(x, y, **k), PAIR, getattr(np, name), out=True, dtypes=ANY,
          edge_shapes=MORE) for name in ("minimum", "maximum", "fmin", "fmax")],
    Row("masked_fill", lambda t, x, m: x.masked_fill(m, 1.5), ref=lambda x, m: np.where(m, 1.5, x), inputs=masked,
        inplace=lambda t, x, m: x.masked_fill_(m, 1.5)),
    Row("masked_fill_tensor", lambda t, x, m, v: x.masked_fill(m, v), ref=lambda x, m, v: np.where(m, v, x),
        inputs=masked_value, inplace=lambda t, x, m, v: x.masked_fill_(m, v)),
    Row("zero", lambda t, x: (x * 1).zero_(), (V,), np.zeros_like),
    Row("copy", lambda t, x, y: (x * 1).copy_(y), PAIR, lambda x, y: np.broadcast_to(y, x.shape),
        edge_shapes=(((3, 4), (4,)), ((), ()), ((0, 4), (4,)))),
    Row("fill", lambda t, x: t.fill(x, 2.5), (V,), lambda x: np.full_like(x, 2.5)),
    Row("fill_tensor", lambda t, x, y: t.fill(x, y), (V, ()), lambda x, y: np.full_like(x, y)),
    Row("fill_scalar_into", lambda t, x: (x * 1).fill_(2.5), (V,), lambda x: np.full_like(x, 2.5)),
    Row("fill_tensor_into", lambda t, x, y: (x * 1).fill_(y), (V, ()), lambda x, y: np.full_like(x, y)),
]  # fmt: skip
