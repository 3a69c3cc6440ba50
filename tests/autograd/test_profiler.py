"""torch.profiler: which operations appear, how their times add up, steps, traces, tables."""

from __future__ import annotations

import gzip
import json
import sys
import time

import pytest

import clarion as torch
from clarion.autograd import profiler as autograd_profiler
from clarion.errors import NotSupportedError
from clarion.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)


def training():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(5, 3), torch.tensor([0, 1, 0, 1, 1])

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def counts(events) -> dict[str, int]:
    return {event.key: event.count for event in events.key_averages()}


BACKWARD = "autograd::engine::evaluate_function: "


def test_operations_and_their_gradients_are_counted():
    step = training()
    with profile() as prof:
        step()
        step()
    found = counts(prof.events())
    assert found["aten::linear"] == 4
    assert found["aten::relu"] == 2
    assert found["aten::cross_entropy"] == 2
    assert found[BACKWARD + "AddmmBackward0"] == 4
    assert found[BACKWARD + "ReluBackward0"] == 2
    assert found["Optimizer.step#SGD.step"] == 2
    assert found["Optimizer.zero_grad#SGD.zero_grad"] == 2


def test_operations_of_one_kind_of_call_keep_their_names():
    x = torch.ones(3, requires_grad=True)
    for _ in range(200):  # from then on views and writes may be compiled as a whole
        x.view(3, 1), x[0], torch.cat([x, x]), x.detach().clone().zero_()
    with profile() as prof:
        x.sum()
        x.mean()
        x.softmax(0)
        x.view(3, 1)
        x[0]
        torch.cat([x, x])
        x + 1
        x.detach().clone().add_(1).zero_()
        torch.zeros(2)
        torch.randn(2)
    names = list(counts(prof.events()))
    for part in ("sum", "mean", "softmax", "view", "select", "cat", "add", "add_", "zero_", "clone", "zeros", "randn"):
        assert any(name == f"aten::{part}" or name.startswith(f"aten::{part}_") for name in names), (part, names)
    assert "aten::bernoulli" not in names


def test_custom_functions_have_their_own_names():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    with profile() as prof:
        Twice.apply(torch.ones(2, requires_grad=True)).sum().backward()
    found = counts(prof.events())
    assert found["Twice"] == 1
    assert found[BACKWARD + "TwiceBackward"] == 1


def test_times_add_up():
    with profile() as prof, record_function("outer"):
        with record_function("inner"):
            time.sleep(0.02)
        time.sleep(0.01)
    by_name = {event.key: event for event in prof.key_averages()}
    outer, inner = by_name["outer"], by_name["inner"]
    assert inner.cpu_time_total >= 20_000
    assert outer.cpu_time_total >= inner.cpu_time_total + 10_000
    assert outer.self_cpu_time_total == pytest.approx(outer.cpu_time_total - inner.cpu_time_total)
    assert prof.key_averages().self_cpu_time_total == pytest.approx(outer.cpu_time_total)
    assert inner.cpu_time == inner.cpu_time_total / inner.count


def test_regions_as_decorators_and_without_a_profiler():
    @record_function("region")
    def work():
        return torch.ones(2) + 1

    work()
    with profile() as prof:
        work()
    assert counts(prof.events())["region"] == 1


def test_shapes_and_lines():
    x = torch.ones(4, 3)
    with profile(record_shapes=True, with_stack=True) as prof:
        x @ torch.ones(3, 2)
    (event,) = [event for event in prof.events() if "mm" in event.name or "matmul" in event.name]
    assert event.input_shapes == [[4, 3], [3, 2]]
    assert "test_profiler.py" in event.stack[0]
    grouped = prof.key_averages(group_by_input_shape=True)
    assert "[[4, 3], [3, 2]]" in grouped.table()


def test_table():
    step = training()
    with profile() as prof:
        step()
    averages = prof.key_averages()
    table = averages.table(sort_by="self_cpu_time_total", row_limit=3)
    lines = table.splitlines()
    assert lines[1].split()[0] == "Name"
    assert len(lines) == 3 + 3 + 2
    assert lines[-1].startswith("Self CPU time total: ")
    times = [event.self_cpu_time_total for event in sorted(averages, key=lambda e: -e.self_cpu_time_total)]
    assert lines[3].split()[0] == max(averages, key=lambda e: e.self_cpu_time_total).key.split()[0]
    assert times[0] == max(times)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        averages.table(sort_by="nonsense")


def test_steps_follow_the_schedule(tmp_path):
    step, told = training(), []

    def ready(prof):
        told.append((prof.step_num, sorted(e.key for e in prof.key_averages() if e.key.startswith("ProfilerStep"))))

    with profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready) as prof:
        for _ in range(10):
            step()
            prof.step()
    assert told == [(4, ["ProfilerStep#2", "ProfilerStep#3"]), (8, ["ProfilerStep#6", "ProfilerStep#7"])]
    assert sys.getprofile() is None


def test_traces(tmp_path):
    step = training()
    with profile(record_shapes=True, on_trace_ready=tensorboard_trace_handler(str(tmp_path / "log"))) as prof:
        step()
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    prof.export_chrome_trace(tmp_path / "trace.json.gz")
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert {event["name"] for event in trace["traceEvents"]} == {event.name for event in prof.events()}
    assert all(event["dur"] >= 0 for event in trace["traceEvents"])
    assert json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes())) == trace
    (written,) = (tmp_path / "log").iterdir()
    assert written.name.endswith(".pt.trace.json")


def test_an_exception_ends_it():
    with pytest.raises(RuntimeError, match="Trying to backward"), profile() as prof:
        y = torch.ones(2, requires_grad=True).exp().sum()
        y.backward()
        y.backward()
    assert sys.getprofile() is None
    assert counts(prof.events())["aten::exp"] == 1


def test_the_older_profiler():
    with autograd_profiler.profile() as prof:
        torch.ones(2).exp()
    assert counts(prof.function_events)["aten::exp"] == 1
    assert "aten::exp" in prof.key_averages().table()
    with autograd_profiler.profile(enabled=False):
        assert sys.getprofile() is None


def test_what_is_not_there_says_so():
    with pytest.warns(UserWarning, match="CUDA is not available, disabling CUDA profiling"):
        profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    with pytest.warns(UserWarning, match="measures time, not memory"):
        profile(profile_memory=True)
    with pytest.raises(NotSupportedError, match=r"does not have torch\.autograd\.profiler\.emit_nvtx"):
        autograd_profiler.emit_nvtx()
    with pytest.raises(RuntimeError, match="already enabled"), profile(), profile():
        pass


@pytest.mark.compare
def test_schedules_are_pytorchs():
    theirs = pytest.importorskip("torch.profiler", reason="compares with PyTorch")
    for plan in (
        {"wait": 2, "warmup": 1, "active": 3},
        {"wait": 0, "warmup": 2, "active": 1, "repeat": 2, "skip_first": 3},
    ):
        for first in (0, 1):
            a, b = schedule(**plan, skip_first_wait=first), theirs.schedule(**plan, skip_first_wait=first)
            assert [a(i).name for i in range(30)] == [b(i).name for i in range(30)]
    assert {action.name for action in ProfilerAction} <= set(theirs.ProfilerAction.__members__)
    with pytest.raises(AssertionError, match="Invalid profiler schedule arguments"):
        schedule(wait=-1, warmup=1, active=1)


def test_operations_that_a_class_may_take_over_are_counted_once():
    class Own(torch.Tensor):
        pass

    with profile() as prof:
        torch.ones(2).exp()
        torch.ones(2).as_subclass(Own).exp()
    assert counts(prof.events())["aten::exp"] == 2
