"""Pruning: a parameter times a mask of zeros and ones, computed before each forward pass."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator
from typing import Any

from ...core import modes
from ...errors import ArgumentIndexError, ArgumentTypeError, ArgumentValueError
from ...ops.faces.api import FUNCTIONS
from .convert_parameters import parameters_to_vector


class BasePruningMethod:
    """A way to choose what is pruned; on a module it is a hook. Subclasses define `compute_mask` and PRUNING_TYPE."""

    _tensor_name: str
    PRUNING_TYPE = "unstructured"

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask of a tensor with these values, of which `default_mask` is what is left already."""
        raise NotImplementedError

    def apply_mask(self, module: Any) -> Any:
        """The pruned tensor."""
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prune a parameter, after what was pruned before."""
        method = _joined(module, cls(*args, **kwargs), name)
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got "
                f"{importance_scores.shape} vs {original.shape}"
            )
        first = not isinstance(method, PruningContainer)
        if first:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            left = FUNCTIONS["ones_like"](original)
        else:
            left = getattr(module, name + "_mask").detach().clone()
        try:
            with modes.no_grad():
                mask = method.compute_mask(importance_scores, default_mask=left)
        except Exception:
            if first:
                module.register_parameter(name, original)
                del module._parameters[name + "_orig"]
            raise
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """A tensor, pruned."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as tensor t, got {importance_scores.shape} vs {t.shape}"
            )
        left = FUNCTIONS["ones_like"](t) if default_mask is None else default_mask
        return t * self.compute_mask(importance_scores, default_mask=left)

    def remove(self, module: Any) -> None:
        """Make the pruned values an ordinary parameter."""
        value = self.apply_mask(module)
        if hasattr(module, self._tensor_name):
            delattr(module, self._tensor_name)
        original = module._parameters.pop(self._tensor_name + "_orig")
        original.data = value.detach()
        del module._buffers[self._tensor_name + "_mask"]
        setattr(module, self._tensor_name, original)


def _joined(module: Any, method: Any, name: str) -> Any:
    """The new method, together with one that is there already."""
    method._tensor_name = name
    there = [
        k
        for k, hook in module._forward_pre_hooks.items()
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
    ]
    if len(there) > 1:
        raise AssertionError(
            f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a PruningContainer."
        )
    if not there:
        return method
    old = module._forward_pre_hooks.pop(there[0])
    container = old if isinstance(old, PruningContainer) else PruningContainer(old)
    container.add_pruning_method(method)
    return container


class PruningContainer(BasePruningMethod):
    """Several methods, one after the other."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add one more."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise ArgumentTypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ArgumentValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer "
                f"{self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The last method's mask, of what the others left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype).clone()
        part = _left_by_others(method, t, mask)
        chosen = method.compute_mask(t[part], default_mask=mask[part])
        mask[part] = chosen.to(dtype=mask.dtype)
        return mask


def _left_by_others(method: Any, t: Any, mask: Any) -> Any:
    """An index of the part of a tensor that a method may look at."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "global":
        return (slice(None),) * t.dim()
    if method.PRUNING_TYPE != "structured":
        raise ArgumentValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    if not hasattr(method, "dim"):
        raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
    dims = t.dim()
    dim = method.dim if method.dim >= 0 else method.dim + dims
    if dim < 0:
        raise ArgumentIndexError(f"Index is out of bounds for tensor with dimensions {dims}")
    others = [d for d in range(dims) if d != dim]
    return (*(slice(None),) * dim, mask.sum(others) != 0, *(slice(None),) * (dims - dim - 1))


class Identity(BasePruningMethod):
    """Prunes nothing."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask as it is."""
        return default_mask


def _validate_pruning_amount_init(amount: Any) -> None:
    """Refuse what is neither a number of elements nor a share of them."""
    if not isinstance(amount, numbers.Real):
        raise ArgumentTypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not isinstance(amount, numbers.Integral) and amount > 1.0):
        raise ArgumentValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
        )


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    """Refuse to prune more elements than there are."""
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ArgumentValueError(
            f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}"
        )


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    """How many elements to prune."""
    return int(amount) if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


class _Amount(BasePruningMethod):
    """A number of elements (or channels), or a share of them."""

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _count(self, size: int) -> int:
        _validate_pruning_amount(self.amount, size)
        return _compute_nparams_toprune(self.amount, size)


class RandomUnstructured(_Amount):
    """Prunes elements at random."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Zeros at random."""
        return _without(default_mask, self._count(t.numel()), lambda: FUNCTIONS["rand_like"](t), True)


class L1Unstructured(_Amount):
    """Prunes the elements that are nearest to zero."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Zeros at the smallest elements."""
        return _without(default_mask, self._count(t.numel()), lambda: t.abs(), False)


def _without(default_mask: Any, count: int, scores: Any, largest: bool) -> Any:
    mask = default_mask.clone()
    if count:
        worst = FUNCTIONS["topk"](scores().reshape(-1), k=count, largest=largest)
        mask.view(-1)[worst.indices] = 0
    return mask


class _Structured(_Amount):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _channels(self, t: Any) -> tuple[int, int]:
        """How many channels there are, and how many to prune."""
        if t.dim() <= 1:
            raise ArgumentValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise ArgumentIndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        return size, self._count(size)

    def _only(self, t: Any, kept: Any, default_mask: Any) -> Any:
        mask = FUNCTIONS["zeros_like"](t)
        dim = self.dim % t.dim()
        mask[(*(slice(None),) * dim, kept)] = 1
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_Structured):
    """Prunes whole channels at random."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Zeros in channels at random."""
        size, count = self._channels(t)
        if count == 0:
            return default_mask
        scores = FUNCTIONS["rand"](size)
        return self._only(t, scores > FUNCTIONS["kthvalue"](scores, k=count).values, default_mask)


class LnStructured(_Structured):
    """Prunes the channels with the smallest norms."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Zeros in the smallest channels."""
        size, count = self._channels(t)
        if count == 0:
            return default_mask
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        best = FUNCTIONS["topk"](FUNCTIONS["norm"](t, p=self.n, dim=others), k=size - count, largest=True)
        return self._only(t, best.indices, default_mask)


class CustomFromMask(BasePruningMethod):
    """Prunes what a given mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The given mask, on what is left."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: Any, name: str) -> Any:
    """Put a mask of ones on a parameter."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune elements at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prune the elements that are nearest to zero."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune whole channels at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None) -> Any:
    """Prune the channels with the smallest norms."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune what a mask says."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any) -> None:
    """Prune the elements of several parameters together, as if they were one."""
    if not isinstance(parameters, Iterable):
        raise ArgumentTypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise ArgumentTypeError("global_unstructured(): importance_scores must be of type dict")
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise ArgumentTypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type '
            f"{method.PRUNING_TYPE}"
        )
    pairs = [(module, name, getattr(module, name)) for module, name in parameters]
    method._tensor_name = "temp"
    with modes.no_grad():
        values = parameters_to_vector([scores.get((module, name), value) for module, name, value in pairs])
        left = parameters_to_vector(
            [getattr(module, name + "_mask", FUNCTIONS["ones_like"](value)) for module, name, value in pairs]
        )
        mask = PruningContainer(method).compute_mask(values, left)
    start = 0
    for module, name, value in pairs:
        custom_from_mask(module, name, mask[start : start + value.numel()].view_as(value))
        start += value.numel()


def remove(module: Any, name: str) -> Any:
    """Make the pruned values an ordinary parameter."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ArgumentValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Any) -> bool:
    """Is anything in a module pruned?"""
    return any(
        isinstance(hook, BasePruningMethod) for each in module.modules() for hook in each._forward_pre_hooks.values()
    )
