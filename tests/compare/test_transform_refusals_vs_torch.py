"""What PyTorch refuses inside of `torch.func`'s transforms is refused, with its words; what it allows beside that, runs."""

from __future__ import annotations

import re

import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytestmark = pytest.mark.filterwarnings("ignore")


def _x(t):
    return t.tensor([0.5, -1.0, 2.0])


def _rows(t):
    return t.arange(12.0).reshape(4, 3) - 5


def _sum_after(act):
    def function(y):
        act(y)
        return y.sum()

    return function


def _write(t, transform, act):
    captured = _x(t)
    function = lambda y: (act(captured, y) * y).sum()
    return (
        t.func.jvp(function, (_x(t),), (_x(t),)) if transform == "jvp" else getattr(t.func, transform)(function)(_x(t))
    )


def _norm(t):
    layer = t.nn.BatchNorm1d(3)
    return t.func.grad(lambda y: layer(y).sum())(_rows(t))


def _nested(t):
    def outer(y):
        doubled = y * 2
        return t.func.grad(lambda w: doubled.add_(w).sum())(y).sum()

    return t.func.grad(outer)(_x(t))


def _hooked(t, transform):
    def function(y):
        with t.autograd.graph.saved_tensors_hooks(lambda v: v, lambda v: v):
            return y.sin().sum()

    return t.func.vmap(function)(_rows(t)) if transform == "vmap" else getattr(t.func, transform)(function)(_x(t))


def _hooked_outside(t):
    with t.autograd.graph.save_on_cpu():
        return t.func.grad(lambda y: y.sin().sum())(_x(t))


def _plain(t, transform):
    class Sine(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            return g

    return getattr(t.func, transform)(Sine.apply)(_x(t))


def _rule(t):
    class Doubled(t.autograd.Function):
        @staticmethod
        def forward(x):
            return 2 * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            return 2 * x, (None,)

    return t.vmap(Doubled.apply)(_rows(t))


def _named(t):
    class Sum(t.autograd.Function):
        @staticmethod
        def forward(x, *, y):
            return x + y

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x, *, y):
            return x + y, 0

    return t.vmap(Sum.apply)(_x(t), y=_x(t))


def _mapped(function, **options):
    return lambda t: t.vmap(lambda y: function(t, y), **options)(_rows(t))


CASES = {
    "requires_grad_ in grad": lambda t: t.func.grad(_sum_after(lambda y: y.requires_grad_()))(_x(t)),
    "requires_grad_ in vmap": lambda t: t.vmap(_sum_after(lambda y: y.requires_grad_()))(_rows(t)),
    "requires_grad_ of a new one": lambda t: t.func.grad(_sum_after(lambda y: t.zeros(2).requires_grad_(False)))(_x(t)),
    "made with requires_grad": lambda t: t.func.grad(_sum_after(lambda y: t.zeros(2, requires_grad=True)))(_x(t)),
    "a layer made inside": lambda t: t.func.grad(_sum_after(lambda y: t.nn.Linear(3, 2)(y)))(_x(t)),
    "retain_grad": lambda t: t.func.grad(lambda y: (z := y.sin()).retain_grad() or z.sum())(_x(t)),
    "backward": lambda t: t.func.grad(_sum_after(lambda y: y.sin().sum().backward()))(_x(t)),
    "autograd.grad": lambda t: t.func.grad(lambda y: t.autograd.grad(y.sin().sum(), y)[0].sum())(_x(t)),
    "autograd.functional": _mapped(lambda t, y: t.autograd.functional.jacobian(lambda z: z.sin().sum(), y)),
    "forward-mode jacobian": _mapped(
        lambda t, y: t.autograd.functional.jacobian(
            lambda z: z.sin().sum(), y, strategy="forward-mode", vectorize=True
        )
    ),
    "captured copy_": lambda t: _write(t, "grad", lambda c, y: c.copy_(y)),
    "captured add_": lambda t: _write(t, "jvp", lambda c, y: c.add_(1)),
    "captured part": lambda t: _write(t, "grad", lambda c, y: c.__setitem__(0, y[0]) or c),
    "captured view": lambda t: _write(t, "grad", lambda c, y: c[:2].mul_(2).sum()),
    "not captured": lambda t: _write(t, "grad", lambda c, y: c.clone().add_(y).mul_(2)),
    "new and written": lambda t: _write(t, "jvp", lambda c, y: t.zeros(3).copy_(y).add_(c)),
    "captured by vmap alone": _mapped(lambda t, y: t.zeros(3).add_(1) * y),
    "captured buffers": _norm,
    "captured by the inner one": _nested,
    "hooks in grad": lambda t: _hooked(t, "grad"),
    "hooks in jacfwd": lambda t: _hooked(t, "jacfwd"),
    "hooks in vmap": lambda t: _hooked(t, "vmap"),
    "hooks outside of grad": _hooked_outside,
    "checkpoint in vmap": _mapped(
        lambda t, y: t.utils.checkpoint.checkpoint(lambda z: z.sin().sum(), y, use_reentrant=False)
    ),
    "Function without setup_context": lambda t: _plain(t, "functionalize"),
    "out_dims of a rule": _rule,
    "keyword-only tensors": _named,
    "data": _mapped(lambda t, y: y.data),
    "data=": _mapped(lambda t, y: setattr(y, "data", t.ones(3)) or y),
    "out=": _mapped(lambda t, y: t.abs(y, out=t.zeros(3))),
    "equal": _mapped(lambda t, y: t.equal(y, y)),
    "channels_last?": _mapped(lambda t, y: y.is_contiguous(memory_format=t.channels_last)),
    "channels_last": _mapped(lambda t, y: y.clone(memory_format=t.channels_last)),
    "copy_ into a shared one": _mapped(lambda t, y: _shared(t).copy_(y)),
    "nonzero": _mapped(lambda t, y: y.nonzero()),
    "where": _mapped(lambda t, y: t.where(y)[0]),
    "masked_select": _mapped(lambda t, y: t.masked_select(y, y > 100)),
    "a mask as index": _mapped(lambda t, y: y[y > 100]),
    "unique": _mapped(lambda t, y: t.unique(y)),
    "nonzero of a shared one": _mapped(lambda t, y: _shared(t).nonzero()[:, 0] * y),
    "random out=": _mapped(lambda t, y: t.randn(3, out=_shared(t)), randomness="same"),
    "rrelu": _mapped(lambda t, y: t.nn.functional.rrelu(y)),
    "different numbers in a shared one": _mapped(lambda t, y: _shared(t).uniform_() * y, randomness="different"),
    "random numbers in jacfwd": lambda t: t.func.jacfwd(t.bernoulli)(t.full((3,), 0.5)),
    "singular": _mapped(lambda t, y: t.linalg.inv(y[:, None] * t.zeros(3))),
    "not positive": _mapped(lambda t, y: t.linalg.cholesky(-(y[:, None] * y))),
    "a zero pivot": _mapped(lambda t, y: t.linalg.lu_factor(y[:, None] * t.zeros(3))[0]),
    "no probabilities": _mapped(lambda t, y: t.nn.functional.binary_cross_entropy(y, y)),
    "item": _mapped(lambda t, y: y.sum().item()),
    "condition": _mapped(lambda t, y: y if y.sum() > 0 else -y),
    "numpy": _mapped(lambda t, y: y.numpy()),
    "matrices that are none": _mapped(lambda t, y: t.mm(y, y)),
    "beyond a sample": _mapped(lambda t, y: y.as_strided((4,), (1,))),
    **{
        f"{name} of argnums {argnums}": lambda t, name=name, argnums=argnums: getattr(t.func, name)(t.dot, argnums)(_x(t), _x(t))
        for name in ("grad", "jacrev", "jacfwd", "hessian")
        for argnums in (2, -3, (0, 0), (0, -2), 0.0, (1, 0.0), (), [0])
    },
}  # fmt: skip


_kept = {}


def _shared(t):
    """A tensor that was there before the function began."""
    return _kept.setdefault(t.__name__, _x(t))


def _outcome(program, t):
    _kept.pop(t.__name__, None)
    _shared(t)
    t.manual_seed(0)
    try:
        program(t)
    except (RuntimeError, TypeError) as error:
        text = re.sub(r"\.Tensor\b|aten::\w+", "", str(error).split("\n")[0])  # (their names of an operation)
        return type(error).__mro__[-4:], text[:60]
    return "runs", ""


@pytest.mark.parametrize("name", CASES)
def test_refused_alike(name: str) -> None:
    wanted, got = _outcome(CASES[name], torch), _outcome(CASES[name], clarion)
    assert got[1] == wanted[1]
    if wanted[0] != "runs":
        assert RuntimeError in got[0]
