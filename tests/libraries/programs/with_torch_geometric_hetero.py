"""torch_geometric: graphs of several kinds, EdgeIndex read with masks inside layers, embeddings of knowledge graphs, autoencoders."""

import random

import torch
import torch.nn.functional as F
from torch_geometric import EdgeIndex
from torch_geometric.data import HeteroData
from torch_geometric.nn import VGAE, ComplEx, GATConv, GCNConv, HGTConv, RotatE, SAGEConv, TransE, to_hetero
from torch_geometric.utils import coalesce, remove_self_loops, subgraph

torch.manual_seed(0)
random.seed(0)
data = HeteroData()
data["author"].x, data["paper"].x = torch.randn(12, 6), torch.randn(15, 6)
data["author", "writes", "paper"].edge_index = torch.stack([torch.randint(0, 12, (40,)), torch.randint(0, 15, (40,))])
data["paper", "rev_writes", "author"].edge_index = data["author", "writes", "paper"].edge_index.flip(0)
data["paper", "cites", "paper"].edge_index = torch.randint(0, 15, (2, 30))
labels = (data["paper"].x[:, 0] > 0).long()


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = SAGEConv((-1, -1), 8), SAGEConv((-1, -1), 2)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


class Transformer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = HGTConv(6, 8, data.metadata(), heads=2), torch.nn.Linear(8, 2)

    def forward(self, x, edges):
        return {name: self.head(hidden.relu()) for name, hidden in self.layer(x, edges).items()}


for model in (to_hetero(Network(), data.metadata(), aggr="sum"), Transformer()):
    with torch.no_grad():
        model(data.x_dict, data.edge_index_dict)  # the lazy layers find their sizes
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(4):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data.x_dict, data.edge_index_dict)["paper"], labels)
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.5f}")

edges = coalesce(torch.randint(0, 10, (2, 40)))
index, x = EdgeIndex(edges, sparse_size=(10, 10)).sort_by("row")[0], torch.randn(10, 6)
print(remove_self_loops(index)[0], index[:, index[0] < 3], index[:, torch.tensor([0, 4])], sep="\n")
print(subgraph(torch.arange(5), index)[0], index[torch.tensor([1, 0])].sum().item())
for layer in (GCNConv(6, 3), SAGEConv(6, 3), GATConv(6, 3)):
    out = layer(x, index)
    out.pow(2).sum().backward()
    print(f"{out.sum().item():.5f}", *(f"{p.grad.norm().item():.5f}" for p in layer.parameters()))

head, relation, tail = torch.randint(0, 10, (30,)), torch.randint(0, 3, (30,)), torch.randint(0, 10, (30,))
for kind in (TransE, ComplEx, RotatE):
    model = kind(10, 3, hidden_channels=8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for batch in model.loader(head, relation, tail, batch_size=10, shuffle=True):
        optimizer.zero_grad()
        loss = model.loss(*batch)
        loss.backward()
        optimizer.step()
    print(kind.__name__, f"{loss.item():.5f}", model.test(head, relation, tail, batch_size=10, log=False))


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.shared, self.mean, self.spread = GCNConv(6, 8), GCNConv(8, 4), GCNConv(8, 4)

    def forward(self, x, edges):
        hidden = self.shared(x, edges).relu()
        return self.mean(hidden, edges), self.spread(hidden, edges)


model = VGAE(Encoder())
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(4):
    optimizer.zero_grad()
    codes = model.encode(x, edges)
    loss = model.recon_loss(codes, edges) + model.kl_loss() / 10
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.5f}")
