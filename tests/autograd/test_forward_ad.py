"""Forward mode beyond PyTorch's own examples: random views and writes, whose tangents live how long, threads, cost."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import clarion as torch
from clarion.autograd import forward_ad as fw
from clarion.core import modes
from clarion.core.namespace import OPS
from clarion.core.op import Op

from ..core.test_views import ORDERS, PROGRAMS, SHAPE
from ..core.view_programs import run_in_place, run_out_of_place


class Duals:
    """clarion, where leaves that require a gradient are duals."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    def tensor(self, values: Any, dtype: Any = None, requires_grad: bool = False) -> Any:
        x = torch.tensor(values, dtype=dtype, requires_grad=requires_grad)
        if not requires_grad:
            return x
        direction = np.sin(np.arange(x.numel()) + 1.0).reshape(tuple(x.shape))
        return fw.make_dual(x, torch.tensor(direction, dtype=x.dtype))


@settings(max_examples=150, deadline=None)
@given(PROGRAMS, ORDERS)
def test_random_views_and_writes(program, order):
    with fw.dual_level():
        live, loss, a, c = run_in_place(Duals(), program, SHAPE, order)
        live2, loss2, a2, c2 = run_out_of_place(Duals(), program, SHAPE, order)
        for x, y in zip([*live, loss], [*live2, loss2], strict=True):
            t, u = fw.unpack_dual(x).tangent, fw.unpack_dual(y).tangent
            assert t.stride() == x.stride() or x.numel() < 2 or 0 in x.stride()
            np.testing.assert_allclose(t.detach().numpy(), u.detach().numpy(), rtol=1e-10, atol=1e-10)
        # Gradients have tangents, and tangents have gradients.
        for g, h in zip(
            torch.autograd.grad(loss, (a, c), allow_unused=True, retain_graph=True),
            torch.autograd.grad(loss2, (a2, c2), allow_unused=True, retain_graph=True),
            strict=True,
        ):
            t, u = (None if z is None else fw.unpack_dual(z).tangent for z in (g, h))
            np.testing.assert_allclose(*(0.0 if z is None else z.numpy() for z in (t, u)), rtol=1e-8, atol=1e-8)
        t, u = fw.unpack_dual(loss).tangent, fw.unpack_dual(loss2).tangent
    if t.requires_grad or u.requires_grad:
        found = [
            [0.0 if g is None else g.numpy() for g in torch.autograd.grad(z + 0 * sum(x.sum() for x in ends), ends)]
            for z, ends in ((t, (a, c)), (u, (a2, c2)))
        ]
        for g, h in zip(*found, strict=True):
            np.testing.assert_allclose(g, h, rtol=1e-8, atol=1e-8)


def test_a_tensor_times_itself_in_place():
    # PyTorch computes 1.5 * x * dx here: it reads its second operand after overwriting it.
    with fw.dual_level():
        x = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0])).clone()
        x.mul_(x)
        assert fw.unpack_dual(x).tangent.tolist() == [2, 4]
        x.add_(x[:1])
        assert fw.unpack_dual(x).tangent.tolist() == [4, 6]


# Lifetime ------------------------------------------------------------------------------------------------


def test_tangents_go_with_their_tensors():
    with fw.dual_level():
        d = fw.make_dual(torch.ones(3), torch.ones(3))
        y = d * 2
        tangent = weakref.ref(fw.unpack_dual(y).tangent)
        del y
        gc.collect()
        assert tangent() is None


def test_tangents_go_with_the_level():
    x = torch.ones(3, requires_grad=True)
    with fw.dual_level():
        y = fw.make_dual(x, torch.ones(3)).exp()
        tangent = weakref.ref(fw.unpack_dual(y).tangent)
    gc.collect()
    assert tangent() is None
    assert not any(name.startswith(("_tangent", "_dual")) for name in (*y.__dict__, *y.grad_fn.__dict__))


def test_the_level_is_left_when_an_operation_fails():
    before = modes.special
    with pytest.raises(RuntimeError), fw.dual_level():
        fw.make_dual(torch.ones(3), torch.ones(3)) + torch.ones(2)
    assert modes.special == before
    assert modes.dual is None
    assert modes.state.forward


def test_nothing_is_special_outside():
    before = modes.special
    with fw.dual_level():
        assert modes.special == before + 1
    assert modes.special == before


# Threads -------------------------------------------------------------------------------------------------


def test_other_threads_see_the_level():
    found = []
    with fw.dual_level():
        d = fw.make_dual(torch.ones(2), torch.ones(2))
        worker = threading.Thread(target=lambda: found.append(fw.unpack_dual(d * 3).tangent))
        with fw._set_fwd_grad_enabled(False):  # a switch of this thread alone
            worker.start()
            worker.join()
    assert found[0].tolist() == [3, 3]


# Rules of operations -------------------------------------------------------------------------------------


def test_rules_name_what_there_is():
    op = OPS["lerp"]
    with pytest.raises(ValueError, match="a forward rule names"):
        op.jvp(lambda dx, dz: dx)
    with pytest.raises(ValueError, match="'each' or 'together'"):
        op.jvp("linear")
    assert isinstance(op, Op)


def test_an_own_rule_is_used():
    op = OPS["mul"]
    kept = op.forward
    try:
        op.jvp(lambda dx, dy, x, y, out, x_shape, ops: ops.expand(dx * 0 + 7, x_shape) if dy is None else dy)
        with fw.dual_level():
            d = fw.make_dual(torch.ones(2), torch.ones(2))
            assert fw.unpack_dual(d * 2).tangent.tolist() == [7, 7]
    finally:
        op.forward = kept


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_types_of_tangents(name):
    dtype = getattr(torch, name)
    with fw.dual_level():
        d = fw.make_dual(torch.ones(4, dtype=dtype), torch.ones(4, dtype=dtype))
        for out in (d.exp(), d.sum(), d @ d, d.softmax(0), d * torch.ones(4, dtype=torch.float64), d.var(), d * 2.5):
            assert fw.unpack_dual(out).tangent.dtype == out.dtype


def test_deep_chain():
    x = torch.tensor(0.5, dtype=torch.float64)
    with fw.dual_level():
        y = fw.make_dual(x, torch.ones_like(x))
        for _ in range(3000):
            y = y.sin() + y * 0.5
        tangent = fw.unpack_dual(y).tangent
    leaf = x.clone().requires_grad_()
    z = leaf
    for _ in range(3000):
        z = z.sin() + z * 0.5
    z.backward()
    np.testing.assert_allclose(float(tangent), float(leaf.grad), rtol=1e-10)
