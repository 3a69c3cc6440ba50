"""The backward pass: a heap on the nodes' sequence numbers, never recursion.

Every node is younger than what it was computed from, so taking the youngest first means that all of a
node's gradients have arrived when its turn comes. Without create_graph the gradients are raw arrays; with
it they are Tensors and the rules record what they do. A node's saved values are released as soon
as it has run.

NOTE [Leaves]: a leaf tensor is the end of an edge itself. Its gradient is accumulated when the last
contribution is in. With no hook on any leaf that moment cannot be seen, and all leaves are served at the
end; with hooks, `_count_leaf_uses` finds out beforehand how many contributions to expect.
"""

from __future__ import annotations

import math
import operator
import itertools
import sys
import threading
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from .. import errors
from ..events import hub
from ..kernels.quiet import restore, silence
from . import hooks as hook_module
from . import modes, provenance
from .dtypes import FROM_NUMPY, Size, bf16, f16, f32, f64
from .node import FREED, AccumulateGrad, GradientEdge, Node
from .tensor import Tensor, new_tensor

# Backward inside backward goes to a fresh thread this often: Python's recursion limit is per thread.
_DEPTH_PER_THREAD = 40

Target = tuple[Any, int]
ndarray = np.ndarray


class Pass:
    """One backward pass: its switches, the gradients under way, and what is to be captured."""

    capture: dict[Any, list[int]] | None = None  # node, leaf or (node, output number) -> positions in the inputs
    captured: list[Any]
    needed: set[Any] | None = None  # with `inputs`: the nodes on a path to one of them
    goals: set[Any]  # with `inputs`: the nodes and leaves they stand for
    wanted: set[Any] | None = None  # with backward(inputs=...): the leaves that accumulate
    uses: dict[Any, int] | None = None  # leaf -> contributions still to come, where that matters
    callbacks: list[Any] | None = None
    reached: set[Any] | None = None  # made when somebody asks: see will_reach
    roots: list[Target]
    depth = 1  # of backward inside backward
    number = 0  # given when somebody asks: see current_run

    def __init__(self, retain: bool, create_graph: bool) -> None:
        self.retain = retain
        self.create_graph = create_graph
        self.grads: dict[Any, Any] = {}  # node, leaf or (node, output number) -> gradient so far


class _Current(threading.local):
    """The pass that is running in this thread."""

    this: Pass | None = None


_current = _Current()
_next_number = itertools.count(1).__next__


def run(roots: list[Target], seeds: list[Any], this: Pass) -> None:
    """Walk the graph from the roots."""
    heap: list[tuple[int, Node]] = []
    leaves: list[Tensor] = []
    grads, retain, in_order = this.grads, this.retain, this.uses is not None
    watching = this.capture is not None or this.wanted is not None
    plain = not watching and not in_order
    tensors = this.create_graph
    anomaly = modes.state.anomaly
    sums: set[Any] = set()  # whose gradient is a sum that this loop made: it may be added to in place
    add_to = np.add
    freed = hub.freed
    for (target, nr), seed in zip(roots, seeds, strict=True):
        _deliver(this, heap, leaves, target, nr, seed)
    only, only_g = None, None  # a node that is the only one waiting needs no heap
    while heap or only is not None:
        if only is not None:
            node, g, only, only_g = only, only_g, None, None
        else:
            node = heappop(heap)[1]
            g = grads.pop(node) if node.n_out == 1 else _collect(this, node)
            if g is None:
                continue
        edges = None
        if node.hooks is not None or watching:
            if node.hooks is not None or this.capture is not None:
                g = _before_node(this, node, g)
            if this.needed is not None:
                if node not in this.needed:
                    continue
                edges = _needed_edges(this, node)
        if anomaly:
            result = _apply_checked(this, node, g, edges)
        elif tensors:
            result = node.apply_tensors(g, edges)
        else:
            result = node.apply_raw(g, edges)
        if node.hooks is not None and node.hooks.post:
            result = _after_node(this, node, result, g)
        if not retain:
            if type(node.saved) is tuple:
                if node.saved:
                    node.saved = FREED
                    if freed is not None:
                        freed(node)
            else:
                node.release()
        g = None  # whoever gets a gradient next may take its memory over
        if not plain or node.nrs is not None:
            _deliver_all(this, heap, leaves, node, result)
            continue
        for target, r in zip(node.edges, result):  # noqa: B905  (the rules gave one per edge; strict costs 60 ns)
            if r is None or target is None:
                continue
            if target in grads:
                if target in sums:
                    add_to(grads[target], r, grads[target])
                else:
                    total = grads[target] = grads[target] + r
                    if type(total) is ndarray:
                        sums.add(target)
            elif target.seq is None:
                grads[target] = r
                leaves.append(target)
            elif only is None and not heap and target.n_out == 1:
                only, only_g = target, r
            elif target is only:
                only_g = only_g + r
            else:
                if only is not None:
                    grads[only] = only_g
                    heappush(heap, (only.seq, only))
                    only = only_g = None
                grads[target] = r
                heappush(heap, (target.seq, target))
    result = r = None
    _finish_leaves(this, leaves)


def _needed_edges(this: Pass, node: Node) -> tuple[Any, ...]:
    """The edges of a node, with None where no gradient is asked for behind them."""
    needed, goals = this.needed, this.goals
    return tuple([e if e is not None and (e in goals or e in needed) else None for e in node.edges])


def _deliver_all(this: Pass, heap: list[tuple[int, Node]], leaves: list[Tensor], node: Node, result: Any) -> None:
    """Hand a node's results on where captures, pruning, the order of leaves or output numbers matter."""
    for i, target in enumerate(node.edges):
        if target is None:
            continue
        if result[i] is None:
            _skip(this, leaves, target)
        else:
            _deliver(this, heap, leaves, target, 0 if node.nrs is None else node.nrs[i], result[i])
    if this.uses is not None:
        _finish_leaves(this, leaves)


def _finish_leaves(this: Pass, leaves: list[Tensor]) -> None:
    while leaves:
        _finish_leaf(this, leaves.pop(0))


def _deliver(this: Pass, heap: list[tuple[int, Node]], leaves: list[Tensor], target: Any, nr: int, g: Any) -> None:
    """Add a gradient to what has arrived for a node or leaf: the general way, with captures, pruning and order."""
    grads = this.grads
    key = target if nr == 0 else (target, nr)
    if key in grads:
        grads[key] = grads[key] + g
    elif target.seq is None:
        if (this.wanted is None and this.capture is None) or _leaf_wanted(this, target):
            grads[target] = g
            if this.uses is None:
                leaves.append(target)
    elif this.needed is None or target in this.needed or _captures(this, target):
        if target.n_out == 1 or not _has_any(this, target):
            heappush(heap, (target.seq, target))
        grads[key] = g
    _skip(this, leaves, target)


def _has_any(this: Pass, node: Node) -> bool:
    """Has any output of this node received a gradient?"""
    return node in this.grads or any((node, k) in this.grads for k in range(1, node.n_out))


def _skip(this: Pass, leaves: list[Tensor], target: Any) -> None:
    """One contribution fewer to wait for; a leaf that has all of them is ready."""
    uses = this.uses
    if uses is not None and target in uses:
        uses[target] -= 1
        if uses[target] == 0 and target in this.grads:
            leaves.append(target)


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
    found = [this.grads.pop(node if k == 0 else (node, k), None) for k in range(node.n_out)]
    if all(g is None for g in found):
        return None  # it stood in the heap twice and has run already
    op = getattr(type(node), "op", None)
    if op is not None and not op.multi_view and len(op.outputs) > 1 and len(op.grad_outputs) == 1:
        return found[op.grad_outputs[0]]
    return tuple(found)


def is_raw(value: Any) -> bool:
    """A raw array (or NumPy scalar), not a Tensor."""
    return not isinstance(value, Tensor)


# Hooks and captures --------------------------------------------------------------------------------


def to_tensor(g: Any) -> Any:
    """A gradient as users see it."""
    return new_tensor(np.asarray(g)) if is_raw(g) else g


def _to_world(this: Pass, g: Any) -> Any:
    return g if this.create_graph or not isinstance(g, Tensor) else g._array


def _before_node(this: Pass, node: Node, g: Any) -> Any:
    """Tensor hooks, then retained gradients and captures, then prehooks of the node (if it is to run)."""
    many = type(g) is tuple
    parts = list(g) if many else [g]
    numbers = range(len(parts)) if many else _numbers(node)
    hooks = node.hooks
    for i, nr in enumerate(numbers):
        if hooks is not None and nr in hooks.tensor:  # of several outputs, those without a gradient get None
            given = None if parts[i] is None else to_tensor(parts[i])
            parts[i] = _to_world(this, _guarded(this, hook_module.run_tensor_hooks, hooks.tensor[nr], given))
        if hooks is not None and nr in hooks.retain and parts[i] is not None:
            keeper = hooks.retain[nr]()
            if keeper is not None:
                keeper._grad = _accumulated(this, keeper._grad, parts[i])
        key = node if nr == 0 else (node, nr)
        if this.capture is not None and key in this.capture:
            for position in this.capture[key]:
                this.captured[position] = parts[i]
    if hooks is not None and hooks.pre and (this.needed is None or node in this.needed):
        before = tuple(to_tensor(p) if p is not None else None for p in parts)
        parts = [_to_world(this, p) for p in _run_prehooks(this, hooks, before)]
    return tuple(parts) if many else parts[0]


def _numbers(node: Node) -> Sequence[int]:
    op = getattr(type(node), "op", None)
    return op.grad_outputs if op is not None and node.n_out > 1 else (0,)


def _guarded(this: Pass, function: Any, *args: Any) -> Any:
    """Run user code: recording only under create_graph."""
    if this.create_graph:
        return function(*args)
    with modes.set_grad_enabled(False):
        return function(*args)


def _run_prehooks(this: Pass, hooks: Any, grads: tuple[Any, ...]) -> tuple[Any, ...]:
    for hook in tuple(hooks.pre.values()):
        result = _guarded(this, hook, grads)
        if result is not None:
            result = result if isinstance(result, tuple) else (result,)
            _check_tuple(hook, grads, result)
            grads = result
    return grads


def _check_tuple(hook: Any, old: tuple[Any, ...], new: tuple[Any, ...]) -> None:
    if len(old) != len(new):
        name = getattr(hook, "__name__", type(hook).__name__)
        raise errors.EngineError(
            f"hook '{name}' has returned an incorrect number of values (got {len(new)}, but expected {len(old)})"
        )
    for before, after in zip(old, new, strict=True):
        if after is not None:
            hook_module.check_replacement(hook, before, after)


def _after_node(this: Pass, node: Node, result: Any, g: Any) -> Any:
    """Post hooks: `hook(grad_inputs, grad_outputs)`."""
    inputs = tuple(None if r is None else to_tensor(r) for r in result)
    outputs = tuple(None if x is None else to_tensor(x) for x in (g if type(g) is tuple else (g,)))
    assert node.hooks is not None
    for hook in tuple(node.hooks.post.values()):
        changed = _guarded(this, hook, inputs, outputs)
        if changed is not None:
            changed = changed if isinstance(changed, tuple) else (changed,)
            _check_tuple(hook, inputs, changed)
            inputs = changed
    return [None if t is None else _to_world(this, t) for t in inputs]


def _apply_checked(this: Pass, node: Node, g: Any, edges: Any) -> Any:
    """Anomaly mode: an error names the forward line, and NaN gradients are refused where they are born."""
    try:
        result = node.apply_tensors(g, edges) if this.create_graph else node.apply_raw(g, edges)
    except Exception as error:
        _warn_forward(node, f"Error detected in {type(node).__name__}.")
        raise error
    if modes.state.anomaly_check_nan:
        for i, r in enumerate(result):
            array = r._array if isinstance(r, Tensor) else r
            if array is not None and array.dtype.kind in "fc" and np.isnan(array).any():
                _warn_forward(node, f"Error detected in {type(node).__name__}.")
                raise errors.EngineError(
                    f"Function '{type(node).__name__}' returned nan values in its {i}th output.\n"
                    f"The operation was recorded at {provenance.text(node.place)}."
                )
    return result


def _warn_forward(node: Node, text: str) -> None:
    import warnings

    lines = node.__dict__.get("_metadata", {}).get("traceback_")
    if lines:
        text += " Traceback of forward call that caused the error:\n" + "".join(lines)
    else:
        text += (
            " No forward pass information available. Enable detect anomaly during forward pass for more information. "
            f"It was recorded at {provenance.text(node.place)}."
        )
    warnings.warn(text, UserWarning, stacklevel=2)


# Leaves --------------------------------------------------------------------------------------------

_accumulate_lock = threading.Lock()


def _finish_leaf(this: Pass, leaf: Tensor) -> None:
    """All gradients of a leaf are in: run its hooks, then capture or accumulate."""
    g = this.grads.pop(leaf)
    hooks = leaf._hooks
    if hooks is None and this.capture is None and type(g) is ndarray and g.shape == leaf._array.shape:
        with _accumulate_lock:
            leaf._grad = _accumulated(this, leaf._grad, g)
        if hub.accumulated is not None:
            hub.accumulated(leaf)
        return
    if hooks is not None:
        if hooks.tensor:
            g = _to_world(this, _guarded(this, hook_module.run_tensor_hooks, hooks.tensor[0], to_tensor(g)))
        if hooks.pre:
            g = _to_world(this, _run_prehooks(this, hooks, (to_tensor(g),))[0])
    if this.capture is not None:
        for position in this.capture.get(leaf, ()):
            this.captured[position] = g
        return
    array = g if is_raw(g) else g._array
    if array.shape != leaf._array.shape:
        from .op import fix_raw, fix_tensor

        meta = (leaf._array.shape, leaf._array.dtype)
        g = fix_raw(g, meta) if is_raw(g) else fix_tensor(g, meta)
    with _accumulate_lock:
        leaf._grad = _accumulated(this, leaf._grad, g)
    if hub.accumulated is not None:
        hub.accumulated(leaf)
    if hooks is not None:
        for hook in tuple(hooks.post_accumulate.values()):
            _guarded(this, hook, leaf)
        for hook in tuple(hooks.post.values()):
            _guarded(this, hook, (), (to_tensor(g),))


def _accumulated(this: Pass, old: Tensor | None, g: Any) -> Tensor:
    """The new `.grad`: in place where that is not recorded, a new tensor under create_graph."""
    if isinstance(g, Tensor):
        if old is not None:
            return old + g
        return g if g._edge is not None or not this.create_graph else _alias_or_copy(g)
    if old is None:
        # Take the array over if nobody else can see it; otherwise copy.
        if type(g) is not np.ndarray or g.base is not None or not g.flags.c_contiguous or sys.getrefcount(g) > 4:
            g = np.array(g, order="C")
        return new_tensor(g)
    if old._edge is not None or old._array.dtype != g.dtype or not old._array.flags.writeable:
        return new_tensor(np.asarray(old._array + g))
    np.add(old._array, g, old._array)
    old._counter().n += 1
    return old


def _alias_or_copy(g: Tensor) -> Tensor:
    return new_tensor(np.array(g._array)) if not g._rg else g


def _count_leaf_uses(roots: list[Target], this: Pass) -> None:
    """How often each leaf will be delivered to."""
    uses: dict[Any, int] = {}
    seen: set[Any] = set()
    stack = [target for target, _ in roots]
    for target, _ in roots:
        if isinstance(target, Tensor):
            uses[target] = uses.get(target, 0) + 1
    while stack:
        node = stack.pop()
        if isinstance(node, Tensor) or node in seen:
            continue
        seen.add(node)
        if this.needed is not None and node not in this.needed:
            continue
        for target in node.edges:
            if isinstance(target, Tensor):
                uses[target] = uses.get(target, 0) + 1
            elif target is not None:
                stack.append(target)
    this.uses = uses


def _find_needed(roots: list[Target], goals: set[Any]) -> set[Any]:
    """The nodes from which a goal (a node or a leaf) can be reached."""
    order: list[Node] = []
    seen: set[Any] = set()
    stack = [target for target, _ in roots if isinstance(target, Node)]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        order.append(node)
        for target in node.edges:
            if target is not None and target.seq is not None and target not in seen:
                stack.append(target)
    order.sort(key=_age, reverse=True)
    needed: set[Any] = set()
    for node in order:
        for target in node.edges:
            if target in goals or target in needed:
                needed.add(node)
                break
    return needed


_age = operator.attrgetter("seq")


# Entry points --------------------------------------------------------------------------------------


def execute(roots: list[Target], seeds: list[Any], this: Pass) -> None:
    """Run a pass: modes set, events told, a deep nest of passes moved to a thread of its own."""
    if hub.backward_began is not None:
        hub.backward_began(tuple(roots), this.create_graph)
    if hook_module.leaf_hook_count:
        _count_leaf_uses(roots, this)
    outer = _current.this
    this.roots = roots
    if outer is not None:
        this.depth = outer.depth + 1
    _current.this = this
    try:
        if this.depth % _DEPTH_PER_THREAD == 0:
            _in_thread(roots, seeds, this)
        else:
            _run_in_mode(roots, seeds, this)
        if this.callbacks:
            for callback in this.callbacks:  # one may queue another
                callback()
    finally:
        _current.this = outer
    if hub.backward_ended is not None:
        hub.backward_ended(tuple(roots), this.retain)


def _run_in_mode(roots: list[Target], seeds: list[Any], this: Pass) -> None:
    quiet = silence()
    try:
        if not this.create_graph:
            run(roots, seeds, this)
            return
        before = modes.state.grad
        modes._set("grad", True)
        try:
            run(roots, seeds, this)
        finally:
            modes._set("grad", before)
    finally:
        restore(quiet)


def _in_thread(roots: list[Target], seeds: list[Any], this: Pass) -> None:
    saved, failure = modes.snapshot(), []

    def work() -> None:
        modes.restore(saved)
        _current.this = this
        try:
            _run_in_mode(roots, seeds, this)
        except BaseException as error:  # handed to the caller's thread
            failure.append(error)
        finally:
            modes._set("grad", True)
            modes._set("inference", False)
            modes.set_saved_hooks(())
            modes.set_anomaly(False)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]


def current_run() -> int:
    """A number for the backward pass that is running in this thread."""
    this = _current.this
    if this is None:
        raise errors.EngineError("there is no backward pass under way in this thread")
    if this.number == 0:
        this.number = _next_number()
    return this.number


def will_reach(target: Any) -> bool:
    """Will the running pass deliver a gradient to this node or leaf?"""
    this = _current.this
    assert this is not None
    if this.reached is None:
        this.reached = _reachable(this)
    return target in this.reached


def _reachable(this: Pass) -> set[Any]:
    """Everything that the pass delivers to, from its roots, within what is needed."""
    reached: set[Any] = set()
    stack = [target for target, _ in this.roots]
    while stack:
        target = stack.pop()
        if target in reached:
            continue
        reached.add(target)
        if isinstance(target, Node) and (this.needed is None or target in this.needed):
            stack.extend(edge for edge in target.edges if edge is not None)
    if this.needed is not None:
        goals = this.needed | set(this.wanted or ()) | {k[0] if type(k) is tuple else k for k in this.capture or ()}
        reached &= goals
    return reached


def queue_callback(callback: Any) -> None:
    """Run `callback()` when the pass that is now running has ended."""
    this = _current.this
    if this is None:
        raise errors.EngineError("Final callbacks can only be installed during backward pass.")
    if this.callbacks is None:
        this.callbacks = []
    this.callbacks.append(callback)


def accumulates_everything() -> bool:
    """Is the running pass a plain backward(), or is there none?"""
    this = _current.this
    return this is None or (this.capture is None and this.wanted is None)


# The gradient that backward() of a scalar begins with. Shared: the engine never writes into what it was given.
_ONE = {dtype: np.ones((), dtype) for dtype in (f32, f64, f16, bf16)}


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Sum the gradients of `tensors` into the `.grad` of the leaves (or only of `inputs`)."""
    if not create_graph and inputs is None and isinstance(tensors, Tensor) and grad_tensors is None:
        root = tensors
        if root._edge is not None and root._view is None and root._array.size == 1 and root._array.dtype.kind == "f":
            seed = _ONE.get(root._array.dtype) if root._array.ndim == 0 else np.ones_like(root._array)
            execute([(root._edge, root._nr)], [seed], Pass(bool(retain_graph), False))
            return
    tensors_ = _as_tuple(tensors)
    seeds = _as_tuple(grad_tensors) if grad_tensors is not None else (None,) * len(tensors_)
    keep = create_graph if retain_graph is None else retain_graph
    this = Pass(bool(keep), bool(create_graph))
    if inputs is not None:
        wanted = _as_tuple(inputs)
        if not wanted:
            raise errors.EngineError("`inputs` argument to `backward()` cannot be empty.")
    roots, start = _roots(tensors_, seeds, create_graph)
    if inputs is not None:
        _accumulate_only(this, roots, wanted)
    execute(roots, start, this)


def _accumulate_only(this: Pass, roots: list[Target], wanted: tuple[Any, ...]) -> None:
    """backward(inputs=...): leaves accumulate, non-leaves get their gradient as if retained."""
    goals: set[Any] = set()
    for t in wanted:
        if isinstance(t, GradientEdge):
            goals.add(t.node.variable if isinstance(t.node, AccumulateGrad) else t.node)
            continue
        if not t.requires_grad:
            raise errors.EngineError(
                "can't retain_grad on Tensor that has requires_grad=False\n"
                "One of the `inputs` given to backward() does not require a gradient."
            )
        if t._edge is not None:
            t.retain_grad()
        goals.add(t._edge or t)
    this.wanted = this.goals = goals
    this.needed = _find_needed(roots, goals)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, (Tensor, GradientEdge)):
        return (value,)
    return tuple(value)


def _roots(tensors: tuple[Any, ...], seeds: tuple[Any, ...], create_graph: bool) -> tuple[list[Target], list[Any]]:
    """Where to begin, and with which gradients; refuses what cannot be differentiated."""
    if len(tensors) != len(seeds):
        raise errors.EngineError(f"got {len(tensors)} tensors and {len(seeds)} gradients")
    roots: list[Target] = []
    start: list[Any] = []
    for i, (root, seed) in enumerate(zip(tensors, seeds, strict=True)):
        if isinstance(root, GradientEdge):
            target = root.node.variable if isinstance(root.node, AccumulateGrad) else root.node
            nr, (shape, dtype) = root.output_nr, _edge_meta(root)
        elif isinstance(root, Tensor):
            if not root.requires_grad:
                raise _no_history(i, root)
            target, nr = root._edge or root, root._nr
            shape, dtype = root._array.shape, root._array.dtype
        else:
            raise errors.ArgumentTypeError(f"tensors must be Tensors or GradientEdges, but got {type(root).__name__}")
        seed = _seed(i, seed, shape, dtype, create_graph)
        if isinstance(target, Node) and target.saved is FREED:
            from .saved import freed_error

            raise freed_error(target)
        roots.append((target, nr))
        start.append(seed if create_graph else seed._array)
    return roots, start


def _edge_meta(edge: GradientEdge) -> tuple[Any, Any]:
    node = edge.node
    if isinstance(node, AccumulateGrad):
        return node.variable._array.shape, node.variable._array.dtype
    if node.out_meta is None:
        raise errors.EngineError(
            "the shape behind this GradientEdge is not known: take edges with torch.autograd.graph.get_gradient_edge(tensor)"
        )
    return node.out_meta[edge.output_nr]


def _seed(i: int, seed: Any, shape: Any, dtype: Any, create_graph: bool) -> Tensor:
    if seed is None:
        if math.prod(shape) != 1:
            raise errors.LossNotScalarError(
                "grad can be implicitly created only for scalar outputs\n"
                f"backward() was called on a tensor of shape {list(shape)} at {provenance.text(provenance.here())}.\n"
                "Reduce it with .mean() or .sum() (they differ by a factor of its size in the gradients), or pass a "
                "gradient of its shape."
            )
        if dtype.kind == "c":
            raise errors.LossNotScalarError(
                f"grad can be implicitly created only for real scalar outputs but got {FROM_NUMPY[dtype]}"
            )
        return new_tensor(np.ones(shape, dtype))
    if not isinstance(seed, Tensor):
        raise errors.ArgumentTypeError(f"gradients can be either Tensors or None, but got {type(seed).__name__}")
    if seed._array.shape != shape:
        raise errors.ShapeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {Size(seed._array.shape)} and output[{i}] has a shape "
            f"of {Size(shape)}."
        )
    if (seed._array.dtype.kind == "c") != (dtype.kind == "c"):
        kinds = "complex", "real"
        raise errors.EngineError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{i}] has a dtype of {seed.dtype} and output[{i}] has a dtype of {FROM_NUMPY[dtype]} ({kinds})."
        )
    if seed._array.dtype != dtype:
        seed = seed.to(FROM_NUMPY[dtype])
    return seed


def _no_history(i: int, root: Tensor) -> Exception:
    reason = "It was not computed from any tensor that requires a gradient"
    if not modes.state.grad:
        reason = "Recording is off here (no_grad or set_grad_enabled(False))"
    return errors.NoHistoryError(
        f"element {i} of tensors does not require grad and does not have a grad_fn\n"
        f"{reason}; at {provenance.text(provenance.here())}.\n"
        "Common causes: the loss was computed under torch.no_grad(), or passed through .detach(), .item(), NumPy or an "
        "integer operation such as argmax."
    )


def gradients(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """Gradients of `outputs` with respect to `inputs`, returned and not accumulated."""
    if materialize_grads and allow_unused is False:
        raise errors.ArgumentValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    outs, ins = _as_tuple(outputs), _as_tuple(inputs)
    seeds = _as_tuple(grad_outputs) if grad_outputs is not None else (None,) * len(outs)
    keep = create_graph if retain_graph is None else retain_graph
    this = Pass(bool(keep), bool(create_graph))
    roots, start = _roots(outs, seeds, create_graph)
    if not ins:
        raise errors.EngineError("grad requires non-empty inputs.")
    this.capture, this.captured = {}, [None] * len(ins)
    goals: set[Any] = set()
    for position, t in enumerate(ins):
        if isinstance(t, GradientEdge):
            target = t.node.variable if isinstance(t.node, AccumulateGrad) else t.node
            nr = t.output_nr
        else:
            if not isinstance(t, Tensor):
                raise errors.ArgumentTypeError(f"inputs must be Tensors or GradientEdges, but got {type(t).__name__}")
            if not t.requires_grad:
                raise errors.EngineError("One of the differentiated Tensors does not require grad")
            target, nr = t._edge or t, t._nr
        goals.add(target)
        this.capture.setdefault(target if nr == 0 else (target, nr), []).append(position)
    this.goals = goals
    this.needed = _find_needed(roots, goals)
    execute(roots, start, this)
    unused_ok = materialize_grads if allow_unused is None else allow_unused
    return tuple(_captured(this, i, ins[i], unused_ok, materialize_grads) for i in range(len(ins)))


def _captured(this: Pass, i: int, t: Any, unused_ok: bool, materialize: bool) -> Tensor | None:
    g = this.captured[i]
    if g is None:
        if materialize:
            shape, dtype = _edge_meta(t) if isinstance(t, GradientEdge) else (t._array.shape, t._array.dtype)
            return new_tensor(np.zeros(shape, dtype))
        if not unused_ok:
            raise errors.EngineError(
                f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior."
            )
        return None
    if isinstance(g, Tensor):
        return g
    array = np.asarray(g)
    if not array.flags.writeable or 0 in array.strides:
        array = np.array(array)
    return new_tensor(array)
