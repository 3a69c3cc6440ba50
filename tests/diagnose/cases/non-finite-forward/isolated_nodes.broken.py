"""A graph layer averages the messages of each node; a node without neighbours divides by zero."""

import torch
from torch import nn


class MeanOfNeighbours(nn.Module):
    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        self.message = nn.Linear(inputs, outputs)

    def forward(self, nodes, edges):
        source, target = edges
        sums = torch.zeros(len(nodes), self.message.out_features)
        sums = sums.index_add(0, target, self.message(nodes)[source])
        degree = torch.zeros(len(nodes)).index_add(0, target, torch.ones(len(target)))
        mean = sums / degree.unsqueeze(1)  # EXPECT: non-finite-forward
        return self.own(nodes) + mean


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([MeanOfNeighbours(4, 12), MeanOfNeighbours(12, 3)])

    def forward(self, nodes, edges):
        first, second = self.layers
        return second(torch.relu(first(nodes, edges)), edges)


if __name__ == "__main__":
    torch.manual_seed(22)
    nodes = torch.randn(14, 4)
    edges = torch.stack([torch.randint(0, 14, (30,)), torch.randint(0, 13, (30,))])  # node 13 is never a target
    labels = torch.randint(0, 3, (14,))
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    for epoch in range(10):
        loss = nn.CrossEntropyLoss()(net(nodes, edges), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
