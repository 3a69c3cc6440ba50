"""`torch.distributed.checkpoint.state_dict`: states under the names of parameters, whatever wraps the module.

There is one process, and nothing is sharded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..core.tensor import Tensor
from ..errors import NotSupportedError
from ..nn.modules.module import Module, _IncompatibleKeys
from ..optim.optimizer import Optimizer

# What wraps a module, and its name of what is inside.
_WRAPPERS = {"DistributedDataParallel": "module", "DataParallel": "module", "OptimizedModule": "_orig_mod"}


@dataclass
class StateDictOptions:
    """What is left out of the states, where they go, and how strict loading is."""

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def get_model_state_dict(
    model: Module, *, submodules: set[Module] | None = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The state of a module, with names that do not depend on its wrappers."""
    options, inside = options or StateDictOptions(), _unwrapped(model)
    state: dict[str, Any] = dict(inside.state_dict())
    if options.ignore_frozen_params:
        frozen = {name for name, parameter in inside.named_parameters() if not parameter.requires_grad}
        state = {name: value for name, value in state.items() if name not in frozen}
    if submodules:
        if not options.keep_submodule_prefixes:
            raise NotSupportedError(
                "get_model_state_dict(keep_submodule_prefixes=False): call state_dict() of the submodule"
            )
        parts = tuple(f"{name}." for name, module in inside.named_modules() if module in submodules)
        state = {name: value for name, value in state.items() if name.startswith(parts)}
    return {name: _placed(value, options) for name, value in state.items()}


def set_model_state_dict(
    model: Module, model_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> _IncompatibleKeys:
    """Load a state that `get_model_state_dict` gave."""
    if not model_state_dict:
        return _IncompatibleKeys([], [])
    return _unwrapped(model).load_state_dict(model_state_dict, strict=(options or StateDictOptions()).strict)


def get_optimizer_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> dict[str, Any]:
    """The states of optimizers, with the names of the parameters where they have numbers."""
    options = options or StateDictOptions()
    if submodules or options.flatten_optimizer_state_dict:
        raise NotSupportedError("get_optimizer_state_dict: clarion has no flattened states, nor those of submodules")
    names = {id(parameter): name for name, parameter in _unwrapped(model).named_parameters()}
    state: dict[str, Any] = {}
    groups: list[dict[str, Any]] = []
    for optimizer in _each(optimizers):
        for group in optimizer.param_groups:
            options_of = {key: value for key, value in group.items() if key != "params"}
            groups.append({**options_of, "params": [names[id(parameter)] for parameter in group["params"]]})
        for parameter, values in optimizer.state.items():
            state[names[id(parameter)]] = {key: _placed(value, options) for key, value in values.items()}
    return {"state": state, "param_groups": groups}


def set_optimizer_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    optim_state_dict: dict[str, Any],
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Load states that `get_optimizer_state_dict` gave."""
    names = {id(parameter): name for name, parameter in _unwrapped(model).named_parameters()}
    group_of = {name: group for group in optim_state_dict["param_groups"] for name in group["params"]}
    for optimizer in _each(optimizers):
        numbered = [names[id(parameter)] for group in optimizer.param_groups for parameter in group["params"]]
        groups, first = [], 0
        for group in optimizer.param_groups:
            last = first + len(group["params"])
            groups.append({**group_of[numbered[first]], "params": list(range(first, last))})
            first = last
        known = optim_state_dict["state"]
        state = {number: known[name] for number, name in enumerate(numbered) if name in known}
        optimizer.load_state_dict({"state": state, "param_groups": groups})


def get_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The states of a module and of its optimizers."""
    state = get_model_state_dict(model, submodules=submodules, options=options)
    return state, get_optimizer_state_dict(model, optimizers, submodules=submodules, options=options)


def set_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    model_state_dict: dict[str, Any],
    optim_state_dict: dict[str, Any],
    options: StateDictOptions | None = None,
) -> _IncompatibleKeys:
    """Load both states that `get_state_dict` gave."""
    keys = set_model_state_dict(model, model_state_dict, options=options)
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return keys


def _unwrapped(model: Module) -> Module:
    """The module inside its wrappers."""
    while (name := _WRAPPERS.get(type(model).__name__)) is not None:
        model = getattr(model, name)
    return model


def _placed(value: Any, options: StateDictOptions) -> Any:
    return value.cpu() if options.cpu_offload and isinstance(value, Tensor) else value


def _each(optimizers: Optimizer | Iterable[Optimizer]) -> tuple[Optimizer, ...]:
    return (optimizers,) if isinstance(optimizers, Optimizer) else tuple(optimizers)
