"""The Tensor: an array, its place in the graph, its gradient, and who shares its memory.

Operations are put on it by `ops/faces/api.py`; what stands here is storage, views, versions and autograd state.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import errors
from ..events import hub
from ..kernels.batched.levels import Mapped
from ..kernels.coo import Coo
from ..kernels.random import torch_names
from . import messages, modes, origins, provenance
from .description import Description, computes
from .devices import kind_of
from .dtypes import FROM_NUMPY, INEXACT, dtype
from .hooks import NodeHooks, RemovableHandle
from .versions import INFERENCE, Claim, Turned, VersionCounter, View

if TYPE_CHECKING:
    from .methods import Methods  # a stub: what operations add to the class
    from .node import Node
else:
    Methods = object


OWN = object()  # stands in `_grad_dtype`: the type of the tensor itself


class Tensor(Description, Methods):
    """A multi-dimensional array that can record what is done to it."""

    # _array  the data          _edge  the node that made it (None: a leaf)    _nr    which of the node's outputs
    # _rg     requires grad     _vc    version counter, made when first needed _view  View or None
    # Few tensors have these, so they are no slots: _grad the gradient, _hooks those of a leaf, _story.
    __slots__ = ("__dict__", "__weakref__", "_array", "_edge", "_nr", "_rg", "_vc", "_view")

    _array: Any
    _edge: Any
    _nr: int
    _rg: bool
    _grad: Tensor | None = None
    _vc: VersionCounter | None
    _view: View | None
    _hooks: NodeHooks | None = None
    _grad_dtype: Any = OWN  # of its gradient, where it was told: a dtype, or None for any
    _story: Any = None  # of a leaf: what the diagnoses know of it (diagnose/books/ledger.py)

    __array_priority__ = 1000
    _is_parameter = False
    seq = None  # of a leaf at the end of an edge: it is no node
    n_out = 0
    _widens = False

    def __new__(cls, *args: Any, **kwargs: Any) -> Tensor:
        from .constructor import construct

        return construct(cls, *args, **kwargs)  # type: ignore[no-any-return]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    @staticmethod
    def _make_subclass(cls: type, data: Tensor, require_grad: bool = False, **options: Any) -> Any:
        """A tensor of a subclass around the data of another."""
        return make_subclass(cls, data, require_grad)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Computes an operation as if no class did so for itself: what the `__torch_dispatch__` of a subclass may call."""
        return _wrapped().plainly(func, types, args, kwargs)

    __torch_dispatch__.__func__.is_disabled = True  # type: ignore[attr-defined]

    @staticmethod
    def _make_wrapper_subclass(cls: type, size: Any, *args: Any, **options: Any) -> Any:
        """A tensor of a class that computes for itself (`__torch_dispatch__`): a shape and a type, no memory."""
        return _wrapped().make(cls, size, *args, **options)

    __hash__ = object.__hash__  # by identity, though == compares elements

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        from .overriding import adopt, disabled

        if computes(cls) and getattr(cls.__torch_function__, "__func__", None) is Tensor.__torch_function__.__func__:  # type: ignore[attr-defined]
            cls.__torch_function__ = disabled  # type: ignore[method-assign]
        adopt(cls)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Takes a call over that has a tensor of a subclass among its arguments: the result is of that class, too."""
        from .overriding import by_default

        return by_default(cls, func, types, args, kwargs)

    # Graph state ---------------------------------------------------------------------------------

    @property
    def grad_fn(self) -> Node | None:
        """The node that computed this tensor; None for leaves."""
        if self._view is not None:
            from .following import sync

            sync(self)
        edge: Node | None = self._edge
        if edge is not None and edge.out_meta is None and edge.n_out == 1:
            edge.out_meta = ((self._array.shape, self._array.dtype),)  # whoever looks at a node may ask for it
        return edge

    @property
    def _grad_fn(self) -> Node | None:
        return self.grad_fn

    @_grad_fn.deleter
    def _grad_fn(self) -> None:
        raise errors.EngineError("Deletion of _grad_fn not allowed. Detach tensor instead!")

    @property
    def is_leaf(self) -> bool:
        """True for tensors that no recorded operation produced."""
        return self.grad_fn is None

    @property
    def output_nr(self) -> int:
        """Which output of its node this tensor is."""
        return self._nr

    @property
    def _base(self) -> Tensor | None:
        return self._view.base if self._is_view() else None  # type: ignore[union-attr]

    @property
    def _cdata(self) -> int:
        """What is one for a tensor and another for every other: libraries ask whether two names mean the same tensor."""
        return self.__dict__.get("_number") or id(self)

    def _is_view(self) -> bool:
        return self._view is not None and type(self._view) is not Turned

    def is_inference(self) -> bool:
        """Was it made in inference mode?"""
        return self._vc is INFERENCE

    @property
    def _version(self) -> int:
        if self._vc is INFERENCE:
            raise errors.EngineError("Inference tensors do not track version counter.")
        return 0 if self._vc is None else self._vc.n

    @property
    def requires_grad(self) -> bool:
        """Will operations on this tensor be recorded? A view says what its base says."""
        view = self._view
        if view is None or (self._rg and type(view) is not Claim):
            return self._rg
        return view.base._rg and self._array.dtype in INEXACT

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise errors.EngineError("requires_grad must be a bool")
        if value and self._edge is not None:
            raise errors.EngineError("you can only change requires_grad flags of leaf variables.")
        self._set_requires_grad(value, "only Tensors of floating point and complex dtype can require gradients")

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise errors.EngineError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad` in place."""
        if modes.state.transforms:
            raise messages.transformed("requires_grad_()", " (or perhaps using torch.autograd.functional.* APIs)")
        return self._requiring(requires_grad)

    def _requiring(self, requires_grad: bool = True) -> Tensor:
        """The same for the engine itself, inside transforms too."""
        self._set_requires_grad(requires_grad, "only Tensors of floating point dtype can require gradients")
        return self

    def _set_requires_grad(self, value: bool, type_phrase: str) -> None:
        value = bool(value)
        if self._vc is INFERENCE and value and not modes.state.inference:
            raise errors.EngineError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
            )
        if self._edge is not None:
            if value:
                return
            raise errors.EngineError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
                "subgraph that doesn't require differentiation use var_no_grad = var.detach().\n"
                f"It was computed at {provenance.text(self._edge.place)}."
            )
        if value and self._array.dtype not in INEXACT:
            raise errors.DtypeError(f"{type_phrase}\nThis tensor is {self.dtype}; convert it first: x.float().")
        self._rg = value
        if type(self._view) is Claim:
            self._view.__class__ = View  # type: ignore[assignment]  # (it says so for itself)
        if hub.flagged is not None:
            hub.flagged(self, value)

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient of a leaf (or of a tensor with `retain_grad()`)."""
        if self._grad is None and self._edge is not None and not self.retains_grad:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't "
                "be populated during autograd.backward(). If you indeed want the .grad field to be populated for a "
                "non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
                "mistake, make sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for "
                f"more informations.\nThis tensor was computed at {provenance.text(self._edge.place)}.",
                UserWarning,
                stacklevel=2,
            )
        if hub.looked is not None and self._grad is not None:
            hub.looked(self)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            self._check_grad(value)
        self._grad = value
        if hub.cleared is not None:
            if value is not None and hub.looked is not None:
                hub.looked(self)  # who puts another gradient in its place had a use for it
            hub.cleared((self,))

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    def _check_grad(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise errors.ArgumentTypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
            )
        if value is self:
            raise errors.EngineError("can't assign Variable as its own grad")
        if value._array.shape != self._array.shape:
            raise errors.EngineError(
                f"attempting to assign a gradient of size '{list(value._array.shape)}' to a tensor of size "
                f"'{list(self._array.shape)}'. Please ensure that the gradient and the tensor are the same size"
            )
        if kind_of(value._array) is not kind_of(self._array) and value.device.type != self.device.type:
            raise errors.EngineError(
                f"attempting to assign a gradient with device type '{value.device.type}' to a tensor with device type "
                f"'{self.device.type}'. Please ensure that the gradient and the tensor are on the same device"
            )
        wanted = FROM_NUMPY[self._array.dtype] if self._grad_dtype is OWN else self._grad_dtype
        if wanted is not None and value._array.dtype != wanted.numpy:
            raise errors.EngineError(
                f"attempting to assign a gradient with dtype '{torch_names(value._array.dtype)[1]}' to a tensor with grad_dtype "
                f"'{wanted.old}'. The gradient must match the tensor's grad_dtype (defaults to "
                "the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to "
                "allow any dtype."
            )

    @property
    def grad_dtype(self) -> Any:
        """The type of this leaf's gradient: its own unless it was set; None for any."""
        if self.grad_fn is not None:
            raise errors.EngineError("grad_dtype can only be accessed on leaf tensors.")
        return FROM_NUMPY[self._array.dtype] if self._grad_dtype is OWN else self._grad_dtype

    @grad_dtype.setter
    def grad_dtype(self, value: Any) -> None:
        if self.grad_fn is not None:
            raise errors.EngineError("grad_dtype can only be set on leaf tensors.")
        if value is not None and not isinstance(value, dtype):
            raise errors.EngineError(f"grad_dtype must be a torch.dtype or None, but got {type(value).__name__}")
        if value is not None and self._grad is not None and self._grad.dtype is not value:
            raise errors.EngineError(
                f"Cannot set grad_dtype to '{value.old}' because there is already a gradient with dtype "
                f"'{torch_names(self._grad._array.dtype)[1]}'. Please clear the gradient (.grad = None) before changing "
                "grad_dtype, or ensure the new grad_dtype matches the existing gradient's dtype."
            )
        self._grad_dtype = value
        self._leaf_hooks()  # leaves without hooks take the short way in leaves.py, which knows no types

    @property
    def retains_grad(self) -> bool:
        """Has `retain_grad()` been called on this non-leaf?"""
        edge = self._edge
        if edge is None or edge.hooks is None:
            return False
        kept = edge.hooks.retain.get(self._nr)
        return kept is not None and kept() is self

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in `.grad` after backward."""
        if not self.requires_grad:
            raise errors.EngineError("can't retain_grad on Tensor that has requires_grad=False")
        if modes.state.transforms:
            raise messages.transformed("retain_grad()")
        if self._edge is not None:
            self._edge._hooks().retain[self._nr] = weakref.ref(self)
            if hub.hooked is not None:
                hub.hooked(self)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call `hook(grad)` when the gradient of this tensor is known; it may return another gradient."""
        if not self.requires_grad:
            raise errors.EngineError("cannot register a hook on a tensor that doesn't require gradient")
        edge = self.grad_fn  # (of a view whose base was written since: the node that it has now)
        hooks = edge._hooks() if edge is not None else self._leaf_hooks()
        if hub.hooked is not None and edge is not None:
            hub.hooked(self)
        return hooks.add(hooks.of_output(self._nr), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call `hook(leaf)` after a gradient was accumulated into `leaf.grad`."""
        if not self.requires_grad:
            raise errors.EngineError("cannot register a hook on a tensor that doesn't require gradient")
        if self._edge is not None:
            raise errors.EngineError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        hooks = self._leaf_hooks()
        return hooks.add(hooks.post_accumulate, hook)

    def _leaf_hooks(self) -> NodeHooks:
        if self._hooks is None:
            self._hooks = NodeHooks(leaf=True)
        return self._hooks

    @property
    def _backward_hooks(self) -> Any:
        hooks = self._edge.hooks if self._edge is not None else self._hooks
        return None if hooks is None else hooks.tensor.get(self._nr)

    @_backward_hooks.setter
    def _backward_hooks(self, value: Any) -> None:
        hooks = self._edge._hooks() if self._edge is not None else self._leaf_hooks()
        hooks.tensor[self._nr] = {} if value is None else value

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise errors.EngineError("Deletion of _backwards_hooks not allowed!")

    @property
    def volatile(self) -> bool:
        """Gone: always False."""
        warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
        return False

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Differentiate this tensor with respect to the leaves it was computed from, adding to their `.grad`."""
        entry.backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    # Memory --------------------------------------------------------------------------------------

    def _counter(self) -> VersionCounter:
        """The version counter, made on first need."""
        if self._vc is None:
            self._vc = VersionCounter()
        return self._vc

    def detach(self) -> Tensor:
        """The same data outside the graph; shares memory and version counter."""
        result = new_tensor(self._array)
        result._vc = self._counter()
        if hub.left is not None and self._rg:
            hub.left(self, "detach")
        if hub.aliased is not None:
            hub.aliased(self, result)
        return result

    def detach_(self) -> Tensor:
        """Take this tensor itself out of the graph."""
        if type(self._view) is Turned:
            below = self._view.base
            below._edge, below._nr, below._rg = None, 0, False
        elif self._view is not None:
            raise messages.not_detached(self._view)
        if self._edge is not None:
            self._counter().watched = True  # whoever saved it will ask what has happened to it
        self._edge = None
        self._nr = 0
        self._rg = False
        self.__dict__.pop("_tangent", None)
        if hub.left is not None:
            hub.left(self, "detach_")
        return self

    @property
    def data(self) -> Tensor:
        """The same data outside the graph, with a version counter of its own: writes to it go unnoticed by backward."""
        if modes.batches and isinstance(self._array, Mapped):
            raise errors.EngineError("accessing `data` under vmap transform is not allowed")
        result = new_tensor(self._array)
        if self._vc is INFERENCE:
            result._vc = INFERENCE
        else:
            counter = self._counter()
            counter.watched = True
            result._vc = VersionCounter(shadow_of=counter)
        if hub.entered is not None:
            hub.entered(result, self)
        return result

    @data.deleter
    def data(self) -> None:
        raise errors.EngineError("Deleting tensor data is not allowed. Delete tensor instead!")

    @data.setter
    def data(self, value: Tensor) -> None:
        if modes.batches and isinstance(self._array, Mapped):
            raise errors.EngineError("mutating directly with `.data` under vmap transform is not allowed.")
        if not isinstance(value, Tensor):
            raise errors.ArgumentTypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self._rg and value._array.dtype not in INEXACT:
            raise errors.EngineError(
                "data set to a tensor that requires gradients must be floating point or complex dtype"
            )
        if value.is_meta != self.is_meta or (type(value._array) is Coo) != (type(self._array) is Coo):
            raise errors.EngineError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type.\n"
                f"One is on {str(self.device)!r}, the other on {str(value.device)!r}."
            )
        self._array = value._array
        if self._vc is not INFERENCE:
            self._counter().bump_silently(self._array, value._vc)
        if hub.wrote is not None:
            hub.wrote(self, "data")


new_object = object.__new__


def new_tensor(array: Any) -> Tensor:
    """A Tensor around an array, as it is: no copy, no graph."""
    tensor = new_object(Tensor)
    tensor._array = array
    tensor._edge = None
    tensor._nr = 0
    tensor._rg = False
    tensor._vc = None
    tensor._view = None
    return tensor


def _blank(tensor: Tensor, array: Any) -> None:
    tensor._array, tensor._nr, tensor._rg = array, 0, False
    tensor._edge = tensor._vc = tensor._view = None


def make_subclass(cls: type, data: Tensor, requires_grad: bool = False) -> Any:
    """A tensor of a subclass (Parameter, …) around the data of another; shares memory, no graph."""
    tensor: Tensor = new_object(cls)
    _blank(tensor, data._array)
    if computes(cls) or computes(type(data)):
        _wrapped().enlist(cls, data)
    if data._vc is INFERENCE:
        tensor._vc = INFERENCE
    elif data._vc is not None:
        tensor._vc = data._vc
    if requires_grad:
        if data._array.dtype not in INEXACT:
            raise errors.DtypeError("Only Tensors of floating point and complex dtype can require gradients")
        tensor._rg = True
    return tensor


def _wrapped() -> Any:
    from . import wrapped  # loaded with the first tensor that needs it

    return wrapped


def created(array: Any, requires_grad: bool = False) -> Tensor:
    """A new tensor for a factory: knows inference mode, checks that the type can require gradients."""
    tensor = new_tensor(origins.noted(array))
    if modes.special and modes.state.inference:
        tensor._vc = INFERENCE
    if requires_grad:
        if array.dtype not in INEXACT:
            raise errors.DtypeError(
                "Only Tensors of floating point and complex dtype can require gradients\n"
                f"The tensor would be {FROM_NUMPY[array.dtype]}: give it a floating dtype, e.g. dtype=torch.float32, or write 1. for 1."
            )
        tensor._rg = True
        if hub.flagged is not None:
            hub.flagged(tensor, True)
    return tensor


from . import backward as entry  # noqa: E402  (it needs Tensor)
