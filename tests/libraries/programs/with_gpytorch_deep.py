"""gpytorch: deep kernels on a grid, deep Gaussian processes, natural gradients, priors."""

import tempfile

import gpytorch
import torch
from gpytorch.mlls import DeepApproximateMLL, VariationalELBO
from gpytorch.models.deep_gps import DeepGP, DeepGPLayer

torch.manual_seed(0)
X = torch.linspace(0, 1, 50).unsqueeze(-1)
Y = torch.sin(8 * X.squeeze()) + 0.1 * torch.randn(50)


class FE(torch.nn.Sequential):
    def __init__(s):
        super().__init__(torch.nn.Linear(1, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))


class DKL(gpytorch.models.ExactGP):
    def __init__(s, x, y, l):
        super().__init__(x, y, l)
        s.mean_module = gpytorch.means.ConstantMean()
        s.covar_module = gpytorch.kernels.GridInterpolationKernel(
            gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=2)), num_dims=2, grid_size=10
        )
        s.fe = FE()
        s.scale = gpytorch.utils.grid.ScaleToBounds(-1.0, 1.0)

    def forward(s, x):
        h = s.scale(s.fe(x))
        return gpytorch.distributions.MultivariateNormal(s.mean_module(h), s.covar_module(h))


l = gpytorch.likelihoods.GaussianLikelihood()
m = DKL(X, Y, l)
m.train()
l.train()
o = torch.optim.Adam(m.parameters(), lr=0.01)
mll = gpytorch.mlls.ExactMarginalLogLikelihood(l, m)
for i in range(4):
    o.zero_grad()
    loss = -mll(m(X), Y)
    loss.backward()
    o.step()
    print(loss.item())


class Lay(DeepGPLayer):
    def __init__(s, i, o, n=12):
        z = torch.randn(o, n, i) if o is not None else torch.randn(n, i)
        bs = torch.Size([o]) if o is not None else torch.Size([])
        q = gpytorch.variational.CholeskyVariationalDistribution(n, batch_shape=bs)
        st = gpytorch.variational.VariationalStrategy(s, z, q, learn_inducing_locations=True)
        super().__init__(st, i, o)
        s.mean_module = gpytorch.means.ConstantMean(batch_shape=bs)
        s.covar_module = gpytorch.kernels.ScaleKernel(
            gpytorch.kernels.RBFKernel(batch_shape=bs, ard_num_dims=i), batch_shape=bs, ard_num_dims=None
        )

    def forward(s, x):
        return gpytorch.distributions.MultivariateNormal(s.mean_module(x), s.covar_module(x))


class Deep(DeepGP):
    def __init__(s):
        super().__init__()
        s.a = Lay(1, 2)
        s.b = Lay(2, None)
        s.likelihood = gpytorch.likelihoods.GaussianLikelihood()

    def forward(s, x):
        return s.b(s.a(x))


d = Deep()
o = torch.optim.Adam(d.parameters(), lr=0.01)
mll = DeepApproximateMLL(VariationalELBO(d.likelihood, d, 50))
with gpytorch.settings.num_likelihood_samples(4):
    for i in range(4):
        o.zero_grad()
        loss = -mll(d(X), Y)
        loss.backward()
        o.step()
        print(loss.item())


# svgp with natural gradient, minibatches
class S(gpytorch.models.ApproximateGP):
    def __init__(s, z):
        q = gpytorch.variational.NaturalVariationalDistribution(z.size(0))
        super().__init__(gpytorch.variational.VariationalStrategy(s, z, q, learn_inducing_locations=True))
        s.mean_module = gpytorch.means.ConstantMean()
        s.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel())

    def forward(s, x):
        return gpytorch.distributions.MultivariateNormal(s.mean_module(x), s.covar_module(x))


s = S(X[:10].clone())
l = gpytorch.likelihoods.StudentTLikelihood()
ng = gpytorch.optim.NGD(s.variational_parameters(), num_data=50, lr=0.1)
h = torch.optim.Adam([{"params": s.hyperparameters()}, {"params": l.parameters()}], lr=0.01)
s.train()
mll = gpytorch.mlls.PredictiveLogLikelihood(l, s, 50)
from torch.utils.data import DataLoader, TensorDataset

for xb, yb in DataLoader(TensorDataset(X, Y), batch_size=20, shuffle=True):
    ng.zero_grad()
    h.zero_grad()
    loss = -mll(s(xb), yb)
    loss.backward()
    ng.step()
    h.step()
    print(loss.item())
f = tempfile.mktemp()
torch.save(s.state_dict(), f)
s2 = S(X[:10].clone())
s2.load_state_dict(torch.load(f))
s2.eval()
s.eval()
print((s2(X).mean - s(X).mean).abs().max().item() < 1e-6)
with torch.no_grad():
    torch.manual_seed(5)
    print(s(X[:5]).rsample(torch.Size([3])).sum().item())
g = gpytorch.models.ExactGP
k = gpytorch.kernels.RBFKernelGrad()
print(k(X[:3], X[:3]).to_dense().sum().item())
pr = gpytorch.priors.GammaPrior(3.0, 6.0)
k = gpytorch.kernels.RBFKernel(lengthscale_prior=pr, lengthscale_constraint=gpytorch.constraints.Interval(0.01, 2.0))
print(pr.log_prob(k.lengthscale).item(), k.lengthscale.item())
