"""`torch._higher_order_ops`: operations that take functions; what libraries import of them."""

from __future__ import annotations

from .associative_scan import associative_scan as associative_scan
from .control import cond as cond
from .control import while_loop as while_loop
