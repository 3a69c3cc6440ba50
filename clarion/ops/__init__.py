"""Operations: one block each, its rules side by side."""

from ..kernels import portable as _portable  # registers the kernels  # noqa: F401
from . import arithmetic as arithmetic
from . import convert as convert
from . import extremum as extremum
from . import fromdata as fromdata
from . import indexing as indexing
from . import reduce as reduce
from . import shape as shape
from . import statistics as statistics
from . import unary as unary
from .api import attach

attach()
