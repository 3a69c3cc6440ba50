"""torch_geometric: reversible layers, which free their inputs and make them again in the backward pass."""

import torch
from torch_geometric.nn import GCNConv
from torch_geometric.nn.models import GroupAddRev

torch.manual_seed(0)
edges = torch.randint(0, 20, (2, 60))
features, classes = torch.randn(20, 8), torch.randint(3, (20,))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = GCNConv(8, 16)
        self.layers = torch.nn.ModuleList(GroupAddRev(GCNConv(8, 8), num_groups=2) for _ in range(3))
        self.last = torch.nn.Linear(16, 3)

    def forward(self, x, edges):
        x = self.first(x, edges)
        for layer in self.layers:
            x = layer(x, edges)
        return self.last(x.relu())


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(6):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(features, edges), classes)
    loss.backward()
    optimizer.step()
    print(loss.item(), sum(p.grad.abs().sum().item() for p in net.layers.parameters()))
