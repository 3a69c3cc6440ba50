"""Custom gradients: `class Square(Function)` with static `forward`, `backward` and perhaps `setup_context`.

The context given to both is the node itself (a subclass per Function, `SquareBackward`), as in PyTorch.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from .. import errors
from ..events import hub
from . import modes
from .delayed import DelayedError
from .devices import as_array, xp_of
from .following import sync
from .function_outputs import SavedTensor, unpacked, wrap_outputs
from .node import Node
from .op_node import fix_tensor
from .saved import freed_error
from .tensor import Tensor, new_tensor


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


_CLEARED: list[Any] = []  # stands in `_kept` once the values were taken out


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
    hands_on_nothing = True
    _materialize_non_diff_grads = True

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What save_for_backward kept."""
        own = self.__dict__
        if (
            "saved_for_forward" in own and self.saved_for_forward
        ) or "_in_jvp" in own:  # cleared when forward and jvp are done
            return self.saved_for_forward
        if self.freed:
            raise freed_error(self)
        kept = own.get("_kept")
        if kept is None:
            return tuple(self.to_save or ()) if self.to_save is not None else ()
        if self._function.clear_saved_tensors_on_access:
            if kept is _CLEARED:
                raise errors.EngineError(
                    "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
                    "autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
                )
            own["_kept"] = _CLEARED
        return tuple([unpacked(entry, self) for entry in kept])

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """Old name of saved_tensors."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
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

    @needs_input_grad.setter
    def needs_input_grad(self, value: Any) -> None:
        self.needs = value

    def name(self) -> str:
        return type(self).__name__

    def release(self) -> None:
        self.freed = True
        self.__dict__["_kept"] = None
        self.to_save = None

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        grads = [None if x is None else new_tensor(as_array(x)) for x in (g if type(g) is tuple else (g,))]
        before = modes.set_grad(False)
        try:
            results = self._call_backward(grads)
        finally:
            modes.set_grad(before)
        arrays = []
        for r in results:
            if r is not None:
                arrays.append(r._array)
            else:
                arrays.append(None)
                if (
                    self.nrs is None
                ):  # those behind it have their turn all the same: NOTE [Undefined gradients] in engine.py
                    self.nrs = (0,) * len(self.edges)
        return arrays

    def apply_tensors(self, g: Any, edges: Any = None) -> Any:
        results = self._call_backward(g if type(g) is tuple else (g,))
        if self.nrs is None and any(r is None for r in results):
            self.nrs = (0,) * len(self.edges)
        return results

    def _call_backward(self, grads: Any) -> Any:
        function = self._function
        rule = function.backward
        if rule is _NO_BACKWARD or function.vjp is not _NO_VJP:
            rule = self._the_rule()
        if self.materialize_grads:
            for x in grads:
                if x is None:
                    grads = self._with_zeros(grads)
                    break
        result = rule(self, list(grads)) if function.boxed_grads_call else rule(self, *grads)
        return self._check(result if isinstance(result, (tuple, list)) else (result,))

    def _the_rule(self) -> Any:
        """`backward`, or `vjp` in its place."""
        function = self._function
        if function.backward is not _NO_BACKWARD:
            raise errors.EngineError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement "
                "one of them."
            )
        if function.vjp is _NO_VJP:
            raise errors.NotSupportedError(
                "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
                f"backward mode AD.\nThe Function is {function.__name__}."
            )
        return function.vjp

    def _with_zeros(self, grads: Any) -> Any:
        """Zeros for the outputs that no gradient has reached."""
        xp = xp_of(next((x._array for x in grads if x is not None), None))
        frozen = () if self._materialize_non_diff_grads else self.__dict__.get("_frozen", ())
        metas = enumerate(zip(grads, self.out_meta or (), strict=False))
        return [
            new_tensor(xp.zeros(*meta)) if x is None and meta is not None and i not in frozen else x
            for i, (x, meta) in metas
        ]

    def _check(self, results: Any) -> Any:
        """As many gradients as arguments, each of its argument's shape; None for what is no tensor."""
        own = self.__dict__
        kinds, metas = own["_argument_is_tensor"], own["in_meta"]
        results = list(results)
        if len(results) == len(kinds) == len(metas):  # every argument was a tensor
            for value, (shape, dtype) in zip(results, metas):  # noqa: B905 (whose word would cost as much as a turn)
                if value is None:
                    continue
                if not isinstance(value, Tensor) or value._array.shape != shape or value._array.dtype is not dtype:
                    break
            else:
                return results
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
            if value is None or self.edges[i] is None:  # nobody asks for the gradient of that argument
                continue
            if value._array.shape != meta[0]:
                kept[i] = self._shrink(i, value, meta)
            elif meta[1] not in (None, value._array.dtype):
                kept[i] = fix_tensor(value, meta)
        return kept

    def _shrink(self, i: int, value: Tensor, meta: Any) -> Tensor:
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


class FunctionMeta(type):
    """Gives every Function its node class, named `<Function>Backward`."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        cls._backward_cls = type(name + "Backward", (CustomNode,), {"_function": cls})
        super().__init__(name, bases, attrs)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """Base of custom differentiable functions; call them with `MyFunction.apply(...)`."""

    _backward_cls: type[CustomNode]
    generate_vmap_rule = False
    clear_saved_tensors_on_access = False  # True: `ctx.saved_tensors` can be read once, and keeps nothing afterwards
    boxed_grads_call = False  # True: backward gets one list of gradients, and may take them out of it

    def __init__(self, *args: Any, **kwargs: Any) -> None:
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
        has_setup = cls.setup_context is not _NO_SETUP
        if kwargs:
            args = _bind(cls, args, kwargs, has_setup)
        elif has_setup and cls.forward.__defaults__:  # setup_context is given what forward was given
            bound = hasattr(cls.forward, "__self__")  # a class method
            missing = cls.forward.__code__.co_argcount - bound - len(args)
            if 0 < missing <= len(cls.forward.__defaults__):
                args += cls.forward.__defaults__[-missing:]
        if modes.state.transforms and not has_setup:
            raise errors.EngineError(
                "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override "
                "the setup_context staticmethod. For more details, please see "
                "https://pytorch.org/docs/main/notes/extending.func.html"
            )
        if modes.batches:
            from .batching import custom_function

            ruled, args = custom_function(cls, args)
            if ruled is not None:
                return ruled
        node = cls._backward_cls()
        node.blank()
        node.saved = None  # what is kept stands in `_kept`, released by `release`
        tensors: list[Tensor] = []
        needs: list[bool] = []
        for a in args:
            if type(a) is Tensor or isinstance(a, Tensor):
                if a._view is not None:
                    sync(a)
                tensors.append(a)
                needs.append(a._rg)
            else:
                needs.append(False)
        node.needs = tuple(needs)
        requires = True in needs and (modes.special == 0 or modes.recording())
        level = modes.dual if modes.special and modes.dual is not None and modes.dual.active() else None
        before = modes.set_grad(False)
        if level is not None:
            modes.state.forward = False
        try:
            try:
                if has_setup:
                    output = cls.forward(*args)
                    cls.setup_context(node, args, output)
                else:
                    output = cls.forward(node, *args)
            finally:
                modes.set_grad(before)
            result = wrap_outputs(node, args, tensors, output, requires, level)
        finally:
            if level is not None:
                modes.state.forward = True
        if requires and hub.customised is not None:
            hub.customised(cls, args, result)
        return result


_NO_SETUP, _NO_BACKWARD, _NO_VJP = Function.setup_context, Function.backward, Function.vjp


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
        if modes.state.transforms and any(isinstance(each, Tensor) for each in bound.kwargs.values()):
            raise errors.NotSupportedError(
                "Run vmap on autograd.Function with kwarg-only Tensor args. Please do not pass kwarg-only Tensors to "
                f"autograd.Function. Got: {bound.kwargs}"
            )
        raise errors.ArgumentTypeError(
            f"{cls.__name__}.apply(): forward takes {', '.join(bound.kwargs)} as keyword only, which cannot be differentiated"
        )
    return bound.args


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
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        refused = DelayedError(
            "trying to differentiate twice a function that was marked with @once_differentiable", len(outputs)
        )
        return refused(*[v.detach()._requiring() if isinstance(v, Tensor) else v for v in outputs])

    return wrapper
