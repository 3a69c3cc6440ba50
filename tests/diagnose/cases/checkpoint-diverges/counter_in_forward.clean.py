"""Legitimate twin: the temperature is annealed by the training loop, between steps."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(74)


class AnnealedGate(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gate = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.temperature = 3.0

    def forward(self, x):
        gate = torch.sigmoid(self.gate(x) / self.temperature)
        return gate * self.value(x)


def encode(layer, head, x):
    hidden = checkpoint(layer, x, use_reentrant=False)
    return head(hidden).squeeze(-1)


layer, head = AnnealedGate(8), nn.Linear(8, 1)
optimizer = torch.optim.SGD([*layer.parameters(), *head.parameters()], lr=0.05, momentum=0.9)
for step in range(50):
    x = torch.randn(32, 8)
    y = x[:, 0] * torch.sigmoid(x[:, 1])
    loss = nn.functional.mse_loss(encode(layer, head, x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    layer.temperature = max(0.5, layer.temperature * 0.97)
    if step % 10 == 9:
        print(step, round(loss.item(), 4), "temperature", round(layer.temperature, 3))
