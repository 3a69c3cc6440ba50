"""pytorch-metric-learning: embeddings trained by losses on pairs, triplets and proxies; hard ones are mined."""

import torch
from pytorch_metric_learning import distances, losses, miners, reducers
from torch import nn

LOSSES = {
    "triplets": lambda: losses.TripletMarginLoss(
        distance=distances.CosineSimilarity(), reducer=reducers.ThresholdReducer(low=0)
    ),
    "pairs": lambda: losses.ContrastiveLoss(),
    "temperature": lambda: losses.NTXentLoss(temperature=0.5),
    "similarities": lambda: losses.MultiSimilarityLoss(),
    "circles": lambda: losses.CircleLoss(),
    "supervised": lambda: losses.SupConLoss(),
    "lifted": lambda: losses.GeneralizedLiftedStructureLoss(),
    "angles": lambda: losses.ArcFaceLoss(3, 8),
    "proxies": lambda: losses.ProxyAnchorLoss(3, 8),
}
torch.manual_seed(0)
y = torch.arange(48) % 3
x = torch.randn(48, 6) + y[:, None]
miner = miners.MultiSimilarityMiner()
for name, make in LOSSES.items():
    torch.manual_seed(1)
    embed, criterion = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8)), make()
    optimizer = torch.optim.SGD([*embed.parameters(), *criterion.parameters()], lr=1e-2)
    for _ in range(3):
        optimizer.zero_grad()
        embeddings = embed(x)
        loss = criterion(embeddings, y, miner(embeddings, y))
        loss.backward()
        optimizer.step()
        print(name, loss.item())
