"""PyTorch's names of what is in a file, and what they stand for in clarion."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from .. import nn
from ..core.devices import device
from ..core.dtypes import Size, dtype, memory_format
from ..core.tensor import Tensor
from ..errors import NotSupportedError
from ..ops.faces.api import FUNCTIONS
from ..ops.random.generator import Generator
from . import rebuild
from .storages import BY_NAME as STORAGES

Name = tuple[str, str]

REBUILD: dict[str, Any] = {
    "torch._utils._rebuild_tensor": rebuild.rebuild_tensor,
    "torch._utils._rebuild_tensor_v2": rebuild.rebuild_tensor_v2,
    "torch._utils._rebuild_tensor_v3": rebuild.rebuild_tensor_v3,
    "torch._utils._rebuild_parameter": rebuild.rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": rebuild.rebuild_parameter_with_state,
    "torch._tensor._rebuild_from_type_v2": rebuild.rebuild_from_type_v2,
    "torch.tensor._rebuild_from_type_v2": rebuild.rebuild_from_type_v2,
    "torch.serialization._get_layout": rebuild.get_layout,
    "torch._utils._rebuild_sparse_tensor": rebuild.refuse("a sparse tensor"),
    "torch._utils._rebuild_qtensor": rebuild.refuse("a quantized tensor"),
    "torch._utils._rebuild_nested_tensor": rebuild.refuse("a nested tensor"),
    "torch._utils._rebuild_meta_tensor_no_storage": rebuild.refuse("a tensor of the meta device"),
    "torch._utils._rebuild_wrapper_subclass": rebuild.refuse("a wrapper subclass"),
    "torch._utils._rebuild_device_tensor_from_numpy": rebuild.refuse("a tensor of another device"),
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": rebuild.refuse("a tensor of another device"),
}

# Where PyTorch keeps its public classes.
_PLACES = {
    "torch.nn.modules.pooling": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
    "AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d "
    "MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d FractionalMaxPool2d FractionalMaxPool3d",
    "torch.nn.modules.dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    "torch.nn.modules.loss": "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss "
    "HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss MultiLabelMarginLoss "
    "MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PoissonNLLLoss SmoothL1Loss SoftMarginLoss TripletMarginLoss "
    "TripletMarginWithDistanceLoss",
    "torch.nn.modules.batchnorm": "BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm",
    "torch.nn.modules.linear": "Bilinear Identity Linear",
    "torch.nn.modules.activation": "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid "
    "LogSoftmax Mish MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus "
    "Softshrink Softsign Tanh Tanhshrink Threshold",
    "torch.nn.modules.channelshuffle": "ChannelShuffle",
    "torch.nn.modules.padding": "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d "
    "ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d "
    "ZeroPad2d ZeroPad3d",
    "torch.nn.modules.container": "ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "torch.nn.modules.conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "torch.nn.modules.distance": "CosineSimilarity PairwiseDistance",
    "torch.nn.modules.normalization": "CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm",
    "torch.nn.modules.sparse": "Embedding EmbeddingBag",
    "torch.nn.modules.flatten": "Flatten Unflatten",
    "torch.nn.modules.fold": "Fold Unfold",
    "torch.nn.modules.rnn": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
    "torch.nn.modules.instancenorm": "InstanceNorm1d InstanceNorm2d InstanceNorm3d",
    "torch.nn.modules.module": "Module",
    "torch.nn.modules.pixelshuffle": "PixelShuffle PixelUnshuffle",
    "torch.nn.modules.transformer": "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder "
    "TransformerEncoderLayer",
    "torch.nn.modules.upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
    "torch.optim.adadelta": "Adadelta",
    "torch.optim.adagrad": "Adagrad",
    "torch.optim.adam": "Adam",
    "torch.optim.adamax": "Adamax",
    "torch.optim.adamw": "AdamW",
    "torch.optim.asgd": "ASGD",
    "torch.optim.lbfgs": "LBFGS",
    "torch.optim.nadam": "NAdam",
    "torch.optim.optimizer": "Optimizer",
    "torch.optim.radam": "RAdam",
    "torch.optim.rmsprop": "RMSprop",
    "torch.optim.rprop": "Rprop",
    "torch.optim.sgd": "SGD",
}

_PLAIN: dict[Any, Name] = {
    Tensor: ("torch", "Tensor"),
    nn.Parameter: ("torch.nn.parameter", "Parameter"),
    Size: ("torch", "Size"),
    device: ("torch", "device"),
    dtype: ("torch", "dtype"),
    Generator: ("torch._C", "Generator"),
}
for _full, _function in reversed(REBUILD.items()):
    _module, _, _name = _full.rpartition(".")
    _PLAIN[_function] = (_module, _name)


@functools.cache
def _written(room: str) -> dict[Any, Name]:
    """The classes of `clarion.nn` or `clarion.optim` by the name a file gives them: PyTorch's, so that it finds its own."""
    found = dict(_PLAIN)
    home = importlib.import_module(f"clarion.{room}")
    for module, names in _PLACES.items():
        if module.startswith(f"torch.{room}."):
            found |= {getattr(home, name): (module, name) for name in names.split() if hasattr(home, name)}
    return found


def torch_name(value: Any) -> Name | None:
    """PyTorch's module and name for a class or function of clarion; None for one that PyTorch does not have."""
    if isinstance(value, (dtype, memory_format)):
        return "torch", value.name
    if not str(getattr(value, "__module__", "")).startswith("clarion."):
        return None
    room = "optim" if value.__module__.startswith("clarion.optim") else "nn"
    found = _written(room).get(value)
    return found or _functions().get(value)


@functools.cache
def _functions() -> dict[Any, Name]:
    """Functions by the name they are public under, which need not be the one they were defined with."""
    found: dict[Any, Name] = {}
    for home, names in (("torch", FUNCTIONS), ("torch.nn.functional", vars(nn.functional))):
        found |= {each: (home, name) for name, each in names.items() if callable(each) and not name.startswith("_")}
    return found


def clarion_value(module: str, name: str) -> Any:
    """What a name of PyTorch's stands for in clarion, for files that are trusted."""
    full = f"{module}.{name}"
    for table in (REBUILD, STORAGES):
        if full in table:
            return table[full]
    if full in ("torch._C.Generator", "torch.Generator"):
        return rebuild.PendingGenerator
    clarion = importlib.import_module("clarion")
    if name == "NonDynamicallyQuantizableLinear":  # inside PyTorch's attention; the same layer
        return nn.Linear
    if full == "torch._C._VariableFunctionsClass":  # functions of torch are attributes of it
        return clarion
    for home in _homes(module):
        try:
            owner: Any = importlib.import_module(home)
        except ModuleNotFoundError:
            continue
        try:
            for part in name.split("."):
                owner = getattr(owner, part)
            return owner
        except AttributeError:
            continue
    raise NotSupportedError(f"the file needs {full}, which clarion does not have")


def _homes(module: str) -> list[str]:
    homes = ["clarion" + module.removeprefix("torch")]
    if module == "torch._C._nn":
        homes.append("clarion.nn.functional")
    elif module.startswith("torch.nn."):
        homes.append("clarion.nn")
    elif module.startswith("torch.optim."):
        homes.append("clarion.optim")
    elif module in ("torch._C", "torch._tensor", "torch.tensor"):
        homes.append("clarion")
    return homes
