"""Every operation, by its rows in tests/opcases: values, derivatives, types, shapes, strides, and what it leaves alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import clarion as torch
from clarion.autograd import gradcheck, gradgradcheck
from clarion.core.namespace import OPS

from .opcases import ROWS, Row
from .rowtools import (
    as_type,
    assert_close,
    differentiable,
    draw,
    gradients,
    leaves,
    numpy_of,
    results,
    tensors,
    type_name,
)

LARGE = 60  # elements; finite differences along each are too many beyond that


def having(wanted: Any) -> Any:
    """Parametrize over the rows for which `wanted(row)`."""
    return pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS if wanted(row)])


def floats(row: Row) -> bool:
    """Does a row have floating inputs (not only indices)?"""
    return any(a.dtype.kind in "fc" for a in draw(row))


def derived(row: Row) -> bool:
    """Does a row have derivatives?"""
    return row.grad != () and floats(row)


def draws(row: Row) -> bool:
    """Is a row random? Its numbers depend on type and layout."""
    return getattr(row.call, "draws", False)


def differentiates(row: Row) -> bool:
    """Does a row call autograd.grad itself?"""
    return getattr(row.call, "differentiates", False)


def expected(row: Row, arrays: list[Any]) -> list[Any]:
    """What the reference says."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = row.ref(*[a.copy() for a in arrays])
    return list(value) if isinstance(value, (tuple, list)) else [value]


def check_values(row: Row, made: list[Any], arrays: list[Any], what: str) -> None:
    """Run a row on tensors; compare with the reference on arrays; look that the inputs are as they were."""
    before = [numpy_of(torch, x) for x in made]
    outs = results(row.call(torch, *made))
    for x, old in zip(made, before, strict=True):
        np.testing.assert_array_equal(numpy_of(torch, x), old, err_msg=f"{what}: an input was changed")
    if row.ref is None:
        return
    answers = expected(row, arrays)
    assert len(outs) == len(answers)
    for out, answer in zip(outs, answers, strict=True):
        assert_close(numpy_of(torch, out), answer, type_name(out), what)


def test_every_operation_has_a_row():
    known = {name for name in OPS if not name.startswith("pointwise_")}  # those are users' own functions
    missing = sorted(known - {row.op for row in ROWS})
    assert not missing, f"operations without a row in tests/opcases: {missing}"


def test_rows_have_names_of_their_own():
    assert len({row.id for row in ROWS}) == len(ROWS)


@having(lambda row: True)
def test_values(row):
    arrays = draw(row)
    made = tensors(torch, arrays)
    check_values(row, made, arrays, "float64")
    if floats(row):
        check_values(row, tensors(torch, arrays, "float32"), [as_type(a, "float32") for a in arrays], "float32")
        if row.ref is None and not draws(row):  # the two precisions have to agree at least
            low, high = (results(row.call(torch, *tensors(torch, arrays, d))) for d in ("float32", "float64"))
            for a, b in zip(low, high, strict=True):
                if a.is_floating_point() and type_name(a) != type_name(b):
                    assert_close(numpy_of(torch, a), numpy_of(torch, b), "float32", "float32 against float64")


@having(lambda row: row.edge_shapes)
def test_edge_shapes(row):
    for shapes in row.edge_shapes:
        arrays = draw(row, shapes)
        check_values(row, tensors(torch, arrays), arrays, f"shapes {shapes}")
        inputs = leaves(torch, row, arrays)
        grads = gradients(torch, row, row.call, inputs)
        for x, grad in zip([x for x in inputs if x.requires_grad], grads, strict=False):
            assert grad is None or grad.shape == x.shape


@having(lambda row: row.dtypes)
def test_types(row):
    for dtype in row.dtypes:
        arrays = [as_type(a, dtype) for a in draw(row)]
        made = tensors(torch, draw(row), dtype)
        outs = results(row.call(torch, *made))
        half = dtype in ("float16", "bfloat16")
        assert all(type_name(o) == dtype for o in outs if half and o.is_floating_point()), (
            f"{dtype}: type of the result"
        )
        if row.ref is None:
            continue
        if half or any(o.is_floating_point() for o in outs):
            # NumPy computes functions of small integers in half precision, clarion in the default type
            arrays = [a.astype("float64") if a.dtype.kind != "c" and a.dtype != b.dtype else a
                      for a, b in zip([numpy_of(torch, x) for x in made], draw(row), strict=True)]  # fmt: skip
        for out, answer in zip(outs, expected(row, arrays), strict=True):
            close = type_name(out) if out.is_floating_point() or out.is_complex() else ""
            assert_close(numpy_of(torch, out), answer, close, dtype)


@having(lambda row: derived(row) and row.numeric)
def test_gradients(row):
    inputs = leaves(torch, row, draw(row))
    fast = sum(x.numel() for x in inputs) > LARGE
    assert gradcheck(lambda *xs: row.call(torch, *xs), inputs, fast_mode=fast, atol=1e-4)


@having(derived)
def test_types_of_gradients(row):
    for dtype in ("float32", *[d for d in row.dtypes if d in ("float16", "bfloat16", "complex64")]):
        inputs = leaves(torch, row, draw(row), dtype)
        wanted = [x for x in inputs if x.requires_grad]
        for x, grad in zip(wanted, gradients(torch, row, row.call, inputs), strict=False):
            assert grad is None or grad.dtype is x.dtype


@having(lambda row: derived(row) and row.second and row.numeric)
def test_second_derivatives(row):
    inputs = leaves(torch, row, draw(row))
    if not any(out.requires_grad for out in results(row.call(torch, *inputs))):
        pytest.skip("no result depends differentiably on an input, so there is no second derivative")
    assert gradgradcheck(lambda *xs: row.call(torch, *xs), inputs, fast_mode=True, atol=1e-4)


def _strided(x: Any) -> list[Any]:
    """The same values, laid out otherwise: transposed, and with gaps and an offset."""
    if x.ndim == 0:
        return []
    backwards = list(range(x.ndim))[::-1]
    transposed = x.permute(backwards).clone(memory_format=torch.contiguous_format).permute(backwards)
    wide = torch.zeros([*x.shape[:-1], 2 * x.shape[-1] + 1], dtype=x.dtype)
    wide[..., 1::2] = x
    return [transposed, wide[..., 1::2]]


STRIDES_MATTER = {"as_strided", "as_strided_copy", "as_strided_scatter", "as_strided_backward", "view", "view_dtype",
                  "view_as_complex", "view_as_complex_copy", "view_take", "view_put", "view_clear", "view_scatter"}  # fmt: skip


@pytest.mark.filterwarnings("ignore:torch.searchsorted.*is non-contiguous")
@having(lambda row: row.op not in STRIDES_MATTER and not draws(row))
def test_strides_do_not_matter(row):
    plain = leaves(torch, row, draw(row))
    values = [numpy_of(torch, out) for out in results(row.call(torch, *plain))]
    grads = gradients(torch, row, row.call, plain)
    for layout in range(2):
        made = [(_strided(x) or [x, x])[layout] for x in tensors(torch, draw(row))]
        made = [x.detach() for x in made]
        for i in differentiable(row, made):
            made[i].requires_grad_(True)
        for out, value in zip(results(row.call(torch, *made)), values, strict=True):
            assert_close(numpy_of(torch, out), value, type_name(out), "other strides")
        for grad, known in zip(gradients(torch, row, row.call, made), grads, strict=True):
            assert (grad is None) == (known is None)
            if grad is not None:
                assert_close(numpy_of(torch, grad), numpy_of(torch, known), type_name(grad), "gradient, other strides")


@having(lambda row: row.inplace)
def test_in_place(row):
    arrays = draw(row)
    made = tensors(torch, arrays)
    value = row.call(torch, *made)
    version = made[0]._version
    written = row.inplace(torch, *made)
    assert written is made[0]
    assert written._version > version
    assert_close(numpy_of(torch, written), numpy_of(torch, value), type_name(value), "in place")

    # Gradients: into an intermediate value
    inputs = leaves(torch, row, arrays)
    grads = gradients(torch, row, row.call, inputs)
    inputs = leaves(torch, row, arrays)
    got = gradients(torch, row, lambda t, x, *rest: row.inplace(t, x * 1, *rest), inputs)
    assert len(got) == len(grads)
    for grad, known in zip(got, grads, strict=True):
        assert (grad is None) == (known is None)
        if grad is not None:
            assert_close(numpy_of(torch, grad), numpy_of(torch, known), type_name(grad), "gradient, in place")


@having(lambda row: row.inplace and ".random." not in row.call.__module__)
@pytest.mark.filterwarnings("ignore")
def test_in_place_on_strides(row):
    """Array libraries have loops of their own for some strides: each must write what a contiguous array gets."""
    for dtype in ("float64", "float32", "int64", "int32", "complex64", "float16"):
        for step in (2, 4, 8):
            x, *rest = tensors(torch, draw(row), dtype)
            spread = torch.zeros((*x.shape, step), dtype=x.dtype)
            part = spread[..., 1]
            part.copy_(x)
            try:
                row.inplace(torch, x, *rest)
            except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
                break
            row.inplace(torch, part, *rest)
            np.testing.assert_array_equal(numpy_of(torch, part), numpy_of(torch, x), f"{dtype}, every {step}th")
            assert not spread[..., 0].any(), "written beside"


@having(lambda row: row.inplace and derived(row) and 0 in (row.grad or (0,)))
def test_in_place_refuses_leaves(row):
    inputs = leaves(torch, row, draw(row))
    before = numpy_of(torch, inputs[0])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        row.inplace(torch, *inputs)
    np.testing.assert_array_equal(numpy_of(torch, inputs[0]), before)
    assert inputs[0]._version == 0
    with torch.no_grad():
        row.inplace(torch, *inputs)
    assert inputs[0].is_leaf
    assert inputs[0]._version > 0


def _refused(write: Any, tensor: Any) -> None:
    """If `write` raises, the tensor is as it was."""
    before, version = numpy_of(torch, tensor), tensor._version
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write()
    except (RuntimeError, TypeError, ValueError, IndexError):
        np.testing.assert_array_equal(numpy_of(torch, tensor), before)
        assert tensor._version == version


@having(lambda row: row.inplace)
def test_refused_writes_change_nothing(row):
    arrays = draw(row)
    for dtype in ("bool", "int64", "float32"):
        x, *_ = tensors(torch, arrays, dtype)
        _, *rest = tensors(torch, arrays)
        _refused(lambda: row.inplace(torch, x, *rest), x)
    x, *rest = tensors(torch, arrays)
    for bad in (x.detach().reshape(-1)[:1].clone(), x.detach().clone().unsqueeze(0).repeat(2, *[1] * x.ndim)[..., :0]):
        _refused(lambda: row.inplace(torch, bad, *rest), bad)


@having(lambda row: row.out)
def test_out(row):
    made = tensors(torch, draw(row))
    value = row.call(torch, *made)
    targets = [torch.empty_like(v) for v in results(value)]
    versions = [target._version for target in targets]
    out = tuple(targets) if isinstance(value, tuple) else targets[0]
    returned = row.call(torch, *made, out=out)
    for target, back, v, version in zip(targets, results(returned), results(value), versions, strict=True):
        assert back is target
        assert target._version > version
        np.testing.assert_array_equal(numpy_of(torch, target), numpy_of(torch, v))
    # Resized from nothing, silently
    out = tuple(torch.empty(0, dtype=v.dtype) for v in results(value))
    row.call(torch, *made, out=out if isinstance(value, tuple) else out[0])
    for target, v in zip(out, results(value), strict=True):
        np.testing.assert_array_equal(numpy_of(torch, target), numpy_of(torch, v))
    # A type that cannot hold the result
    wrong = tuple(torch.zeros(v.shape, dtype=torch.bool) for v in results(value))
    _refused(lambda: row.call(torch, *made, out=wrong if isinstance(value, tuple) else wrong[0]), wrong[0])
    if derived(row):
        with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
            row.call(torch, *leaves(torch, row, draw(row)), out=out if isinstance(value, tuple) else out[0])


@having(lambda row: not differentiates(row))
def test_without_recording(row):
    inputs = leaves(torch, row, draw(row))
    values = [numpy_of(torch, out) for out in results(row.call(torch, *inputs))]
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            inputs = leaves(torch, row, draw(row))
            outs = results(row.call(torch, *inputs))
        for out, value in zip(outs, values, strict=True):
            if any(out is x for x in inputs):  # dropout that does nothing
                continue
            assert not out.requires_grad or out._is_view()  # a view says what its base says
            assert out.grad_fn is None
            assert out.is_inference() is (mode is torch.inference_mode)
            np.testing.assert_array_equal(numpy_of(torch, out), value)


# The referee itself: each of these rows has one fault, and the named test has to see it -------------------------------


class _WrongSlope(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.exp()

    @staticmethod
    def backward(ctx, g):
        return g * 1.01


class _StraightSlope(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.slope = x.exp()
        return ctx.slope.clone()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.slope


def _overwrites(t, x):
    out = x.exp()
    x.zero_()
    return out


def _by_strides(t, x):
    return x.exp() if x.is_contiguous() else x.exp() + 1


X = ((3, 4),)
FAULTS = [
    (test_values, Row("exp", lambda t, x: t.exp(x) + 1e-6, X, np.exp)),
    (test_values, Row("exp", lambda t, x: t.exp(x)[None], X, np.exp)),
    (test_values, Row("exp", _overwrites, X, np.exp)),
    (test_edge_shapes, Row("exp", lambda t, x: t.exp(x) + (x.numel() == 1), X, np.exp, edge_shapes=(((),),))),
    (test_types, Row("exp", lambda t, x: t.exp(x).float(), X, np.exp, dtypes=("float16",))),
    (test_types, Row("sum", lambda t, x: t.sum(x).to(t.uint8), ((300,),), np.sum, (1.0, 2.0), dtypes=("int64",))),
    (test_gradients, Row("exp", lambda t, x: _WrongSlope.apply(x), X)),
    (test_second_derivatives, Row("exp", lambda t, x: _StraightSlope.apply(x), X)),
    (test_strides_do_not_matter, Row("exp", _by_strides, X)),
    (test_in_place, Row("exp", lambda t, x: t.exp(x), X, inplace=lambda t, x: t.exp(x))),
    (test_in_place, Row("exp", lambda t, x: t.exp(x), X, inplace=lambda t, x: x.exp_().add_(1e-6))),
    (test_in_place_refuses_leaves, Row("exp", lambda t, x: t.exp(x), X, inplace=lambda t, x: x.detach().exp_())),
    (test_out, Row("exp", lambda t, x, out=None: t.exp(x), X)),
    (test_without_recording, Row("exp", lambda t, x: t.exp(x) + (not t.is_grad_enabled()), X)),
]


@pytest.mark.parametrize(("check", "row"), FAULTS)
def test_faults_are_seen(check, row):
    with pytest.raises((AssertionError, RuntimeError, pytest.fail.Exception)):
        check(row)
