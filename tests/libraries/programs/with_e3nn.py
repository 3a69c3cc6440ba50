"""e3nn: a network of tensor products that turns with its input."""

import torch
from e3nn import nn as enn
from e3nn import o3
from torch import nn

torch.manual_seed(0)


class Layer(nn.Module):
    """Products of features with the directions of neighbours, gated."""

    def __init__(self, before: o3.Irreps, after: str) -> None:
        super().__init__()
        gate = enn.Gate(after, [torch.tanh], "2x0e", [torch.sigmoid], "2x1o")
        self.product = o3.FullyConnectedTensorProduct(before, o3.Irreps.spherical_harmonics(2), gate.irreps_in)
        self.gate, self.out = gate, gate.irreps_out

    def forward(self, features, directions):
        return self.gate(self.product(features, directions))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = Layer(o3.Irreps("1x0e + 1x1o"), "4x0e")
        self.second = Layer(self.first.out, "4x0e")
        self.head = o3.Linear(self.second.out, "1x0e + 1x1o")

    def forward(self, features, points):
        directions = o3.spherical_harmonics(o3.Irreps.spherical_harmonics(2), points, normalize=True)
        return self.head(self.second(self.first(features, directions), directions))


net = Net()
features, points, goal = torch.randn(10, 4), torch.randn(10, 3), torch.randn(10, 4)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(5):
    optimizer.zero_grad()
    loss = (net(features, points) - goal).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
turn = o3.rand_matrix()
wigner = o3.Irreps("1x0e + 1x1o").D_from_matrix(turn)
turned = net(features @ wigner.T, points @ turn.T) - net(features, points) @ wigner.T
print(turn.det().item(), bool(turned.abs().max() < 1e-4))
