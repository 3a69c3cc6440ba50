"""Must stay silent: MAML; inner updates keep their graph (create_graph=True), the outer loss goes through all of them."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(135)


class SineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.b1 = nn.Parameter(torch.randn(16, 1)), nn.Parameter(torch.zeros(16))
        self.w2, self.b2 = nn.Parameter(torch.randn(1, 16) * 0.2), nn.Parameter(torch.zeros(1))

    def forward(self, x, weights=None):
        w1, b1, w2, b2 = weights or (self.w1, self.b1, self.w2, self.b2)
        return F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2)


def adapt(model, x, y, steps=2, lr=0.05):
    weights = tuple(model.parameters())
    for _ in range(steps):
        loss = F.mse_loss(model(x, weights), y)
        slopes = torch.autograd.grad(loss, weights, create_graph=True)
        weights = tuple(w - lr * g for w, g in zip(weights, slopes))
    return weights


model = SineNet()
meta_optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for iteration in range(30):
    meta_loss = 0.0
    for task in range(3):
        amplitude, phase = torch.rand(1) * 2 + 0.5, torch.rand(1) * 3
        support, query = torch.rand(8, 1) * 6 - 3, torch.rand(8, 1) * 6 - 3
        weights = adapt(model, support, amplitude * torch.sin(support + phase))
        meta_loss = meta_loss + F.mse_loss(model(query, weights), amplitude * torch.sin(query + phase))
    meta_optimizer.zero_grad()
    meta_loss.backward()
    meta_optimizer.step()
    if iteration % 10 == 9:
        print(iteration, round(meta_loss.item() / 3, 4))
