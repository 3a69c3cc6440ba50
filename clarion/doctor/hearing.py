"""What an operation of PyTorch tells: the nodes it made, with their lines; what it read, wrote and dropped; whether it broke."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from ..events import hub
from . import lines, memory, nodes, values
from .nodes import View, held
from .telling import guarded
from .vocabulary import Operation, named

_sequence = torch.autograd._get_sequence_nr
_CHECKED = 1 << 20  # elements of a result that are looked at for NaN

_FACTORIES = frozenset(
    ["tensor", "as_tensor", "from_numpy", "scalar_tensor", "asarray", "new_tensor", "full", "full_like"]
)
_MADE = frozenset(
    [
        "zeros",
        "ones",
        "empty",
        "rand",
        "randn",
        "randint",
        "arange",
        "linspace",
        "eye",
        "full",
        "normal",
        "randperm",
        "zeros_like",
        "ones_like",
        "rand_like",
        "randn_like",
        "empty_like",
        "full_like",
        "tensor",
        "scalar_tensor",
        "asarray",
        "new_zeros",
        "new_ones",
        "new_empty",
        "new_full",
        "new_tensor",
    ]
)
_BINARY = frozenset(["add", "sub", "mul", "div", "rsub", "pow"])
_LOSSES = frozenset(["cross_entropy", "nll_loss", "binary_cross_entropy_with_logits", "multilabel_soft_margin_loss"])
_STRETCHING = frozenset(
    ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "poisson_nll_loss", "gaussian_nll_loss"]
)
_DROPOUTS = frozenset(["dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"])


def operate(func: Any, args: Any, kwargs: Any, name: str) -> Any:
    if lines.is_engines_own(4):  # an optimizer's arithmetic, say
        return func(*args, **kwargs)
    if name in _BEFORE:
        guarded(_BEFORE[name])(name, args, kwargs)
    before = _sequence()
    try:
        result = func(*args, **kwargs)
    except RuntimeError as error:
        if "Inference tensor" in str(error):
            guarded(refused_inference)(error, args, kwargs)
        raise
    _heard(func, name, args, kwargs, result, before)
    return result


@guarded
def _heard(func: Any, name: str, args: Any, kwargs: Any, result: Any, before: int) -> None:
    outs = list(tensors_in(result)) if name != "__setitem__" else [args[0]]
    if not outs:
        return
    inputs, params = _split(name, args, kwargs)
    views = place_new_nodes(outs, before, lines.here())
    if views:
        memory.computed(outs[0], views)
    if views and hub.recorded is not None:
        for view in views[:-1]:
            hub.recorded(view, inputs, None)
        hub.recorded(views[-1], inputs, outs[0])
    if (name[-1] == "_" and name[-2:] != "__") or name == "__setitem__" or name[:3] == "__i" or "out" in kwargs:
        written = kwargs.get("out", args[0] if args else None)
        for t in tensors_in(written):
            memory.written(t, lines.here(), args[1] if name == "__setitem__" else None)
            if hub.wrote is not None:
                hub.wrote(t, "inplace")
    if name in _FACTORIES and hub.entered is not None:
        data = _data(name, args, kwargs)
        if hub.left is not None:
            for t in tensors_in(data) if isinstance(data, (list, tuple)) else ():
                if t.requires_grad or memory.is_followed(t):
                    hub.left(t, "item")
        hub.entered(outs[0], data)
        if name in ("as_tensor", "asarray") and isinstance(data, np.ndarray) and data.size:
            if data.__array_interface__["data"][0] == outs[0].data_ptr():  # not a copy
                memory.exported(outs[0], data, "from_numpy", lines.here())
    if name in _MADE and kwargs.get("requires_grad") and hub.flagged is not None:
        hub.flagged(outs[0], True)
    if hub.applied is not None and name not in _FACTORIES:
        op = named(name)
        if op.name == "cast" and outs[0] is (args[0] if args else None):
            return
        hub.applied(op, inputs, params, outs)
        if name == "multi_head_attention_forward" and len(inputs) > 2:
            _tell_attention(inputs, outs)
        if hub.float_error is not None:
            _check(op, inputs, outs[0])


def _tell_attention(inputs: list[Any], outs: list[Any]) -> None:
    """What happens inside of it is not heard: the sequence is the first dimension of its keys."""
    query, key, value = (t.transpose(0, 1) if t.dim() == 3 else t for t in inputs[:3])
    hub.applied(named("scaled_dot_product_attention"), [query, key, value], [], outs)  # type: ignore[misc]


def place_new_nodes(outs: list[Any], before: int, place: Any) -> list[View]:
    """Give every node that was made since `before` its line; the oldest first."""
    found: dict[int, View] = {}
    packed = nodes.hooks.active()
    stack = [view for t in outs if (view := nodes.node(t)) is not None]
    while stack:
        view = stack.pop()
        if view.seq <= -before and view.seq not in found and view._place is None:
            found[view.seq] = view
            view.place = place
            view.hooked = packed
            stack += [edge for edge in view.edges if type(edge) is View]
    return [found[number] for number in sorted(found, reverse=True)]


def tensors_in(value: Any) -> Iterator[Any]:
    """The tensors in what a function was given or gave."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from tensors_in(each)


def _data(name: str, args: Any, kwargs: Any) -> Any:
    """What a tensor is made of: the first argument, or the one after it."""
    position = 1 if name[:4] == "full" or name == "new_tensor" else 0
    return args[position] if len(args) > position else kwargs.get("fill_value", kwargs.get("data"))


def _split(name: str, args: Any, kwargs: Any) -> tuple[list[Any], list[Any]]:
    """The inputs of an operation, and its other arguments."""
    plain = named(name).name
    if plain in _BINARY:
        return [*args[:2], *(kwargs[k] for k in ("other", "exponent") if k in kwargs)][:2], list(args[2:])
    inputs = [*tensors_in(list(args)), *tensors_in([v for k, v in kwargs.items() if k != "out"])]
    if plain in ("softmax", "log_softmax"):
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
        count = inputs[0].dim() if inputs else 0
        if dim is None:
            dim = 0 if count in (0, 1, 3) else 1
        return inputs, [dim % count if count else dim]
    if name == "__setitem__" and len(args) > 2 and isinstance(args[2], (int, float)):
        inputs.append(args[2])
    return inputs, [a for a in (*args, *kwargs.values()) if not isinstance(a, (torch.Tensor, list, tuple))]


def _before_loss(name: str, args: Any, kwargs: Any) -> None:
    if hub.loss is not None:
        hub.loss(name, *_pair(args, kwargs))


def _before_stretching(name: str, args: Any, kwargs: Any) -> None:
    x, y = _pair(args, kwargs)
    if hub.stretched is not None and isinstance(y, torch.Tensor) and x.shape != y.shape:
        hub.stretched(x, y)


def _pair(args: Any, kwargs: Any) -> tuple[Any, Any]:
    given = list(args)
    if not given:
        given.append(kwargs["input"])
    if len(given) < 2:
        given.append(kwargs.get("target"))
    return given[0], given[1]


def _before_dropout(name: str, args: Any, kwargs: Any) -> None:
    p = kwargs.get("p", args[1] if len(args) > 1 else 0.5)
    training = kwargs.get("training", kwargs.get("train", args[2] if len(args) > 2 else True))
    if training and p > 0 and hub.dropped is not None:
        hub.dropped(args[0] if args else kwargs["input"], p)


def _before_attention(name: str, args: Any, kwargs: Any) -> None:
    p = kwargs.get("dropout_p", args[4] if len(args) > 4 else 0.0)
    if p and kwargs.get("training", True) and hub.dropped is not None:
        hub.dropped(args[0] if args else kwargs["query"], p)


def _before_multi_head(name: str, args: Any, kwargs: Any) -> None:
    p = kwargs.get("dropout_p", args[10] if len(args) > 10 else 0.0)
    if p and kwargs.get("training", args[13] if len(args) > 13 else True) and hub.dropped is not None:
        hub.dropped(args[0] if args else kwargs["query"], p)


def _before_recurrent(name: str, args: Any, kwargs: Any) -> None:
    """Dropout between layers; the weights are followed by: biases? how many layers? dropout, training."""
    at = next((i for i, a in enumerate(args) if isinstance(a, list)), len(args))
    if len(args) > at + 4 and hub.dropped is not None:
        layers, p, training = args[at + 2 : at + 5]
        if layers > 1 and p and training:
            hub.dropped(args[0], p)


_BEFORE: dict[str, Any] = {
    **dict.fromkeys(_LOSSES, _before_loss),
    **dict.fromkeys(_STRETCHING, _before_stretching),
    **dict.fromkeys(_DROPOUTS, _before_dropout),
    **dict.fromkeys(["lstm", "gru", "rnn_tanh", "rnn_relu"], _before_recurrent),
    "scaled_dot_product_attention": _before_attention,
    "multi_head_attention_forward": _before_multi_head,
}


def refused_inference(error: Any, args: Any, kwargs: Any) -> None:
    for t in [*tensors_in(list(args)), *tensors_in(list(kwargs.values()))]:
        if t.is_inference() and hub.refused is not None:
            hub.refused(error, {"inference": t})
            return


# Floating-point errors: PyTorch tells of none, so results are looked at.


def _check(op: Operation, inputs: list[Any], out: Any) -> None:
    if (
        op.moves
        or not out.is_floating_point()
        or out.numel() > _CHECKED
        or not values.is_plain(out)
        or out.device.type != "cpu"
    ):
        return
    if values.all_finite(out):
        return
    given = [t for t in inputs if isinstance(t, torch.Tensor)]
    if not given or any(t.is_floating_point() and not values.all_finite(t) for t in given):
        return  # `torch.empty` computes nothing: its memory holds whatever was there
    found = values.array(out)
    if found.size and (found != found).any():
        kind = "invalid value"
    else:
        kind = "divide by zero" if op.traits & {"quotient", "log", "root", "power", "arc"} else "overflow"
    held.operand = values.array(given[0]) if len(given) == 1 else None
    try:
        hub.float_error(kind)  # type: ignore[misc]
    finally:
        held.operand = None
