"""Two worlds that are built alike and driven alike, one of them compiled: everything that can be seen must be the same in both."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import clarion as torch
from clarion.compiling.function import Compiled, CompileWarning, of

World = Callable[[], tuple[Callable[..., Any], Callable[[Any, Any], None]]]


def look(value: Any) -> Any:
    """What can be seen of a value: of tensors form, flags, version, numbers and gradient."""
    if isinstance(value, torch.Tensor):
        version = -1 if value.is_inference() else value._version
        grad = look(value.grad) if value.is_leaf and value.grad is not None else None
        flags = (value.dtype, tuple(value.shape), value.stride(), value.requires_grad, value.is_leaf, version)
        return (*flags, value.detach().numpy().copy(), grad)
    if isinstance(value, (list, tuple)):
        return [look(each) for each in value]
    if isinstance(value, dict):
        return [(key, look(each)) for key, each in value.items()]
    return value


def assert_same(own: Any, compiled: Any, where: str = "") -> None:
    """Numbers to rounding (steps may be computed in another order), all else exactly."""
    assert type(own) is type(compiled), f"{where}: {own!r}, compiled {compiled!r}"
    if isinstance(own, (list, tuple)):
        assert len(own) == len(compiled), where
        for i, (a, b) in enumerate(zip(own, compiled, strict=True)):
            assert_same(a, b, f"{where}.{i}")
    elif isinstance(own, np.ndarray):
        scale = max(1.0, np.abs(own[np.isfinite(own)]).max(initial=0.0))
        np.testing.assert_allclose(compiled, own, rtol=1e-4, atol=1e-5 * scale, err_msg=where)
    elif isinstance(own, float):
        np.testing.assert_allclose(compiled, own, rtol=1e-5, err_msg=where)
    else:
        assert own == compiled, f"{where}: {own!r}, compiled {compiled!r}"


def _driven(world: World, compiles: bool) -> tuple[list[Any], Any]:
    torch.manual_seed(0)
    function, script = world()
    run = torch.compile(function) if compiles else function
    seen: list[Any] = []

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            result = run(*args, **kwargs)
        except (Exception, KeyboardInterrupt) as error:
            result = type(error).__name__
        seen.append(look(result))
        return result

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        script(call, lambda *values: seen.append(look(values)))
    seen.append(look(torch.rand(3)))  # the generator has been asked for the same numbers
    return seen, run


# What worlds are made of ------------------------------------------------------------------------------------------


def worlds() -> tuple[dict[str, World], Callable[[World], World]]:
    """A table of worlds, and the decorator that puts one into it."""
    table: dict[str, World] = {}

    def world(function: World) -> World:
        table[function.__name__] = function
        return function

    return table, world


def network(seed: int = 0) -> Any:
    """A small classifier."""
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))


def batch(scale: float = 1.0) -> tuple[Any, Any]:
    """Five examples with their labels."""
    return torch.arange(30.0).reshape(5, 6) / 30 * scale, torch.tensor([0, 2, 1, 1, 0])


def training(optimizer: Any, model: Any = None) -> tuple[Any, Any, Any]:
    """A model, its optimizer, and the step that trains it."""
    model = model or network()
    made = optimizer(model.parameters())

    def step(x: Any, y: Any) -> Any:
        made.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        made.step()
        return loss

    return model, made, step


def compare(world: World) -> Compiled:
    """Drive both; gives the compiled function, for what one wants to know of it."""
    own, _ = _driven(world, False)
    compiled, run = _driven(world, True)
    assert_same(own, compiled)
    return of(run)
