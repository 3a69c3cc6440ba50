"""pyro: eight schools, logistic regression by HMC and NUTS, hidden Markov models."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import HMC, MCMC, NUTS, Predictive
from pyro.infer.mcmc.util import initialize_model

pyro.set_rng_seed(0)
J = 8
y = torch.tensor([28.0, 8, -3, 7, -1, 1, 18, 12])
sg = torch.tensor([15.0, 10, 16, 11, 9, 11, 10, 18])


def schools(sg, y=None):
    eta = pyro.sample("eta", dist.Normal(torch.zeros(J), 1).to_event(1))
    mu = pyro.sample("mu", dist.Normal(0.0, 10.0))
    tau = pyro.sample("tau", dist.HalfCauchy(25.0))
    return pyro.sample("obs", dist.Normal(mu + tau * eta, sg).to_event(1), obs=y)


k = NUTS(schools, max_tree_depth=4)
m = MCMC(k, num_samples=15, warmup_steps=10, disable_progbar=True)
m.run(sg, y)
s = m.get_samples()
print({n: v.shape for n, v in s.items()})
print(round(s["mu"].mean().item(), 2))


def logi(x, y=None):
    b = pyro.sample("b", dist.Normal(torch.zeros(3), 1).to_event(1))
    return pyro.sample("y", dist.Bernoulli(logits=x @ b).to_event(1), obs=y)


x = torch.randn(100, 3, dtype=torch.float64)
t = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
yy = dist.Bernoulli(logits=x @ t).sample()
torch.set_default_dtype(torch.float64)
pyro.set_rng_seed(3)
m = MCMC(
    HMC(logi, step_size=0.05, num_steps=4, adapt_step_size=False, adapt_mass_matrix=False),
    num_samples=20,
    warmup_steps=5,
    disable_progbar=True,
)
m.run(x, yy)
print(m.get_samples()["b"].mean(0).tolist())
pyro.set_rng_seed(4)
m = MCMC(
    NUTS(logi, step_size=0.1, adapt_step_size=True, full_mass=True, max_tree_depth=5),
    num_samples=15,
    warmup_steps=10,
    disable_progbar=True,
)
m.run(x, yy)
print(m.get_samples()["b"].mean(0).tolist())
print(sorted(m.diagnostics()["b"]), Predictive(logi, m.get_samples())(x)["y"].shape)
init, pot, tr, _ = initialize_model(logi, model_args=(x, yy))
print(pot(init).shape, list(tr))
from pyro import optim
from pyro.infer import SVI, TraceEnum_ELBO, config_enumerate


@config_enumerate
def hmm(seq):
    tp = pyro.param("tp", torch.tensor([[0.8, 0.2], [0.3, 0.7]]), constraint=dist.constraints.simplex)
    em = pyro.param("em", torch.tensor([0.1, 0.9]), constraint=dist.constraints.unit_interval)
    z = 0
    for i in pyro.markov(range(len(seq))):
        z = pyro.sample(f"z{i}", dist.Categorical(tp[z]))
        pyro.sample(f"x{i}", dist.Bernoulli(em[z]), obs=seq[i])


seq = torch.tensor([0.0, 0, 1, 1, 1, 0, 1])
s = SVI(hmm, lambda seq: None, optim.Adam({"lr": 0.05}), TraceEnum_ELBO(max_plate_nesting=0))
for i in range(8):
    l = s.step(seq)
print(l, pyro.param("tp").tolist(), pyro.param("em").tolist())
d = dist.DiscreteHMM(torch.zeros(2), torch.eye(2), dist.Normal(torch.tensor([0.0, 1.0]), 1.0))
print(d.log_prob(seq).item(), d.filter(seq).logits.tolist())
gh = dist.GaussianHMM(
    dist.MultivariateNormal(torch.zeros(2), torch.eye(2)),
    torch.eye(2) * 0.9,
    dist.MultivariateNormal(torch.zeros(2), torch.eye(2) * 0.1),
    torch.ones(2, 1),
    dist.MultivariateNormal(torch.zeros(1), torch.eye(1)),
    duration=5,
)
print(gh.log_prob(torch.randn(5, 1)).item())
