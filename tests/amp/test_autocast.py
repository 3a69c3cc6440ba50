"""autocast: what is cast, where it ends, what it leaves alone. (Lists against PyTorch's: tests/compare/test_amp_vs_torch.py.)"""

from __future__ import annotations

import threading
from typing import Any

import pytest

import clarion as torch
from clarion.core.overriding import own_form
from clarion.nn.functional import cross_entropy, linear  # held from before the first region
from clarion.ops.faces.api import NN_FUNCTIONAL
from clarion.utils import checkpoint

from ..without_gpu import without_gpu


@pytest.fixture
def weight() -> Any:
    return torch.nn.Parameter(torch.rand(5, 4))


def test_products_are_low_and_losses_full(weight: Any) -> None:
    x = torch.rand(3, 4)
    with torch.autocast("cpu"):
        y = linear(x, weight)
        assert y.dtype is (x @ weight.T).dtype is torch.nn.Linear(4, 2)(x).dtype is torch.bfloat16
        assert torch.bmm(x[None], weight.T[None]).dtype is x.mm(weight.T).dtype is torch.bfloat16
        assert torch.conv1d(x[None], torch.rand(2, 3, 2)).dtype is torch.bfloat16
        loss = cross_entropy(y, torch.tensor([0, 1, 2]))
        assert loss.dtype is torch.nn.MSELoss()(y, y * 0).dtype is torch.float32
        assert y.softmax(-1).dtype is torch.bfloat16
        assert x.softmax(-1).dtype is torch.float32
        assert torch.mm(x, weight.detach().T, out=torch.empty(3, 5)).dtype is torch.float32
    assert linear(x, weight).dtype is torch.float32
    loss.backward()
    assert weight.grad.dtype is torch.float32
    assert weight.grad.abs().sum() > 0


def test_gradients_are_near_those_of_full_precision() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
    x, target = torch.randn(10, 8), torch.randint(0, 3, (10,))
    grads = []
    for enabled in (False, True):
        with torch.autocast("cpu", enabled=enabled):
            loss = cross_entropy(model(x), target)
        grads.append(torch.autograd.grad(loss, list(model.parameters())))
    for full, low in zip(*grads, strict=True):
        assert torch.allclose(full, low, atol=0.02)
        assert not torch.equal(full, low)


def test_nesting_dtype_and_errors(weight: Any) -> None:
    x = torch.rand(3, 4)
    with torch.autocast("cpu", dtype=torch.float16):
        assert linear(x, weight).dtype is torch.float16
        with torch.autocast("cpu", enabled=False):
            assert linear(x, weight).dtype is torch.float32
            with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
                assert linear(x, weight).dtype is torch.bfloat16
        assert linear(x, weight).dtype is torch.float16
        with pytest.raises(RuntimeError):
            torch.mm(x, x)  # does not fit; casting is on again afterwards
        assert linear(x, weight).dtype is torch.float16
    with pytest.raises(ValueError, match="out"), torch.autocast("cpu"):
        raise ValueError("out")
    assert not torch.is_autocast_enabled("cpu")
    with pytest.raises(RuntimeError, match="device type at start of device string: tpu"):
        torch.autocast("tpu")
    with pytest.warns(UserWarning, match="only supports dtypes"), torch.autocast("cpu", dtype=torch.float64):
        assert linear(x, weight).dtype is torch.float32


@without_gpu
def test_without_a_gpu(weight: Any) -> None:
    with pytest.warns(UserWarning, match="CUDA is not available"), torch.autocast("cuda"):
        assert linear(torch.rand(3, 4), weight).dtype is torch.float32


def test_decorator_and_old_names(weight: Any) -> None:
    @torch.autocast("cpu")
    def forward(x: Any, again: bool = True) -> Any:
        """Forward."""
        return forward(x, False) if again else linear(x, weight)

    assert forward(torch.rand(3, 4)).dtype is torch.bfloat16
    assert forward.__doc__ == "Forward."
    with pytest.warns(FutureWarning, match="deprecated"):
        region = torch.cpu.amp.autocast()
    with region:
        assert linear(torch.rand(3, 4), weight).dtype is torch.bfloat16
    from clarion.cuda.amp import GradScaler, autocast

    with pytest.warns(FutureWarning):
        autocast(enabled=False)
    with pytest.warns(FutureWarning):
        assert not GradScaler(enabled=False).is_enabled()


def test_threads_have_their_own(weight: Any) -> None:
    x, seen = torch.rand(3, 4), []
    with torch.autocast("cpu"):
        other = threading.Thread(target=lambda: seen.append(linear(x, weight).dtype))
        other.start(), other.join()
        assert linear(x, weight).dtype is torch.bfloat16
    assert seen == [torch.float32]


def test_weights_are_cast_once_per_region(weight: Any) -> None:
    x = torch.rand(3, 4)
    for cached in (True, False):
        with torch.autocast("cpu", cache_enabled=cached):
            first, second = linear(x, weight), linear(x, weight)
            casts = [
                {last for node, _ in y.grad_fn.next_functions if node is not None for last, _ in node.next_functions}
                for y in (first, second)
            ]
            assert bool((casts[0] & casts[1]) - {None}) == cached
        weight.grad = None
        (first + second).float().sum().backward()
        assert torch.allclose(weight.grad, 2 * x.bfloat16().float().sum(0).expand(5, 4), atol=0.05)
    with torch.autocast("cpu"):
        with torch.no_grad():
            before = linear(x, weight)
            weight.mul_(2)
        assert torch.allclose(linear(x, weight), 2 * before, rtol=0.02)  # not the cast of the old value
        assert linear(x, weight).requires_grad


def test_nothing_stays_behind() -> None:
    """The stand-ins go when they have been called in vain for a while; they are there again when autocast is."""
    linear, x, weight = NN_FUNCTIONAL["linear"], torch.ones(2, 3), torch.ones(4, 3)
    for _ in range(2):
        with torch.autocast("cpu"):
            assert "addmm.py" not in own_form(linear).__code__.co_filename
            assert linear(x, weight).dtype is torch.bfloat16
        assert linear(x, weight).dtype is torch.float32
        for _ in range(1000):
            linear(x, weight)
        assert "addmm.py" in own_form(linear).__code__.co_filename
        assert linear(x, weight).dtype is torch.float32


def test_custom_functions() -> None:
    seen: list[Any] = []

    class Product(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu")
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            return a.mm(b)

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, grad: Any) -> Any:
            a, b = ctx.saved_tensors
            seen.append(torch.is_autocast_enabled("cpu"))
            return grad.mm(b.t()), a.t().mm(grad)

    class Full(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx: Any, a: Any) -> Any:
            seen.append((a.dtype, torch.is_autocast_enabled("cpu")))
            return a * 2

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    a, b = torch.rand(3, 4, requires_grad=True), torch.rand(4, 2, requires_grad=True)
    with torch.autocast("cpu"):
        y = Product.apply(a, b)
        assert y.dtype is torch.bfloat16
        assert Full.apply(y).dtype is torch.float32
    y.float().sum().backward()
    assert a.grad.dtype is torch.float32
    Product.apply(a, b).sum().backward()
    assert seen == [(torch.float32, False), True, False]


def test_checkpoint_recomputes_with_autocast() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    x = torch.rand(3, 4, requires_grad=True)
    for reentrant in (False, True):
        with torch.autocast("cpu"):
            plain = model(x)
            y = checkpoint.checkpoint(model, x, use_reentrant=reentrant)
            assert y.dtype is torch.bfloat16
        (expected,) = torch.autograd.grad(plain.float().sum(), x)
        x.grad = None
        y.float().sum().backward()
        assert torch.equal(x.grad, expected)
