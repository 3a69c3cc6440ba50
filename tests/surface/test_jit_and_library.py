"""What would be compiled runs as Python; operations that programs declare are known at `torch.ops`."""

from __future__ import annotations

import importlib
from typing import Optional

import pytest

import clarion as torch


def test_scripted_code_runs_as_python():
    @torch.jit.script
    def double(x: torch.Tensor) -> torch.Tensor:
        return 2 * x

    class Net(torch.jit.ScriptModule):
        size: torch.jit.Final[int]

        def __init__(self):
            super().__init__()
            self.size = 2
            self.layer = torch.nn.Linear(2, self.size)

        @torch.jit.script_method
        def forward(self, x):
            return double(self.layer(x))

    net = Net()
    assert torch.jit.trace(net, torch.ones(1, 2)) is torch.jit.script(net) is net
    assert torch.equal(net(torch.ones(1, 2)), 2 * net.layer(torch.ones(1, 2)))
    assert torch.jit.wait(torch.jit.fork(double, torch.ones(1))).item() == 2
    assert not torch.jit.is_scripting()
    with pytest.raises(RuntimeError, match="only implemented for modules in eval mode"):
        torch.jit.freeze(net)
    assert torch.jit.freeze(net.eval()) is net


def test_types_with_what_they_hold():
    assert torch.jit.isinstance([1, 2], list[int])
    assert not torch.jit.isinstance([1, "a"], list[int])
    assert torch.jit.isinstance({"a": (1, 2.0)}, dict[str, tuple[int, float]])
    assert torch.jit.isinstance(None, Optional[int])  # noqa: UP045


def test_a_declared_operation_is_differentiated_by_its_rule():
    @torch.library.custom_op("house::cube", mutates_args=())
    def cube(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
        return x**3 * scale

    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.scale = inputs[1]

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x * x * ctx.scale * grad, None

    cube.register_fake(lambda x, scale=1.0: torch.empty_like(x))
    cube.register_autograd(backward, setup_context=setup)
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.ops.house.cube(x, 2.0)
    y.backward()
    assert (y.item(), x.grad.item()) == (16.0, 24.0)
    assert torch.ops.house.cube.default(x).item() == 8.0
    assert cube(x, scale=3.0).item() == 24.0


def test_an_operation_whose_arguments_have_names_alone():
    @torch.library.custom_op("house::scaled", mutates_args=())
    def scaled(x: torch.Tensor, y: torch.Tensor, *, by: float = 2.0, more: float) -> torch.Tensor:
        return x * y * by + more

    def setup(ctx, inputs, keyword_only_inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.by, ctx.given = keyword_only_inputs["by"], sorted(keyword_only_inputs)

    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        assert ctx.given == ["by", "more"]
        return grad * y * ctx.by, grad * x * ctx.by

    scaled.register_autograd(backward, setup_context=setup)
    for call in (scaled, torch.ops.house.scaled):
        x, y = (torch.tensor(value, requires_grad=True) for value in (3.0, 5.0))
        made = call(x, y, more=1.0)
        made.backward()
        assert (made.item(), x.grad.item(), y.grad.item()) == (31.0, 10.0, 6.0)
        assert call(x, y, by=3.0, more=0.5).item() == 45.5
    with pytest.raises(TypeError, match="more"):
        scaled(x, y)


def test_a_library_declares_and_implements():
    library = torch.library.Library("house2", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="has no kernel"):
        torch.ops.house2.twice(torch.ones(1))
    library.impl("twice", lambda x: 2 * x, "CPU")
    assert torch.ops.house2.twice(torch.ones(1)).item() == 2
    with pytest.raises(AttributeError, match="no attribute 'thrice'"):
        torch.ops.house2.thrice


def test_kernels_by_decorator():
    library = torch.library.Library("house3", "DEF")
    library.define("twice(Tensor x) -> Tensor")

    @torch.library.impl(library, "twice", "CPU")
    def twice(x):
        return 2 * x

    @torch.library.define(library, "thrice(Tensor x) -> Tensor")
    def thrice(x):
        return 3 * x

    assert (torch.ops.house3.twice(torch.ones(1)).item(), torch.ops.house3.thrice(torch.ones(1)).item()) == (2.0, 3.0)
    assert twice(torch.ones(1)).item() == 2.0


def test_operations_of_aten():
    x = torch.tensor([1.0, -2.0])
    assert torch.ops.aten.relu(x).tolist() == [1.0, 0.0]
    assert torch.ops.aten.add.Tensor(x, x, alpha=2).tolist() == [3.0, -6.0]
    assert torch.ops.aten.add.Tensor.name() == "aten::add.Tensor"
    assert torch.ops.aten.linalg_vector_norm(x).item() == pytest.approx(5**0.5)
    with pytest.raises(AttributeError):
        torch.ops.aten.no_such_operation
    with pytest.raises(OSError, match="compiled against PyTorch's own"):
        torch.ops.load_library("some.so")


def test_futures():
    future = torch.futures.Future()
    then = future.then(lambda f: f.value() + 1)
    failed = future.then(lambda f: 1 / 0)
    assert not then.done()
    future.set_result(1)
    assert torch.futures.wait_all([future, then]) == [1, 2]
    with pytest.raises(RuntimeError, match="ZeroDivisionError: division by zero"):
        failed.wait()
    with pytest.raises(RuntimeError, match="completed once"):
        future.set_result(2)


def test_types_that_are_only_listed():
    kind = torch.uint4
    assert (repr(kind), kind.itemsize, kind.is_floating_point) == ("torch.uint4", 1, False)
    with pytest.raises(NotImplementedError, match=r"no tensors of torch\.uint4"):
        torch.zeros(2, dtype=kind)


def test_weights_are_loaded_from_a_folder(tmp_path):
    torch.save({"a": torch.ones(2)}, tmp_path / "weights.pt")
    url = (tmp_path / "weights.pt").as_uri()
    cache = tmp_path / "cache"
    loaded = torch.hub.load_state_dict_from_url(url, model_dir=str(cache), progress=False)
    assert loaded["a"].tolist() == [1.0, 1.0]
    assert [path.name for path in cache.iterdir()] == ["weights.pt"]
    (tmp_path / "hubconf.py").write_text("def answer(n=1):\n    'What it gives.'\n    return 41 + n\n")
    assert torch.hub.load(str(tmp_path), "answer", source="local") == 42
    assert torch.hub.list(str(tmp_path), source="local") == ["answer"]
    with pytest.raises(NotImplementedError, match="fetches no repository"):
        torch.hub.load("owner/name", "answer")


def test_questions_about_what_is_never_there_are_answered():
    from clarion.fx.experimental.proxy_tensor import get_proxy_mode
    from clarion.fx.experimental.symbolic_shapes import has_free_symbols

    from clarion import absent

    assert get_proxy_mode() is None
    assert has_free_symbols(torch.ones(2)) is False
    for path in absent.ANSWERS:
        module, _, name = path.rpartition(".")
        assert absent.pytorch_names()[module][name] == "function"


def test_what_modules_that_are_not_there_export():
    """`from torch.onnx.ops import *` and loops over `__all__` name what PyTorch's has; it refuses when it is used."""
    from clarion import absent

    names = absent.pytorch_names()
    for path in ("torch.ao.nn.qat.modules", "torch.ao.quantization", "torch.distributed.fsdp"):
        module = importlib.import_module("clarion" + path.removeprefix("torch"))
        assert absent.is_absent(module)
        assert set(module.__all__) <= set(names.get(path, {}))
        assert module.__all__ or not names.get(path)
        assert all(hasattr(module, name) for name in module.__all__)


def test_associative_scan_is_a_running_product_of_affine_maps():
    from clarion._higher_order_ops.associative_scan import associative_scan

    def after(first, second):
        return first[0] * second[0], second[0] * first[1] + second[1]

    slope, shift = torch.rand(2, 5, requires_grad=True), torch.rand(2, 5)
    _, states = associative_scan(after, (slope, shift), dim=1)
    state, wanted = torch.zeros(2), []
    for i in range(5):
        state = slope[:, i] * state + shift[:, i]
        wanted.append(state)
    assert torch.allclose(states, torch.stack(wanted, 1))
    assert states.requires_grad
    total = associative_scan(torch.add, torch.arange(4.0), 0, reverse=True)
    assert total.tolist() == [6.0, 6.0, 5.0, 3.0]


@pytest.mark.parametrize(
    "name", ["quantize_per_tensor", "quantize_per_channel", "fake_quantize_per_tensor_affine", "dequantize"]
)
def test_functions_of_quantized_tensors_refuse_when_they_are_called(name):
    with pytest.raises(
        NotImplementedError, match=f"clarion does not have torch.{name}: there are no quantized tensors"
    ):
        getattr(torch, name)(torch.ones(2), 0.1, 0, torch.qint8)


@pytest.mark.parametrize(("options", "runs"), [({}, 4), ({"check_trace": False}, 1)])
def test_traced_as_often_as_pytorch_runs(options, runs):
    """What a run draws and counts is drawn and counted: the same seed gives the same numbers afterwards."""
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Dropout(0.5))
    torch.manual_seed(0)
    torch.jit.trace(net, torch.ones(3, 2), **options)
    after = torch.rand(1)
    assert net[0].num_batches_tracked == runs
    torch.manual_seed(0)
    for _ in range(runs):
        net(torch.ones(3, 2))
    assert after == torch.rand(1)
    torch.jit.trace_module(net, {"forward": torch.ones(3, 2)}, **options)
    assert net[0].num_batches_tracked == 3 * runs
