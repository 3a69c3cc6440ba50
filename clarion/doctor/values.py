"""Values of PyTorch's tensors and of what its nodes have saved, as NumPy arrays to be read only."""

from __future__ import annotations

import cmath
import contextlib
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch._C import DisableTorchFunction, TensorBase

from ..diagnose.engine import LOST
from . import later
from .nodes import View

_SUMMED = {kind: kind for kind in (torch.float32, torch.float64, torch.complex64, torch.complex128)}
_SUMMED |= {torch.float16: torch.float32, torch.bfloat16: torch.float32}
_SMALL_TYPES = (torch.float16, torch.bfloat16)
_BUFFER: tuple[type, ...] = (torch.nn.Buffer,) if hasattr(torch.nn, "Buffer") else ()  # since PyTorch 2.5
_requires_grad = TensorBase.requires_grad.__get__


def is_plain(t: Any) -> bool:
    """Has it values that can be read: no subclass with a meaning of its own, no meta tensor, nothing of functorch's?"""
    if type(t) is not torch.Tensor and type(t) is not torch.nn.Parameter and not isinstance(t, _BUFFER):
        return False
    return (
        t.layout is torch.strided and t.device.type != "meta" and not torch._C._functorch.is_functorch_wrapped_tensor(t)
    )


def checksum(t: Any) -> int | None:
    """A number that other values would not have; None where there are too many to look at."""
    return zlib.crc32(array(t).tobytes()) if is_plain(t) and t.numel() <= 1 << 20 else None


_EMPTY = np.zeros(0, np.float32)


def array(t: Any) -> Any:
    """The values; of bfloat16 and the like as float32. Empty, where there are none to read."""
    if not is_plain(t):
        return _EMPTY
    with DisableTorchFunction(), torch.no_grad(), _unwatched(t):
        found = t.detach()
        if found.is_conj() or found.is_neg():
            found = found.resolve_conj().resolve_neg()
        if found.device.type != "cpu":
            found = found.cpu()
        if found.dtype in _SMALL_TYPES or (found.dtype.is_floating_point and found.dtype.itemsize < 2):
            found = found.float()
        return found.numpy()


def some(t: Any, count: int) -> Any:
    """The values; of a device's about so many, evenly taken."""
    if not is_plain(t) or t.device.type == "cpu":
        return array(t)
    with DisableTorchFunction(), torch.no_grad():
        flat = t.detach().reshape(-1)
        return array(flat[:: max(1, flat.numel() // count)])


def samples_soon(tensors: list[Any], count: int) -> None:
    """Samples of PyTorch's tensors are read when they are needed."""


def finite_soon(values: Any) -> None:
    """PyTorch's engine looks at the values of a device by itself, and later."""


def letter(numbers: list[Any]) -> Any:
    """Nothing is sent: see `finite_soon`."""
    raise NotImplementedError


@contextlib.contextmanager
def _unwatched(t: Any) -> Iterator[None]:
    """Reading values waits for a GPU: not an error of the program, if it has asked to be told of such.

    Where it has not, the mode is left alone: setting it makes PyTorch warn once that it is a prototype.
    """
    mode = torch.cuda.get_sync_debug_mode() if t.device.type == "cuda" else 0
    if mode == 0:
        yield
        return
    torch.cuda.set_sync_debug_mode(0)
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode(mode)


def number(t: Any) -> float:
    """The one value of a tensor; of a GPU's, the last one that has arrived from there."""
    if type(t) is torch.Tensor and t.is_cpu:
        try:
            found = t.item()  # what a handler computes is not heard: `telling.tell`
        except RuntimeError:  # it has no values: functorch's, or a fake one
            return 0.0
        return found.real if isinstance(found, complex) else found
    if late(t):
        with DisableTorchFunction(), torch.no_grad():
            found = later.post.read("loss", t.detach())
        return found[0] if found else 0.0
    found = array(t)
    return float(found.reshape(-1)[0].real) if found.size else 0.0


def late(t: Any) -> bool:
    """Is `number(t)` that of an earlier step? On a GPU, unless the session listens closely."""
    return t.device.type == "cuda" and not later.close and is_plain(t)


def squares(gradients: list[Any]) -> list[float | None]:
    """The squared norm of each; None of what cannot be read."""
    if not gradients:
        return []
    with DisableTorchFunction(), torch.no_grad():
        plain = [g.detach() if is_plain(g) else _elements(g) for g in gradients]
        if all(g is not None and g.device.type == "cuda" for g in plain):
            return _squares_of_gpu(plain)
        return [None if g is None else float(_square(g)) for g in plain]


def _elements(g: Any) -> Any:
    """The elements of a sparse gradient, each once; None of anything else."""
    if type(g) is torch.Tensor and g.layout is torch.sparse_coo and g.device.type == "cpu":
        return g.detach().coalesce().values()
    return None


def _squares_of_gpu(gradients: list[Any]) -> list[float | None]:
    """In one go; unless the session listens closely, those of an earlier step."""
    norms = torch.stack([n.double() for n in torch._foreach_norm([g.float() for g in gradients])]) ** 2
    if not later.close:
        found = later.post.read("squares", norms)
        if found is not None:
            return found
    with _unwatched(norms):
        read: list[float | None] = norms.tolist()
    later.post.know("squares", norms, read)
    return read


def _square(g: Any) -> Any:
    if g.dtype in (torch.float32, torch.float64) and g.device.type == "cpu":
        flat = g.reshape(-1)
        return torch.dot(flat, flat).item()
    wide = torch.linalg.vector_norm(g, dtype=torch.complex128 if g.is_complex() else torch.float64) ** 2
    return wide.item() if g.device.type == "cpu" else wide


def all_finite(t: Any) -> bool:
    """Are all elements finite?"""
    if not is_plain(t):
        return True
    with DisableTorchFunction(), torch.no_grad(), _unwatched(t):
        plain = t.detach()
        # The sum of finite elements mostly is finite, that of others never: a tenth of what looking at each costs.
        if plain.dtype in _SUMMED and cmath.isfinite(plain.sum(dtype=_SUMMED[plain.dtype]).item()):
            return True
        return bool(torch.isfinite(plain).all())


def address(t: Any) -> int:
    """Where its memory begins."""
    try:
        return int(t.data_ptr())
    except (RuntimeError, NotImplementedError):
        return id(t)


def storage(t: Any) -> int:
    """Where the memory begins that it is a part of; 0 if it has none."""
    try:
        return int(t.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError):
        return 0


# What nodes have saved -------------------------------------------------------------------------------

# What a node calls its inputs, in the order of its edges.
_INPUTS: dict[str, tuple[str, ...]] = {
    "AddmmBackward0": ("self", "mat1", "mat2"),
    "BaddbmmBackward0": ("self", "batch1", "batch2"),
    "MmBackward0": ("self", "mat2"),
    "BmmBackward0": ("self", "mat2"),
    "MvBackward0": ("self", "vec"),
    "DotBackward0": ("self", "tensor"),
    "AddcmulBackward0": ("self", "tensor1", "tensor2"),
    "AddcdivBackward0": ("self", "tensor1", "tensor2"),
    "ConvolutionBackward0": ("input", "weight", "bias"),
    "NativeLayerNormBackward0": ("input", "weight", "bias"),
    "NativeBatchNormBackward0": ("input", "weight", "bias"),
    "NativeGroupNormBackward0": ("input", "weight", "bias"),
    "MseLossBackward0": ("self", "target"),
    "L1LossBackward0": ("self", "target"),
    "SmoothL1LossBackward0": ("self", "target"),
    "BinaryCrossEntropyBackward0": ("self", "target"),
    "BinaryCrossEntropyWithLogitsBackward0": ("self", "target"),
    "PowBackward1": ("self", "exponent"),
    "PowBackward2": ("exponent",),
    "XlogyBackward0": ("self", "other"),
    "WhereBackward0": (),
    "LerpBackward1": ("self", "end", "weight"),
}
_DEFAULT = ("self", "other")
_RESULTS = ("result", "output", "result0", "out")


def saved(view: View, name: str) -> Any:
    """A saved value, or LOST: it was not kept, or is gone."""
    if view.fn is None or view.hooked:
        return LOST
    try:
        return getattr(view.fn, f"_saved_{name}", LOST)
    except RuntimeError:  # freed, or overwritten since
        return LOST


def saved_tensors(view: View) -> Iterator[tuple[str, Any]]:
    """All saved tensors, by name; may raise what PyTorch says of values that are gone or overwritten."""
    fn = view.fn
    if fn is None or view.hooked:
        return
    if isinstance(fn, torch.autograd.function.BackwardCFunction):
        yield from ((str(i), t) for i, t in enumerate(fn.saved_tensors) if t is not None)
        return
    for name in dir(fn):
        if name.startswith("_saved_"):
            value = getattr(fn, name)
            if isinstance(value, torch.Tensor):
                yield name[7:], value
            elif isinstance(value, tuple):
                yield from ((f"{name[7:]}.{i}", each) for i, each in enumerate(value) if isinstance(each, torch.Tensor))


def operands(view: View) -> list[Any]:
    """Per input its value, or LOST."""
    names = () if view.op is None else _INPUTS.get(view.title, _DEFAULT)
    if view.folded:
        names = ("mat1", "weight", "bias") if view.title == "AddmmBackward0" else ("self", "weight")
    found: list[Any] = []
    for i, edge in enumerate(view.edges):
        if isinstance(edge, torch.Tensor):
            found.append(array(edge))
            continue
        value = saved(view, names[i]) if i < len(names) else LOST
        if value is None:
            value = LOST
        if value is LOST and i == 0 and isinstance(sizes := saved(view, "self_sym_sizes"), tuple) and 0 in sizes:
            value = np.empty(sizes, np.float32)  # nothing was kept of nothing
        found.append(array(value) if isinstance(value, torch.Tensor) else value)
    if len(found) == 1 and len(view.edges) == 1 and view.op is not None and view.op.broadcast:
        other = saved(view, "other")  # a number, or a tensor without a gradient
        if other is not LOST and other is not None:
            found.append(array(other) if isinstance(other, torch.Tensor) else other)
    return found


def kept(view: View) -> Iterator[tuple[tuple[Any, int], Any]]:
    """What it has saved of outputs: its own, and those of the nodes before it."""
    if view.op is None:
        return
    numbers = view.nrs or ()
    for i, (edge, value) in enumerate(zip(view.edges, operands(view), strict=False)):
        if type(edge) is View and isinstance(value, np.ndarray):
            yield (edge, numbers[i] if i < len(numbers) else 0), value
    for name in _RESULTS:
        value = saved(view, name)
        if isinstance(value, torch.Tensor):
            yield (view, 0), array(value)
            return


def compute(view: View, given: list[Any]) -> list[Any] | None:
    """Its outputs, computed again, where its inputs are all known."""
    name = "" if view.op is None else view.op.name
    function = _AGAIN.get(name)
    if function is None or any(value is LOST for value in given):
        return None
    try:
        with DisableTorchFunction(), torch.no_grad():
            tensors = [torch.from_numpy(np.array(v)) if isinstance(v, np.ndarray) else v for v in given]
            result = function(view, *tensors)
            return [result.numpy()]
    except Exception:
        return None


def _simple(name: str) -> Any:
    function = getattr(torch, name)
    return lambda view, *inputs: function(*inputs)


def _dimmed(name: str) -> Any:
    function = getattr(torch, name)

    def again(view: View, x: Any) -> Any:
        dim = saved(view, "dim")
        return function(x, dim) if dim is not LOST else function(x)

    return again


_AGAIN: dict[str, Any] = {
    name: _simple(name)
    for name in (
        *(
            "exp",
            "exp2",
            "expm1",
            "log",
            "log2",
            "log10",
            "log1p",
            "sqrt",
            "rsqrt",
            "reciprocal",
            "abs",
            "sin",
            "cos",
            "tan",
        ),
        *(
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "acosh",
            "atanh",
            "sigmoid",
            "relu",
            "neg",
            "mul",
            "div",
        ),
        *("mm", "bmm", "mv", "dot", "addmm", "maximum", "minimum", "atan2", "hypot", "erfinv", "lgamma", "xlogy"),
    )
}
_AGAIN |= {
    "add": lambda view, x, y: torch.add(x, y, alpha=saved(view, "alpha") if saved(view, "alpha") is not LOST else 1),
    "sub": lambda view, x, y: torch.sub(x, y, alpha=saved(view, "alpha") if saved(view, "alpha") is not LOST else 1),
    "pow_scalar": lambda view, x: torch.pow(x, saved(view, "exponent")),
    "linear": lambda view, x, w, b=None: torch.nn.functional.linear(x, w, b),
    "softmax": _dimmed("softmax"),
    "log_softmax": _dimmed("log_softmax"),
    "sum_all": lambda view, x: x.sum(),
    "mean_all": lambda view, x: x.mean(),
}


def saved_values(view: View) -> Iterator[tuple[str, Any]]:
    """What it has saved, as "input" or "output"."""
    for value in operands(view):
        if value is not LOST:
            yield "input", value
    for name in _RESULTS:
        value = saved(view, name)
        if isinstance(value, torch.Tensor):
            yield "output", array(value)


def saved_memory(view: View) -> Iterator[tuple[Any, int, bool]]:
    """The memory that it keeps."""
    with contextlib.suppress(RuntimeError):
        for _, t in saved_tensors(view):
            if is_plain(t):
                storage = t.untyped_storage()
                yield storage.data_ptr(), storage.nbytes(), t.grad_fn is not None or not _requires_grad(t)


def is_freed(view: View) -> bool:
    """Has a backward pass released what it had saved?"""
    try:
        if view.whole is not None:
            view.whole.saved_tensors  # noqa: B018  (raises)
            return False
        for _ in saved_tensors(view):
            return False
    except RuntimeError as error:
        return "second time" in str(error)
    return False


def firing(view: View) -> Any:
    """Of a ReLU or the like: values that are above 0 where it lets through."""
    name = "" if view.op is None else view.op.name
    found = None
    if not later.close and torch.cuda.is_initialized():
        return None  # reading it would wait for the GPU
    if name == "relu":
        found = saved(view, "result")
    elif name == "threshold" and _is_zero(saved(view, "threshold")):
        found = saved(view, "self") if saved(view, "self") is not LOST else saved(view, "result")
    elif (name in ("clamp", "clamp_min") and _is_zero(saved(view, "min"))) or (
        name == "hardtanh" and _is_zero(saved(view, "min_val"))
    ):
        found = saved(view, "self")
    elif name == "maximum":
        both = [saved(view, "self"), saved(view, "other")]
        if any(_is_zeros(value) for value in both):
            found = next((value for value in both if not _is_zeros(value)), None)
    return array(found) if isinstance(found, torch.Tensor) and found.dim() else None


def _is_zero(bound: Any) -> bool:
    return isinstance(bound, (int, float)) and bound == 0


def _is_zeros(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and not _requires_grad(value) and not array(value).any()


def dimension(view: View) -> Any:
    """The dimension that a softmax runs over."""
    return saved(view, "dim")
