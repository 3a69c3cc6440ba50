"""`torch._jit_internal`: marks for the compiler of TorchScript, which is not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Dict, Final, List, Optional, Tuple, Union  # noqa: F401, UP035

from .futures import Future as Future
from .jit.annotations import BroadcastingList1 as BroadcastingList1
from .jit.annotations import BroadcastingList2 as BroadcastingList2
from .jit.annotations import BroadcastingList3 as BroadcastingList3


def _same(fn: Any = None, **options: Any) -> Any:
    """A mark: the function itself."""
    return (lambda f: f) if fn is None or isinstance(fn, bool) else fn


ignore = unused = export = _overload = _overload_method = _copy_to_script_wrapper = _drop = _same


def is_scripting() -> bool:
    """Is this code compiled? No."""
    return False


def boolean_dispatch(
    arg_name: str, arg_index: int, default: bool, if_true: Callable[..., Any], if_false: Callable[..., Any],
    module_name: str, func_name: str,
) -> Callable[..., Any]:  # fmt: skip
    """One function that calls one of two, by an argument that is True or False."""

    def fn(*args: Any, **kwargs: Any) -> Any:
        chosen = kwargs.get(arg_name, args[arg_index] if arg_index < len(args) else default)
        return (if_true if chosen else if_false)(*args, **kwargs)

    return fn
