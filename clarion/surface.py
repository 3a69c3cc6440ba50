"""The names of `torch`, as clarion offers them: `clarion/__init__.py` shows them as its own."""

from __future__ import annotations

import importlib as _importlib
import sys as _sys
from typing import TYPE_CHECKING
from typing import Any as _Any

from . import absent as _absent
from . import elsewhere as _elsewhere
from .core.devices import device as device
from .core.dtypes import STORED as _STORED
from .core.dtypes import Size as Size
from .core.dtypes import bfloat16 as bfloat16
from .core.dtypes import bool_ as bool  # noqa: F401
from .core.dtypes import channels_last as channels_last
from .core.dtypes import channels_last_3d as channels_last_3d
from .core.dtypes import complex64 as complex64
from .core.dtypes import complex128 as complex128
from .core.dtypes import contiguous_format as contiguous_format
from .core.dtypes import contiguous_format as legacy_contiguous_format  # noqa: F401
from .core.dtypes import dtype as dtype
from .core.dtypes import float16 as float16
from .core.dtypes import float32 as float32
from .core.dtypes import float64 as float64
from .core.dtypes import get_default_dtype as get_default_dtype
from .core.dtypes import int8 as int8
from .core.dtypes import int16 as int16
from .core.dtypes import int32 as int32
from .core.dtypes import int64 as int64
from .core.dtypes import jagged as jagged
from .core.dtypes import layout as layout
from .core.dtypes import memory_format as memory_format
from .core.dtypes import preserve_format as preserve_format
from .core.dtypes import set_default_dtype as set_default_dtype
from .core.dtypes import sparse_bsc as sparse_bsc
from .core.dtypes import sparse_bsr as sparse_bsr
from .core.dtypes import sparse_coo as sparse_coo
from .core.dtypes import sparse_csc as sparse_csc
from .core.dtypes import sparse_csr as sparse_csr
from .core.dtypes import strided as strided
from .core.dtypes import uint8 as uint8
from .core.dtypes import uint16 as uint16
from .core.dtypes import uint32 as uint32
from .core.dtypes import uint64 as uint64
from .core.listed_dtypes import LISTED as _LISTED
from .core.modes import enable_grad as enable_grad
from .core.modes import inference_mode as inference_mode
from .core.modes import is_grad_enabled as is_grad_enabled
from .core.modes import is_inference_mode_enabled as is_inference_mode_enabled
from .core.modes import no_grad as no_grad
from .core.modes import set_grad_enabled as set_grad_enabled
from .core.printing import set_printoptions as set_printoptions
from .core.tensor import Tensor as Tensor
from .errors import DiagnosisError as DiagnosisError
from .errors import DiagnosisWarning as DiagnosisWarning
from .ops.faces.api import FUNCTIONS as _FUNCTIONS
from .version import __version__ as __version__

float = float32
double = float64
half = float16
short = int16
int = int32
long = int64
cfloat = complex64
cdouble = complex128
inf = 1e400
nan = inf - inf
pi = 3.141592653589793
e = 2.718281828459045
newaxis = None

globals().update(_LISTED)
globals().update({_kind.name: _kind for _kind in _STORED})
chalf = globals()["complex32"]
globals().update(_FUNCTIONS)
if TYPE_CHECKING:
    from .ops.faces.functions import *  # noqa: F403  (a stub: the same, for who only reads)

_HERE = "clarion"  # `__name__` is "torch" where `import torch` gives clarion

# Parts of PyTorch that are modules: imported when first named, so that `import clarion` stays quick.
_MODULES = frozenset(
    [
        "accelerator",
        "amp",
        "autograd",
        "backends",
        "__future__",
        "__config__",
        "onnx",
        "multiprocessing",
        "hub",
        "library",
        "jit",
        "fx",
        "futures",
        "compiler",
        "cpu",
        "cuda",
        "distributed",
        "distributions",
        "fft",
        "func",
        "functional",
        "linalg",
        "masked",
        "sparse",
        "mps",
        "nn",
        "optim",
        "overrides",
        "profiler",
        "quasirandom",
        "random",
        "return_types",
        "serialization",
        "signal",
        "special",
        "storage",
        "testing",
        "torch_version",
        "types",
        "utils",
        "version",
        "xpu",
    ]
)

# Private modules that libraries name without importing them.
_PRIVATE = frozenset(
    [
        "_C",
        "_VF",
        "_dynamo",
        "_functorch",
        "_guards",
        "_higher_order_ops",
        "_linalg_utils",
        "_lobpcg",
        "_inductor",
        "_jit_internal",
        "_ops",
        "_subclasses",
        "_tensor",
        "_tensor_str",
        "_utils",
        "_vmap_internals",
    ]
)

# Names whose modules are imported when they are first used.
_ELSEWHERE = {
    name: module
    for module, names in {
        ".absent": "classes",
        ".accelerator": "AcceleratorError Event OutOfMemoryError Stream get_device_module",
        ".amp": "autocast GradScaler",
        ".amp.unscaling": "_amp_foreach_non_finite_check_and_unscale_ _amp_update_scale_",
        ".autograd.anomaly_mode": "is_anomaly_enabled is_anomaly_check_nan_enabled",
        ".compiler": "compile pointwise",
        ".func": "vmap",
        "._higher_order_ops": "cond while_loop",
        ".futures": "Future",
        ".jit": "ScriptFunction ScriptModule",
        ".serialization": "save load",
        ".serialization.archives": "PyTorchFileReader PyTorchFileWriter",
        ".storage": "_storage_classes",
        ".symbols": "DeviceObjType TensorType SymBool SymFloat SymInt sym_float sym_int sym_ite sym_max sym_min sym_not sym_sum _assert "
        "_assert_async _check _check_index _check_is_size _check_not_implemented _check_tensor_all _check_tensor_all_with "
        "_check_type _check_value _check_with _shape_as_tensor _cast_Byte _cast_Char _cast_Short _cast_Int _cast_Long _cast_Half "
        "_cast_Float _cast_Double",
    }.items()
    for name in names.split()
}

# Modules of PyTorch that have no file here: what is elsewhere, and what is not there, which says so when it is used.
_sys.meta_path += [_elsewhere.ElsewhereFinder(), _absent.AbsentFinder()]


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        try:
            return _importlib.import_module(f".{name}", _HERE)
        except ModuleNotFoundError as error:
            if error.name != f"{_HERE}.{name}":
                raise
    if name in _ELSEWHERE:
        return getattr(_importlib.import_module(_ELSEWHERE[name], _HERE), name)
    if "autocast" in name and hasattr(settings := _importlib.import_module(".amp.settings", _HERE), name):
        return getattr(settings, name)
    if not name.startswith("_") and _absent.knows(f"torch.{name}"):
        return _importlib.import_module(f".{name}", _HERE)
    if name in _PRIVATE:
        return _importlib.import_module(f".{name}", _HERE)
    if name == "Storage":  # the class that goes with the default type
        return _FUNCTIONS[f"{get_default_dtype().old}Storage"]
    if name == "torch":  # PyTorch's package names itself
        return _sys.modules[_HERE]
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in _absent.pytorch_names()["torch"]:
        raise AttributeError(f"module {_HERE!r} has no attribute {name!r}")
    if _absent.why(f"torch.{name}"):
        return _absent.refusal(f"torch.{name}")
    raise AttributeError(f"clarion does not have torch.{name} yet")


def __dir__() -> list[str]:
    from importlib.util import find_spec

    there = {name for name in _MODULES if find_spec(f"{_HERE}.{name}") is not None}
    return sorted(
        name
        for name in {*globals(), *there, "save", "load", "compile"}
        if not name.startswith("_") or name == "__version__"
    )


# Diagnoses begin to listen when the first leaf is made; until then this costs nothing.
diagnose = _importlib.import_module(".diagnose", _HERE)
diagnose.begin_to_wait()
