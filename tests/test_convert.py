"""Tensors into numbers, lists, arrays, text and copies."""

import copy
import pickle

import numpy as np
import pytest

import clarion as torch
from clarion.events import subscribe


def test_numbers():
    assert torch.tensor([[2.5]]).item() == 2.5
    assert type(torch.tensor(3).item()) is int
    assert type(torch.tensor(True).item()) is bool
    assert type(torch.tensor(1.5, dtype=torch.bfloat16).item()) is float
    assert float(torch.tensor(2)) == 2.0
    assert int(torch.tensor(2.7)) == 2
    assert complex(torch.tensor(1 + 2j)) == 1 + 2j
    assert [10, 20, 30][torch.tensor(1)] == 20
    assert bool(torch.tensor([0.0])) is False


@pytest.mark.parametrize(
    ("call", "kind", "phrase"),
    [
        (lambda: torch.ones(2).item(), RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar"),
        (lambda: bool(torch.ones(2)), RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"),
        (lambda: bool(torch.ones(0)), RuntimeError, "Boolean value of Tensor with no values is ambiguous"),
        (lambda: float(torch.ones(2)), ValueError, "only one element tensors can be converted to Python scalars"),
        (lambda: float(torch.tensor(1j)), RuntimeError, "without overflow"),
        (lambda: [1][torch.tensor(0.0)], TypeError, "only integer tensors of a single element"),
        (lambda: "a" in torch.ones(2), RuntimeError, "only supports Tensor or scalar"),
        (lambda: torch.ones(2, requires_grad=True).numpy(), RuntimeError, r"Use tensor.detach\(\).numpy\(\) instead"),
        (lambda: np.asarray(torch.ones(2, requires_grad=True)), RuntimeError, "Can't call numpy"),
        (lambda: torch.ones(2, dtype=torch.bfloat16).numpy(), TypeError, "unsupported ScalarType BFloat16"),
        (lambda: torch.ones(2, requires_grad=True).__dlpack__(), BufferError, "require gradient"),
        (lambda: torch.ones(1, requires_grad=True).apply_(abs), RuntimeError, r"Can't call apply_\(\)"),
        (lambda: format(torch.ones(2), ".2f"), TypeError, "unsupported format string"),
    ],
)
def test_refusals(call, kind, phrase):
    with pytest.raises(kind, match=phrase):
        call()


def test_float_of_a_tensor_in_the_graph_warns():
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
        float(torch.tensor(1.0, requires_grad=True))


def test_leaving_the_graph_is_an_event():
    left = []
    stop = subscribe("left", lambda tensor, how: left.append(how))
    try:
        x = torch.ones(1, requires_grad=True)
        x.item()
        x.tolist()
        x.numpy(force=True)
        torch.ones(1).item()
    finally:
        stop()
    assert left == ["item", "tolist", "numpy"]


def test_numpy_shares_memory_and_is_remembered():
    x = torch.zeros(2)
    array = x.numpy()
    array[0] = 3
    assert x.tolist() == [3, 0]
    assert x._vc.exported
    assert torch.ones(2, requires_grad=True).numpy(force=True).tolist() == [1, 1]
    assert np.array(x, dtype=np.int32).tolist() == [3, 0]
    assert np.asarray(x).base is not None


def test_numpy_functions_give_tensors():
    result = np.exp(torch.zeros(2))
    assert isinstance(result, torch.Tensor)
    assert result.tolist() == [1, 1]
    assert np.isnan(torch.zeros(2)).dtype is torch.uint8
    assert np.stack([torch.zeros(2), torch.ones(2)]).tolist() == [[0, 0], [1, 1]]


def test_text():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert repr(x) == "tensor([1., 2.], requires_grad=True)"
    assert str(x * 2) == "tensor([2., 4.], grad_fn=<MulBackward0>)"
    assert f"{torch.tensor(2.5):.2f}" == "2.50"
    assert f"{torch.tensor([2.5])}" == "tensor([2.5000])"

    class Special(torch.Tensor):
        pass

    assert repr(Special([1.0])) == "Special([1.])"


def test_containment_and_loops():
    assert 2 in torch.tensor([1, 2])
    assert torch.tensor(3) not in torch.tensor([1, 2])
    assert torch.arange(3).apply_(lambda v: v * 2).tolist() == [0, 2, 4]
    assert torch.ones(2).map_(torch.arange(2.0), lambda a, b: a - b).tolist() == [1, 0]


def test_deepcopy():
    x = torch.ones(2, requires_grad=True)
    (x * x).sum().backward()
    x.note = [1]
    y = copy.deepcopy(x)
    assert (y.requires_grad, y.grad.tolist(), y.note) == (True, [2, 2], [1])
    assert y.grad is not x.grad
    assert y.note is not x.note
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 2)
    twice = copy.deepcopy([x, x])
    assert twice[0] is twice[1]


def test_deepcopy_keeps_shared_memory():
    base = torch.zeros(2, 3)
    row, whole = copy.deepcopy([base[1], base])
    whole.numpy()[1, 0] = 5
    assert row.tolist() == [5, 0, 0]
    assert base.tolist() == [[0] * 3] * 2
    transposed = copy.deepcopy(base.t())
    assert transposed.stride() == (1, 3)


def test_copy_shares():
    x = torch.zeros(2)
    assert copy.copy(x).data_ptr() == x.data_ptr()


@pytest.mark.parametrize(
    "thing",
    [
        torch.float32,
        torch.Size([1, 2]),
        torch.device("cpu"),
        torch.strided,
        torch.channels_last,
    ],
)
def test_pickled_things(thing):
    assert pickle.loads(pickle.dumps(thing)) == thing


def test_pickled_tensors():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = pickle.loads(pickle.dumps(x))
    assert (y.tolist(), y.requires_grad, y.is_leaf) == ([1, 2], True, True)
    assert pickle.loads(pickle.dumps(x * 2)).is_leaf
    assert pickle.loads(pickle.dumps(torch.ones(2, 3).t())).stride() == (1, 3)
    assert pickle.loads(pickle.dumps(torch.ones(1, dtype=torch.bfloat16))).dtype is torch.bfloat16


def test_old_types():
    x = torch.ones(2)
    assert x.type() == "torch.FloatTensor"
    assert isinstance(x, torch.FloatTensor)
    assert not isinstance(x, torch.LongTensor)
    assert torch.LongTensor([1, 2]).dtype is torch.int64
    assert torch.DoubleTensor(2, 3).shape == (2, 3)
    assert x.new([1, 2]).tolist() == [1, 2]
    assert x.new(2, 3).shape == (2, 3)
    assert torch.typename(x) == "torch.FloatTensor"


def test_dlpack_both_ways():
    x = torch.zeros(2)
    array = np.from_dlpack(x)
    x.numpy()[0] = 4
    assert array[0] == 4
    assert torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x)).data_ptr() == x.data_ptr()


def test_assert_close():
    x = torch.tensor([1.0, 2.0])
    torch.testing.assert_close(x, x * 1.0)
    torch.testing.assert_close([x, {"a": 1}], [x, {"a": 1}])
    for other, phrase in (
        (torch.tensor([1.0, 3.0]), "Mismatched elements: 1 / 2"),
        (torch.tensor([1.0, 2.0], dtype=torch.float64), "attribute 'dtype' do not match"),
        (torch.tensor([1.0]), "attribute 'shape' do not match"),
    ):
        with pytest.raises(AssertionError, match=phrase):
            torch.testing.assert_close(x, other)
    with pytest.raises(ValueError, match="but got no atol"):
        torch.testing.assert_close(x, x, rtol=1e-3)


def test_to_takes_a_memory_format():
    x = torch.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5)
    y = x.to(memory_format=torch.channels_last)
    assert y.stride() == (60, 1, 15, 3)
    assert torch.equal(x, y)
    assert y.to(torch.float64, memory_format=torch.contiguous_format).stride() == (60, 20, 5, 1)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4)).to(memory_format=torch.channels_last)
    assert model[0].weight.stride() == (27, 1, 9, 3)
    assert model[1].weight.stride() == (1,)
    optimizer = torch.optim.AdamW(model.parameters())
    model(y).sum().backward()
    before = model[0].weight.detach().clone()
    optimizer.step()
    assert optimizer.state[model[0].weight]["exp_avg"].stride() == (27, 1, 9, 3)
    assert not torch.equal(model[0].weight, before)


def test_tensors_of_whatever_has_dlpack():
    class Lent:
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, *args, **kwargs):
            return self.tensor.__dlpack__(*args, **kwargs)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    x = torch.arange(3.0)
    copied, shared, cast = torch.tensor(Lent(x)), torch.as_tensor(Lent(x)), torch.tensor(Lent(x), dtype=torch.int64)
    x[0] = 7
    assert copied.tolist() == [0, 1, 2]
    assert shared.tolist() == [7, 1, 2]
    assert cast.tolist() == [0, 1, 2]
    assert cast.dtype is torch.int64


def test_capsules_of_types_that_numpy_does_not_send():
    for kind in (torch.bfloat16, torch.complex32, torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e8m0fnu):
        x = torch.arange(6).to(torch.float32).to(kind).view(2, 3)
        y = torch.from_dlpack(torch.utils.dlpack.to_dlpack(x))
        assert (y.dtype, tuple(y.shape), y.data_ptr()) == (kind, (2, 3), x.data_ptr())
        y.zero_()  # an old capsule cannot say that it may be written
        assert x.float().sum().item() == 0 or kind is torch.float8_e8m0fnu  # (which has no zero)
    assert torch.asarray(torch.utils.dlpack.to_dlpack(torch.ones(2, dtype=torch.bfloat16))).dtype is torch.bfloat16


def test_a_capsule_is_received_once():
    capsule = torch.utils.dlpack.to_dlpack(torch.ones(3))
    torch.from_dlpack(capsule)
    for wrong in (capsule, 3):
        with pytest.raises(RuntimeError, match="received an invalid capsule"):
            torch.from_dlpack(wrong)


def test_brain_floats_of_another_library():
    jax = pytest.importorskip("jax", reason="another library that reads and sends them: JAX")
    x = torch.arange(6).to(torch.bfloat16).view(2, 3)
    there = jax.dlpack.from_dlpack(x)
    assert (str(there.dtype), there.tolist()) == ("bfloat16", x.tolist())
    back = torch.from_dlpack(there + 1)
    assert (back.dtype, back.tolist()) == (torch.bfloat16, (x + 1).tolist())
