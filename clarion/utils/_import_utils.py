"""`torch.utils._import_utils`: packages that may be there."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from types import ModuleType


def _check_module_exists(name: str) -> bool:
    """Is a module installed? (It is not imported.)"""
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


@functools.cache
def dill_available() -> bool:
    """Is dill, which pickles lambdas, installed?"""
    return _check_module_exists("dill")


def import_dill() -> ModuleType | None:
    """dill; None if it is not installed. (Importing it changes how everything is pickled: that is taken back.)"""
    if not dill_available():
        return None
    dill = importlib.import_module("dill")
    dill.extend(use_dill=False)
    return dill
