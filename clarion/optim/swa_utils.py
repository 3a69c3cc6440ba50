"""`torch.optim.swa_utils`: models that are averages of others."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from ..core import modes
from ..core.bulk import bump
from ..core.dtypes import f32, int64
from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentValueError, EngineError
from ..kernels.flat import number
from ..nn.modules.module import Module
from .optimizer import Optimizer, scalar
from .schedules.base import LRScheduler, one_per_group

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ArgumentValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _all_toward(averaged: Any, current: Any, weight: float) -> None:
    """averaged += weight * (current - averaged), counted from the nearer end."""
    for mean, new in zip(averaged, current, strict=True):
        array = mean._array
        gap = new._array - array
        if weight < 0.5:
            array += gap * array.dtype.type(weight)
        else:
            array[...] = new._array - gap * array.dtype.type(1 - weight)
    bump(list(averaged))


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """Exponential moving averages of many parameters at once."""
    _check_decay(decay)

    def ema_update(ema_param_list: Any, current_param_list: Any, _: Any) -> None:
        first = ema_param_list[0]
        if first.is_floating_point() or first.is_complex():
            _all_toward(ema_param_list, current_param_list, 1 - decay)
            return
        with modes.no_grad():
            for mean, new in zip(ema_param_list, current_param_list, strict=True):
                mean.copy_(mean * decay + new * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """Plain averages of many parameters at once."""

    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        first = averaged_param_list[0]
        if first.is_floating_point() or first.is_complex():
            _all_toward(averaged_param_list, current_param_list, _share(num_averaged))
            return
        raise EngineError(
            "Integer division with addcdiv is no longer supported\n"
            "Whole numbers have no average of their own type: use avg_fn, which computes in floating point and cuts off."
        )

    return swa_update


def _share(count: Any) -> float:
    """1 / (count + 1), in float32 where the count is a Tensor, as PyTorch divides."""
    return float(f32.type(1) / f32.type(scalar(count) + 1)) if isinstance(count, Tensor) else 1 / (count + 1)


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Any]:
    """The exponential moving average of one parameter."""
    _check_decay(decay)

    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        with modes.no_grad():
            return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[..., Any]:
    """The plain average of one parameter."""

    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        with modes.no_grad():
            return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model that `update_parameters(model)` moves toward it."""

    n_averaged: Any

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[..., Any] | None = None,
        multi_avg_fn: Callable[..., None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", new_tensor(number(0, int64.numpy)))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model computes."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the model's parameters into the average."""
        own: Any = chain(self.module.parameters(), self.module.buffers()) if self.use_buffers else self.parameters()
        others: Any = chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters()
        pairs = [(mean.detach(), new.detach()) for mean, new in zip(own, others, strict=False)]
        with modes.no_grad():
            if int(self.n_averaged) == 0:
                for mean, new in pairs:
                    mean.copy_(new)
            elif self.multi_avg_fn is not None:
                self._average_all(pairs, self.multi_avg_fn)
            else:
                average = self.avg_fn or get_swa_avg_fn()
                for mean, new in pairs:
                    mean.copy_(average(mean, new, self.n_averaged))
            if not self.use_buffers:
                for mean, new in zip(self.module.buffers(), model.buffers(), strict=True):
                    mean.detach().copy_(new.detach())  # type: ignore[attr-defined]
            self.n_averaged += 1

    def _average_all(self, pairs: list[tuple[Any, Any]], average: Callable[..., None]) -> None:
        by_type: dict[Any, list[tuple[Any, Any]]] = {}
        for mean, new in pairs:
            by_type.setdefault(mean.dtype, []).append((mean, new))
        for group in by_type.values():
            means, news = zip(*group, strict=True)
            average(list(means), list(news), self.n_averaged)


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of batch normalisation afresh, from all batches of a loader."""
    momenta: dict[Any, Any] = {module: module.momentum for module in model.modules() if _is_batch_norm(module)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None
    with modes.no_grad():
        for batch in loader:
            first = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(first if device is None else first.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


def _is_batch_norm(module: Any) -> bool:
    """By name: this room does not know which layers there are."""
    return any(kind.__name__ == "_BatchNorm" for kind in type(module).__mro__)


class SWALR(LRScheduler):
    """To the learning rate of averaging within `anneal_epochs`, then constant."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for lr, group in zip(one_per_group("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ArgumentValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ArgumentValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """How much of the way is done at a share of the time."""
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[Any]:
        """The rates for this epoch, from those of the epoch before."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=2,
            )
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        length = max(1, self.anneal_epochs)
        before = self.anneal_func(max(0, min(1, (step - 1) / length)))
        now = self.anneal_func(max(0, min(1, step / length)))
        lrs = []
        for group in self.optimizer.param_groups:
            lr, end = group["lr"], group["swa_lr"]
            start = end if before == 1 else (lr - before * end) / (1 - before)
            lrs.append(end * now + start * (1 - now))
        return lrs
