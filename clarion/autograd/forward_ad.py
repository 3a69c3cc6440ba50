"""`torch.autograd.forward_ad`: tensors with a tangent beside them, and the level in which they exist.

with dual_level():
    dual = make_dual(x, v)
    value, jvp = unpack_dual(f(dual))
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NamedTuple

from ..core import forward as _forward
from ..core import modes as _modes
from ..core.namespace import lifted as _lifted
from ..core.tensor import Tensor
from ..errors import ArgumentValueError, EngineError, not_a_tensor
from ..kernels.batched.levels import Mapped, refuse_rule

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` returns: the value of a dual tensor and its tangent (None: it has none)."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Open the level in which dual tensors can exist, and return its number, 0. There is only one."""
    _forward.enter()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: the tangents are gone."""
    current = _current()
    if level is not None and level != current:
        raise EngineError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    if current < 0:
        raise EngineError("Dual level must be a positive number.\nNo level is open: enter_dual_level() opens one.")
    _forward.leave()


def _current() -> int:
    return -1 if _modes.dual is None else 0


class dual_level(_modes._Mode):
    """The level as a context manager (or decorator)."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, kind: type | None, error: BaseException | None, tb: TracebackType | None) -> None:
        exit_dual_level()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Tensor:
    """A view of `tensor` that carries `tangent`, in the open level. Differentiable in reverse mode, too."""
    number = _current() if level is None else level
    if number < 0 or _modes.dual is None:
        raise EngineError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    _refuse(tensor, "primal", "tensor")
    _refuse(tangent, "tangent", "tangent")
    active = _modes.dual
    if active.active() and active.tangent_of(tensor) is not None:
        raise EngineError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level "
            f"{number} is not supported."
        )
    if active.active() and active.tangent_of(tangent) is not None:
        raise EngineError(
            f"Setting a forward grad that itself has a forward gradient at the same level{number} is not supported."
        )
    dual = _root(tensor, with_grad_fn="view")
    active.attach(dual, tangent)
    return dual


def _refuse(value: Any, what: str, argument: str) -> None:
    if not isinstance(value, Tensor):
        raise not_a_tensor("make_dual", argument, value)
    if isinstance(value._array, Mapped):
        refuse_rule("_make_dual", out=True)
    if not (value.is_floating_point() or value.is_complex()):
        raise ArgumentValueError(f"Expected {what} to be floating point or complex, but got: {value.dtype}")


def _root(tensor: Tensor, with_grad_fn: str) -> Tensor:
    """A view of a tensor that has (or will have) a tangent of its own, whatever lies below it."""
    with _set_fwd_grad_enabled(False):
        if with_grad_fn == "view":
            view: Tensor = _lifted.view(tensor, tensor._array.shape)
        else:
            view = _lifted.alias(tensor)
    view.__dict__["_dual_root"] = True
    _modes.dual.holders[id(view)] = view
    return view


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The value of a dual tensor (as a view without tangent) and its tangent; outside a level the tensor and None."""
    number = _current() if level is None else level
    if number < 0 or _modes.dual is None:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise not_a_tensor("_unpack_dual", "dual", tensor, 1)
    tangent = _modes.dual.tangent_of(tensor) if _modes.dual.active() else None
    return UnpackedDualTensor(_root(tensor, with_grad_fn="alias"), tangent)


def _is_fwd_grad_enabled() -> bool:
    return _modes.state.forward


class _set_fwd_grad_enabled(_modes._Mode):
    """Compute tangents, or do not: takes effect at once, and ends with the context."""

    def __init__(self, mode: bool) -> None:
        state = _modes.state
        self.prev = state.forward
        self.mode = bool(mode)
        state.forward = self.mode
        # Inside `func.jvp` tangents are computed from a recording, which ends with them.
        self._recorded = (state.grad, state.tangents) if state.tangents and not self.mode else None
        if self._recorded is not None:
            _modes.set_grad(False)
            state.tangents = False

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type | None, error: BaseException | None, tb: TracebackType | None) -> None:
        _modes.state.forward = self.prev
        if self._recorded is not None:
            _modes.set_grad(self._recorded[0])
            _modes.state.tangents = self._recorded[1]

    def clone(self) -> _set_fwd_grad_enabled:
        return self.__class__(self.mode)


set_fwd_grad_enabled = _set_fwd_grad_enabled


def __getattr__(name: str) -> Any:
    if name == "_current_level":  # a number that changes
        return _current()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
