"""What operations are called: PyTorch's nodes and functions by clarion's names, with the traits that diagnoses ask for.

`operations.txt` is written from clarion's own declarations, so that this needs none of clarion's engine; here stands what PyTorch
has besides.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Operation:
    """An operation: its name in clarion, its traits, and how it treats elements."""

    __slots__ = ("broadcast", "elementwise", "moves", "name", "traits", "view")

    def __init__(self, name: str, kind: str = "-", traits: Any = ()) -> None:
        self.name, self.traits = name, frozenset(traits)
        self.moves, self.view, self.elementwise, self.broadcast = ("m" in kind, "v" in kind, "e" in kind, "b" in kind)


_TEXT = Path(__file__).with_name("operations.txt").read_text(encoding="utf-8")
_ROWS = [line.split() for line in _TEXT.splitlines() if line[0] != "#"]
# Operation by its name, and by the name of a node.
OPERATIONS: dict[str, Operation] = {row[1]: Operation(row[1], row[2], row[3:]) for row in _ROWS}
NODES: dict[str, Operation] = {row[0]: OPERATIONS[row[1]] for row in _ROWS}
NODES |= {
    title: OPERATIONS[name]
    for title, name in {
        "LinearBackward0": "linear",
        "NativeLayerNormBackward0": "layer_norm",
        "FusedLayerNormBackward0": "layer_norm",
        "CudnnBatchNormBackward0": "batch_norm",
        "MiopenBatchNormBackward0": "batch_norm",
        "BatchNormBackward0": "batch_norm",
        "CudnnConvolutionBackward0": "convolution",
        "MkldnnConvolutionBackward0": "convolution",
        "ThnnConv2DBackward0": "convolution",
        "ConvDepthwise2DBackward0": "convolution",
        "MkldnnLinearBackward0": "linear",
        "MkldnnRnnLayerBackward0": "lstm_layer",
        "CudnnRnnBackward0": "lstm_layer",
        "ThnnFusedLstmCellBackward0": "lstm_layer",
        "ThnnFusedGruCellBackward0": "gru_layer",
        "ScaledDotProductFlashAttentionBackward0": "scaled_dot_product_attention",
        "ScaledDotProductEfficientAttentionBackward0": "scaled_dot_product_attention",
        "ScaledDotProductCudnnAttentionBackward0": "scaled_dot_product_attention",
        "ScaledDotProductFusedAttentionOverrideableBackward0": "scaled_dot_product_attention",
        "NativeDropoutBackward0": "dropout",
        "FusedDropoutBackward0": "dropout",
        "ToCopyBackward0": "cast",
        "ViewAsBackward0": "view",
        "ReshapeAliasBackward0": "view",
        "UnsafeSplitBackward0": "split",
        "NllLossNdBackward0": "nll_loss",
        "CrossEntropyLossBackward0": "cross_entropy",
        "BinaryCrossEntropyWithLogitsBackward0": "binary_cross_entropy_with_logits",
        "MaxPool2DWithIndicesBackward0": "max_pool2d",
        "SafeSoftmaxBackward0": "softmax",
        "BaddbmmBackward0": "baddbmm",
        "AddbmmBackward0": "baddbmm",
        "LinalgVectorNormBackward0": "vector_norm",
        "NormBackward0": "vector_norm",
        "NormBackward1": "vector_norm",
    }.items()
    if name in OPERATIONS
}

# Functions whose names are not those of clarion's operations.
_FUNCTIONS = {
    "__add__": "add", "__radd__": "add", "__iadd__": "add", "__sub__": "sub", "__isub__": "sub", "__rsub__": "rsub",
    "subtract": "sub", "__mul__": "mul", "__rmul__": "mul", "__imul__": "mul", "multiply": "mul", "__truediv__": "div",
    "__div__": "div", "true_divide": "div", "divide": "div", "__itruediv__": "div", "__pow__": "pow", "negative": "neg",
    "to": "cast", "type": "cast", "float": "cast", "double": "cast", "half": "cast", "bfloat16": "cast", "long": "cast",
    "int": "cast", "short": "cast", "bool": "cast", "char": "cast", "byte": "cast", "type_as": "cast", "concat": "cat",
    "concatenate": "cat", "__matmul__": "matmul", "absolute": "abs", "arccos": "acos", "arcsin": "asin",
}  # fmt: skip


def named(function: str) -> Operation:
    """The operation that a function of PyTorch stands for, by its name; in place or not."""
    found = _named.get(function)
    if found is None:
        plain = function[:-1] if function.endswith("_") and not function.endswith("__") else function
        name = _FUNCTIONS.get(plain, plain.strip("_") if plain.startswith("_") else plain)
        found = _named[function] = OPERATIONS.get(name) or Operation(name)
    return found


_named: dict[str, Operation] = {}


def traits(name: str) -> frozenset[str]:
    """The traits of an operation; none if it is not known."""
    found = OPERATIONS.get(name)
    return frozenset() if found is None else found.traits
