"""Operations: one block each, its rules side by side."""

from ..kernels import portable as _portable  # registers the kernels  # noqa: F401
from . import addmm as addmm
from . import arithmetic as arithmetic
from . import assignment as assignment
from . import binary as binary
from . import cast as cast
from . import compare as compare
from . import convert as convert
from . import copying as copying
from . import diagonal as diagonal
from . import distance as distance
from . import einsum as einsum
from . import distinct as distinct
from . import extremum as extremum
from . import factories as factories
from . import fromdata as fromdata
from . import generator as generator
from . import grids as grids
from . import index_rows as index_rows
from . import indexing as indexing
from . import join as join
from . import linalg as linalg
from . import logical as logical
from . import masks as masks
from . import matmul as matmul
from . import matrix_norm as matrix_norm
from . import memory as memory
from . import norm as norm
from . import rearrange as rearrange
from . import operators as operators
from . import power as power
from . import random as random
from . import reduce as reduce
from . import scan as scan
from . import scatter as scatter
from . import select as select
from . import shape as shape
from . import sorting as sorting
from . import statistics as statistics
from . import unary as unary
from . import trig as trig
from . import rounding as rounding
from . import special as special
from . import complexes as complexes
from . import activation as activation
from . import piecewise as piecewise
from . import hard as hard
from . import softmax as softmax
from . import views as views
from . import legacy as legacy
from . import info as info
from . import attention as attention
from . import class_loss as class_loss
from . import dropout as dropout
from . import embedding as embedding
from . import loss as loss
from . import normalization as normalization
from . import padding as padding
from .api import attach

attach()
