"""Functions that PyTorch's operator database does not have: they do here what they do there."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import clarion

pytestmark = pytest.mark.compare
BOTH = (clarion, torch)


def quietly(act, *args):
    """The result, or the type of the exception, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return act(*args)
        except Exception as error:
            return next(kind for kind in (TypeError, ValueError, RuntimeError) if isinstance(error, kind))


def same(act):
    """`act(library)` gives the same in both."""
    ours, theirs = (quietly(act, library) for library in BOTH)
    if isinstance(theirs, type):
        assert ours is theirs
    elif isinstance(theirs, torch.Tensor):
        assert str(ours.dtype) == str(theirs.dtype)
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-6)
    else:
        assert ours == theirs


@pytest.mark.parametrize("shape", [(3, 3), (7, 3), (3, 7), (3, 3, 3), (3,), (2, 3, 4)])
@pytest.mark.parametrize("wrap", [False, True])
def test_fill_diagonal(shape, wrap):
    same(lambda t: t.zeros(*shape).fill_diagonal_(2.5, wrap))


def test_fill_diagonal_takes_the_gradient_away():
    def gradient(t):
        x = t.ones(3, 3, requires_grad=True)
        y = x * 2
        y.fill_diagonal_(0)
        y.sum().backward()
        return x.grad

    same(gradient)
    same(lambda t: type((t.ones(2, 2, requires_grad=True) * 1).fill_diagonal_(0).grad_fn).__name__)


@pytest.mark.parametrize("ends", [(4,), (1, 4), (0, 1, 0.25), (5, 1, -2), (1, 4, 0), (4, 1), (0, 1, 0.3)])
def test_range(ends):
    same(lambda t: t.range(*ends))
    if all(isinstance(end, int) for end in ends):  # PyTorch crashes if the step comes to 0
        same(lambda t: t.range(*ends, dtype=t.int64))


@pytest.mark.parametrize("n", [None, 0, 1, 2, 5, -1])
def test_vander(n):
    same(lambda t: t.vander(t.tensor([1, 2, 3]), n))
    same(lambda t: t.vander(t.tensor([0.5, 2.0]), n, True))


def test_no_gradient_comes_from_the_logarithm_of_a_negative_determinant():
    def act(t):
        x = t.tensor([[[1.0, 2.0], [3.0, 4.0]], [[2.0, 1.0], [0.5, 2.0]]], requires_grad=True)
        t.logdet(x).sum().backward()
        return x.grad

    same(act)
    same(lambda t: t.logdet(t.tensor([[0.0, 1.0], [1.0, 0.0]])))
    same(lambda t: t.logdet(t.tensor([[1 + 1j, 2], [3, 4]])))


def test_detach_as_a_function():
    for t in BOTH:
        x = t.ones(2, requires_grad=True)
        assert t.detach(x).data_ptr() == x.data_ptr()
        assert not t.detach(x).requires_grad
        y = x * 2
        assert t.detach_(y) is y
        assert y.grad_fn is None
        assert t.detach_copy(x).data_ptr() != x.data_ptr()


def test_as_subclass():
    for t in BOTH:
        kind = type("Special", (t.Tensor,), {})
        x = t.ones(2, requires_grad=True)
        y = x.as_subclass(kind)
        assert type(y) is kind
        assert y.requires_grad
        assert type(y.grad_fn).__name__ == "AliasBackward0"
        assert y.data_ptr() == x.data_ptr()
        y.sum().backward()
        assert type(x.grad) is t.Tensor
        assert x.grad.tolist() == [1, 1]
        assert type(t.nn.Parameter(x).as_subclass(t.Tensor)) is t.Tensor


def test_unsafe_parts_share_memory_and_may_be_written():
    for t in BOTH:
        x = t.zeros(4, 2)
        first, second = t.unsafe_split(x, 2)
        first.add_(1)
        assert x.sum().item() == 4
        assert not first._is_view()
        assert second.shape == (2, 2)


@pytest.mark.parametrize("mode", ["default", "warn", "error", 0, 1, 2, 3, "other", 1.5])
def test_deterministic_debug_mode(mode):
    def read(t):
        try:
            t.set_deterministic_debug_mode(mode)
            return t.get_deterministic_debug_mode(), t.are_deterministic_algorithms_enabled()
        finally:
            t.use_deterministic_algorithms(False)

    same(read)


def test_switches():
    same(lambda t: (t.is_warn_always_enabled(), t.set_warn_always(False), t.is_warn_always_enabled()))
    same(lambda t: t.set_warn_always(3))
    same(lambda t: t.set_num_interop_threads(0))
    assert clarion.get_num_interop_threads() > 0
    assert clarion.set_flush_denormal(True) is False


def test_distances_by_a_product():
    def of(t, mode, rows):
        x = (t.arange(rows * 3) * 0.37).double().sin().reshape(rows, 3).requires_grad_()
        y = (t.arange(12) * 0.61).double().cos().reshape(4, 3)
        d = t.cdist(x, y, compute_mode=mode)
        (g,) = t.autograd.grad((d**2).sum(), x)
        return d.detach(), g, type(d.grad_fn).__name__, d.stride()

    for mode in ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist", None):
        for rows in (5, 25, 26):
            for part in range(4):
                same(lambda t, mode=mode, rows=rows, part=part: of(t, mode, rows)[part])
    same(lambda t: of(t, "quickly", 5)[0])


def test_streams_and_events_of_the_cpu():
    assert clarion.GradScaler is clarion.amp.GradScaler
    for kind in (clarion.Stream, clarion.Event):
        assert not isinstance(1, kind)
    same(lambda t: (str(t.Stream()), str(t.Event())))
    same(lambda t: t.Event().record())


@pytest.mark.parametrize(
    "refused",
    [
        lambda t: t.histogram(t.tensor([1, 2]), 3),
        lambda t: t.histogram(t.tensor([1.0, 2]), 0),
        lambda t: t.histogram(t.tensor([1.0, 2]), 2, range=(3.0, 1.0)),
        lambda t: t.histogramdd(t.ones(4, 2), [2]),
        lambda t: t.linalg.lu_factor(t.zeros(2, 2)),
        lambda t: t.linalg.lu(t.ones(2, 2), pivot=False),
        lambda t: t.linalg.cond(t.ones(2, 3), 1),
        lambda t: t.linalg.cond(t.ones(2, 2), 3),
        lambda t: t.matrix_exp(t.ones(2, 3)),
        lambda t: t.quantile(t.ones(3), 1.5),
        lambda t: t.isin(t.tensor([True]), t.tensor([True])),
        lambda t: t.unravel_index(t.tensor([1.0]), (2, 2)),
        lambda t: t.nonzero_static(t.ones(2), size=-1),
    ],
)
def test_refusals(refused):
    outcome = [quietly(refused, t) for t in BOTH]
    assert isinstance(outcome[1], type)
    assert outcome[0] is outcome[1]


@pytest.mark.parametrize(
    "act",
    [
        lambda lib, x: lib.stack([x, x], axis=1),
        lambda lib, x: x.softmax(axis=1) + lib.log_softmax(x, axis=0),
        lambda lib, x: x.sort(axis=0, descending=True)[1] + x.argsort(axis=0),
        lambda lib, x: lib.topk(x, 2, axis=1)[0],
        lambda lib, x: x.median(axis=1, keepdims=True)[0] + lib.quantile(x, 0.3, axis=1, keepdims=True),
        lambda lib, x: lib.stack(lib.cat(x.chunk(2, axis=1)).unbind(axis=1)),
        lambda lib, x: lib.logsumexp(x, axis=1, keepdims=True) + x.diff(axis=1),
        lambda lib, x: lib.count_nonzero(x, axis=0) + x.mode(axis=0)[1] + x.kthvalue(2, axis=0)[1],
        lambda lib, x: lib.cross(x[:, :3], x[:, 1:], axis=1) + x.repeat_interleave(2, axis=0)[1:4, :3],
        lambda lib, x: x.softmax(),
    ],
)
def test_numpys_names_of_arguments(act):
    same(lambda lib: act(lib, lib.arange(12.0).reshape(3, 4).remainder(5)))


@pytest.mark.parametrize(
    "act",
    [
        lambda t, i, v: t.sparse.FloatTensor(i, v, t.Size([3, 4])).to_dense(),
        lambda t, i, v: t.spmm(t.sparse.FloatTensor(i, v), t.ones(3, 2)),
        lambda t, i, v: t.sparse.LongTensor(i, v.long(), (3, 3)).to_dense(),
        lambda t, i, v: t.sparse.FloatTensor(2, 3).to_dense(),
        lambda t, i, v: t.sparse.FloatTensor(i, v).type(),
        lambda t, i, v: t.sparse.FloatTensor(i, v).type(t.sparse.DoubleTensor).to_dense(),
        lambda t, i, v: [isinstance(x, t.sparse.FloatTensor) for x in (v, t.sparse.FloatTensor(i, v), t.sparse.LongTensor(i, v.long()))],
        lambda t, i, v: isinstance(t.sparse.FloatTensor(i, v), t.FloatTensor),
        lambda t, i, v: (t.sparse_coo_tensor(i, v).requires_grad_().requires_grad, v.requires_grad),
        lambda t, i, v: t.sparse_coo_tensor(i, v).requires_grad_().data.requires_grad,
    ],
)  # fmt: skip
def test_old_types_of_sparse_tensors(act):
    same(lambda t: act(t, t.LongTensor([[0, 1, 2], [1, 2, 0]]), t.FloatTensor([1, 2, 3])))
