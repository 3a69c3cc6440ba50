"""Tensors that were computed while nobody listened: those of one line are known again by the graph behind them."""

from __future__ import annotations

from typing import Any

from . import values
from .lines import Place
from .nodes import held, node, view_of

_UNKNOWN = 2_000  # tensors that are looked at
_LONG = 64  # operations by which a graph is known again,
_LOOKED = 16  # and those that show whether a pass has used it up


def recognise(unknown: list[Any], known: list[Any]) -> list[Any]:
    """Those of the tensors that one line has made: the only one whose tensors have such a graph, used up by a pass or not."""
    made: dict[tuple[str, ...], list[Any]] = {}
    for t in known if unknown else ():
        view = node(t)
        if view is not None and view._place is not None:
            made.setdefault(_shape_of(t.grad_fn), []).append(t)
    found = []
    for t in unknown[:_UNKNOWN] if made else ():
        alike = made.get(_shape_of(t.grad_fn), [])
        places = {node(other)._place for other in alike}  # type: ignore[union-attr]
        if len(places) > 1:
            used = _is_used_up(t)
            places = {node(other)._place for other in alike if _is_used_up(other) is used}  # type: ignore[union-attr]
        if len(places) == 1:
            place: Place | None = next(iter(places))
            view_of(t.grad_fn)._place = place
            found.append(t)
    return found


def _shape_of(fn: Any) -> tuple[str, ...]:
    """The names of the first operations behind a node."""
    return tuple("" if fn is None else fn.name() for fn in _first_behind(fn, _LONG))


def _first_behind(fn: Any, count: int) -> list[Any]:
    found, stack = [], [fn]
    while stack and len(found) < count:
        fn = stack.pop()
        found.append(fn)
        stack += [behind for behind, _ in fn.next_functions] if fn is not None else ()
    return found


def _is_used_up(t: Any) -> bool:
    """Has a pass gone through its graph, or is one about to?"""
    if any(t is root for root in held.roots):
        return True
    views = (view_of(fn) for fn in _first_behind(t.grad_fn, _LOOKED) if fn is not None and not hasattr(fn, "variable"))
    return any(values.is_freed(view) for view in views)
