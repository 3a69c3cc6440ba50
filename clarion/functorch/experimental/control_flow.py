"""`functorch.experimental.control_flow`: choices and loops as functions."""

from ..._higher_order_ops.control import cond as cond
from ..._higher_order_ops.control import map as map
