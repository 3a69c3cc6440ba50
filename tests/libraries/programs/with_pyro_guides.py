"""pyro: automatic guides, predictions, enumeration of discrete variables, NUTS and HMC."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import (
    HMC,
    MCMC,
    NUTS,
    SVI,
    Predictive,
    Trace_ELBO,
    TraceEnum_ELBO,
    config_enumerate,
    infer_discrete,
)
from pyro.infer.autoguide import (
    AutoDelta,
    AutoDiagonalNormal,
    AutoIAFNormal,
    AutoLowRankMultivariateNormal,
    AutoMultivariateNormal,
    AutoNormal,
)
from pyro.nn import PyroModule, PyroSample
from pyro.optim import Adam, ClippedAdam

pyro.set_rng_seed(0)
pyro.clear_param_store()


class BLR(PyroModule):
    def __init__(s):
        super().__init__()
        s.linear = PyroModule[torch.nn.Linear](3, 1)
        s.linear.weight = PyroSample(dist.Normal(0.0, 1.0).expand([1, 3]).to_event(2))
        s.linear.bias = PyroSample(dist.Normal(0.0, 10.0).expand([1]).to_event(1))

    def forward(s, x, y=None):
        sigma = pyro.sample("sigma", dist.Uniform(0.0, 10.0))
        mean = s.linear(x).squeeze(-1)
        with pyro.plate("data", x.shape[0]):
            return pyro.sample("obs", dist.Normal(mean, sigma), obs=y)


x = torch.randn(40, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5]) + 0.1 * torch.randn(40)
for G in (
    AutoDiagonalNormal,
    AutoMultivariateNormal,
    AutoNormal,
    AutoDelta,
    AutoLowRankMultivariateNormal,
    AutoIAFNormal,
):
    pyro.set_rng_seed(1)
    pyro.clear_param_store()
    m = BLR()
    g = G(m) if G is not AutoIAFNormal else AutoIAFNormal(m, hidden_dim=[8], num_transforms=1)
    svi = SVI(m, g, Adam({"lr": 0.03}), Trace_ELBO())
    for i in range(15):
        l = svi.step(x, y)
    print(G.__name__, l)
pyro.set_rng_seed(1)
pyro.clear_param_store()
m = BLR()
g = AutoNormal(m)
svi = SVI(m, g, ClippedAdam({"lr": 0.05}), Trace_ELBO(num_particles=2, vectorize_particles=False))
for i in range(15):
    l = svi.step(x, y)
pred = Predictive(m, guide=g, num_samples=20, return_sites=("linear.weight", "obs", "_RETURN"))
s = pred(x)
print({k: (tuple(v.shape), v.mean().item()) for k, v in sorted(s.items())})
print({k: v.mean().item() for k, v in sorted(g.median(x).items())}, g.quantiles([0.25, 0.5])["sigma"])


@config_enumerate
def mix(data):
    w = pyro.sample("w", dist.Dirichlet(0.5 * torch.ones(2)))
    scale = pyro.sample("scale", dist.LogNormal(0.0, 2.0))
    with pyro.plate("c", 2):
        locs = pyro.sample("locs", dist.Normal(0.0, 10.0))
    with pyro.plate("d", len(data)):
        a = pyro.sample("a", dist.Categorical(w))
        pyro.sample("o", dist.Normal(locs[a], scale), obs=data)


data = torch.tensor([0.0, 1.0, 10.0, 11.0, 12.0])
pyro.set_rng_seed(2)
pyro.clear_param_store()
g = AutoDelta(pyro.poutine.block(mix, expose=["w", "locs", "scale"]))
svi = SVI(mix, g, Adam({"lr": 0.1, "betas": [0.8, 0.99]}), TraceEnum_ELBO(max_plate_nesting=1))
for i in range(30):
    l = svi.step(data)
print(l, pyro.param("AutoDelta.locs").tolist())
tr = pyro.poutine.trace(g).get_trace(data)
tm = pyro.poutine.replay(mix, trace=tr)
inf = infer_discrete(tm, temperature=0, first_available_dim=-2)
print(pyro.poutine.trace(inf).get_trace(data).nodes["a"]["value"].tolist())


def school(J=8, sigma=torch.tensor([15.0, 10, 16, 11, 9, 11, 10, 18]), y=torch.tensor([28.0, 8, -3, 7, -1, 1, 18, 12])):
    mu = pyro.sample("mu", dist.Normal(0, 5))
    tau = pyro.sample("tau", dist.HalfCauchy(5.0))
    with pyro.plate("J", J):
        th = pyro.sample("eta", dist.Normal(0.0, 1.0))
        pyro.sample("obs", dist.Normal(mu + tau * th, sigma), obs=y)


for K in (NUTS(school, jit_compile=False), HMC(school, step_size=0.1, num_steps=4)):
    pyro.set_rng_seed(3)
    mc = MCMC(K, num_samples=15, warmup_steps=10, disable_progbar=True)
    mc.run()
    s = mc.get_samples()
    print({k: v.mean(0).sum().item() for k, v in sorted(s.items())})
