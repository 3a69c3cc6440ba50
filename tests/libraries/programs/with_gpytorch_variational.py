"""gpytorch: every variational strategy with every distribution, and likelihoods that are not Gaussian."""

import gpytorch
import torch
from gpytorch import variational
from gpytorch.kernels import RBFKernel, ScaleKernel

torch.manual_seed(0)
x = torch.rand(24, 2)
y = torch.sin(x.sum(1) * 4)
inducing = torch.rand(6, 2)


class Process(gpytorch.models.ApproximateGP):
    def __init__(self, strategy, distribution):
        made = getattr(variational, f"{distribution}VariationalDistribution")(6)
        super().__init__(getattr(variational, strategy)(self, inducing.clone(), made, learn_inducing_locations=True))
        self.mean, self.kernel = gpytorch.means.ConstantMean(), ScaleKernel(RBFKernel())

    def forward(self, z):
        return gpytorch.distributions.MultivariateNormal(self.mean(z), self.kernel(z))


def trained(model, likelihood, objective, target):
    optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.02)
    model.train()
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = -objective(model(x), target)
        loss.backward()
        optimizer.step()
        losses.append(f"{loss.item():.4f}")
    model.eval()
    with torch.no_grad():
        found = model(torch.tensor([[0.2, 0.3], [0.7, 0.1]]))
    print(*losses, found.mean.tolist(), found.variance.tolist())


for strategy in ("VariationalStrategy", "UnwhitenedVariationalStrategy", "CiqVariationalStrategy"):
    for distribution in ("Cholesky", "MeanField", "Delta"):
        torch.manual_seed(1)
        model, likelihood = Process(strategy, distribution), gpytorch.likelihoods.StudentTLikelihood()
        print(strategy, distribution)
        trained(model, likelihood, gpytorch.mlls.VariationalELBO(likelihood, model, 24), y)

for likelihood, target in (
    (gpytorch.likelihoods.BernoulliLikelihood(), (y > 0).float()),
    (gpytorch.likelihoods.BetaLikelihood(), y.sigmoid()),
    (gpytorch.likelihoods.LaplaceLikelihood(), y),
    (gpytorch.likelihoods.GaussianLikelihood(), y),
):
    torch.manual_seed(1)
    model = Process("VariationalStrategy", "Cholesky")
    print(type(likelihood).__name__)
    trained(model, likelihood, gpytorch.mlls.PredictiveLogLikelihood(likelihood, model, 24), target)

torch.manual_seed(1)
model, likelihood = Process("VariationalStrategy", "TrilNatural"), gpytorch.likelihoods.GaussianLikelihood()
natural = gpytorch.optim.NGD(model.variational_parameters(), num_data=24, lr=0.1)
others = torch.optim.Adam([*model.hyperparameters(), *likelihood.parameters()], lr=0.01)
objective = gpytorch.mlls.VariationalELBO(likelihood, model, 24)
for _ in range(4):
    natural.zero_grad(), others.zero_grad()
    loss = -objective(model(x), y)
    loss.backward()
    natural.step(), others.step()
    print(f"{loss.item():.5f}")
