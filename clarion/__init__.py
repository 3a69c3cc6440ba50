"""clarion: define-by-run automatic differentiation with PyTorch's API, that says out loud what others keep silent.

What it offers stands in `surface.py`, which is loaded when the first name is asked for, or before the first part of the engine is
imported. Until then `import clarion` costs next to nothing: `clarion.doctor` diagnoses PyTorch, and needs no second engine.
"""

from __future__ import annotations

import sys as _sys
from _thread import RLock as _RLock
from importlib import import_module as _import
from importlib.machinery import ModuleSpec as _spec
from typing import TYPE_CHECKING
from typing import Any as _Any

from .forks import fork_safe as _fork_safe
from .version import __version__ as __version__

if TYPE_CHECKING:
    from . import accelerator as accelerator
    from . import amp as amp
    from . import autograd as autograd
    from . import backends as backends
    from . import compiler as compiler
    from . import cpu as cpu
    from . import cuda as cuda
    from . import diagnose as diagnose
    from . import distributed as distributed
    from . import distributions as distributions
    from . import fft as fft
    from . import func as func
    from . import functional as functional
    from . import futures as futures
    from . import fx as fx
    from . import hub as hub
    from . import jit as jit
    from . import library as library
    from . import linalg as linalg
    from . import mps as mps
    from . import multiprocessing as multiprocessing
    from . import nn as nn
    from . import onnx as onnx
    from . import optim as optim
    from . import overrides as overrides
    from . import profiler as profiler
    from . import random as random
    from . import return_types as return_types
    from . import serialization as serialization
    from . import signal as signal
    from . import special as special
    from . import storage as storage
    from . import testing as testing
    from . import torch_version as torch_version
    from . import types as types
    from . import utils as utils
    from . import version as version
    from . import xpu as xpu
    from .surface import *  # noqa: F403
    from .surface import load as load
    from .surface import save as save

# Parts that need no engine.
_LIGHT = frozenset(
    """__main__ bytecode children cli config diagnose doctor errors events forks pytree surface version""".split()  # noqa: SIM905
)
_surface: _Any = None
_loading = _fork_safe(_RLock())  # by the thread that loads the surface
_hidden: frozenset[str] = frozenset()  # what is not under PyTorch's name: see `torch_alias.py`


class _Gate:
    """Stands before all finders of modules: the first import of a part of the engine loads the surface."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> _Any:
        if name.startswith("clarion.") and name.split(".")[1] not in _LIGHT:
            _load()
            if name in _sys.modules:  # it came with the surface, and must not be loaded a second time
                return _Loaded(_sys.modules[name]).spec
        return None


class _Loaded:
    """Gives the import system a module that is there. The system asks the module for its spec: it has ours until then."""

    def __init__(self, module: _Any) -> None:
        self.module, self.own = module, module.__spec__
        self.spec = module.__spec__ = _spec(module.__name__, self, is_package=hasattr(module, "__path__"))

    def create_module(self, spec: object) -> _Any:
        return self.module

    def exec_module(self, module: _Any) -> None:
        module.__spec__ = self.own


def _load() -> None:
    """Load the surface, once. Its names become this module's own: reading one costs what it costs in any module."""
    global _surface
    if _surface is None:
        with _loading:
            if _surface is not None:
                return
            _surface = False  # under way
            _sys.meta_path[:] = [finder for finder in _sys.meta_path if finder is not _Gate]
            try:
                _surface = _import(".surface", "clarion")
            except BaseException:
                _surface = None
                raise
            globals().update({name: value for name, value in vars(_surface).items() if not name.startswith("__")})
            if program := getattr(_sys.modules.get("__main__"), "__file__", None):
                _import(".core.overriding", "clarion").look_in(program)


def __getattr__(name: str) -> _Any:
    if name in _hidden:
        asking = _sys._getframe(1).f_globals.get("__name__", "")
        if asking.startswith("clarion."):  # a part that is loaded late says `from .. import config`
            return _import(f"clarion.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _LIGHT:
        return _import(f".{name}", "clarion")
    _load()
    # Another thread waits until it is there. (Not while it imports a part: this one may need what that one holds.)
    with _loading:
        if name in globals():
            return globals()[name]
    if not _surface:  # a part of it asks for another, while it is loaded
        raise AttributeError(f"module 'clarion' has no attribute {name!r} yet")
    found = _surface.__getattr__(name)
    if (
        name in _surface._ELSEWHERE
    ):  # from now on it is this module's own, too: `torch.autocast` is asked for at every step
        globals()[name] = found
    return found


def __dir__() -> list[str]:
    _load()
    names: list[str] = _surface.__dir__()
    return names


_sys.meta_path.insert(0, _Gate)
