"""torch_geometric: whole models, aggregations of every kind, messages of one's own, memory over time, explanations."""

import random

import numpy as np
import torch
import torch_geometric.explain as explain
import torch_geometric.nn as gnn
from torch import nn
from torch_geometric.data import TemporalData
from torch_geometric.datasets import FakeDataset, KarateClub
from torch_geometric.loader import DataLoader, TemporalDataLoader
from torch_geometric.nn.models import tgn
from torch_geometric.transforms import RandomLinkSplit
from torch_geometric.utils import softmax, to_undirected

edges = to_undirected(torch.tensor([[0, 1, 2, 3, 4, 5, 6, 0, 2], [1, 2, 3, 4, 5, 6, 7, 4, 6]]))
torch.manual_seed(0)
x, attributes, batch = torch.randn(8, 6), torch.randn(edges.shape[1], 3), torch.arange(8) // 4
degrees = torch.tensor([0, 2, 4, 2])


def told(name, layer, *arguments):
    value = layer(*arguments)
    value = value[0] if isinstance(value, tuple) else value
    value.pow(2).sum().backward()
    gradients = sum(p.grad.abs().sum().item() for p in layer.parameters() if p.grad is not None)
    print(name, tuple(value.shape), f"{value.abs().sum().item():.5f} {gradients:.4f}")


def trained(name, model, loss, steps=3):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    values = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        values.append(f"{value.item():.5f}")
    print(name, *values)


torch.manual_seed(1)
told("GCN", gnn.GCN(6, 8, 3, 4, jk="lstm", norm="LayerNorm"), x, edges)
told("GAT", gnn.GAT(6, 8, 2, 4, heads=2, v2=True), x, edges)
told(
    "PNA", gnn.PNA(6, 8, 2, 4, aggregators=["mean", "var"], scalers=["identity", "attenuation"], deg=degrees), x, edges
)
told("EdgeCNN", gnn.EdgeCNN(6, 8, 2, 4), x, edges)
told("AttentiveFP", gnn.AttentiveFP(6, 8, 2, 3, 2, 2), x, edges, attributes, batch)
told("LINKX", gnn.LINKX(8, 6, 8, 3, 2), x, edges)
told("GraphUNet", gnn.GraphUNet(6, 8, 3, 2), x, edges)
told("DeepGCN", gnn.DeepGCNLayer(gnn.GENConv(6, 6), nn.LayerNorm(6), nn.ReLU(), "res+"), x, edges)
told("GPS", gnn.GPSConv(6, gnn.SAGEConv(6, 6), heads=2, attn_type="performer"), x, edges, batch)
told("several", gnn.SAGEConv(6, 4, aggr=["mean", "std", "max"]), x, edges)
told("powers", gnn.GENConv(6, 4, aggr="powermean", learn_p=True, msg_norm=True), x.abs(), edges)
for aggregation in (
    gnn.Set2Set(6, 2), gnn.aggr.GraphMultisetTransformer(6, 3, heads=2), gnn.aggr.SetTransformerAggregation(6, heads=2),
    gnn.aggr.DeepSetsAggregation(nn.Linear(6, 4), nn.Linear(4, 2)), gnn.aggr.LCMAggregation(6, 4), gnn.aggr.GRUAggregation(6, 4),
    gnn.aggr.AttentionalAggregation(nn.Linear(6, 1)), gnn.aggr.MLPAggregation(6, 4, 4, num_layers=2, hidden_channels=8),
    gnn.MemPooling(6, 4, 2, 3), gnn.ASAPooling(6, 0.5), gnn.EdgePooling(6),
):  # fmt: skip
    name = type(aggregation).__name__
    told(
        name,
        aggregation,
        x,
        *((edges, None, batch) if name == "ASAPooling" else (edges, batch) if name == "EdgePooling" else (batch,)),
    )


class Attention(gnn.MessagePassing):
    def __init__(self):
        super().__init__(aggr=["add", "max"], flow="target_to_source", node_dim=0)
        self.linear = nn.Linear(4, 3)

    def forward(self, x, edge_index, weight):
        # propagate_type: (x: Tensor, weight: Tensor)
        return self.propagate(edge_index, x=self.linear(x), weight=weight)

    def message(self, x_i, x_j, weight, index):
        return (x_j - x_i) * weight.view(-1, 1) * softmax(weight, index).view(-1, 1)

    def update(self, gathered, x):
        return torch.cat([gathered, x], -1)


club = KarateClub()[0]
own, weights = Attention(), torch.linspace(0.1, 1, club.edge_index.shape[1])
numbers = torch.arange(34.0)[:, None] / 34 * torch.ones(34, 4)
trained("messages", own, lambda: own(numbers, club.edge_index, weights).pow(2).mean())
own.register_message_forward_hook(lambda module, inputs, output: output * 2)
print(f"{own(numbers, club.edge_index, weights).abs().sum().item():.4f}")

random.seed(2)
np.random.seed(2)
torch.manual_seed(2)
model = gnn.GCN(34, 8, 2, 4, act="elu")
seen = club.train_mask
trained("club", model, lambda: nn.functional.cross_entropy(model(club.x, club.edge_index)[seen], club.y[seen]), 5)
links, held, _ = RandomLinkSplit(0.1, 0.1, is_undirected=True, add_negative_train_samples=True)(club)
coder = gnn.GAE(gnn.GCNConv(34, 8))
there = links.edge_label == 1
trained(
    "links", coder,
    lambda: coder.recon_loss(coder.encode(links.x, links.edge_index), links.edge_label_index[:, there], links.edge_label_index[:, ~there]),
)  # fmt: skip
there = held.edge_label == 1
found = coder.encode(links.x, links.edge_index).detach()
print(*(f"{v:.4f}" for v in coder.test(found, held.edge_label_index[:, there], held.edge_label_index[:, ~there])))
infomax = gnn.DeepGraphInfomax(
    4, gnn.GCNConv(6, 4), lambda z, *_, **__: z.mean(0).sigmoid(), lambda x, e: (x.flip(0), e)
)
trained("infomax", infomax, lambda: infomax.loss(*infomax(x, edges)))
embedded = gnn.TransE(5, 2, 4)
trained("TransE", embedded, lambda: embedded.loss(torch.tensor([0, 1]), torch.tensor([0, 0]), torch.tensor([2, 3])))

torch.manual_seed(3)
graphs = FakeDataset(num_graphs=10, avg_num_nodes=8, avg_degree=3, num_channels=5, num_classes=3)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.linear = gnn.GINConv(gnn.MLP([5, 8, 8])), nn.Linear(8, 3)

    def forward(self, graph):
        return self.linear(gnn.global_max_pool(self.conv(graph.x, graph.edge_index), graph.batch))


classify = Classifier()
for graph in DataLoader(graphs, batch_size=5):
    trained(
        "graphs",
        classify,
        lambda: nn.functional.cross_entropy(classify(graph), graph.y),
    )

torch.manual_seed(4)
events = TemporalData(
    src=torch.randint(6, (20,)), dst=torch.randint(6, 10, (20,)), t=torch.arange(20), msg=torch.randn(20, 3)
)
memory = gnn.TGNMemory(10, 3, 5, 4, tgn.IdentityMessage(3, 5, 4), tgn.LastAggregator())
optimizer = torch.optim.Adam(memory.parameters(), lr=0.01)
for part in TemporalDataLoader(events, batch_size=5):
    optimizer.zero_grad()
    state, _ = memory(torch.cat([part.src, part.dst]))
    loss = (state[:5] * state[5:]).sum(-1).sigmoid().log().neg().mean()
    memory.update_state(part.src, part.dst, part.t, part.msg)
    if loss.requires_grad:
        loss.backward()
        optimizer.step()
    memory.detach()
    print(f"memory {loss.item():.5f} {memory.memory.abs().sum().item():.4f}")

model = gnn.GCN(6, 8, 2, 3).eval()
config = {"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"}
for algorithm, masks in (
    (explain.GNNExplainer(epochs=4), {"node_mask_type": "object", "edge_mask_type": "object"}),
    (explain.CaptumExplainer("IntegratedGradients"), {"node_mask_type": "attributes"}),
):
    torch.manual_seed(5)
    explainer = explain.Explainer(model, algorithm, explanation_type="model", model_config=config, **masks)
    shown = explainer(x, edges, index=2).node_mask
    print(type(algorithm).__name__, tuple(shown.shape), f"{shown.abs().sum().item():.4f}")
