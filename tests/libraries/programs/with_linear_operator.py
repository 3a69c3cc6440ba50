"""linear_operator: structured matrices, their products, solves, determinants and roots; gradients by Cholesky and by conjugate gradients."""

import linear_operator
import torch
from linear_operator import operators as O
from linear_operator import settings, to_linear_operator
from linear_operator.utils import linear_cg, minres
from linear_operator.utils.cholesky import psd_safe_cholesky
from linear_operator.utils.lanczos import lanczos_tridiag

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
square = torch.randn(6, 6)
square = square @ square.T + 6 * torch.eye(6)
right, tall = torch.randn(6, 3), torch.randn(6, 2)
whole, small, other = (
    to_linear_operator(square),
    to_linear_operator(square[:2, :2]),
    to_linear_operator(square[2:5, 2:5]),
)
batch = to_linear_operator(torch.stack([square, square + 1]))
factor = O.TriangularLinearOperator(torch.linalg.cholesky(square))
kept = torch.tensor([True, True, False, True, False, True])


def told(name, *values):
    print(name, *(f"{tuple(v.shape)} {v.abs().sum().item():.6f} {v.norm().item():.6f}" for v in values))


kronecker = O.KroneckerProductLinearOperator(small, other)
positive = {
    "batch": batch,
    "diagonal": O.DiagLinearOperator(torch.rand(6) + 1),
    "constant diagonal": O.ConstantDiagLinearOperator(torch.tensor([2.0]), 6),
    "identity": O.IdentityLinearOperator(5),
    "low rank": O.LowRankRootAddedDiagLinearOperator(
        O.LowRankRootLinearOperator(tall), O.DiagLinearOperator(torch.rand(6) + 1)
    ),
    "added diagonal": whole.add_diagonal(torch.rand(6)),
    "kronecker": kronecker,
    "kronecker and diagonal": O.KroneckerProductAddedDiagLinearOperator(
        kronecker, O.ConstantDiagLinearOperator(torch.tensor([0.5]), 6)
    ),
    "toeplitz": O.ToeplitzLinearOperator(torch.tensor([4.0, 1.0, 0.5, 0.25, 0.1])),
    "block diagonal": O.BlockDiagLinearOperator(batch),
    "interleaved": O.BlockInterleavedLinearOperator(batch),
    "sum of a batch": O.SumBatchLinearOperator(batch),
    "sum": whole + O.DiagLinearOperator(torch.ones(6)) + O.RootLinearOperator(tall),
    "cholesky": O.CholLinearOperator(factor),
    "multiple": O.ConstantMulLinearOperator(whole, torch.tensor(3.0)),
    "repeated": O.BatchRepeatLinearOperator(whole, torch.Size([2])),
}
for name, operator in positive.items():
    n = operator.shape[-1]
    vectors = torch.linspace(-1, 1, 2 * n).view(n, 2).expand(*operator.shape[:-2], n, 2)
    told(
        name,
        operator.to_dense(),
        operator @ vectors,
        operator.diagonal(dim1=-2, dim2=-1),
        operator[..., 1:3, :2].to_dense(),
    )
    told("  solved", operator.solve(vectors), operator.logdet(), *operator.inv_quad_logdet(vectors, logdet=True))
    told("  roots", operator.cholesky().to_dense(), operator.root_decomposition().to_dense())
for name, operator in {
    "stacked": O.CatLinearOperator(whole, whole, dim=-2),
    "product": O.MatmulLinearOperator(square, right),
    "permutation": O.PermutationLinearOperator(torch.tensor([2, 0, 1, 3])),
    "masked": O.MaskedLinearOperator(whole, kept, kept),
    "interpolated": O.InterpolatedLinearOperator(
        whole, torch.tensor([[0, 1], [2, 3]]), torch.rand(2, 2), torch.tensor([[5, 4], [3, 1]]), torch.rand(2, 2)
    ),
    "triangular": factor,
}.items():
    told(name, operator.to_dense(), operator @ torch.ones(operator.shape[-1], 2), operator.mT.to_dense().sum(-1))

functions = {
    "solve": lambda a: linear_operator.solve(a, right).sin().sum(),
    "quadratic form": lambda a: sum(each.sum() for each in linear_operator.inv_quad_logdet(a, right, logdet=True)),
    "root": lambda a: linear_operator.sqrt_inv_matmul(a, right).sum(),
    "pivoted": lambda a: linear_operator.pivoted_cholesky(a, 4).pow(2).sum(),
    "eigenvalues": lambda a: linear_operator.diagonalization(a, method="symeig")[0].pow(2).sum(),
    "root of the inverse": lambda a: linear_operator.root_inv_decomposition(a).to_dense().pow(2).sum(),
}
for largest in (800, 2):
    for name, function in functions.items():
        torch.manual_seed(5)
        leaf = square.clone().requires_grad_()
        with settings.max_cholesky_size(largest), settings.cg_tolerance(1e-8), settings.num_trace_samples(40):
            value = function(to_linear_operator(leaf).add_diagonal(torch.full((6,), 0.1)))
            value.backward()
        told(f"{name} {largest}", value, leaf.grad)

told(
    "torch's functions", torch.linalg.cholesky(whole).to_dense(), torch.linalg.solve(whole, right), torch.logdet(whole)
)
told("spectra", torch.linalg.eigvalsh(whole), whole.svd()[1], torch.linalg.eigh(whole)[0])
told("iterations", linear_cg(square.matmul, right, tolerance=1e-10, max_iter=50, max_tridiag_iter=0))
told("residuals", minres(lambda v: square @ v, right, max_iter=50), psd_safe_cholesky(torch.ones(3, 3)))
basis, tridiagonal = lanczos_tridiag(
    square.matmul, 6, square.dtype, square.device, square.shape, init_vecs=torch.ones(6, 1)
)
told("lanczos", basis @ tridiagonal @ basis.mT)
torch.manual_seed(6)
told("samples", whole.zero_mean_mvn_samples(5))
