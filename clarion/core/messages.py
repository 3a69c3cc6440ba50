"""Texts of errors that several rooms raise: PyTorch's phrase first, then the shapes, the line and the remedy."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any, TypeVar

from .. import errors
from ..events import hub
from . import modes, provenance
from .origins import place_of

if TYPE_CHECKING:
    from .op import Op

E = TypeVar("E", bound=Exception)


def told(error: E, **facts: Any) -> E:
    """An error that is about to be raised; whoever listens is told what is known, and may attach a finding to it."""
    if hub.refused is not None:
        hub.refused(error, facts)
    return error


def made_where(array: Any) -> str:
    """Of a tensor in a call that is about to fail: the line that made it. The frames of the call hold it, as the array's owner."""
    from .tensor import Tensor

    frame: Any = sys._getframe(1)
    while frame is not None and provenance.is_inside(frame.f_code.co_filename):
        for value in list(frame.f_locals.values()):
            for each in value if type(value) in (list, tuple) else (value,):
                if isinstance(each, Tensor) and each._array is array:
                    node = each.grad_fn
                    if node is not None:
                        return f", made by {node.name()} at {provenance.text(node.place)}"
                    what = f", a {'leaf' if each.requires_grad else 'tensor'}"
                    place = place_of(array)
                    if place is None:
                        return f"{what} that no operation with a gradient has made"
                    return f"{what} made or brought there at {provenance.text(place)}"
        frame = frame.f_back
    return ""


def broadcast_error(*shapes: tuple[int, ...]) -> errors.ShapeError:
    """Shapes that do not broadcast: the sizes and the dimension, as PyTorch says it."""
    a, b = shapes[0], shapes[-1]
    for b in shapes[1:]:
        if _clash(a, b) is not None:
            break
        longer = max(len(a), len(b))  # what both of them stretch to meets the next
        pairs = zip((1,) * (longer - len(a)) + a, (1,) * (longer - len(b)) + b, strict=True)
        a = tuple(y if x == 1 else x for x, y in pairs)
    ndim = max(len(a), len(b))
    dim = _clash(a, b)
    if dim is None:
        return errors.ShapeError(f"shapes {[list(s) for s in shapes]} cannot be broadcast together")
    sa, sb = a[dim - ndim], b[dim - ndim]
    return errors.ShapeError(
        f"The size of tensor a ({sa}) must match the size of tensor b ({sb}) at non-singleton dimension {dim}\n"
        f"The shapes are {list(a)} and {list(b)}; dimensions are matched from the right, and only size 1 stretches.\n"
        f"At {provenance.text(provenance.here())}"
    )


def _clash(a: tuple[int, ...], b: tuple[int, ...]) -> int | None:
    ndim = max(len(a), len(b))
    for i in range(1, min(len(a), len(b)) + 1):
        if a[-i] != b[-i] and a[-i] != 1 and b[-i] != 1:
            return ndim - i
    return None


def not_a_tensor(op: Op, position: int, value: Any) -> errors.ArgumentTypeError:
    """An argument that should have been a Tensor."""
    names = {"x": "input", "y": "other"}
    name = op.inputs[min(position, len(op.inputs) - 1)]
    return errors.not_a_tensor(op.name.removesuffix("_scalar"), names.get(name, name), value, position + 1)


def out_of_memory(error: Exception, shape: Any = None) -> Exception:
    """Memory that is not there, or sizes that no memory has, said PyTorch's way; other errors as they are."""
    if isinstance(error, MemoryError):
        wanted = getattr(error, "_total_size", None)  # NumPy's own error knows
        return errors.EngineError(
            f"DefaultCPUAllocator: can't allocate memory: you tried to allocate {wanted if wanted else 'too many'} bytes. "
            "Error code 12 (Cannot allocate memory)"
        )
    if (shape is not None and "too big" in str(error)) or "Maximum allowed" in str(error):
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], list | tuple) else shape  # as it was given
        what = "Stride" if 0 in shape else "Storage size"
        return errors.EngineError(f"{what} calculation overflowed with sizes={list(shape)}")
    return error


def not_detached(view: Any) -> errors.InplaceError:
    """A view that shall be taken out of the graph in place."""
    if view.creation == "multi":
        return errors.InplaceError(
            "This view is the output of a function that returns multiple views. Such functions do not allow the "
            "output views to be detached in-place. Use detach() instead."
        )
    return errors.InplaceError(
        "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
        "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
        "detach_() cannot be called on these gradients."
    )


def transformed(method: str, perhaps: str = "") -> errors.EngineError:
    """What a function may not do while a transform of `torch.func` runs it."""
    return errors.EngineError(
        f"You are attempting to call Tensor.{method}{perhaps} inside of a function being transformed by a functorch transform. This is "
        "unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call "
        f"{method} outside of a function being transformed instead."
    )


def refuse_captured(x: Any, name: str) -> None:
    """While a transform runs a function, that may write to what it was given or computed, not to what it captures."""
    captured = modes.state.captured
    if captured is None or not (id(x) in captured or (x._view is not None and id(x._view.base) in captured)):
        return
    raise errors.EngineError(
        f"During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation (aten::{name}) that "
        "would mutate a captured Tensor. This is not supported; please rewrite the function being transformed to explicitly accept "
        "the mutated Tensor(s) as inputs."
    )


def no_plain_method(method: Any, value: Any, func: Any) -> Any:
    """A `__torch_function__`, with a warning if it is no classmethod. PyTorch's functions in Python warn otherwise than those in C++."""
    if getattr(method, "__self__", None) is value:
        functional = sys.modules.get("clarion.nn.functional")
        in_python = functional is not None and getattr(functional, getattr(func, "__name__", ""), None) is func
        warnings.warn(
            "Defining your `__torch_function__` as a plain method is deprecated and will be an error in future, please define it "
            "as a classmethod.",
            DeprecationWarning if in_python else UserWarning,
            stacklevel=5,
        )
    return method
