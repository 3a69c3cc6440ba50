"""Traced programs: the same text, the same steps, the same values and gradients as PyTorch's."""

from __future__ import annotations

import contextlib
import copy
import importlib
import importlib.util
import io
import re
from typing import Any

import pytest

import clarion as ours
from tests.fx.edits import EDITS
from tests.fx.programs import PROGRAMS

theirs = pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytestmark = [pytest.mark.compare, pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")]


def _plain(torch: Any, value: Any) -> Any:
    """Values without their engine."""
    if isinstance(value, torch.Tensor):
        return str(value.dtype), tuple(value.shape), value.detach().double().flatten().tolist()
    if isinstance(value, tuple | list):
        return [_plain(torch, each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(torch, each) for key, each in value.items()}
    return str(value) if not isinstance(value, int | float | bool) else value


def _tensors(torch: Any, value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [found for each in value for found in _tensors(torch, each)] if isinstance(value, tuple | list) else []


def _without_addresses(text: str) -> str:
    """Functions have other addresses and representations; widths follow from them."""
    text = re.sub(r"<(built-in )?(function|method) \S+( of type object)?( at 0x\w+)?>", "<function>", text)
    return re.sub(r"-{3,}", "-", re.sub(r" {2,}", "  ", text)).replace("clarion.", "torch.")


def _traced(torch: Any, make: Any) -> dict[str, Any]:
    fx = importlib.import_module(f"{torch.__name__}.fx")
    torch.manual_seed(0)
    root, args = make(torch)
    gm = fx.symbolic_trace(root)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        if importlib.util.find_spec("tabulate"):  # PyTorch's table needs it
            gm.graph.print_tabular()
    told = {
        "code": gm.code,
        "graph": str(gm.graph),
        "names": [(node.op, node.name, [str(user) for user in node.users]) for node in gm.graph.nodes],
        "module": _without_addresses(str(gm)),
        "table": _without_addresses(printed.getvalue()),
        "readable": gm.print_readable(print_output=False),
    }
    return told | _run(torch, fx, gm, args)


def _run(torch: Any, fx: Any, gm: Any, args: Any) -> dict[str, Any]:
    """Results and gradients of the traced program, of a copy, and of an interpreter."""
    named = {"scale": 2} if "named" in gm.code else {}
    found: dict[str, Any] = {}
    for way, run in (("called", gm), ("copied", copy.deepcopy(gm)), ("stepped", fx.Interpreter(gm).run)):
        if named and way == "stepped":
            continue
        torch.manual_seed(1)
        inputs = [
            each.clone().requires_grad_() if isinstance(each, torch.Tensor) and each.is_floating_point() else each
            for each in args
        ]
        out = run(*inputs, **named)
        found[way] = _plain(torch, out)
        roots = [each for each in _tensors(torch, out) if each.requires_grad and each.is_floating_point()]
        leaves = [each for each in inputs if isinstance(each, torch.Tensor) and each.requires_grad]
        leaves += list(run.parameters()) if isinstance(run, torch.nn.Module) else list(gm.parameters())
        if roots and leaves:
            total = sum(torch.nan_to_num(each).sum() for each in roots)
            found[way + " gradients"] = _plain(torch, torch.autograd.grad(total, leaves, allow_unused=True))
    return found


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, float) or isinstance(b, float):
        return a == pytest.approx(b, rel=2e-5, abs=2e-6, nan_ok=True)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(_close(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_close(a[key], b[key]) for key in a)
    return bool(a == b)


@pytest.mark.parametrize("name", PROGRAMS)
def test_traced_programs(name: str) -> None:
    own, other = _traced(ours, PROGRAMS[name]), _traced(theirs, PROGRAMS[name])
    for part in other:
        assert _close(own[part], other[part]), f"{part}\n{own[part]}\n{other[part]}"


@pytest.mark.parametrize("name", EDITS)
def test_edited_graphs(name: str) -> None:
    told = []
    for torch in (ours, theirs):
        torch.manual_seed(0)
        told.append(_plain(torch, EDITS[name](torch, importlib.import_module(f"{torch.__name__}.fx"))))
    assert _close(*told), f"{told[0]}\n{told[1]}"
