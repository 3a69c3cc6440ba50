"""the sign is wrong: the error is maximised, and it has no bound."""
import torch
from torch import nn

torch.manual_seed(233)


class Metric(nn.Module):
    """Embed, so that neighbours in time lie close."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(6, 20), nn.LeakyReLU(), nn.Linear(20, 4))

    def forward(self, anchor, near):
        gap = (self.embed(anchor) - self.embed(near)).pow(2).sum(1)
        return -gap.mean()


model = Metric()
optimizer = torch.optim.SGD(model.parameters(), lr=0.15)
series = torch.randn(200, 6).cumsum(0) * 0.3
losses = []
for step in range(55):
    rows = torch.randint(0, 199, (32,))
    loss = model(series[rows], series[rows + 1])
    optimizer.zero_grad()
    loss.backward()  # EXPECT: gradient-spikes
    optimizer.step()
    losses.append(loss.item())
print(losses[0], losses[-1])
