"""Backward passes of PyTorch's engine: when they begin and end, who got a gradient, and why one was refused."""

from __future__ import annotations

import functools
import re
from math import prod
from typing import Any

import torch
from torch._C import TensorBase

from ..events import heard, hub
from . import checkpoints, dangers, engine, fills, home, lines, listening, memory, nodes, optimizers, twins, values
from .nodes import View, held
from .patching import patch, safely
from .telling import uncompiled

_read = TensorBase.grad.__get__
_requires_grad = TensorBase.requires_grad.__get__
_seeds: Any = None  # the gradients that the user gave to the pass that begins


def forget() -> None:
    """A new session begins."""
    global _seeds
    _seeds = None


def start(at_rest: Any) -> None:
    """Patch what `Tensor.backward` and `autograd.grad` go through, however they were imported."""

    def running(original: Any) -> Any:
        @functools.wraps(original)
        def _engine_run_backward(roots: Any, grads: Any, retain: Any, create: Any, *args: Any, **kwargs: Any) -> Any:
            global _seeds
            given, _seeds = _seeds or (None,) * len(roots), None
            if not home.pass_begins():
                return elsewhere(original, roots, grads, retain, create, *args, **kwargs)
            if hub.backward_began is None or held.aside:
                return original(roots, grads, retain, create, *args, **kwargs)
            if optimizers.unsettled:
                optimizers.settle()
            accumulates = bool(kwargs.get("accumulate_grad", False))
            this = Pass(roots, accumulates)
            if held.running:
                safely("checkpoints", checkpoints.reentered, roots)
            if this.has_history:
                safely("backward passes", this.begin, given, bool(retain or create), bool(create))
            held.running.append(roots)
            try:
                result = original(roots, grads, retain, create, *args, **kwargs)
            except RuntimeError as error:
                if hub.refused is not None:
                    safely("backward passes", this.refused, error)
                this.drop()
                raise
            finally:
                held.running.pop()
            safely("backward passes", this.end, bool(retain))
            return result

        return _engine_run_backward

    for owner in (torch.autograd, torch.autograd.graph):
        patch(owner, "_engine_run_backward", running, at_rest)
    patch(torch.autograd, "_make_grads", _making, _making_at_rest)


def _differentiate(roots: Any, refused: Any) -> None:
    """Tell why the gradient of what was compiled cannot be computed, in the name of the error that the program gets."""
    held.aside += 1
    try:
        torch.autograd.backward(roots)
    except RuntimeError as error:
        safely("backward passes", Pass(roots, False).refused, refused, str(error))
    finally:
        held.aside -= 1


twins.differentiate = _differentiate


_others = 0  # passes of threads that are not diagnosed


def elsewhere(run: Any, roots: Any, *args: Any, **kwargs: Any) -> Any:
    """A pass of another thread: nothing is told of it, and its leaves are no longer looked at."""
    global _others
    if not _others and torch._C._current_graph_task_id() >= 0:
        return run(roots, *args, **kwargs)  # inside of ours: on a GPU the engine has threads of its own
    _leave_alone(roots)
    _others += 1
    try:
        return run(roots, *args, **kwargs)
    finally:
        _others -= 1


def _leave_alone(roots: Any) -> None:
    seen: set[Any] = set()
    found = [root.grad_fn for root in roots if isinstance(root, torch.Tensor)]
    while found:
        fn = found.pop()
        if fn is not None and fn not in seen:
            seen.add(fn)
            found += [each for each, _ in fn.next_functions]
    with home.lock:
        engine.leave_alone([fn.variable for fn in seen if hasattr(fn, "variable")])


def _making(original: Any) -> Any:
    @functools.wraps(original)
    def _make_grads(outputs: Any, grads: Any, *args: Any, **kwargs: Any) -> Any:
        global _seeds
        _seeds = grads
        try:
            return original(outputs, grads, *args, **kwargs)
        except RuntimeError as error:
            _refuse(error, outputs, grads)
            raise

    return _make_grads


def _making_at_rest(original: Any) -> Any:
    @functools.wraps(original)
    def _make_grads(outputs: Any, grads: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(outputs, grads, *args, **kwargs)
        except RuntimeError as error:
            _refuse(error, outputs, grads)
            raise

    return _make_grads


def _refuse(error: Any, outputs: Any, grads: Any) -> None:
    if hub.refused is not None and not held.aside and "scalar outputs" in str(error):
        safely("backward passes", _refused_shape, error, outputs, grads)


def _refused_shape(error: Any, outputs: Any, grads: Any) -> None:
    for root, grad in zip(outputs, grads, strict=False):
        if grad is None and isinstance(root, torch.Tensor) and root.numel() != 1:
            held.backward, held.roots = lines.here(), outputs
            hub.refused(error, {"not_scalar": engine.node_of(root) or root, "shape": tuple(root.shape)})  # type: ignore[misc]
            return


class Pass:
    """One pass: the gradients that leaves had before it."""

    def __init__(self, roots: Any, accumulates: bool) -> None:
        self.roots, self.accumulates = roots, accumulates
        self.has_history = not isinstance(roots[0], torch.Tensor) or _requires_grad(roots[0])  # else it is refused
        self.before: list[tuple[Any, Any, int]] | None = None
        self.hooks: list[Any] = []
        self.seen = torch._C._len_torch_dispatch_stack() > 0  # would the program's own mode see what hooks compute?
        self.freed: set[int] = set()  # nodes, by number, that had been freed when it began
        self.reached: set[int] | None = None  # leaves, by id; None if that is not known

    def begin(self, given: Any, retained: bool, create: bool) -> None:
        place = held.backward = lines.here()
        held.roots = self.roots
        first = nodes.node(self.roots[0]) if isinstance(self.roots[0], torch.Tensor) else None
        if first is not None and (listening.ear.open or first.seq > held.ended):
            # Only what is older than the pass before can have been freed by it.
            self.freed = {v.seq for v in self._views() if v.seq > held.ended and values.is_freed(v)}
        if listening.ear.open:
            nodes.remember(self.roots, place)
            self.reached = nodes.leaves_behind(self.roots)
            if heard("silently_overwritten"):
                self._look_for_silent_writes()
        elif twins.noted and any(isinstance(root, torch.Tensor) and not values.all_finite(root) for root in self.roots):
            twins.summon(self.roots)
        hub.backward_began(self.roots, given, retained, create, self.accumulates)  # type: ignore[misc]
        if self.accumulates and heard("accumulated"):
            self.before = []
            compiled = bool(getattr(lines.generated, "seen", ()))
            for leaf in engine.leaves():
                if leaf.is_leaf:
                    grad = _read(leaf)
                    if (grad is None or compiled) and (story := engine.story(leaf)) is not None and story.consumed:
                        if grad is None or (values.is_plain(grad) and not grad.any()):
                            story.consumed = story.fresh = False  # cleared by what was compiled, unheard
                    self.before.append((leaf, grad, 0 if grad is None else grad._version))
        if self.seen:
            pass
        elif heard("ran"):
            self._listen_to_nodes()
        elif heard("broke") and self.accumulates and heard("accumulated"):
            self._look_for_dangers()
        if not self.seen and twins.noted and (heard("ran") or heard("broke")):
            self.hooks += twins.watch_pass(self.roots, _ran)
        held.roots = ()

    def end(self, retained: bool) -> None:
        self.drop()
        if not retained:
            held.ended = engine.mark()
        if hub.accumulated is not None:
            for leaf, grad, version in self.before or ():
                if engine.is_others(leaf):  # since it began
                    continue
                now = _read(leaf)
                if now is not None and (now is not grad or now._version != version) and not self._is_filled(leaf, now):
                    hub.accumulated(leaf)
        if hub.backward_ended is not None and self.accumulates:
            hub.backward_ended(self.roots, retained)
        if not held.running:
            checkpoints.passed()

    def _is_filled(self, leaf: Any, grad: Any) -> bool:
        """Is it zeros, because the pass does not reach it? NOTE [Fills]."""
        before = fills.has(leaf)
        known = self.reached is not None
        now = (known and id(leaf) not in self.reached) or (before and not known)  # type: ignore[operator]
        now = now and values.is_plain(grad) and not grad.any()
        if now is not before:
            fills.note(leaf, now)
        return now

    def drop(self) -> None:
        """Take the hooks off."""
        while self.hooks:
            self.hooks.pop().remove()

    def refused(self, error: Any, message: str = "") -> None:
        """Why did the engine refuse?"""
        held.backward, held.roots = lines.here(), self.roots
        try:
            facts = self._facts(message or str(error))
            if facts:
                hub.refused(error, facts)  # type: ignore[misc]
        finally:
            held.roots = ()

    def _facts(self, message: str) -> dict[str, Any]:
        if "torch.utils.checkpoint" in message:
            return checkpoints.refused(message)
        if "does not require grad and does not have a grad_fn" in message:
            root = next((r for r in self.roots if isinstance(r, torch.Tensor) and not r.requires_grad), self.roots[0])
            return {"without_history": root}
        if "second time" in message:
            # What this pass has walked so far is freed by now, too.
            freed = [view for view in self._views() if values.is_freed(view)]
            before = [view for view in freed if view.seq in self.freed]
            older = [view for view in freed if view.seq > held.ended]
            return {} if not freed else {"freed": (before or older or freed)[0]}
        if "modified by an inplace operation" in message:
            for view in self._views():
                facts = _overwritten(view, message)
                if facts:
                    return facts
        return {}

    def _views(self) -> list[View]:
        return nodes.in_order(self.roots)

    # Looking into a pass -------------------------------------------------------------------------

    def _look_for_silent_writes(self) -> None:
        for view in self._views():
            found = memory.silently_overwritten(view)
            if found is not None:
                hub.silently_overwritten(view, *found)  # type: ignore[misc]

    def _listen_to_nodes(self) -> None:
        """Tell what each node gives: only a NaN or an infinity is worth the while."""
        for view in self._views():
            if view.fn is not None and view.op is not None:
                self.hooks.append(view.fn.register_hook(functools.partial(_ran, view)))

    def _look_for_dangers(self) -> None:
        """Nobody listens closely: look at those nodes only whose derivative may be infinite."""
        for view in dangers.found_in(self.roots):
            view.place  # noqa: B018  (can be told only now, while the roots are known)
            self.hooks.append(view.fn.register_hook(functools.partial(_ran, view)))


@uncompiled
def _ran(view: View, results: Any, gradients: Any) -> None:
    told = hub.ran if heard("ran") else hub.broke
    held.aside += 1
    try:
        if told is None or all(r is None or values.all_finite(r) for r in results):
            return
        arrived = tuple(None if g is None else values.array(g) for g in gradients)
        given = tuple(None if r is None else values.array(r) for r in _in_view_order(view, results))
        fn, view._fn = view._fn, None
        told(view, arrived, given)
        view._fn = fn
    finally:
        held.aside -= 1


def _in_view_order(view: View, results: Any) -> tuple[Any, ...]:
    if not view.folded:
        return tuple(results)
    return (*results[-2:], *results[:-2])


def _is_same(text: str, message: str, twin: bool) -> bool:
    """Is it the same value that both say was modified? What was compiled saves it as it is, its twin perhaps a view of it."""
    if "modified by an inplace operation" not in text:
        return False
    if twin:
        found, told = _EXPECTED.search(text), _EXPECTED.search(message)
        versions = found is not None and told is not None and found[0] == told[0]
        return versions and prod(_sizes(text)) == prod(_sizes(message))
    return text.split(";")[0][:200] == message.split(";")[0][:200]


def _sizes(message: str) -> tuple[int, ...]:
    shape = re.search(r"\[torch\.\w+ \[([\d, ]*)\]\]", message)
    return tuple(int(n) for n in shape[1].split(",") if n.strip()) if shape else ()


_EXPECTED = re.compile(r"is at version (\d+); expected version (\d+)")


def _overwritten(view: View, message: str) -> dict[str, Any]:
    """Which saved value was overwritten, and where?"""
    try:
        for _ in values.saved_tensors(view):
            pass
        return {}
    except RuntimeError as error:
        if not _is_same(str(error), message, view.twin):
            return {}
    counted = _EXPECTED.search(message)
    sizes = _sizes(message)
    writes = int(counted[1]) - int(counted[2]) if counted else 1
    place = memory.write_since(view, sizes, writes)
    return {"saved_by": view, "overwritten_at": place, "shape": sizes, "writes": writes}
