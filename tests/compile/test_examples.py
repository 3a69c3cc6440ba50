"""The examples with every model compiled: each replay stands beside the module itself, and both must agree."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

import clarion as torch
from clarion.compiling.function import Compiled, CompileWarning
from tests.examples.loading import NAMES, load

STEPS = {"checkpointing": 4, "maml_sinusoids": 8, "reinforce": 2}
# They take gradients of gradients through their models, which no compiled function has, as on PyTorch.
HIGHER = {"gan_gradient_penalty", "maml_sinusoids"}
# They call no module, or few times.
WITHOUT = {"custom_function", "lbfgs_fit", "qat_straight_through"}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in HIGHER])
def test_models_of_examples_are_what_they_are_as_written(name, monkeypatch, capsys):
    steps = STEPS.get(name, 7)
    own = load(name).run(steps)
    call, known = torch.nn.Module.__call__, {}

    def outermost(module, *args, **kwargs):
        if module not in known:
            known[module] = Compiled(functools.partial(call, module), type(module).__name__, check=True)
        torch.nn.Module.__call__ = call
        try:
            return known[module](*args, **kwargs)
        finally:
            torch.nn.Module.__call__ = outermost

    monkeypatch.setattr(torch.nn.Module, "__call__", outermost)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        losses = load(name).run(steps)
    np.testing.assert_allclose(losses, own, rtol=1e-3, atol=1e-5)
    replayed = sum(each.replays for each in known.values())
    assert replayed or name in WITHOUT
