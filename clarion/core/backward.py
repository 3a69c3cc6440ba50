"""The entry points: `backward` accumulates into leaves, `gradients` returns; both check what they are given first."""

from __future__ import annotations

import math
import warnings
from typing import Any

from .. import errors
from ..events import hub, unheard
from ..kernels.coo import Coo
from . import modes, provenance
from .devices import HOST, as_array, kind_of, ndarray, writable, xp_of
from .dtypes import FROM_NUMPY, Size, bf16, f16, f32, f64
from .engine import execute
from .following import sync
from .messages import told
from .node import FREED, AccumulateGrad, GradientEdge, Node
from .passes import Pass, Target, find_needed
from .saved import freed_error
from .tensor import Tensor, new_tensor
from .versions import Claim

# The gradient that backward() of a scalar begins with. Shared: the engine never writes into what it was given.
_ONE = {dtype: HOST.xp.ones((), dtype) for dtype in (f32, f64, f16, bf16)}

_LEAST = -math.inf

_cycle_told = False


def _warn_of_cycle() -> None:
    """Once per process (or always: set_warn_always), as PyTorch does: `.grad` with a graph holds its own leaf."""
    global _cycle_told
    if _cycle_told and not modes.warn_always:
        return
    _cycle_told = True
    warnings.warn(
        "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
        "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
        "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break the "
        f"cycle and avoid the leak.\nAt {provenance.text(provenance.here())}",
        UserWarning,
        stacklevel=4,
    )


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
    recorded: bool = True,
) -> None:
    """Sum the gradients of `tensors` into the `.grad` of the leaves (or only of `inputs`)."""
    if modes.state.transforms:
        raise errors.EngineError(
            "backward() called inside a functorch transform. This is not supported, please use functorch.grad or functorch.vjp instead "
            "or call backward() outside of functorch transforms."
        )
    if modes.special and _needs_tangents(create_graph):
        backward(tensors, grad_tensors, bool(retain_graph), True, inputs, recorded=False)
        return
    if not create_graph and inputs is None and isinstance(tensors, Tensor) and grad_tensors is None:
        root = tensors
        array = root._array
        seed = _ONE.get(array.dtype) if type(array) is ndarray and not array.shape else None
        simple = seed is not None
        if not simple and array.size == 1 and array.dtype.kind == "f":
            seed = kind_of(array).one(array)
        if seed is not None and root._edge is not None and root._view is None:
            if hub.backward_began is not None:
                kept = retain_graph and not unheard.retains  # for the first time, as far as is known
                value = array.item() if simple else math.nan
                # (A chain of comparisons takes three times as long as two of them.)
                if kept or not value <= unheard.limit or value == _LEAST or not next(unheard.left, False):
                    if kept or not (unheard.alike(root._edge) and _is_ordinary(root) and unheard.counted()):
                        hub.backward_began((root,), (None,), bool(retain_graph), False, True)
            execute([(root._edge, root._nr)], [seed], Pass(bool(retain_graph), False))
            return
    inputs = tuple(inputs.values()) if isinstance(inputs, dict) else inputs
    tensors_ = _as_tuple(tensors)
    if not tensors_:
        return
    seeds = _as_tuple(grad_tensors) if grad_tensors is not None else (None,) * len(tensors_)
    keep = create_graph if retain_graph is None else retain_graph
    this = Pass(bool(keep), bool(create_graph))
    this.recorded = recorded
    if create_graph and recorded:
        _warn_of_cycle()
    if inputs is not None:
        wanted = _as_tuple(inputs)
        if not wanted:
            raise errors.EngineError("`inputs` argument to `backward()` cannot be empty.")
    roots, start = _roots(tensors_, seeds, create_graph)
    if hub.backward_began is not None:
        if not (unheard.count < unheard.told and _is_ordinary(tensors_[0]) and unheard.counted()):
            hub.backward_began(tensors_, seeds, this.retain, this.create_graph and recorded, True)
    if inputs is not None:
        _accumulate_only(this, roots, wanted)
    execute(roots, start, this)


def _is_ordinary(root: Any) -> bool:
    """Is it one finite number on the host, not above the limit, that was computed? (NOTE: `events.Unheard`.)"""
    array = None if getattr(root, "_edge", None) is None else root._array  # (a GradientEdge has none)
    value = array.item() if type(array) is ndarray and array.size == 1 else None
    return type(value) is float and _LEAST < value <= unheard.limit


def _needs_tangents(create_graph: bool) -> bool:
    """Inside a level of forward mode gradients have tangents, too: the rules run on Tensors, though unrecorded."""
    return not create_graph and modes.dual is not None and modes.dual.active()


def _accumulate_only(this: Pass, roots: list[Target], wanted: tuple[Any, ...]) -> None:
    """backward(inputs=...): leaves accumulate, non-leaves get their gradient as if retained."""
    goals: set[Any] = set()
    for t in wanted:
        if isinstance(t, GradientEdge):
            goals.add(t.node.variable if isinstance(t.node, AccumulateGrad) else t.node)
            continue
        if not isinstance(t, Tensor):
            raise errors.EngineError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
        if not t.requires_grad:
            raise errors.EngineError(
                "can't retain_grad on Tensor that has requires_grad=False\n"
                "One of the `inputs` given to backward() does not require a gradient."
            )
        if t._view is not None:
            sync(t)
        if t._edge is not None:
            t.retain_grad()
        goals.add(t._edge or t)
    this.wanted = this.goals = goals
    needed = find_needed(roots, goals)
    if needed is not None:
        this.needed = needed | {goal for goal in goals if isinstance(goal, Node)}


def gradients(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
    recorded: bool = True,
    told: bool = True,
) -> tuple[Tensor | None, ...]:
    """Gradients of `outputs` with respect to `inputs`, returned and not accumulated. `recorded`, `told`: see `Pass`."""
    if materialize_grads and allow_unused is False:
        raise errors.ArgumentValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if modes.special and _needs_tangents(create_graph):
        retain = bool(retain_graph)
        return gradients(outputs, inputs, grad_outputs, retain, True, allow_unused, materialize_grads, False, told)
    outs, ins = _as_tuple(outputs), _as_tuple(inputs)
    seeds = _as_tuple(grad_outputs) if grad_outputs is not None else (None,) * len(outs)
    keep = create_graph if retain_graph is None else retain_graph
    this = Pass(bool(keep), bool(create_graph))
    this.recorded, this.told = recorded, told
    if not ins:
        raise errors.EngineError("`inputs` argument to `grad()` cannot be empty.")
    roots, start = _roots(outs, seeds, create_graph)
    this.capture, this.captured = {}, [None] * len(ins)
    goals: set[Any] = set()
    for position, t in enumerate(ins):
        if isinstance(t, GradientEdge):
            target = t.node.variable if isinstance(t.node, AccumulateGrad) else t.node
            nr = t.output_nr
        else:
            if not isinstance(t, Tensor):
                raise errors.EngineError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
            if not t.requires_grad or type(t._view) is Claim:
                raise errors.EngineError("One of the differentiated Tensors does not require grad")
            if t._view is not None:
                sync(t)
            target, nr = t._edge or t, t._nr
        goals.add(target)
        this.capture.setdefault(target if nr == 0 else (target, nr), []).append(position)
    this.goals = goals
    this.needed = find_needed(roots, goals)
    if hub.backward_began is not None and told and outs:
        hub.backward_began(outs, seeds, this.retain, this.create_graph and recorded, False)
    execute(roots, start, this)
    unused_ok = materialize_grads if allow_unused is None else allow_unused
    found = tuple(_captured(this, i, ins[i], unused_ok, materialize_grads) for i in range(len(ins)))
    if modes.special and hub.applied is not None and told and not create_graph:
        hub.applied(_AutogradGrad, outs, (), [g for g in found if g is not None])
    return found


class _AutogradGrad:
    """`autograd.grad` as an operation, for those who hear of all that run: what it gives has no history."""

    name, traits = "grad", frozenset[str]()
    elementwise = broadcast = moves = view = False


def _captured(this: Pass, i: int, t: Any, unused_ok: bool, materialize: bool) -> Tensor | None:
    g = this.captured[i]
    if g is None:
        if materialize:
            if isinstance(t, GradientEdge):
                raise errors.EngineError("materialize_grads cannot be used when the given input is a GradientEdge")
            zeros = new_tensor(xp_of(t._array).zeros(t._array.shape, t._array.dtype))
            zeros._rg = this.create_graph and this.recorded
            return zeros
        if not unused_ok:
            raise errors.EngineError(
                f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior."
            )
        return None
    if isinstance(g, Tensor):
        return g
    if type(g) is Coo:
        return g.tensor()  # type: ignore[no-any-return]
    array = as_array(g)
    if not writable(array) or 0 in array.strides:
        array = array.copy("K")
    return new_tensor(array)


# Where to begin, and with what ---------------------------------------------------------------------


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
            if root._view is not None:
                sync(root)
                if type(root._view) is Claim and root._edge is None:
                    raise _no_history(i, root)
            target, nr = root._edge or root, root._nr
            shape, dtype = root._array.shape, root._array.dtype
        else:
            raise errors.ArgumentTypeError(f"tensors must be Tensors or GradientEdges, but got {type(root).__name__}")
        xp = xp_of(root._array) if isinstance(root, Tensor) else HOST.xp
        if seed is None and isinstance(root, Tensor) and root._array.size == 1 and dtype.kind != "c":
            seed = new_tensor(kind_of(root._array).one(root._array))
        else:
            seed = _seed(i, seed, shape, dtype, target, xp)
        if isinstance(target, Node) and target.saved is FREED:
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


def _seed(i: int, seed: Any, shape: Any, dtype: Any, target: Any, xp: Any) -> Tensor:
    if seed is None:
        if math.prod(shape) != 1:
            error = errors.LossNotScalarError(
                "grad can be implicitly created only for scalar outputs\n"
                f"backward() was called on a tensor of shape {list(shape)} at {provenance.text(provenance.here())}.\n"
                "Reduce it with .mean() or .sum() (they differ by a factor of its size in the gradients), or pass a "
                "gradient of its shape."
            )
            raise told(error, not_scalar=target, shape=shape)
        if dtype.kind == "c":
            raise errors.LossNotScalarError(
                f"grad can be implicitly created only for real scalar outputs but got {FROM_NUMPY[dtype]}"
            )
        return new_tensor(xp.ones(shape, dtype))
    if not isinstance(seed, Tensor):
        raise errors.ArgumentTypeError(f"gradients can be either Tensors or None, but got {type(seed).__name__}")
    if (own := xp_of(seed._array)) is not xp and not any(getattr(each, "any_device", False) for each in (own, xp)):
        raise errors.EngineError(
            f"grad_output[{i}] is on the device '{seed.device}', and the output is not: move one of them to the other."
        )
    if seed._array.shape != shape:
        raise errors.ShapeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {Size(seed._array.shape)} and output[{i}] has a shape "
            f"of {Size(shape)}."
        )
    if (seed._array.dtype.kind == "c") != (dtype.kind == "c"):
        raise errors.EngineError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{i}] has a dtype of {seed.dtype} and output[{i}] has a dtype of {FROM_NUMPY[dtype]}."
        )
    if seed._array.dtype == dtype:
        return seed
    converted: Tensor = seed.to(FROM_NUMPY[dtype])
    return converted


def _no_history(i: int, root: Tensor) -> Exception:
    reason = "It was not computed from any tensor that requires a gradient"
    if not modes.state.grad:
        reason = "Recording is off here (no_grad or set_grad_enabled(False))"
    error = errors.NoHistoryError(
        f"element {i} of tensors does not require grad and does not have a grad_fn\n"
        f"{reason}; at {provenance.text(provenance.here())}.\n"
        "Common causes: the loss was computed under torch.no_grad(), or passed through .detach(), .item(), NumPy or an "
        "integer operation such as argmax."
    )
    return told(error, without_history=root)
