"""torch_geometric: thirty layers, pooling, batches, heterogeneous graphs, message passing of one's own."""

import torch
import torch.nn.functional as F
import torch_geometric.nn as gnn
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.loader import DataLoader

globals().update(vars(gnn))
import torch_geometric.transforms as T
from torch_geometric.utils import *

torch.manual_seed(0)
ei = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 0, 2], [1, 0, 2, 1, 3, 2, 4, 3, 0, 4, 2, 0]])
x = torch.randn(5, 8)
y = torch.tensor([0, 1, 0, 1, 1])
ea = torch.randn(12, 3)
ew = torch.rand(12)
for n, c, k in (
    ("gcn", GCNConv(8, 4), {}),
    ("gcnw", GCNConv(8, 4), dict(edge_weight=ew)),
    ("gat", GATConv(8, 4, heads=2), {}),
    ("gatv2", GATv2Conv(8, 4, heads=2, edge_dim=3), dict(edge_attr=ea)),
    ("sage", SAGEConv(8, 4, aggr="max"), {}),
    ("gin", GINConv(torch.nn.Linear(8, 4), train_eps=True), {}),
    ("gine", GINEConv(torch.nn.Linear(8, 4), edge_dim=3), dict(edge_attr=ea)),
    ("cheb", ChebConv(8, 4, K=3), {}),
    ("tag", TAGConv(8, 4), {}),
    ("sg", SGConv(8, 4, K=2), {}),
    ("arma", ARMAConv(8, 4), {}),
    ("graph", GraphConv(8, 4), {}),
    ("gated", GatedGraphConv(8, 2), {}),
    ("trans", TransformerConv(8, 4, heads=2, edge_dim=3), dict(edge_attr=ea)),
    ("edge", EdgeConv(torch.nn.Linear(16, 4)), {}),
    ("nn", NNConv(8, 4, torch.nn.Linear(3, 32)), dict(edge_attr=ea)),
    ("film", FiLMConv(8, 4), {}),
    ("gen", GENConv(8, 4, edge_dim=3), dict(edge_attr=ea)),
    ("res", ResGatedGraphConv(8, 4), {}),
    ("clus", ClusterGCNConv(8, 4), {}),
    ("super", SuperGATConv(8, 4), {}),
    ("le", LEConv(8, 4), {}),
    ("mf", MFConv(8, 4), {}),
    ("pna", PNAConv(8, 4, ["mean", "max", "std"], ["identity", "amplification"], deg=torch.tensor([0, 0, 3, 2])), {}),
    ("gps", GPSConv(8, GINConv(torch.nn.Linear(8, 8)), heads=2, dropout=0.0), {}),
    ("rgcn", RGCNConv(8, 4, 2), dict(edge_type=torch.tensor([0, 1] * 6))),
    ("gmm", GMMConv(8, 4, 3, 2), dict(edge_attr=ea)),
    ("cg", CGConv(8, 3), dict(edge_attr=ea)),
    ("fa", FAConv(8), dict(x_0=x)),
    ("gcn2", GCN2Conv(8, 0.1), dict(x_0=x)),
    ("hyper", HypergraphConv(8, 4), {}),
):
    try:
        o = c(x, **{"x_0": k.pop("x_0")} if "x_0" in k else {}, edge_index=ei, **k) if n not in ("hyper",) else c(x, ei)
        g = torch.autograd.grad(o.pow(2).sum(), list(c.parameters()), allow_unused=True)
        print(n, tuple(o.shape), o.sum().item(), sum(t.norm() for t in g if t is not None).item() if len(g) else 0)
    except Exception as e:
        print(n, "raises", str(e)[:60])
gs = [Data(x=torch.randn(n, 4), edge_index=erdos_renyi_graph(n, 0.5), y=torch.tensor([n % 2])) for n in (4, 5, 6, 7)]
b = Batch.from_data_list(gs)
print(b, b.num_graphs, b.ptr.tolist())
for p in (global_mean_pool, global_add_pool, global_max_pool):
    print(p(b.x, b.batch).sum().item())
tk = TopKPooling(4, 0.5)
r = tk(b.x, b.edge_index, batch=b.batch)
print(r[0].sum().item(), r[3].tolist())
sp = SAGPooling(4, 0.5)
print(sp(b.x, b.edge_index, batch=b.batch)[0].sum().item())
at = AttentionalAggregation(torch.nn.Linear(4, 1))
print(at(b.x, b.batch).sum().item())
s2 = Set2Set(4, 2)
print(s2(b.x, b.batch).sum().item())
print(SortAggregation(3)(b.x, b.batch).shape)
d, m = to_dense_batch(b.x, b.batch)
adj = to_dense_adj(b.edge_index, b.batch)
print(d.shape, m.sum().item(), adj.sum().item())
o = dense_diff_pool(d, adj, torch.randn(4, 7, 3), m)
print(o[0].sum().item(), o[2].item())
o = dense_mincut_pool(d, adj, torch.randn(4, 7, 3), m)
print(o[2].item(), o[3].item())
net = torch.nn.ModuleList([GATConv(4, 8, heads=2), GCNConv(16, 2)])
opt = torch.optim.Adam(net.parameters(), 0.01)
for e in range(3):
    for bb in DataLoader(gs, 2, shuffle=True):
        h = F.elu(net[0](bb.x, bb.edge_index))
        h = F.dropout(h, 0.2)
        l = F.cross_entropy(global_mean_pool(net[1](h, bb.edge_index), bb.batch), bb.y)
        opt.zero_grad()
        l.backward()
        opt.step()
    print(l.item())
print(
    degree(ei[0]).tolist(),
    add_self_loops(ei)[0].shape,
    remove_self_loops(ei)[0].shape,
    coalesce(ei).shape,
    is_undirected(ei),
    to_undirected(ei).shape,
    softmax(ew, ei[0]).sum().item(),
    scatter(x, torch.tensor([0, 0, 1, 1, 2]), reduce="max").sum().item(),
    subgraph([0, 1, 2], ei)[0].tolist(),
    k_hop_subgraph(0, 1, ei)[0].tolist(),
    get_laplacian(ei, normalization="sym")[1].sum().item(),
    negative_sampling(ei, 5, 4).shape,
    contains_isolated_nodes(ei),
    homophily(ei, y),
)
hd = HeteroData()
hd["a"].x = torch.randn(3, 4)
hd["b"].x = torch.randn(2, 5)
hd["a", "to", "b"].edge_index = torch.tensor([[0, 1, 2], [0, 1, 1]])
hd["b", "rev", "a"].edge_index = torch.tensor([[0, 1, 1], [0, 1, 2]])
hc = HeteroConv(
    {("a", "to", "b"): SAGEConv((4, 5), 6), ("b", "rev", "a"): GATConv((5, 4), 6, add_self_loops=False)}, aggr="sum"
)
print({k: v.sum().item() for k, v in hc(hd.x_dict, hd.edge_index_dict).items()})
print(
    T.Compose([T.ToUndirected(), T.AddSelfLoops(), T.NormalizeFeatures()])(Data(x=x.abs(), edge_index=ei))
    .x.sum(1)
    .tolist()
)
print(T.Constant()(Data(edge_index=ei, num_nodes=5)).x.sum().item())
ga = GAE(GCNConv(8, 3))
z = ga.encode(x, ei)
l = ga.recon_loss(z, ei)
print(z.sum().item())
vg = VGAE(torch.nn.Module())
print(JumpingKnowledge("lstm", 4, 2)([torch.randn(5, 4), torch.randn(5, 4)]).shape)
print(
    GCN(8, 16, 2, 4)(x, ei).sum().item(),
    GraphSAGE(8, 16, 2, 4, jk="cat")(x, ei).sum().item(),
    GAT(8, 16, 2, 4, heads=2)(x, ei).sum().item(),
    PNA(8, 16, 1, 4, aggregators=["mean"], scalers=["identity"], deg=torch.tensor([0, 0, 3, 2]))(x, ei).sum().item(),
    MLP([8, 16, 4], norm=None)(x).sum().item(),
)
print(
    GraphNorm(4)(b.x, b.batch).sum().item(),
    PairNorm()(b.x, b.batch).pow(2).sum().item(),
    InstanceNorm(4)(b.x, b.batch).abs().sum().item(),
    LayerNorm(4)(b.x, b.batch).abs().sum().item(),
    DiffGroupNorm(4, 2)(b.x).abs().sum().item(),
    MessageNorm(True)(x, x).sum().item(),
)


class My(MessagePassing):
    def __init__(s):
        super().__init__(aggr="add", flow="source_to_target")
        s.l = torch.nn.Linear(8, 4)

    def forward(s, x, ei):
        d = degree(ei[1], x.size(0)).pow(-0.5)
        return s.propagate(ei, x=s.l(x), norm=d[ei[0]] * d[ei[1]])

    def message(s, x_j, norm):
        return norm.view(-1, 1) * x_j

    def update(s, o):
        return o.tanh()


print(My()(x, ei).sum().item())
a = ei
sp = to_torch_coo_tensor(ei, size=5) if "to_torch_coo_tensor" in globals() else None
print(torch.sparse.mm(sp, x).sum().item())
