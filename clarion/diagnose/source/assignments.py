"""The line that carries a value from one turn of a loop into the next, found in the source: `h = h_new`, `self.h = h`."""

from __future__ import annotations

import ast
import functools
import linecache
import types
from collections.abc import Iterator

from ..graph.holders import Holder

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BEGINNINGS = {"zeros", "zeros_like", "ones", "ones_like", "empty", "full", "init_hidden", "initial_state", "detach"}
_PUTS = {"append", "extend", "insert", "add", "update", "setdefault", "appendleft"}


def carrying_line(holder: Holder, created: tuple[str, int] | None, files: set[str]) -> tuple[str, int] | None:
    """The line that assigns what `holder` keeps, if the program reads it before it assigns it again.

    `created` is where the tensor was made: if that line assigns it too, it is the one. `files` are those of the user's
    program, where an attribute may be assigned.
    """
    if holder.owner is not None:
        stores = [(file, store) for file in sorted(files) for store in _attribute_stores(file, holder.name)]
        if not any(_reads_attribute(file, holder.name) for file in files):
            return None
    elif holder.scope is not None:
        file = holder.scope.co_filename
        stores = [(file, store) for store in _carried(holder.scope, holder.name)]
    else:  # a global that a function assigns
        stores = [(file, store) for file in sorted(files) for store in _global_stores(file, holder.name)]
    lines = [(file, store.lineno, _begins(store)) for file, store in stores]
    if created in [(file, line) for file, line, _ in lines]:
        return created
    later = [(file, line) for file, line, begins in lines if not begins]
    return later[-1] if later else None


@functools.cache
def _tree(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None


def _begins(store: ast.stmt) -> bool:
    """Does a statement assign a fresh beginning (None, zeros, something detached)?"""
    value = getattr(store, "value", None)
    if value is None or isinstance(value, ast.Constant):
        return True
    called = [node.func for node in ast.walk(value) if isinstance(node, ast.Call)]
    return any((f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "")) in _BEGINNINGS for f in called)


# Variables -----------------------------------------------------------------------------------------


def _carried(code: types.CodeType, name: str) -> list[ast.stmt]:
    """The statements that assign a variable in a loop which reads it first."""
    scope = scope_of(code)
    if scope is None:
        return []
    for loop in reversed([node for node in own_nodes(scope) if isinstance(node, (ast.For, ast.While, ast.AsyncFor))]):
        uses = [use for statement in loop.body for use in _uses(statement, name)]
        stores = [statement for kind, statement in uses if kind == "store"]
        if stores and uses[0][0] == "load":
            return stores
    return []


def scope_of(code: types.CodeType) -> ast.AST | None:
    """The syntax tree of a function, or of a module."""
    tree = _tree(code.co_filename)
    if tree is None or code.co_name == "<module>":
        return tree
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or module, outer before inner, without those of functions inside it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            yield child
            yield from own_nodes(child)


def _uses(statement: ast.stmt, name: str) -> Iterator[tuple[str, ast.stmt]]:
    """The uses of a variable in the order in which they happen: ("load" or "store", statement)."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if statement.value is not None and _loads(statement.value, name):
            yield "load", statement
        if isinstance(statement, ast.AugAssign) and any(_is_target(t, name) for t in targets):
            yield "load", statement
        if any(_is_target(target, name) for target in targets):
            yield "store", statement
        return
    inner = [child for child in ast.iter_child_nodes(statement) if isinstance(child, (ast.stmt, ast.ExceptHandler))]
    for child in ast.iter_child_nodes(statement):
        if child not in inner and not isinstance(child, (ast.ExceptHandler, ast.match_case)) and _loads(child, name):
            yield "load", statement
            break
    if isinstance(statement, ast.Expr) and _puts_into(statement.value, name):
        yield "store", statement
    for child in inner:
        if isinstance(child, ast.stmt):
            yield from _uses(child, name)
        else:
            for deeper in child.body:
                yield from _uses(deeper, name)


def _loads(tree: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in ast.walk(tree))


def _is_target(target: ast.expr, name: str) -> bool:
    """Is a variable, or a part of it (`state["h"]`), among the targets of an assignment?"""
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_is_target(element, name) for element in target.elts)
    while isinstance(target, (ast.Subscript, ast.Starred)):
        target = target.value
    return isinstance(target, ast.Name) and target.id == name


def _puts_into(call: ast.expr, name: str) -> bool:
    """`name.append(…)` and the like."""
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in _PUTS
        and _is_target(call.func.value, name)
    )


def _global_stores(file: str, name: str) -> list[ast.stmt]:
    """Statements inside functions that assign a global."""
    found: list[ast.stmt] = []
    for node in ast.walk(_tree(file) or ast.Module([], [])):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            declared = any(isinstance(n, ast.Global) and name in n.names for n in own_nodes(node))
            for statement in node.body:
                for kind, where in _uses(statement, name):
                    if kind == "store" and (declared or not _assigns_name(where, name)):
                        found.append(where)
    return found


def _assigns_name(statement: ast.stmt, name: str) -> bool:
    """Does it assign the bare name (which makes it a local variable), and not a part of it?"""
    names = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return any(n.id == name for n in names)


# Attributes ----------------------------------------------------------------------------------------


def _attribute_stores(file: str, name: str) -> list[ast.stmt]:
    """The statements of a file that assign `….name`, or put something into it; not those of constructors."""
    found: list[ast.stmt] = []

    def visit(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef) and child.name == "__init__":
                continue
            if isinstance(child, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                if any(_is_attribute(target, name) for target in targets):
                    found.append(child)
            elif isinstance(child, ast.Expr) and _puts_into_attribute(child.value, name):
                found.append(child)
            visit(child)

    visit(_tree(file) or ast.Module([], []))
    return found


def _is_attribute(target: ast.expr, name: str) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_is_attribute(element, name) for element in target.elts)
    while isinstance(target, (ast.Subscript, ast.Starred)):
        target = target.value
    return isinstance(target, ast.Attribute) and target.attr == name


def _puts_into_attribute(call: ast.expr, name: str) -> bool:
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in _PUTS
        and _is_attribute(call.func.value, name)
    )


def _reads_attribute(file: str, name: str) -> bool:
    tree = _tree(file)
    nodes = ast.walk(tree) if tree is not None else ()
    return any(isinstance(n, ast.Attribute) and n.attr == name and isinstance(n.ctx, ast.Load) for n in nodes)
