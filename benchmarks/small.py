"""Small calls, where all the time is overhead: `small_NAME`. One call each, on 8 × 8 tensors, mostly as in inference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .harness import WORKLOADS


class _Given:
    """The operands of all workloads."""

    def __init__(self, t: Any) -> None:
        t.manual_seed(0)
        nn = t.nn
        self.t, self.F, self.nn = t, nn.functional, nn
        self.x, self.y, self.leaf = t.rand(8, 8), t.rand(8, 8), t.rand(8, 8, requires_grad=True)
        self.weight, self.bias = t.rand(8), t.rand(8)
        self.labels = t.arange(8)
        self.linear, self.identity, self.relu, self.norm = nn.Linear(8, 8), nn.Identity(), nn.ReLU(), nn.LayerNorm(8)
        self.mlp = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4))

        class Block(nn.Module):  # type: ignore[name-defined,misc]
            def __init__(self) -> None:
                super().__init__()
                self.inner = nn.Linear(8, 8)

            def forward(self, x: Any) -> Any:
                return self.inner(x).relu()

        self.block = Block()


def _under_no_grad(o: _Given) -> Any:
    with o.t.no_grad():
        return o.leaf + o.y


def _tiny_inference(o: _Given) -> Any:
    with o.t.no_grad():
        return o.mlp(o.x)


_CALLS: dict[str, Callable[[_Given], Any]] = {
    "product": lambda o: o.x @ o.y,
    "product_recorded": lambda o: o.leaf @ o.y,
    "add": lambda o: o.x + o.y,
    "softmax": lambda o: o.F.softmax(o.x, dim=1),
    "softmax_method": lambda o: o.x.softmax(-1),
    "relu": lambda o: o.F.relu(o.x),
    "relu_recorded": lambda o: o.F.relu(o.leaf),
    "gelu": lambda o: o.F.gelu(o.x),
    "linear": lambda o: o.F.linear(o.x, o.y, o.bias),
    "layer_norm": lambda o: o.F.layer_norm(o.x, (8,), o.weight, o.bias),
    "cross_entropy": lambda o: o.F.cross_entropy(o.x, o.labels),
    "randn": lambda o: o.t.randn(8, 8),
    "no_grad_block": _under_no_grad,
    "module_identity": lambda o: o.identity(o.x),
    "module_relu": lambda o: o.relu(o.x),
    "module_linear": lambda o: o.linear(o.x),
    "module_layer_norm": lambda o: o.norm(o.x),
    "module_block": lambda o: o.block(o.x),
    "tiny_inference": _tiny_inference,
}


def _workload(call: Callable[[_Given], Any]) -> Callable[[Any], Callable[[], object]]:
    def prepare(t: Any) -> Callable[[], object]:
        given = _Given(t)
        return lambda: call(given)

    return prepare


for _name, _call in _CALLS.items():
    WORKLOADS[f"small_{_name}"] = _workload(_call)
