"""One-line programs that random ones have found different: the same values, types, layouts and flags, or the same refusal."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import clarion as ours

theirs = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytestmark = pytest.mark.compare

BEFORE = """
x = t.tensor([[1.0, -2.0, 0.5], [0.25, 4.0, -1.0]])
i = t.tensor([[1, 2, 3], [4, 5, 6]])
m = t.tensor([True, False])
w = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
v = w.view(-1)
f = np.float64(0.5)
"""
PROGRAMS = """
F.leaky_relu(x, f) | F.elu(x, f) | F.celu(x, np.int64(2)) | F.hardtanh(x, -f, f) | F.softplus(x, f) | F.softshrink(x, f) | x.add(x, alpha=f)
x.sub(x, alpha=f) | F.smooth_l1_loss(x, x * 2, beta=f) | x.logit(f / 10) | t.addmm(w, w, w, beta=f, alpha=f) | nn.LeakyReLU(f)(x)
v.expand(2, 4).mul_(2) | v[0:0].expand(3, 0).add_(1) | w[5] | w[0, 0, 0] | t.tril(v) | v.tril_() | w.addmm_(x, x) | w.cumsum_(7)
i.hypot_(i) | i.bitwise_and_(x) | x.bitwise_and_(x[:, :2]) | x | x[:, :1].lcm_(x) | x.atan2_(t.complex(x, x)) | i.sigmoid_()
t.isclose(x, 1) | t.allclose(x, 1.0) | x.type_as(1) | t.dist(x, 2) | t.polygamma(x, x) | t.polygamma(np.int64(1), x + 5) | t.softmax(x)
t.log10(x.abs()[:1].expand(2, 3)) | t.special.erfcx(x[:1].expand(2, 3)) | t.i0(x[:1].expand(2, 3)) | i.t().nan_to_num()
F.feature_alpha_dropout(x.t(), 0.5, True) | t.no_such_function(x) | t.linalg.svdvals(x * float("nan")) | t.linalg.pinv(x * float("nan")) | m.argmax()
t.linalg.svdvals(x.half()) | t.linalg.det(w.half()) | x.where(x > 0) | t.vdot(x[0], 2) | x.repeat() | t.func.jvp(t.sin, (i,), (x,))
t.ops.aten.slice.Tensor(x, 1, 0, 2) | t.ops.aten.index.Tensor(x, [None, i[0] - 1]) | t.ops.aten._softmax(x, 1, False)
t.ops.aten.convolution(x[None], w[:, :, None], None, [1], [0], [1], False, [0], 1) | t.ops.aten.upsample_bilinear2d(x[None, None], [3, 4], True)
t.ops.aten.upsample_nearest2d(x[None, None], [4, 6]) | t.ops.aten.reflection_pad1d(x, [1, 1]) | t.ops.aten.threshold_backward(x, x, 0)
t.ops.aten._log_softmax_backward_data(x, -x, 1, t.float32) | t.ops.aten.tanh_backward(x, x) | t.ops.aten.im2col(x[None, None], [2, 2], [1, 1], [0, 0], [1, 1])
t.autograd.grad(t.lerp(w, w * 2, f).sum(), w)[0] | t.autograd.grad(w.var(correction=f).sum(), w)[0] | t.autograd.grad(w.std(0, correction=f).sum(), w)[0]
t.autograd.grad(t.logit(w / w.detach().sub(1), 0.1).sum(), w)[0] | F._in_projection_packed(w, w, w, t.ones(6, 2))[2] | F._canonical_mask(m, "m", None, "", t.float32) | nn.init._no_grad_trunc_normal_(x.clone(), 0.0, 1.0, -2.0, 2.0)
t.sparse_csr_tensor([0, 2, 2], [1, 0], x[0, :2], (2, 2)).to_dense() | t.sparse_csr_tensor([0, 2, 2], [1, 1], x[0, :2], (2, 2)) @ w | t.sparse_csr_tensor([0, 2, 2], [1, 1], x[0, :2], (2, 2), check_invariants=True)
t.where(m, t.ones(2), 1e300) | t.where(m, -1e39, t.ones(2)) | t.where(m, t.ones(2).half(), 1e6) | t.where(m, t.ones(2), 1e300j) | F.pad(i.to(t.uint8), (1, 1), value=-1)
x.index_fill_(1, t.tensor([0]), x[1, 1]) | w.detach().index_fill_(0, t.tensor([1]), w[0, 1].detach())
t.add(x.t(), 1, out=t.empty(0)) | t.mul(x.t(), i.t(), out=t.empty(7)) | i.t().round() | i.t().isreal() | i.t().isposinf() | i.t().isneginf() | t.nan_to_num(t.complex(x, x).t()).real
x.t()[None].expand(2, 3, 2).clone() | x.t()[:, None].expand(3, 2, 2).clone() | x.t()[:, None].expand(3, 2, 2).contiguous()
t.autograd.grad(t.asin(w - 2).clamp(-9, 9).sum(), w)[0] | t.autograd.grad(t.asin(w - 2)[0].sum(), w)[0] | t.autograd.grad(t.acos(w - 2)[0].sum(), w)[0] | t.autograd.grad(t.acos(w - 2)[0].sum(), w, create_graph=True)[0]
t.autograd.grad(t.where(w > 2, t.xlogy(w, w - 3), 0).sum(), w)[0] | t.autograd.grad(t.where(w > 4, t.xlogy(w, -1.0), 0).sum(), w)[0] | t.autograd.grad(t.where(w > 4, t.xlogy(2.0, w), 0).sum(), w)[0]
t.autograd.grad(t.where(w > 2, t.special.xlog1py(w, w - 4), 0).sum(), w)[0] | t.autograd.grad(t.where(w > 2, t.xlogy(w, w - 3), 0).sum(), w, create_graph=True)[0]
"""
WRITES = """
i.to(t.uint8)[0] = 300 | i.to(t.uint8)[0, 0] = -1 | w[0, 0, 0] = 1.0 | w[7] = 1.0 | w[:1] = x | w[0] = 1.0 | v[0] = 1.0 | v[9] = 1.0 | t.exp(i, out=i[:1].clone()) | x[:1].expand(2, 3)[0] = 1
"""


def told(library: Any, value: Any) -> Any:
    """A result in words that both libraries share."""
    if isinstance(value, library.Tensor):
        numbers = value.detach().double().reshape(-1).tolist()
        kept = [round(n, 5) if n - n == 0 else str(n) for n in numbers]
        return str(value.dtype).split(".")[-1], tuple(value.shape), value.stride(), value.requires_grad, kept
    return value


def outcome(library: Any, text: str) -> Any:
    """What a program gives or raises, and what it has made of its tensors."""
    scope = {"t": library, "F": library.nn.functional, "nn": library.nn, "np": np}
    library.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(BEFORE, scope)
        try:
            exec(f"found = {text}" if " = " not in text else text, scope)
            result = told(library, scope.get("found"))
        except Exception as error:
            kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
            result = kinds[0], str(error).replace("clarion", "torch").split("\n")[0].split("(")[0][:40]
    return result, [told(library, scope[name]) for name in "xiwv"]


def listed(table: str) -> list[str]:
    return [text.strip() for line in table.strip().splitlines() for text in line.split(" | ")]


@pytest.mark.parametrize("text", listed(PROGRAMS) + listed(WRITES))
def test_the_same(text: str) -> None:
    assert outcome(ours, text) == outcome(theirs, text)
