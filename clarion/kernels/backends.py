"""Loads every folder of kernels: the portable ones, then what the backends offer.

A backend is found by itself. Its package says what it is (`registry.describe`) and makes its offers; loading it costs next
to nothing, and whatever library stands behind it is loaded when a kernel is first needed.
"""

import importlib
import pkgutil

from . import __path__ as _path
from . import portable as portable

for _folder in pkgutil.iter_modules(_path):
    if _folder.ispkg:
        importlib.import_module(f"{__package__}.{_folder.name}")
