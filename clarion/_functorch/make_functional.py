"""Modules as functions of their parameters, the older way: `fmodel, params = make_functional(model)`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentValueError, EngineError
from ..func.modules import functional_call
from ..nn.modules.module import Module
from ..ops.shapes.join import stack


def _states(model: Module, disable_autograd_tracking: bool) -> tuple[Module, tuple[Any, ...], tuple[Any, ...]]:
    """A copy of a module to call, and its parameters and buffers."""
    copied = copy.deepcopy(model)
    params = tuple(copied.parameters())
    if disable_autograd_tracking:
        for param in params:
            param.requires_grad_(False)
    return copied, params, tuple(copied.buffers())


class FunctionalModuleWithBuffers(Module):
    """A module that is called with its parameters and buffers: `fmodel(params, buffers, *args)`."""

    def __init__(self, stateless_model: Module, param_names: tuple[str, ...], buffer_names: tuple[str, ...]) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names, self.buffer_names = param_names, buffer_names

    @staticmethod
    def _create_from(model: Module, disable_autograd_tracking: bool = False) -> Any:
        copied, params, buffers = _states(model, disable_autograd_tracking)
        names = tuple(dict(copied.named_parameters())), tuple(dict(copied.named_buffers()))
        return FunctionalModuleWithBuffers(copied, *names), params, buffers

    def forward(self, params: Sequence[Any], buffers: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        """The module's result for these parameters and buffers."""
        given = dict(zip(self.param_names + self.buffer_names, (*params, *buffers), strict=True))
        return functional_call(self.stateless_model, given, args, kwargs)


class FunctionalModule(Module):
    """A module without buffers that is called with its parameters: `fmodel(params, *args)`."""

    def __init__(self, stateless_model: Module, param_names: tuple[str, ...]) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names

    @staticmethod
    def _create_from(model: Module, disable_autograd_tracking: bool = False) -> Any:
        copied, params, _ = _states(model, disable_autograd_tracking)
        return FunctionalModule(copied, tuple(dict(copied.named_parameters()))), params

    def forward(self, params: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        """The module's result for these parameters."""
        given = dict(zip(self.param_names, params, strict=True))
        return functional_call(self.stateless_model, given, args, kwargs)


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> Any:
    """(A module that is called with its parameters, the parameters)."""
    if list(model.buffers()):
        raise EngineError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    return FunctionalModule._create_from(model, disable_autograd_tracking)


def make_functional_with_buffers(model: Module, disable_autograd_tracking: bool = False) -> Any:
    """(A module that is called with its parameters and buffers, the parameters, the buffers)."""
    return FunctionalModuleWithBuffers._create_from(model, disable_autograd_tracking)


def combine_state_for_ensemble(models: Sequence[Any]) -> Any:
    """(A module for all of them, their parameters stacked, their buffers stacked): for `vmap` over an ensemble."""
    if len(models) == 0:
        raise EngineError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if len({bool(model.training) for model in models}) > 1:
        raise EngineError("combine_state_for_ensemble: Expected all models to have the same training/eval mode.")
    if any(type(model) is not type(models[0]) for model in models):
        raise EngineError("combine_state_for_ensemble: Expected all models to be of the same class.")
    calls, params, buffers = zip(*[make_functional_with_buffers(model) for model in models], strict=True)
    stacked = [tuple(stack(list(each)).detach() for each in zip(*states, strict=True)) for states in (params, buffers)]
    return calls[0], *stacked


def functional_init(model_class: type, ensemble_shape: tuple[int, ...] = (), device: Any = "cpu") -> Any:
    """A function that makes a module (or an ensemble): (its parameters, a function to call with them, their names).

    The function is called in the oldest way: `call(parameters, (x,))`.
    """

    def init(*args: Any, **kwargs: Any) -> Any:
        models = _ensemble(model_class, ensemble_shape, device, args, kwargs)
        call, first = make_functional(models[0])
        params = first if not ensemble_shape else _together([make_functional(model)[1] for model in models])
        return params, lambda weights, inputs: call(weights, *inputs), call.param_names

    return init


def functional_init_with_buffers(model_class: type, ensemble_shape: tuple[int, ...] = (), device: Any = "cpu") -> Any:
    """The same for modules with buffers: (parameters, buffers, function, names, names of buffers)."""

    def init(*args: Any, **kwargs: Any) -> Any:
        models = _ensemble(model_class, ensemble_shape, device, args, kwargs)
        states = [make_functional_with_buffers(model) for model in models]
        call, params, buffers = states[0]
        if ensemble_shape:
            params, buffers = (_together([state[i] for state in states]) for i in (1, 2))
        run = lambda weights, kept, inputs: call(weights, kept, *inputs)  # noqa: E731
        return params, buffers, run, call.param_names, call.buffer_names

    return init


def _together(states: list[Any]) -> tuple[Any, ...]:
    return tuple(stack(list(each)).detach() for each in zip(*states, strict=True))


def _ensemble(model_class: type, shape: tuple[int, ...], device: Any, args: Any, kwargs: Any) -> list[Any]:
    if len(shape) >= 2:
        raise ArgumentValueError("NYI: ensemble_shape with more than 1 element")
    if shape and shape[0] <= 0:
        raise ArgumentValueError(f"num_models {shape[0]} should be > 0")
    return [model_class(*args, **kwargs).to(device) for _ in range(shape[0] if shape else 1)]
