"""Traced programs: they compute what they computed, can be read, and say at which line they cannot be traced."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
from typing import Any

import pytest

import clarion as torch
from clarion import fx
from clarion.fx.proxy import TraceError

from .edits import EDITS
from .programs import PROGRAMS

fx.wrap("len")


@fx.wrap
def outside(x: Any, times: int) -> Any:
    """What no tracer could look into."""
    return x if float(x.sum()) < 0 else x * times


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    return [found for each in value for found in _flat(each)] if isinstance(value, tuple | list) else [value]


@pytest.mark.parametrize("name", PROGRAMS)
def test_traced_programs_compute_the_same(name: str) -> None:
    torch.manual_seed(0)
    root, args = PROGRAMS[name](torch)
    named = {"scale": 2} if name == "more_arguments" else {}
    gm = fx.symbolic_trace(root)
    gm.graph.lint()
    assert gm.code in str(gm)
    for own, other in zip(_flat(root(*args, **named)), _flat(gm(*args, **named)), strict=True):
        if isinstance(own, torch.Tensor):
            assert torch.equal(own.nan_to_num(), other.nan_to_num()), gm.code
        else:
            assert own == other


@pytest.mark.parametrize("name", EDITS)
def test_edits_run(name: str) -> None:
    assert EDITS[name](torch, fx)


def test_text() -> None:
    def forward(x, y=2):
        return torch.relu(x[0] + y).view(x.size(0), -1)

    gm = fx.symbolic_trace(forward)
    assert gm.code == (
        "\n\n\ndef forward(self, x, y = 2):\n    getitem = x[0]\n    add = getitem + y;  getitem = y = None\n"
        "    relu = torch.relu(add);  add = None\n    size = x.size(0);  x = None\n    view = relu.view(size, -1);  relu = size = None\n"
        "    return view\n    "
    )


def test_control_flow_names_the_line() -> None:
    def forward(x):
        if x.sum() > 0:  # here
            return x
        return -x

    with pytest.raises(
        TraceError, match=r"inputs to control flow\n\(at .*test_fx.py:\d+, in forward: if x.sum\(\) > 0:  # here"
    ):
        fx.symbolic_trace(forward)


def test_everything_is_as_before_after_a_trace() -> None:
    before = torch.nn.Module.__call__, torch.nn.Module.__getattr__, math.sqrt, torch.Tensor.__add__, len
    with pytest.raises(TraceError):
        fx.symbolic_trace(lambda x: bool(torch.nn.Linear(2, 2).weight.sum() + x))
    fx.symbolic_trace(lambda x: math.sqrt(x.size(0)))
    assert before == (torch.nn.Module.__call__, torch.nn.Module.__getattr__, math.sqrt, torch.Tensor.__add__, len)


def test_wrapped_functions() -> None:
    gm = fx.symbolic_trace(lambda x: outside(x, 3) + len(x))
    assert [node.target for node in gm.graph.nodes if node.op == "call_function"][:2] == [
        outside.__wrapped__ if hasattr(outside, "__wrapped__") else outside,
        len,
    ]
    assert 'torch.fx._symbolic_trace.wrap("tests_fx_test_fx_outside")' in gm.code
    assert gm(torch.ones(2)).tolist() == [5, 5]
    assert gm(-torch.ones(2)).tolist() == [1, 1]


def test_a_graph_trains_as_the_module() -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    twin = copy.deepcopy(net)
    x = torch.randn(8, 3)
    for each in (net, fx.symbolic_trace(twin)):
        optimizer = torch.optim.SGD(each.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            each(x).square().mean().backward()
            optimizer.step()
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), twin.parameters(), strict=True))


def test_failures_show_the_generated_line(capsys: pytest.CaptureFixture[str]) -> None:
    gm = fx.symbolic_trace(lambda x, y: torch.mm(x, y) + 1)
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        gm(torch.ones(2, 3), torch.ones(2, 3))
    assert "line 5 of the traced Module's generated forward function" in capsys.readouterr().err


def test_a_pickled_graph_with_nested_arguments() -> None:
    gm = fx.symbolic_trace(lambda x, tree: x + tree["a"] * tree["b"][0], {"tree": {"a": fx.PH, "b": [fx.PH]}})
    gm.kept = torch.ones(1)
    back = pickle.loads(pickle.dumps(gm))
    two = torch.ones(2) * 2
    assert back(two, {"a": two, "b": [two]}).tolist() == [6, 6] == gm(two, {"a": two, "b": [two]}).tolist()
    assert back.kept.item() == 1


def test_overloads_are_steps() -> None:
    gm = fx.symbolic_trace(lambda x: torch.ops.aten.add.Tensor(x, x))
    assert gm.graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor)
    assert "torch.ops.aten.add.Tensor(x, x)" in gm.code
    assert gm(torch.ones(2)).tolist() == [2, 2]


def test_operations_that_write_stay() -> None:
    def forward(x):
        torch.ops.aten.add_.Tensor(x, 1)
        torch.ops.aten.add(x, 1)
        return x * 2

    graph = fx.symbolic_trace(forward).graph
    assert graph.eliminate_dead_code()
    assert [str(node) for node in graph.nodes] == ["x", "add__tensor", "mul", "output"]


def test_a_replacement_brings_its_modules() -> None:
    class Old(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.act = torch.nn.Sigmoid()

        def forward(self, x):
            return self.act(x)

    class New(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.tanh = torch.nn.Tanh()

        def forward(self, x):
            return self.tanh(x)

    gm = fx.symbolic_trace(Old())
    assert len(fx.replace_pattern(gm, Old(), New())) == 1
    assert [name for name, _ in gm.named_children()] == ["tanh"]
    assert torch.equal(gm(torch.ones(2)), torch.ones(2).tanh())


def test_import_loads_no_tracer() -> None:
    code = "import sys, clarion; clarion.nn.Linear(1, 1); sys.exit('clarion.fx.graph' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_signatures_are_the_functions_own_while_others_stand_in() -> None:
    from clarion.fx.names import python_signature

    class Wrapper(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return torch.ones(2)

    torch.Tensor._make_wrapper_subclass(Wrapper, (2,)) + 1  # the functions look at their arguments from here on
    with torch.autocast("cpu"):  # and autocast stands in for them
        names = [
            list(python_signature(each).parameters) for each in (torch.norm, torch.matmul, torch.t, torch.zeros_like)
        ]
    assert names[:3] == [["input", "p", "dim", "keepdim", "out", "dtype"], ["input", "other"], ["input"]]
    assert names[3][0] == "input"
