"""L-BFGS: a quasi-Newton method that remembers its last steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import modes
from ..core.bulk import bump
from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentValueError, EngineError
from ..kernels.flat import filled_like, joined, number
from .checks import check_lr
from .optimizer import Optimizer, scalar, writable
from .wolfe import strong_wolfe


class LBFGS(Optimizer):
    """Evaluates the closure several times in a step; `line_search_fn` is None or 'strong_wolfe'."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ArgumentValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Tensor]:
        params: list[Tensor] = self.param_groups[0]["params"]
        return params

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Minimise for up to `max_iter` iterations; returns the first loss."""
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        with modes.enable_grad():
            first = closure()
        state["func_evals"] += 1
        grad = self._flat_grad()
        if _largest(grad) <= group["tolerance_grad"]:
            return first
        self._iterate(group, state, closure, float(scalar(first)), grad)
        return first

    def _iterate(self, group: dict[str, Any], state: dict[str, Any], closure: Any, loss: float, grad: Any) -> None:
        lr, least = scalar(group["lr"]), group["tolerance_change"]
        direction, t = _bare(state.get("d")), _bare(state.get("t"))
        before, previous = _bare(state.get("prev_flat_grad")), state.get("prev_loss")
        memory = {name: state.get(name) for name in ("old_dirs", "old_stps", "ro", "H_diag")}
        evaluations = 1
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                direction = -grad
                memory = {"old_dirs": [], "old_stps": [], "ro": [], "H_diag": 1}
                t = min(1.0, 1.0 / abs(grad).sum()) * lr
            else:
                _remember(group, memory, grad - before, direction * t)
                al = state.setdefault("al", [None] * group["history_size"])
                direction = _direction(memory, al, grad)
                t = lr
            if before is None:
                before = grad.copy()
            else:
                before[:] = grad
            previous, slope = loss, grad.dot(direction)
            if slope > -least:
                break
            last = iteration == group["max_iter"]
            loss, grad, t, spent, small = self._move(
                group, closure, loss, grad, t, direction, slope, last, group["max_eval"] - evaluations
            )
            evaluations += spent
            state["func_evals"] += spent
            if last or evaluations >= group["max_eval"] or small:
                break
            if _largest(direction) * abs(t) <= least or abs(loss - previous) < least:
                break
        state.update(d=_kept(direction), t=_kept(t), **memory, prev_flat_grad=_kept(before), prev_loss=previous)

    def _move(
        self,
        group: dict[str, Any],
        closure: Any,
        loss: float,
        grad: Any,
        t: Any,
        direction: Any,
        slope: Any,
        last: bool,
        budget: int,
    ) -> tuple[float, Any, Any, int, bool]:
        """Go along the direction: the loss and gradient there, how far, evaluations, and whether it is flat."""
        search, flat = group["line_search_fn"], group["tolerance_grad"]
        if search is None:
            self._add(t, direction)
            if last:
                return loss, grad, t, 0, False
            loss, grad = self._evaluate(closure)
            return loss, grad, t, 1, bool(_largest(grad) <= flat)
        if search != "strong_wolfe":
            raise EngineError("only 'strong_wolfe' is supported")
        begin = [param._array.copy() for param in self._params]

        def at(t: Any) -> tuple[float, Any]:
            self._add(t, direction)
            found = self._evaluate(closure)
            for param, array in zip(self._params, begin, strict=True):
                param._array[...] = array
            bump(self._params)
            return found

        loss, grad, t, spent = strong_wolfe(at, t, direction, loss, grad, slope, max_ls=budget)
        self._add(t, direction)
        return loss, grad, t, spent, bool(_largest(grad) <= flat)

    def _evaluate(self, closure: Any) -> tuple[float, Any]:
        with modes.enable_grad():
            loss = float(scalar(closure()))
        return loss, self._flat_grad()

    def _flat_grad(self) -> Any:
        """All gradients in one array of real numbers; zeros where there is none."""
        return joined([filled_like(p._array, 0) if p._grad is None else p._grad._array for p in self._params])

    def _add(self, t: Any, direction: Any) -> None:
        """params += t * direction."""
        begin = 0
        for param in self._params:
            array = writable(param)
            if array.dtype.kind == "c":
                step = direction[begin : begin + 2 * array.size].view(array.dtype)
                begin += array.size
            else:
                step = direction[begin : begin + array.size]
            begin += array.size
            array += (step * t).reshape(array.shape)
        bump(self._params)


def _remember(group: dict[str, Any], memory: dict[str, Any], change: Any, step: Any) -> None:
    """Keep how the gradient changed over the last step, if it bends upwards."""
    curvature = change.dot(step)
    if curvature > 1e-10:
        if len(memory["old_dirs"]) == group["history_size"]:
            for name in ("old_dirs", "old_stps", "ro"):
                memory[name].pop(0)
        memory["old_dirs"].append(_kept(change))
        memory["old_stps"].append(_kept(step))
        memory["ro"].append(_kept(1.0 / curvature))
        memory["H_diag"] = _kept(curvature / change.dot(change))


def _direction(memory: dict[str, Any], al: list[Any], grad: Any) -> Any:
    """Minus the gradient times the inverse of the remembered curvature, by two loops over the memory."""
    steps = [
        (i, change._array, step._array, rho._array[()])
        for i, (change, step, rho) in enumerate(zip(memory["old_dirs"], memory["old_stps"], memory["ro"], strict=True))
    ]
    q = -grad
    for i, change, step, rho in reversed(steps):
        factor = step.dot(q) * rho
        q -= change * factor
        al[i] = _kept(factor)
    q *= _bare(memory["H_diag"])
    for i, change, step, rho in steps:
        q += step * (al[i]._array[()] - change.dot(q) * rho)
    return q


def _largest(x: Any) -> Any:
    """The largest magnitude, without writing all of them down."""
    return max(x.max(), -x.min()) if len(x) else abs(x).max()


def _kept(value: Any) -> Any:
    """Arrays and NumPy's numbers are kept as Tensors, as PyTorch keeps them."""
    return new_tensor(number(value, value.dtype)) if hasattr(value, "dtype") else value


def _bare(value: Any) -> Any:
    return value._array[()] if isinstance(value, Tensor) else value
