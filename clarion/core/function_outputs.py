"""After `forward` of a custom Function: its outputs join the graph, and what it saves is kept."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from .. import errors
from ..events import hub
from . import modes, saved
from .dtypes import INEXACT, f32, f64
from .following import refuse_creation
from .inplace import attach, wrote
from .recording import remember_stack
from .saved import Packed, Replaced, check_silent, output_clause, overwritten, version_of
from .tensor import OWN, Tensor, new_tensor
from .versions import INFERENCE, Claim, View
from .views import as_view

if TYPE_CHECKING:
    from .function import CustomNode


def wrap_outputs(
    node: CustomNode, args: tuple[Any, ...], inputs: list[Tensor], output: Any, requires: bool, level: Any = None
) -> Any:
    if requires and level is None and modes.special == 0 and _is_fresh(node, output, inputs):
        return _wrap_fresh(node, args, inputs, output)
    is_tuple = isinstance(output, (tuple, list))
    raw = tuple(output) if is_tuple else (output,)
    dirty = {id(t) for t in node.dirty_tensors}
    _check_dirty(node, raw, dirty, requires, inputs)
    node.__dict__["_argument_is_tensor"] = tuple(isinstance(a, Tensor) for a in args)
    recording_edges = [(t._edge or t) if t._rg and requires else None for t in inputs]
    node.in_meta = tuple(_grad_meta(t) for t in inputs)
    node.edges = tuple(recording_edges)
    node.nrs = tuple(t._nr for t in inputs)
    frozen = {id(t) for t in node.non_differentiable}
    by_id = {id(t): t for t in inputs}
    if frozen:
        node.__dict__["_frozen"] = tuple(nr for nr, value in enumerate(raw) if id(value) in frozen)
    several = sum(isinstance(value, Tensor) and id(value) not in frozen for value in raw) > 1
    outs: list[Any] = []
    for nr, value in enumerate(raw):
        first = next((i for i in range(nr) if raw[i] is value), None) if isinstance(value, Tensor) else None
        if first is not None and (
            id(value) in dirty or id(value) not in by_id
        ):  # returned twice: one tensor, its last place
            outs.append(outs[first])
            if outs[first]._edge is node:
                outs[first]._nr = nr
        elif isinstance(value, Tensor):
            differentiable = requires and id(value) not in frozen
            outs.append(_wrap_one(node, nr, value, by_id, id(value) in dirty, differentiable, several))
        else:
            outs.append(value)
    node.n_out = len(raw)
    node.out_meta = tuple((o._array.shape, o._array.dtype) if isinstance(o, Tensor) else None for o in outs)  # type: ignore[misc]
    if requires:
        _keep_saved(node, raw, outs, inputs)
        if modes.special and modes.state.anomaly:
            remember_stack(node)
        if hub.recorded is not None:
            hub.recorded(node, tuple(inputs), next((o for o in outs if isinstance(o, Tensor)), None))
    if not requires or not any(isinstance(o, Tensor) and o._edge is node for o in outs):
        node.edges = ()
    if level is not None:
        from .function_jvp import push_forward

        push_forward(level, node, args, raw, outs)
    for name in ("dirty_tensors", "non_differentiable", "saved_for_forward"):
        node.__dict__.pop(name, None)
    if is_tuple:
        return outs if isinstance(output, list) else tuple(outs)
    return outs[0]


def _is_fresh(node: CustomNode, output: Any, inputs: list[Tensor]) -> bool:
    """Is the output one tensor of its own, with nothing said about it?"""
    if (type(output) is not Tensor and not isinstance(output, Tensor)) or output._rg or output._edge is not None:
        return False
    said = node.__dict__  # (marks stand there, once they were made)
    if "dirty_tensors" in said or "non_differentiable" in said or "saved_for_forward" in said:
        return False
    if output._view is not None or output._vc is INFERENCE:
        return False
    dtype = output._array.dtype
    if dtype is not f32 and dtype is not f64:
        return False
    for given in inputs:  # noqa: SIM110 (a generator costs as much as all the rest)
        if given is output:
            return False
    return True


def _wrap_fresh(node: CustomNode, args: tuple[Any, ...], inputs: list[Tensor], output: Tensor) -> Tensor:
    """The usual case: one fresh output, recorded."""
    own = node.__dict__
    own["_argument_is_tensor"] = tuple([isinstance(a, Tensor) for a in args])
    edges, metas, numbered = [], [], False
    for t in inputs:
        edges.append((t._edge or t) if t._rg else None)
        array = t._array
        metas.append((array.shape, array.dtype) if t._grad_dtype is OWN else _grad_meta(t))
        if t._nr:
            numbered = True
    node.edges, own["in_meta"] = tuple(edges), metas
    if numbered:
        node.nrs = tuple([t._nr for t in inputs])
    array = output._array
    own["out_meta"] = ((array.shape, array.dtype),)
    output._edge, output._nr, output._rg = node, 0, True
    if "to_save" in own:
        if hub.saved is None and _never_written(node.to_save, output):
            own["_kept"] = list(own.pop("to_save"))
        else:
            _keep_saved(node, (output,), [output])
    if hub.recorded is not None:
        hub.recorded(node, tuple(inputs), output)
    return output


def _never_written(values: Any, output: Tensor) -> bool:
    """Are values to save nothing but tensors that nobody has written to? They are kept as they are."""
    for value in values:
        if value is not None and (not isinstance(value, Tensor) or value._vc is not None or value is output):
            return False
    return True


def _grad_meta(t: Tensor) -> tuple[Any, Any]:
    """Shape and type that a gradient of this input is brought to (None: any type)."""
    return t._array.shape, t._array.dtype if t._grad_dtype is OWN else t._grad_dtype and t._grad_dtype.numpy


def _check_dirty(node: CustomNode, raw: tuple[Any, ...], dirty: set[int], requires: bool, inputs: list[Tensor]) -> None:
    if not dirty:
        return
    for value in node.dirty_tensors:
        if all(value is not given for given in inputs):
            text = (
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should "
                "be passed to ctx.mark_dirty()."
            )
            if value._view is not None:
                raise errors.EngineError(text)
            warnings.warn(text, UserWarning, stacklevel=4)
    returned = {id(value) for value in raw}
    if not dirty <= returned:
        raise errors.EngineError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function."
        )
    for value in node.dirty_tensors if requires else ():
        if value._view is not None and sum(isinstance(out, Tensor) for out in raw) > 1:
            raise errors.EngineError(
                "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
                "more than one Tensor. This is not supported by the current autograd engine. You should either make sure "
                "the input is not a view (using .clone() for example) or make your Function only return one Tensor "
                "(potentially splitting it into two Functions: one doing the inplace that returns a single Tensor and a "
                "second one that does the other operations). You can ask on the forum https://discuss.pytorch.org/ if you "
                "need help to do this change."
            )
        if value._view is not None:
            refuse_creation(value, True)
            base = value._view.base
            if base._rg and base._edge is None:
                raise errors.InplaceError(
                    "a view of a leaf Variable that requires grad is being used in an in-place operation."
                )
        elif value._rg and value._edge is None:
            raise errors.InplaceError(
                "a leaf Variable that requires grad has been used in an in-place operation.\n"
                f"{node._function.__name__}.forward wrote to it and marked it as dirty."
            )


def _wrap_one(
    node: CustomNode, nr: int, value: Tensor, inputs: dict[int, Tensor], dirty: bool, requires: bool, several: bool
) -> Tensor:
    """One output: fresh, an input returned as it is, or an input written in place."""
    if dirty:
        wrote(value)
        if requires and value._array.dtype in INEXACT:
            _rebase(node, nr, value)
        return value
    if id(value) in inputs:
        # An input returned as is becomes a view of it, so that each has its own place in the graph.
        original = value
        if type(original) is not Tensor and not original._is_parameter:  # its class may have a say in this
            with modes.no_grad():
                value = original.view_as(original)
        elif requires and modes.recording():
            value = as_view(original, original._array, (), "custom")
        else:
            value = new_tensor(original._array)
            value._vc = original._counter()
    elif (value._rg and type(value._view) is not Claim) or value._edge is not None:
        value = value.detach()
    elif value._view is not None:
        value._view.__class__ = View
        value._view.creation = "multi" if several else "custom"
        if value._vc is not None:  # what `forward` itself wrote came before its own gradient rule
            value._view.version = value._vc.n
    if requires and value._array.dtype in INEXACT:
        if value._vc is INFERENCE:
            value = new_tensor(value._array)
        value._edge, value._nr, value._rg = node, nr, True
    return value


def _rebase(node: CustomNode, nr: int, value: Tensor) -> None:
    if value._view is None:
        value._edge, value._nr, value._rg = node, nr, True
        return
    position = next(i for i, meta in enumerate(node.in_meta) if meta[0] == value._array.shape)
    if position != 0 or nr != 0:
        raise errors.NotSupportedError(
            "a custom Function that writes a view in place must take it as its first tensor and return it first"
        )
    attach(value, node)


def _keep_saved(node: CustomNode, raw: tuple[Any, ...], outs: list[Any], inputs: Any = ()) -> None:
    if node.to_save is None:
        return
    dirty = {id(t) for t in node.dirty_tensors} if node.dirty_tensors else ()
    given = {id(t) for t in inputs}.difference(dirty) if inputs else ()
    values = node.to_save
    node.to_save = None
    kept: list[Any] = []
    # An input returned as it is was replaced by a view of it, and is saved as the input.
    out_of = {
        id(value): out
        for value, out in zip(raw, outs, strict=True)
        if isinstance(value, Tensor) and id(value) not in given
    }
    hooks = modes.state.saved_hooks[-1] if modes.special and modes.state.saved_hooks else None
    for i, value in enumerate(values):
        if value is None:
            kept.append(None)
            continue
        if not isinstance(value, Tensor):
            raise errors.ArgumentTypeError(
                f"save_for_backward can only save variables, but argument {i} is of type {type(value).__name__}"
            )
        out = out_of.get(id(value))
        # A view that was written hangs on the node by way of its base: holding it would close a cycle, too.
        is_output = out is not None and (out._edge is node or id(value) in dirty)
        tensor = out if out is not None else value
        packed = None if hooks is None else hooks.keep(tensor, node, is_output)
        kept.append(_Kept(tensor, node, is_output) if packed is None else packed)
        if hub.saved is not None:
            hub.saved(node, tensor)
    node.__dict__["_kept"] = kept


def unpacked(entry: Any, node: CustomNode) -> Any:
    """What was saved: a tensor that nobody had written to stands for itself."""
    if isinstance(entry, Tensor):
        return entry if entry._vc is None else _Kept(entry, node, False, (0, 0, None)).unpack(node)
    return None if entry is None else entry.unpack(node)


class _Kept:
    """A tensor saved by a custom Function."""

    __slots__ = ("array", "edge", "is_input", "nr", "place", "rg", "tensor", "vc", "version")

    def __init__(self, tensor: Tensor, node: CustomNode, is_output: bool, version: Any = None) -> None:
        if version is None:
            version = 0 if tensor._vc is None else version_of(tensor)
        self.version = version if type(version) is tuple else (version, 0, None)
        self.rg = tensor._rg
        self.tensor = None if is_output else tensor
        # An output is kept as its array: holding the Tensor would close a cycle through the node.
        self.array = tensor._array
        self.nr = tensor._nr
        self.vc = tensor._counter() if is_output else None

    def unpack(self, node: CustomNode) -> Tensor:
        tensor = self.tensor
        counter = self.vc if tensor is None else tensor._vc
        if counter is not None and counter is not INFERENCE and counter.n != self.version[0]:
            origin = node if tensor is None else tensor.grad_fn
            clause = output_clause(self.nr, origin) if origin is not None else ""
            raise overwritten(node, self.array, counter, self.version[0], clause)
        if counter is not None and counter.watched and counter is not INFERENCE:
            check_silent(node, counter, self.array, self.version)
        if tensor is not None:
            return tensor
        out = new_tensor(self.array)
        out._vc = self.vc
        if self.rg:
            out._edge, out._nr, out._rg = node, self.nr, True
        if modes.special and modes.dual is not None:
            modes.dual.recall(node, self.nr, out)
        return out


class SavedTensor(saved.SavedTensor):
    """`ctx._raw_saved_tensors[i]`."""

    def _entry(self) -> Any:
        entry = self._node.__dict__["_kept"][self._position]
        node: Any = self._node
        return unpacked(entry, node) if isinstance(entry, (_Kept, Tensor)) else entry

    def register_hooks(self, pack_hook: Any = None, unpack_hook: Any = None) -> None:
        """Pack this saved tensor with hooks of its own."""
        saved.need_functions(pack_hook, unpack_hook)
        kept = self._node.__dict__["_kept"]
        entry = kept[self._position]
        if isinstance(entry, Replaced):
            raise errors.EngineError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. "
                "Hint: only one pair of hooks is allowed at a time."
            )
        if entry is None:
            raise errors.EngineError("Calling register_hooks on a saved tensor with value None is forbidden")
        node: Any = self._node
        as_output = not isinstance(entry, Tensor) and entry.tensor is None
        kept[self._position] = Packed(unpacked(entry, node), pack_hook, unpack_hook, as_output=as_output)
