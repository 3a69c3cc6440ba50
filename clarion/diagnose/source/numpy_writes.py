"""Which line writes into an array that shares memory with a tensor: NumPy tells nobody, so the program's text is searched.

For what `.numpy()` gave, the text says what it is called; for what `from_numpy` took, those who hold the array do. Only
used once a write is known to have happened; where nothing better is found, the line that took or gave it is named. Writes
to tensors are searched in the same way where nobody was listening when they happened.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator
from typing import Any

from ..graph.holders import holders
from .places import Place, Where, file_line

_WRITING_METHODS = {"fill", "sort", "put", "partition", "itemset", "setfield", "byteswap"}
_VIEWS = {"reshape", "ravel", "view", "transpose", "swapaxes", "squeeze", "diagonal"}
_WRITING_FUNCTIONS = {"copyto", "put", "place", "putmask", "put_along_axis", "fill_diagonal", "shuffle"}


def find_write(taken: Place | None, saver: Place | None = None) -> Where:
    """The line that writes into the array that the call at `taken` gave; of several the first behind the line that saved the value."""
    found = file_line(taken)
    if found is None or taken is None:
        return taken
    file, line = found
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return taken
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    call = _call_at(tree, taken)
    names = set() if call is None else _names_of(call, parents)
    if not names:
        return taken
    scope = _enclosing(tree, line)
    wrote = _write_to(names, scope, tree, max(line, _behind(saver, scope, tree, file)))
    if wrote is None and any("." in name for name in names):  # an attribute: anybody may write to it
        wrote = _write_to(names, tree, tree, 0)
    return taken if wrote is None else (file, wrote)


def find_write_in_place(saver: Place | None) -> Where:
    """The one line of the function that writes to what the call at `saver` was given or gave; None if that is not clear."""
    found = file_line(saver)
    if found is None or saver is None:
        return None
    file, line = found
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return None
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    span = _span(saver)
    node = next((n for n in ast.walk(tree) if isinstance(n, ast.expr) and _extent(n) == span), None)
    if node is None:
        return None
    given = node.args if isinstance(node, ast.Call) else list(ast.iter_child_nodes(node))
    names = {ast.unparse(a) for a in given if isinstance(a, (ast.Name, ast.Attribute))} | _names_of(node, parents)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        names.add(ast.unparse(node.func.value))
    lines = {getattr(each, "lineno", 0) for each in _in_order(_enclosing(tree, line)) if _writes(each, names)}
    return (file, lines.pop()) if len(lines) == 1 else None


def find_write_to(arrays: Iterable[Any], taken: Place | None, saver: Place | None = None) -> Where:
    """The line that writes to one of these arrays, which somebody still has; in the file of the call that took it."""
    found = file_line(taken)
    if found is None:
        return taken
    try:
        tree = ast.parse("".join(linecache.getlines(found[0])))
    except SyntaxError:
        return taken
    known = list(holders(owner for array in arrays for owner in (array, array.base) if owner is not None))
    attributes = {holder.name for holder in known if holder.owner is not None}
    names = {holder.name for holder in known if holder.owner is None}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in attributes:
            names.add(ast.unparse(node))
    wrote = _write_to(names, tree, tree, _behind(saver, tree, tree, found[0]))
    return taken if wrote is None else (found[0], wrote)


def _call_at(tree: ast.AST, place: Place) -> ast.Call | None:
    span = _span(place)
    return next((node for node in ast.walk(tree) if isinstance(node, ast.Call) and _extent(node) == span), None)


def _span(place: Place) -> Any:
    code, lasti = place
    return next((s for i, s in enumerate(code.co_positions()) if i * 2 == lasti), None)


def _extent(node: ast.expr) -> Any:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _names_of(call: ast.AST, parents: dict[ast.AST, ast.AST]) -> set[str]:
    """What the array is assigned to (`a = x.numpy()`, `self.a = …`); empty if it is used on the spot."""
    node = parents.get(call)
    while isinstance(node, (ast.Call, ast.Attribute)) and not isinstance(node, ast.Subscript):
        if isinstance(node, ast.Call) and call in (*node.args, *(k.value for k in node.keywords)):
            if _last_name(node.func) not in ("asarray", "ravel", "reshape", "atleast_1d", "atleast_2d"):
                return set()
        call, node = node, parents.get(node)
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {ast.unparse(t) for t in targets if isinstance(t, (ast.Name, ast.Attribute))}


def _enclosing(tree: ast.AST, line: int) -> ast.AST:
    """The innermost function around a line, or the whole file."""
    inner = tree
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= line <= (node.end_lineno or 0):
            inner = node
    return inner


def _behind(saver: Place | None, scope: ast.AST, tree: ast.AST, file: str) -> int:
    """The first line behind the one that saved a value, if that stands in this function."""
    found = file_line(saver)
    return found[1] + 1 if found is not None and found[0] == file and _enclosing(tree, found[1]) is scope else 0


def _write_to(names: set[str], scope: ast.AST, tree: ast.AST, line: int, depth: int = 0) -> int | None:
    """The first line after `line` that writes to any of these names, or hands one to a function that does."""
    names = set(names)
    later, earlier = None, None
    node: Any
    for node in _in_order(scope):
        if (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and _root(node.value) & names
            and _is_view(node.value)
        ):
            if isinstance(node.targets[0], ast.Name):  # a part of it, a reshaped view: writing to that is the same
                names.add(node.targets[0].id)
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and _root(node.iter) & names:
            names.add(node.target.id)
        found = node.lineno if _writes(node, names) else None
        if found is None and isinstance(node, ast.Call) and depth < 3:
            found = _inside(node, names, tree, depth)
        if found is not None:
            if node.lineno >= line:
                later = later or found
            else:
                earlier = earlier or found
    return later or earlier


def _in_order(scope: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(scope):
        if hasattr(child, "lineno"):
            yield child
        yield from _in_order(child)


def _root(node: ast.AST) -> set[str]:
    """The names that an expression is a part or a method's result of: `a[0].T` -> {"a[0]", "a", …}."""
    found = set()
    while True:
        if isinstance(node, (ast.Name, ast.Attribute)):
            found.add(ast.unparse(node))
        if isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, (ast.Subscript, ast.Attribute)):
            node = node.value
        else:
            return found


def _is_view(node: ast.AST) -> bool:
    """May an expression share memory with what it is a part of? A method's result does so only if it is a view's."""
    return not isinstance(node, ast.Call) or _last_name(node.func) in _VIEWS


def _writes(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Assign):
        return any(isinstance(t, ast.Subscript) and _root(t) & names for t in node.targets)
    if isinstance(node, ast.AugAssign):
        return bool(_root(node.target) & names)
    if not isinstance(node, ast.Call):
        return False
    if any(k.arg == "out" and _root(k.value) & names for k in node.keywords):
        return True
    name = _last_name(node.func)
    writing = name in _WRITING_METHODS or (name.endswith("_") and not name.endswith("__"))  # `x.mul_(2)`
    if writing and isinstance(node.func, ast.Attribute) and _root(node.func.value) & names:
        return True
    return name in _WRITING_FUNCTIONS and bool(node.args) and bool(_root(node.args[0]) & names)


def _inside(call: ast.Call, names: set[str], tree: ast.AST, depth: int) -> int | None:
    """The writing line in a function of this file that one of the names is given to."""
    wanted = _last_name(call.func)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == wanted:
            parameters = [a.arg for a in node.args.args]
            if parameters[:1] == ["self"] and isinstance(call.func, ast.Attribute):
                parameters = parameters[1:]
            given = {p for p, a in zip(parameters, call.args, strict=False) if _root(a) & names}
            given |= {k.arg for k in call.keywords if k.arg and _root(k.value) & names}
            if given:
                return _write_to(given, node, tree, 0, depth + 1)
    return None


def _last_name(function: ast.AST) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
