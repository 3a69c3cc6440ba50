"""torch.utils.benchmark: the same times give the same statistics, texts and tables; a Timer measures what it runs."""

from __future__ import annotations

import time

import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import torch.utils.benchmark as theirs

import clarion.utils.benchmark as ours
from clarion.errors import NotSupportedError

pytestmark = pytest.mark.compare

TIMES = [[3e-4], [1e-3, 1.1e-3], [5e-6, 5.1e-6, 5.2e-6, 5e-6], [1.0, 2.0, 3.0, 9.0, 1.1], [2e-9, 2.1e-9, 2e-9]]
SPECS = [
    {"stmt": "f(x)"},
    {"stmt": "f(x)\ng(x)", "setup": "import math\nx = 1"},
    {"stmt": "f(x)", "label": "call", "sub_label": "small", "description": "plain", "setup": "x = 1", "num_threads": 4},
]


def measurements(benchmark, spec, number=10):
    task = benchmark.TaskSpec if hasattr(benchmark, "TaskSpec") else benchmark.utils.common.TaskSpec
    return [
        benchmark.Measurement(number, [t * number for t in times], task(**{"setup": "pass", **spec})) for times in TIMES
    ]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.get("label", spec["stmt"]))
def test_statistics_and_texts(spec):
    for a, b in zip(measurements(ours, spec), measurements(theirs, spec), strict=True):
        for name in ("median", "mean", "iqr", "significant_figures", "has_warnings", "title", "as_row_name", "times"):
            assert getattr(a, name) == pytest.approx(getattr(b, name)), name
        assert repr(a).splitlines()[1:] == repr(b).splitlines()[1:]
        assert a.stmt == b.stmt


def test_numbers_for_people():
    for value in (1.0, 123.456, 0.00123, 9.99, 55555.0):
        for n in (1, 2, 3):
            assert ours.trim_sigfig(value, n) == pytest.approx(theirs.trim_sigfig(value, n))
    for value in (2e-10, 3e-9, 4e-6, 0.5, 7.0, 1e-3):
        assert ours.select_unit(value) == theirs.select_unit(value)


def test_table():
    def table(benchmark):
        made = [
            m
            for spec in ({"sub_label": "small", "description": "one"}, {"sub_label": "large", "description": "two"})
            for m in measurements(benchmark, {"stmt": "f(x)", "label": "call", **spec})[:1]
        ]
        return str(benchmark.Compare(made))

    mine = [" ".join(line.split()) for line in table(ours).splitlines()]
    its = [" ".join(line.split()) for line in table(theirs).splitlines()]
    assert [line.replace("-", "") for line in mine] == [line.replace("-", "") for line in its]


def test_timer_measures():
    timer = ours.Timer("sleep(0.002)", globals={"sleep": time.sleep})
    assert 0.002 <= timer.timeit(3).median < 0.2
    found = timer.blocked_autorange(min_run_time=0.02)
    assert 0.002 <= found.median < 0.2
    assert sum(found.raw_times) >= 0.02
    assert 0.002 <= timer.adaptive_autorange(max_run_time=0.1).median < 0.2


def test_timer_runs_its_setup_and_its_threads():
    import clarion

    seen = []
    before = clarion.get_num_threads()
    ours.Timer(
        "seen.append(clarion.get_num_threads())", "import clarion", globals={"seen": seen}, num_threads=1
    ).timeit(1)
    assert set(seen) == {1}
    assert clarion.get_num_threads() == before


def test_refusals():
    with pytest.raises(NotSupportedError, match="times Python, not C"):
        ours.Timer("x", language="c++")
    with pytest.raises(NotSupportedError, match="does not count instructions"):
        ours.Timer("1").collect_callgrind()
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`"):
        ours.Compare([3])
