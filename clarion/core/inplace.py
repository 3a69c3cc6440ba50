"""Writing in place: what is refused, how history is rebased, how views and their bases follow.

NOTE [Rebase]: an operation in place makes its node the new `grad_fn` of the tensor it wrote. If the
tensor is a view, the *base* changed: the base gets a CopySlices node (the old gradient outside the
view, the operation's gradient inside it), and the view takes a fresh grad_fn from the base. Other views
of the same base notice at their next use that their version is behind, and do the same (`sync`).
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from .. import errors
from ..events import hub
from ..kernels.coo import Coo
from . import modes, provenance
from .devices import HOST, as_array, write
from .dtypes import (
    FROM_NUMPY,
    INEXACT,
    NUMBERS,
    NumpyNumber,
    broadcast_shapes,
    default_float,
    f32,
    f64,
    i64,
    result_type,
)
from .following import layout_of, refresh, refuse_creation, sync
from .general_call import as_scalar
from .messages import refuse_captured
from .node import Node, sequence
from .recording import announce, finish, make_node
from .tensor import Tensor, new_tensor
from .versions import INFERENCE, Part, Turned, VersionCounter
from .view_nodes import AsStridedBackward0 as AsStridedBackward0
from .view_nodes import CopySlices as CopySlices

if TYPE_CHECKING:
    from .op import Op


# Refusals ------------------------------------------------------------------------------------------


# One number in all places: it does not matter how often it is written.
_OVERLAPPING = ("fill_scalar", "zero_", "threshold_written")
# The same where some places are chosen; PyTorch warns.
_SOON_REFUSED = ("masked_fill", "index_fill", "index_put")


def _refuse_inference() -> None:
    if not modes.state.inference:
        raise errors.InplaceError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
            "normal tensor before doing inplace update. See https://github.com/pytorch/rfcs/pull/17 for more details."
        )


def refuse(x: Tensor, name: str) -> None:
    """Raise if `x` must not be written in place now; nothing has been changed yet."""
    if x._vc is INFERENCE:
        _refuse_inference()
    refuse_history(x, name)
    array = x._array
    if array.size > 1 and 0 in array.strides and not name.startswith(_OVERLAPPING) and _overlaps(array):
        if name.startswith(_SOON_REFUSED):
            provenance.warn_user(
                f"Use of {next(each for each in _SOON_REFUSED if name.startswith(each))}_ on expanded tensors is deprecated. "
                "Please clone() the tensor before performing this operation. This also applies to advanced indexing e.g. "
                "tensor[mask] = scalar"
            )
            return
        raise errors.InplaceError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation.\n"
            f"{name}() would write to a tensor of shape {list(array.shape)} that was expanded; "
            f"at {provenance.text(provenance.here())}"
        )


def refuse_overlap(x: Tensor, others: tuple[Any, ...], *, partly: bool = False) -> None:
    """Raise if one of the others lies in the memory that is written to (with gaps it may lie in between: not looked at).
    `partly`: what lies there element by element is read before it is written."""
    for other in others:
        if isinstance(other, Tensor) and (other is x or (other._vc is not None and other._vc is x._vc)):
            one, two = x._array, other._array
            if partly and (other is x or not two.ndim or one.__array_interface__ == two.__array_interface__):
                continue
            dense = one.flags.forc and two.flags.forc
            if other is x or (dense and HOST.xp.may_share_memory(one, two)):
                raise errors.InplaceError(
                    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                    "memory location. Please clone() the tensor before performing the operation."
                )


def refuse_history(x: Tensor, name: str) -> None:
    """Raise if the graph forbids to change `x` in place now."""
    will_write = hub.will_write
    if will_write is not None:
        refuse_captured(x, name)
        will_write(x)
    if modes.special and not modes.recording():
        return
    if x._view is not None:
        if x._view.creation == "normal":
            sync(x)
        _refuse_view(x, name)
    elif x._rg and x._edge is None:
        raise errors.InplaceError(
            "a leaf Variable that requires grad is being used in an in-place operation.\n"
            f"{name}() at {provenance.text(provenance.here())} would change a value that gradients are collected for.\n"
            "To update it by hand, do so under torch.no_grad(); to compute with it, write out of place."
        )


def _overlaps(array: Any) -> bool:
    return any(step == 0 and n > 1 for step, n in zip(array.strides, array.shape, strict=True))


def _refuse_view(x: Tensor, name: str) -> None:
    view = x._view
    assert view is not None
    base = view.base
    if view.creation == "normal":
        if (x._rg or base._rg) and base._edge is None:
            raise errors.InplaceError(
                "a view of a leaf Variable that requires grad is being used in an in-place operation.\n"
                f"{name}() at {provenance.text(provenance.here())} would change a value that gradients are collected "
                "for.\nTo update it by hand, do so under torch.no_grad(); to compute with it, clone() it first."
            )
        return
    refuse_creation(x, x._rg or base._rg)


# The write -----------------------------------------------------------------------------------------


def inplace(op: Op, x: Any, *args: Any) -> Tensor:
    """Run `op` with its first input as the place for the result."""
    if not isinstance(x, Tensor):
        from .messages import not_a_tensor

        raise not_a_tensor(op, 0, x)
    if len(args) + 1 < op.arity:
        args += op.defaults[len(op.defaults) - (op.arity - 1 - len(args)) :]
    recording = True
    if modes.special:
        if modes.dual is not None and modes.dual.touches((x, *args)):
            return modes.dual.write(op, x, args)  # type: ignore[no-any-return]
        if modes.batches:
            _batching().refuse_unbatched_write(op.name, x, args)
        recording = modes.recording()
    elif hub.will_write is None and (op.write or _write_of(op))(x, *args) is x:
        return x  # type: ignore[no-any-return]
    array = x._array
    # The hot path (optimizers): nothing to record, nothing to refuse, nothing to convert.
    if op.writes and x._vc is not INFERENCE and 0 not in array.strides and hub.will_write is None:
        if not recording or (x._view is None and not x._rg):
            operands = direct_operands(op, array, args, recording)
            if operands is not None:
                try:
                    op.kernel(array, *operands, out=array)
                except ValueError as error:
                    raise _misfit(x, [array, *operands[: len(op.inputs) - 1]], error) from None
                except TypeError as error:
                    if not any(isinstance(each, Coo) for each in operands):
                        raise _miscast(x, error) from None
                    return _inplace_general(op, x, _dense(args), recording)
                wrote(x)
                if modes.special and hub.applied is not None:
                    hub.applied(op, (x, *args[: len(op.inputs) - 1]), args[len(op.inputs) - 1 :], (x,))
                return x
    return _inplace_general(op, x, args, recording)


def written_out(op: Op, x: Tensor, args: tuple[Any, ...]) -> bool:
    """Write as most writes are done, by a text for just this operation (write_texts.py); False: nothing was done, for it is unusual."""
    return hub.will_write is None and (op.write or _write_of(op))(x, *args) is x


def _write_of(op: Op) -> Any:
    from .write_texts import pick_write

    op.write = pick_write(op)
    return op.write


def _batching() -> Any:
    from . import batching

    return batching


def _inplace_general(op: Op, x: Tensor, args: tuple[Any, ...], recording: bool) -> Tensor:
    refuse(x, op.name + "_")
    n_in = len(op.inputs)
    inputs, params = (x, *args[: n_in - 1]), args[n_in - 1 :]
    for position, value in enumerate(inputs):
        if value is not None and not isinstance(value, (Tensor, int, float, complex, NumpyNumber)):
            from .messages import not_a_tensor

            raise not_a_tensor(op, position, value)
    if x._view is not None and recording:
        refuse_creation(x, any(isinstance(t, Tensor) and t.requires_grad for t in inputs))
    operands = direct_operands(op, x._array, args, False) if op.writes else None
    if operands is not None:
        before = _before(op, x, inputs) if recording else x
        try:
            op.kernel(x._array, *operands, out=x._array)
        except ValueError as error:
            raise _misfit(x, [x._array, *operands[: n_in - 1]], error) from None
        except TypeError as error:
            if not any(isinstance(each, Coo) for each in operands):
                raise _miscast(x, error) from None
            return _inplace_general(op, x, _dense(args), recording)
    else:
        try:
            arrays, _ = op.raw_operands(list(inputs))
        except errors.NotSupportedError:
            _check_place(op, x, inputs)
            raise
        try:
            result = as_array(op.kernel(*arrays, *params))
        except ValueError as error:
            raise _misfit(x, arrays, error) if op.broadcast else error from None
        check_result(x, result)
        before = _before(op, x, inputs) if recording else x
        write(x._array, result)
    wrote(x)
    if recording:
        rebase(op, x, (before, *inputs[1:]), params)
    if modes.special and hub.applied is not None:
        hub.applied(op, inputs, params, (x,))
    return x


def direct_operands(op: Op, array: Any, args: tuple[Any, ...], unrecorded: bool) -> list[Any] | None:
    """What a kernel gets besides `array`, which it writes straight into; None where a type has to be converted.

    With `unrecorded`, also None where an operand requires a gradient (or, a view, may do so).
    """
    dtype, moves, last = array.dtype, op.moves, len(op.inputs) - 1
    whole = dtype is i64  # as counters are
    if (
        not moves
        and dtype is not f32
        and dtype is not f64
        and not (whole and op.promote == "common" and "i" not in op.refuse)
    ):
        return None
    operands: list[Any] = []
    for position, t in enumerate(args):
        if position >= last or t is None:
            operands.append(t)
        elif isinstance(t, Tensor):
            other = t._array
            if (unrecorded and (t._rg or t._view is not None)) or (other.dtype is not dtype and not moves):
                return None
            operands.append(other)
        elif type(t) is int or (type(t) is float and (moves or not whole)):
            operands.append(t if moves else as_scalar(t, dtype))
        elif moves and isinstance(t, (bool, complex, NumpyNumber)):
            operands.append(t)
        else:
            return None
    return operands


def _dense(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What is sparse, as it is added to an array."""
    return tuple(t.to_dense() if isinstance(t, Tensor) and isinstance(t._array, Coo) else t for t in args)


def _misfit(x: Tensor, arrays: list[Any], error: ValueError) -> Exception:
    """Why a kernel could not write into `x`: shapes that do not broadcast, or to another shape than its own."""
    from .messages import broadcast_error

    shapes = [() if isinstance(a, NUMBERS) else a.shape for a in arrays if a is not None]
    try:
        shape = broadcast_shapes(*shapes)
    except ValueError:
        return broadcast_error(*shapes)
    return error if shape == x._array.shape else _wrong_shape(x, shape)


def _miscast(x: Tensor, error: TypeError) -> Exception:
    """A kernel computed something that does not fit into `x`: say so PyTorch's way."""
    if not str(error).startswith("Cannot cast ufunc"):
        return error
    return errors.DtypeError(
        f"result type Float can't be cast to the desired output type {FROM_NUMPY[x._array.dtype].old}"
    )


def _check_place(op: Op, x: Tensor, inputs: tuple[Any, ...]) -> None:
    """Of a write whose types the operation refuses: raise if its shape, or its type, would not fit either. PyTorch says that first."""
    if op.broadcast and op.promote is not None:
        arrays = [t._array if isinstance(t, Tensor) else t for t in inputs if t is not None]
        try:
            shape = broadcast_shapes(*[a.shape for a in arrays if not isinstance(a, NUMBERS)])
        except ValueError as error:
            raise _misfit(x, arrays, error) from None
        if shape != x._array.shape:
            raise _wrong_shape(x, shape)
        common = result_type(arrays)
        check_type(x, default_float() if op.promote == "float" and common not in INEXACT else common)


def check_result(x: Tensor, result: Any) -> None:
    """The result must have the shape of the tensor written to, and a type that fits into it."""
    if result.shape != x._array.shape:
        raise _wrong_shape(x, result.shape)
    check_type(x, result.dtype)


def check_type(x: Tensor, dtype: Any) -> None:
    """A result of this type must fit into the tensor written to."""
    have, want = FROM_NUMPY[dtype], FROM_NUMPY[x._array.dtype]
    if have.category > want.category and want.category < 4:
        if have.category == 2 and want.category == 2:
            return
        raise errors.DtypeError(f"result type {have.old} can't be cast to the desired output type {want.old}")


def _wrong_shape(x: Tensor, shape: tuple[int, ...]) -> errors.ShapeError:
    return errors.ShapeError(
        f"output with shape {list(x._array.shape)} doesn't match the broadcast shape {list(shape)}\n"
        f"At {provenance.text(provenance.here())}"
    )


def _before(op: Op, x: Tensor, inputs: tuple[Any, ...]) -> Tensor:
    """`x` as an input: a stand-in with its history, and a copy of its values if a rule names them."""
    mask = 0
    for i, t in enumerate(inputs):
        if isinstance(t, Tensor) and t.requires_grad:
            mask |= 1 << i
    return before_write(x, bool(mask) and op.keep(mask)[0])


def before_write(x: Tensor, keeps: bool) -> Tensor:
    """A stand-in for `x` as it is, with its history; `keeps`: and with a copy of its values."""
    old = new_tensor(x._array.copy() if keeps else x._array)
    old._edge, old._nr, old._rg = x._edge, x._nr, x._rg
    if x._edge is None and x._rg:
        old._edge = x
    return old


def wrote(x: Tensor, how: str = "inplace", part: Any = None) -> None:
    """Count a write to `x`, or to the array `part` of it."""
    counter = x._vc
    if counter is None:
        counter = x._vc = VersionCounter()
    if counter is not INFERENCE:
        counter.bump(x._array if part is None else part)
    if hub.wrote is not None:
        hub.wrote(x, how)


def rebase(op: Op, x: Tensor, inputs: tuple[Any, ...], params: tuple[Any, ...]) -> None:
    """Make the operation that has just written to `x` part of its history."""
    mask = 0
    for i, t in enumerate(inputs):
        if isinstance(t, Tensor) and (t._rg if i == 0 else t.requires_grad):
            mask |= 1 << i
    if not mask or (op.name == "copy" and x._array.dtype not in INEXACT):
        return
    node = make_node(op, inputs, params, (x,), mask)
    if any(isinstance(t, Tensor) and t._vc is x._vc for t in inputs[1:]):
        _saved_before_write(node, x, inputs)
    if modes.batches:
        _batching().join(inputs, x, node)
    attach(x, node)
    if modes.special:
        finish(node, (x,))
    if hub.recorded is not None:
        announce(node, inputs, x)


def _saved_before_write(node: Node, x: Tensor, inputs: tuple[Any, ...]) -> None:
    """In `x.mul_(x)` the operand was overwritten by the operation itself: backward must refuse to use it."""
    if node.versions is not None and type(node.versions) is tuple:
        expected = list(node.versions)
        for i, t in enumerate(inputs):
            if i and isinstance(t, Tensor) and t._vc is x._vc:
                known = expected[i]
                expected[i] = (known[0] - 1, *known[1:]) if type(known) is tuple else known - 1
        node.versions = tuple(expected)


def attach(x: Tensor, node: Node) -> None:
    """`node` is the new history of `x`, which it has just written; through the base if `x` is a view."""
    kept = None
    if x._edge is not None and x._edge.hooks is not None:
        kept = x._edge.hooks.retain.pop(x._nr, None)
    if x._view is None:
        x._edge, x._nr, x._rg = node, 0, True
        if kept is not None and kept() is x:
            node._hooks().retain[0] = kept
        return
    attach_to_base(x, node)
    if kept is not None and kept() is x:
        x._edge._hooks().retain[0] = kept


def attach_to_base(x: Tensor, node: Node) -> None:
    """`node` has written to a view: the history of its base, and of the view itself."""
    view = x._view
    assert view is not None
    base = view.base
    before = base._edge
    slices = CopySlices()
    slices.inner, slices.chain, slices.layout = node, view.chain, layout_of(base)
    slices.edges = (before or base if base._rg else None, *node.edges[1:])
    slices.nrs = slices.saved = slices.versions = slices.out_guard = slices.fix = slices.hooks = None
    if base._nr or node.nrs is not None:
        slices.nrs = (base._nr, *(node.nrs[1:] if node.nrs is not None else (0,) * (len(node.edges) - 1)))
    slices.seq, slices.place = next(sequence), node.place
    if node.out_guard is not None or node.saved is None:  # (who has saved its result asks what that belongs to)
        node.run_by = weakref.ref(slices)
    if before is not None and before.hooks is not None and base._nr in before.hooks.retain:
        slices._hooks().retain[0] = before.hooks.retain.pop(base._nr)
    base._edge, base._nr, base._rg = slices, 0, True
    if type(view) is not Part:
        view.version = x._vc.n if x._vc is not None else 0
        refresh(x)


def reshape_inplace(op: Op, x: Tensor, *params: Any, node: str) -> Tensor:
    """Make `x` itself the view of it that `op` takes: its values stay, its shape and strides change.

    Older views of `x` know how they were taken from it as it was: that stays under it, as its base.
    """
    if x._vc is INFERENCE:
        _refuse_inference()
    refuse_history(x, op.name + "_")
    array = op.kernel(x._array, *params)
    recording = modes.special == 0 or modes.recording()
    before = _before(op, x, (x,))
    if x._view is None and x._vc is not None and x._vc is not INFERENCE and not (x._rg and x._edge is None):
        below = new_tensor(x._array)
        below._edge, below._nr, below._rg, below._vc = x._edge, x._nr, x._rg, x._vc
        x._view = Turned(below, (), x._vc.n, "normal")
    x._array = array
    wrote(x)
    if x._view is not None:
        x._view.chain = (x._view.chain, (op, params, None))
        x._view.version = x._vc.n if x._vc is not None else 0
    if modes.special and modes.dual is not None:
        modes.dual.reshape(op, x, params)
    if recording and before._rg:
        made = make_node(op, (before,), params, (x,), 1)
        made.__class__ = _renamed(op, node)
        x._edge, x._nr, x._rg = made, 0, True
    elif before._rg and x._edge is not None and array.shape != before._array.shape:
        from .delayed import turned

        x._edge, x._nr = turned(before, array.shape), 0
    return x


_renamed_classes: dict[str, type] = {}


def _renamed(op: Op, name: str) -> Any:
    """The node class of `op` under another name: PyTorch counts the overloads."""
    if name not in _renamed_classes:
        _renamed_classes[name] = type(name, (op.node_class,), {"__slots__": ()})
    return _renamed_classes[name]
