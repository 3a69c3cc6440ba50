"""safetensors files, through the `safetensors` package.

The package's own NumPy functions work on the arrays behind tensors: `safetensors.numpy.save_file({"w": w.numpy()}, path)`
writes what `load_safetensors` reads, and the other way round; bfloat16 is `ml_dtypes.bfloat16` there, as in clarion.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.tensor import Tensor, created
from ..errors import ArgumentTypeError, EngineError, Explained
from ..kernels.layout import memory_root
from .atomic import replacing
from .failures import FileDamagedError
from .loading import clean


class MissingPackageError(Explained, ImportError, RuntimeError):
    """An optional package is needed and not installed; the message says how to install it."""


def _package() -> Any:
    try:
        return importlib.import_module("safetensors.numpy")
    except ImportError:
        raise MissingPackageError(
            "Attempting to load a safetensors file but safetensors is not installed. Please install safetensors with: "
            "pip install 'clarion[safetensors]'"
        ) from None


def save_safetensors(
    tensors: Mapping[str, Tensor], filename: str | os.PathLike[str], metadata: Mapping[str, str] | None = None
) -> None:
    """Write named tensors as a safetensors file, completely or not at all.

    The format knows neither views nor shared memory: tensors that share memory are refused, as PyTorch's adapter does.
    """
    package = _package()
    arrays: dict[str, Any] = {}
    places: dict[tuple[int, int], str] = {}
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise ArgumentTypeError(f"Key `{name}` is invalid, expected torch.Tensor but received {type(tensor)}")
        array = tensor._array
        if array.dtype == np.complex128:
            raise ArgumentTypeError(f"Key `{name}`: safetensors has no type complex128; convert to complex64")
        root = memory_root(array)
        other = places.setdefault((id(root), 0), name)
        if other is not name and np.may_share_memory(array, arrays[other]):
            raise EngineError(
                f"Some tensors share memory, this will lead to duplicate memory on disk and potential differences when "
                f"loading them again: [{{'{other}', '{name}'}}].\nSave a clone() of one of them, or only one."
            )
        arrays[name] = np.ascontiguousarray(array).reshape(array.shape)
    with replacing(os.fspath(filename)) as file:
        package.save_file(arrays, file.name, metadata=dict(metadata) if metadata is not None else None)


def load_safetensors(filename: str | os.PathLike[str], device: Any = "cpu") -> dict[str, Tensor]:
    """The named tensors of a safetensors file."""
    if str(device).partition(":")[0] != "cpu":
        raise EngineError(f"load_safetensors(): clarion has no device {str(device)!r} yet, only 'cpu'")
    package = _package()
    try:
        arrays = package.load_file(os.fspath(filename))
    except OSError:
        raise
    except Exception as error:  # the package's own class, whose module has moved between versions
        raise FileDamagedError(f"{os.fspath(filename)} is no whole safetensors file: {str(error)[:300]}") from None
    return {name: created(_own(array)) for name, array in arrays.items()}


def _own(array: Any) -> Any:
    """An array that is alone in its memory, lest saving it later saves the whole file."""
    if not array.flags.writeable or memory_root(array).nbytes != array.nbytes:
        array = array.copy()
    return clean(array, swap=False)
