"""`torch.nn`: modules, one family per file."""

import importlib as _importlib
from typing import Any as _Any

from . import functional as functional
from . import init as init
from . import modules as modules
from . import utils as utils
from .modules import *  # noqa: F403
from .parallel import DataParallel as DataParallel
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter
from .parameter import UninitializedBuffer as UninitializedBuffer
from .parameter import UninitializedParameter as UninitializedParameter


def __getattr__(name: str) -> _Any:
    if name in ("_reduction", "common_types", "grad"):
        return _importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"clarion.nn has no attribute {name!r}")
