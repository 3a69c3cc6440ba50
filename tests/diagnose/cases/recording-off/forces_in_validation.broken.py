"""the validation loop is under no_grad, but forces are a derivative of the energy (schnetpack#165, lightning#4487)."""
import torch
from torch import nn

torch.manual_seed(183)


class Potential(nn.Module):
    def __init__(self):
        super().__init__()
        self.pair = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))

    def energy(self, pos):
        gaps = (pos[:, :, None] - pos[:, None, :]).pow(2).sum(-1, keepdim=True)
        return self.pair(gaps).sum((1, 2, 3))

    def forward(self, pos):
        pos = pos.requires_grad_()
        total = self.energy(pos)
        (slope,) = torch.autograd.grad(total.sum(), pos, create_graph=self.training)  # ALSO: recording-off
        return total, -slope


def validate(model, positions, forces):
    model.eval()
    error = 0.0
    with torch.no_grad():  # EXPECT-ERROR: recording-off
        for pos, force in zip(positions.split(4), forces.split(4)):
            error += (model(pos)[1] - force).abs().mean().item()
    model.train()
    return error


positions = torch.randn(8, 3, 3)
forces = -0.1 * positions
model = Potential()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for pos, force in zip(positions.split(4), forces.split(4)):
        optimizer.zero_grad()
        loss = (model(pos.clone())[1] - force).pow(2).mean()
        loss.backward()
        optimizer.step()
    print(epoch, round(validate(model, positions, forces), 4))
