"""poisson_nll_loss of log-rates and counts of one shape."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(80)


class PoissonRegression(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.linear = nn.Linear(inputs, 1)

    def forward(self, x):
        return self.linear(x)


x = torch.randn(200, 4)
counts = torch.poisson(torch.exp(0.5 * x[:, 0] - 0.3 * x[:, 1]))
model = PoissonRegression(4)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(5):
    for rows in torch.randperm(200).split(40):
        optimizer.zero_grad()
        log_rate = model(x[rows]).squeeze(1)
        loss = F.poisson_nll_loss(log_rate, counts[rows])
        loss.backward()
        optimizer.step()
print("loss", round(loss.item(), 4), "weights", [round(w, 2) for w in model.linear.weight[0].tolist()])
