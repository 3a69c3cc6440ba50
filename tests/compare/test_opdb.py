"""Runs the comparison with PyTorch's operator database under pytest.

pytest tests/compare/test_opdb.py -n 2 -k "matmul and float64"
"""

import dataclasses
import fnmatch
import types
import warnings

import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytest.importorskip("expecttest", reason="PyTorch's operator database imports it")

import clarion

from . import opdb
from .opnames import EXTRA, REQUIRED


@dataclasses.dataclass(frozen=True)
class Gap:
    """A known difference.  Each field but the reason is a pattern; `sample` is
    matched with the short text of the sample.  A gap that no longer shows up
    fails the test, so this table cannot go stale."""

    op: str
    reason: str
    dtype: str = "*"
    variant: str = "*"
    kind: str = "*"
    sample: str = "*"

    def covers(self, failure):
        return all(
            fnmatch.fnmatchcase(getattr(failure, field), getattr(self, field))
            for field in ("op", "dtype", "variant", "kind", "sample")
        )


KNOWN_GAPS = (
    Gap(
        "as_strided_scatter",
        "PyTorch's gradient is wrong: it flows where values were replaced (finite differences agree with clarion)",
        dtype="float*",
        kind="grad*",
    ),
    Gap("addbmm", "PyTorch's addbmm_ gives the tensor it writes another shape", variant="inplace", kind="exception"),
)


def _cases():
    for names, priority in ((REQUIRED, "required"), (EXTRA, "extra")):
        for op in opdb.entries(names):
            for dtype in opdb.dtypes_of(op):
                label = f"{opdb.full_name(op)}-{opdb.name_of(dtype)}-{priority}"
                yield pytest.param(op, dtype, id=label)


def _error_cases():
    for op in opdb.entries(REQUIRED + EXTRA):
        if op.error_inputs_func is not None:
            yield pytest.param(op, id=f"{opdb.full_name(op)}-errors")


def _judge(report):
    gaps = [
        gap for gap in KNOWN_GAPS
        if fnmatch.fnmatchcase(report.op, gap.op) and fnmatch.fnmatchcase(report.dtype, gap.dtype)
    ]  # fmt: skip
    known = [f for f in report.failures if any(gap.covers(f) for gap in gaps)]
    fresh = [f for f in report.failures if f not in known]
    if fresh:
        lines = "\n".join(list(opdb.brief(fresh))[:10])
        pytest.fail(f"{report.passed}/{report.total} samples\n{lines}", pytrace=False)
    stale = [gap for gap in gaps if not any(gap.covers(f) for f in known)]
    assert not stale, f"no longer a gap: {stale}"
    if known:
        pytest.xfail("; ".join(gap.reason for gap in gaps))


@pytest.mark.parametrize(("op", "dtype"), list(_cases()))
def test_samples(op, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = opdb.compare_op(clarion, op, dtype)
    _judge(report)


@pytest.mark.parametrize("op", list(_error_cases()))
def test_error_inputs(op):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = opdb.compare_errors(clarion, op)
    _judge(report)


# The rest tests the referee: a library equal to PyTorch but for one fault must
# be caught, with the right kind of failure.


def _exp_with_wrong_slope(x, **kwargs):
    return torch.exp(x.detach(), **kwargs) + 2 * (x - x.detach())


def _exp_with_straight_slope(x, **kwargs):
    return torch.exp(x.detach(), **kwargs) * (1 + x - x.detach())


def _silu_not_in_place(x, inplace=False):
    return torch.nn.functional.silu(x)


def _unstarted(*args, **kwargs):
    raise NotImplementedError("later")


FAULTS = [
    ("exp", "function", "value", lambda x, **kwargs: torch.exp(x, **kwargs) + 1e-6),
    ("exp", "function", "shape", lambda x, **kwargs: torch.exp(x, **kwargs)[None]),
    ("exp", "function", "dtype", lambda x, **kwargs: torch.exp(x, **kwargs).float()),
    ("exp", "function", "type", lambda x, **kwargs: [torch.exp(x, **kwargs)]),
    ("exp", "function", "requires_grad", lambda x, **kwargs: torch.exp(x.detach(), **kwargs)),
    ("exp", "function", "grad", _exp_with_wrong_slope),
    ("exp", "function", "gradgrad", _exp_with_straight_slope),
    ("exp", "function", "exception", _unstarted),
    ("exp", "out", "type", lambda x, out=None: torch.exp(x)),
    ("max/reduction_with_dim", "function", "type", lambda x, *args, **kwargs: (x, x)),
    ("sort", "function", "value", lambda x, *args, **kwargs: torch.sort(-x, *args, **kwargs)),
    ("nn.functional.silu", "inplace", "value", _silu_not_in_place),
]


def _faulty(name, function):
    """torch with one function replaced."""
    copies = types.ModuleType("torch")
    copies.__dict__.update(torch.__dict__)
    owner = copies
    *parents, last = name.split("/")[0].split(".")
    for parent in parents:
        inner = types.ModuleType(parent)
        inner.__dict__.update(getattr(owner, parent).__dict__)
        setattr(owner, parent, inner)
        owner = inner
    setattr(owner, last, function)
    return copies


@pytest.mark.parametrize(("name", "variant", "kind", "function"), FAULTS)
def test_faults_are_seen(name, variant, kind, function):
    (op, *_) = opdb.entries([name])
    report = opdb.compare_op(_faulty(name, function), op, torch.float64)
    assert kind in {failure.kind for failure in report.failures if failure.variant == variant}
    assert opdb.compare_op(torch, op, torch.float64).failures == []


def test_faults_in_low_precision_are_seen():
    # Larger than rounding, which alone is excused by the float64 result.
    def shifted(x, **kwargs):
        return torch.exp(x, **kwargs) * 1.0001

    (op,) = opdb.entries(["exp"])
    report = opdb.compare_op(_faulty("exp", shifted), op, torch.float32)
    assert "value" in {failure.kind for failure in report.failures}


@pytest.mark.parametrize("error", [ValueError, NotImplementedError])
def test_wrong_exceptions_are_seen(error):
    def cat(*args, **kwargs):
        raise error("no")

    (op,) = opdb.entries(["cat"])
    report = opdb.compare_errors(_faulty("cat", cat), op)
    wrong = [failure for failure in report.failures if failure.kind == "error-type"]
    assert len(wrong) >= report.total - 1 > 0
