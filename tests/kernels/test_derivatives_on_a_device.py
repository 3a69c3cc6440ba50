"""What computes derivatives for users works where the tensors live, not only on the host."""

from __future__ import annotations

import pytest

import clarion as torch
from clarion.autograd import functional

from . import counting

WHERE = "privateuseone:0"


@pytest.fixture(scope="module", autouse=True)
def device():
    with counting.known():
        yield


def point(*shape: int):
    torch.manual_seed(0)
    return torch.randn(*shape, dtype=torch.float64).to(WHERE).requires_grad_()


def f(x):
    return (x.sin() * x.exp()).sum(0)


@pytest.mark.parametrize("options", [{}, {"fast_mode": True}, {"check_batched_grad": True}, {"check_forward_ad": True}])
def test_gradcheck(options) -> None:
    x = point(3, 2)
    before = x.detach().clone()
    assert torch.autograd.gradcheck(f, (x,), **options)
    assert torch.autograd.gradgradcheck(f, (x,))
    torch.testing.assert_close(x.detach(), before, rtol=0, atol=0)


def test_gradcheck_finds_a_wrong_gradient() -> None:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    with pytest.raises(torch.autograd.gradcheck.__globals__["GradcheckError"], match="Jacobian mismatch"):
        torch.autograd.gradcheck(Wrong.apply, (point(2),))


MATRICES = {
    "jacobian": lambda x: functional.jacobian(f, x),
    "forward": lambda x: functional.jacobian(f, x, vectorize=True, strategy="forward-mode"),
    "hessian": lambda x: functional.hessian(lambda y: f(y).sum(), x),
    "hvp": lambda x: functional.hvp(lambda y: f(y).sum(), x, torch.ones_like(x))[1],
    "vhp": lambda x: functional.vhp(lambda y: f(y).sum(), x, torch.ones_like(x))[1],
    "jvp": lambda x: functional.jvp(f, x, torch.ones_like(x))[1],
    "jacrev": lambda x: torch.func.jacrev(f)(x),
    "jacfwd": lambda x: torch.func.jacfwd(f)(x),
    "func.hessian": lambda x: torch.func.hessian(lambda y: f(y).sum())(x),
    "vmap": lambda x: torch.func.vmap(lambda row: row.sin().sum())(x),
    "empty vmap": lambda x: torch.func.vmap(lambda row: row.sin())(x[:0]),
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrix(name: str) -> None:
    x = point(3, 2).detach()
    there, here = MATRICES[name](x), MATRICES[name](x.cpu())
    assert there.device.type == "privateuseone"
    torch.testing.assert_close(there.cpu(), here)


def test_assert_close_compares_devices() -> None:
    with pytest.raises(AssertionError, match="'device' do not match: privateuseone:0 != cpu"):
        torch.testing.assert_close(point(2).detach(), torch.zeros(2, dtype=torch.float64))
