"""What holds for any shape and any values: broadcasting, reductions, reshaping, indexing, joining, recording."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("hypothesis", reason="the programs are drawn by hypothesis")

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

import clarion as torch

SIDES = hn.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
SOLID = hn.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4)
OPERATORS = [
    lambda x, y: x + y,
    lambda x, y: x - 2 * y,
    lambda x, y: x * y,
    lambda x, y: x / (y * y + 1),
]


def values(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Random numbers of a shape."""
    return np.random.default_rng(seed).standard_normal(shape)


def leaf(array: Any) -> Any:
    """A tensor that wants a gradient."""
    return torch.from_numpy(np.array(array)).requires_grad_(True)


@given(hn.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=4, min_side=0), st.sampled_from(OPERATORS))
def test_broadcasting(shapes, operator):
    a, b = (values(shape, seed) for seed, shape in enumerate(shapes.input_shapes))
    x, y = leaf(a), leaf(b)
    out = operator(x, y)
    np.testing.assert_allclose(out.detach().numpy(), operator(a, b))
    assert tuple(out.shape) == shapes.result_shape
    # The gradient of a broadcast input is the gradient of the expanded one, summed over what was expanded.
    wide = [leaf(np.broadcast_to(each, shapes.result_shape)) for each in (a, b)]
    weights = torch.from_numpy(values(shapes.result_shape, 2))
    (out * weights).sum().backward()
    (operator(*wide) * weights).sum().backward()
    for narrow, full in zip((x, y), wide, strict=True):
        assert narrow.grad.shape == narrow.shape
        np.testing.assert_allclose(narrow.grad.numpy(), full.grad.sum_to_size(narrow.shape).numpy(), atol=1e-12)


@given(SOLID.flatmap(lambda shape: st.tuples(st.just(shape), hn.valid_tuple_axes(len(shape)))), st.booleans())
def test_reductions(case, keepdim):
    shape, dims = case
    a = values(shape)
    x = leaf(a)
    axes = dims or tuple(range(len(shape)))  # PyTorch reduces all of them for ()
    for ours, theirs in ((torch.sum, np.sum), (torch.mean, np.mean), (torch.amax, np.max)):
        got = ours(x, dims, keepdim=keepdim)
        np.testing.assert_allclose(got.detach().numpy(), theirs(a, axis=axes, keepdims=keepdim), atol=1e-12)
    weights = values(np.sum(a, axis=axes, keepdims=True).shape, 1)
    total = (torch.sum(x, dims, keepdim=True) * torch.from_numpy(weights)).sum()
    (grad,) = torch.autograd.grad(total, x)
    np.testing.assert_allclose(grad.numpy(), np.broadcast_to(weights, shape))


@given(SIDES, st.data())
def test_shape_round_trips(shape, data):
    a = values(shape)
    x = leaf(a)
    order = data.draw(st.permutations(range(len(shape))))
    there = x.permute(*order) if shape else x
    np.testing.assert_array_equal(there.detach().numpy(), a.transpose(order))
    back = there.permute(*np.argsort(order).tolist()) if shape else there
    flat = back.reshape(-1).reshape(shape)
    assert torch.equal(flat, x)
    weights = torch.from_numpy(values(shape, 1))
    (flat * weights).sum().backward()
    assert torch.equal(x.grad, weights)


@given(SOLID.flatmap(lambda shape: st.tuples(st.just(shape), hn.basic_indices(shape, allow_newaxis=True))))
def test_indexing(case):
    shape, index = case
    steps = index if isinstance(index, tuple) else (index,)
    if any(isinstance(step, slice) and (step.step or 1) < 0 for step in steps):
        return  # PyTorch has no negative steps
    a = values(shape)
    x = leaf(a)
    got = x[index]
    np.testing.assert_array_equal(got.detach().numpy(), a[index])
    # What is read is what gets the gradient, and writing it back changes nothing.
    got.sum().backward()
    mask = np.zeros(shape)
    mask[index] = 1
    np.testing.assert_array_equal(x.grad.numpy(), mask)
    written = x.detach().clone()
    written[index] = got.detach()
    assert torch.equal(written, x.detach())
    written[index] = 7.0
    b = a.copy()
    b[index] = 7.0
    np.testing.assert_array_equal(written.numpy(), b)


@given(SOLID, st.data())
def test_split_and_cat(shape, data):
    a = values(shape)
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    size = data.draw(st.integers(1, shape[dim] + 1))
    x = leaf(a)
    parts = x.split(size, dim)
    assert sum(part.shape[dim] for part in parts) == shape[dim]
    whole = torch.cat([part * 2 for part in parts], dim)
    np.testing.assert_array_equal(whole.detach().numpy(), 2 * a)
    whole.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.full(shape, 2.0))


@given(SOLID, st.data())
def test_gather_is_the_adjoint_of_scatter_add(shape, data):
    dim = data.draw(st.integers(0, len(shape) - 1))
    n = data.draw(st.integers(1, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    index = torch.from_numpy(rng.integers(0, shape[dim], [n if d == dim else side for d, side in enumerate(shape)]))
    x, y = torch.from_numpy(values(shape)), torch.from_numpy(rng.standard_normal(index.shape))
    left = (x.gather(dim, index) * y).sum()
    right = (x * torch.zeros(shape, dtype=torch.float64).scatter_add(dim, index, y)).sum()
    torch.testing.assert_close(left, right)


UNARY = [torch.sin, torch.exp, torch.tanh, torch.square, torch.abs, torch.sigmoid]


@given(st.lists(st.sampled_from(UNARY), min_size=1, max_size=6), SIDES)
def test_chains_differentiate_as_products(functions, shape):
    x = leaf(0.5 * values(shape))
    out, slope = x, torch.ones(shape, dtype=torch.float64)
    for function in functions:
        point = out.detach().requires_grad_(True)
        slope = slope * torch.autograd.grad(function(point).sum(), point)[0]
        out = function(out)
    out.sum().backward()
    torch.testing.assert_close(x.grad, slope)


@given(SOLID, st.integers(1, 3), st.integers(2, 4))
def test_leaves_that_share_a_gradient_accumulate_for_themselves(shape, passes, count):
    """An operation hands one gradient to all of its inputs; each leaf adds up its own."""
    leaves = [leaf(values(shape, seed)) for seed in range(count)]
    weights = torch.from_numpy(values(shape, count))
    for _ in range(passes):
        (sum(leaves[1:], leaves[0]) * weights).sum().backward()
    for each in leaves:
        np.testing.assert_allclose(each.grad.numpy(), passes * weights.numpy(), rtol=1e-12)
    leaves[0].grad.zero_()
    np.testing.assert_allclose(leaves[1].grad.numpy(), passes * weights.numpy(), rtol=1e-12)


CONSTANTS = [
    lambda x, c: torch.nn.functional.leaky_relu(x, c),
    lambda x, c: torch.nn.functional.softplus(x, c),
    lambda x, c: torch.lerp(x, x * 2, c),
    lambda x, c: torch.add(x, x, alpha=c),
    lambda x, c: torch.addcmul(x, x, x, value=c),
    lambda x, c: x.clamp(-c, c) * c,
    lambda x, c: x.var(correction=c),
]


@given(
    st.sampled_from(CONSTANTS),
    st.sampled_from([np.float64, np.float32, np.int64]),
    st.sampled_from(["float32", "float64"]),
)
def test_a_number_of_numpys_counts_as_one_of_pythons(function, kind, dtype):
    """As a constant of an operation it decides no type: not of the result, not of the gradient."""
    x = torch.tensor([[0.25, -2.0, 1.5]], dtype=getattr(torch, dtype), requires_grad=True)
    given_, plain = function(x, kind(2)), function(x, 2.0 if kind is not np.int64 else 2)
    assert given_.dtype == plain.dtype == x.dtype
    assert torch.equal(given_, plain)
    grads = [torch.autograd.grad(each.sum(), x)[0] for each in (given_, plain)]
    assert grads[0].dtype == x.dtype
    assert torch.equal(*grads)


@settings(max_examples=4)
@given(st.lists(st.sets(st.integers(0, 2), min_size=1), min_size=4, max_size=6))
def test_compiled_results_may_be_used_in_part(uses):
    """Whichever results of a compiled function are differentiated, and in whatever order: the gradients are the function's own."""
    x = torch.tensor([0.0, 1.0, 2.0])
    w, v = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)

    def function(x):
        return (x * w).sqrt(), (x * w * 2).sum(), v * x

    compiled = torch.compile(function)
    for use in uses:
        found = []
        for run in (function, compiled):
            results = run(x)
            total = sum((results[i].sum() for i in sorted(use)), torch.zeros(()))
            found.append(torch.autograd.grad(total, (w, v), allow_unused=True))
        for ours, own in zip(*found, strict=True):
            assert (ours is None) == (own is None)
            if own is not None:
                np.testing.assert_allclose(ours.numpy(), own.numpy(), rtol=1e-6)
