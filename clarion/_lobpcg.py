"""`torch._lobpcg`: where libraries import `lobpcg` and the state of its iteration from."""

from __future__ import annotations

from .ops.faces.api import FUNCTIONS as _FUNCTIONS
from .ops.linalg.lobpcg import LOBPCG as LOBPCG

lobpcg = _FUNCTIONS["lobpcg"]
