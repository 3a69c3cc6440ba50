"""Runs the comparison with PyTorch's operator database under pytest.

    pytest tests/compare/test_opdb.py -n 2 -k "matmul and float64"
"""

import dataclasses
import fnmatch
import warnings

import pytest

pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytest.importorskip("expecttest", reason="PyTorch's operator database imports it")

import clarion  # noqa: E402

from . import opdb  # noqa: E402
from .opnames import EXTRA, REQUIRED  # noqa: E402


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


KNOWN_GAPS = ()


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


@pytest.mark.parametrize(("op", "dtype"), _cases())
def test_samples(op, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = opdb.compare_op(clarion, op, dtype)
    _judge(report)


@pytest.mark.parametrize("op", _error_cases())
def test_error_inputs(op):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = opdb.compare_errors(clarion, op)
    _judge(report)
