"""What clarion does not have says so by its name; what programs call in passing works."""

from __future__ import annotations

import copy

import pytest

import clarion as torch
from clarion.errors import NotSupportedError


@pytest.mark.parametrize(
    "path",
    ["jit.save", "onnx.export", "quantization.quantize_dynamic", "package.PackageExporter", "export.export"],
)
def test_absent_functions_are_named_when_called(path):
    module, name = path.split(".")
    function = getattr(getattr(torch, module), name)
    with pytest.raises(NotSupportedError, match=rf"clarion does not have torch\.{module}\.{name}: "):
        function(torch.nn.Linear(1, 1))


def test_marks_for_torchscript_are_harmless():
    assert not torch.jit.is_scripting()
    assert not torch.jit.is_tracing()

    @torch.jit.ignore
    def f(x):
        return x

    assert f(1) == 1
    assert torch.jit.unused(f) is f
    assert not hasattr(torch.jit, "__wrapped__")


def test_fused_layers_compute_what_the_two_did():
    conv, norm = torch.nn.Conv2d(2, 3, 3), torch.nn.BatchNorm2d(3)
    norm(torch.randn(8, 3, 4, 4))  # running statistics that are not 0 and 1
    conv.eval(), norm.eval()
    x = torch.randn(2, 2, 5, 5)
    fused = torch.nn.utils.fuse_conv_bn_eval(conv, norm)
    torch.testing.assert_close(fused(x), norm(conv(x)), rtol=1e-5, atol=1e-5)


def test_modules_are_found_under_their_old_paths():
    from clarion.nn.modules.loss import _Loss
    from clarion.nn.modules.rnn import RNNBase

    assert issubclass(torch.nn.MSELoss, _Loss)
    assert RNNBase is torch.nn.RNNBase
    assert torch.nn.modules.Linear is torch.nn.Linear
    assert torch.nn.modules.module.Module is torch.nn.Module


def test_data_parallel_is_the_module():
    net = torch.nn.DataParallel(torch.nn.Linear(2, 1))
    assert list(net.state_dict()) == ["module.weight", "module.bias"]
    assert net(torch.ones(3, 2)).shape == (3, 1)


def test_recurrent_modules_copy_and_convert():
    layer = torch.nn.LSTM(3, 4, num_layers=2, bidirectional=True)
    twin = copy.deepcopy(layer).double()
    x = torch.randn(5, 2, 3)
    out, (h, c) = layer(x)
    other, _ = twin(x.double())
    assert other.dtype == torch.float64
    assert torch.allclose(out, other.float(), atol=1e-6)
    assert h.shape == c.shape == (4, 2, 4)
    assert torch.allclose(out[-1, :, :4], h[2])
    layer.flatten_parameters()
    with pytest.raises(ValueError, match="RNN input dtype"):
        layer(x.double())


def test_gradient_through_a_state_carried_on():
    cell = torch.nn.LSTM(2, 3)
    state = None
    for _ in range(3):
        out, state = cell(torch.ones(2, 1, 2), state)
        state = tuple(s.detach() for s in state)
        out.sum().backward()
    assert all(p.grad is not None for p in cell.parameters())


@pytest.mark.parametrize(("shape", "target"), [((4,), -100), ((2, 4), [-100, -100])])
def test_targets_that_are_all_ignored_send_no_gradient(shape, target):
    x = torch.ones(*shape, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(x, torch.tensor(target))
    assert loss.isnan()
    loss.backward()
    assert not x.grad.any()
