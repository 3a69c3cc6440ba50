"""Steps that are part of the graph: `differentiable=True`.

Ordinary steps compute on arrays. These are the same updates written in operations on tensors, so that the new
parameters can be differentiated by the old ones, by the gradients, and by options that are tensors. Nothing is
overwritten but the parameter itself, at the very end: state is replaced by new tensors.

A rule takes (options, a copy of the parameter, its gradient, its state) and returns the new parameter. The formulas,
and where they round (counts are kept in float32), are PyTorch's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import modes
from ..core.tensor import Tensor
from ..errors import EngineError, NotSupportedError
from ..ops.faces.api import FUNCTIONS

Group = dict[str, Any]
State = dict[str, Any]
Rule = Callable[[Group, Any, Any, State], Any]

RULES: dict[str, Rule] = {}


def rule_of(*names: str) -> Callable[[Rule], Rule]:
    """Declare the rule of the optimizers with these names."""

    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return register


def record(optimizer: Any, group: Group) -> None:
    """Change the parameters of one group, and record how."""
    rule = next((RULES[cls.__name__] for cls in type(optimizer).__mro__ if cls.__name__ in RULES), None)
    if rule is None:
        raise NotSupportedError(f"{type(optimizer).__name__} has no differentiable=True")
    with modes.enable_grad():
        for param in group["params"]:
            if param._grad is None:
                continue
            state = optimizer.state[param]
            if not state and rule is not sgd:
                optimizer._begin(group, param, state)
            _write(rule, group, param, state)


def _write(rule: Rule, group: Group, param: Any, state: State) -> None:
    grad = -param._grad if group["maximize"] else param._grad
    old = param.clone()
    if not param.is_complex():
        param.copy_(rule(group, old, grad, state))
        return
    to_real, to_complex = FUNCTIONS["view_as_real"], FUNCTIONS["view_as_complex"]
    pairs = {name for name, value in state.items() if value.is_complex()}  # seen as two real numbers each
    seen = {name: to_real(value) if name in pairs else value for name, value in state.items()}
    found = rule(group, to_real(old), to_real(grad.contiguous()), seen)
    for name, value in seen.items():
        state[name] = to_complex(value.contiguous()) if value.dim() == old.dim() + 1 else value
    param.copy_(to_complex(found.contiguous()))


# Parts ---------------------------------------------------------------------------------------------------


def _option(value: Any) -> Any:
    """A tensor of one element without dimensions; a number as it is."""
    return value.squeeze() if isinstance(value, Tensor) else value


def _with_decay(group: Group, p: Any, g: Any) -> tuple[Any, Any]:
    """The parameter and the gradient after weight decay, of either kind."""
    decay = _option(group.get("weight_decay", 0))
    if not isinstance(decay, Tensor) and decay == 0:
        return p, g
    if group.get("decoupled_weight_decay"):
        return p * (1 - _option(group["lr"]) * decay), g
    return p, g + p * decay


def _count(state: State) -> Any:
    """One step more."""
    if state["step"].requires_grad:
        raise EngineError("`requires_grad` is not supported for `step` in differentiable mode")
    state["step"] = state["step"] + 1
    return state["step"]


def _averages(group: Group, g: Any, state: State) -> tuple[Any, Any]:
    """The moving averages of the gradient and of its square."""
    beta1, beta2 = (_option(beta) for beta in group["betas"])
    average, square = state["exp_avg"], state["exp_avg_sq"]
    state["exp_avg"] = average + (g - average) * (1 - beta1)
    state["exp_avg_sq"] = square * beta2 + g * g * (1 - beta2)
    return state["exp_avg"], state["exp_avg_sq"]


# Rules ---------------------------------------------------------------------------------------------------


@rule_of("SGD")
def sgd(group: Group, p: Any, g: Any, state: State) -> Any:
    """Gradient descent; the first buffer of momentum is not differentiated, as in PyTorch."""
    p, g = _with_decay(group, p, g)
    momentum = group["momentum"]
    if momentum != 0:
        buffer = state.get("momentum_buffer")
        buffer = g.detach().clone() if buffer is None else buffer * momentum + g * (1 - group["dampening"])
        state["momentum_buffer"] = buffer
        g = g + buffer * momentum if group["nesterov"] else buffer
    return p - g * _option(group["lr"])


@rule_of("Adam", "AdamW")
def adam(group: Group, p: Any, g: Any, state: State) -> Any:
    """Adam, with the corrections as tensors."""
    step, lr = _count(state), _option(group["lr"])
    p, g = _with_decay(group, p, g)
    average, square = _averages(group, g, state)
    correction1, correction2 = (1 - _option(beta) ** step for beta in group["betas"])
    rate = -(lr / correction1)
    if group["amsgrad"]:
        square = state["max_exp_avg_sq"] = FUNCTIONS["maximum"](state["max_exp_avg_sq"], square)
    return p + average / (square.sqrt() / (correction2.sqrt() * rate) + group["eps"] / rate)


@rule_of("NAdam")
def nadam(group: Group, p: Any, g: Any, state: State) -> Any:
    """Adam with Nesterov's momentum."""
    step, lr, (beta1, beta2) = _count(state).item(), _option(group["lr"]), group["betas"]
    p, g = _with_decay(group, p, g)
    mu, following = (beta1 * (1.0 - 0.5 * 0.96 ** (n * group["momentum_decay"])) for n in (step, step + 1))
    product = state["mu_product"] = state["mu_product"] * mu
    average, square = _averages(group, g, state)
    root = (square / (1 - beta2**step)).sqrt() + group["eps"]
    ahead = average * (-lr * following / (1.0 - product * following))
    return p + g * (-lr * (1.0 - mu) / (1.0 - product)) / root + ahead / root


@rule_of("RAdam")
def radam(group: Group, p: Any, g: Any, state: State) -> Any:
    """Adam whose rate is rectified while the average of squares is young."""
    step, lr, (beta1, beta2) = _count(state).item(), _option(group["lr"]), group["betas"]
    p, g = _with_decay(group, p, g)
    average, square = _averages(group, g, state)
    correction2 = 1 - beta2**step
    limit = 2 / (1 - beta2) - 1
    length = limit - 2 * step * beta2**step / correction2
    change = average / (1 - beta1**step) * lr
    if length <= 5.0:
        return p - change
    rectified = ((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)) ** 0.5
    return p - change * (correction2**0.5 / (square.sqrt() + group["eps"])) * rectified


@rule_of("Adamax")
def adamax(group: Group, p: Any, g: Any, state: State) -> Any:
    """Adam with the largest gradient in place of the average of squares."""
    step, (beta1, beta2) = _count(state).item(), group["betas"]
    p, g = _with_decay(group, p, g)
    average = state["exp_avg"] = state["exp_avg"] + (g - state["exp_avg"]) * (1 - beta1)
    largest = FUNCTIONS["stack"]([state["exp_inf"] * beta2, g.abs() + group["eps"]]).amax(0)
    state["exp_inf"] = largest
    return p - average / largest * (_option(group["lr"]) / (1 - beta1**step))


@rule_of("Adagrad")
def adagrad(group: Group, p: Any, g: Any, state: State) -> Any:
    """Rates that fall with the sum of squares."""
    step = _count(state).item()
    p, g = _with_decay(group, p, g)
    total = state["sum"] = state["sum"] + g * g
    rate = _option(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
    return p - g / (total.sqrt() + group["eps"]) * rate


@rule_of("Adadelta")
def adadelta(group: Group, p: Any, g: Any, state: State) -> Any:
    """Rates from the sizes of former steps."""
    _count(state)
    p, g = _with_decay(group, p, g)
    rho, eps = group["rho"], group["eps"]
    square = state["square_avg"] = state["square_avg"] * rho + g * g * (1 - rho)
    change = (state["acc_delta"] + eps).sqrt() / (square + eps).sqrt() * g
    state["acc_delta"] = state["acc_delta"] * rho + change * change * (1 - rho)
    return p - change * _option(group["lr"])


@rule_of("RMSprop")
def rmsprop(group: Group, p: Any, g: Any, state: State) -> Any:
    """Gradients over the root of their mean square."""
    _count(state)
    p, g = _with_decay(group, p, g)
    alpha, lr = group["alpha"], _option(group["lr"])
    square = state["square_avg"] = state["square_avg"] * alpha + g * g * (1 - alpha)
    if group["centered"]:
        average = state["grad_avg"] = state["grad_avg"] + (g - state["grad_avg"]) * (1 - alpha)
        square = square - average * average
    change = g / (square.sqrt() + group["eps"])
    if group["momentum"] > 0:
        change = state["momentum_buffer"] = state["momentum_buffer"] * group["momentum"] + change
    return p - change * lr


@rule_of("Rprop")
def rprop(group: Group, p: Any, g: Any, state: State) -> Any:
    """Steps that grow while the sign of the gradient stays, and shrink when it turns."""
    _count(state)
    minus, plus = group["etas"]
    turn = g * state["prev"]
    factor = FUNCTIONS["ones_like"](g).masked_fill(turn > 0, plus).masked_fill(turn < 0, minus)
    size = state["step_size"] = (state["step_size"] * factor).clamp(*group["step_sizes"])
    g = state["prev"] = g.masked_fill(factor == minus, 0)
    return p - g.sign() * size


@rule_of("ASGD")
def asgd(group: Group, p: Any, g: Any, state: State) -> Any:
    """Gradient descent, and the average of where it has been."""
    step, eta, mu = _count(state).item(), state["eta"].item(), state["mu"].item()
    p, g = _with_decay(group, p, g)
    lr, lambd = _option(group["lr"]), group["lambd"]
    p = p * (1 - lambd * eta) - g * eta
    state["ax"] = p if mu == 1 else state["ax"] + (p - state["ax"]) * mu
    number = FUNCTIONS["as_tensor"]
    state["eta"] = number(lr / (1 + lambd * lr * step) ** group["alpha"]).to(state["eta"].dtype)
    state["mu"] = number(1 / max(1, step - group["t0"])).to(state["mu"].dtype)
    return p
