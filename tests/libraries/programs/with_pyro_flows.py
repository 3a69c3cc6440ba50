"""pyro: a variational autoencoder, normalizing flows, Gaussian processes, distributions, a hidden Markov model."""

import pyro
import pyro.contrib.gp as gp
import pyro.distributions as dist
import pyro.distributions.transforms as T
import torch
import torch.nn as nn
from pyro.infer import SVI, Trace_ELBO, TraceMeanField_ELBO
from pyro.optim import Adam

pyro.set_rng_seed(0)
pyro.clear_param_store()


class Enc(nn.Module):
    def __init__(s):
        super().__init__()
        s.f = nn.Linear(20, 16)
        s.a = nn.Linear(16, 3)
        s.b = nn.Linear(16, 3)

    def forward(s, x):
        h = torch.nn.functional.softplus(s.f(x))
        return s.a(h), torch.exp(s.b(h))


class Dec(nn.Module):
    def __init__(s):
        super().__init__()
        s.f = nn.Linear(3, 16)
        s.a = nn.Linear(16, 20)

    def forward(s, z):
        return torch.sigmoid(s.a(torch.nn.functional.softplus(s.f(z))))


class VAE(nn.Module):
    def __init__(s):
        super().__init__()
        s.e, s.d = Enc(), Dec()

    def model(s, x):
        pyro.module("d", s.d)
        with pyro.plate("data", x.shape[0]):
            z = pyro.sample("z", dist.Normal(x.new_zeros(x.shape[0], 3), x.new_ones(x.shape[0], 3)).to_event(1))
            pyro.sample("x", dist.Bernoulli(s.d(z)).to_event(1), obs=x)

    def guide(s, x):
        pyro.module("e", s.e)
        with pyro.plate("data", x.shape[0]):
            mu, sg = s.e(x)
            pyro.sample("z", dist.Normal(mu, sg).to_event(1))


x = (torch.rand(32, 20) > 0.5).float()
for E in (Trace_ELBO(), TraceMeanField_ELBO()):
    pyro.clear_param_store()
    torch.manual_seed(1)
    v = VAE()
    svi = SVI(v.model, v.guide, Adam({"lr": 1e-2}), loss=E)
    for i in range(6):
        print(svi.step(x))
base = dist.Normal(torch.zeros(2), torch.ones(2))
sp = T.spline_coupling(2, count_bins=8)
fl = dist.TransformedDistribution(base, [sp])
X = torch.randn(64, 2) * torch.tensor([1.0, 0.3])
o = torch.optim.Adam(sp.parameters(), lr=5e-3)
for i in range(5):
    o.zero_grad()
    l = -fl.log_prob(X).mean()
    l.backward()
    o.step()
    fl.clear_cache()
    print(l.item())
for t in (
    T.affine_autoregressive(2, hidden_dims=[8]),
    T.planar(2),
    T.radial(2),
    T.householder(2),
    T.permute(2),
    T.batchnorm(2),
    T.affine_coupling(2, [8]),
    T.conditional_planar(2, 3),
):
    d = (
        dist.ConditionalTransformedDistribution(base, [t]).condition(torch.ones(3))
        if "Conditional" in type(t).__name__
        else dist.TransformedDistribution(base, [t])
    )
    torch.manual_seed(0)
    s = d.rsample((5,))
    print(type(t).__name__, s.sum().item(), d.log_prob(s).sum().item())
Xg = torch.linspace(0, 5, 20)
yg = torch.sin(Xg) + 0.1 * torch.randn(20)
pyro.clear_param_store()
k = gp.kernels.RBF(1, variance=torch.tensor(1.0), lengthscale=torch.tensor(1.0))
r = gp.models.GPRegression(Xg, yg, k, noise=torch.tensor(0.5))
o = torch.optim.Adam(r.parameters(), lr=0.05)
lf = Trace_ELBO().differentiable_loss
for i in range(5):
    o.zero_grad()
    l = lf(r.model, r.guide)
    l.backward()
    o.step()
    print(l.item())
m, c = r(torch.linspace(0, 5, 3), full_cov=True, noiseless=False)
print(m.tolist(), c.sum().item())
for d in (
    dist.Gamma(2.0, 3.0),
    dist.Beta(2.0, 5.0),
    dist.StudentT(4.0, 0.0, 1.0),
    dist.VonMises(0.5, 2.0),
    dist.NegativeBinomial(5.0, torch.tensor(0.3)),
    dist.ZeroInflatedPoisson(rate=torch.tensor(4.0), gate=torch.tensor(0.3)),
    dist.LKJCholesky(3, 1.5),
    dist.Dirichlet(torch.ones(3)),
    dist.BetaBinomial(2.0, 3.0, 10),
    dist.Delta(torch.tensor(1.0)),
    dist.Weibull(1.0, 2.0),
    dist.Laplace(0.0, 1.0),
    dist.MixtureSameFamily(dist.Categorical(torch.ones(2)), dist.Normal(torch.tensor([0.0, 5.0]), 1.0)),
    dist.MultivariateNormal(torch.zeros(2), torch.eye(2)),
    dist.OneHotCategorical(torch.tensor([0.1, 0.2, 0.7])),
    dist.RelaxedBernoulli(torch.tensor(1.0), torch.tensor(0.3)),
    dist.Gumbel(0.0, 1.0),
    dist.Pareto(1.0, 2.0),
    dist.InverseGamma(3.0, 2.0),
    dist.SoftLaplace(0.0, 1.0),
    dist.AsymmetricLaplace(0.0, 1.0, 1.5),
    dist.MaskedMixture(torch.tensor(True), dist.Normal(0.0, 1.0), dist.Normal(3.0, 1.0)),
):
    torch.manual_seed(4)
    s = d.sample((6,))
    print(type(d).__name__, s.float().sum().item(), d.log_prob(s).sum().item())


def hmm(seq, K=3):
    p = pyro.sample("p", dist.Dirichlet(0.9 * torch.eye(K) + 0.1).to_event(1))
    q = pyro.sample("q", dist.Normal(torch.arange(float(K)), 1.0).to_event(1))
    s = 0
    for t in pyro.markov(range(len(seq))):
        s = pyro.sample(f"s{t}", dist.Categorical(p[s]), infer={"enumerate": "parallel"})
        pyro.sample(f"y{t}", dist.Normal(q[s], 1.0), obs=seq[t])


from pyro.infer import TraceEnum_ELBO
from pyro.infer.autoguide import AutoDelta

pyro.clear_param_store()
pyro.set_rng_seed(3)
svi = SVI(
    hmm, AutoDelta(pyro.poutine.block(hmm, expose=["p", "q"])), Adam({"lr": 0.1}), TraceEnum_ELBO(max_plate_nesting=0)
)
seq = torch.tensor([0.0, 1.0, 2.0, 1.0, 0.0])
for i in range(6):
    print(svi.step(seq))
