"""Converting a module: its parameters, gradients and buffers to another type or device."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ...core.devices import device as Device
from ...core.dtypes import dtype as DType
from ...core.dtypes import meant, memory_format
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, EngineError, NoDataError
from ...ops.creation.questions import typename
from ...ops.faces.api import FUNCTIONS
from ..parameter import converted, is_lazy


class ConversionMixin:
    """`to`, `float`, `cuda` and their kin."""

    _parameters: Any
    _buffers: Any
    _modules: Any
    children: Callable[..., Any]

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Any:
        """Replace the data of all parameters, gradients and buffers by what `fn` makes of it."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is not None:
                self._parameters[name] = converted(param, fn)
        for name, buffer in self._buffers.items():
            if is_lazy(buffer):
                buffer.convert(fn)  # type: ignore[union-attr]
            elif buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Move or convert all parameters and buffers: `to(dtype)`, `to(device)`, `to(device, dtype)`, `to(tensor)`."""
        args = tuple([meant(each) for each in args])
        kwargs = {name: meant(each) for name, each in kwargs.items()}
        _check_to(args, kwargs)
        wanted = kwargs.get("dtype") or next((a for a in args if isinstance(a, DType)), None)
        if args and isinstance(args[0], Tensor):
            wanted, args = args[0].dtype, (args[0].device, *args[1:])
        if wanted is not None:
            if not (wanted.is_floating_point or wanted.is_complex):
                raise ArgumentTypeError(
                    f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={wanted}"
                )
            if wanted.is_complex:
                warnings.warn(
                    "Complex modules are a new feature under active development whose design may change, and some modules "
                    "might not work as expected when using complex tensors as parameters or buffers.",
                    UserWarning,
                    stacklevel=2,
                )
        device_only = tuple(a for a in args if not isinstance(a, DType))
        rest = {k: v for k, v in kwargs.items() if k not in ("dtype", "memory_format")}
        layout = kwargs.get("memory_format")

        def convert(t: Any) -> Any:
            moved = plain(t)
            return moved.to(memory_format=layout) if layout is not None and t.dim() in (4, 5) else moved

        def plain(t: Any) -> Any:
            if t.is_floating_point() or t.is_complex():
                return t.to(*device_only, dtype=wanted, **rest) if wanted is not None else t.to(*device_only, **rest)
            return t.to(*device_only, **rest) if device_only or rest else t

        try:
            return self._apply(convert)
        except NoDataError as error:
            raise NoDataError(
                "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
                "torch.nn.Module.to() when moving module from meta to a different device."
            ) from error

    def type(self, dst_type: Any) -> Any:
        """Convert all parameters and buffers."""
        return self._apply(lambda t: t.type(dst_type))

    def cpu(self) -> Any:
        """Everything to the CPU."""
        return self._apply(lambda t: t.cpu())

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Everything anew on a device, with any values."""
        return self._apply(lambda t: FUNCTIONS["empty_like"](t, device=device), recurse)

    def share_memory(self) -> Any:
        """Everything into shared memory."""
        for tensor in (*self.parameters(), *self.buffers()):  # type: ignore[attr-defined]
            if is_lazy(tensor):
                tensor.share_memory_()  # refuses
        return self._apply(lambda t: t.share_memory_())

    def _replicate_for_data_parallel(self) -> Any:
        """A copy without parameters of its own, which is given those of another device."""
        replica = type(self).__new__(type(self))
        replica.__dict__ = self.__dict__.copy()
        replica._parameters = {}
        replica._buffers, replica._modules = self._buffers.copy(), self._modules.copy()
        replica.__dict__["_is_replica"] = True
        return replica


def _check_to(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse what `Module.to` does not take: it is `Tensor.to` without `copy`."""
    if "copy" in kwargs:
        raise EngineError(".to() does not accept copy argument")
    first = args[0] if args else kwargs.get("device", kwargs.get("tensor"))
    known = first is None or (isinstance(first, (str, int, Device, DType, Tensor)) and not isinstance(first, bool))
    known = known and isinstance(kwargs.get("memory_format"), memory_format | None)
    known = known and kwargs.keys() <= {"device", "dtype", "tensor", "non_blocking", "memory_format"}
    after = args[1:]
    if after and (first is None or isinstance(first, (str, int, Device))):
        known = known and (after[0] is None or isinstance(after[0], DType))
        after = after[1:]
    if not known or len(after) > 2 or any(not isinstance(each, bool) for each in after):
        given = [typename(each) for each in args] + [f"{name}={typename(each)}" for name, each in kwargs.items()]
        raise ArgumentTypeError(
            f"to() received an invalid combination of arguments - got ({', '.join(given)}), but expected one of:\n"
            " * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, *, memory_format)\n"
            " * (torch.dtype dtype, bool non_blocking = False, *, memory_format)\n"
            " * (Tensor tensor, bool non_blocking = False, *, memory_format)"
        )


def _mover(name: str) -> Callable[..., Any]:
    def move(self: ConversionMixin, device: Any = None) -> Any:
        return self._apply(lambda t: getattr(t, name)(device))

    move.__name__, move.__doc__ = name, f"Everything to a device of kind {name!r}."
    return move


def _caster(name: str) -> Callable[..., Any]:
    def cast(self: ConversionMixin) -> Any:
        return self._apply(lambda t: getattr(t, name)() if t.is_floating_point() else t)

    cast.__name__, cast.__doc__ = name, f"Floating parameters and buffers: {name}()."
    return cast


for _name in ("cuda", "xpu", "ipu"):
    setattr(ConversionMixin, _name, _mover(_name))
for _name in ("float", "double", "half", "bfloat16"):
    setattr(ConversionMixin, _name, _caster(_name))
