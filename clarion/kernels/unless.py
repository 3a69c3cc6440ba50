"""Updates that may turn out not to be wanted: whether they are stands in memory of the GPU, and the host does not wait for it.

While `unless.flag` is set in a thread, `update_all` writes nothing if it is not 0 by then (a gradient was not finite: amp/grad_scaler.py).
"""

from __future__ import annotations

import threading
from typing import Any


class _Unless(threading.local):
    flag: Any = None  # an array of the device with one int32


unless = _Unless()
