"""Memory shared with other libraries, streams, errors: what a tensor on the GPU has to do with what is around it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clarion

if not clarion.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)
cupy = pytest.importorskip("cupy", reason="memory is shared with CuPy")


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool"])
def test_memory_is_shared_with_pytorch(dtype: str):
    torch = pytest.importorskip("torch", reason="memory is shared with PyTorch")
    mine = clarion.ones(4, dtype=getattr(clarion, dtype), device="cuda")
    theirs = torch.from_dlpack(mine)
    assert theirs.dtype is getattr(torch, dtype)
    assert theirs.data_ptr() == mine.data_ptr()
    theirs.zero_()
    torch.cuda.synchronize()
    assert mine.tolist() == [0] * 4
    theirs = torch.ones(2, 3, dtype=getattr(torch, dtype), device="cuda").t()
    mine = clarion.from_dlpack(theirs)
    assert (mine.dtype, mine.shape, mine.stride()) == (getattr(clarion, dtype), (3, 2), (1, 3))
    assert theirs.data_ptr() == mine.data_ptr()
    mine.zero_()
    clarion.cuda.synchronize()
    assert theirs.tolist() == [[0] * 2] * 3
    assert clarion.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(torch.ones(2, device="cuda"))).tolist() == [
        1,
        1,
    ]


def test_memory_is_shared_with_cupy():
    mine = clarion.arange(6.0, device="cuda")
    theirs = cupy.from_dlpack(mine)
    theirs += 1
    assert mine.tolist() == [1, 2, 3, 4, 5, 6]
    assert cupy.asarray(mine).data.ptr == mine.data_ptr()
    theirs = cupy.arange(4, dtype="f")
    for mine in (clarion.from_dlpack(theirs), clarion.as_tensor(theirs), clarion.as_tensor(theirs, device="cuda")):
        assert mine.data_ptr() == theirs.data.ptr
    with pytest.raises(AttributeError, match="non-CUDA tensor"):
        _ = clarion.ones(2).__cuda_array_interface__


def test_memory_is_shared_with_jax(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = pytest.importorskip("jax", reason="memory is shared with JAX")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX finds no GPU")
    mine = clarion.arange(6.0, device="cuda")
    assert jax.numpy.from_dlpack(mine).unsafe_buffer_pointer() == mine.data_ptr()
    theirs = jax.numpy.arange(4.0)
    assert clarion.from_dlpack(theirs).data_ptr() == theirs.unsafe_buffer_pointer()


def here() -> Any:
    return clarion.ones(3, 3)


def there() -> Any:
    return clarion.ones(3, 3, device="cuda")


MIXED = {
    "add": lambda: there() + here(),
    "add, the other way": lambda: here() + there(),
    "matmul": lambda: there() @ here(),
    "linear": lambda: clarion.nn.Linear(3, 3)(there()),
    "embedding": lambda: clarion.nn.functional.embedding(clarion.tensor([1], device="cuda"), here()),
    "cat": lambda: clarion.cat([there(), here()]),
    "stack": lambda: clarion.stack([here(), there()]),
    "where": lambda: clarion.where(there() > 0, there(), here()),
    "cross entropy": lambda: clarion.nn.functional.cross_entropy(there(), clarion.tensor([0, 1, 2])),
    "layer norm": lambda: clarion.nn.LayerNorm(3)(there()),
    "in place": lambda: there().add_(here()),
}


@pytest.mark.parametrize("name", MIXED)
def test_devices_do_not_mix(name: str):
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device") as caught:
        MIXED[name]()
    assert "On cuda:0: shape" in str(caught.value)
    assert "On cpu: shape" in str(caught.value)


def test_a_mixture_tells_the_lines_that_made_both():
    a = there().requires_grad_() * 2
    b = here().requires_grad_() * 3
    with pytest.raises(RuntimeError) as caught:
        _ = a + b
    assert "there().requires_grad_() * 2" in str(caught.value)
    assert "here().requires_grad_() * 3" in str(caught.value)


def test_a_mixture_of_leaves_tells_the_lines_that_made_or_moved_them():
    layer = clarion.nn.Linear(3, 3).to("cuda")
    x = clarion.randn(2, 3)
    with pytest.raises(RuntimeError) as caught:
        layer(x)
    assert 'clarion.nn.Linear(3, 3).to("cuda")' in str(caught.value)
    assert "x = clarion.randn(2, 3)" in str(caught.value)


def test_indices_of_the_host_are_taken():
    assert there()[clarion.tensor([0, 2])].shape == (2, 3)
    assert (there() * clarion.tensor(2.0)).sum() == 18


def test_streams_and_events():
    stream, began, ended = (
        clarion.cuda.Stream(),
        clarion.cuda.Event(enable_timing=True),
        clarion.cuda.Event(enable_timing=True),
    )
    with clarion.cuda.stream(stream):
        assert clarion.cuda.current_stream() == stream
        began.record()
        x = clarion.randn(500, 500, device="cuda")
        y = x @ x
        ended.record()
    stream.synchronize()
    assert began.elapsed_time(ended) > 0
    assert began.query()
    place = y.data_ptr()
    y.record_stream(clarion.cuda.current_stream())
    del y
    with clarion.cuda.stream(stream):
        again = [clarion.empty(500, 500, device="cuda") for _ in range(2)]
    assert place in [each.data_ptr() for each in again]  # lent again, as nobody works with it any more


def test_no_memory_left():
    with pytest.raises(clarion.cuda.OutOfMemoryError, match=r"CUDA out of memory\. Tried to allocate") as caught:
        clarion.empty(1 << 44, dtype=clarion.uint8, device="cuda")
    assert isinstance(caught.value, clarion.OutOfMemoryError)
    assert clarion.ones(2, device="cuda").sum() == 2


def test_the_books_of_memory():
    clarion.cuda.reset_peak_memory_stats()
    before = clarion.cuda.memory_allocated()
    x = clarion.empty(1 << 20, device="cuda")
    assert clarion.cuda.memory_allocated() - before == 4 << 20
    del x
    assert clarion.cuda.memory_allocated() == before
    assert clarion.cuda.max_memory_allocated() >= before + (4 << 20)
    assert clarion.cuda.memory_reserved() >= before
    assert clarion.accelerator.memory_allocated() == before
    assert clarion.accelerator.current_device_index() == 0
    clarion.accelerator.synchronize()


def test_pointwise():
    @clarion.pointwise
    def bent(x: Any, y: Any) -> Any:
        return clarion.tanh(x) * clarion.sigmoid(y) + x * x

    rng = np.random.default_rng(0)
    values = [rng.standard_normal(100).astype("f") for _ in range(2)]
    found = []
    for where in ("cpu", "cuda"):
        x, y = [clarion.tensor(v).to(where).requires_grad_() for v in values]
        out = bent(x, y)
        out.sum().backward()
        found.append([each.detach().cpu().numpy() for each in (out, x.grad, y.grad)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
