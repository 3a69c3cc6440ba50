"""Calling a module with other parameters than its own."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, ArgumentValueError, EngineError
from ..modules.module import Module


def _untied(module: Module, given: dict[str, Any]) -> dict[str, Any]:
    """What is given for one of several names of the same tensor holds for all of them."""
    tied: dict[int, list[str]] = {}
    for name, tensor in (
        *module.named_parameters(remove_duplicate=False),
        *module.named_buffers(remove_duplicate=False),
    ):
        tied.setdefault(id(tensor), []).append(name)
    result = dict(given)
    for names in tied.values():
        values = {id(given[name]): given[name] for name in names if name in given}
        if len(values) > 1:
            raise ArgumentValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. Consider using "
                "tie_weights=False"
            )
        for value in values.values():
            result |= dict.fromkeys(names, value)
    return result


_ABSENT = object()


def _swap(module: Module, path: str, value: Any) -> Any:
    """Put a tensor (or None) in the place of a parameter, a buffer or another attribute; gives what was there."""
    owner_name, _, name = path.rpartition(".")
    owner = module.get_submodule(owner_name)
    for table in (owner._parameters, owner._buffers):
        if name in table and value is not _ABSENT:
            before = table[name]
            table[name] = value
            return before
    before = getattr(owner, name, _ABSENT)
    if before is not _ABSENT and before is not None and not isinstance(before, Tensor):
        raise ArgumentTypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
    if value is _ABSENT:
        delattr(owner, name)
    else:
        setattr(owner, name, value)
    return before


@contextlib.contextmanager
def _reparametrize_module(
    module: Module, parameters_and_buffers: dict[str, Any], *, tie_weights: bool = False, strict: bool = False
) -> Iterator[None]:
    given = _untied(module, parameters_and_buffers) if tie_weights else dict(parameters_and_buffers)
    if strict:
        there = {name for name, _ in module.named_parameters(remove_duplicate=False)}
        there |= {name for name, _ in module.named_buffers(remove_duplicate=False)}
        lines = [
            f"{title} key(s): {', '.join(map(repr, names))}."
            for title, names in (
                ("Unexpected", sorted(given.keys() - there)),
                ("Missing", sorted(there - given.keys())),
            )
            if names
        ]
        if lines:
            text = "\n\t".join(lines)
            raise EngineError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t{text}")
    before: dict[str, Any] = {}
    try:
        for name, value in given.items():
            if value is not None and not isinstance(value, Tensor):
                raise ArgumentTypeError(f"{value} is not an instance of torch.Tensor")
            before[name] = _swap(module, name, value)
        yield
    finally:
        for name, value in before.items():
            now = _swap(module, name, value)
            if name in parameters_and_buffers:  # a buffer that the call replaced
                parameters_and_buffers[name] = now


def _functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with the given tensors in the place of its parameters and buffers."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future version "
        "of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
