"""Hooks of modules: before and after forward, and around backward."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ...core import modes
from ...core.function import Function
from ...core.hooks import RemovableHandle
from ...core.tensor import Tensor
from ...errors import EngineError

Hook = Callable[..., Any]
Hooks = OrderedDict[int, Hook]


class GlobalHooks:
    """Hooks of all modules; `any` is what a module's call looks at."""

    def __init__(self) -> None:
        self.forward_pre: Hooks = OrderedDict()
        self.forward: Hooks = OrderedDict()
        self.backward_pre: Hooks = OrderedDict()
        self.backward: Hooks = OrderedDict()
        self.parameter_registration: Hooks = OrderedDict()
        self.buffer_registration: Hooks = OrderedDict()
        self.module_registration: Hooks = OrderedDict()
        self.with_kwargs: dict[int, bool] = {}
        self.always_called: dict[int, bool] = {}
        self.full: bool | None = None


everywhere = GlobalHooks()


def _add(hooks: Hooks, hook: Hook, prepend: bool = False, marks: tuple[Any, ...] = ()) -> RemovableHandle:
    handle = RemovableHandle(hooks, marks=marks)
    for mark in marks:
        mark[handle.id] = True
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """`hook(module, name, parameter)` whenever a module registers a parameter; it may return another."""
    return _add(everywhere.parameter_registration, hook)


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """`hook(module, name, buffer)` whenever a module registers a buffer; it may return another."""
    return _add(everywhere.buffer_registration, hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """`hook(module, name, submodule)` whenever a module registers a child; it may return another."""
    return _add(everywhere.module_registration, hook)


def registered(hooks: Hooks, module: Any, name: str, value: Any) -> Any:
    """What the hooks make of something that is being registered."""
    for hook in tuple(hooks.values()):
        changed = hook(module, name, value)
        if changed is not None:
            value = changed
    return value


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """The old kind of backward hook, of all modules: sees the gradients around the last operation alone."""
    if everywhere.full is True:
        raise EngineError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one "
            "of them."
        )
    everywhere.full = False
    return _add(everywhere.backward, hook)


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """`hook(module, args)` before every module's forward."""
    return _add(everywhere.forward_pre, hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """`hook(module, args, output)` after every module's forward."""
    marks = [everywhere.with_kwargs] if with_kwargs else []
    return _add(everywhere.forward, hook, marks=tuple(marks + ([everywhere.always_called] if always_call else [])))


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """`hook(module, grad_output)` before the gradients of every module are computed."""
    return _add(everywhere.backward_pre, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """`hook(module, grad_input, grad_output)` when the gradients of every module's inputs are computed."""
    if everywhere.full is False:
        raise EngineError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one "
            "of them."
        )
    everywhere.full = True
    return _add(everywhere.backward, hook)


# What a Module keeps its hooks in.
HOOK_DICTS = (
    "_backward_pre_hooks",
    "_backward_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class HookMixin:
    """The part of Module that keeps and runs its hooks."""

    _forward_hooks: Hooks
    _forward_pre_hooks: Hooks
    _backward_hooks: Hooks
    _backward_pre_hooks: Hooks
    _forward_hooks_with_kwargs: dict[int, bool]
    _forward_hooks_always_called: dict[int, bool]
    _forward_pre_hooks_with_kwargs: dict[int, bool]
    _is_full_backward_hook: bool | None
    forward: Callable[..., Any]

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """`hook(module, args)` before forward; it may return other arguments."""
        return _add(
            self._forward_pre_hooks, hook, prepend, (self._forward_pre_hooks_with_kwargs,) if with_kwargs else ()
        )

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """`hook(module, args, output)` after forward; it may return another output."""
        marks = [self._forward_hooks_with_kwargs] if with_kwargs else []
        marks += [self._forward_hooks_always_called] if always_call else []
        return _add(self._forward_hooks, hook, prepend, tuple(marks))

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """`hook(module, grad_output)` before the module's gradients are computed; it may return other ones."""
        return _add(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """`hook(module, grad_input, grad_output)`; it may return other gradients of the inputs."""
        if self._is_full_backward_hook is False:
            raise EngineError(_BOTH_KINDS)
        self._is_full_backward_hook = True
        return _add(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """The old kind of backward hook: sits on the node of the module's output."""
        if self._is_full_backward_hook is True:
            raise EngineError(_BOTH_KINDS)
        self._is_full_backward_hook = False
        return _add(self._backward_hooks, hook)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """forward, with everything registered around it."""
        called: set[int] = set()
        state = [args, kwargs, None]
        try:
            return self._run_hooked(state, called)
        except Exception:
            self._run_always_called(state, called)
            raise

    def _run_hooked(self, state: list[Any], called: set[int]) -> Any:
        full: list[Hook] = []
        old: list[Hook] = []
        (full if everywhere.full else old).extend(everywhere.backward.values())
        (full if self._is_full_backward_hook else old).extend(self._backward_hooks.values())
        pre = [*everywhere.backward_pre.values(), *self._backward_pre_hooks.values()]
        self._run_pre_hooks(state)
        around = BackwardHook(self, full, pre) if full or pre else None
        if around is not None:
            state[0] = around.setup_input_hook(state[0])
        result = state[2] = self.forward(*state[0], **state[1])
        for number, hook in (*everywhere.forward.items(), *self._forward_hooks.items()):
            called.add(number)
            changed = self._run_forward_hook(number, hook, state)
            if changed is not None:
                result = state[2] = changed
        if around is not None:
            if not isinstance(result, (Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                    f"{type(result)}",
                    UserWarning,
                    stacklevel=4,
                )
            result = around.setup_output_hook(result)
        if old:
            self._hook_output_node(state[0], result, old)
        return result

    def _run_pre_hooks(self, state: list[Any]) -> None:
        for number, hook in (*everywhere.forward_pre.items(), *self._forward_pre_hooks.items()):
            if number in self._forward_pre_hooks_with_kwargs:
                changed = hook(self, state[0], state[1])
                if changed is None:
                    continue
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise EngineError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                    )
                state[0], state[1] = changed
            else:
                changed = hook(self, state[0])
                if changed is not None:
                    state[0] = changed if isinstance(changed, tuple) else (changed,)

    def _run_forward_hook(self, number: int, hook: Hook, state: list[Any]) -> Any:
        if number in self._forward_hooks_with_kwargs or number in everywhere.with_kwargs:
            return hook(self, state[0], state[1], state[2])
        return hook(self, state[0], state[2])

    def _run_always_called(self, state: list[Any], called: set[int]) -> None:
        """forward failed: hooks that want to be called even then, if they were not yet."""
        for number, hook in (*everywhere.forward.items(), *self._forward_hooks.items()):
            wants = number in self._forward_hooks_always_called or number in everywhere.always_called
            if not wants or number in called:
                continue
            try:
                changed = self._run_forward_hook(number, hook, state)
                if changed is not None:
                    state[2] = changed
            except Exception as error:
                warnings.warn(
                    "module forward hook with ``always_call=True`` raised an exception that was silenced as another error "
                    f"was raised in forward: {error!s}",
                    UserWarning,
                    stacklevel=4,
                )

    def _hook_output_node(self, inputs: Any, result: Any, hooks: list[Hook]) -> None:
        """Old backward hooks: on the node of the first tensor in the result."""
        found = result
        while not isinstance(found, Tensor):
            found = next(v for v in found.values() if isinstance(v, Tensor)) if isinstance(found, dict) else found[0]
        node = found.grad_fn
        if node is not None:
            for hook in hooks:
                node.register_hook(lambda grads_in, grads_out, hook=hook: hook(self, grads_in, grads_out))
            if missing := _not_seen(inputs, result, node):
                warnings.warn(missing, FutureWarning, stacklevel=5)


_FULL = " Please use register_full_backward_hook to get the documented behavior."


def _not_seen(inputs: tuple[Any, ...], result: Any, node: Any) -> str | None:
    """What a backward hook of the old kind does not see, since it sits on one node, in PyTorch's words."""
    if not isinstance(result, Tensor) and not (
        isinstance(result, tuple) and all(isinstance(r, Tensor) for r in result)
    ):
        return (
            "Using non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors is "
            f"deprecated and will be removed in future versions. This hook will be missing some of the grad_output.{_FULL}"
        )
    if not all(isinstance(given, Tensor) for given in inputs):
        return (
            "Using non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of Tensors is "
            f"deprecated and will be removed in future versions. This hook will be missing some of the grad_input.{_FULL}"
        )
    outputs = (result,) if isinstance(result, Tensor) else result
    nodes = {out.grad_fn for out in outputs} - {None}
    if len(nodes) > 1:
        return (
            "Using a non-full backward hook when outputs are generated by different autograd Nodes is deprecated and will "
            f"be removed in future versions. This hook will be missing some grad_output.{_FULL}"
        )
    if {given.grad_fn for given in inputs} - {None} != {following for following, _ in node.next_functions}:
        return (
            "Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated and will be "
            f"removed in future versions. This hook will be missing some grad_input.{_FULL}"
        )
    return None


_BOTH_KINDS = (
    "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
)


class BackwardHookFunction(Function):
    """The identity, as a node to hang backward hooks on."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """The same tensors."""
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """The same gradients."""
        return args


class BackwardHook:
    """The full backward hooks of one call of a module: nodes around its inputs and its outputs."""

    def __init__(self, module: Any, hooks: list[Hook], pre_hooks: list[Hook]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs: tuple[Any, ...] | None = None
        self.n_outputs = self.n_inputs = -1
        self.output_places: list[int] | None = None
        self.input_places: list[int] | None = None

    def setup_input_hook(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The module's arguments, passed through the input node."""
        self.n_inputs = len(args)
        result, self.input_places = _through_node(args, lambda node: node.register_hook(self._on_inputs))
        return result

    def setup_output_hook(self, result: Any) -> Any:
        """The module's result, passed through the output node."""
        many = isinstance(result, tuple)
        args = result if many else (result,)
        self.n_outputs = len(args)
        changed, self.output_places = _through_node(args, lambda node: node.register_hook(self._on_outputs))
        return changed if many else changed[0]

    def _on_inputs(self, grad_inputs: Any, _: Any) -> Any:
        if self.grad_outputs is None:  # a gradient that did not pass through the module's output
            return None
        assert self.input_places is not None
        grads = _with_nones(self.input_places, grad_inputs, self.n_inputs)
        for hook in self.hooks:
            grads = _replaced(grads, hook(self.module, grads, self.grad_outputs), "Backward hook", "grad_input")
        self.grad_outputs = None
        return tuple(grads[i] for i in self.input_places)

    def _on_outputs(self, _: Any, grad_outputs: Any) -> Any:
        assert self.output_places is not None
        grads = _with_nones(self.output_places, grad_outputs, self.n_outputs)
        for hook in self.pre_hooks:
            grads = _replaced(grads, hook(self.module, grads), "Backward pre hook", "grad_output")
        self.grad_outputs = grads
        if self.input_places is None:
            self._without_inputs(grads)
        return tuple(grads[i] for i in self.output_places)

    def _without_inputs(self, grads: tuple[Any, ...]) -> None:
        """No input requires a gradient: the hooks are called with Nones, here."""
        if self.hooks:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
                "require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module."
                "register_full_backward_hook for more details.",
                UserWarning,
                stacklevel=5,
            )
        for hook in self.hooks:
            changed = hook(self.module, (None,) * self.n_inputs, grads)
            if changed is not None and not (isinstance(changed, tuple) and all(each is None for each in changed)):
                raise EngineError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )
        self.grad_outputs = None


def _replaced(grads: tuple[Any, ...], changed: Any, hook: str, what: str) -> tuple[Any, ...]:
    """The gradients after a hook: those it returned, if it returned any."""
    if changed is None:
        return grads
    changed = changed if isinstance(changed, tuple) else (changed,)
    if len(changed) != len(grads):
        raise EngineError(f"{hook} returned an invalid number of {what}, got {len(changed)}, but expected {len(grads)}")
    return changed


def _with_nones(places: list[int], values: Any, size: int) -> tuple[Any, ...]:
    result = [None] * size
    for place, value in zip(places, values, strict=True):
        result[place] = value
    return tuple(result)


def _through_node(args: tuple[Any, ...], hang: Callable[[Any], Any]) -> tuple[tuple[Any, ...], list[int] | None]:
    """The tensors among `args` passed through one BackwardHookFunction, whose node is given to `hang`."""
    places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
    if not any(args[i].requires_grad for i in places) or not modes.recording():
        return args, None
    passed = BackwardHookFunction.apply(*[args[i] for i in places])
    passed = passed if isinstance(passed, tuple) else (passed,)
    hang(next(t.grad_fn for t in passed if t.grad_fn is not None))
    changed = list(args)
    for place, value in zip(places, passed, strict=True):
        changed[place] = value
    return (tuple(changed) if type(args) is tuple else type(args)(*changed)), places
