"""What a compiled program does beside computing: it clips, clears gradients, calls `train()` and `eval()`, switches recording off.

NOTE [Marks]: Dynamo reads such calls as it reads all others, and keeps only what they do to tensors. So we note each call that it
reads, with its line and the node of the graph behind which it came. Whenever what was made of the graph runs, the notes are told in
their order (twins.py).

Steps need none: Dynamo ends its graph before each of them (NOTE [Steps] in compiled.py).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import weakref
from typing import Any

import torch

from ..events import hub
from . import engine, graphs, lines, listening, modes, patching
from .telling import guarded

_NOTED = "clarion's marks"  # lie beside the graph that Dynamo is making


class Mark:
    """Something to tell when what was compiled runs, behind a node of its graph."""

    def __init__(self, tell: Any, caller: Any) -> None:
        self._tell, self._caller = tell, caller
        self.behind: Any = None
        # What Dynamo does after the graph has run, and what follows in it counts on; it gives how to undo it.
        self.effect: Any = None

    def tell(self) -> None:
        """Tell it, from its line."""
        (self._caller or graphs.call)(guarded(self._tell), (), {})


def start(patch: Any) -> None:
    """Patch the place where Dynamo reads a function that is called."""
    from torch._dynamo.side_effects import SideEffects
    from torch._dynamo.symbolic_convert import InliningInstructionTranslator

    _known.update(_functions())

    def inlining(original: Any) -> Any:
        @functools.wraps(original.__func__)
        def inline_call(cls: Any, parent: Any, func: Any, args: Any, kwargs: Any, **more: Any) -> Any:
            make: Any = None
            with contextlib.suppress(Exception):  # what Dynamo keeps differs from version to version
                code = func.get_code()
                make = _known.get(code) if parent.f_code is not code else None  # `train()` calls itself
            if make is not None:
                _note(parent.output, _mark(make, parent, args, kwargs))
            return original.__func__(cls, parent, func, args, kwargs, **more)

        return classmethod(inline_call)

    def storing(original: Any) -> Any:
        @functools.wraps(original)
        def store_attr(self: Any, item: Any, name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
            if name == "grad":
                with contextlib.suppress(Exception):
                    output = self.output_graph_weakref()
                    _note(output, _of_new_grad(output, item, value))
            return original(self, item, name, value, *args, **kwargs)

        return store_attr

    patch(InliningInstructionTranslator, "inline_call", inlining)
    patch(SideEffects, "store_attr", storing)
    modes.start(patch, _note, _caller_of)


def _note(output: Any, mark: Mark | None) -> None:
    if mark is not None:
        mark.behind = next(iter(reversed(output.graph.nodes)), None)
        vars(output).setdefault(_NOTED, []).append(mark)


def taken(output: Any, graph: Any) -> list[Mark]:
    """What was noted of this graph; and perhaps it is all of such a function."""
    found: list[Mark] = vars(output).pop(_NOTED, [])
    with contextlib.suppress(Exception):  # what Dynamo keeps differs from version to version
        code = output.root_tx.f_code
        if code in _known:
            given = [_referred(output.local_scope[n], f"L['{n}']") for n in code.co_varnames[: code.co_argcount]]
            found.insert(0, _known[code](None, given, {}))
    with contextlib.suppress(Exception):
        found[:0] = [_of_reading(output, node) for node in graph.nodes if _is_read_grad(node)]
    return found


# What is noted ---------------------------------------------------------------------------------------


def _functions() -> dict[Any, Any]:
    """By code: what makes a mark of a call."""
    clip, found = torch.nn.utils.clip_grad, {}
    for owner, name, make in (
        (torch.nn.Module, "train", _of_mode),
        (torch.nn.Module, "zero_grad", _of_clearing),
        (clip, "_clip_grads_with_norm_", _of_clipping),
        (clip, "clip_grad_value_", _of_clipping),
    ):
        function = patching.original(owner, name)
        if function is not None:
            found[inspect.unwrap(function).__code__] = make
    return found


_known: dict[Any, Any] = {}


def _mark(make: Any, parent: Any, args: Any, kwargs: Any) -> Mark | None:
    try:
        given = [_real(arg, parent.output) for arg in args]
        named = {name: _real(arg, parent.output) for name, arg in kwargs.items()}
        found: Mark = make(_caller_of(parent), given, named)
        return found
    except Exception:  # what Dynamo keeps differs from version to version
        return None


def _of_mode(caller: Any, args: list[Any], kwargs: Any) -> Any:
    module, training = args[0], bool([*args, *kwargs.values(), True][1])

    def tell() -> None:
        found = module()
        if found is not None:
            _train(found, training)

    def follow() -> Any:
        found = module()
        every = [vars(each) for each in found.modules()] if found is not None else []
        before = [(each, each["training"]) for each in every if "training" in each]
        for each, _ in before:
            each["training"] = training
        return lambda: [each.update(training=was) for each, was in before]

    mark = Mark(tell, caller)
    mark.effect = follow
    return mark


def _train(self: Any, training: bool) -> None:
    """Tell what `train()` does to a module and those inside of it."""
    for module in self.modules():
        if hub.training_set is not None:
            hub.training_set(module, training)


engine.layers().telling_train.append(_train.__code__)


def _of_clearing(caller: Any, args: list[Any], kwargs: Any) -> Any:
    module = args[0]

    def tell() -> None:
        found = module()
        if hub.cleared is not None and found is not None:
            hub.cleared(list(found.parameters()))

    return Mark(tell, caller)


def _of_clipping(caller: Any, args: list[Any], kwargs: Any) -> Any:
    leaves = args[0] if isinstance(args[0], list) else [args[0]]
    limit = float([*args, kwargs.get("max_norm", kwargs.get("clip_value", 0.0))][1])

    def tell() -> None:
        if hub.clipped is not None:
            hub.clipped([leaf for ref in leaves if (leaf := ref()) is not None], limit)

    return Mark(tell, caller)


def _of_new_grad(output: Any, item: Any, value: Any) -> Mark | None:
    if lines.is_library(output.current_tx.f_code.co_filename):
        return None
    leaf, new = _real(item, output), None if type(value).__name__ == "ConstantVariable" else value.__class__

    def tell() -> None:
        found = leaf()
        if found is not None:
            listening.told_new_grad(found, new)

    return Mark(tell, _caller_of(output.current_tx))


def _is_read_grad(node: Any) -> bool:
    """Is it the gradient of a leaf that the user's own code computes with?"""
    if node.op != "placeholder" or "grapharg" not in node.meta:
        return False
    return _name(node.meta["grapharg"].source).endswith(".grad") and any(map(graphs.is_users, node.users))


def _of_reading(output: Any, node: Any) -> Mark:
    name = _name(node.meta["grapharg"].source).removesuffix(".grad")
    leaf = Reference(_value(name, output), name)

    def tell() -> None:
        found = leaf()
        if hub.looked is not None and found is not None:
            hub.looked(found)

    return Mark(tell, None)


def _caller_of(tx: Any) -> Any:
    """Calls from the user's line that Dynamo is reading."""
    while tx is not None:
        file = tx.f_code.co_filename
        if not lines.is_library(file):
            return graphs.from_line(file, tx.lineno, tx.f_code.co_name)
        tx = getattr(tx, "parent", None)
    return None


class Reference:
    """Something of the program's that a mark is about. The same code may run for another one: what it calls by that name then."""

    def __init__(self, found: Any, name: str) -> None:
        self._found, self._name, self._kind = weakref.ref(found), name, type(found)

    def __call__(self) -> Any:
        if self._name and scopes[0]:
            with contextlib.suppress(Exception):  # it may be gone
                now = eval(self._name, {"L": scopes[0], "G": scopes[1]})
                return now if isinstance(now, self._kind) else None
        return self._found()


scopes: tuple[dict[str, Any], dict[str, Any]] = {}, {}  # the variables of the compiled code that runs now


def _referred(found: Any, name: str = "") -> Any:
    """Tensors and modules are not to be kept alive."""
    if isinstance(found, (list, tuple)):
        return [_referred(each, f"{name}[{i}]" if name else "") for i, each in enumerate(found)]
    return Reference(found, name) if isinstance(found, (torch.Tensor, torch.nn.Module)) else found


def _real(var: Any, output: Any) -> Any:
    """What stands behind a variable of Dynamo's; None of what is computed. A lazy one is not to be asked: that would add guards."""
    kind = type(var).__name__
    if kind.startswith("Lazy"):
        if not var.is_realized():
            return _referred(var.original_value(), _named(var))
        var = var.unwrap()
        kind = type(var).__name__
    if kind in ("ListVariable", "TupleVariable"):
        return [_real(each, output) for each in var.items]
    if kind == "NNModuleVariable":
        return _referred(output.get_submodule(var.module_key), _named(var))
    if kind == "ConstantVariable" or "NNModule" in kind or kind == "OptimizerVariable":
        return _referred(var.value, _named(var))
    source = var.source if var.source is not None else graphs.source_of(var.as_proxy().node)
    return None if source is None else _referred(_value(_name(source), output), _name(source))


def _named(var: Any) -> str:
    source = getattr(var, "source", None)
    return "" if source is None else _name(source)


def _name(source: Any) -> str:
    return str(source.name() if callable(source.name) else source.name)


def _value(name: str, output: Any) -> Any:
    """What Dynamo calls so."""
    return eval(name, {"L": output.local_scope, "G": output.global_scope})
