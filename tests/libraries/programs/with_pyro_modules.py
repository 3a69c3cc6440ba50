"""pyro: PyTorch's layers as modules of pyro, of which some weights are sampled and the others are parameters."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import SVI, Predictive, Trace_ELBO
from pyro.infer.autoguide import AutoDiagonalNormal
from pyro.nn import PyroModule, PyroParam, PyroSample


class Regression(PyroModule):
    def __init__(self):
        super().__init__()
        self.hidden = PyroModule[torch.nn.Linear](2, 8)
        self.hidden.weight = PyroSample(dist.Normal(0.0, 1.0).expand([8, 2]).to_event(2))
        self.norm = PyroModule[torch.nn.LayerNorm](8)
        self.out = PyroModule[torch.nn.Linear](8, 1)
        self.noise = PyroParam(torch.tensor(0.5), constraint=dist.constraints.positive)

    def forward(self, x, y=None):
        mean = self.out(torch.tanh(self.norm(self.hidden(x)))).squeeze(-1)
        with pyro.plate("data", len(x)):
            pyro.sample("seen", dist.Normal(mean, self.noise), obs=y)
        return mean


pyro.set_rng_seed(0)
x = torch.randn(30, 2)
y = torch.sin(x.sum(1))
model = Regression()
guide = AutoDiagonalNormal(model)
svi = SVI(model, guide, pyro.optim.Adam({"lr": 0.02}), Trace_ELBO())
for step in range(20):
    loss = svi.step(x, y)
    if step % 5 == 4:
        print(loss, model.noise.item())
print(sorted(pyro.get_param_store().keys()))
print(model.out.weight.sum().item(), model.hidden.bias.sum().item())
predicted = Predictive(model, guide=guide, num_samples=20)(x)["seen"]
print(predicted.shape, predicted.mean().item())
