"""Compiled functions and modules whose results require a gradient: the backward pass is theirs, and gives what autograd gives."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import clarion as torch
from clarion._dynamo.eval_frame import OptimizedModule
from clarion.compiling.function import CompileWarning, of

F = torch.nn.functional


def _close(a, b):
    a, b = a.detach().numpy(), b.detach().numpy()
    np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6 * max(1.0, np.abs(b).max()))


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(8)
        self.inner = torch.nn.Linear(8, 16)
        self.outer = torch.nn.Linear(16, 8)
        self.drop = torch.nn.Dropout(0.3)
        self.scale = 0.5

    def forward(self, x):
        return x + self.scale * self.outer(self.drop(F.gelu(self.inner(self.norm(x)))))


def test_a_module_trains_as_it_does_by_itself():
    torch.manual_seed(0)
    written = torch.nn.Sequential(torch.nn.Linear(4, 8), Block(), torch.nn.Linear(8, 3))
    inside = copy.deepcopy(written)
    compiled = torch.compile(inside)
    assert isinstance(compiled, OptimizedModule)
    x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
    ends = []
    for model in (written, compiled):
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        torch.manual_seed(1)
        losses = []
        for _ in range(9):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        ends.append(losses)
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-5)
    for p, q in zip(written.parameters(), compiled.parameters(), strict=True):
        _close(p, q)
    assert of(compiled).replays >= 5
    assert set(compiled.state_dict()) == {f"_orig_mod.{name}" for name in written.state_dict()}
    compiled.eval()
    assert not inside.training
    with torch.no_grad():
        for _ in range(5):
            _close(compiled(x), written.eval()(x))


def test_arguments_with_a_graph_of_their_own_and_several_results():
    def function(x, w):
        y = (x * w * 0.2).tanh()
        return y.sum(0), {"big": y * y, "n": 3, "plain": x.detach() + 1}

    fast = torch.compile(function)
    for i in range(8):
        torch.manual_seed(i)
        a, b = torch.randn(4, 3), torch.randn(3)
        found = []
        for run in (function, fast):
            x, w = a.clone().requires_grad_(), b.clone().requires_grad_()
            first, others = run(x.exp() * 2, w)
            assert others["n"] == 3
            assert not others["plain"].requires_grad
            (first.sum() * 2 + others["big"].mean()).backward()
            found.append((first, others["big"], others["plain"], x.grad, w.grad))
        for one, other in zip(*found, strict=True):
            _close(one, other)
    assert of(fast).replays >= 4


def test_one_of_several_results_may_stay_unused():
    fast = torch.compile(lambda x: (x.sin(), x.cos()))
    for _ in range(8):
        x = torch.arange(3.0, requires_grad=True)
        fast(x)[1].sum().backward()
        _close(x.grad, -x.sin())
    assert of(fast).replays >= 4


def test_backward_twice_is_refused_and_kept_graphs_work():
    fast = torch.compile(lambda x: (x * x).sum())
    for i in range(8):
        x = torch.ones(2, requires_grad=True)
        y = fast(x)
        y.backward(retain_graph=i % 2 == 1)
        if i % 2:
            y.backward()
            assert x.grad.tolist() == [4.0, 4.0]
        else:
            with pytest.raises(RuntimeError, match="second time"):
                y.backward()
    assert of(fast).replays >= 4


def test_two_calls_before_one_backward():
    fast = torch.compile(lambda x: x.exp())
    for _ in range(6):
        x, y = torch.ones(2, requires_grad=True), torch.full((2,), 2.0, requires_grad=True)
        a, b = fast(x), fast(y)
        (a.sum() + b.sum()).backward()
        _close(x.grad, x.exp())
        _close(y.grad, y.exp())


def test_a_saved_value_that_is_overwritten_is_refused():
    fast = torch.compile(lambda x, w: (x * w).sum())
    for _ in range(8):
        x, w = torch.ones(2), torch.ones(2, requires_grad=True)
        y = fast(x, w)
        x.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()
    assert of(fast).replays >= 4


def test_hooks_on_results_and_leaves_are_called():
    fast = torch.compile(lambda x: x * 3)
    for _ in range(8):
        x = torch.ones(2, requires_grad=True)
        seen = []
        y = fast(x)
        y.register_hook(lambda g: seen.append("y") or g * 2)
        x.register_hook(lambda g: seen.append("x"))
        y.sum().backward()
        assert x.grad.tolist() == [6.0, 6.0]
        assert seen == ["y", "x"]
    assert of(fast).replays >= 4


def test_modules_compile_themselves():
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 2)
    x = torch.ones(1, 3)
    own = layer(x)
    layer.compile()
    for _ in range(6):
        _close(layer(x), own)
    assert of(layer.forward).replays


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda fast: pickle.loads(pickle.dumps(fast))])
def test_a_copy_of_a_compiled_module_has_parameters_of_its_own(copied):
    fast, x = torch.compile(torch.nn.Linear(2, 1), check=True), torch.ones(1, 2)
    before = fast(x).item()
    assert [fast(x).item() for _ in range(4)] == [pytest.approx(before)] * 4
    other = copied(fast)
    assert isinstance(other, OptimizedModule)
    assert of(other).check
    with torch.no_grad():
        fast.weight.mul_(3)
        fast.bias.add_(1)
    assert [other(x).item() for _ in range(5)] == [pytest.approx(before)] * 5
    other(x).backward()
    assert fast.weight.grad is None
    assert other.weight.grad is not None
    assert of(other).replays
    assert fast(x).item() == pytest.approx(torch.nn.functional.linear(x, fast.weight, fast.bias).item())


def test_options_are_pytorchs():
    layer = torch.nn.Linear(2, 2)
    assert isinstance(torch.compile(layer, mode="max-autotune", dynamic=False), OptimizedModule)
    assert torch.compile(layer, backend="eager") is layer
    assert torch.compile(layer, disable=True) is layer
    assert torch.compile(fullgraph=True)(lambda x: 2 * x)(torch.ones(1)).item() == 2
    with pytest.raises(TypeError):
        torch.compile(3)
    with pytest.raises(RuntimeError, match="mode or options"):
        torch.compile(layer, mode="default", options={})
    with pytest.raises(torch._dynamo.exc.TorchDynamoException, match="Invalid backend"):
        torch.compile(layer, backend="nothing")


def test_explain_says_what_is_replayed_or_why_not():
    found = torch.compile.explain(lambda x: (x * 2).relu())(torch.ones(3))
    assert isinstance(found, torch._dynamo.backends.debugging.ExplainOutput)
    assert found.compiled
    assert "relu" in str(found)
    assert __file__.rpartition("/")[2] in str(found)
    found = torch.compile.explain(lambda x: x * x.sum().item())(torch.ones(3))
    assert not found.compiled
    assert "item()" in str(found)


def test_what_is_disabled_is_not_replayed():
    calls = []

    @torch.compiler.disable
    def careful(x):
        calls.append(1)
        return x

    fast = torch.compile(lambda x: careful(x) * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for _ in range(6):
            fast(torch.ones(1))
    assert len(calls) == 6


def test_views_taken_without_gradients_end_none():
    def function(x):
        with torch.no_grad():
            turned = x.permute(1, 0)
        return turned.tanh().mean() + x.mean()

    fast = torch.compile(function)
    for _ in range(6):
        x = torch.rand(3, 4, requires_grad=True)
        fast(x).backward()
        assert torch.equal(x.grad, torch.full((3, 4), 1 / 12))
    assert of(fast).replays


def test_a_gradient_that_goes_nowhere():
    def function(x):
        with torch.no_grad():
            row = x[0]
        return row.exp().sum()

    fast = torch.compile(function)
    with pytest.warns(CompileWarning, match="goes nowhere"):
        for _ in range(4):
            x = torch.rand(3, 4, requires_grad=True)
            fast(x).backward()
            assert x.grad is None


def test_a_backward_pass_that_fails_fails_when_it_is_asked_for():
    def function(x):
        y = (x * 1).relu_()
        return y.clamp_(-1, 1).sum(), y

    fast = torch.compile(function)
    with pytest.warns(CompileWarning, match="its backward pass raises SavedValueOverwrittenError"):
        for _ in range(4):
            loss, y = fast(torch.rand(3, requires_grad=True))
            assert y.max() <= 1
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                loss.backward()


def test_a_result_that_is_not_used_has_no_gradient():
    """One of several results is used alone: the others give nothing, and not zeros (times infinity: no numbers)."""
    w, v = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    run = torch.compile(lambda x: ((x * w).sqrt(), (x * w * 2).sum(), v * x))
    x = torch.tensor([0.0, 1.0, 2.0])
    for use in ([1], [2], [1, 2], [2], [1], [0], [1], [2], [0, 1, 2]):
        w.grad = v.grad = None
        results = run(x)
        sum(results[i].sum() for i in use).backward()
        given = [g for i, g in ((0, x.sqrt().reciprocal() * x / 2), (1, 2 * x)) if i in use]
        if given:
            np.testing.assert_array_equal(w.grad.numpy(), sum(given).numpy())
        else:
            assert w.grad is None
        assert (v.grad is None) == (2 not in use)
    assert of(run).replays >= 5
