"""Parameters and buffers: tensors that a Module registers when they are assigned to it."""

from __future__ import annotations

from typing import Any

from .. import __future__ as future
from ..core import modes
from ..core.description import computes
from ..core.devices import find, home, kind_of
from ..core.dtypes import checked, default_float
from ..core.overriding import disabled
from ..core.swapping import swap_tensors
from ..core.tensor import Tensor, make_subclass, new_tensor
from ..errors import ArgumentValueError, EngineError, ShapeError
from ..events import hub
from ..kernels.held import hold_also

__all__ = [
    "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy",
]  # fmt: skip


def empty_tensor(shape: tuple[int, ...] = (0,), dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor whose values are still to be drawn, on the device that was named, or where new tensors are made."""
    where = home() if device is None else find(device)
    if min(shape, default=0) < 0:
        raise ShapeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    return new_tensor(where.xp.empty(shape, default_float() if dtype is None else checked(dtype).numpy))


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    # A tensor that was marked as parameter (by a subclass of Tensor) counts as one.
    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and instance._is_parameter


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that is trained: a Module lists it among its `parameters()`."""

    __slots__ = ()
    __torch_function__ = disabled
    _is_parameter = True

    def __new__(cls, data: Any = None, requires_grad: bool = True, **kept: Any) -> Parameter:
        # Libraries make a parameter anew from the attributes of another (`vars(old)`): our own are left behind.
        if kept.keys() - {"_story", "_grad", "_hooks", "_number"}:
            raise TypeError(f"Parameter.__new__() got an unexpected keyword argument {next(iter(kept))!r}")
        if data is None:
            data = empty_tensor()
        if type(data) is not Tensor and not issubclass(type(data), (Parameter, Buffer)):
            return _marked(data, requires_grad)
        made: Parameter = make_subclass(cls, data, requires_grad)
        if hub.made is not None:
            hub.made(made)
        if hub.entered is not None and data._edge is not None:
            hub.entered(made, data)
        return made

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return "Parameter containing:\n" + super().__repr__()


hold_also(Parameter)


def _marked(data: Any, requires_grad: bool) -> Any:
    """A tensor of a class of its own stays one; it is marked as a parameter."""
    made = data.detach().requires_grad_(requires_grad)
    if type(made) is not type(data):
        raise EngineError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an instance "
            f"of the same type, but return type {type(made).__name__} was found instead. To use the type as a Parameter, "
            "please correct the detach() semantics defined by its __torch_dispatch__() implementation."
        )
    made._is_parameter = True
    return made


class _BufferMeta(type(Tensor)):  # type: ignore[misc]
    # Buffers are tensors of any class that were marked as such.
    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that belongs to a Module's state but is not trained; `persistent` ones are saved with it."""

    __slots__ = ()
    __torch_function__ = disabled
    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        made = empty_tensor() if data is None else data.detach().requires_grad_(data.requires_grad)
        made.persistent, made._is_buffer = persistent, True
        return made


# Parameters without a shape ------------------------------------------------------------------------

_slot = Tensor._array  # the descriptor: what follows hides it


def _promised(name: str) -> Any:
    """An attribute that is known before the shape is."""
    return property(lambda self: getattr(self._placeholder(), name))


class UninitializedTensorMixin:
    """A tensor whose shape is not known yet. Using it is refused until `materialize`."""

    __slots__ = ()
    cls_to_become: Any = None

    def _refuse(self) -> Any:
        raise ArgumentValueError(
            "Attempted to use an uninitialized parameter in an operation. This error happens when you are using a "
            "`LazyModule` or explicitly manipulating `torch.nn.parameter.UninitializedParameter` objects. When using "
            "LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch functions"
        )

    _array = property(_refuse, lambda self, value: _slot.__set__(self, value))

    @property
    def shape(self) -> Any:
        """Refused: there is none yet."""
        raise EngineError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` to "
            "initialize the parameters before accessing their attributes."
        )

    def _placeholder(self) -> Tensor:
        return new_tensor(_slot.__get__(self))

    dtype, device, layout, itemsize = (
        _promised("dtype"),
        _promised("device"),
        _promised("layout"),
        _promised("itemsize"),
    )
    is_cpu, is_cuda, is_meta = _promised("is_cpu"), _promised("is_cuda"), _promised("is_meta")
    # What PyTorch shows: a tensor of no elements, which may be filled with anything (an initialisation by hand).
    ndim, nbytes, T = _promised("ndim"), _promised("nbytes"), _promised("T")
    data = property(lambda self: self._placeholder(), lambda self, value: Tensor.data.__set__(self, value))  # type: ignore[attr-defined]

    def is_floating_point(self) -> bool:
        """Will its elements be floating-point numbers?"""
        return bool(self._placeholder()._array.dtype.kind == "f")

    def is_complex(self) -> bool:
        """Will its elements be complex numbers?"""
        return bool(self._placeholder()._array.dtype.kind == "c")

    def convert(self, fn: Any) -> None:
        """Change the type: what `Module.to` does."""
        _slot.__set__(self, fn(self._placeholder())._array)

    def share_memory_(self) -> Any:
        """Refused: there is no memory yet."""
        raise EngineError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary parameter (or buffer) of this shape, with any values."""
        blank = _slot.__get__(self)
        where = kind_of(blank) if device is None else find(device)
        size = (shape,) if isinstance(shape, int) else tuple(shape)
        _slot.__set__(self, where.xp.empty(size, blank.dtype if dtype is None else checked(dtype).numpy))
        self.__class__ = self.cls_to_become

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, proto: Any) -> Any:
        return type(self), (self.requires_grad,)  # type: ignore[attr-defined]

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = type(self)(requires_grad=self.requires_grad, device=self.device, dtype=self.dtype)  # type: ignore[attr-defined, call-arg]
        memo[id(self)] = made
        return made


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet."""

    __slots__ = ()
    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        made = make_subclass(Parameter, empty_tensor((0,), dtype, device), requires_grad)
        made.__class__ = cls
        return made

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        pass

    __repr__ = UninitializedTensorMixin.__repr__


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet."""

    __torch_function__ = disabled

    __slots__ = ()
    cls_to_become = Tensor
    _is_buffer = True

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        made: Any = empty_tensor((0,), dtype, device)
        made._rg = requires_grad
        made.__class__ = cls
        return made

    def __init__(
        self, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> None:
        pass

    __repr__ = UninitializedTensorMixin.__repr__


def converted(param: Any, fn: Any) -> Any:
    """A parameter with the data that `fn` makes of its own, and its gradient likewise.

    It stays the same object unless it comes from the meta device or goes there, or becomes sparse: data cannot be put under
    it then. Where parameters are swapped (`torch.__future__`) it always does.
    What `fn` wraps into a tensor of a class that computes for itself takes the parameter's place under its name.
    """
    if is_lazy(param):
        param.convert(fn)
        return param
    grad = param._grad
    with modes.no_grad():
        data, new_grad = fn(param), None if grad is None else fn(grad)
    # (A tensor that wraps others has no memory that could be put under this one.)
    if future.conversion.swaps or computes(type(data)):
        param._grad = None
        swap_tensors(param, Parameter(data, param.requires_grad))
        if future.conversion.swaps and new_grad is not None and new_grad is not grad:
            swap_tensors(grad, new_grad)
            new_grad = grad
        param._grad = new_grad
        return param
    alike = data.is_meta == param.is_meta and data.layout is param.layout
    if alike and not future.conversion.overwrites:
        param.data = data
        if grad is not None:
            grad.data = new_grad
        return param
    made = Parameter(data, param.requires_grad)
    if new_grad is not None:
        made.grad = new_grad
    return made


def is_lazy(param: Any) -> bool:
    """Is the shape of a parameter or buffer not known yet?"""
    return isinstance(param, UninitializedTensorMixin)
