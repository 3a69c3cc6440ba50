"""pyro: discrete variables summed out, in a mixture and a hidden Markov model; the likeliest states; other objectives."""

import pyro
import pyro.distributions as dist
import torch
from pyro import poutine
from pyro.infer import (
    SVI,
    RenyiELBO,
    Trace_ELBO,
    TraceEnum_ELBO,
    TraceGraph_ELBO,
    TraceMeanField_ELBO,
    config_enumerate,
    infer_discrete,
)
from pyro.infer.autoguide import AutoDelta, AutoLowRankMultivariateNormal, AutoNormal

pyro.set_rng_seed(0)
data = torch.cat([torch.randn(20) - 2, torch.randn(20) + 2])


@config_enumerate
def mixture(data):
    weights = pyro.sample("weights", dist.Dirichlet(0.5 * torch.ones(2)))
    with pyro.plate("components", 2):
        places = pyro.sample("places", dist.Normal(0.0, 5.0))
    with pyro.plate("data", len(data)):
        which = pyro.sample("which", dist.Categorical(weights))
        pyro.sample("seen", dist.Normal(places[which], 1.0), obs=data)
        return which


pyro.clear_param_store()
guide = AutoDelta(poutine.block(mixture, expose=["weights", "places"]))
svi = SVI(mixture, guide, pyro.optim.Adam({"lr": 0.1}), TraceEnum_ELBO(max_plate_nesting=1))
print(*(f"{svi.step(data):.4f}" for _ in range(8)))
replayed = poutine.replay(mixture, trace=poutine.trace(guide).get_trace(data))
states = infer_discrete(replayed, temperature=0, first_available_dim=-2)(data)
print(states.sum().item(), {name: value.tolist() for name, value in pyro.get_param_store().items()})

sequence = (torch.rand(8) > 0.5).float()


@config_enumerate
def markov(sequence):
    turn = pyro.sample("turn", dist.Beta(torch.ones(2), torch.ones(2)).to_event(1))
    show = pyro.sample("show", dist.Beta(torch.tensor([1.0, 4.0]), torch.tensor([4.0, 1.0])).to_event(1))
    state = 0
    for t in pyro.markov(range(len(sequence))):
        state = pyro.sample(
            f"state{t}",
            dist.Bernoulli(turn[..., state] if t == 0 else turn[..., 0] * (1 - state) + turn[..., 1] * state),
        ).long()
        pyro.sample(f"seen{t}", dist.Bernoulli(show[..., 0] * (1 - state) + show[..., 1] * state), obs=sequence[t])


pyro.clear_param_store()
pyro.set_rng_seed(1)
guide = AutoNormal(poutine.block(markov, expose=["turn", "show"]))
svi = SVI(markov, guide, pyro.optim.ClippedAdam({"lr": 0.05}), TraceEnum_ELBO(max_plate_nesting=0))
print(*(f"{svi.step(sequence):.4f}" for _ in range(6)))


def regression(x, y):
    weight = pyro.sample("weight", dist.Normal(torch.zeros(3), 1.0).to_event(1))
    spread = pyro.sample("spread", dist.HalfCauchy(1.0))
    with pyro.plate("rows", len(x)):
        pyro.sample("y", dist.Normal(x @ weight, spread), obs=y)


x = torch.randn(20, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5]) + 0.1 * torch.randn(20)
for objective in (
    Trace_ELBO(num_particles=3),
    TraceGraph_ELBO(),
    TraceMeanField_ELBO(),
    RenyiELBO(alpha=0.5, num_particles=3),
):
    pyro.clear_param_store()
    pyro.set_rng_seed(2)
    guide = (
        AutoLowRankMultivariateNormal(regression, rank=2)
        if isinstance(objective, Trace_ELBO)
        else AutoNormal(regression)
    )
    svi = SVI(regression, guide, pyro.optim.Adam({"lr": 0.02}), objective)
    print(type(objective).__name__, *(f"{svi.step(x, y):.4f}" for _ in range(4)))
