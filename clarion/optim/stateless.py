"""The optimizers' updates as functions: `torch.optim.adam.adam(params, grads, exp_avgs, …)`.

Whoever writes an optimizer of his own keeps the state, and asks one of these for the step. They run the classes' own update
(`Elementwise`) on one parameter at a time, with the caller's tensors for its state.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from ..core import modes
from ..core.bulk import bump
from ..core.tensor import Tensor
from ..errors import EngineError
from .elementwise import Elementwise
from .optimizer import scalar
from .recorded import record

# What an option of a function is called in a group.
_PAIRS = {
    "beta1": ("betas", 0), "beta2": ("betas", 1),
    "etaminus": ("etas", 0), "etaplus": ("etas", 1),
    "step_size_min": ("step_sizes", 0), "step_size_max": ("step_sizes", 1),
}  # fmt: skip


def stateless(cls: type[Elementwise], lists: str, switches: str, options: str) -> Callable[..., None]:
    """The update of `cls` as a function.

    lists     the lists of state in PyTorch's order, as `argument=name in the state`
    switches  what may be left out, as `name=default`
    options   what must be given by name
    """
    kept = dict(each.split("=") for each in lists.split())
    signature = _signature(("params", "d_p_list" if cls.__name__ == "SGD" else "grads", *kept), switches, options)

    def update(*args: Any, **kwargs: Any) -> None:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        named = given.arguments
        steps = named.get("state_steps", ())
        if not all(isinstance(step, Tensor) for step in steps):
            raise EngineError("API has changed, `state_steps` argument must contain a list of singleton tensors")
        params, grads, *_ = named.values()
        states = [
            {name: named[each][i] for each, name in kept.items() if i < len(named[each])} for i in range(len(params))
        ]
        _run(
            cls, params, grads, states, _group(cls, {name: value for name, value in named.items() if name not in kept})
        )
        for each, name in kept.items():  # state that there was not yet
            for i, state in enumerate(states):
                if i < len(named[each]):
                    named[each][i] = state.get(name)

    update.__name__ = update.__qualname__ = cls.__name__.lower()
    update.__doc__ = f"The step of `{cls.__name__}`, on lists of parameters, gradients and state."
    update.__signature__ = signature  # type: ignore[attr-defined]
    return update


def _signature(lists: tuple[str, ...], switches: str, options: str) -> inspect.Signature:
    both, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    optional = dict(each.split("=") for each in switches.split())
    defaults = {"None": None, "False": False}
    return inspect.Signature(
        [
            *(inspect.Parameter(name, both) for name in lists),
            *(inspect.Parameter(name, both, default=defaults[value]) for name, value in optional.items()),
            *(inspect.Parameter(name, named) for name in options.split()),
        ]
    )


def _group(cls: type[Elementwise], named: dict[str, Any]) -> dict[str, Any]:
    group: dict[str, Any] = {}
    for name, value in named.items():
        if name in _PAIRS:
            pair, place = _PAIRS[name]
            both = list(group.get(pair, (None, None)))
            both[place] = value
            group[pair] = tuple(both)
        else:
            group[name] = value
    group.setdefault("differentiable", False)
    if cls.__name__ == "AdamW":
        group["decoupled_weight_decay"] = True
    return group


def _run(cls: type[Elementwise], params: list[Any], grads: list[Any], states: list[Any], group: dict[str, Any]) -> None:
    found, scale = group.get("found_inf"), group.get("grad_scale")
    if found is not None and scalar(found):
        return
    optimizer = cls.__new__(cls)
    optimizer.defaults, optimizer.param_groups, optimizer.state = {}, [], defaultdict(dict)
    written: list[Any] = []
    for param, grad, state in zip(params, grads, states, strict=True):
        if isinstance(grad, Tensor) and scale is not None:
            grad = grad / scale  # type: ignore[operator]
        own, param._grad = param._grad, grad
        optimizer.state[param] = state
        try:
            one = {**group, "params": [param]}
            if group["differentiable"]:
                _recorded(optimizer, one, state)
            else:
                with modes.no_grad():
                    optimizer._update(one, written)
        finally:
            param._grad = own
            del optimizer.state[param]
            optimizer.__dict__.pop("_plans", None)
    bump(written)


def _recorded(optimizer: Any, group: dict[str, Any], state: dict[str, Any]) -> None:
    """A step that is part of the graph: the caller's tensors are written, as in one that is not."""
    before = dict(state)
    record(optimizer, group)
    for name, old in before.items():
        if isinstance(old, Tensor) and state[name] is not old:
            old.copy_(state[name])  # type: ignore[attr-defined]
            state[name] = old
