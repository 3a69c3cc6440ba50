"""`torch.fx.passes.shape_prop`: a graph is run once, and each node keeps the shape and type of its result."""

from __future__ import annotations

import traceback
from typing import Any, NamedTuple

from ...absent import rest
from ...core.dtypes import Size, channels_last, channels_last_3d, contiguous_format
from ...core.tensor import Tensor
from ..interpreter import Interpreter
from ..node import Node, map_aggregate


class TensorMetadata(NamedTuple):
    """What is known of a tensor without its values."""

    shape: Size
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    layouts = (contiguous_format, channels_last, channels_last_3d) if include_contiguity else ()
    layout = next((each for each in layouts if result.is_contiguous(memory_format=each)), None)  # type: ignore[attr-defined]
    return TensorMetadata(
        result.shape, result.dtype, result.requires_grad, tuple(result.stride()), layout, False, {}  # type: ignore[attr-defined]
    )  # fmt: skip


class ShapeProp(Interpreter):
    """Runs a graph with given arguments; afterwards `node.meta["tensor_meta"]` tells of each result."""

    def __init__(self, gm: Any, fake_mode: Any = None) -> None:
        super().__init__(gm)

    def run_node(self, n: Node) -> Any:
        """Run one step and note what comes out."""
        try:
            result = super().run_node(n)
        except Exception as error:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        found = False

        def told(value: Any) -> Any:
            nonlocal found
            if isinstance(value, Tensor):
                found = True
                return _extract_tensor_metadata(value)
            return value

        meta = map_aggregate(result, told)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph with these arguments."""
        return super().run(*args)


__getattr__ = rest(__name__)
