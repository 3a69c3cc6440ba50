"""message passing on a small graph; layer weights are kept in tuples."""
import torch
from torch import nn

torch.manual_seed(0)


class GNN(nn.Module):
    def __init__(self, d=8, rounds=3):
        super().__init__()
        self.inp = nn.Linear(3, d)
        self.layers = tuple((nn.Linear(d, d), nn.Linear(d, d)) for _ in range(rounds))  # EXPECT: parameter-unregistered
        self.out = nn.Linear(d, 1)

    def forward(self, x, adj):
        h = torch.relu(self.inp(x))
        for own, other in self.layers:
            h = h + torch.tanh(own(h) + other(adj @ h))
        return self.out(h.mean(0))


g = GNN()
opt = torch.optim.Adam(g.parameters(), lr=3e-3)  # MAY: parameter-not-optimized
for _ in range(40):
    n = 6
    adj = (torch.rand(n, n) > 0.5).float()
    x = torch.randn(n, 3)
    loss = (g(x, adj / adj.sum(1, keepdim=True).clamp_min(1)) - adj.mean()).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("passed")
