"""Custom gradients: `class Square(Function)` with static `forward`, `backward` and perhaps `setup_context`.

The context given to both is the node itself (a subclass per Function, `SquareBackward`), as in PyTorch.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from ..events import hub
from . import modes, saved
from .dtypes import INEXACT
from .inplace import refuse_creation, sync, wrote
from .node import Node
from .op import as_view, fix_raw, remember_stack
from .saved import Packed, fingerprint, freed_error, version_of
from .tensor import Tensor, new_tensor
from .versions import INFERENCE


class FunctionCtx:
    """What `ctx` offers in forward, setup_context and backward."""

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for backward: `ctx.saved_tensors`, with version checks."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for `jvp`."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes "
                    "on ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """These inputs are written in place by forward."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """These outputs never require a gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """False: outputs without a gradient arrive in backward as None, not as zeros."""
        self.materialize_grads = bool(value)


class CustomNode(Node, FunctionCtx):
    """Node of a custom Function. Attributes set on ctx land in its dictionary."""

    _function: type[Function]
    to_save: Any = None
    dirty_tensors: tuple[Tensor, ...] = ()
    non_differentiable: tuple[Tensor, ...] = ()
    saved_for_forward: tuple[Any, ...] = ()
    materialize_grads = True
    in_meta: tuple[Any, ...] = ()
    freed = False

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What save_for_backward kept."""
        if self.saved_for_forward:  # cleared when forward and jvp are done
            return self.saved_for_forward
        if self.freed:
            raise freed_error(self)
        if self.__dict__.get("_kept") is None:
            return tuple(self.to_save or ()) if self.to_save is not None else ()
        return tuple(entry if entry is None else entry.unpack(self) for entry in self.__dict__["_kept"])

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """Old name of saved_tensors."""
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        if self.freed:
            raise freed_error(self)
        return tuple(SavedTensor(self, i) for i in range(len(self.__dict__.get("_kept") or ())))

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """One bool per argument of forward."""
        return self.needs or ()

    def name(self) -> str:
        return type(self).__name__

    def release(self) -> None:
        self.freed = True
        self.__dict__["_kept"] = None
        self.to_save = None

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        grads = tuple(None if x is None else new_tensor(np.asarray(x)) for x in (g if type(g) is tuple else (g,)))
        with modes.set_grad_enabled(False):
            results = self._call_backward(grads)
        return [None if r is None else fix_raw(r._array, meta) for r, meta in zip(results, self.in_meta, strict=True)]

    def apply_tensors(self, g: Any, edges: Any = None) -> Any:
        return self._call_backward(g if type(g) is tuple else (g,))

    def _call_backward(self, grads: tuple[Any, ...]) -> list[Any]:
        function = self._function
        rule = function.backward if function.backward is not Function.backward else function.vjp
        if rule is Function.vjp:
            raise errors.NotSupportedError(
                "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
                f"backward mode AD.\nThe Function is {function.__name__}."
            )
        if function.backward is not Function.backward and function.vjp is not Function.vjp:
            raise errors.EngineError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement "
                "one of them."
            )
        if self.materialize_grads:
            grads = tuple(_zeros(meta) if x is None else x for x, meta in zip(grads, self.out_meta or (), strict=False))
        result = rule(self, *grads)
        return self._check(result if isinstance(result, (tuple, list)) else (result,))

    def _check(self, results: Any) -> list[Any]:
        """As many gradients as arguments, each of its argument's shape; None for what is no tensor."""
        kinds = self.__dict__["_argument_is_tensor"]
        results = list(results)
        if len(results) > len(kinds) and all(r is None for r in results[len(kinds) :]):
            results = results[: len(kinds)]
        if len(results) != len(kinds):
            raise errors.EngineError(
                f"function {type(self).__name__} returned an incorrect number of gradients (expected {len(kinds)}, "
                f"got {len(results)})\nbackward must return one gradient (or None) per argument of forward."
            )
        kept = []
        for i, (value, is_tensor) in enumerate(zip(results, kinds, strict=True)):
            if not is_tensor:
                if value is not None:
                    raise errors.EngineError(
                        f"function {type(self).__name__} returned a gradient different than None at position {i + 1}, "
                        "but the corresponding forward input was not a Variable"
                    )
                continue
            if value is not None and not isinstance(value, Tensor):
                raise errors.EngineError(
                    f"expected Variable or None (got {type(value).__name__})\n"
                    f"{type(self).__name__} returned it at position {i}."
                )
            kept.append(value)
        for i, value in enumerate(kept):
            meta = self.in_meta[i]
            if value is not None and meta is not None and value._array.shape != meta[0]:
                kept[i] = self._shrink(i, value, meta)
            elif value is not None and meta is not None and value._array.dtype != meta[1] and self.edges[i] is not None:
                from .op import fix_tensor

                kept[i] = fix_tensor(value, meta)
        return kept

    def _shrink(self, i: int, value: Tensor, meta: Any) -> Tensor:
        from .op import fix_tensor

        shape, have = meta[0], value._array.shape
        fits = len(have) >= len(shape) and all(
            n in (m, 1) for n, m in zip(reversed(shape), reversed(have), strict=False)
        )
        if not fits:
            raise errors.EngineError(
                f"Function {type(self).__name__} returned an invalid gradient at index {i} - got {list(have)} but "
                f"expected shape compatible with {list(shape)}"
            )
        return fix_tensor(value, meta)  # type: ignore[no-any-return]


def _zeros(meta: Any) -> Tensor:
    return new_tensor(np.zeros(meta[0], meta[1]))


class _Kept:
    """A tensor saved by a custom Function."""

    __slots__ = ("array", "edge", "is_input", "nr", "place", "rg", "tensor", "vc", "version")

    def __init__(self, tensor: Tensor, node: CustomNode, is_output: bool) -> None:
        version = version_of(tensor)
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
            from .saved import _output_clause, _overwritten

            origin = node if tensor is None else tensor.grad_fn
            clause = _output_clause(self.nr, origin) if origin is not None else ""
            raise _overwritten(node, self.array, counter, self.version[0], clause)
        if counter is not None and hub.silently_overwritten is not None and self.version[2] is not None:
            if fingerprint(self.array) != self.version[2]:
                hub.silently_overwritten(node, "numpy", None)
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

    def register_hooks(self, pack_hook: Any, unpack_hook: Any) -> None:
        """Pack this saved tensor with hooks of its own."""
        kept = self._node.__dict__["_kept"]
        entry = kept[self._position]
        if isinstance(entry, Packed):
            raise errors.EngineError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. "
                "Hint: only one pair of hooks is allowed at a time."
            )
        if entry is None:
            raise errors.EngineError("Calling register_hooks on a saved tensor with value None is forbidden")
        tensor = entry.unpack(self._node)
        kept[self._position] = Packed(tensor, pack_hook, unpack_hook, as_output=entry.tensor is None)


class FunctionMeta(type):
    """Gives every Function its node class, named `<Function>Backward`."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        cls._backward_cls = type(name + "Backward", (CustomNode,), {"_function": cls})
        super().__init__(name, bases, attrs)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """Base of custom differentiable functions; call them with `MyFunction.apply(...)`."""

    _backward_cls: type[CustomNode]
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        import warnings

        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke "
            "them on the class itself. Instantiating an autograd function will raise an error in a future version of "
            "PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise errors.EngineError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs: `forward(ctx, *args)`, or `forward(*args)` together with setup_context."""
        raise errors.NotSupportedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save what backward needs, where forward takes no ctx."""
        raise errors.NotSupportedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Gradients of the arguments, given those of the outputs."""
        raise errors.NotSupportedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    # Another name of backward; a class may define either.
    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name of backward."""
        raise errors.NotSupportedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Forward-mode derivative."""
        raise errors.NotSupportedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Batching rule."""
        raise errors.NotSupportedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward and record it. Keyword arguments are matched to forward's parameters."""
        has_setup = cls.setup_context is not Function.setup_context
        if kwargs:
            args = _bind(cls, args, kwargs, has_setup)
        node = cls._backward_cls()
        node.blank()
        node.saved = None  # what is kept stands in `_kept`, released by `release`
        tensors = [a for a in args if isinstance(a, Tensor)]
        for t in tensors:
            if t._view is not None:
                sync(t)
        recording = modes.special == 0 or modes.recording()
        node.needs = tuple([isinstance(a, Tensor) and a._rg for a in args])
        requires = recording and any(node.needs)
        before = modes.state.grad
        level = modes.dual if modes.special and modes.dual is not None and modes.dual.active() else None
        modes._set("grad", False)
        if level is not None:
            modes.state.forward = False
        try:
            if has_setup:
                output = cls.forward(*args)
                cls.setup_context(node, args, output)
            else:
                output = cls.forward(node, *args)
            modes._set("grad", before)
            return _wrap_outputs(node, args, tensors, output, requires, level)
        finally:
            modes._set("grad", before)
            if level is not None:
                modes.state.forward = True


def _bind(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any], has_setup: bool) -> tuple[Any, ...]:
    """Positional arguments of forward from a call with keywords."""
    names = list(inspect.signature(cls.forward).parameters.values())
    if not has_setup:
        names = names[1:]
    try:
        bound = inspect.Signature(names).bind(*args, **kwargs)
    except TypeError as error:
        raise errors.ArgumentTypeError(f"{cls.__name__}.apply(): {error}") from None
    if bound.kwargs:
        raise errors.ArgumentTypeError(
            f"{cls.__name__}.apply(): forward takes {', '.join(bound.kwargs)} as keyword only, which cannot be differentiated"
        )
    return bound.args


def _wrap_outputs(
    node: CustomNode, args: tuple[Any, ...], inputs: list[Tensor], output: Any, requires: bool, level: Any = None
) -> Any:
    is_tuple = isinstance(output, (tuple, list))
    raw = tuple(output) if is_tuple else (output,)
    dirty = {id(t) for t in node.dirty_tensors}
    _check_dirty(node, raw, dirty, requires)
    node.__dict__["_argument_is_tensor"] = tuple(isinstance(a, Tensor) for a in args)
    recording_edges = [(t._edge or t) if t._rg and requires else None for t in inputs]
    node.in_meta = tuple((t._array.shape, t._array.dtype) for t in inputs)
    nrs = tuple(t._nr for t in inputs)
    node.edges = tuple(recording_edges)
    node.nrs = nrs if any(nrs) else None
    frozen = {id(t) for t in node.non_differentiable}
    by_id = {id(t): t for t in inputs}
    outs: list[Any] = []
    for nr, value in enumerate(raw):
        if not isinstance(value, Tensor):
            outs.append(value)
            continue
        outs.append(_wrap_one(node, nr, value, by_id, id(value) in dirty, requires and id(value) not in frozen))
    node.n_out = len(raw)
    node.out_meta = tuple(
        (o._array.shape, o._array.dtype) if isinstance(o, Tensor) else ((), np.dtype(np.float32)) for o in outs
    )
    if requires:
        _keep_saved(node, raw, outs)
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


def _check_dirty(node: CustomNode, raw: tuple[Any, ...], dirty: set[int], requires: bool) -> None:
    if not dirty:
        return
    returned = {id(value) for value in raw}
    if not dirty <= returned:
        raise errors.EngineError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function."
        )
    for value in node.dirty_tensors if requires else ():
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
    node: CustomNode, nr: int, value: Tensor, inputs: dict[int, Tensor], dirty: bool, requires: bool
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
        if requires and modes.recording():
            value = as_view(original, original._array, (), "custom")
        else:
            value = new_tensor(original._array)
            value._vc = original._counter()
    elif value._rg or value._edge is not None:
        value = value.detach()
    elif value._view is not None and requires:
        value._view.creation = "custom"
    if requires and value._array.dtype in INEXACT:
        if value._vc is INFERENCE:
            value = new_tensor(value._array)
        value._edge, value._nr, value._rg = node, nr, True
    return value


def _rebase(node: CustomNode, nr: int, value: Tensor) -> None:
    from .inplace import attach

    if value._view is None:
        value._edge, value._nr, value._rg = node, nr, True
        return
    position = next(i for i, meta in enumerate(node.in_meta) if meta[0] == value._array.shape)
    if position != 0 or nr != 0:
        raise errors.NotSupportedError(
            "a custom Function that writes a view in place must take it as its first tensor and return it first"
        )
    attach(value, node)


def _keep_saved(node: CustomNode, raw: tuple[Any, ...], outs: list[Any]) -> None:
    if node.to_save is None:
        return
    values = node.to_save
    node.to_save = None
    kept: list[Any] = []
    out_of = {id(value): out for value, out in zip(raw, outs, strict=True) if isinstance(value, Tensor)}
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
        is_output = out is not None and out._edge is node
        tensor = out if out is not None else value
        if hooks is not None:
            kept.append(Packed(tensor, *hooks, as_output=is_output))
        else:
            kept.append(_Kept(tensor, node, is_output))
        if hub.saved is not None:
            hub.saved(node, tensor)
    node.__dict__["_kept"] = kept


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a backward whose result cannot be differentiated again."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *grads: Any) -> Any:
        with modes.no_grad():
            outputs = fn(ctx, *grads)
        if not modes.is_grad_enabled():
            return outputs
        if not any(isinstance(g, Tensor) and g.requires_grad for g in grads):
            return outputs
        single = not isinstance(outputs, tuple)
        refused = tuple(_refuse_twice(out) for out in ((outputs,) if single else outputs))
        return refused[0] if single else refused

    return wrapper


class _OnceError(Node):
    """Stands behind the gradients of a once-differentiable backward."""

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        raise errors.EngineError("trying to differentiate twice a function that was marked with @once_differentiable")

    apply_tensors = apply_raw


def _refuse_twice(out: Any) -> Any:
    if not isinstance(out, Tensor):
        return out
    node = _OnceError()
    node.blank()
    result = new_tensor(out._array)
    result._edge, result._rg = node, True
    return result
