"""clarion: define-by-run automatic differentiation with PyTorch's API, that says out loud what others keep silent."""

from __future__ import annotations

import importlib as _importlib
from typing import Any as _Any

from .core.devices import device as device
from .core.dtypes import Size as Size
from .core.dtypes import bfloat16 as bfloat16
from .core.dtypes import bool_ as bool  # noqa: F401
from .core.dtypes import channels_last as channels_last
from .core.dtypes import channels_last_3d as channels_last_3d
from .core.dtypes import complex64 as complex64
from .core.dtypes import complex128 as complex128
from .core.dtypes import contiguous_format as contiguous_format
from .core.dtypes import dtype as dtype
from .core.dtypes import float16 as float16
from .core.dtypes import float32 as float32
from .core.dtypes import float64 as float64
from .core.dtypes import get_default_dtype as get_default_dtype
from .core.dtypes import int8 as int8
from .core.dtypes import int16 as int16
from .core.dtypes import int32 as int32
from .core.dtypes import int64 as int64
from .core.dtypes import layout as layout
from .core.dtypes import memory_format as memory_format
from .core.dtypes import preserve_format as preserve_format
from .core.dtypes import set_default_dtype as set_default_dtype
from .core.dtypes import strided as strided
from .core.dtypes import uint8 as uint8
from .core.dtypes import uint16 as uint16
from .core.dtypes import uint32 as uint32
from .core.dtypes import uint64 as uint64
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

globals().update(_FUNCTIONS)

# Parts of PyTorch that are modules: imported when first named, so that `import clarion` stays quick.
_MODULES = frozenset(
    [
        "accelerator",
        "amp",
        "autograd",
        "backends",
        "checkpoint",
        "compiler",
        "cpu",
        "cuda",
        "data",
        "distributed",
        "distributions",
        "fft",
        "func",
        "functional",
        "linalg",
        "mps",
        "nn",
        "optim",
        "overrides",
        "profiler",
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

# Parts that clarion does not have, which say so when they are called.
_ABSENT = frozenset(
    ["ao", "export", "fx", "hub", "jit", "multiprocessing", "onnx", "package", "quantization", "sparse"]
)


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        try:
            return _importlib.import_module(f".{name}", __name__)
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    if name in ("is_anomaly_enabled", "is_anomaly_check_nan_enabled"):
        return getattr(_importlib.import_module(".autograd.anomaly_mode", __name__), name)
    if name in ("save", "load"):
        return getattr(_importlib.import_module(".serialization", __name__), name)
    if name == "compile":
        return _importlib.import_module(".compiler", __name__).compile
    if name == "vmap":
        return _importlib.import_module(".func", __name__).vmap
    if name in ("autocast", "GradScaler"):
        return getattr(_importlib.import_module(".amp", __name__), name)
    if name in ("Stream", "Event"):
        return getattr(_importlib.import_module(".accelerator", __name__), name)
    if "autocast" in name and hasattr(settings := _importlib.import_module(".amp.settings", __name__), name):
        return getattr(settings, name)
    if name in _ABSENT:
        return _importlib.import_module(".absent", __name__).module(name)
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise AttributeError(f"clarion does not have torch.{name} yet")


def __dir__() -> list[str]:
    from importlib.util import find_spec

    there = {name for name in _MODULES if find_spec(f"{__name__}.{name}") is not None}
    return sorted(
        name
        for name in {*globals(), *there, "save", "load", "compile"}
        if not name.startswith("_") or name == "__version__"
    )


# Diagnoses begin to listen when the first leaf is made; until then this costs nothing.
diagnose = _importlib.import_module(".diagnose", __name__)
