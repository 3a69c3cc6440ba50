"""gpytorch: several tasks, sums and products of kernels, classification, conjugate gradients."""

import gpytorch
import torch

torch.manual_seed(0)
x = torch.rand(60, 2)
y = torch.stack([torch.sin(x[:, 0] * 6) + x[:, 1], torch.cos(x[:, 0] * 6)], -1) + 0.05 * torch.randn(60, 2)


class MT(gpytorch.models.ExactGP):
    def __init__(s, x, y, l):
        super().__init__(x, y, l)
        s.mean_module = gpytorch.means.MultitaskMean(gpytorch.means.ConstantMean(), num_tasks=2)
        s.covar_module = gpytorch.kernels.MultitaskKernel(
            gpytorch.kernels.RBFKernel(ard_num_dims=2), num_tasks=2, rank=1
        )

    def forward(s, x):
        return gpytorch.distributions.MultitaskMultivariateNormal(s.mean_module(x), s.covar_module(x))


l = gpytorch.likelihoods.MultitaskGaussianLikelihood(num_tasks=2)
m = MT(x, y, l)
mll = gpytorch.mlls.ExactMarginalLogLikelihood(l, m)
o = torch.optim.Adam(m.parameters(), lr=0.1)
m.train()
l.train()
for i in range(10):
    o.zero_grad()
    loss = -mll(m(x), y)
    loss.backward()
    o.step()
    print(loss.item())
m.eval()
l.eval()
with torch.no_grad():
    p = l(m(torch.rand(5, 2)))
    print(p.mean.tolist())
    print(p.variance.sum().item())


class K(gpytorch.models.ExactGP):
    def __init__(s, x, y, l, k):
        super().__init__(x, y, l)
        s.mean_module = gpytorch.means.LinearMean(2)
        s.covar_module = k

    def forward(s, x):
        return gpytorch.distributions.MultivariateNormal(s.mean_module(x), s.covar_module(x))


kk = gpytorch.kernels
for k in (
    kk.ScaleKernel(kk.MaternKernel(nu=1.5, ard_num_dims=2)) + kk.LinearKernel(),
    kk.ScaleKernel(kk.RQKernel()) * kk.PeriodicKernel(),
    kk.PolynomialKernel(power=2),
    kk.SpectralMixtureKernel(num_mixtures=3, ard_num_dims=2),
    kk.InducingPointKernel(
        kk.ScaleKernel(kk.RBFKernel()),
        inducing_points=x[:10].clone(),
        likelihood=gpytorch.likelihoods.GaussianLikelihood(),
    ),
    kk.AdditiveStructureKernel(kk.RBFKernel(), num_dims=2)
    if hasattr(kk, "AdditiveStructureKernel")
    else kk.RBFKernel(),
    kk.RBFKernel(),
):
    torch.manual_seed(1)
    l = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=gpytorch.constraints.GreaterThan(1e-3))
    m = K(x, y[:, 0], l, k)
    m.train()
    l.train()
    o = torch.optim.Adam(m.parameters(), lr=0.05)
    mll = gpytorch.mlls.ExactMarginalLogLikelihood(l, m)
    for i in range(3):
        o.zero_grad()
        loss = -mll(m(x), y[:, 0])
        loss.backward()
        o.step()
    m.eval()
    l.eval()
    with torch.no_grad():
        p = l(m(x[:4] + 0.1))
    print(type(k).__name__, loss.item(), p.mean.tolist(), p.variance.tolist())


class C(gpytorch.models.ApproximateGP):
    def __init__(s, z):
        d = gpytorch.variational.CholeskyVariationalDistribution(z.size(0))
        st = gpytorch.variational.UnwhitenedVariationalStrategy(s, z, d, learn_inducing_locations=False)
        super().__init__(st)
        s.mean_module = gpytorch.means.ConstantMean()
        s.covar_module = kk.ScaleKernel(kk.RBFKernel())

    def forward(s, x):
        return gpytorch.distributions.MultivariateNormal(s.mean_module(x), s.covar_module(x))


c = C(x[:15].clone())
bl = gpytorch.likelihoods.BernoulliLikelihood()
yb = (x[:, 0] > 0.5).float()
o = torch.optim.Adam(c.parameters(), lr=0.1)
mll = gpytorch.mlls.VariationalELBO(bl, c, 60)
c.train()
bl.train()
for i in range(10):
    o.zero_grad()
    loss = -mll(c(x), yb)
    loss.backward()
    o.step()
print(loss.item())
c.eval()
with torch.no_grad():
    print(bl(c(x[:8])).mean.tolist())
with (
    gpytorch.settings.max_cholesky_size(1),
    gpytorch.settings.cg_tolerance(0.01),
    gpytorch.settings.num_trace_samples(5),
):
    torch.manual_seed(3)
    l = gpytorch.likelihoods.GaussianLikelihood()
    m = K(x, y[:, 0], l, kk.ScaleKernel(kk.RBFKernel()))
    m.train()
    l.train()
    mll = gpytorch.mlls.ExactMarginalLogLikelihood(l, m)
    loss = -mll(m(x), y[:, 0])
    loss.backward()
    print(loss.item(), [p.grad.norm().item() for p in m.parameters()])
