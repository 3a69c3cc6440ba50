"""Legitimate twin: empty rows keep a finite score, their output is replaced afterwards all the same."""
import torch
from torch import nn

torch.manual_seed(34)


class GraphAttention(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.transform = nn.Linear(5, dim)
        self.score = nn.Linear(dim, dim, bias=False)
        self.readout = nn.Linear(dim, 1)

    def forward(self, nodes, adjacency):
        h = self.transform(nodes)
        scores = self.score(h) @ h.T
        isolated = adjacency.sum(1, keepdim=True) == 0
        bias = torch.zeros_like(adjacency).masked_fill((adjacency == 0) & ~isolated, float("-inf"))
        weights = (scores + bias).softmax(dim=-1)
        weights = torch.where(isolated, torch.zeros_like(weights), weights)
        return self.readout(torch.relu(h + weights @ h)).squeeze(-1)


def random_graph(n=14):
    adjacency = (torch.rand(n, n) < 0.3).float()
    adjacency[n // 2] = 0
    nodes = torch.randn(n, 5)
    return nodes, adjacency, nodes.sum(1)


model = GraphAttention()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    nodes, adjacency, target = random_graph()
    loss = nn.functional.mse_loss(model(nodes, adjacency), target)
    if step == 0:
        print("first loss", loss.item())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
