"""torch_geometric: a graph convolution network on one graph, and batches of many."""

import torch
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, global_mean_pool
from torch_geometric.utils import add_self_loops, degree, to_undirected

torch.manual_seed(0)
edges = to_undirected(torch.randint(0, 30, (2, 60)))
graph = Data(x=torch.randn(30, 8), edge_index=edges, y=torch.randint(0, 3, (30,)))
print(graph, degree(edges[0], 30).sum().item(), add_self_loops(edges)[0].shape)


class GCN(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(8, 16), GCNConv(16, 3)

    def forward(self, data):
        x = F.dropout(F.relu(self.first(data.x, data.edge_index)), 0.3, training=self.training)
        return F.log_softmax(self.second(x, data.edge_index), dim=1)


model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
for _ in range(10):
    optimizer.zero_grad()
    loss = F.nll_loss(model(graph), graph.y)
    loss.backward()
    optimizer.step()
print(loss.item())
for layer in (GATConv(8, 4, heads=2), SAGEConv(8, 4), GINConv(torch.nn.Linear(8, 4))):
    print(type(layer).__name__, layer(graph.x, edges).norm().item())

graphs = []
for label in (0, 1) * 8:
    n = 5 + label * 2
    graphs.append(
        Data(x=torch.randn(n, 4) + label, edge_index=torch.randint(0, n, (2, 3 * n)), y=torch.tensor([label]))
    )


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.out = GCNConv(4, 8), torch.nn.Linear(8, 2)

    def forward(self, batch):
        return self.out(global_mean_pool(F.relu(self.conv(batch.x, batch.edge_index)), batch.batch))


model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(3):
    for batch in DataLoader(graphs, batch_size=4, shuffle=True):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(batch), batch.y)
        loss.backward()
        optimizer.step()
    print(batch.num_graphs, loss.item())
