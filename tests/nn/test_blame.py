"""Errors of shapes and indices name the layer they come from."""

from __future__ import annotations

import pytest

import clarion as torch
from clarion import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(10, 5), nn.ReLU(), nn.Linear(6, 2))
        self.table = nn.Embedding(5, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.encoder(x)


def test_the_layer_is_named_by_its_path() -> None:
    with pytest.raises(RuntimeError) as caught:
        Net()(torch.randn(3, 10))
    text = str(caught.value)
    assert text.startswith("mat1 and mat2 shapes cannot be multiplied (3x5 and 6x2)")
    assert text.endswith("\nIn encoder.2: Linear(in_features=6, out_features=2, bias=True)")


def test_hooks_do_not_hide_the_name() -> None:
    net = Net()
    net.encoder[2].register_forward_hook(lambda module, inputs, output: None)
    net.register_forward_pre_hook(lambda module, inputs: None)
    with pytest.raises(RuntimeError, match=r"In encoder\.2: Linear"):
        net(torch.randn(3, 10))


def test_a_layer_on_its_own_is_named_by_its_text() -> None:
    with pytest.raises(IndexError, match=r"index out of range in self[\s\S]*In Embedding\(5, 3\)$"):
        Net().table(torch.tensor([7]))


def test_errors_of_others_pass_unchanged() -> None:
    class Broken(nn.Module):
        def forward(self) -> None:
            raise KeyError("mine")

    with pytest.raises(KeyError) as caught:
        Broken()()
    assert caught.value.args == ("mine",)
