"""`torch.fx.operator_schemas`: the arguments of a call, as the signature of what is called has them."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from ..absent import rest
from .names import python_signature, spelled


class ArgsKwargsPair(NamedTuple):
    """Arguments by position and by name."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def normalize_function(
    target: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, arg_types: Any = None, kwarg_types: Any = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:  # fmt: skip
    """The arguments of a function's call; None where its signature is not known, or they do not fit."""
    if spelled(target) is None:
        return None
    return _bound(python_signature(target), args, kwargs or {}, normalize_to_only_use_kwargs)


def normalize_module(
    root: Any, target: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:  # fmt: skip
    """The arguments of a module's call; only those of torch.nn are looked at."""
    module = root.get_submodule(target)
    if not type(module).__module__.startswith(("clarion.nn", "torch.nn")):
        return None
    return _bound(inspect.signature(module.forward), args, kwargs or {}, normalize_to_only_use_kwargs)


def _bound(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], only_names: bool
) -> ArgsKwargsPair | None:
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    if not only_names:
        return ArgsKwargsPair(bound.args, bound.kwargs)
    kinds = {each.kind for each in signature.parameters.values()}
    if inspect.Parameter.VAR_POSITIONAL in kinds or inspect.Parameter.POSITIONAL_ONLY in kinds:
        return None
    return ArgsKwargsPair((), dict(bound.arguments))


__getattr__ = rest(__name__)
