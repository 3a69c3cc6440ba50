"""Functions that a tracer writes down as one call instead of looking inside: `torch.fx.wrap`, and those of `math`."""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..core.overriding import Looking
from ..errors import EngineError
from .node import map_aggregate
from .proxy import Proxy

_NOTHING = object()
_wrapped_fns_to_patch: dict[tuple[int, str], dict[str, Any]] = {}
_wrapped_methods_to_patch: list[tuple[type, str]] = []


def wrap(fn_or_name: Any) -> Any:
    """Let calls of a function of this module be steps of their own: `torch.fx.wrap("len")`, or as a decorator."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise EngineError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name.__name__ if callable(fn_or_name) else fn_or_name
    frame: Any = inspect.currentframe()
    frame = frame.f_back
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


def _find_proxy(*values: Any) -> Proxy | None:
    found: list[Proxy] = []
    map_aggregate(values, lambda each: found.append(each) if isinstance(each, Proxy) else each)
    return found[0] if found else None


def _recorded(original: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose calls with a traced value are steps."""

    @functools.wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return original(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", original, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made

    return wrapped


def _recorded_method(cls: type, name: str) -> Callable[..., Any]:
    original = getattr(cls, name)

    @functools.wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return original(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


class _Patcher:
    """What a tracer has put in the place of something else; on leaving everything is as before."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], Any]] = []
        self._looking = Looking()  # operators of plain tensors see traced values, too
        self.visited: set[int] = set()

    def __enter__(self) -> _Patcher:
        self._looking.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()
        self.visited.clear()
        self._looking.__exit__()

    def patch_method(self, cls: type, name: str, new_fn: Any, deduplicate: bool = True) -> None:
        """Put a function under an attribute of a class."""
        before = vars(cls).get(name, _NOTHING)
        setattr(cls, name, new_fn)
        self._undo.append(lambda: delattr(cls, name) if before is _NOTHING else setattr(cls, name, before))

    def patch(self, frame_dict: dict[str, Any], name: str, new_fn: Any, deduplicate: bool = True) -> None:
        """Put a function under a name of a module."""
        before = frame_dict.get(name, _NOTHING)
        frame_dict[name] = new_fn
        self._undo.append(lambda: frame_dict.pop(name) if before is _NOTHING else frame_dict.update({name: before}))

    def visit_once(self, thing: Any) -> bool:
        """Is it seen for the first time?"""
        new = id(thing) not in self.visited
        self.visited.add(id(thing))
        return new


def _patch_wrapped_functions(patcher: _Patcher) -> None:
    """Let the calls of all wrapped functions and methods be steps."""
    for (_, name), table in list(_wrapped_fns_to_patch.items()):
        original = table.get(name, getattr(builtins, name, None))
        if original is not None:
            patcher.patch(table, name, _recorded(original))
    for cls, name in _wrapped_methods_to_patch:
        patcher.patch_method(cls, name, _recorded_method(cls, name))


def _autowrap_check(patcher: _Patcher, frame_dict: dict[str, Any], function_ids: set[int]) -> None:
    """Let calls of some functions be steps wherever they are called through these names."""
    if patcher.visit_once(frame_dict):
        for name, value in list(frame_dict.items()):
            if not name.startswith("_") and callable(value) and id(value) in function_ids:
                patcher.patch(frame_dict, name, _recorded(value))


def functions_of(modules: tuple[ModuleType, ...]) -> list[Any]:
    """The public functions of modules."""
    return [
        each for module in modules for name, each in vars(module).items() if not name.startswith("_") and callable(each)
    ]
