"""Parts of PyTorch that clarion does not have: named exactly when they are called, not when they are imported."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from .errors import NotSupportedError

WHY = {
    "jit": "programs are not compiled to TorchScript; run the Python function, or save a state_dict",
    "onnx": "models are not exported to ONNX; save a state_dict or safetensors",
    "quantization": "there are no quantized tensors",
    "ao": "there are no quantized tensors",
    "export": "programs are not exported; save a state_dict",
    "fx": "programs are not traced into graphs of torch.fx; the graph of a computation is at `grad_fn`",
    "hub": "nothing is downloaded; load a state_dict from a file",
    "sparse": "there are no sparse tensors",
    "package": "models are not packaged with their code; save a state_dict",
    "multiprocessing": "use Python's own multiprocessing, or workers of a DataLoader",
}


def refusal(path: str) -> Callable[..., Any]:
    """A function of PyTorch's name that says that it is not there, and what to do instead."""

    def function(*args: Any, **kwargs: Any) -> Any:
        raise NotSupportedError(f"clarion does not have torch.{path}: {WHY[path.partition('.')[0]]}")

    function.__name__ = function.__qualname__ = path.rpartition(".")[2]
    function.__doc__ = f"Not there: {WHY[path.partition('.')[0]]}."
    return function


class AbsentModule(types.ModuleType):
    """A module of PyTorch that is not there. Its functions can be named, and refuse to be called."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return refusal(f"{self.__name__.removeprefix('clarion.')}.{name}")


def module(name: str) -> types.ModuleType:
    """The stand-in for `torch.name`."""
    found = AbsentModule(f"clarion.{name}", f"`torch.{name}` is not there: {WHY[name]}.")
    if name == "jit":
        _harmless_parts_of_jit(found)
    return found


def _harmless_parts_of_jit(found: Any) -> None:
    """What programs say to TorchScript even where they do not use it: questions and marks."""

    def same(fn: Any = None, **options: Any) -> Any:
        return (lambda f: f) if fn is None else fn

    found.is_scripting = found.is_tracing = lambda: False
    found.ignore = found.unused = found.export = found.script_if_tracing = found.interface = same
    found.isinstance = isinstance
    found.annotate = lambda kind, value: value
    found.Final = Any
