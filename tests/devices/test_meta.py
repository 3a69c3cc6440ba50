"""The meta device: shapes, strides and types of everything, and no memory."""

from __future__ import annotations

import copy
import gc
import pickle
import tracemalloc

import pytest

import clarion as torch
from clarion import diagnose, nn
from clarion.errors import NoDataError
from clarion.kernels.meta import rules
from clarion.kernels.meta.array import MetaArray

from .test_door import saved


def test_no_memory_however_large():
    tracemalloc.start()
    try:
        x = torch.empty(10**6, 10**6, device="meta", requires_grad=True)
        w = torch.empty(10**6, 10**5, device="meta")
        y = torch.nn.functional.gelu(x @ w).softmax(-1)
        y[:, 1:].transpose(0, 1).reshape(-1).sum().backward()
        assert y.shape == (10**6, 10**5)
        assert x.grad.shape == x.shape
        assert torch.arange(10**12, device="meta").shape == (10**12,)
        assert torch.rand(10**7, 10**5, device="meta").nbytes == 4 * 10**12
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()


def test_too_large_even_for_nothing():
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        torch.empty(2**62, 4, device="meta")


@pytest.mark.parametrize("name", ["bfloat16", "complex32", "float8_e4m3fn", "float8_e5m2", "uint16"])
def test_types_that_numpy_does_not_name(name):
    dtype = getattr(torch, name)
    x = torch.zeros(3, 2, dtype=dtype, device="meta")
    assert (x.dtype, x.t().dtype, x.t().stride()) == (dtype, dtype, (1, 2))
    assert torch.eye(2, dtype=dtype, device="meta").shape == (2, 2)


def test_text():
    x = torch.ones(2, 3, device="meta")
    assert repr(x) == "tensor(..., device='meta', size=(2, 3))"
    assert repr(x.requires_grad_()) == "tensor(..., device='meta', size=(2, 3), requires_grad=True)"
    assert repr(x * 2) == "tensor(..., device='meta', size=(2, 3), grad_fn=<MulBackward0>)"
    assert repr(torch.arange(3, device="meta")) == "tensor(..., device='meta', size=(3,), dtype=torch.int64)"
    assert x.type() == "torch.meta.FloatTensor"


VALUES = {
    "item": lambda x: x[0, 0].item(),
    "bool": lambda x: bool(x.sum() > 0),
    "float": lambda x: float(x[0, 0]),
    "tolist": lambda x: x.tolist(),
    "nonzero": lambda x: x.nonzero(),
    "mask": lambda x: x[x > 0],
    "masked_select": lambda x: x.masked_select(x > 0),
    "unique": lambda x: x.unique(),
    "equal": lambda x: torch.equal(x, x),
    "allclose": lambda x: torch.allclose(x, x),
    "bincount": lambda x: torch.bincount(x[0].long()),
    "cpu": lambda x: x.cpu(),
    "copy_": lambda x: torch.ones(2, 3).copy_(x),
    "contains": lambda x: 1.0 in x,
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_refused(name):
    with pytest.raises(NoDataError) as caught:
        VALUES[name](torch.ones(2, 3, device="meta"))
    assert isinstance(caught.value, (RuntimeError, NotImplementedError))


def test_numpy_is_refused():
    with pytest.raises(TypeError, match="can't convert meta device type tensor to numpy"):
        torch.ones(2, device="meta").numpy()


def test_devices_do_not_mix():
    there, here = torch.ones(2, 3, device="meta"), torch.ones(2, 3)
    with pytest.raises(RuntimeError, match="Tensor on device cpu is not on the expected device meta!"):
        there + here
    with pytest.raises(RuntimeError, match="Tensor on device meta is not on the expected device cpu!"):
        here + there
    with pytest.raises(RuntimeError, match="is not on the expected device"):
        torch.cat([there, here])
    assert (there + torch.tensor(1.0)).is_meta  # numbers and indices go along
    assert there[torch.tensor([0, 1, 1])].shape == (3, 3)
    assert there.copy_(here).is_meta
    with pytest.raises(RuntimeError, match="gradient with device type 'cpu' to a tensor with device type 'meta'"):
        nn.Parameter(there).grad = here
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        nn.Parameter(here).data = there


def test_random_numbers_are_not_drawn():
    torch.manual_seed(0)
    first = torch.rand(1)
    torch.manual_seed(0)
    assert torch.rand(5, device="meta").is_meta
    nn.Linear(3, 3, device="meta")
    nn.functional.dropout(torch.ones(5, device="meta"))
    assert torch.rand(1) == first


def test_views_share_what_they_would_share():
    x = torch.ones(4, 6, device="meta")
    part = x[1:, ::2].t()
    assert (part.shape, part.stride(), part.storage_offset()) == ((3, 3), (2, 6), 6)
    assert part._base is x
    assert part.untyped_storage().nbytes() == 96
    assert not part.is_contiguous()
    assert part.contiguous().stride() == (3, 1)
    before = x._version
    part.add_(1)
    assert x._version == before + 1


def test_backward_accumulates():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).to("meta")
    for _ in range(2):
        model(torch.ones(5, 3, device="meta")).mean().backward()
    assert all(p.grad.is_meta and p.grad.shape == p.shape for p in model.parameters())


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "Rprop", "Adafactor"])
def test_a_training_on_meta(name):
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(), nn.Linear(4, 2)).to("meta")
    optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.1)
    with diagnose.watching():
        for _ in range(3):
            optimizer.zero_grad()
            out = model(torch.rand(5, 3, device="meta"))
            loss = nn.functional.cross_entropy(out, torch.zeros(5, dtype=torch.long, device="meta"))
            loss.backward()
            assert nn.utils.clip_grad_norm_(model.parameters(), 1.0).is_meta
            optimizer.step()
        assert not diagnose._session.failures  # no diagnosis broke over values that are not there
    assert all(p.is_meta for p in model.parameters())


def test_saved_values_are_watched_there_too():
    x = torch.ones(3, device="meta", requires_grad=True)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


# Libraries build models there first ------------------------------------------------------------------


def small() -> nn.Module:
    return nn.Sequential(nn.Embedding(10, 4), nn.LSTM(4, 4, batch_first=True), nn.BatchNorm1d(4), nn.LazyLinear(3))


def test_a_model_on_meta_then_given_memory():
    with torch.device("meta"):
        model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(18, 3))
    assert all(t.is_meta for t in model.state_dict().values())
    assert model(torch.ones(2, 1, 5, 5, device="meta")).shape == (2, 3)
    with pytest.raises(
        NotImplementedError, match=r"use torch.nn.Module.to_empty\(\) instead of torch.nn.Module.to\(\)"
    ):
        model.to("cpu")
    model.to_empty(device="cpu")
    assert all(t.is_cpu for t in model.state_dict().values())
    for module in model:
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()
    assert model(torch.ones(2, 1, 5, 5)).isfinite().all()


def test_states_are_assigned():
    source, model = nn.Linear(2, 2), nn.Linear(2, 2, device="meta")
    with pytest.warns(UserWarning, match="copying from a non-meta parameter in the checkpoint to a meta parameter"):
        model.load_state_dict(source.state_dict())
    assert model.weight.is_meta
    model.load_state_dict(source.state_dict(), assign=True)
    assert torch.equal(model.weight, source.weight)
    assert model.weight.requires_grad
    assert model(torch.ones(1, 2)).is_cpu
    with pytest.raises(RuntimeError, match="no data!"):
        source.load_state_dict(nn.Linear(2, 2, device="meta").state_dict())


def test_patching_register_parameter():
    """What accelerate's init_empty_weights does: every parameter goes to meta as it is registered."""
    old = nn.Module.register_parameter

    def register_empty_parameter(module, name, param):
        old(module, name, param)
        if param is not None:
            kind = type(module._parameters[name])
            extras = {"requires_grad": param.requires_grad}
            module._parameters[name] = kind(module._parameters[name].to("meta"), **extras)

    nn.Module.register_parameter = register_empty_parameter
    try:
        model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    finally:
        nn.Module.register_parameter = old
    assert all(p.is_meta and p.requires_grad for p in model.parameters())
    assert model.to("meta")(torch.ones(1, 3, 8, device="meta")).shape == (1, 3, 8)


def test_once_nothing_is_there_nobody_looks_for_it():
    with torch.device("meta"):
        model = nn.Linear(2, 2)
    model.to_empty(device="cpu")
    gc.collect()
    others = sum(type(each) is MetaArray for each in gc.get_objects())  # of other tests
    torch.optim.SGD(model.parameters(), lr=0.1)  # a training begins
    assert rules.awake == bool(others)
    assert (torch.ones(2, device="meta") * 2).is_meta  # and it is there again when it is asked for
    assert rules.awake


def test_skip_init():
    made = nn.utils.skip_init(nn.Linear, 3, 4)
    assert made.weight.is_cpu
    assert made.weight.shape == (4, 3)


def test_lazy_modules_and_their_device():
    layer = nn.LazyLinear(3, device="meta")
    assert layer(torch.ones(2, 5, device="meta")).shape == (2, 3)
    assert layer.weight.is_meta


def test_copies_and_files():
    x = torch.ones(4, 6, device="meta", dtype=torch.float16)[::2]
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), torch.load(saved(x)), torch.load(saved(x), "cpu")):
        assert y.is_meta
        assert (y.shape, y.dtype) == (x.shape, x.dtype)
    assert torch.load(saved(x)).stride() == x.stride()
    state = torch.load(saved(nn.Linear(2, 3).state_dict()), map_location="meta")
    assert state["weight"].is_meta
    assert state["weight"].shape == (3, 2)


def test_images_without_memory_may_be_of_any_size() -> None:
    """Their new size is found without the tables of what each pixel is made from."""
    x = torch.empty(2 * 10**8, 3, 2 * 10**8, device="meta")
    for mode in ("nearest", "linear", "nearest-exact", "area"):
        y = torch.nn.functional.interpolate(x, scale_factor=2, mode=mode)
        assert (tuple(y.shape), y.device.type) == ((2 * 10**8, 3, 4 * 10**8), "meta")
