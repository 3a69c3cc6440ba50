"""Must stay silent: NT-Xent; self-similarity is masked with -inf and the target is an index vector."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(177)


def nt_xent(first, second, temperature=0.3):
    n = len(first)
    z = F.normalize(torch.cat([first, second]), dim=1)
    similarity = z @ z.T / temperature
    similarity = similarity.masked_fill(torch.eye(2 * n, dtype=torch.bool), float("-inf"))
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(similarity, target)


encoder = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8))
optimizer = torch.optim.AdamW(encoder.parameters(), lr=3e-3)
data = torch.randn(160, 10)
for epoch in range(5):
    for batch in data[torch.randperm(160)].split(16):
        loss = nt_xent(encoder(batch + 0.1 * torch.randn_like(batch)), encoder(batch + 0.1 * torch.randn_like(batch)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, round(loss.item(), 4))
