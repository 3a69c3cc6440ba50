"""pyro: a mixture with enumeration, seven automatic guides, other bounds, conditioning and intervention."""

import pyro
import pyro.distributions as dist
import pyro.poutine as poutine
import torch
from pyro import optim
from pyro.infer import (
    SVI,
    Predictive,
    RenyiELBO,
    Trace_ELBO,
    TraceEnum_ELBO,
    TraceGraph_ELBO,
    config_enumerate,
    infer_discrete,
)
from pyro.infer.autoguide import *

pyro.set_rng_seed(0)
data = torch.cat([torch.randn(20) - 2, torch.randn(20) * 0.5 + 3])


@config_enumerate
def gmm(data):
    w = pyro.sample("w", dist.Dirichlet(torch.ones(2)))
    s = pyro.sample("s", dist.LogNormal(0.0, 1.0))
    with pyro.plate("k", 2):
        loc = pyro.sample("loc", dist.Normal(0.0, 5.0))
    with pyro.plate("data", len(data)):
        z = pyro.sample("z", dist.Categorical(w))
        pyro.sample("obs", dist.Normal(loc[z], s), obs=data)


g = AutoDelta(
    poutine.block(gmm, expose=["w", "loc", "s"]),
    init_loc_fn=lambda site: {"w": torch.ones(2) / 2, "s": torch.tensor(1.0), "loc": torch.tensor([-1.0, 1.0])}[
        site["name"]
    ],
)
svi = SVI(gmm, g, optim.Adam({"lr": 0.1, "betas": [0.8, 0.99]}), TraceEnum_ELBO(max_plate_nesting=1))
for i in range(20):
    l = svi.step(data)
print(l, {k: v.tolist() for k, v in pyro.get_param_store().items()})
tr = poutine.trace(g).get_trace(data)
z = infer_discrete(poutine.replay(gmm, tr), temperature=0, first_available_dim=-2)
print(poutine.trace(z).get_trace(data).nodes["z"]["value"].tolist())
pyro.clear_param_store()
x = torch.randn(50, 2)
y = x @ torch.tensor([1.0, -2.0]) + 0.5 + 0.1 * torch.randn(50)


def model(x, y=None):
    w = pyro.sample("w", dist.Normal(torch.zeros(2), 1.0).to_event(1))
    b = pyro.sample("b", dist.Normal(0.0, 1.0))
    s = pyro.sample("sg", dist.HalfCauchy(1.0))
    with pyro.plate("n", len(x)):
        return pyro.sample("y", dist.Normal(x @ w + b, s), obs=y)


for G in (
    AutoNormal,
    AutoDiagonalNormal,
    AutoMultivariateNormal,
    AutoLowRankMultivariateNormal,
    AutoIAFNormal,
    AutoLaplaceApproximation,
    AutoDelta,
):
    pyro.clear_param_store()
    pyro.set_rng_seed(1)
    gd = G(model)
    s = SVI(
        model, gd, optim.ClippedAdam({"lr": 0.05, "lrd": 0.99}), Trace_ELBO(num_particles=2, vectorize_particles=False)
    )
    for i in range(10):
        l = s.step(x, y)
    print(G.__name__, l)
    if G is AutoMultivariateNormal:
        print(
            {k: v.mean(0).shape for k, v in Predictive(model, guide=gd, num_samples=5)(x).items()},
            gd.quantiles([0.5])["b"]
            if not isinstance(gd.quantiles([0.5])["b"], torch.Tensor)
            else gd.quantiles([0.5])["b"].tolist(),
            gd.median()["w"].tolist(),
        )
for E in (RenyiELBO(alpha=0.5, num_particles=3), TraceGraph_ELBO()):
    pyro.clear_param_store()
    pyro.set_rng_seed(2)
    gd = AutoNormal(model)
    s = SVI(model, gd, optim.Adam({"lr": 0.02}), E)
    for i in range(5):
        l = s.step(x, y)
    print(type(E).__name__, l)
sch = optim.ExponentialLR({"optimizer": torch.optim.Adam, "optim_args": {"lr": 0.01}, "gamma": 0.9})
s = SVI(model, AutoNormal(model), sch, Trace_ELBO())
print(s.step(x, y))
sch.step()
print(s.step(x, y), s.evaluate_loss(x, y))
cond = pyro.condition(model, data={"w": torch.tensor([1.0, -2.0])})
print(poutine.trace(cond).get_trace(x, y).log_prob_sum().item())
print(poutine.trace(poutine.do(model, {"b": torch.tensor(3.0)})).get_trace(x).nodes["y"]["value"].mean().item())
