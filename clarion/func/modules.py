"""Modules as functions of their parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentValueError, EngineError
from ..nn.modules.batchnorm import _BatchNorm
from ..nn.modules.module import Module
from ..nn.utils.stateless import _functional_call
from ..ops.shapes.join import stack


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with the given tensors (one dictionary or several) in the place of its parameters and buffers."""
    given = parameter_and_buffer_dicts
    if isinstance(given, Sequence):
        if not all(isinstance(each, dict) for each in given):
            raise ArgumentValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        counts = Counter(name for each in given for name in each)
        repeated = [name for name, count in counts.items() if count > 1]
        if repeated:
            raise ArgumentValueError(
                f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
            )
        given = {name: value for each in given for name, value in each.items()}
    elif not isinstance(given, dict):
        raise ArgumentValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(given)}"
        )
    return _functional_call(module, given, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several modules of one kind, stacked: for `vmap` over an ensemble."""
    if len(models) == 0:
        raise EngineError("stack_module_state: Expected at least one model, got 0.")
    if len({bool(model.training) for model in models}) > 1:
        raise EngineError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(model) is not type(models[0]) for model in models):
        raise EngineError("stack_module_state: Expected all models to be of the same class.")
    tables = ([dict(m.named_parameters()) for m in models], [dict(m.named_buffers()) for m in models])
    params, buffers = ({k: _stacked([t[k] for t in table], k) for k in table[0]} for table in tables)
    return params, buffers


def _stacked(tensors: list[Any], name: str) -> Any:
    flags = {tensor.requires_grad for tensor in tensors}
    if len(flags) > 1:
        raise EngineError(f"Expected {name} from each model to have the same .requires_grad")
    result = stack(tensors)
    return result.detach()._requiring() if flags == {True} else result


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Let all batch normalisations in a module use the statistics of their batch, and keep none; gives the module."""
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
