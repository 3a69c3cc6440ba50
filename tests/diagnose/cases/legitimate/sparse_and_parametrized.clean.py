"""Must stay silent: weight normalisation by parametrize, LBFGS, and sparse embeddings with two optimizers."""
import torch
from torch import nn
from torch.nn.utils.parametrizations import orthogonal, weight_norm

torch.manual_seed(4)
emb = nn.EmbeddingBag(30, 8, sparse=True, mode="mean")
body = nn.Sequential(orthogonal(nn.Linear(8, 8)), nn.Tanh(), weight_norm(nn.Linear(8, 1)))
sparse = torch.optim.SparseAdam(emb.parameters(), lr=1e-2)
dense = torch.optim.Adam(body.parameters(), lr=1e-3)
for _ in range(40):
    ids = torch.randint(0, 30, (16, 4))
    loss = (body(emb(ids)) - ids.float().mean(1, keepdim=True) / 30).pow(2).mean()
    sparse.zero_grad()
    dense.zero_grad()
    loss.backward()
    sparse.step()
    dense.step()
lin = nn.Linear(3, 1)
lb = torch.optim.LBFGS(lin.parameters(), max_iter=5)
X = torch.randn(20, 3)


def closure():
    lb.zero_grad()
    l = (lin(X) - X[:, :1]).pow(2).mean()
    l.backward()
    return l


for _ in range(5):
    lb.step(closure)
print("fitted")
