"""Every kernel once, in plain array code over a namespace `xp`: the specification, and what runs by default."""

from . import arithmetic as arithmetic
from . import indexing as indexing
from . import reduce as reduce
from . import shape as shape
from . import unary as unary
