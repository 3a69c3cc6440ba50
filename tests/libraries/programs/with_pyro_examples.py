"""pyro: its examples in small. A deep Markov model, topics, a Dirichlet process, guides of every kind, samples through a trained guide."""

import pyro
import pyro.distributions as dist
import torch
from pyro import poutine
from pyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO, TraceEnum_ELBO, TraceMeanField_ELBO, config_enumerate
from pyro.infer import autoguide as guides
from pyro.infer.reparam import NeuTraReparam
from pyro.nn import PyroModule, PyroParam, PyroSample, pyro_method
from torch import nn


def losses(name, model, guide, optimizer, elbo, *arguments, steps=4):
    svi = SVI(model, guide, optimizer, elbo)
    print(name, *(f"{svi.step(*arguments):.4f}" for _ in range(steps)))


def fresh(seed):
    pyro.clear_param_store()
    pyro.set_rng_seed(seed)


class Transition(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gate, self.proposed, self.scale = (nn.Linear(size, size) for _ in range(3))
        self.straight = nn.Linear(size, size)
        self.straight.weight.data, self.straight.bias.data = torch.eye(size), torch.zeros(size)

    def forward(self, state):
        gate, proposed = torch.sigmoid(self.gate(state)), torch.relu(self.proposed(state))
        return (1 - gate) * self.straight(state) + gate * proposed, nn.functional.softplus(
            self.scale(torch.relu(proposed))
        )


class DeepMarkovModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.emit = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 5), nn.Sigmoid())
        self.move, self.combine, self.before = Transition(3), nn.Linear(6, 6), nn.Linear(3, 6)
        self.rnn = nn.RNN(5, 6, batch_first=True, nonlinearity="relu")
        self.start, self.guessed = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.zeros(3))

    def model(self, notes, mask, weight):
        pyro.module("dmm", self)
        state = self.start.expand(len(notes), 3)
        with pyro.plate("songs", len(notes)):
            for t in pyro.markov(range(notes.size(1))):
                loc, scale = self.move(state)
                with poutine.scale(None, weight):
                    state = pyro.sample(f"z_{t}", dist.Normal(loc, scale).mask(mask[:, t : t + 1]).to_event(1))
                heard = dist.Bernoulli(self.emit(state)).mask(mask[:, t : t + 1]).to_event(1)
                pyro.sample(f"x_{t}", heard, obs=notes[:, t])

    def guide(self, notes, mask, weight):
        pyro.module("dmm", self)
        hidden = self.rnn(notes.flip(1))[0].flip(1)
        state = self.guessed.expand(len(notes), 3)
        with pyro.plate("songs", len(notes)):
            for t in pyro.markov(range(notes.size(1))):
                loc, scale = self.combine(0.5 * (torch.tanh(self.before(state)) + hidden[:, t])).chunk(2, -1)
                normal = dist.Normal(loc, nn.functional.softplus(scale)).mask(mask[:, t : t + 1]).to_event(1)
                with poutine.scale(None, weight):
                    state = pyro.sample(f"z_{t}", normal)


fresh(0)
dmm = DeepMarkovModel()
songs = (torch.rand(6, 5, 5) > 0.5).float()
mask = torch.arange(5) < torch.tensor([[5], [4], [3], [5], [2], [5]])
clipped = {"lr": 3e-3, "betas": (0.96, 0.999), "clip_norm": 10.0, "lrd": 0.99996, "weight_decay": 2.0}
losses("deep Markov model", dmm.model, dmm.guide, pyro.optim.ClippedAdam(clipped), Trace_ELBO(), songs, mask, 0.5)


def topics(words):
    with pyro.plate("topics", 3):
        weights = pyro.sample("weights", dist.Gamma(1.0 / 3, 1.0))
        vocabulary = pyro.sample("vocabulary", dist.Dirichlet(torch.ones(7) / 7))
    with pyro.plate("documents", 6) as ind:
        mixed = pyro.sample("mixed", dist.Dirichlet(weights))
        with pyro.plate("words", 9):
            topic = pyro.sample("topic", dist.Categorical(mixed))
            pyro.sample("word", dist.Categorical(vocabulary[topic]), obs=words[:, ind])


fresh(1)
delta = guides.AutoDelta(poutine.block(topics, expose=["weights", "vocabulary", "mixed"]))
elbo = TraceEnum_ELBO(max_plate_nesting=2)
losses("topics", config_enumerate(topics), delta, pyro.optim.ClippedAdam({"lr": 0.05}), elbo, torch.randint(7, (9, 6)))


def sticks(beta):
    ones = nn.functional.pad(beta, (0, 1), value=1)
    return ones * nn.functional.pad((1 - beta).cumprod(-1), (1, 0), value=1)


def process(data):
    with pyro.plate("sticks", 3):
        beta = pyro.sample("beta", dist.Beta(1.0, 1.5))
    with pyro.plate("clusters", 4):
        centre = pyro.sample("centre", dist.MultivariateNormal(torch.zeros(2), 5 * torch.eye(2)))
    with pyro.plate("data", len(data)):
        which = pyro.sample("which", dist.Categorical(sticks(beta)))
        pyro.sample("seen", dist.MultivariateNormal(centre[which], torch.eye(2)), obs=data)


def process_guide(data):
    kappa = pyro.param("kappa", lambda: dist.Uniform(0.5, 2).sample([3]), constraint=dist.constraints.positive)
    tau = pyro.param("tau", lambda: dist.MultivariateNormal(torch.zeros(2), 3 * torch.eye(2)).sample([4]))
    phi = pyro.param(
        "phi", lambda: dist.Dirichlet(torch.ones(4)).sample([len(data)]), constraint=dist.constraints.simplex
    )
    with pyro.plate("sticks", 3):
        pyro.sample("beta", dist.Beta(torch.ones(3), kappa))
    with pyro.plate("clusters", 4):
        pyro.sample("centre", dist.MultivariateNormal(tau, torch.eye(2)))
    with pyro.plate("data", len(data)):
        pyro.sample("which", dist.Categorical(phi))


fresh(2)
losses(
    "Dirichlet process",
    process,
    process_guide,
    pyro.optim.Adam({"lr": 0.05}),
    Trace_ELBO(num_particles=5),
    torch.randn(15, 2),
)


def posterior():
    loc = pyro.sample("a", dist.Normal(0.0, 1.0))
    pyro.sample("o", dist.Normal(loc, pyro.sample("b", dist.HalfNormal(1.0))), obs=torch.tensor(0.7))


for kind in (guides.AutoIAFNormal, guides.AutoDiagonalNormal, guides.AutoMultivariateNormal, guides.AutoGaussian):
    fresh(3)
    guide = kind(posterior)
    losses(kind.__name__, posterior, guide, pyro.optim.Adam({"lr": 0.02}), Trace_ELBO(), steps=6)
    if kind in (guides.AutoIAFNormal, guides.AutoDiagonalNormal):
        neutra = NeuTraReparam(guide.requires_grad_(False))
        chain = MCMC(
            NUTS(neutra.reparam(posterior), max_tree_depth=3), num_samples=5, warmup_steps=4, disable_progbar=True
        )
        chain.run()
        samples = neutra.transform_sample(next(iter(chain.get_samples().values())))
        print({name: [round(v, 3) for v in values.tolist()] for name, values in samples.items()})
fresh(4)
structured = guides.AutoStructured(
    posterior, conditionals={"a": "normal", "b": "mvn"}, dependencies={"b": {"a": "linear"}}
)
losses("structured", posterior, structured, pyro.optim.Adam({"lr": 0.02}), Trace_ELBO())
fresh(5)
listed = guides.AutoGuideList(posterior)
listed.append(guides.AutoDelta(poutine.block(posterior, expose=["a"])))
listed.append(guides.AutoNormal(poutine.block(posterior, expose=["b"])))
losses("list of guides", posterior, listed, pyro.optim.AdagradRMSProp({"eta": 0.1}), Trace_ELBO())


class Network(PyroModule):
    def __init__(self):
        super().__init__()
        self.hidden = PyroModule[nn.Linear](3, 5)
        self.hidden.weight = PyroSample(lambda module: dist.Normal(0.0, 1.0).expand([5, 3]).to_event(2))
        self.out = PyroModule[nn.Linear](5, 1)
        self.noise = PyroParam(torch.tensor(0.3), dist.constraints.positive)

    @pyro_method
    def mean(self, x):
        return self.out(torch.tanh(self.hidden(x))).squeeze(-1)

    def forward(self, x, y=None):
        mean = self.mean(x)
        with pyro.plate("data", len(x)):
            return pyro.sample("y", dist.Normal(mean, self.noise), obs=y)


fresh(6)
x, y, network = torch.randn(12, 3), torch.randn(12), Network()
guide = guides.AutoLowRankMultivariateNormal(network, rank=2, init_loc_fn=guides.init_to_sample)
cosine = pyro.optim.CosineAnnealingLR({"optimizer": torch.optim.AdamW, "optim_args": {"lr": 0.02}, "T_max": 5})
losses("Bayesian network", network, guide, cosine, TraceMeanField_ELBO(), x, y)
predicted = Predictive(network, guide=guide, num_samples=6, return_sites=("y", "_RETURN"))(x)
print({name: (tuple(value.shape), round(value.abs().mean().item(), 4)) for name, value in predicted.items()})
