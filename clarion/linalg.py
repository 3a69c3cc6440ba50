"""`torch.linalg`: norms, products, inverses and decompositions of matrices."""

from __future__ import annotations

from typing import Any

from .ops.faces.api import FUNCTIONS as _FUNCTIONS
from .ops.faces.api import with_out as _with_out
from .ops.faces.autocast import autocast as _autocast
from .ops.faces.by_name import give_homes as _give_homes
from .ops.linalg import checked as _checked
from .ops.linalg import decompositions as _linalg
from .ops.linalg import eigen as _eigen
from .ops.linalg import functions as _matrix_functions
from .ops.linalg import lu as _lu
from .ops.linalg import norms as _matrix_norm
from .ops.linalg import triangular as _triangular
from .ops.linalg.decompositions import LinAlgError as LinAlgError
from .ops.products.distance import linalg_cross as _cross
from .ops.products.distance import multi_dot as _multi_dot
from .ops.reductions.norms import vector_norm as _vector_norm
from .ops.shapes.grids import linalg_vander as _vander

norm = _with_out("linalg.norm", _matrix_norm.norm)
vector_norm = _with_out("linalg.vector_norm", _vector_norm)
matrix_norm = _with_out("linalg.matrix_norm", _matrix_norm.matrix_norm)
matmul = _FUNCTIONS["matmul"]
multi_dot = _with_out("linalg.multi_dot", _multi_dot)
cross = _with_out("linalg.cross", _cross)
inv = _linalg.inv
det = _linalg.det
slogdet = _linalg.slogdet
solve = _with_out("linalg.solve", _linalg.solve)
solve_triangular = _triangular.linalg_solve_triangular
cholesky = _with_out("linalg.cholesky", _linalg.cholesky)
qr = _with_out("linalg.qr", _linalg.qr)
inv_ex = _with_out("linalg.inv_ex", _checked.inv_ex)
cholesky_ex = _with_out("linalg.cholesky_ex", _checked.cholesky_ex)
solve_ex = _with_out("linalg.solve_ex", _checked.solve_ex)
eigh = _with_out("linalg.eigh", _linalg.eigh)
eigvalsh = _with_out("linalg.eigvalsh", _linalg.eigvalsh)
svd = _with_out("linalg.svd", _linalg.svd)
svdvals = _with_out("linalg.svdvals", _linalg.svdvals)
pinv = _with_out("linalg.pinv", _linalg.pinv)
matrix_power = _linalg.matrix_power
vander = _vander
matrix_exp = _matrix_functions.matrix_exp
matrix_rank = _with_out("linalg.matrix_rank", _matrix_functions.matrix_rank)
cond = _with_out("linalg.cond", _matrix_functions.cond)
lstsq = _with_out("linalg.lstsq", _matrix_functions.lstsq)
eig = _with_out("linalg.eig", _eigen.eig)
eigvals = _with_out("linalg.eigvals", _eigen.eigvals)
householder_product = _with_out("linalg.householder_product", _eigen.householder_product)
ldl_factor = _with_out("linalg.ldl_factor", _eigen.ldl_factor)
ldl_factor_ex = _with_out("linalg.ldl_factor_ex", _eigen.ldl_factor_ex)
ldl_solve = _with_out("linalg.ldl_solve", _eigen.ldl_solve)
tensorinv = _with_out("linalg.tensorinv", _eigen.tensorinv)
tensorsolve = _with_out("linalg.tensorsolve", _eigen.tensorsolve)
lu = _with_out("linalg.lu", _lu.lu)
lu_factor = _with_out("linalg.lu_factor", _lu.lu_factor)
lu_factor_ex = _with_out("linalg.lu_factor_ex", _lu.lu_factor_ex)
lu_solve = _with_out("linalg.lu_solve", _lu.lu_solve)


@_autocast("lower")
def _vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    return (x.conj() * y).sum(dim)


def _diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    return A.diagonal(offset, dim1, dim2)


vecdot = _with_out("linalg.vecdot", _vecdot)
diagonal = _diagonal

_give_homes(dict(globals()), __name__)
