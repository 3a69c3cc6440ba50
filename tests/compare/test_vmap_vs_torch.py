"""`vmap` gives PyTorch's numbers, whatever is batched and wherever the batch lies: values, and gradients through it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytestmark = [  # PyTorch's own warnings
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:There is a performance drop"),
    pytest.mark.filterwarnings("ignore:An output with one or more elements was resized"),
]

A, B, M, I = (3, 4), (3, 4), (4, 4), (2, 3, 5, 5)

CASES = {
    "arithmetic": (lambda t, x, y: x * y + x / (y * y + 1) - y.exp(), (A, B)),
    "broadcast": (lambda t, x, y: x[:, None] * y, ((3,), (3, 2))),
    "scalars": (lambda t, x: 2 * x.sum() + x.mean() * x.amax(), (A,)),
    "reductions": (lambda t, x: x.sum(0) + x.mean(1).sum() + x.var(0) + x.logsumexp(0) + x.norm(dim=0), (A,)),
    "extremes": (lambda t, x: x.max(1).values + x.min(1)[0] + x.median(1)[0] + x.amax((0, 1)), (A,)),
    "scans": (lambda t, x: x.cumsum(1) + x.cumprod(0) + x.flip(0) + x.roll(1, 1), (A,)),
    "rolled flat": (lambda t, x: x.roll(5), (A,)),
    "cross": (lambda t, x, y: t.linalg.cross(x, y), ((2, 3), (2, 3))),
    "factors": (lambda t, x: t.linalg.qr(x @ x.t() + t.eye(4))[0].abs() + t.linalg.svdvals(x).sum(), (M,)),
    "parts of complex numbers": (lambda t, x: t.view_as_real(t.complex(x, 2 * x)).sum(-1), (A,)),
    "picked": (lambda t, x: t.take(x, _places(t, x)) + t.take_along_dim(x[0], _places(t, x), 0), (A,)),
    "filled": (lambda t, x: x.index_fill(1, _places(t, x), 2.0) + t.put(x, _places(t, x), x[0, :2]), (A,)),
    "slopes of channels": (lambda t, x, w: t.nn.functional.prelu(x, w), (A, (4,))),
    "pooled and back": (lambda t, x: t.nn.functional.max_unpool2d(
        *t.nn.functional.max_pool2d(x, 2, return_indices=True), 2), ((2, 3, 4, 4),)),
    "margins": (lambda t, x: t.nn.functional.multi_margin_loss(x, _places(t, x)[t.tensor([0, 1, 0])]), (A,)),
    "combinations": (lambda t, x: t.combinations(x), ((4,),)),
    "signs": (lambda t, x: t.sgn(x) * x, (A,)),
    "shared products": (lambda t, x, y, z: t.baddbmm(x, y, z), ((2, 3, 5), (2, 3, 4), (2, 4, 5))),
    "sorting": (lambda t, x: x.sort(1).values + x.topk(2, 1).values.sum() + x.argmax(1)[:, None], (A,)),
    "views": (lambda t, x: x.t()[1:].reshape(-1).unsqueeze(1).expand(-1, 2).permute(1, 0), (A,)),
    "parts": (lambda t, x: t.cat([x[0:1], x.narrow(0, 1, 2), t.stack([x[0], x[2]])]), (A,)),
    "splits": (lambda t, x: sum(p.sum() for p in x.split(2, 1)) * x.unbind(0)[1] + x.chunk(3)[2], (A,)),
    "triangles": (lambda t, x: x.tril() + x.triu(1) + x.diagonal().sum() + t.diag_embed(x[0]), (M,)),
    "gather": (lambda t, x: x.gather(1, t.tensor([[0, 1], [2, 3], [1, 1]])) + x[t.tensor([0, 2, 1]), 1][:, None], (A,)),
    "index": (lambda t, x: x[:, t.tensor([3, 0])] + x.index_select(1, t.tensor([1, 1])), (A,)),
    "where": (lambda t, x, y: t.where(x > y, x, y.tanh()).masked_fill(x > 1, 0.5).clamp(-1, 1), (A, B)),
    "matmul": (lambda t, x, y: x @ y @ y.t(), (A, M)),
    "vectors": (lambda t, x, y: (x @ y) * t.dot(x, x) + y @ x + t.outer(x, x).sum(0), ((4,), M)),
    "batches": (lambda t, x, y: t.bmm(x, y) + t.matmul(x, y[0]), ((2, 3, 4), (2, 4, 5))),
    "einsum": (lambda t, x, y: t.einsum("ij,kj->ik", x, y) + t.einsum("ij->i", x)[:, None], (A, (2, 4))),
    "linear": (lambda t, x, w, b: t.nn.functional.linear(x, w, b).relu(), (A, (5, 4), (5,))),
    "linear of rows": (lambda t, x, w, b: t.nn.functional.linear(x, w, b).gelu() if False else
                       t.nn.functional.gelu(t.nn.functional.linear(x, w, b)), ((2, 3, 4), (5, 4), (5,))),
    "linear of one": (lambda t, x, w, b: t.nn.functional.linear(x, w, b).sigmoid(), ((4,), (5, 4), (5,))),
    "softmax": (lambda t, x: t.softmax(x, 1) * t.log_softmax(x, 0), (A,)),
    "losses": (lambda t, x, y: t.nn.functional.mse_loss(x, y) + t.nn.functional.smooth_l1_loss(x, y), (A, B)),
    "classes": (lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([0, 3, 1])), (A,)),
    "one class": (lambda t, x: t.nn.functional.cross_entropy(x, t.tensor(2)), ((4,),)),
    "ignored": (lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([0, -100, 1])), (A,)),
    "likelihood": (lambda t, x: t.nn.functional.nll_loss(t.log_softmax(x, 1), t.tensor([0, 3, 1]), reduction="sum"), (A,)),
    "norms": (lambda t, x, w: t.nn.functional.layer_norm(x, (4,), w) * t.nn.functional.normalize(x, dim=1), (A, (4,))),
    "convolution": (lambda t, x, w: t.nn.functional.conv2d(x, w, padding=1).tanh(), (I, (4, 3, 3, 3))),
    "pooling": (lambda t, x: t.nn.functional.max_pool2d(x, 2) + t.nn.functional.avg_pool2d(x, 2), (I,)),
    "groups": (lambda t, x: t.nn.functional.group_norm(x, 3) + t.nn.functional.instance_norm(x), (I,)),
    "attention": (lambda t, q, k: t.nn.functional.scaled_dot_product_attention(q, k, k * 2), ((2, 3, 4), (2, 5, 4))),
    "solve": (lambda t, x, y: t.linalg.solve(x @ x.t() + 3 * t.eye(4), y) + t.linalg.inv(x @ x.t() + t.eye(4)), (M, M)),
    "written": (lambda t, x: x.clone().mul_(2).add_(x)[0].exp_(), (A,)),
    "written part": (lambda t, x: _write_part(x), (A,)),
    "new": (lambda t, x: x.new_zeros(3, 4).add_(x) + t.zeros_like(x) + t.ones(3, 4), (A,)),
    "padding": (lambda t, x: t.nn.functional.pad(x, (1, 2, 0, 1), value=0.5) , (A,)),
    "repeated": (lambda t, x: x.repeat(2, 1) + x.tile(2, 1) + x.repeat_interleave(2, 0), (A,)),
}  # fmt: skip


def _places(t, x):
    """Two places that differ from sample to sample."""
    return x.reshape(-1).argsort()[:2] % 3


def _write_part(x):
    y = x.clone()
    y[1:] = x[:2] * 3
    y[:, 0] *= 2
    return y


def _dims(count: int):
    """Which arguments are batched, and where: all of them in front, each alone, all at the end."""
    yield (0,) * count
    for i in range(count):
        if count > 1:
            yield tuple(0 if j == i else None for j in range(count))
    yield (-1,) * count


def _batched(shapes, dims, seed: int):
    rng = np.random.default_rng(seed)
    arrays = []
    for shape, dim in zip(shapes, dims, strict=True):
        whole = shape if dim is None else (2, *shape) if dim == 0 else (*shape, 2)
        arrays.append(rng.standard_normal(whole))
    return arrays


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name: str) -> None:
    function, shapes = CASES[name]
    for seed, dims in enumerate(itertools.islice(_dims(len(shapes)), 5)):
        arrays = _batched(shapes, dims, seed)
        found = []
        for t in (torch, clarion):
            given = [t.tensor(a, requires_grad=True) for a in arrays]
            out = t.func.vmap(lambda *x, t=t: function(t, *x), in_dims=dims)(*given)
            weights = t.tensor(np.random.default_rng(9).standard_normal(tuple(out.shape)))
            grads = t.autograd.grad((out * weights).sum(), given, allow_unused=True)
            one = t.func.vmap(t.func.grad(lambda *x, t=t: function(t, *x).sin().sum()), in_dims=dims)(*given)
            found.append([out, *grads, one])
        for expected, mine in zip(*found, strict=True):
            if expected is None:
                assert mine is None or not mine.any()
                continue
            assert (mine.shape, str(mine.dtype)) == (expected.shape, str(expected.dtype))
            np.testing.assert_allclose(
                mine.detach().numpy(), expected.detach().numpy(), rtol=1e-6, atol=1e-8, err_msg=f"{name} {dims}"
            )


@pytest.mark.parametrize("name", ["arithmetic", "matmul", "softmax", "linear", "views", "written"])
def test_jacobians_and_hessians(name: str) -> None:
    function, shapes = CASES[name]
    arrays = _batched(shapes, (None,) * len(shapes), 3)
    found = []
    for t in (torch, clarion):
        given = [t.tensor(a) for a in arrays]
        f = lambda *x, t=t: function(t, *x)
        found.append(
            [t.func.jacrev(f)(*given), t.func.jacfwd(f)(*given), t.func.hessian(lambda *x, f=f: f(*x).sum())(*given)]
        )
    for expected, mine in zip(*found, strict=True):
        np.testing.assert_allclose(mine.numpy(), expected.numpy(), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["arithmetic", "reductions", "matmul", "views", "linear", "classes", "gather"])
def test_levels_nest(name: str) -> None:
    function, shapes = CASES[name]
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal((2, *shape, 3)) for shape in shapes]
    found = []
    for t in (torch, clarion):
        inner = t.func.vmap(lambda *x, t=t: function(t, *x), in_dims=-1, out_dims=-1)
        found.append(t.func.vmap(inner)(*[t.tensor(a) for a in arrays]).numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_random_numbers(randomness: str) -> None:
    x = np.random.default_rng(0).standard_normal((3, 4)).astype("float32")
    programs = [
        lambda t, a: a + t.rand(4),
        lambda t, a: a + t.randn(2, 8)[1, :4],
        lambda t, a: a + t.randint(0, 9, (4,)),
        lambda t, a: t.nn.functional.dropout(t.ones(4), 0.5) * a,
        lambda t, a: a + t.randperm(4),
        lambda t, a: a + t.randn_like(a),
    ]
    for i, program in enumerate(programs):
        found = []
        for t in (torch, clarion):
            t.manual_seed(3)
            try:
                found.append(t.func.vmap(lambda a, t=t: program(t, a), randomness=randomness)(t.tensor(x)).numpy())
            except RuntimeError as error:
                found.append(str(error).split("\n")[0][:60])
        np.testing.assert_equal(found[1], found[0], err_msg=str(i))


@pytest.mark.parametrize("randomness", ["same", "different"])
@pytest.mark.parametrize("dim", [0, 2])
def test_random_numbers_like_samples(randomness: str, dim: int) -> None:
    found = []
    for t in (torch, clarion):
        t.manual_seed(3)
        draw = lambda x: (t.randint_like(x, 2, 20), t.rand_like(x), t.randn_like(x))
        drawn = t.vmap(draw, dim, randomness=randomness)(t.zeros(4, 5, 6))
        found.append([each.numpy() for each in drawn])
    for wanted, got in zip(*found, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_recomputed_samples_are_those_of_the_first_run() -> None:
    found = []
    for t in (torch, clarion):
        x = t.arange(27, dtype=t.float64).square().reshape(3, 3, 3).cos().requires_grad_()
        run = lambda a: t.vmap(t.linalg.qr)(a)[0].sin().sum()
        t.utils.checkpoint.checkpoint(run, x, use_reentrant=False).backward()
        found.append(x.grad.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-12)


def test_arguments_come_back_as_they_are() -> None:
    for t in (torch, clarion):
        x = t.ones(4, 3)
        assert t.vmap(lambda row: row.mul_(2))(x) is x
        assert t.vmap(lambda row: row, 1, 1)(x) is x
        assert t.vmap(lambda row: row, 1)(x) is not x
