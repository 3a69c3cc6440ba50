"""Operations: one block each, its rules side by side."""

from ..kernels import portable as _portable  # registers the kernels  # noqa: F401
from . import activation as activation
from . import adaptive_pooling as adaptive_pooling
from . import addmm as addmm
from . import arithmetic as arithmetic
from . import assignment as assignment
from . import attention as attention
from . import batch_norm as batch_norm
from . import binary as binary
from . import cast as cast
from . import class_loss as class_loss
from . import compare as compare
from . import complexes as complexes
from . import convert as convert
from . import convolution as convolution
from . import copying as copying
from . import correlation as correlation
from . import ctc as ctc
from . import diagonal as diagonal
from . import differences as differences
from . import distance as distance
from . import distinct as distinct
from . import dropout as dropout
from . import einsum as einsum
from . import embedding as embedding
from . import embedding_bag as embedding_bag
from . import extremum as extremum
from . import factories as factories
from . import fold as fold
from . import fourier as fourier
from . import fractional_pooling as fractional_pooling
from . import fromdata as fromdata
from . import gamma as gamma
from . import generator as generator
from . import grid_sample as grid_sample
from . import grids as grids
from . import hard as hard
from . import histograms as histograms
from . import index_rows as index_rows
from . import indexing as indexing
from . import info as info
from . import interpolate as interpolate
from . import join as join
from . import legacy as legacy
from . import linalg as linalg
from . import logical as logical
from . import loss as loss
from . import lowlevel as lowlevel
from . import margin_loss as margin_loss
from . import masks as masks
from . import matmul as matmul
from . import matrix_norm as matrix_norm
from . import memory as memory
from . import norm as norm
from . import normalization as normalization
from . import operators as operators
from . import padding as padding
from . import piecewise as piecewise
from . import pooling as pooling
from . import power as power
from . import quantiles as quantiles
from . import random as random
from . import rearrange as rearrange
from . import recurrent as recurrent
from . import reduce as reduce
from . import rounding as rounding
from . import scan as scan
from . import scatter as scatter
from . import select as select
from . import shape as shape
from . import softmax as softmax
from . import sorting as sorting
from . import special as special
from . import spectral as spectral
from . import statistics as statistics
from . import transpose as transpose
from . import triangular as triangular
from . import trig as trig
from . import unary as unary
from . import views as views
from . import windows as windows

from . import saved_names as saved_names  # isort: skip  (it speaks about the operations above)
from .api import attach

attach()
