"""Steps that are part of the graph: `differentiable=True`.

Ordinary steps compute on arrays. In these the same rule (a kernel of `kernels/portable/updates`) runs on tensors, so that
the new parameters can be differentiated by the old ones, by the gradients, and by options that are tensors. Nothing is
overwritten but the parameter itself, at the very end: state is replaced by new tensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core import modes
from ..core.tensor import Tensor
from ..errors import EngineError, NotSupportedError
from ..kernels.registry import portable
from ..ops.faces.api import FUNCTIONS

if TYPE_CHECKING:
    from .elementwise import Elementwise


class _Tensors:
    """The namespace `xp` of a rule that computes on tensors."""

    def __getattr__(self, name: str) -> Any:
        return FUNCTIONS[name]

    @staticmethod
    def copy(x: Any) -> Any:
        """What begins with a copy is not differentiated by it: SGD's first momentum, as in PyTorch."""
        return x.detach().clone()


TENSORS = _Tensors()


def _option(value: Any) -> Any:
    """A tensor of one element without dimensions; a number as it is."""
    return value.squeeze() if isinstance(value, Tensor) else value


def record(optimizer: Any, group: dict[str, Any], recorded: bool = True) -> None:
    """Change the parameters of one group by operations, and record how (or not: for those without memory, which compute for themselves)."""
    if not hasattr(optimizer, "rule"):
        raise NotSupportedError(f"{type(optimizer).__name__} has no differentiable=True")
    with modes.set_grad_enabled(recorded):
        for param in group["params"]:
            if param._grad is not None:
                _step(optimizer, group, param)


def _step(optimizer: Elementwise, group: dict[str, Any], param: Any) -> None:
    from .elementwise import decay_of

    state, names = optimizer.state[param], optimizer._kept(group)
    fresh = optimizer._is_fresh(state, names)
    if fresh:
        optimizer._begin(group, param, state)
    counters = [state[name] for name in optimizer.counters]
    if any(counter.requires_grad for counter in counters[:1]):
        raise EngineError("`requires_grad` is not supported for `step` in differentiable mode")
    words, weights = decay_of(group, _option)
    counted, how, numbers = optimizer._advance(group, counters, fresh, _option)
    for name, counter, value in zip(optimizer.counters, counters, counted, strict=True):
        state[name] = value if isinstance(value, Tensor) else FUNCTIONS["full_like"](counter, float(value))
    rule = portable(optimizer.rule, TENSORS)
    old = [param.clone(), param._grad, *(state[name] for name in names)]
    if param.is_complex():  # seen as two real numbers each
        old = [FUNCTIONS["view_as_real"](each.contiguous()) for each in old]
    p, g, *kept = old
    found = rule(p, g, tuple(kept), (*weights, *numbers), words + how)
    if param.is_complex():
        found = [FUNCTIONS["view_as_complex"](each.contiguous()) for each in found]
    for name, value in zip(names, found[1:], strict=True):
        state[name] = value
    param.copy_(found[0])
