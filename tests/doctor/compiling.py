"""Programs with parts of them compiled by `torch.compile`, mechanically: what is wrong with them is wrong in the same lines.

| way | what is compiled |
|---|---|
| model | every module that is given a name |
| function | every function that only computes |
| step | every function with a backward pass in it, and the body of every loop that trains |
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path
from types import CodeType
from typing import Any

WAYS = ("model", "function", "step")
_COMPILED = "__compiled__"
_TRAINING = frozenset(["backward", "step", "zero_grad", "minimize"])
_DRIVING = frozenset(["optim", "manual_seed", "DataLoader", "fit", "train", "eval", "compile"])


def compiled(path: Path, way: str) -> CodeType | None:
    """The code of a program with parts of it compiled; None where there is nothing to compile."""
    tree = ast.parse(path.read_text(), str(path))
    writer = {"model": _Models, "function": _Functions, "step": _Steps}[way]()
    if isinstance(writer, _Steps):
        writer.program = tree
    tree = writer.visit(tree)
    return compile(ast.fix_missing_locations(tree), str(path), "exec") if writer.count else None


def names_for(backend: str) -> dict[str, Any]:
    """What such a program finds among its globals."""
    return {_COMPILED: functools.partial(_compile, backend=backend)}


def _compile(what: Any, backend: str) -> Any:
    import torch

    if isinstance(what, torch.nn.Module):
        plain = type(what).forward is torch.nn.Module.forward or type(what).__module__ == "torch.nn.modules.loss"
        if plain or hasattr(what, "_orig_mod"):
            return what
        return torch.compile(what, backend=backend)
    return torch.compile(what, backend=backend) if callable(what) and hasattr(what, "__code__") else what


def _called(node: ast.AST) -> ast.Call:
    name = ast.copy_location(ast.Name(_COMPILED, ast.Load()), node)
    return ast.copy_location(ast.Call(name, [node], []), node)  # type: ignore[list-item]


def _marked(function: ast.FunctionDef) -> ast.FunctionDef:
    function.decorator_list.append(ast.copy_location(ast.Name(_COMPILED, ast.Load()), function))
    return function


class _Writer(ast.NodeTransformer):
    """Changes a program; lines stay as they are."""

    count = 0

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:  # what a class is made of is compiled with the whole
        return node


class _Models(_Writer):
    def visit_Assign(self, node: ast.Assign) -> Any:
        targets, value = node.targets, node.value
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            node.value = self._wrapped(value)
        elif len(targets) == 1 and isinstance(targets[0], ast.Tuple) and isinstance(value, ast.Tuple):
            value.elts = [self._wrapped(each) for each in value.elts]
        return node

    def _wrapped(self, value: Any) -> Any:
        if not isinstance(value, ast.Call):
            return value
        self.count += 1
        return _called(value)


class _Functions(_Writer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        names = _names_in(node)
        makes = any(isinstance(n, ast.Call) and _name(n.func)[:1].isupper() for n in ast.walk(node))
        gives = any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(node))
        if gives and not makes and not names & (_TRAINING | _DRIVING) and _can_be_compiled(node):
            self.count += 1
            return _marked(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        if isinstance(node.value, ast.Lambda):
            self.count += 1
            node.value = _called(node.value)  # type: ignore[assignment]
        return node


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _names_in(node: ast.AST) -> set[str]:
    return {_name(each) for each in ast.walk(node)}


def _can_be_compiled(node: ast.FunctionDef) -> bool:
    other = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)
    return not node.decorator_list and not any(isinstance(each, other) for each in ast.walk(node))


class _Steps(_Writer):
    """Bodies of loops become functions: variables that are used elsewhere, too, stay those of the scope around."""

    program: ast.Module

    def __init__(self) -> None:
        self.inside: list[ast.FunctionDef] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        before = self.count
        self.inside.append(node)
        self.generic_visit(node)
        self.inside.pop()
        if self.count == before and "backward" in _names_in(node) and _can_be_compiled(node):
            self.count += 1
            return _marked(node)
        return node

    def visit_For(self, node: ast.For) -> Any:
        return self._loop(node)

    def visit_While(self, node: ast.While) -> Any:
        return self._loop(node)

    def _loop(self, node: Any) -> Any:
        before = self.count
        self.generic_visit(node)
        names = set().union(*map(_names_in, node.body))
        if self.count > before or "backward" not in names or not self._whole(node, names):
            return node
        self.count += 1
        return self._lifted(node, f"__step_{self.count}__")

    def _whole(self, node: Any, names: set[str]) -> bool:
        """Can its body be a function, and is it all of a step, as far as it goes?"""
        other = (ast.Yield, ast.YieldFrom, ast.Return, ast.Await, ast.Global, ast.Nonlocal, ast.Import, ast.FunctionDef)
        parts = [each for statement in node.body for each in ast.walk(statement)]
        return not node.orelse and not any(isinstance(each, (*other, ast.ClassDef, ast.Delete)) for each in parts)

    def _lifted(self, node: Any, name: str) -> list[ast.stmt]:
        stored = {
            each.id
            for part in (*node.body, getattr(node, "target", None))
            if part is not None
            for each in _in_scope(part)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        inside = {id(each) for part in (*node.body, getattr(node, "target", node)) for each in ast.walk(part)}
        others = [each for each in ast.walk(self.program) if isinstance(each, ast.Name) and id(each) not in inside]
        loop = (
            {each.id for each in _in_scope(node.target) if isinstance(each, ast.Name)}
            if hasattr(node, "target")
            else set()
        )
        stored &= {each.id for each in others} | loop
        within = sorted(stored - {a.arg for f in self.inside for a in ast.walk(f) if isinstance(a, ast.arg)})
        around = {id(each) for each in (_in_scope(self.inside[-1]) if self.inside else _in_scope(self.program))}
        set_elsewhere = {each.id for each in others if isinstance(each.ctx, ast.Store) and id(each) in around}
        scope: list[ast.stmt] = []
        if stored:
            scope = [ast.Nonlocal(sorted(stored)) if self.inside else ast.Global(sorted(stored))]
        body = [_Jumps().visit(statement) for statement in node.body]
        step = ast.FunctionDef(name, _no_arguments(), [*scope, *body], [], None)
        step.type_params = []  # type: ignore[attr-defined]
        ast.copy_location(step, node)
        call = ast.Call(ast.Name(name, ast.Load()), [], [])
        node.body = [ast.copy_location(ast.If(call, [ast.Break()], []), node.body[0])]
        for part in ast.walk(node.body[0]):
            ast.copy_location(part, body[0] if hasattr(body[0], "lineno") else node)
        unset = [each for each in within if each not in set_elsewhere]  # Dynamo wants to see them
        bound = [
            ast.copy_location(ast.Assign([ast.Name(each, ast.Store())], ast.Constant(None)), node) for each in unset
        ]
        return [*bound, _marked(step), node]


def _in_scope(node: ast.AST) -> list[ast.AST]:
    """The nodes of a statement, without those of comprehensions and lambdas, which have variables of their own."""
    found, stack = [], [node]
    own = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.FunctionDef, ast.ClassDef)
    while stack:
        each = stack.pop()
        found.append(each)
        if each is node or not isinstance(each, own):
            stack += ast.iter_child_nodes(each)
    return found


def _no_arguments() -> ast.arguments:
    return ast.arguments([], [], None, [], [], None, [])


class _Jumps(ast.NodeTransformer):
    """`break` gives True, `continue` nothing."""

    def visit_Break(self, node: ast.Break) -> Any:
        return ast.copy_location(ast.Return(ast.Constant(True)), node)

    def visit_Continue(self, node: ast.Continue) -> Any:
        return ast.copy_location(ast.Return(None), node)

    def visit_For(self, node: ast.For) -> Any:  # its jumps are its own
        return node

    visit_While = visit_AsyncFor = visit_For  # type: ignore[assignment]
