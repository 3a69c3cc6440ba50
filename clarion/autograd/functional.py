"""`torch.autograd.functional`: products with Jacobians and Hessians, and the matrices themselves.

Forward products (jvp, hvp) use the double-backward trick: the vector-Jacobian product is linear in its
vector, so differentiating it with respect to that vector gives the Jacobian-vector product.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import alike, modes
from ..core.backward import gradients
from ..core.namespace import lifted
from ..core.tensor import Tensor
from ..errors import ArgumentTypeError, EngineError
from ..ops.shapes.join import stack

__all__ = [
    "hessian", "hvp", "jacobian", "jvp", "vhp", "vjp",
]  # fmt: skip

Tensors = tuple[Any, ...]


def _as_tuple(value: Any, what: str, fn: str) -> tuple[bool, Tensors]:
    many = isinstance(value, tuple)
    values = value if many else (value,)
    for i, each in enumerate(values):
        if not isinstance(each, Tensor):
            where = f" value at index {i} has type {type(each)}." if many else f" given {what} has type {type(each)}."
            raise ArgumentTypeError(
                f"The {what} given to {fn} must be either a Tensor or a tuple of Tensors but the{where}"
            )
    return many, values


def _fresh(inputs: Tensors, create_graph: bool, need_graph: bool = True) -> Tensors:
    """The inputs as starting points: joined to the caller's graph if asked for, leaves of their own otherwise."""
    result = []
    for x in inputs:
        if create_graph:
            result.append(lifted.alias(x) if x.requires_grad else x.detach().requires_grad_(need_graph))
        else:
            result.append(x.detach().requires_grad_(need_graph))
    return tuple(result)


def _construct_standard_basis_for(tensors: Tensors, tensor_numels: tuple[int, ...]) -> Tensors:
    """The rows of an identity matrix over all elements, cut into the tensors: a row of each for every element."""
    total = sum(tensor_numels)
    parts, begin = [], 0
    for x, n in zip(tensors, tensor_numels, strict=True):
        part = x.new_zeros(total, n)
        part.diagonal(-begin).fill_(1)
        parts.append(part)
        begin += n
    return tuple(parts)


def _done(values: Any, create_graph: bool) -> Any:
    if create_graph:
        return values
    return tuple(_done(v, False) if isinstance(v, tuple) else v.detach() for v in values)


def _unpack(values: Tensors, many: bool) -> Any:
    return values if many else values[0]


def _check_vector(v: Tensors, like: Tensors, like_many: bool) -> None:
    if len(v) != len(like):
        if like_many:
            raise EngineError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}.")
        raise EngineError("The given v should contain a single Tensor.")
    for i, (a, b) in enumerate(zip(v, like, strict=True)):
        if a.shape != b.shape:
            entry = f"Entry {i} in " if like_many else ""
            raise EngineError(f"{entry}v has invalid size: should be {b.shape} but got {a.shape}.")


def _strict_outputs(outputs: Tensors, strict: bool) -> None:
    for i, out in enumerate(outputs):
        if strict and not out.requires_grad:
            raise EngineError(
                f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
                "differentiable manner from the input when running in strict mode."
            )


def _grad(outputs: Tensors, inputs: Tensors, seeds: Tensors, create_graph: bool) -> Tensors:
    """Gradients, with None where nothing is connected."""
    pairs = [(o, s) for o, s in zip(outputs, seeds, strict=True) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return gradients(
        tuple(o for o, _ in pairs), inputs, tuple(s for _, s in pairs), retain_graph=True, create_graph=create_graph,
        allow_unused=True,
    )  # fmt: skip


_LINEAR = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} is "
    "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example)."
)
_INDEPENDENT = {
    "back": "The output of the user-provided function is independent of input {i}. This is not allowed in strict mode.",
    "hessian": "The output of the user-provided function is independent of input {i}. This is not allowed in strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the "
    "double backward trick to compute forward mode gradients. This is not allowed in strict mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict "
    "mode.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian. This "
    "is not allowed in strict mode as it prevents from using the double backward trick to replace forward mode AD.",
}


def _zeros_for_none(grads: Tensors, like: Tensors, strict: bool, create_graph: bool, stage: str) -> Tensors:
    result = []
    for i, (g, x) in enumerate(zip(grads, like, strict=True)):
        if g is None:
            if strict:
                raise EngineError(_INDEPENDENT[stage].format(i=i))
            g = alike.zeros(x)
        elif strict and create_graph and not g.requires_grad and stage == "hessian":
            raise EngineError(_LINEAR.format(i=i))
        elif strict and create_graph and not g.requires_grad:
            what = "hessian" if stage.startswith("double") else "jacobian"
            raise EngineError(
                f"The {what} of the user-provided function is independent of input {i}. This is not allowed in strict mode "
                "when create_graph=True."
            )
        result.append(g)
    return tuple(result)


def _ones_for_scalar(x: Tensors, text: str) -> Tensors:
    if len(x) != 1 or x[0].numel() != 1:
        raise EngineError(text)
    return (alike.ones(x[0]),)


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(outputs, vᵀJ)."""
    with modes.enable_grad():
        many_in, ins = _as_tuple(inputs, "inputs", "vjp")
        ins = _fresh(ins, create_graph)
        many_out, outs = _as_tuple(func(*ins), "outputs of the user-provided function", "vjp")
        _strict_outputs(outs, strict)
        if v is not None:
            vector = _fresh(_as_tuple(v, "v", "vjp")[1], create_graph, need_graph=False)
            _check_vector(vector, outs, many_out)
        else:
            vector = _ones_for_scalar(
                outs,
                "The vector v can only be None if the user-provided function returns a single Tensor with a single element.",
            )
    with modes.set_grad_enabled(create_graph or modes.is_grad_enabled()):
        grads = _grad(outs, ins, vector, create_graph)
        result = _zeros_for_none(grads, ins, strict, create_graph, "back")
    return _unpack(_done(outs, create_graph), many_out), _unpack(_done(result, create_graph), many_in)


def _vector_for_inputs(v: Any, ins: Tensors, many_in: bool, create_graph: bool, fn: str) -> Tensors:
    if v is not None:
        vector = _fresh(_as_tuple(v, "v", fn)[1], create_graph, need_graph=False)
        _check_vector(vector, ins, many_in)
        return vector
    return _ones_for_scalar(
        ins,
        "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element.",
    )


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(outputs, Jv)."""
    with modes.enable_grad():
        many_in, ins = _as_tuple(inputs, "inputs", "jvp")
        ins = _fresh(ins, create_graph)
        vector = _vector_for_inputs(v, ins, many_in, create_graph, "jvp")
        many_out, outs = _as_tuple(func(*ins), "outputs of the user-provided function", "jvp")
        _strict_outputs(outs, strict)
        dummies = tuple(alike.zeros(out).requires_grad_() for out in outs)
        grads = _zeros_for_none(_grad(outs, ins, dummies, True), ins, strict, True, "back")
        forward = _grad(grads, dummies, vector, create_graph)
        result = _zeros_for_none(forward, outs, strict, create_graph, "back_trick")
    return _unpack(_done(outs, create_graph), many_out), _unpack(_done(result, create_graph), many_out)


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian: for every output and input a tensor of shape output.shape + input.shape."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported '
                'together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
            )
        if strict:
            raise EngineError(
                'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together '
                '(yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
            )
        if not vectorize:
            raise NotImplementedError(
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for `vectorize=True`."
            )
        return _forward_jacobian(func, inputs)
    with modes.enable_grad():
        many_in, ins = _as_tuple(inputs, "inputs", "jacobian")
        ins = _fresh(ins, create_graph)
        many_out, outs = _as_tuple(func(*ins), "outputs of the user-provided function", "jacobian")
        _strict_outputs(outs, strict)
        if vectorize and strict:
            raise EngineError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please either "
                "set `strict=False` or `vectorize=False`."
            )
        rows = tuple(_jacobian_rows(i, out, ins, create_graph, strict) for i, out in enumerate(outs))
    rows = _done(rows, create_graph)
    if many_in and many_out:
        return rows
    if many_in:
        return rows[0]
    columns = tuple(row[0] for row in rows)
    return columns if many_out else columns[0]


def _forward_jacobian(func: Callable[..., Any], inputs: Any) -> Any:
    """The Jacobian in forward mode: one run of the function per element of the inputs."""
    from . import forward_ad

    many_in, ins = _as_tuple(inputs, "inputs", "jacobian")
    columns: list[list[list[Tensor]]] = []  # per input and element, the tangents of the outputs
    many_out = False
    shapes: list[tuple[int, ...]] = [()]
    for i, x in enumerate(ins):
        columns.append([])
        for index in np.ndindex(x._array.shape):
            tangents = [np.zeros(t._array.shape, t._array.dtype) for t in ins]
            tangents[i][index] = 1
            with forward_ad.dual_level():
                duals = [forward_ad.make_dual(t, alike.placed(u, t)) for t, u in zip(ins, tangents, strict=True)]
                many_out, outs = _as_tuple(func(*duals), "outputs of the user-provided function", "jacobian")
                pairs = [forward_ad.unpack_dual(out) for out in outs]
            shapes = [tuple(primal.shape) for primal, _ in pairs]
            columns[-1].append([alike.zeros(p) if t is None else t for p, t in pairs])
    rows = [  # lists, as in PyTorch
        [_as_columns([each[k] for each in column], shape, x) for x, column in zip(ins, columns, strict=True)]
        for k, shape in enumerate(shapes)
    ]
    if not many_in:
        return tuple(row[0] for row in rows) if many_out else rows[0][0]
    return rows if many_out else rows[0]


def _as_columns(parts: list[Tensor], shape: tuple[int, ...], x: Tensor) -> Tensor:
    """Tangents of one output, one per element of `x`, as output.shape + x.shape."""
    whole = shape + tuple(x._array.shape)
    if not parts:
        return alike.zeros(x, whole)
    return lifted.reshape(stack(parts, len(shape)), whole)  # type: ignore[no-any-return]


def _jacobian_rows(number: int, out: Tensor, ins: Tensors, create_graph: bool, strict: bool) -> Tensors:
    """∂out/∂input for every input, one backward pass per element of out."""
    parts: list[list[Tensor]] = [[] for _ in ins]
    for j in range(out.numel()):
        seed = np.zeros(out._array.shape, out._array.dtype)
        seed[np.unravel_index(j, seed.shape)] = 1
        grads = _grad((out,), ins, (alike.placed(seed, out),), create_graph)
        for i, (g, x) in enumerate(zip(grads, ins, strict=True)):
            if g is None:
                if strict:
                    raise EngineError(
                        f"Output {number} of the user-provided function is independent of input {i}. This is not allowed in "
                        "strict mode."
                    )
                g = alike.zeros(x)
            elif strict and create_graph and not g.requires_grad:
                raise EngineError(
                    "The jacobian of the user-provided function is independent of "
                    f"input {i}. This is not allowed in strict mode when create_graph=True."
                )
            parts[i].append(g)
    shape = tuple(out.shape)
    result = []
    for x, column in zip(ins, parts, strict=True):
        whole = shape + tuple(x.shape)
        if column:
            result.append(lifted.view(stack(column), whole))
        else:
            result.append(alike.zeros(x, whole))
    return tuple(result)


def _scalar_output(many: bool, outs: Tensors, fn: str) -> None:
    if many or not isinstance(outs[0], Tensor):
        raise EngineError(f"The function given to {fn} should return a single Tensor")
    if outs[0].numel() != 1:
        raise EngineError(f"The Tensor returned by the function given to {fn} should contain a single element")


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a scalar function: the Jacobian of its gradient."""
    many_in, ins = _as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def checked(*values: Any) -> Any:
        out = func(*values)
        many, outs = _as_tuple(out, "outputs of the user-provided function", "hessian")
        _strict_outputs(outs, strict)
        if many:
            raise EngineError("The function given to hessian should return a single Tensor")
        if outs[0].numel() != 1:
            raise EngineError("The Tensor returned by the function given to hessian should contain a single element")
        return lifted.view(outs[0], ())

    def gradient(*values: Any) -> Any:
        if outer_jacobian_strategy == "forward-mode":  # duals of inputs that may not require a gradient
            values = tuple(value.requires_grad_(True) for value in values)
        rows = jacobian(checked, values, create_graph=True)
        if strict:
            for i, row in enumerate(rows):
                if not row.requires_grad:
                    raise EngineError(_LINEAR.format(i=i))
        return rows

    result = jacobian(
        gradient, ins, create_graph=create_graph, strict=strict, vectorize=vectorize,
        strategy=outer_jacobian_strategy,
    )  # fmt: skip
    return result if many_in else result[0][0]


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(output, vᵀH)."""
    with modes.enable_grad():
        many_in, ins = _as_tuple(inputs, "inputs", "vhp")
        ins = _fresh(ins, create_graph)
        vector = _vector_for_inputs(v, ins, many_in, create_graph, "vhp")
        many_out, outs = _as_tuple(func(*ins), "outputs of the user-provided function", "vhp")
        _strict_outputs(outs, strict)
        _scalar_output(many_out, outs, "vhp")
        ones = (alike.ones(outs[0]),)
        jac = _zeros_for_none(_grad(outs, ins, ones, True), ins, strict, True, "hessian")
        result = _zeros_for_none(_grad(jac, ins, vector, create_graph), ins, strict, create_graph, "double_back")
    return _done(outs, create_graph)[0], _unpack(_done(result, create_graph), many_in)


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(output, Hv)."""
    with modes.enable_grad():
        many_in, ins = _as_tuple(inputs, "inputs", "hvp")
        ins = _fresh(ins, create_graph)
        vector = _vector_for_inputs(v, ins, many_in, create_graph, "hvp")
        many_out, outs = _as_tuple(func(*ins), "outputs of the user-provided function", "hvp")
        _strict_outputs(outs, strict)
        _scalar_output(many_out, outs, "hvp")
        ones = (alike.ones(outs[0]),)
        jac = _zeros_for_none(_grad(outs, ins, ones, True), ins, strict, True, "hessian")
        dummies = tuple(alike.zeros(x).requires_grad_() for x in ins)
        double = _zeros_for_none(_grad(jac, ins, dummies, True), ins, strict, True, "double_back")
        result = _zeros_for_none(
            _grad(double, dummies, vector, create_graph), ins, strict, create_graph, "double_back_trick"
        )
    return _done(outs, create_graph)[0], _unpack(_done(result, create_graph), many_in)
