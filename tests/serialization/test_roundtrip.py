"""What was saved comes back: types, strides, shared memory, containers, modules, optimizers."""

from __future__ import annotations

import io
from collections import Counter, OrderedDict
from typing import Any

import numpy as np
import pytest

import clarion as torch
from clarion import nn
from clarion.core.dtypes import ALL


def again(value: Any, **options: Any) -> Any:
    """Saved and loaded."""
    file = io.BytesIO()
    torch.save(value, file, **options.pop("save", {}))
    file.seek(0)
    return torch.load(file, **options)


@pytest.mark.smoke
def test_state_of_a_model(tmp_path: Any) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 1))
    path = tmp_path / "model.pt"
    torch.save(model.state_dict(), path)
    other = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 1))
    state = torch.load(path)
    assert type(state) is OrderedDict
    assert state._metadata == model.state_dict()._metadata
    assert str(other.load_state_dict(state)) == "<All keys matched successfully>"
    x = torch.ones(2, 3)
    assert torch.equal(model(x), other(x))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_types(dtype: Any, protocol: int) -> None:
    x = torch.tensor([[0, 1, 2], [3, 0, 1]]).to(dtype)
    found = again({"x": x, "empty": x[:0], "one": x[1, 0]}, save={"pickle_protocol": protocol})
    assert found["x"].dtype is dtype
    assert found["one"].shape == ()
    assert found["empty"].shape == (0, 3)
    assert np.array_equal(found["x"]._array, x._array)
    assert found["one"].item() == x[1, 0].item()
    found["x"][0, 0] = 1  # its memory is its own, and can be written


def test_views_share_memory() -> None:
    x = torch.arange(24.0).reshape(4, 6)
    views = [x, x[1:3, ::2], x.t(), x[2], x[0].expand(3, 6), x.as_strided((2, 2), (1, 1), 3), x[3, 5]]
    found = again(views)
    for old, new in zip(views, found, strict=True):
        assert (new.shape, new.stride(), new.storage_offset()) == (old.shape, old.stride(), old.storage_offset())
        assert torch.equal(new, old)
        assert new.untyped_storage() == found[0].untyped_storage()
    found[0][2, 0] = -1
    assert found[3][0] == -1
    assert found[2][0, 2] == -1


def test_one_memory_is_saved_once() -> None:
    x = torch.zeros(100_000)
    file = io.BytesIO()
    torch.save([x, x[10:], x.detach(), x.reshape(100, 1000)], file)
    assert len(file.getvalue()) < 405_000


def test_same_object_stays_one() -> None:
    x, shared = torch.ones(2), [1, 2]
    a, b, c, d = again([x, x, shared, shared])
    assert a is b
    assert c is d
    loop: list[Any] = [1]
    loop.append(loop)
    found = again(loop)
    assert found[1] is found


def test_memory_of_others() -> None:
    backwards = torch.from_numpy(np.arange(6.0)[::-1].copy()[::-1][::-1])
    assert again(backwards).tolist() == backwards.tolist()
    columns = torch.from_numpy(np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    found = again([columns, columns[1]])
    assert found[0].stride() == (1, 2)
    assert found[1].tolist() == [3, 4, 5]
    gaps = torch.from_numpy(np.lib.stride_tricks.as_strided(np.arange(10.0), (3,), (16,)))
    assert again(gaps).tolist() == [0, 2, 4]
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        again([x := torch.zeros(2, dtype=torch.complex64), torch.view_as_real(x)])


def test_gradients_and_graphs_are_left_behind() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.sum().backward()
    x.register_hook(lambda g: g)
    leaf, computed = again([x, y])
    assert leaf.requires_grad
    assert leaf.grad is None
    assert computed.requires_grad
    assert computed.grad_fn is None


def test_parameters_and_attributes() -> None:
    p = nn.Parameter(torch.ones(2), requires_grad=False)
    q = nn.Parameter(torch.ones(2))
    q.note = "kept"
    t = torch.ones(1)
    t.note = {"deep": [1]}
    a, b, c = again([p, q, t])
    assert type(a) is type(b) is nn.Parameter
    assert not a.requires_grad
    assert b.requires_grad
    assert b.note == "kept"
    assert type(c) is torch.Tensor
    assert c.note == {"deep": [1]}
    assert again(nn.Buffer(torch.ones(1), persistent=False)).persistent is False


def test_plain_data() -> None:
    value = {
        "numbers": [0, -1, 255, 256, 2**31, -(2**40), 2**100, 1.5, float("inf"), 1 + 2j, True, False, None],
        "text": ["", "ä€😀", "x" * 300, b"\x00\xff", bytearray(b"ab")],
        "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
        "sets": {1, "a"},
        (1, "key"): OrderedDict([("z", 1), ("a", 2)]),
        3: Counter("hello"),
        "torch": [torch.float32, torch.bool, torch.device("cpu"), torch.device("cuda", 1), torch.Size([2, 3]), torch.strided],
    }  # fmt: skip
    for protocol in (2, 3, 4, 5):
        found = again(value, save={"pickle_protocol": protocol})
        assert found == value
        assert [type(item) for item in found["torch"]] == [type(item) for item in value["torch"]]


def test_optimizer() -> None:
    model = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(2):
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
    found = again(optimizer.state_dict())
    assert found["param_groups"] == optimizer.state_dict()["param_groups"]
    other = torch.optim.Adam(model.parameters(), lr=0.5)
    other.load_state_dict(found)
    for key, value in optimizer.state_dict()["state"][0].items():
        assert torch.equal(other.state_dict()["state"][0][key], value)


def test_random_state() -> None:
    state = again({"rng": torch.get_rng_state()})["rng"]
    first = torch.rand(5)
    torch.set_rng_state(state)
    assert torch.equal(torch.rand(5), first)
    generator = torch.Generator().manual_seed(7)
    copy = again(generator, weights_only=False)
    assert type(copy) is torch.Generator
    assert torch.equal(torch.rand(3, generator=copy), torch.rand(3, generator=generator))


class Net(nn.Module):
    """A model of the user's."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.second = nn.Linear(3, 1)
        self.register_buffer("count", torch.zeros(1))
        self.act = torch.nn.functional.relu

    def forward(self, x: Any) -> Any:
        return self.second(self.act(self.first(x)))


def test_whole_modules() -> None:
    net = Net()
    with pytest.raises(Exception, match=r"test_roundtrip.Net was not an allowed global by default"):
        again(net)
    for protocol in (2, 4):
        found = again(net, weights_only=False, save={"pickle_protocol": protocol})
        assert type(found) is Net
        assert torch.equal(found(torch.ones(1, 2)), net(torch.ones(1, 2)))
        assert [name for name, _ in found.named_parameters()] == [name for name, _ in net.named_parameters()]


class Point:
    """A class of the user's."""

    def __init__(self, x: int, y: Any) -> None:
        self.x, self.y = x, y


def test_safe_globals() -> None:
    serialization = torch.serialization
    point = Point(1, torch.ones(2))
    with pytest.raises(Exception, match="Point was not an allowed global"):
        again(point)
    with serialization.safe_globals([Point]):
        assert serialization.get_safe_globals() == [Point]
        assert again(point).y.tolist() == [1, 1]
    assert serialization.get_safe_globals() == []
    serialization.add_safe_globals([(Point, f"{__name__}.Point")])
    assert again(point).x == 1
    serialization.clear_safe_globals()
    with pytest.raises(Exception, match="not an allowed global"):
        again(point)
    with serialization.safe_globals([nn.Linear]):
        assert again(nn.Linear(1, 1)).in_features == 1


def test_unsafe_globals() -> None:
    for protocol in (2, 4):
        file = io.BytesIO()
        torch.save({"p": Point(1, 2), "x": torch.ones(2), "m": nn.Linear(1, 1)}, file, pickle_protocol=protocol)
        file.seek(0)
        found = torch.serialization.get_unsafe_globals_in_checkpoint(file)
        assert found == [f"{__name__}.Point", "torch.nn.modules.linear.Linear"]


class Labelled(torch.Tensor):
    """A tensor of the user's."""


def test_subclasses_of_tensor() -> None:
    from clarion.core.tensor import make_subclass

    x = make_subclass(Labelled, torch.ones(2))
    x.label = "a"
    found = again(x, weights_only=False)
    assert type(found) is Labelled
    assert found.label == "a"
    with pytest.raises(Exception, match="Labelled was not an allowed global"):
        again(x)
    with torch.serialization.safe_globals([Labelled]):
        assert type(again(x)) is Labelled


class Wrapper(torch.Tensor):
    """Holds a tensor in a slot, and says itself what it consists of."""

    __slots__ = ["elem"]

    @staticmethod
    def __new__(cls: Any, elem: Any) -> Any:
        made = torch.Tensor._make_subclass(cls, elem.to("meta"))
        made.elem = elem
        return made

    def __getstate__(self) -> Any:
        return "mine", self.elem, self.__dict__

    def __setstate__(self, state: Any) -> None:
        self.kind, self.elem = state[0], state[1]


def test_subclasses_say_what_they_consist_of() -> None:
    with torch.serialization.safe_globals([Wrapper]):
        made = again(Wrapper(torch.ones(2)))
    assert type(made) is Wrapper
    assert (made.kind, made.elem.tolist(), made.is_meta) == ("mine", [1.0, 1.0], True)


@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr", "to_sparse_csc"])
@pytest.mark.parametrize("zipped", [True, False])
def test_sparse_tensors(layout: str, zipped: bool) -> None:
    x = torch.tensor([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [3.0, 0.0, 4.0]])
    made = again({"x": getattr(x, layout)(), "y": x}, save={"_use_new_zipfile_serialization": zipped})["x"]
    assert made.layout == getattr(x, layout)().layout
    assert torch.equal((made * 2).to_dense(), x * 2)
    if layout == "to_sparse":
        assert made.is_coalesced()
