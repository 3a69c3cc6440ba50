"""Containers with leaves, functions of lists of tensors, and factorizations that may fail: as PyTorch's."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytestmark = pytest.mark.compare

import torch
import torch.utils._pytree as their_pytree

import clarion
import clarion.utils._pytree as our_pytree

Point = namedtuple("Point", "x y")


def trees(p, lib):
    tree = {
        "a": [1, (2, Point(3, 4))],
        "b": OrderedDict(z=None),
        "c": deque([1], 3),
        "d": defaultdict(list, {1: 2}),
    }
    leaves, spec = p.tree_flatten(tree)
    triple = lib.return_types.max((lib.ones(1), lib.ones(1)))
    return [
        leaves,
        str(spec),
        (spec.num_leaves, spec.num_nodes, spec.num_children),
        str(p.tree_flatten_with_path(tree)[0]),
        [p.keystr(path) for path, _ in p.tree_leaves_with_path(tree)],
        p._get_node_type(Point(1, 2)).__name__,
        p.tree_unflatten(leaves, spec) == tree,
        p.tree_map_with_path(lambda path, x: p.keystr(path), [1, {"x": 2}]),
        str(p.treespec_loads(p.treespec_dumps(p.tree_structure([1, {"a": (2, 3)}])))),
        (p.is_namedtuple(Point(1, 2)), p.is_structseq_instance(triple), p.tree_is_leaf([]), p.tree_is_leaf(3)),
        p.tree_map_only(int, lambda x: -x, {"a": [1, "s"]}),
    ]


def test_trees():
    assert trees(our_pytree, clarion) == trees(their_pytree, torch)


def lists_of_tensors(t):
    a = [t.tensor([1.0, 2.0]), t.tensor([3.0, 4.0, 5.0])]
    b = [2 * x for x in a]
    found = [
        t._foreach_add(a, b, alpha=2),
        t._foreach_mul(a, [2.0, 3.0]),
        t._foreach_maximum(a, 2.0),
        t._foreach_addcdiv(a, b, b, [1.0, 2.0]),
        t._foreach_addcmul(a, b, b, value=0.5),
        t._foreach_addcmul(a, b, b, t.tensor([0.5, 2.0])),
        t._foreach_addcdiv(a[:1], b[:1], b[:1], t.tensor([0.5])),
        t._foreach_pow(2.0, a),
        t._foreach_powsum(a, 1.5),
        t._foreach_mm([a[1][None]], [b[1][:, None]]),
        t._foreach_norm(a),
        t._foreach_lerp(a, b, 0.5),
        t._foreach_div(a, t.tensor(2.0)),
        t._foreach_sub(a, 1.0),
        t._foreach_neg(a),
    ]
    assert t._foreach_add_(a, 1.0) is a
    assert t._foreach_zero_(c := list(t._foreach_clone(a))) is c
    t._foreach_sqrt_(a)
    t._foreach_lerp_(a, b, 0.1)
    t._foreach_addcdiv_(a, b, b, t.tensor([1.0, 3.0]))
    t._foreach_copy_(b, a)
    return [x.flatten().tolist() for each in (*found, a, b) for x in each]


def test_lists_of_tensors():
    for ours, theirs in zip(lists_of_tensors(clarion), lists_of_tensors(torch), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-6)


def factorizations(t):
    a = t.tensor([[[2.0, 1], [1, 2]], [[1.0, 2], [2, 1]], [[1.0, 1], [1, 1]]])
    good = a[0].clone().requires_grad_()
    factor, inverse, solution = (
        t.linalg.cholesky_ex(good, upper=True), t.linalg.inv_ex(good), t.linalg.solve_ex(good, t.ones(2))
    )  # fmt: skip
    (factor.L.sum() + inverse.inverse.sum() + solution.result.sum()).backward()
    return [
        t.linalg.cholesky_ex(a).info, t.linalg.inv_ex(a).info, t.linalg.solve_ex(a, t.ones(3, 2, 1)).info,
        t.linalg.cholesky_ex(a).L[0], t.linalg.inv_ex(a).inverse[:2], factor.L, inverse.inverse, good.grad,
    ]  # fmt: skip


def test_factorizations_that_may_fail():
    for ours, theirs in zip(factorizations(clarion), factorizations(torch), strict=True):
        assert str(ours.dtype) == str(theirs.dtype)
        assert ours.flatten().tolist() == pytest.approx(theirs.flatten().tolist(), rel=1e-5)
    with pytest.raises(RuntimeError, match="not positive-definite"):
        clarion.linalg.cholesky_ex(clarion.tensor([[1.0, 2], [2, 1]]), check_errors=True)
