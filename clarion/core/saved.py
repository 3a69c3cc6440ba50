"""Saved values: version checks, the saved-tensor hooks, and `_saved_*` attributes."""

from __future__ import annotations

import functools
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from .. import errors
from ..events import hub
from . import modes, provenance
from .devices import ndarray
from .dtypes import uint8, uint64
from .messages import told
from .node import FREED, Node
from .tensor import Tensor, new_tensor
from .versions import INFERENCE, VersionCounter

if TYPE_CHECKING:
    from .op import Op

_FREED_TEXT = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have "
    "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
    "if you need to access saved tensors after calling backward."
)


def freed_error(node: Node) -> errors.GraphFreedError:
    """The error of a second walk, with the line that built the freed part."""
    error = errors.GraphFreedError(
        f"{_FREED_TEXT}\n"
        f"{type(node).__name__} was recorded at {provenance.text(node.place)}, and its saved values are gone.\n"
        "If two losses share this part, add them and call backward() once; if it belongs to an earlier step, "
        "detach() the state that you carry over."
    )
    return told(error, freed=node)


# Stands in `node.versions`: some saved values went through hooks and are Packed.
PACKED: Any = ("packed",)


class Replaced:
    """A saved value that is not kept as it is: `unpack()` brings back a Tensor."""

    __slots__ = ("as_output", "edge", "nr", "requires", "tangent")
    packed: Any  # what is kept in its place
    unpack_hook: Any

    def __init__(self, tensor: Tensor, as_output: bool) -> None:
        """Notes where the value belongs in the graph."""
        self.as_output = as_output
        self.edge = None if as_output else tensor._edge or (tensor if tensor._rg else None)
        self.nr = tensor._nr
        self.requires = tensor._rg
        self.tangent = modes.dual.kept(tensor) if modes.dual is not None else None

    def value(self) -> Tensor:
        """The value, outside the graph."""
        raise NotImplementedError

    def array(self) -> Any:
        """Its array; nothing is recorded meanwhile."""
        return self.value()._array

    def unpack(self, node: Node | None) -> Tensor:
        """The Tensor, joined to the graph where the original was."""
        value = self.value()
        if self.tangent is not None and modes.dual is not None:
            modes.dual.put_back(value, self.tangent)
        if not self.requires:
            return value
        result = new_tensor(value._array)
        if self.tangent is not None and modes.dual is not None:
            modes.dual.put_back(result, self.tangent)
        result._rg = True
        result._nr = self.nr
        if self.as_output:
            slices = None if node is None or node.run_by is None else node.run_by()
            result._edge, result._nr = (node, self.nr) if slices is None else (slices.view(), 0)
        elif isinstance(self.edge, Tensor):
            return _leaf_alias(self.edge, value)
        else:
            result._edge = self.edge
        return result


class Hooks:
    """A pair of saved-tensor hooks. What stands in their place (checkpoints') has a `keep`, too: it gives what is kept of a value, or
    None if that stays as it is."""

    __slots__ = ("pack", "unpack")

    def __init__(self, pack: Any, unpack: Any) -> None:
        self.pack, self.unpack = pack, unpack

    def keep(self, tensor: Tensor, node: Node, as_output: bool = False) -> Replaced | None:
        """A value that `node` saves, one of its outputs perhaps."""
        return Packed(tensor, self.pack, self.unpack, as_output=as_output)


class Packed(Replaced):
    """A saved value that went through a pack hook."""

    __slots__ = ("packed", "unpack_hook")

    def __init__(self, tensor: Tensor, pack: Any, unpack: Any, *, as_output: bool = False) -> None:
        super().__init__(tensor, as_output)
        self.unpack_hook = unpack
        handed = tensor
        if as_output:
            handed = new_tensor(tensor._array)
            handed._vc = tensor._vc
        before = handed._version if handed._vc is not INFERENCE else 0
        self.packed = modes.aside(pack, handed)
        if handed._vc is not INFERENCE and handed._version != before:
            raise errors.EngineError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open "
                "an issue if you need to perform in-place operations on the input to a pack hook."
            )

    def value(self) -> Tensor:
        value = self.unpack_hook(self.packed)
        if not isinstance(value, Tensor):
            raise errors.ArgumentTypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(value).__name__}"
            )
        return value

    def array(self) -> Any:
        recording, _ = modes.switch(False)
        try:
            return self.value()._array
        finally:
            modes.switch(recording)


class _LeafAlias(Node):
    """Joins an unpacked value to the leaf it was packed from (an identity in the graph)."""

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        return (g,)

    apply_tensors = apply_raw


def _leaf_alias(leaf: Tensor, value: Tensor) -> Tensor:
    node = _LeafAlias()
    node.blank()
    node.edges = (leaf,)
    result = new_tensor(value._array)
    if modes.special and modes.dual is not None:
        modes.dual.carry(value, result)
    result._rg = True
    result._edge = node
    return result


def check_versions(node: Node) -> None:
    """Refuse to use a saved value that was written in place since."""
    versions = node.versions
    if versions is not PACKED:
        for i, tensor in enumerate(node.saved[: len(node.edges)]):
            if not isinstance(tensor, Tensor) or tensor._vc is None:
                continue
            counter = tensor._vc
            if tensor._edge is None and not tensor._rg and isinstance(node.edges[i], Node):
                raise errors.EngineError(
                    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, "
                    "please use out-of-place `.detach()` instead"
                )
            expected = 0 if versions is None else versions[i]
            if type(expected) is not tuple:
                expected = (expected, 0, None)
            if counter.n != expected[0]:
                origin = tensor.grad_fn
                clause = output_clause(tensor._nr, origin) if origin is not None else ""
                raise overwritten(node, tensor._array, counter, expected[0], clause)
            if counter.silent != expected[1] or counter.exported:
                check_silent(node, counter, tensor._array, expected)
    for counter, version, array, silent in _out_guards(node):
        if counter.n != version:
            raise overwritten(node, array, counter, version, output_clause(0, node))
        if counter.silent != silent or counter.exported:
            check_silent(node, counter, array, (version, silent, None))


def _out_guards(node: Node) -> Any:
    guard = node.out_guard
    if type(guard) is VersionCounter:
        return ((guard, 0, node.saved[node.op.out_positions[0][0]], 0),)
    return guard or ()


def output_clause(nr: int, origin: Node) -> str:
    name = type(origin).__name__.rstrip("0123456789").removesuffix("Backward")
    return f", which is output {nr} of {name},"


def overwritten(node: Node, array: Any, counter: Any, expected: int, clause: str) -> Exception:
    from .dtypes import FROM_NUMPY

    kind = f"torch.{FROM_NUMPY[array.dtype].old}Tensor"
    error = errors.SavedValueOverwrittenError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{kind} {list(array.shape)}]{clause} is at version {counter.n}; expected version {expected} instead. "
        f"{_HINT_ANOMALY if modes.state.anomaly else _HINT}\n"
        f"The value was saved by {type(node).__name__} at {provenance.text(node.place)}\n"
        f"and overwritten at {provenance.text(counter.place)}.\n"
        "Write out of place there (x = x * 2 for x *= 2), or write into a clone() of it."
    )
    return told(error, saved_by=node, overwritten_at=counter.place, shape=array.shape, writes=counter.n - expected)


_HINT = (
    "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True)."
)
_HINT_ANOMALY = (
    "Hint: the backtrace further above shows the operation that failed to compute its gradient. The variable in question "
    "was changed in there or anywhere later. Good luck!"
)


def fingerprint(array: Any) -> int:
    """A cheap digest of values, taken only of tensors whose memory was handed to NumPy."""
    if array.nbytes <= 4096:
        return hash(array.tobytes())
    words = array.ravel().view(uint8.numpy)
    return int(words[: words.size // 8 * 8].view(uint64.numpy).sum()) * 31 + int(words[words.size // 8 * 8 :].sum())


def hand_to_numpy(tensor: Tensor) -> None:
    """From now on NumPy may write to this memory without telling: backward passes look at what they saved."""
    counter = tensor._counter()
    counter.exported = counter.watched = True
    if hub.silently_overwritten is not None and modes.watched and counter is not INFERENCE:
        counter.handed = provenance.here(), counter.n, counter.silent, _where(tensor._array), fingerprint(tensor._array)


def _where(array: Any) -> tuple[Any, ...]:
    """Which memory this is: views of one tensor have one counter, and each its own values (of any shape, where they have no gaps)."""
    extent = array.nbytes if array.flags.c_contiguous else (array.shape, array.strides)
    return array.__array_interface__["data"][0], extent


def is_lent(tensor: Tensor) -> bool:
    """Is the memory NumPy's, too?"""
    if tensor._vc is not None and tensor._vc.exported:
        return True
    return any(made() is tensor for made, _ in _borrowed)


# The last tensors on memory that is NumPy's, which may write to it without telling; and who made them.
_borrowed: deque[tuple[weakref.ref[Tensor], provenance.Place | None]] = deque(maxlen=64)


def borrow_from_numpy(tensor: Tensor) -> None:
    """`from_numpy` made this tensor."""
    _borrowed.append((weakref.ref(tensor), provenance.here()))
    if modes.watched:
        _watch(tensor, _borrowed[-1][1], True)


def watch_borrowed(on: bool) -> None:
    """Look at such memory, or not: backward passes are slower while somebody does."""
    for reference, place in _borrowed:
        tensor = reference()
        if tensor is not None:
            _watch(tensor, place, on)


def _watch(tensor: Tensor, place: provenance.Place | None, on: bool) -> None:
    counter = tensor._counter()
    if counter is INFERENCE or counter.handed not in (None, (place, 0, 0, None, None)):
        return  # it was handed to NumPy since, and is looked at anyway
    counter.exported = counter.watched = on
    counter.handed = (place, 0, 0, None, None) if on else None


def check_silent(node: Node, counter: VersionCounter, array: Any, expected: Any) -> None:
    """A write through .data, numpy() or what from_numpy() took: PyTorch computes on; so do we, and say so."""
    if hub.silently_overwritten is None:
        return
    version, silent, digest = expected
    if counter.silent != silent and counter.was_touched(array, silent):
        hub.silently_overwritten(node, "data", counter.place)
        return
    place, borrowed = None, False
    if counter.handed is not None:
        place, *then, before = counter.handed
        borrowed = before is None
        # It was saved first and handed over later: what was handed tells of this value, if it was the same memory.
        if digest is None and not borrowed and then == [version, silent, _where(array)]:
            digest = before
    if type(digest) is int and fingerprint(array) != digest:
        hub.silently_overwritten(node, "from_numpy" if borrowed else "numpy", place)


def version_of(tensor: Any) -> Any:
    """What to remember of a tensor's counter when it is saved: its number, and more if it is watched."""
    if not isinstance(tensor, Tensor) or tensor._vc is None:
        return 0
    counter = tensor._vc
    if not counter.watched:
        return counter.n
    if counter is INFERENCE:
        error = errors.EngineError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
            "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use "
            "it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
        )
        raise told(error, inference=tensor)
    if not counter.exported:
        return counter.n, counter.silent, None
    looked_at = hub.silently_overwritten is not None and modes.watched
    looked_at = looked_at and type(tensor._array) is ndarray  # (NumPy cannot write to the memory of a device)
    return counter.n, counter.silent, fingerprint(tensor._array) if looked_at else _NOT_LOOKED_AT


_NOT_LOOKED_AT = "it was NumPy's, too, when it was saved: what it was when it was handed over says nothing of it"


def pack(node: Node, outputs: tuple[Tensor, ...], hooks: Any) -> None:
    """Send a fresh node's saved tensors through the innermost saved-tensor hooks."""
    layout, packed, keep = list(node.saved), False, hooks.keep
    for i in range(len(node.edges)):
        if isinstance(layout[i], Tensor):
            kept = keep(layout[i], node)
            if kept is not None:
                layout[i], packed = kept, True
    for position, nr in _out_positions(node):
        if position < len(layout) and layout[position] is not None:
            kept = keep(outputs[nr], node, True)
            if kept is not None:
                layout[position], packed = kept, True
    if packed:
        node.saved = tuple(layout)
        node.versions = PACKED
        node.out_guard = None


def _out_positions(node: Node) -> Any:
    """Where the outputs stand in the layout; an operation with any number of inputs stands there with all of them."""
    more = len(node.edges) - len(node.op.inputs)
    return [(position + more, nr) for position, nr in node.op.out_positions] if more else node.op.out_positions


def unpack_arrays(node: Node) -> tuple[Any, ...]:
    """Saved values as arrays, where some are not kept as they are."""
    return tuple(
        [v.array() if isinstance(v, Replaced) else v._array if isinstance(v, Tensor) else v for v in node.saved]
    )


def unpack_all(node: Node) -> list[Any]:
    """Saved values as Tensors (inputs and outputs joined to the graph), parameters as they are."""
    if node.saved is FREED:
        raise freed_error(node)
    values = list(node.saved)
    if not values:  # its rules name nothing
        return values
    for i, value in enumerate(values):
        if isinstance(value, Replaced):
            values[i] = value.unpack(node)
    check_versions(node)
    for i in range(min(len(node.edges), len(values))):
        if isinstance(values[i], Tensor):
            values[i] = _without_later_history(node, i, values[i])
        elif isinstance(values[i], ndarray):
            values[i] = values[i].item()  # a number: see call_texts.py
    for position, nr in _out_positions(node):
        if position < len(values) and values[position] is not None and not isinstance(values[position], Tensor):
            values[position] = as_output(node, nr, values[position])
    return values


def _without_later_history(node: Node, i: int, tensor: Tensor) -> Tensor:
    """A saved input as it was when it was saved: not requiring a gradient then means not now either."""
    if tensor._rg and i < len(node.edges) and node.edges[i] is None:
        result = tensor.detach()
        if modes.special and modes.dual is not None:
            modes.dual.carry(tensor, result)
        return result
    return tensor


def as_output(node: Node, nr: int, array: Any) -> Tensor:
    """A saved output as a Tensor, joined to its node."""
    result = new_tensor(array)
    guard = node.out_guard  # it counts the writes to the output
    result._vc = guard if type(guard) is VersionCounter else next((g[0] for g in guard or () if g[2] is array), None)
    if nr in node.op.grad_outputs:
        slices = None if node.run_by is None else node.run_by()
        result._edge, result._nr = (node, nr) if slices is None else (slices.view(), 0)
        result._rg = True
    if modes.special and modes.dual is not None:
        modes.dual.recall(node, nr, result)
    return result


def saved_attributes(op: Op) -> dict[str, property]:
    """`_saved_self`, `_raw_saved_self` and friends, by PyTorch's names: what an operation's rules ask for, and its parameters."""
    renamed = {ours: name for name, ours in op.saved_names.items()}
    kept = zip(op.layout, op.keep(-1), strict=True)  # (-1: whichever inputs require gradients)
    names = {renamed.get(ours, ours) for ours, keep in kept if keep or ours in op.params} | op.saved_constants.keys()
    names |= {"self_sym_sizes"} if op.uses_shapes else set()
    return {full: _attribute(full) for name in names for full in (f"_saved_{name}", f"_raw_saved_{name}")}


@functools.cache
def _attribute(name: str) -> property:
    return property(lambda node: saved_attribute(node, name))


def saved_attribute(node: Node, name: str) -> Any:
    """The value of `node._saved_self` and friends."""
    wanted = name.removeprefix("_raw_saved_").removeprefix("_saved_")
    op = getattr(type(node), "op", None)
    position = None if op is None else op.saved_position(wanted)
    if op is not None and position is None:
        if wanted in op.saved_constants:
            return op.saved_constants[wanted]
        if wanted == "self_sym_sizes" and op.uses_shapes:
            position = len(op.layout)
    if op is None or position is None:
        raise AttributeError(f"'{type(node).__name__}' object has no attribute '{name}'")
    if op.variadic and position >= len(op.inputs):  # it stands behind all of its inputs
        position += len(node.edges) - len(op.inputs)
    if name.startswith("_raw_saved_"):
        return SavedTensor(node, position)
    values = unpack_all(node)
    return values[position] if position < len(values) else None


def need_functions(*hooks: Any) -> None:
    """Refuse hooks that cannot be called."""
    if not all(callable(hook) for hook in hooks):
        raise errors.ArgumentTypeError(
            "register_hooks(): incompatible function arguments. The following argument types are supported:\n"
            "    1. (pack_hook: function, unpack_hook: function) -> None"
        )


class SavedTensor:
    """One saved value of a node; `register_hooks(pack, unpack)` is `node._raw_saved_x.register_hooks`."""

    def __init__(self, node: Node | None = None, position: int = 0) -> None:
        if node is None:
            raise errors.EngineError("Trying to create a SavedTensor object from Python is forbidden.")
        self._node, self._position = node, position

    def _entry(self) -> Any:
        if self._node.saved is FREED:
            raise freed_error(self._node)
        return self._node.saved[self._position]

    @property
    def data(self) -> Any:
        """What is kept: what the pack hook returned, or the tensor itself (without history, if that begins or ends here)."""
        entry = self._entry()
        if isinstance(entry, Replaced):
            return entry.packed
        if not isinstance(entry, Tensor):
            return new_tensor(entry) if isinstance(entry, ndarray) else entry
        return entry.detach() if entry._edge is None else entry

    @property
    def unpack_hook(self) -> Any:
        """The hook that will bring the tensor back, or None."""
        entry = self._entry()
        return entry.unpack_hook if isinstance(entry, Replaced) else None

    def register_hooks(self, pack_hook: Any = None, unpack_hook: Any = None) -> None:
        """Pack this one value with hooks of its own."""
        node, at = self._node, self._position
        need_functions(pack_hook, unpack_hook)
        if node.saved is FREED:
            raise errors.EngineError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph "
                "are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
                "through the graph a second time or if you need to access saved variables after calling backward."
            )
        if isinstance(node.saved[at], Replaced):
            raise errors.EngineError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. "
                "Hint: only one pair of hooks is allowed at a time."
            )
        if node.saved[at] is None:
            raise errors.EngineError("Calling register_hooks on a saved tensor with value None is forbidden")
        tensor = unpack_all(node)[at]
        outputs = {position for position, _ in node.op.out_positions}
        values = list(node.saved)
        values[at] = Packed(tensor, pack_hook, unpack_hook, as_output=at in outputs)
        node.saved = tuple(values)
        node.versions = PACKED
