"""Finds, in a library, the function an entry of the operator database calls.

Most entries name a function (`nn.functional.relu`).  The others hold lambdas
which say `torch.`: such a lambda is rebuilt with the name `torch` bound to the
library under test, so that the database's own argument shuffling is kept.
"""

import functools
import types

import torch
from torch.testing._internal import common_methods_invocations

from .convert import Missing, lookup


def _slice(x, dim=0, start=None, end=None, step=1):
    """The database calls an internal operator here; users write x[a:b:c]."""
    return x[(slice(None),) * (dim % x.dim()) + (slice(start, end, step),)]


# Entries whose callable is neither a public function nor a lambda.
ADAPTERS = {"slice": _slice}


def _seeded(lib):
    """Stands in for the database's wrapper_set_seed, which seeds only PyTorch."""

    def call(function, *args, **kwargs):
        if hasattr(lib, "manual_seed"):
            lib.manual_seed(42)
        return function(*args, **kwargs)

    return call


@functools.cache
def _globals_for(lib, function):
    replaced = {"torch": lib, "wrapper_set_seed": _seeded(lib)}
    return {**function.__globals__, **replaced}


def _says_torch(code):
    """Does a function, or one written inside it, name the library?"""
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return "torch" in code.co_names or any(map(_says_torch, inner))


def _rebind(function, lib, name):
    # A name that is missing is to be told as such, not as a failing lambda. (Some entries have names of their own.)
    if not hasattr(lib.Tensor, name) and hasattr(torch, name.split(".")[0]):
        if not _says_torch(function.__code__):
            raise Missing(f"{lib.__name__}.Tensor.{name} does not exist")
        lookup(lib, name)
    bound = types.FunctionType(
        function.__code__, _globals_for(lib, function), function.__name__,
        function.__defaults__, function.__closure__,
    )  # fmt: skip
    bound.__kwdefaults__ = function.__kwdefaults__
    return bound


def method(lib, name):
    """A function that calls the method of its first argument."""
    if not hasattr(lib.Tensor, name):
        raise Missing(f"{lib.__name__}.Tensor.{name} does not exist")

    def call(x, *args, **kwargs):
        return getattr(x, name)(*args, **kwargs)

    return call


def _is_lambda(function):
    return getattr(function, "__name__", "") == "<lambda>"


def function(op, lib):
    if op.name in ADAPTERS:
        return ADAPTERS[op.name]
    if _is_lambda(op.op):
        return _rebind(op.op, lib, op.name)
    if isinstance(op.op, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        return lookup(lib, f"ops.{op.op}")
    if op.op is common_methods_invocations.max_pool2d_backward:  # a function of the database's own
        return _rebind(op.op, lib, op.name)
    if op.name.startswith("__"):
        return method(lib, op.name)
    try:
        return lookup(lib, op.name)
    except Missing:
        # A few entries (fill, new_zeros, item) exist as methods only.
        if hasattr(lib.Tensor, op.name):
            return method(lib, op.name)
        raise


def inplace(op, lib):
    variant = op.inplace_variant
    if _is_lambda(variant):
        return _rebind(variant, lib, op.name)
    if isinstance(variant, functools.partial):
        return functools.partial(lookup(lib, op.name), **variant.keywords)
    return method(lib, variant.__name__)


def as_method(op, lib):
    variant = op.method_variant
    if _is_lambda(variant):
        return _rebind(variant, lib, op.name)
    return method(lib, getattr(variant, "__name__", op.name))


def variants(op):
    """(variant name, finder) for each way to call the entry.  A finder takes
    the library and returns a callable, or raises Missing."""
    found = [("function", functools.partial(function, op))]
    if op.method_variant:
        found.append(("method", functools.partial(as_method, op)))
    if op.inplace_variant:
        found.append(("inplace", functools.partial(inplace, op)))
    if op.supports_out:
        found.append(("out", functools.partial(function, op)))
    for label, operator in (
        ("operator", op.operator_variant),
        ("inplace operator", op.inplace_operator_variant),
    ):
        if operator:
            found.append((label, lambda lib, operator=operator: operator))
    for alias in op.aliases or ():
        name = alias.name
        if alias.op is not None:
            found.append((f"alias {name}", lambda lib, name=name: lookup(lib, name)))
        if alias.method_variant is not None:
            finder = lambda lib, name=name: method(lib, name)
            found.append((f"alias Tensor.{name}", finder))
    return found
