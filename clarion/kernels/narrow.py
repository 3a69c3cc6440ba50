"""In which type kernels of a GPU keep what the backward pass alone reads: set while autocast is on, in each thread.

The result of a norm is a float32 tensor under autocast, and goes into a product in lower precision; its gradient comes out of one.
What is kept between the two need not be more precise than they are, and takes half the memory.
"""

from __future__ import annotations

import threading
from typing import Any


class _Narrow(threading.local):
    kind: Any = None  # a NumPy type; None: the type of the operands
    made: Any = None  # the last result of a norm, and the same in that type: written in one launch with it


narrow = _Narrow()
