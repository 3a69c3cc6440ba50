"""Loss scaling: gradients that would vanish in float16 are computed larger, and divided before the step."""

from __future__ import annotations

import inspect
import math
import warnings
import weakref
from collections.abc import Iterable
from enum import Enum
from typing import Any

import numpy as np

from ..core import modes
from ..core.bulk import bump
from ..core.devices import is_available, kind_of, visible
from ..core.dtypes import f16, float16
from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentValueError, EngineError
from ..events import hub
from ..kernels.registry import raw
from ..kernels.unless import unless
from .unscaling import _amp_foreach_non_finite_check_and_unscale_


class OptState(Enum):
    """How far an optimizer is in this iteration."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class _Progress:
    """What is known of one optimizer since the last update(). `found_inf` may be a number of a device: see NOTE [Nobody waits]."""

    def __init__(self) -> None:
        self.stage = OptState.READY
        self.found_inf: Any = None
        self.late: _Late | None = None


# NOTE [Nobody waits]: whether a gradient was infinite is found out on the device. The step is made there unless it was, as the
# kernel sees for itself; the host goes on as if it was made. What it has counted is set back, and the scale adjusted, when the answer
# has arrived: it is read when the next step begins.


class _Late:
    """A step of which the host will hear later whether it was one."""

    def __init__(self, optimizer: Any, flag: Any) -> None:
        self.optimizer, self.before = weakref.ref(optimizer), optimizer.counted()
        self.letter = kind_of(flag).letter(flag)

    def was_none(self) -> bool:
        """Was it skipped? Then the counters are as before."""
        if not any(self.letter.read()):
            return False
        for counter, value in self.before:
            counter._array[...] = value
        optimizer = self.optimizer()
        if optimizer is not None and hub.step_skipped is not None:
            hub.step_skipped(optimizer)
        return True


class GradScaler:
    """GradScaler(device, …): `scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()`.

    A step is skipped if a gradient is infinite or NaN, and the scale shrinks by `backoff_factor`; after `growth_interval`
    steps without, it grows by `growth_factor`.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if device == "cuda" and enabled and not is_available("cuda"):
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)
            enabled = False
        self._device, self._enabled = device, enabled
        if enabled:
            if growth_factor <= 1.0:
                raise AssertionError("The growth factor must be > 1.0.")
            if backoff_factor >= 1.0:
                raise AssertionError("The backoff factor must be < 1.0.")
            self._init_scale = init_scale
            self._scale: Tensor | None = None  # made by the first scale()
            self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
            self._growth_interval = growth_interval
            self._init_growth_tracker = 0
            self._growth_tracker: Tensor | None = None
            self._progress: dict[int, _Progress] = {}
            self._unsettled: tuple[list[_Late], bool, bool] | None = (
                None  # late answers, known ones, is the scale to follow?
            )

    # One iteration -------------------------------------------------------------------------------

    def scale(self, outputs: Any) -> Any:
        """A tensor (or an iterable of them) times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._begun()
        if isinstance(outputs, Iterable):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled  # type: ignore[call-arg]
        raise ArgumentValueError("outputs must be a Tensor or an iterable of Tensors")

    def _settle(self) -> None:
        """Hear what the last step was, and let the scale follow."""
        if self._unsettled is not None:
            late, known, follows = self._unsettled
            self._unsettled = None
            found = [each.was_none() for each in late]
            if follows:
                self._adjust(self._scale._array, known or any(found))  # type: ignore[union-attr]

    def _begun(self) -> Tensor:
        self._settle()
        if self._scale is None:
            self._scale = new_tensor(np.array(self._init_scale, np.float32))
            self._growth_tracker = new_tensor(np.array(self._init_growth_tracker, np.int32))
        return self._scale

    def _checked(self, asked: str) -> Tensor:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {asked} but _scale is None.  This may indicate your script did not use scaler.scale(loss or "
                "outputs) earlier in the iteration."
            )
        return self._scale

    def _of(self, optimizer: Any) -> _Progress:
        return self._progress.setdefault(id(optimizer), _Progress())

    def unscale_(self, optimizer: Any) -> None:
        """Divide the optimizer's gradients by the scale, and look for infinities; step() does so if nobody did."""
        if not self._enabled:
            return
        self._settle()
        scale = self._checked("unscale_")
        progress = self._of(optimizer)
        if progress.stage is OptState.UNSCALED:
            raise EngineError("unscale_() has already been called on this optimizer since the last update().")
        if progress.stage is OptState.STEPPED:
            raise EngineError("unscale_() is being called after step().")
        inverse = new_tensor(np.asarray(1.0 / np.float64(scale._array), np.float32))
        progress.found_inf = self._unscale_grads(optimizer, inverse)
        progress.stage = OptState.UNSCALED

    def _unscale_grads_(
        self, optimizer: Any, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool
    ) -> dict[Any, Tensor]:
        """Divide an optimizer's gradients and say for each device whether one was infinite: for scalers made from this one."""
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if not allow_fp16 and any(grad.dtype is float16 for grad in grads):
            raise ArgumentValueError("Attempting to unscale FP16 gradients.")
        found: dict[Any, Tensor] = {}
        for grad in grads:
            flag = found.setdefault(grad.device, found_inf.to(grad.device))
            whole = grad._values() if grad.is_sparse else grad
            _amp_foreach_non_finite_check_and_unscale_([whole], flag, inv_scale.to(grad.device))
        return found

    def _unscale_grads(self, optimizer: Any, inverse: Tensor) -> Any:
        grads = [p._grad for group in optimizer.param_groups for p in group["params"] if p._grad is not None]
        if any(grad._array.dtype is f16 for grad in grads):
            raise ArgumentValueError("Attempting to unscale FP16 gradients.")
        found = False
        if grads and not any(visible(grad._array) for grad in grads):
            return _unscaled_elsewhere(grads, inverse)
        with modes.no_grad():
            for grad in grads:
                grad.mul_(inverse)
                found = found or not bool(np.isfinite(grad._array).all())
        return found

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """optimizer.step(*args, **kwargs), unless a gradient is infinite or NaN."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise EngineError("Closure use is not currently supported if GradScaler is enabled.")
        self._checked("step")
        progress = self._of(optimizer)
        if progress.stage is OptState.STEPPED:
            raise EngineError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            return self._step_of_its_own(optimizer, progress, args, kwargs)
        if progress.stage is OptState.READY:
            self.unscale_(optimizer)
        if not any(p._grad is not None for group in optimizer.param_groups for p in group["params"]):
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result, flag = None, progress.found_inf
        if type(flag) is not bool and getattr(optimizer, "can_be_undone", bool)():
            progress.late = _Late(optimizer, flag)
            unless.flag = flag
            try:
                result = optimizer.step(*args, **kwargs)
            finally:
                unless.flag = None
        elif not flag:
            result = optimizer.step(*args, **kwargs)
        elif hub.step_skipped is not None:
            hub.step_skipped(optimizer)
        progress.stage = OptState.STEPPED
        return result

    def _step_of_its_own(self, optimizer: Any, progress: _Progress, args: Any, kwargs: Any) -> Any:
        """The step of an optimizer that unscales for itself: it is told the scale, and whether a gradient is infinite."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn(
                "GradScaler is going to stop passing itself as a keyword argument to the passed optimizer. In the near "
                "future GradScaler registers `grad_scale: Tensor` and `found_inf: Tensor` to the passed optimizer and let "
                "the optimizer use them directly.",
                FutureWarning,
                stacklevel=3,
            )
            result = optimizer.step(*args, **{**kwargs, "grad_scaler": self})
        else:
            told = getattr(optimizer, "grad_scale", None)
            if progress.stage is OptState.READY:
                grads = [p._grad for group in optimizer.param_groups for p in group["params"] if p._grad is not None]
                progress.found_inf = not all(bool(grad.isfinite().all()) for grad in grads)
                told = self._checked("step") * (1 if told is None else told)
            optimizer.grad_scale = told
            optimizer.found_inf = new_tensor(np.array(bool(progress.found_inf), np.float32))
            result = optimizer.step(*args, **kwargs)
            del optimizer.grad_scale, optimizer.found_inf
        progress.stage = OptState.STEPPED
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """End the iteration: the scale shrinks, stays or grows; or it is set to `new_scale`."""
        if not self._enabled:
            return
        self._settle()
        scale = self._checked("update")
        late = [p.late for p in self._progress.values() if p.late is not None]
        if late:
            known = any(
                bool(p.found_inf) for p in self._progress.values() if p.late is None and p.found_inf is not None
            )
            self._unsettled = late, known, new_scale is None
            for each in late:
                optimizer = each.optimizer()
                if optimizer is not None:
                    optimizer._unsettled = self._settle
        if new_scale is not None:
            if isinstance(new_scale, Tensor) and (new_scale.numel() != 1 or new_scale.requires_grad):
                raise AssertionError(
                    "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
                    "requires_grad=False."
                )
            scale._array[...] = float(new_scale)
        elif not late:
            found = [p.found_inf for p in self._progress.values() if p.found_inf is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adjust(scale._array, any(map(bool, found)))
        self._progress = {}

    def _adjust(self, scale: Any, found_inf: bool) -> None:
        tracker: Any = self._growth_tracker._array  # type: ignore[union-attr]
        if found_inf:
            scale[...] = scale * np.float32(self._backoff_factor)
            tracker[...] = 0
            return
        tracker[...] = tracker + 1
        if tracker == self._growth_interval:
            with np.errstate(over="ignore"):
                grown = np.float32(scale * np.float32(self._growth_factor))
            if math.isfinite(grown):
                scale[...] = grown
            tracker[...] = 0

    # Settings ------------------------------------------------------------------------------------

    def get_scale(self) -> float:
        """The scale; 1 if scaling is off."""
        if not self._enabled:
            return 1.0
        self._settle()
        return self._init_scale if self._scale is None else float(self._scale.item())

    def get_growth_factor(self) -> float:
        """By how much the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set by how much the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """By how much the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set by how much the scale shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many good steps the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many good steps the scale grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        self._settle()
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def is_enabled(self) -> bool:
        """Is scaling on?"""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """What must be kept to continue; empty if scaling is off."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a state_dict()."""
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise EngineError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._settle()
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale._array[...] = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker._array[...] = state_dict["_growth_tracker"]

    def __getstate__(self) -> dict[str, Any]:
        if self._enabled and self._progress:
            raise AssertionError(
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after "
                "scaler.update()."
            )
        if self._enabled:
            self._settle()
        state = dict(self.__dict__)
        if self._enabled:
            state |= {"_init_scale": self.get_scale(), "_init_growth_tracker": self._get_growth_tracker()}
            state |= {"_scale": None, "_growth_tracker": None}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _unscaled_elsewhere(grads: list[Any], inverse: Tensor) -> Any:
    """On a device: all gradients in one launch, and another one to see whether they are finite. The answer stays there."""
    arrays = [grad._array for grad in grads]
    where = kind_of(arrays[0])
    raw.scale_all(arrays, where.receive(inverse._array))
    bump(grads)
    squares = raw.squares_of_all(arrays)
    if type(squares) is list:
        return not all(map(math.isfinite, squares))
    return where.xp.logical_not(where.xp.isfinite(squares)).any().astype(np.int32).reshape(1)
