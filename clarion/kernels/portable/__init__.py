"""Every kernel once, in plain array code over a namespace `xp`: the specification, and what runs by default.

Folders are the families of `clarion/ops`; every file in them is loaded by itself.
"""

import importlib
import pkgutil

for _family in pkgutil.iter_modules(__path__):
    for _module in pkgutil.iter_modules(importlib.import_module(f"{__name__}.{_family.name}").__path__):
        importlib.import_module(f"{__name__}.{_family.name}.{_module.name}")
