"""A graph network hands dropout the module's own mode."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(51)


class GCNLayer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adjacency):
        return adjacency @ (x @ self.weight)


class GCN(nn.Module):
    def __init__(self, inputs, hidden, classes, dropout=0.5):
        super().__init__()
        self.first, self.second = GCNLayer(inputs, hidden), GCNLayer(hidden, classes)
        self.dropout = dropout
        self.is_training = True

    def forward(self, x, adjacency):
        x = F.relu(self.first(x, adjacency))
        x = F.dropout(x, self.dropout, training=self.training)
        return self.second(x, adjacency)


def normalise(adjacency):
    adjacency = adjacency + torch.eye(len(adjacency))
    scale = adjacency.sum(1).rsqrt()
    return scale[:, None] * adjacency * scale[None]


nodes, labels = 60, torch.arange(60) % 3
links = (labels[:, None] == labels[None]) & (torch.rand(60, 60) < 0.2)
adjacency = normalise((links | links.T).float().fill_diagonal_(0))
features = F.one_hot(labels, 3).float() @ torch.randn(3, 8) + torch.randn(60, 8)
known = torch.arange(60) < 30
model = GCN(8, 16, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
for epoch in range(30):
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(features, adjacency)[known], labels[known])
    loss.backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    found = model(features, adjacency).argmax(1)
print("accuracy", round((found == labels)[~known].float().mean().item(), 3))
