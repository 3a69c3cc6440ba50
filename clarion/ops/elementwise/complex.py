"""Complex tensors: parts, conjugates, and the same memory seen as pairs of real numbers.

`conj` is a view, as PyTorch's: its values lie in memory of their own, which follows (NOTE [Mirrors] in kernels/mirrors.py). On other
devices, and of inference tensors, it is a copy.
"""

from __future__ import annotations

from typing import Any

from ...core.devices import ndarray
from ...core.dtypes import COMPLEX, FROM_NUMPY, c32, f16, f32, f64
from ...core.inplace import inplace
from ...core.op import Op
from ...core.tensor import Tensor
from ...core.versions import INFERENCE, mirrored
from ...errors import EngineError, not_a_tensor
from ...kernels.mirrors import is_negated, mirror_of
from ..faces.api import METHODS, public
from ..faces.autocast import autocast

real_op = Op("real", "x", node="SelectBackward0", view=True).vjp(x=lambda g: g)
imag_op = Op("imag", "x", node="SelectBackward0", view=True).vjp(x=lambda g: g * 1j)

view_as_real_op = Op("view_as_real", "x", view=True, traits="rearranges").vjp(x=lambda g, ops: ops.view_as_complex(g))
view_as_complex_op = Op("view_as_complex", "x", view=True, traits="rearranges").vjp(
    x=lambda g, ops: ops.view_as_real(g)
)


class MirrorOp(Op):
    """A view of conjugates."""

    mirrors = True


conj_view_op = MirrorOp("conj_view", "x", node="ConjBackward0", view=True).vjp(x=lambda g, ops: ops.conj(g))
conj_op = Op("conj", "x", elementwise=True).vjp(x=lambda g, ops: ops.conj(g))
conj_physical_op = Op("conj_physical", "x", elementwise=True).vjp(x=lambda g, ops: ops.conj_physical(g))


def array_of(input: Any, name: str) -> Any:
    """The data of an argument that must be a Tensor."""
    if not isinstance(input, Tensor):
        raise not_a_tensor(name, "input", input, 1)
    return input._array


@public(method=False)
def real(input: Any) -> Any:
    """The real part, a view; a real tensor itself."""
    return real_op.call(input) if array_of(input, "real").dtype in COMPLEX else input


@public(method=False)
def imag(input: Any) -> Any:
    """The imaginary part, a view."""
    if array_of(input, "imag").dtype not in COMPLEX:
        raise EngineError("imag is not implemented for tensors with non-complex dtypes.")
    return imag_op.call(input)


def _part(part: Any, doc: str) -> property:
    """A property with a function of its own: who takes calls over is asked about the property."""
    return property(lambda self: part(self), lambda self, value: part(self).copy_(value), doc=doc)


METHODS["real"] = _part(real, "The real part, a view.")
METHODS["imag"] = _part(imag, "The imaginary part, a view.")


@public(method=False)
def view_as_real(input: Any) -> Any:
    """A complex tensor as pairs of real numbers, in the same memory."""
    if array_of(input, "view_as_real").dtype not in COMPLEX:
        raise EngineError("view_as_real is only supported for complex tensors")
    if is_conj(input):
        raise EngineError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view it as "
            "real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original."
        )
    return view_as_real_op.call(input)


@public(method=False)
@autocast("float32")
def view_as_complex(input: Any) -> Any:
    """Pairs of real numbers as complex ones, in the same memory."""
    array = array_of(input, "view_as_complex")
    kind = array.dtype
    if kind not in (f32, f64) and (kind != f16 or c32 is None):
        raise EngineError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{FROM_NUMPY[kind].old}"
        )
    if array.ndim == 0:
        raise EngineError("Input tensor must have one or more dimensions")
    if array.shape[-1] != 2:
        raise EngineError("Tensor must have a last dimension of size 2")
    *steps, last = input.stride()
    if last != 1:
        raise EngineError("Tensor must have a last dimension with stride 1")
    if any(step % 2 for step in steps):
        raise EngineError("Tensor must have a stride divisible by 2 for all but last dimension")
    return view_as_complex_op.call(input)


@public()
def conj(input: Any) -> Any:
    """The complex conjugate, a view; a real tensor itself."""
    array = array_of(input, "conj")
    if array.dtype not in COMPLEX:
        return input
    if type(array) is not ndarray or input._vc is INFERENCE:
        return conj_op.call(input)
    out = conj_view_op.call(input)
    if mirror_of(array) is None:
        mirrored(input._vc, array, out._array)
    return out


@public(out=True)
def conj_physical(input: Any) -> Any:
    """The complex conjugate; a real tensor itself."""
    return conj_physical_op.call(input) if array_of(input, "conj_physical").dtype in COMPLEX else input


@public("conj_physical_")
def conj_physical_(input: Any) -> Any:
    """Conjugate in place: a write, also of real numbers."""
    array_of(input, "conj_physical_")
    return inplace(conj_physical_op, input)


@public()
def resolve_conj(input: Any) -> Any:
    """The tensor itself, or a copy of it if it is a view of conjugates."""
    return input.clone() if array_of(input, "resolve_conj").dtype in COMPLEX and is_conj(input) else input


@public()
def resolve_neg(input: Any) -> Any:
    """The tensor itself, or a copy of it if it shows imaginary parts of conjugates."""
    return input.clone() if is_neg(input) else input


@public()
def is_conj(input: Any) -> bool:
    """Is it a view of conjugates?"""
    array = array_of(input, "is_conj")
    return array.dtype in COMPLEX and mirror_of(array) is not None


@public()
def is_neg(input: Any) -> bool:
    """Is it a view of the imaginary parts of conjugates?"""
    return is_negated(array_of(input, "is_neg"))
