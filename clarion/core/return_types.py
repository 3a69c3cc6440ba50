"""Named tuples of operations with several results: `torch.return_types.sort(values=..., indices=...)`."""

from __future__ import annotations

import operator
from typing import Any

from ..pytree import SUPPORTED_NODES, NodeDef


class ReturnType(tuple[Any, ...]):
    """A tuple whose items have names too; prints as PyTorch's. Made from one sequence, or from its items."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()  # not `_fields`, by which programs tell a namedtuple
    n_fields = n_sequence_fields = n_unnamed_fields = 0

    def __new__(cls, *items: Any) -> Any:
        values = items[0] if len(items) == 1 else items
        if not isinstance(values, (tuple, list)):
            raise TypeError("constructor requires a sequence")
        if len(values) != len(cls.__match_args__):
            raise TypeError(
                f"{cls.__name__}() takes a {len(cls.__match_args__)}-sequence ({len(values)}-sequence given)"
            )
        return tuple.__new__(cls, values)

    def __repr__(self) -> str:
        parts = ",\n".join(f"{name}={value!r}" for name, value in zip(self.__match_args__, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{parts})"

    __str__ = __repr__

    def __reduce__(self) -> Any:
        return type(self), (tuple(self),)


filled = tuple.__new__  # one of a kind, of values that are known to be as many as it has names


def return_type(name: str, fields: str) -> type[ReturnType]:
    """Declare a named tuple: `sort = return_type("sort", "values indices")`; `sort(v, i).values`."""
    names = tuple(fields.split())
    body: dict[str, Any] = {field: property(operator.itemgetter(i)) for i, field in enumerate(names)}
    count = len(names)
    body |= {"__slots__": (), "__match_args__": names, "__module__": __name__}
    body |= {"n_fields": count, "n_sequence_fields": count}
    made = type(name, (ReturnType,), body)
    SUPPORTED_NODES[made] = NodeDef(made, lambda given: (list(given), None), lambda items, _: made(*items))
    return made


aminmax = return_type("aminmax", "min max")
cummax = return_type("cummax", "values indices")
cummin = return_type("cummin", "values indices")
frexp = return_type("frexp", "mantissa exponent")
histogram = return_type("histogram", "hist bin_edges")
histogramdd = return_type("histogramdd", "hist bin_edges")
kthvalue = return_type("kthvalue", "values indices")
max = return_type("max", "values indices")
median = return_type("median", "values indices")
min = return_type("min", "values indices")
mode = return_type("mode", "values indices")
nanmedian = return_type("nanmedian", "values indices")
sort = return_type("sort", "values indices")
topk = return_type("topk", "values indices")
linalg_cholesky_ex = return_type("linalg_cholesky_ex", "L info")
geqrf = return_type("geqrf", "a tau")
linalg_eig = return_type("linalg_eig", "eigenvalues eigenvectors")
linalg_eigh = return_type("linalg_eigh", "eigenvalues eigenvectors")
linalg_inv_ex = return_type("linalg_inv_ex", "inverse info")
linalg_ldl_factor = return_type("linalg_ldl_factor", "LD pivots")
linalg_ldl_factor_ex = return_type("linalg_ldl_factor_ex", "LD pivots info")
linalg_lstsq = return_type("linalg_lstsq", "solution residuals rank singular_values")
linalg_lu = return_type("linalg_lu", "P L U")
linalg_lu_factor = return_type("linalg_lu_factor", "LU pivots")
linalg_lu_factor_ex = return_type("linalg_lu_factor_ex", "LU pivots info")
_lu_with_info = return_type("_lu_with_info", "LU pivots info")
linalg_qr = return_type("linalg_qr", "Q R")
linalg_slogdet = return_type("linalg_slogdet", "sign logabsdet")
linalg_solve_ex = return_type("linalg_solve_ex", "result info")
linalg_svd = return_type("linalg_svd", "U S Vh")
lu_unpack = return_type("lu_unpack", "P L U")
qr = return_type("qr", "Q R")
slogdet = return_type("slogdet", "sign logabsdet")
svd = return_type("svd", "U S V")
triangular_solve = return_type("triangular_solve", "solution cloned_coefficient")
