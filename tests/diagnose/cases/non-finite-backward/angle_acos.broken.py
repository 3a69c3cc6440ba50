"""The angle between rotations through acos: identical vectors give cos = 1, where acos has slope -inf."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(33)


def geodesic(a, b):
    cosine = (a * b).sum(-1)
    return torch.acos(cosine.clamp(-1, 1)).mean()  # EXPECT: non-finite-backward


class RotationNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 16, batch_first=True)
        self.delta = nn.Linear(16, 4)
        nn.init.zeros_(self.delta.weight)
        nn.init.zeros_(self.delta.bias)

    def forward(self, track):
        states, _ = self.gru(track)
        return F.normalize(track[:, -1] + self.delta(states[:, -1]), dim=-1)


start = F.one_hot(torch.randint(0, 4, (64,)), 4).float()
noise = 0.1 * torch.randn(64, 5, 4)
tracks = F.normalize(start[:, None] + noise, dim=-1)
tracks[:, -1] = start
goal = start.clone()
goal[1::2] = F.normalize(goal[1::2] + 0.2, dim=-1)

net = RotationNet()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(30):
    pick = torch.randint(0, 64, (16,))
    loss = geodesic(net(tracks[pick]), goal[pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("angle", loss.item())
