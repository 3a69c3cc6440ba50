"""gpytorch: several tasks, exact and variational, robust likelihoods, coregionalization."""

import gpytorch
import torch

torch.manual_seed(0)
X = torch.linspace(0, 1, 60).unsqueeze(-1)
Y = torch.stack([torch.sin(6 * X[:, 0]), torch.cos(6 * X[:, 0])], -1) + 0.05 * torch.randn(60, 2)


class MT(gpytorch.models.ExactGP):
    def __init__(s, x, y, l):
        super().__init__(x, y, l)
        s.mean_module = gpytorch.means.MultitaskMean(gpytorch.means.LinearMean(1), num_tasks=2)
        s.covar_module = gpytorch.kernels.MultitaskKernel(gpytorch.kernels.MaternKernel(nu=1.5), num_tasks=2, rank=1)

    def forward(s, x):
        return gpytorch.distributions.MultitaskMultivariateNormal(s.mean_module(x), s.covar_module(x))


lik = gpytorch.likelihoods.MultitaskGaussianLikelihood(num_tasks=2, rank=0)
m = MT(X, Y, lik)
o = torch.optim.Adam(m.parameters(), 0.1)
mll = gpytorch.mlls.ExactMarginalLogLikelihood(lik, m)
for i in range(5):
    o.zero_grad()
    l = -mll(m(X), Y)
    l.backward()
    o.step()
    print(l.item())
m.eval()
lik.eval()
with torch.no_grad(), gpytorch.settings.fast_pred_var():
    p = lik(m(torch.tensor([[0.33], [0.77]])))
    print(p.mean.tolist(), p.variance.tolist())
    lo, up = p.confidence_region()
    print(lo.sum().item(), up.sum().item())


class SV(gpytorch.models.ApproximateGP):
    def __init__(s, z):
        vd = gpytorch.variational.MeanFieldVariationalDistribution(z.size(-2))
        super().__init__(gpytorch.variational.UnwhitenedVariationalStrategy(s, z, vd, learn_inducing_locations=True))
        s.mean_module = gpytorch.means.ZeroMean()
        s.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RQKernel() + gpytorch.kernels.LinearKernel())

    def forward(s, x):
        return gpytorch.distributions.MultivariateNormal(s.mean_module(x), s.covar_module(x))


sv = SV(torch.linspace(0, 1, 7).unsqueeze(-1))
lk = gpytorch.likelihoods.StudentTLikelihood()
o = torch.optim.Adam([*sv.parameters(), *lk.parameters()], 0.02)
for mk in (gpytorch.mlls.VariationalELBO, gpytorch.mlls.PredictiveLogLikelihood, gpytorch.mlls.VariationalELBO):
    try:
        ml = mk(lk, sv, 60)
        l = -ml(sv(X), Y[:, 0])
    except NotImplementedError:
        print("no")
        continue
    o.zero_grad()
    l.backward()
    o.step()
    print(mk.__name__, l.item())


class LM(gpytorch.models.ApproximateGP):
    def __init__(s):
        z = torch.rand(3, 8, 1)
        vd = gpytorch.variational.CholeskyVariationalDistribution(8, batch_shape=torch.Size([3]))
        super().__init__(
            gpytorch.variational.LMCVariationalStrategy(
                gpytorch.variational.VariationalStrategy(s, z, vd, learn_inducing_locations=True),
                num_tasks=2,
                num_latents=3,
                latent_dim=-1,
            )
        )
        s.mean_module = gpytorch.means.ConstantMean(batch_shape=torch.Size([3]))
        s.covar_module = gpytorch.kernels.ScaleKernel(
            gpytorch.kernels.RBFKernel(batch_shape=torch.Size([3])), batch_shape=torch.Size([3])
        )

    def forward(s, x):
        return gpytorch.distributions.MultivariateNormal(s.mean_module(x), s.covar_module(x))


lm = LM()
lk = gpytorch.likelihoods.MultitaskGaussianLikelihood(num_tasks=2)
o = torch.optim.Adam([*lm.parameters(), *lk.parameters()], 0.05)
ml = gpytorch.mlls.VariationalELBO(lk, lm, 60)
for i in range(4):
    o.zero_grad()
    l = -ml(lm(X), Y)
    l.backward()
    o.step()
    print("lmc", l.item())
