"""Every kernel once, in plain array code over a namespace `xp`: the specification, and what runs by default."""

from . import arithmetic as arithmetic
from . import binary as binary
from . import cast as cast
from . import compare as compare
from . import diagonal as diagonal
from . import extremum as extremum
from . import indexing as indexing
from . import join as join
from . import matmul as matmul
from . import rearrange as rearrange
from . import meeting as meeting
from . import draws as draws
from . import reduce as reduce
from . import scan as scan
from . import select as select
from . import scatter as scatter
from . import shape as shape
from . import slices as slices
from . import statistics as statistics
from . import unary as unary
from . import attention as attention
from . import embedding as embedding
from . import loss as loss
from . import normalization as normalization
from . import padding as padding
