"""`torch._dynamo._trace_wrapped_higher_order_op`: a block that changes how indices are traced; nothing is traced here."""

from __future__ import annotations


class TransformGetItemToIndex:
    """Indices that are 0-dimensional tensors work as they are."""

    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...
