"""Which lines a value comes from, as far as the variables of one function tell: `p = np.exp(x.numpy())`, `torch.from_numpy(p)`.

Only arithmetic is followed: what another function makes of a number (a game of an action) need not come from it any more.
"""

from __future__ import annotations

import ast

import numpy as np

from .assignments import own_nodes, scope_of
from .places import Place, expression, file_line

_STEPS = 4  # assignments one behind another that are followed
_ASSIGNMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign)
_MODULES = {"np", "numpy", "math", "torch", "scipy"}
_METHODS = {*dir(np.ndarray), "detach", "cpu", "numpy", "float", "double"}
_FUNCTIONS = {"float", "int", "abs", "sum", "min", "max", "list", "tuple", "pow", "round"}
_FUNCTIONS |= {"zip", "enumerate", "reversed", "sorted", "range", "len"}
_INSIDE = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}  # functions of their own, before Python 3.12
_known: dict[tuple[int, int], tuple[Place, frozenset[int]]] = {}


def origins(place: Place | None) -> frozenset[int]:
    """The lines of the assignments, in the same function, that the expression at a place is made of."""
    if place is None:
        return frozenset()
    key = id(place[0]), place[1]
    found = _known.get(key)
    if found is None:
        found = _known[key] = place, _look(place)
    return found[1]


def leads_to(left: Place | None, entered: Place | None) -> bool:
    """Does what left at one place come back at the other: on the same line, or by way of the function's variables?"""
    if left == entered:
        return True
    if left is None or entered is None:
        return False
    found = file_line(left)
    if found is None or found == file_line(entered):
        return found is not None
    inside = left[0].co_name in _INSIDE and left[0] in entered[0].co_consts
    return (left[0] is entered[0] or inside) and found[1] in origins(entered)


def is_called(place: Place | None, by: Place | None) -> bool:
    """Does the expression at a place, or the assignment of a variable in it, call the function that another place lies in?"""
    running, scope = expression(by), scope_of(by[0]) if by is not None else None
    if place is None or running is None or scope is None:
        return False
    names = _loaded(running)
    stores = [node for node in own_nodes(scope) if isinstance(node, _ASSIGNMENTS) and names & _stored(node)]
    calls = [node for tree in (running, *stores) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return any(getattr(call.func, "attr", getattr(call.func, "id", "")) == place[0].co_name for call in calls)


def _look(place: Place) -> frozenset[int]:
    running, scope = expression(place), scope_of(place[0])
    if running is None or scope is None:
        return frozenset()
    found = file_line(place)
    last = 0 if found is None else found[1]
    stores = [node for node in own_nodes(scope) if isinstance(node, _ASSIGNMENTS) and node.value is not None]
    stores = [store for store in stores if store.lineno <= last and _is_arithmetic(store.value)]
    names, lines = _loaded(running), set()
    for _ in range(_STEPS):
        behind = [s for s in stores if names & _stored(s) and s.lineno not in lines]
        for store in behind:
            lines.update(range(store.lineno, (store.end_lineno or store.lineno) + 1))
            names |= _loaded(store.value)  # type: ignore[arg-type]
        if not behind:
            break
    return frozenset(lines)


def _is_arithmetic(value: ast.AST | None) -> bool:
    calls = [node.func for node in ast.walk(value) if isinstance(node, ast.Call)] if value is not None else []
    return all(_computes(function) for function in calls)


def _computes(function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id in _FUNCTIONS
    if not isinstance(function, ast.Attribute):
        return False
    root = function.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return function.attr in _METHODS or (isinstance(root, ast.Name) and root.id in _MODULES)


def _loaded(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _stored(statement: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
