"""Devices that are not there: programs that ask get PyTorch's answers, and its refusals."""

from __future__ import annotations

import importlib

import pytest

import clarion


def outcome(t, name: str, *args):
    try:
        module, _, function = name.rpartition(".")
        return getattr(importlib.import_module(f"{t.__name__}.{module}"), function)(*args)
    except Exception as error:
        kind = next(cls for cls in type(error).__mro__ if cls.__module__ == "builtins")
        return kind.__name__, str(error).split("\n")[0]


QUESTIONS = [
    *(
        f"accelerator.{name}"
        for name in ("is_available", "device_count", "current_accelerator", "current_device_index")
    ),
    *(f"accelerator.{name}" for name in ("synchronize", "current_stream", "empty_cache", "memory_allocated")),
    *(f"xpu.{name}" for name in ("is_available", "device_count", "empty_cache", "synchronize", "current_device")),
    *(
        f"mps.{name}"
        for name in ("is_available", "device_count", "empty_cache", "synchronize", "current_allocated_memory")
    ),
]


@pytest.mark.compare
@pytest.mark.parametrize("name", QUESTIONS)
def test_answers(name):
    torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
    if torch.accelerator.is_available():
        pytest.skip("here PyTorch has a device")
    assert outcome(clarion, name) == outcome(torch, name)


def test_the_usual_question():
    device = clarion.accelerator.current_accelerator().type if clarion.accelerator.is_available() else "cpu"
    assert clarion.ones(2, device=device).device.type == "cpu"
    assert not clarion.xpu.is_available()
    assert not clarion.mps.is_available()
    clarion.xpu.manual_seed(0)
    clarion.mps.manual_seed(0)


@pytest.mark.compare
def test_the_cpu_is_asked_like_any_device():
    torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
    for t in (torch, clarion):
        stream = t.cpu.Stream(priority=1)
        before = t.cpu.current_stream()
        with t.cpu.stream(stream):
            assert t.cpu.current_stream() is stream
            with t.cpu.stream(None):
                assert t.cpu.current_stream("cpu") is stream
        assert t.cpu.current_stream() is before
        assert stream.wait_stream(before) is stream.record_event() is stream.wait_event(t.cpu.Event()) is None
        assert t.cpu.Event().query()
        assert t.cpu.is_initialized()
        assert t.cpu.set_device(0) is None
    ours, theirs = clarion.cpu.get_capabilities(), torch.cpu.get_capabilities()
    asked = {"architecture", "avx2", "avx512_f", "fma3", "num_logical_cores"} & theirs.keys()
    assert {name: ours[name] for name in asked} == {name: theirs[name] for name in asked}
