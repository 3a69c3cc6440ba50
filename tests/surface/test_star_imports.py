"""`from torch.x import *` brings PyTorch's names, and nothing that would take the place of a program's own."""

from __future__ import annotations

import types

import pytest

PACKAGES = {
    "optim": ["Adam", "SGD", "lr_scheduler"],
    "distributions": ["Normal", "Beta", "kl_divergence"],
    "nn.utils": ["clip_grad_norm_", "rnn"],
    "nn.utils.rnn": ["pad_sequence", "PackedSequence"],
    "nn.init": ["kaiming_uniform_", "calculate_gain"],
    "nn.parameter": ["Parameter", "Buffer"],
    "utils.data": ["DataLoader", "TensorDataset"],
    "autograd": ["Function", "grad", "no_grad"],
    "func": ["vmap", "grad", "functional_call"],
    "amp": ["autocast", "GradScaler"],
}
MODULES = {"lr_scheduler", "swa_utils", "rnn", "parametrizations", "parametrize", "stateless", "grad_mode", "variable"}


@pytest.mark.parametrize("package", PACKAGES)
def test_star(package: str) -> None:
    found: dict[str, object] = {}
    exec(f"from clarion.{package} import *", found)
    del found["__builtins__"]
    assert set(PACKAGES[package]) <= found.keys()
    assert {name for name, value in found.items() if isinstance(value, types.ModuleType)} <= MODULES
    assert not found.keys() & {"Any", "annotations", "Sequence", "math", "warnings", "EngineError", "modes"}
