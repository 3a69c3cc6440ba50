"""The rows of tests/opcases on PyTorch: how results lie in memory, whose memory it is, and whether they may be written."""

import warnings

import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import clarion

from ..opcases import ROWS
from ..rowtools import draw, leaves, results, tensors

# Rows whose layout differs: results of one product where PyTorch composes several, spectra, gradients as functions of their own.
OTHER_LAYOUT = {
    "addr", "adaptive_avg_pool2d", "adaptive_max_pool2d", "angle_complex", "avg_pool2d",
    "convolution", "dirichlet_grad", "fft_r2c", "index1", "kron",
    "linalg_lstsq", "linalg_lu_solve", "local_response_norm", "lp_pool1d", "mse_loss_backward", "no_second_zero", "no_second_zero_backward",
    "rot90", "tiled_attention", "dropped_attention", "rrelu_mean", "standard_gamma_grad",
}  # fmt: skip
# Rules of gradients, which PyTorch hands over in another order; one whose operands are turned round; a loss.
ONE_ORDER = {
    "tanh_backward", "relu_backward", "leaky_relu_backward", "prelu_backward", "threshold_backward", "hardswish_backward",
    "rsub_scaled", "smooth_l1_loss",
}  # fmt: skip


def outcome(library, act):
    """What `act(library)` gives, or that it raised."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return act(library)
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
        return "refused"


def rows(*left_out):
    wanted = [row for row in ROWS if row.op not in left_out and not hasattr(row.call, "internal")]
    return pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in wanted])


def _strides(library, row, turn, which=lambda i: True):
    made = [turn(x) if x.dim() >= 2 and which(i) else x for i, x in enumerate(tensors(library, draw(row)))]
    outs = [out for out in results(row.call(library, *made)) if isinstance(out, library.Tensor)]
    return [[s for s, n in zip(out.stride(), out.shape, strict=True) if n > 1] if out.numel() else [] for out in outs]


@rows(*OTHER_LAYOUT)
def test_strides(row):
    for turn in (
        lambda x: x,
        lambda x: x.transpose(-1, -2).contiguous().transpose(-1, -2),
        lambda x: x.transpose(0, 1).contiguous().transpose(0, 1),
    ):
        theirs = outcome(torch, lambda t: _strides(t, row, turn))
        if theirs != "refused":
            assert outcome(clarion, lambda t: _strides(t, row, turn)) == theirs


@rows(*OTHER_LAYOUT, *ONE_ORDER)
def test_strides_of_operands_that_lie_differently(row):
    """The first operand that tells two dimensions apart decides; a random draw after it goes through memory."""
    for which in (lambda i: i == 0, lambda i: i == 1):
        theirs = outcome(torch, lambda t: _strides(t, row, turned, which))
        if theirs != "refused":
            assert outcome(clarion, lambda t: _strides(t, row, turned, which)) == theirs


def turned(x):
    return x.transpose(-1, -2).contiguous().transpose(-1, -2)


def _shares(library, row):
    made = tensors(library, draw(row))
    places = {x.untyped_storage().data_ptr() for x in made if x.numel()}
    outs = [out for out in results(row.call(library, *made)) if isinstance(out, library.Tensor) and out.numel()]
    return [out.untyped_storage().data_ptr() in places for out in outs]


@rows()
def test_memory_is_shared_or_not(row):
    theirs = outcome(torch, lambda t: _shares(t, row))
    if theirs != "refused":
        assert outcome(clarion, lambda t: _shares(t, row)) == theirs


def _write_and_differentiate(library, row):
    inputs = leaves(library, row, draw(row))
    outs = [o for o in results(row.call(library, *inputs)) if isinstance(o, library.Tensor) and o.requires_grad]
    if not outs or any(out._is_view() for out in outs):
        return None
    for out in outs:
        out.mul_(2)
    total = sum((out.abs() if out.is_complex() else out).sum() for out in outs)
    library.autograd.grad(total, [x for x in inputs if x.requires_grad], allow_unused=True)
    return "done"


@rows("tiled_attention", "dropped_attention")  # fused: it keeps its output, as PyTorch's fused one
def test_results_may_be_written_before_backward(row):
    """Where PyTorch's node does not need its output, neither does ours."""
    if outcome(torch, lambda t: _write_and_differentiate(t, row)) == "done":
        assert outcome(clarion, lambda t: _write_and_differentiate(t, row)) != "refused"


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (2, 5, 3)])
@pytest.mark.parametrize("name", ["svd", "qr", "eigh"])
def test_factors_lie_column_by_column(name, shape):
    def strides(library):
        library.manual_seed(0)
        x = library.randn(*shape)
        x = x @ x.mT if name == "eigh" else x
        return [factor.stride() for factor in getattr(library.linalg, name)(x)]

    assert strides(clarion) == strides(torch)
