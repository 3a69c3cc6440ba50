"""torch_geometric: EdgeIndex, which computes for itself; pooling of edges; transforms that join edges."""

import torch
import torch_geometric.transforms as T
from torch_geometric import EdgeIndex, Index
from torch_geometric.data import Data
from torch_geometric.nn import EdgePooling, GCNConv, global_mean_pool

torch.manual_seed(0)
edges = EdgeIndex(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), sparse_size=(3, 3), sort_order="row").validate()
x = torch.randn(3, 2)
print(edges @ x, edges[:, 1:3], edges.flip(0), sep="\n")
print(torch.cat([edges, edges + 1], dim=1), edges.sort_by("col"), edges.get_csr(), edges.matmul(edges), sep="\n")
index = Index(torch.tensor([0, 1, 1, 2]), dim_size=3, is_sorted=True)
print(index + 1, torch.cat([index, index]), index.get_indptr(), index[1:])

graph = Data(x=torch.randn(20, 8), edge_index=torch.randint(0, 20, (2, 60)), batch=torch.arange(20) // 10)
joined = T.TwoHop()(graph.clone())
print(joined.edge_index.shape, joined.edge_index.sum().item())
convolution, pool, head = GCNConv(8, 16), EdgePooling(16), torch.nn.Linear(16, 2)
parameters = [*convolution.parameters(), *pool.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(parameters, lr=0.01)
for _ in range(5):
    hidden = convolution(graph.x, graph.edge_index).relu()
    hidden, left, batch, _ = pool(hidden, graph.edge_index, graph.batch)
    loss = torch.nn.functional.cross_entropy(head(global_mean_pool(hidden, batch)), torch.tensor([0, 1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.5f}", hidden.shape[0], left.shape[1])
