"""One door: what every `device=` argument does, and what is said of a device that is not there."""

from __future__ import annotations

import io
import threading
from typing import Any

import pytest

import clarion as torch
from clarion import nn
from clarion.core import devices
from clarion.errors import NoDeviceError

from ..without_gpu import there, without_gpu

CUDA = "Torch not compiled with CUDA enabled"


def saved(value: Any) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


ENTRIES = {
    "zeros": lambda: torch.zeros(2, device="cuda"),
    "zeros_like": lambda: torch.zeros_like(torch.ones(2), device="cuda:0"),
    "new_full": lambda: torch.ones(2).new_full((2,), 1, device="cuda"),
    "tensor": lambda: torch.tensor([1.0], device="cuda"),
    "as_tensor": lambda: torch.as_tensor([1.0], device="cuda"),
    "arange": lambda: torch.arange(3, device="cuda"),
    "rand": lambda: torch.rand(3, device="cuda"),
    "randint": lambda: torch.randint(3, (2,), device="cuda"),
    "randperm": lambda: torch.randperm(3, device="cuda"),
    "tril_indices": lambda: torch.tril_indices(2, 2, device="cuda"),
    "hann_window": lambda: torch.hann_window(3, device="cuda"),
    "fftfreq": lambda: torch.fft.fftfreq(3, device="cuda"),
    "to": lambda: torch.ones(2).to("cuda"),
    "Tensor.cuda": lambda: torch.ones(2).cuda(),
    "Linear": lambda: nn.Linear(2, 2, device="cuda"),
    "Conv2d": lambda: nn.Conv2d(1, 1, 1, device="cuda"),
    "BatchNorm1d": lambda: nn.BatchNorm1d(2, affine=False, device="cuda"),
    "LSTM": lambda: nn.LSTM(2, 2, device="cuda"),
    "Embedding": lambda: nn.Embedding(2, 2, device="cuda"),
    "MultiheadAttention": lambda: nn.MultiheadAttention(2, 1, device="cuda"),
    "Transformer": lambda: nn.TransformerEncoderLayer(2, 1, device="cuda"),
    "LazyLinear": lambda: nn.LazyLinear(2, device="cuda"),
    "Module.cuda": lambda: nn.Linear(2, 2).cuda(),
    "Module.to": lambda: nn.Linear(2, 2).to("cuda"),
    "to_empty": lambda: nn.Linear(2, 2).to_empty(device="cuda"),
    "current_device": lambda: torch.cuda.current_device(),
    "get_default_device": lambda: [torch.set_default_device("cuda"), torch.get_default_device()],
}


@without_gpu
@pytest.mark.parametrize("name", ENTRIES)
def test_there_is_no_cuda_and_every_entry_says_so_alike(name):
    try:
        with pytest.raises(NoDeviceError, match=CUDA) as caught:
            ENTRIES[name]()
    finally:
        torch.set_default_device(None)
    assert isinstance(caught.value, AssertionError)
    assert "CuPy" in str(caught.value)  # what is missing
    assert "is_available()" in str(caught.value)  # and what to do


@without_gpu
def test_a_file_from_a_gpu():
    with pytest.raises(
        RuntimeError, match=r"torch\.cuda\.is_available\(\) is False.*map_location=torch.device\('cpu'\)"
    ):
        torch.load(saved(torch.ones(2)), map_location="cuda")
    assert torch.load(saved(torch.ones(2)), map_location="cpu").device == torch.device("cpu")


def test_generators_are_the_device_s():
    assert torch.Generator("cpu:0").device == torch.device("cpu")
    if there:
        assert torch.Generator("cuda").device.type == "cuda"
    else:
        with pytest.raises(RuntimeError, match="Cannot get CUDA generator without ATen_cuda library"):
            torch.Generator("cuda")
    with pytest.raises(RuntimeError, match="META device type not an accelerator"):
        torch.Generator("meta")


@without_gpu
def test_pinned_memory_needs_an_accelerator():
    with pytest.raises(RuntimeError, match="pin_memory=True requires a CUDA or other accelerator"):
        torch.zeros(2, pin_memory=True)
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        torch.ones(2).pin_memory()
    assert not torch.ones(2).is_pinned()


@pytest.mark.parametrize("text", ["cuda:x", "cpu:", ":0", "cuda:-1", "cuda:01"])
def test_strings_that_are_no_device(text):
    with pytest.raises(RuntimeError, match="Invalid device string"):
        torch.device(text)
    with pytest.raises(RuntimeError, match="Invalid device string"):
        torch.zeros(2, device=text)


def test_devices_as_values():
    assert torch.device("cuda", 1) == torch.device("cuda:1") != torch.device("cuda")
    assert torch.device(type="cuda", index=1).index == 1
    assert repr(torch.device("meta")) == "device(type='meta')"
    with pytest.raises(RuntimeError, match="type \\(string\\) must not include an index"):
        torch.device("cuda:1", 1)
    with pytest.raises(RuntimeError, match="device type at start of device string: banana"):
        torch.device("banana")
    with pytest.raises(TypeError, match=r"argument 'device' must be torch\.device, not list"):
        torch.zeros(2, device=[])


def test_where_new_tensors_are_made():
    with torch.device("meta"):
        assert torch.zeros(2).is_meta
        assert nn.Linear(2, 2).weight.is_meta
        with torch.device("cpu"):
            assert torch.zeros(2).is_cpu
        assert torch.rand(2).is_meta
        assert torch.zeros(2, device="cpu").is_cpu  # what is said counts
        assert torch.zeros_like(torch.ones(2, device="cpu")).is_cpu
    assert torch.zeros(2).is_cpu
    torch.set_default_device("meta")
    try:
        assert torch.get_default_device() == torch.device("meta")
        assert torch.tensor([1.0]).is_meta
        found = []
        thread = threading.Thread(target=lambda: found.append(torch.zeros(2).is_cpu))
        thread.start()
        thread.join()
        assert found == [True]  # each thread has its own
    finally:
        torch.set_default_device(None)
    assert torch.get_default_device() == torch.device("cpu")
    assert devices.elsewhere == 0


def test_a_context_that_fails_leaves_nothing_behind():
    with pytest.raises(ValueError, match="inside"), torch.device("meta"):
        raise ValueError("inside")
    assert torch.zeros(1).is_cpu


def test_questions_about_kinds():
    assert devices.is_available("cpu")
    assert devices.is_available("meta")
    assert not devices.is_available("xpu")
    assert (torch.cuda.device_count() > 0) is there
    assert (torch.accelerator.current_accelerator() is not None) is there
    assert there or torch.cuda.memory_allocated() == 0
