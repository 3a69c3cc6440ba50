"""Functions are pickled by name, as PyTorch's are: a model that holds `torch.tanh` can be sent to another process."""

from __future__ import annotations

import copy
import pickle
from types import FunctionType

import pytest

import clarion


@pytest.mark.parametrize("room", ["", "nn.functional", "linalg", "fft", "special"])
def test_every_public_function_comes_back_as_itself(room):
    module = clarion
    for part in filter(None, room.split(".")):
        module = getattr(module, part)
    functions = {name: each for name, each in vars(module).items() if isinstance(each, FunctionType) and name[0] != "_"}
    assert len(functions) > 20
    for protocol in (2, 5):
        lost = [name for name, each in functions.items() if pickle.loads(pickle.dumps(each, protocol)) is not each]
        assert not lost


def test_a_module_that_holds_functions():
    model = clarion.nn.TransformerEncoderLayer(4, 2, activation=clarion.nn.functional.gelu, batch_first=True).eval()
    model.end = clarion.tanh
    x = clarion.ones(1, 2, 4)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again.end is clarion.tanh
        assert clarion.equal(again(x), model(x))
