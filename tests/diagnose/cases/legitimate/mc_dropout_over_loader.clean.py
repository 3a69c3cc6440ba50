"""Must stay silent: Monte Carlo dropout for active learning, the whole pool passed ten times by a DataLoader."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(91)


def predictive_entropy(model, pool, passes=10):
    loader = DataLoader(TensorDataset(pool), batch_size=40)
    total = torch.zeros(len(pool), 2)
    with torch.no_grad():
        for _ in range(passes):
            total += torch.cat([model(batch).softmax(1) for (batch,) in loader])
    mean = total / passes
    return -(mean * mean.log()).sum(1)


x = torch.randn(200, 6)
y = (x[:, 0] * x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.4), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
labelled = torch.arange(200) < 40
for cycle in range(4):
    for _ in range(10):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[labelled]), y[labelled]).backward()
        optimizer.step()
    pool = (~labelled).nonzero().flatten()
    chosen = predictive_entropy(model, x[pool]).topk(20).indices
    labelled[pool[chosen]] = True
    print("cycle", cycle, "labelled", int(labelled.sum()))
