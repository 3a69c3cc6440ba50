"""`torch._C._functions`: nodes and identities of the engine that programs ask for by name."""

from ..core.delayed import DelayedError as DelayedError
from ..core.delayed import UndefinedGrad as UndefinedGrad
from ..core.node import AccumulateGrad as AccumulateGrad
