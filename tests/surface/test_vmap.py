"""`vmap`: one call for all samples, what is refused inside of it, and what belongs to whom."""

from __future__ import annotations

import pytest

import clarion as torch
from clarion.func import functional_call, grad, hessian, jacfwd, jacrev, vjp, vmap

X = torch.arange(12.0).reshape(3, 4) / 7


def test_the_function_is_called_once():
    calls = []

    def f(x):
        calls.append(tuple(x.shape))
        return x.sin()

    assert torch.equal(vmap(f)(X), X.sin())
    assert calls == [(4,)]


def test_levels_nest():
    found = vmap(vmap(lambda a, b: a * b, in_dims=(0, None)), in_dims=(None, 0))(X[0], X[1])
    assert torch.equal(found, X[1][:, None] * X[0])
    assert torch.equal(vmap(vmap(vmap(torch.sin)))(X.reshape(3, 2, 2)), X.reshape(3, 2, 2).sin())


def test_chunks_give_the_same():
    for size in (1, 2, 3, 5):
        assert torch.equal(vmap(lambda x: x.cumsum(0), chunk_size=size)(X), X.cumsum(1))


def test_the_gradient_of_what_all_samples_share_is_a_sum():
    w = torch.ones(4, requires_grad=True)
    vmap(lambda x: (x * w).sum())(X).sum().backward()
    assert torch.allclose(w.grad, X.sum(0))
    again = grad(lambda v: vmap(lambda x: (x * v).sin().sum())(X).sum())(torch.ones(4))
    assert torch.allclose(again, (X.cos() * X).sum(0))


def test_each_sample_has_a_gradient_of_what_all_share():
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))
    params = {name: p.detach() for name, p in model.named_parameters()}
    targets = torch.tensor([0, 1, 1])

    def loss(params, x, target):
        return torch.nn.functional.cross_entropy(functional_call(model, params, (x,)), target)

    found = vmap(grad(loss), in_dims=(None, 0, 0))(params, X, targets)
    for i in range(3):
        for name, each in grad(loss)(params, X[i], targets[i]).items():
            assert torch.allclose(found[name][i], each, atol=1e-6), name


def test_steps_of_each_sample_are_differentiated_from_outside():
    w = torch.ones(4)

    def after_a_step(w, x):
        return ((w - 0.1 * grad(lambda v: ((v * x) ** 2).sum())(w)) * x).sum()

    one_by_one = sum(grad(after_a_step)(w, x) for x in X)
    at_once = grad(lambda v: vmap(after_a_step, in_dims=(None, 0))(v, X).sum())(w)
    assert torch.allclose(at_once, one_by_one)


def test_jacobians_agree():
    def f(x):
        return x.sin() * x.sum()

    assert torch.allclose(jacrev(f)(X[0]), jacfwd(f)(X[0]), atol=1e-6)
    assert torch.allclose(jacrev(f, chunk_size=2)(X[0]), jacrev(f)(X[0]))
    assert torch.allclose(hessian(lambda x: (x**3).sum())(X[0]), torch.diag(6 * X[0]))
    assert torch.allclose(vmap(jacrev(f))(X)[1], jacrev(f)(X[1]))


def test_products_with_several_vectors():
    _, pull = vjp(lambda x: x**2, X[0])
    (found,) = vmap(pull)(torch.eye(4))
    assert torch.allclose(found, torch.diag(2 * X[0]))


def test_writes_reach_the_argument():
    x = X.clone()
    vmap(lambda row: row.mul_(2))(x)
    assert torch.equal(x, X * 2)


def test_what_all_samples_share_is_not_written():
    shared = torch.zeros(4)
    with pytest.raises(RuntimeError, match=r"vmap: inplace arithmetic\(self, \*extra_args\) is not possible"):
        vmap(lambda x: shared.add_(x))(X)
    assert torch.equal(shared, torch.zeros(4))


def test_values_cannot_be_read():
    with pytest.raises(RuntimeError, match=r"calling .item\(\) on a Tensor"):
        vmap(lambda x: x * x.sum().item())(X)
    with pytest.raises(RuntimeError, match="data-dependent control flow"):
        vmap(lambda x: x if x.sum() > 0 else -x)(X)
    with pytest.raises(RuntimeError, match="dynamic shape"):
        vmap(lambda x: x[x > 0.5])(X)


def test_random_numbers_have_to_be_asked_for():
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(lambda x: x + torch.randn(4))(X)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(lambda x: torch.nn.functional.dropout(x))(X)
    same = vmap(lambda x: x * 0 + torch.randn(4), randomness="same")(X)
    assert torch.equal(same[0], same[1])
    different = vmap(lambda x: x * 0 + torch.randn(4), randomness="different")(X)
    assert not torch.equal(different[0], different[1])
    torch.manual_seed(0)
    drawn = vmap(lambda x: torch.rand(4), randomness="different")(X)
    torch.manual_seed(0)
    assert torch.equal(drawn, torch.rand(3, 4))
    with pytest.raises(RuntimeError, match="same randomness with a batched tensor input"):
        vmap(lambda x: torch.bernoulli(x.sigmoid()), randomness="same")(X)


def test_nothing_is_left_behind():
    from clarion.core import modes

    before = modes.special
    vmap(lambda x: x.exp())(X)
    with pytest.raises(ZeroDivisionError):
        vmap(lambda x: 1 // 0)(X)
    assert modes.special == before
    assert torch.ones(2).is_cpu
    assert torch.rand(2).shape == (2,)


class Cube(torch.autograd.Function):
    """With a rule of its own."""

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


class MappedCube(Cube):
    seen = []

    @staticmethod
    def vmap(info, in_dims, x):
        MappedCube.seen.append((info.batch_size, in_dims))
        return x**3, in_dims[0]


class GeneratedCube(Cube):
    generate_vmap_rule = True


def test_custom_functions_say_how_they_are_mapped():
    assert torch.allclose(vmap(MappedCube.apply)(X), X**3)
    assert MappedCube.seen == [(3, (0,))]
    assert torch.allclose(vmap(GeneratedCube.apply)(X), X**3)
    assert torch.allclose(vmap(grad(lambda x: GeneratedCube.apply(x).sum()))(X), 3 * X**2, atol=1e-5)
    with pytest.raises(RuntimeError, match="does not have vmap support"):
        vmap(Cube.apply)(X)
