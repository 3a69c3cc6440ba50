"""`torch.autograd`: differentiate, and look after what is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import backward as _entry
from ..core import overriding
from ..core.modes import enable_grad as enable_grad
from ..core.modes import inference_mode as inference_mode
from ..core.modes import no_grad as no_grad
from ..core.modes import set_grad_enabled as set_grad_enabled
from ..core.saved import SavedTensor as SavedTensor
from ..core.tensor import Tensor
from ..errors import EngineError
from ..kernels.coo import Coo
from . import function as function
from . import grad_mode as grad_mode
from . import graph as graph
from .anomaly_mode import detect_anomaly as detect_anomaly
from .anomaly_mode import set_detect_anomaly as set_detect_anomaly
from .function import Function as Function

# Here, not at first use: importing the module later would put it in the place of the function.
from .grad_mode import _force_original_view_tracking as _force_original_view_tracking
from .grad_mode import _unsafe_preserve_version_counter as _unsafe_preserve_version_counter
from .grad_mode import enforce_grad_layout_policy as enforce_grad_layout_policy
from .grad_mode import is_multithreading_enabled as is_multithreading_enabled
from .grad_mode import is_view_replay_enabled as is_view_replay_enabled
from .grad_mode import set_multithreading_enabled as set_multithreading_enabled
from .gradcheck import gradcheck as gradcheck
from .gradcheck import gradgradcheck as gradgradcheck
from .variable import Variable as Variable

__all__ = [
    "Function", "Variable", "backward", "detect_anomaly", "enable_grad", "enforce_grad_layout_policy", "grad",
    "grad_mode", "gradcheck", "gradgradcheck", "inference_mode", "no_grad", "set_detect_anomaly",
    "set_grad_enabled", "set_multithreading_enabled", "variable",
]  # fmt: skip


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves they were computed from."""
    if grad_variables is not None:
        if grad_tensors is not None:
            raise EngineError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if inputs is not None and isinstance(inputs, (list, tuple)) and len(inputs) == 0:
        raise EngineError("`inputs` argument to `backward()` cannot be empty.")
    if Coo.met:
        tensors, grad_tensors = _of_values(tensors, grad_tensors)
    _entry.backward(tensors, grad_tensors, retain_graph, create_graph, inputs)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Gradients of `outputs` with respect to `inputs`, returned and not accumulated.

    `inputs` may be a tensor, a sequence, or a dictionary (then a dictionary of gradients is returned).
    With `is_grads_batched` the first dimension of each grad_output is a batch of vectors.
    """
    if overriding._below:  # somebody may take calls over
        asked = [tuple(g) if isinstance(g, (list, tuple)) else (g,) for g in (outputs, inputs)]
        if not any(_is_sparse(t) for group in asked for t in group) and overriding.wants((*asked[0], *asked[1])):
            more = {
                "grad_outputs": grad_outputs,
                "retain_graph": retain_graph,
                "create_graph": create_graph,
                "only_inputs": only_inputs,
                "allow_unused": allow_unused,
                "is_grads_batched": is_grads_batched,
                "materialize_grads": materialize_grads,
            }
            return overriding.dispatch(grad, overriding.takers((*asked[0], *asked[1])), tuple(asked), more)
    keys = None
    if isinstance(inputs, graph.GradientEdge):
        inputs = (inputs,)
    if isinstance(inputs, dict):
        keys, inputs = tuple(inputs), tuple(inputs.values())
    if Coo.met and not isinstance(inputs, (Tensor, graph.GradientEdge)):
        inputs = tuple(inputs)
    if Coo.met and any(_is_sparse(t) for t in ((inputs,) if isinstance(inputs, Tensor) else inputs)):
        rest = (
            grad_outputs,
            retain_graph,
            create_graph,
            only_inputs,
            allow_unused,
            is_grads_batched,
            materialize_grads,
        )
        given = (inputs,) if isinstance(inputs, Tensor) else inputs
        grads = grad(outputs, [t._held if _is_sparse(t) else t for t in given], *rest)
        results = tuple(
            t.gradient(g) if _is_sparse(t) and g is not None else g for t, g in zip(given, grads, strict=True)
        )
        return results if keys is None else dict(zip(keys, results, strict=True))
    if Coo.met:
        outputs, grad_outputs = _of_values(outputs, grad_outputs)
    if is_grads_batched:
        results = _batched(outputs, inputs, grad_outputs, create_graph, retain_graph, allow_unused, materialize_grads)
    else:
        results = _entry.gradients(
            outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads
        )
    return results if keys is None else dict(zip(keys, results, strict=True))


def _is_sparse(value: Any) -> bool:
    """A sparse tensor: its graph is that of its values."""
    return isinstance(value, Tensor) and type(value._array) is Coo


def _of_values(outputs: Any, gradients: Any) -> tuple[Any, Any]:
    """Outputs and the gradients that arrive there, with their values in the place of sparse tensors."""
    if isinstance(outputs, graph.GradientEdge):
        return outputs, gradients
    outputs = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    if not any(_is_sparse(t) for t in outputs):
        return outputs, gradients
    gradients = (gradients,) if gradients is None or isinstance(gradients, Tensor) else tuple(gradients)
    gradients += (None,) * (len(outputs) - len(gradients))
    pairs = [(t._held, t.arriving(g)) if _is_sparse(t) else (t, g) for t, g in zip(outputs, gradients, strict=True)]
    return tuple(t for t, _ in pairs), tuple(g for _, g in pairs)


def kineto_available() -> bool:
    """Is there PyTorch's profiling library? There is not: `profiler` is clarion's own."""
    return False


def _batched(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any,
    create_graph: bool,
    retain: bool | None,
    unused: bool | None,
    zeros: bool,
) -> tuple[Any, ...]:
    """One walk of the graph per vector, stacked."""
    from ..ops.shapes.join import stack

    if grad_outputs is None:
        raise EngineError("is_grads_batched=True needs grad_outputs with a leading batch dimension")
    seeds: Sequence[Any] = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)
    outs: Sequence[Any] = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    for i, (seed, out) in enumerate(zip(seeds, outs, strict=True)):
        if seed is not None and seed._array.shape[1:] != out._array.shape:
            raise EngineError(
                f"If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
                f"The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
                f"mismatch was detected: grad_output[{i}] has a shape of {seed.shape} and output[{i}] has a shape of "
                f"{out.shape}. If you only want some tensors in `grad_output` to be considered batched, consider using vmap."
            )
    count = next(seed._array.shape[0] for seed in seeds if seed is not None)
    keep = create_graph if retain is None else retain
    rows = []
    for i in range(count):
        vector = tuple(None if seed is None else seed[i] for seed in seeds)
        last = i == count - 1
        rows.append(_entry.gradients(outs, inputs, vector, keep or not last, create_graph, unused, zeros))
    return tuple(None if column[0] is None else stack(column, 0) for column in zip(*rows, strict=True))


def _calculate_shape(output: Any, grad: Tensor, is_grads_batched: bool) -> tuple[Any, Any]:
    """The shapes of an output and of a gradient for it, which should be the same."""
    shape = (
        output.node._input_metadata[output.output_nr].shape if isinstance(output, graph.GradientEdge) else output.shape
    )
    return shape, grad.shape[1:] if is_grads_batched else grad.shape


def __getattr__(name: str) -> Any:
    import importlib

    if name == "_profiler_enabled":
        return importlib.import_module(".profiler", __name__).is_running
    if name == "torch":  # PyTorch's modules hold the package that they import
        return importlib.import_module("..", __name__)
    if name in ("functional", "forward_ad", "profiler", "profiler_util", "profiler_legacy", "anomaly_mode"):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"clarion.autograd has no attribute {name!r}")
