"""The backward pass: a heap on the nodes' sequence numbers, never recursion.

Every node is younger than what it was computed from, so taking the youngest first means that all of a
node's gradients have arrived when its turn comes. Without create_graph the gradients are raw arrays; with
it they are Tensors and the rules record what they do. A node's saved values are released as soon
as it has run.

`backward.py` has the entry points, `passes.py` the state of a pass, `node_turn.py` hooks and checks, and
`leaves.py` the end of every edge.

NOTE [Leaves]: a leaf tensor is the end of an edge itself. Its gradient is accumulated when the last
contribution is in. With no hook on any leaf that moment cannot be seen, and all leaves are served at the
end; with hooks, `count_leaf_uses` finds out beforehand how many contributions to expect.
"""

from __future__ import annotations

import sys
import threading
from heapq import heappop, heappush
from typing import Any

from ..events import hub
from ..kernels.coo import Coo
from ..kernels.quiet import restore, silence
from ..kernels.registry import raw
from . import hooks as hook_module
from . import modes
from .devices import HALVES, HOST, ndarray
from .dtypes import HALF, NumpyNumber, f32, f64
from .leaves import finish_leaf, finish_usual
from .node import FREED, Node
from .node_turn import after_node, apply_checked, before_node
from .passes import Pass, Target, count_leaf_uses, running
from .tensor import Tensor
from .totals import LARGE, total_of

# Backward inside backward goes to a fresh thread this often: Python's recursion limit is per thread.
_DEPTH_PER_THREAD = 40


def execute(roots: list[Target], seeds: list[Any], this: Pass) -> None:
    """Run a pass: modes set, events told, a deep nest of passes moved to a thread of its own."""
    if hook_module.leaf_hook_count:
        count_leaf_uses(roots, this)
    outer = running.this
    hooks = modes.state.saved_hooks
    this.roots = roots
    if outer is not None:
        this.depth = outer.depth + 1
    running.this = this
    try:
        if this.depth % _DEPTH_PER_THREAD == 0:
            _in_thread(roots, seeds, this)
        else:
            _run_in_mode(roots, seeds, this)
        if this.callbacks:
            for callback in this.callbacks:  # one may queue another
                callback()
    finally:
        running.this = outer
        if modes.state.saved_hooks is not hooks:  # left or entered by an unpack hook: of this pass alone
            modes.set_saved_hooks(hooks)
    if hub.backward_ended is not None and this.told:
        hub.backward_ended(tuple(roots), this.retain)


def _run_in_mode(roots: list[Target], seeds: list[Any], this: Pass) -> None:
    quiet = silence()
    try:
        if not this.create_graph:
            run(roots, seeds, this)
            return
        before = modes.state.grad
        modes.set_grad(this.recorded)
        try:
            run(roots, seeds, this)
        finally:
            modes.set_grad(before)
    finally:
        restore(quiet)


def _in_thread(roots: list[Target], seeds: list[Any], this: Pass) -> None:
    saved, failure = modes.snapshot(), []

    def work() -> None:
        modes.restore(saved)
        running.this = this
        try:
            _run_in_mode(roots, seeds, this)
        except BaseException as error:  # handed to the caller's thread
            failure.append(error)
        finally:
            modes.switch(True, False)
            modes.set_saved_hooks(())
            modes.set_anomaly(False)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]


def run(roots: list[Target], seeds: list[Any], this: Pass) -> None:
    """Walk the graph from the roots."""
    heap: list[tuple[int, Node]] = []
    leaves: list[Tensor] = []
    grads, retain, in_order = this.grads, this.retain, this.uses is not None
    capturing = this.capture is not None
    captured: Any = this.goals if capturing else ()
    # grad() of leaves: what is not asked for has no edge here, and all else is as in a plain pass.
    of_leaves = capturing and not in_order and all(goal.seq is None for goal in captured)
    watching = this.needed is not None or this.wanted is not None or (capturing and not of_leaves)
    plain = not watching and not in_order
    tensors = this.create_graph
    checked = modes.state.anomaly or hub.ran is not None
    onto = plain and bool(HALVES)
    hands_on = onto and not checked
    # Whose gradient is a sum that this loop made: it may be added to in place. (Not the sums: they must die early.)
    sums: set[Any] = set()
    freed = hub.freed
    only = only_g = None  # a node that is the only one waiting needs no heap
    if plain and len(roots) == 1 and roots[0][0].n_out == 1:
        only, only_g = roots[0][0], seeds[0]
    else:
        for (target, nr), seed in zip(roots, seeds, strict=True):
            _deliver(this, heap, leaves, target, nr, seed)
    while True:
        if only is not None:
            node, g = only, only_g
            only = only_g = None
        elif heap:
            node = heappop(heap)[1]
            g = grads.pop(node, None) if node.n_out == 1 else _collect(this, node)
            if g is None:
                if node in this.undefined:
                    _run_undefined(this, heap, leaves, node)
                continue
            if this.undefined:
                this.undefined.discard(node)
        else:
            break
        edges = None
        hooks = node.hooks
        if hooks is not None or watching:
            if hooks is not None or node in captured:
                g = before_node(this, node, g)
            if this.needed is not None:
                if node not in this.needed:
                    continue
                edges = _needed_edges(this, node)
        if checked:
            result = apply_checked(this, node, g, edges)
        elif tensors:
            result = node.apply_tensors(g, edges)
        elif onto and node.onto and node.nrs is None and node.fix is None and type(grads.get(node.edges[0])) in HALVES:
            result = list(node.apply_raw(g, None, grads.pop(node.edges[0])))  # see NOTE [Onto] in rules.py
            grads[node.edges[0]], result[0] = result[0], None
        else:
            result = node.apply_raw(g, edges)
        late = node.hooks
        if late is not None and late.post:
            result = after_node(this, node, result, g if late is hooks else None)  # None: registered while it ran
        if not retain:
            saved = node.saved
            if type(saved) is tuple:
                if saved:
                    node.saved = FREED
                    if freed is not None:
                        freed(node)
            elif saved is None:
                node.release()
        g = saved = None  # whoever gets a gradient next may take its memory over
        if (
            node.nrs is not None
            or (capturing and (node.hands_on_nothing or this.undefined))
            or not (plain or of_leaves)
        ):
            _deliver_all(this, heap, leaves, node, result)
            continue
        i = -1  # counting is quicker than zip and enumerate
        for target in node.edges if edges is None else edges:
            i += 1
            r = result[i]
            if r is None or target is None:
                continue
            n_out = target.n_out  # a leaf has none
            if hands_on and n_out == 1 and target._widens and target.hooks is None and type(r) in HALVES:
                target, n_out = target.edges[0], 0  # the turn of a weight's cast: its gradient goes on as it is
            if n_out == 1 and only is None and not heap:
                only, only_g = target, r
            elif target in sums:
                total = grads[target]
                if type(r) is ndarray and (total.dtype is f32 or total.dtype is f64):
                    raw.add(total, r, out=total)
                else:
                    _add_into(total, r)
                total = None
            elif target in grads:
                total = grads[target]
                if type(total) is type(r) is ndarray and (r.dtype is f32 or r.dtype is f64):
                    total = grads[target] = raw.add(total, r)
                else:
                    total = grads[target] = added(total, r, target)
                if type(total) is ndarray:
                    sums.add(target)
                total = None
            elif n_out == 0:
                grads[target] = r
                leaves.append(target)
            elif target is only:
                if type(only_g) is type(r) is ndarray and (r.dtype is f32 or r.dtype is f64):
                    only_g = raw.add(only_g, r)
                else:
                    only_g = added(only_g, r)
            else:
                if only is not None:
                    grads[only] = only_g
                    heappush(heap, (only.seq, only))
                    only = only_g = None
                grads[target] = r
                heappush(heap, (target.seq, target))
    result = r = None
    _finish_leaves(this, leaves)


def current_node() -> Node | None:
    """The node whose turn it is in this thread. The frames know: keeping it up to date would cost every node."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code is run.__code__ or frame.f_code is _run_undefined.__code__:
            found: Node | None = frame.f_locals.get("node")
            return found
        frame = frame.f_back  # type: ignore[assignment]
    return None


# Handing gradients on: the general way -------------------------------------------------------------


def _add_into(total: Any, r: Any) -> None:
    """Add a gradient to a sum of the host's, of any type."""
    if total.size < LARGE or type(r) is not ndarray:
        HOST.xp.add(total, r, total)
    else:
        total_of(total, r, total)


def added(a: Any, b: Any, target: Any = None) -> Any:
    """The sum of two gradients: by the array library's own operator on the host, by the kernel of `add` elsewhere."""
    if type(a) is Coo:
        return b + a  # the later entries first, as PyTorch lists them
    if type(a) is ndarray and a.size >= LARGE and type(b) is ndarray and a.shape == b.shape and a.dtype is b.dtype:
        return total_of(a, b)
    if isinstance(a, (ndarray, Tensor, NumpyNumber)):
        return a + b
    if isinstance(target, Tensor) and a.dtype in HALF:  # a leaf's are summed in its own type
        a = raw.cast(a, target._array.dtype)
    return raw.add(a, b)


def _needed_edges(this: Pass, node: Node) -> tuple[Any, ...]:
    """The edges of a node, with None where no gradient is asked for behind them."""
    needed, goals = this.needed or (), this.goals
    return tuple([e if e is not None and (e in goals or e in needed) else None for e in node.edges])


def _deliver_all(this: Pass, heap: list[tuple[int, Node]], leaves: list[Tensor], node: Node, result: Any) -> None:
    """Hand a node's results on where captures, pruning, the order of leaves or output numbers matter."""
    edges = node.edges
    for i in node.leaf_order or range(len(edges)):
        target = edges[i]
        if target is None:
            continue
        if result[i] is None:
            _skip(this, leaves, target)
            if node.hands_on_nothing or node in this.undefined:
                _let_know(this, heap, target)
        else:
            _deliver(this, heap, leaves, target, 0 if node.nrs is None else node.nrs[i], result[i])
    if this.uses is not None:
        _finish_leaves(this, leaves)


def _deliver(this: Pass, heap: list[tuple[int, Node]], leaves: list[Tensor], target: Any, nr: int, g: Any) -> None:
    """Add a gradient to what has arrived for a node or leaf: the general way, with captures, pruning and order."""
    grads = this.grads
    key = target if nr == 0 else (target, nr)
    if key in grads:
        grads[key] = added(grads[key], g, target)
    elif target.seq is None:
        if (this.wanted is None and this.capture is None) or _leaf_wanted(this, target):
            grads[target] = g
            if this.uses is None:
                leaves.append(target)
    elif this.needed is None or target in this.needed or _captures(this, target):
        if target.n_out == 1 or not _has_any(this, target):
            heappush(heap, (target.seq, target))
        grads[key] = g
        if nr:
            this.numbered = this.numbered or set()
            this.numbered.add(target)
    _skip(this, leaves, target)


def _let_know(this: Pass, heap: list[tuple[int, Node]], target: Any) -> None:
    """NOTE [Undefined gradients]: where a custom backward returned None, nodes behind it have their turn all the same.

    Another custom Function gets zeros (or None, as it asked), hooks get None, operations hand on nothing. The entry in the
    heap comes right after the node's own: if a gradient arrives by another way, it has run by then.
    """
    if target.seq is None or target in this.undefined or not (this.needed is None or target in this.needed):
        return
    this.undefined = this.undefined or set()
    this.undefined.add(target)
    heappush(heap, (target.seq + 0.5, target))


def _run_undefined(this: Pass, heap: list[tuple[int, Node]], leaves: list[Tensor], node: Node) -> None:
    """The turn of a node that no gradient has reached."""
    g: Any = None if node.n_out == 1 else (None,) * node.n_out
    if node.hooks is not None:
        g = before_node(this, node, g)
    result: Any = (None,) * len(node.edges)
    if node.hands_on_nothing:
        edges = None if this.needed is None else _needed_edges(this, node)
        result = node.apply_tensors(g, edges) if this.create_graph else node.apply_raw(g, edges)
    if node.hooks is not None and node.hooks.post:
        result = after_node(this, node, result, g)
    if not this.retain:
        node.release()
    _deliver_all(this, heap, leaves, node, result)
    this.undefined.discard(node)


def _skip(this: Pass, leaves: list[Tensor], target: Any) -> None:
    """One contribution fewer to wait for; a leaf that has all of them is ready."""
    uses = this.uses
    if uses is not None and target in uses:
        uses[target] -= 1
        if uses[target] == 0 and target in this.grads:
            leaves.append(target)


def _finish_leaves(this: Pass, leaves: list[Tensor]) -> None:
    if HALVES:
        _widen(this.grads, leaves)
    if this.capture is None:
        finish_usual(this, leaves)
    while leaves:
        finish_leaf(this, leaves.pop(0))


def _widen(grads: dict[Any, Any], leaves: list[Tensor]) -> None:
    """Gradients of weights that autocast had cast are brought to their type: see NOTE [Weights together] in amp/weights.py."""
    narrow: dict[Any, list[Tensor]] = {}
    for leaf in leaves:
        g = grads[leaf]
        if type(g) in HALVES and g.dtype is not leaf._array.dtype:
            narrow.setdefault((g.dtype, leaf._array.dtype), []).append(leaf)
    for (_, kind), found in narrow.items():
        wide = raw.cast_all([grads.pop(leaf) for leaf in found], kind)
        for leaf in reversed(found):
            grads[leaf] = wide.pop()


def _has_any(this: Pass, node: Node) -> bool:
    """Has any output of this node received a gradient?"""
    return node in this.grads or node in this.numbered


def _leaf_wanted(this: Pass, leaf: Tensor) -> bool:
    if this.capture is not None:
        return leaf in this.capture
    return this.wanted is None or leaf in this.wanted


def _captures(this: Pass, node: Node) -> bool:
    capture = this.capture
    if capture is None:
        return this.wanted is not None and node in this.wanted
    return node in capture or any((node, k) in capture for k in range(1, node.n_out))


def _collect(this: Pass, node: Node) -> Any:
    """Gradients of a node with several outputs: a tuple, or the one that is differentiable."""
    grads = this.grads
    found = [grads.pop(node, None)]
    if node in this.numbered:
        this.numbered.discard(node)
        found += [grads.pop((node, k), None) for k in range(1, node.n_out)]
        if found[0] is None and all(g is None for g in found):
            return None  # it stood in the heap twice and has run already
    elif found[0] is None:
        return None
    else:
        found += (None,) * (node.n_out - 1)
    op = getattr(type(node), "op", None)
    if op is not None and not op.multi_view and len(op.outputs) > 1 and len(op.grad_outputs) == 1:
        return found[op.grad_outputs[0]]
    return tuple(found)
