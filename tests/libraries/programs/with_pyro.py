"""pyro: stochastic variational inference, and NUTS."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO, TraceEnum_ELBO, config_enumerate
from pyro.infer.autoguide import AutoNormal
from pyro.optim import Adam, ClippedAdam

pyro.set_rng_seed(0)
x = torch.randn(60)
y = 2.0 * x - 1.0 + 0.3 * torch.randn(60)


def model(x, y=None):
    slope = pyro.sample("slope", dist.Normal(0.0, 5.0))
    intercept = pyro.sample("intercept", dist.Normal(0.0, 5.0))
    noise = pyro.sample("noise", dist.HalfNormal(1.0))
    with pyro.plate("data", len(x)):
        return pyro.sample("y", dist.Normal(slope * x + intercept, noise), obs=y)


def guide(x, y=None):
    for name in ("slope", "intercept"):
        mean = pyro.param(f"{name}_mean", torch.tensor(0.0))
        scale = pyro.param(f"{name}_scale", torch.tensor(0.1), constraint=dist.constraints.positive)
        pyro.sample(name, dist.Normal(mean, scale))
    pyro.sample("noise", dist.LogNormal(pyro.param("noise_mean", torch.tensor(-1.0)), 0.1))


svi = SVI(model, guide, Adam({"lr": 0.05}), loss=Trace_ELBO())
losses = [svi.step(x, y) for _ in range(80)]
print(losses[0], losses[-1], pyro.param("slope_mean").item(), pyro.param("intercept_mean").item())

pyro.clear_param_store()
auto = AutoNormal(model)
svi = SVI(model, auto, ClippedAdam({"lr": 0.02}), loss=Trace_ELBO(num_particles=2))
print([svi.step(x, y) for _ in range(10)][-1], {k: v.item() for k, v in auto.median().items()})
print(Predictive(model, guide=auto, num_samples=20)(x)["y"].mean().item())


@config_enumerate
def mixture(data):
    weights = pyro.sample("weights", dist.Dirichlet(torch.ones(2)))
    with pyro.plate("components", 2):
        centers = pyro.sample("centers", dist.Normal(0.0, 3.0))
    with pyro.plate("data", len(data)):
        which = pyro.sample("which", dist.Categorical(weights))
        pyro.sample("obs", dist.Normal(centers[which], 0.5), obs=data)


pyro.clear_param_store()
auto = AutoNormal(pyro.poutine.block(mixture, hide=["which"]))
svi = SVI(mixture, auto, Adam({"lr": 0.05}), loss=TraceEnum_ELBO(max_plate_nesting=1))
print([svi.step(torch.cat([x[:30] + 3, x[30:] - 3])) for _ in range(10)][-1])

pyro.set_rng_seed(1)
mcmc = MCMC(NUTS(model), num_samples=25, warmup_steps=15, disable_progbar=True)
mcmc.run(x, y)
samples = mcmc.get_samples()
print({name: samples[name].mean().item() for name in sorted(samples)})
