"""Gradients and products with Jacobians, as functions of functions: grad, vjp, jvp, linearize.

Forward products use the double-backward trick: the vector-Jacobian product is linear in its vector, so differentiating it
with respect to that vector gives the Jacobian-vector product. Hence transforms nest in any order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core import modes
from ..core.tensor import Tensor
from ..errors import ArgumentValueError, EngineError
from ..pytree import TreeSpec, tree_flatten, tree_unflatten
from .levels import Argnums, Level, derivatives, run, take, tensors_of, zero_like


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that computes the gradient of `func`, which gives one number."""

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        result, value = _grad_and_value(func, argnums, has_aux, args, kwargs)
        return (result, value[1]) if has_aux else result

    return gradient


def grad_and_value(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that computes the gradient of `func`, and its value."""

    @functools.wraps(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        return _grad_and_value(func, argnums, has_aux, args, kwargs)

    return both


def _grad_and_value(
    func: Callable[..., Any], argnums: Argnums, has_aux: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    level, what = Level(), "grad_and_value(f)(*args)"
    inputs, spec, output, aux = run(what, level, func, args, argnums, has_aux, kwargs)
    if not isinstance(output, Tensor):
        raise EngineError(f"{what}: Expected f(*args) to return a Tensor, got {type(output)}")
    if output._array.ndim != 0:
        raise EngineError(
            f"{what}: Expected f(*args) to return a scalar Tensor, got tensor with {output._array.ndim} dims. Maybe you "
            "wanted to use the vjp or jacrev APIs instead?"
        )
    with modes.inference_mode(False):  # which records
        found = derivatives([output], inputs, [None], level.is_callers([output]), retain=aux is not None)
    given = [zero_like(x) if g is None else g for g, x in zip(found, inputs, strict=True)]
    value = level.result((output, aux) if has_aux else output)
    return tree_unflatten(level.result(given), spec), value


# Backwards -------------------------------------------------------------------------------------------------


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """(output, the function that multiplies a vector with the Jacobian); with `has_aux` also what `func` returned beside."""
    output, pull, spec, aux = pullback(func, primals, None, has_aux)

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        return tree_unflatten(pull(cotangents, retain_graph, create_graph), spec)

    return (output, vjp_fn, aux) if has_aux else (output, vjp_fn)


def pullback(
    func: Callable[..., Any], primals: tuple[Any, ...], argnums: Argnums | None, has_aux: bool
) -> tuple[Any, Callable[..., list[Tensor]], TreeSpec, Any]:
    """Output, a function from cotangents to the flat cotangents of the inputs, the structure of the inputs, aux."""
    level, what = Level(), "vjp(f, *primals)"
    inputs, spec, output, aux = run(what, level, func, primals, argnums, has_aux)
    outputs, out_spec = tensors_of(what, output)
    for each in outputs:
        if each._array.dtype.kind not in "fcV":
            raise EngineError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                f"{each.dtype}"
            )
    callers = level.is_callers(outputs)

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> list[Tensor]:
        vectors, given = tree_flatten(cotangents)
        if given != out_spec:
            raise EngineError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {given}, primal output: {out_spec}"
            )
        records = modes.recording() if create_graph is None else create_graph
        level.recorded = level.recorded and records
        create = records and (callers or any(v.requires_grad for v in vectors))
        with modes.inference_mode(False):  # which records
            found = derivatives(outputs, inputs, vectors, create, retain_graph)
        result = [zero_like(x) if g is None else g for g, x in zip(found, inputs, strict=True)]
        return list(level.result(result))

    return level.result(output), pull, spec, level.result(aux)


# Forwards --------------------------------------------------------------------------------------------------

_JVP = "jvp(f, primals, tangents)"


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """(output, the product of the Jacobian with a vector); with `has_aux` also what `func` returned beside."""
    if not isinstance(primals, tuple):
        raise EngineError(f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    flat, spec = tree_flatten(primals)
    vectors, given = tree_flatten(tangents)
    if spec != given:
        raise EngineError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple "
            f"of 3 tensors, tangents also must be. Got primals with structure {spec} and tangents with structure {given}"
        )
    for what, values in (("primals", flat), ("tangents", vectors)):
        if not values:
            raise EngineError(f"{_JVP}: Expected {what} to contain at least one Tensor.")
        for value in values:
            if not isinstance(value, Tensor):
                raise EngineError(f"{_JVP}: Expected {what} to only contain Tensors, got {type(value)}")
    output, push, out_spec, aux = pushforward(func, primals, None, has_aux, strict)
    result = tree_unflatten(push(vectors), out_spec)
    return (output, result, aux) if has_aux else (output, result)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """(output, the function that multiplies the Jacobian with a vector)."""
    flat, spec = tree_flatten(primals)
    output, push, out_spec, _ = pushforward(func, primals, None, False, False)

    def jvp_fn(*tangents: Any) -> Any:
        vectors, given = tree_flatten(tangents)
        if given != spec:
            raise EngineError(f"Expected the tangents {given} to have the same argspec as the primals {spec}")
        for i, (vector, primal) in enumerate(zip(vectors, flat, strict=True)):
            for what in ("shape", "device", "dtype"):
                if getattr(vector, what) != getattr(primal, what):
                    raise EngineError(
                        f"tangent:{i} with {what} {getattr(vector, what)} in flattened pytree doesn't match the {what} "
                        f"{getattr(primal, what)} of the corresponding primal."
                    )
        return tree_unflatten(push(vectors), out_spec)

    return output, jvp_fn


def pushforward(
    func: Callable[..., Any], primals: tuple[Any, ...], argnums: Argnums | None, has_aux: bool, strict: bool = False
) -> tuple[Any, Callable[[list[Tensor]], list[Tensor]], TreeSpec, Any]:
    """Output, a function from flat tangents of the inputs to those of the outputs, the structure of the outputs, aux."""
    chosen = primals if argnums is None else take(primals, argnums)
    for each in tree_flatten(chosen)[0]:
        if isinstance(each, Tensor) and each._array.dtype.kind not in "fcV":
            raise ArgumentValueError(f"Expected primal to be floating point or complex, but got: {each.dtype}")
    level = Level()
    inputs, _, output, aux = run(_JVP, level, func, primals, argnums, has_aux, forwards=True)
    outputs, out_spec = tensors_of(_JVP, output)
    if strict and not all(out.requires_grad for out in outputs):
        raise EngineError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed "
            "with strict=True."
        )
    callers = level.is_callers(outputs)
    with modes.inference_mode(False):  # which records
        moving = [i for i, out in enumerate(outputs) if out.requires_grad]
        weights = [level.leaf(zero_like(outputs[i])) for i in moving]
        rows = derivatives([outputs[i] for i in moving], inputs, weights, True)

    def push(vectors: list[Tensor]) -> list[Tensor]:
        pairs = [(row, v) for row, v in zip(rows, vectors, strict=True) if row is not None]
        create = modes.recording() and (callers or any(v.requires_grad for v in vectors))
        found: list[Tensor | None] = [None] * len(weights)
        if pairs:
            with modes.inference_mode(False):  # which records
                found = derivatives([row for row, _ in pairs], weights, [v for _, v in pairs], create)
        result: list[Any] = [None] * len(outputs)
        for i, tangent in zip(moving, found, strict=True):
            result[i] = tangent
        return list(level.result([zero_like(out) if t is None else t for out, t in zip(outputs, result, strict=True)]))

    return level.result(output), push, out_spec, level.result(aux)
