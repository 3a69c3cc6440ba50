"""The steps of the optimizers: many small parameters, and a few large ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .harness import WORKLOADS

CASES: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 1e-3},
    "SGD_momentum": {"lr": 1e-3, "momentum": 0.9, "weight_decay": 1e-4},
    "Adam": {},
    "AdamW": {},
    "Adam_amsgrad": {"amsgrad": True},
    "NAdam": {},
    "RAdam": {},
    "Adamax": {},
    "Adagrad": {},
    "Adadelta": {},
    "RMSprop": {},
    "RMSprop_centered": {"centered": True, "momentum": 0.9},
    "Rprop": {},
    "ASGD": {},
    "Adafactor": {},
    "Muon": {},
    "LBFGS": {"max_iter": 4},
}
SMALL = [(16, 16), (16,)] * 10
LARGE = [(512, 512)] * 4


def _register(name: str, options: dict[str, Any], kind: str, shapes: list[tuple[int, ...]]) -> None:
    def prepare(t: Any) -> Callable[[], object]:
        t.manual_seed(0)
        wanted = [(16, 16)] * len(shapes) if name == "Muon" and kind == "small" else shapes
        params = [t.nn.Parameter(t.randn(*shape)) for shape in wanted]
        for param in params:
            param.grad = t.randn(*param.shape)
        optimizer = getattr(t.optim, name.partition("_")[0])(params, **options)
        if name == "LBFGS":
            loss = t.tensor(1.0)
            return lambda: optimizer.step(lambda: loss)  # no model: only the optimizer's own work
        return lambda: optimizer.step()

    WORKLOADS[f"optim_{name}_{kind}"] = prepare


for _name, _options in CASES.items():
    _register(_name, _options, "small", SMALL)
    _register(_name, _options, "large", LARGE)
