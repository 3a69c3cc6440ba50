"""a probe between forward and backward puts the model into eval mode, so the region runs again without its dropout."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(204)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(10, 10)
        self.drop = nn.Dropout(0.3)
        self.head = nn.Linear(10, 2)

    def segment(self, x):
        h = torch.relu(self.inner(x))
        return self.drop(h)  # ALSO: checkpoint-diverges

    def forward(self, x):
        h = checkpoint(self.segment, x, use_reentrant=False)  # EXPECT-ERROR: checkpoint-diverges
        return self.head(h)


def probe(model, x, y):
    model.eval()
    with torch.no_grad():
        hits = (model(x).argmax(1) == y).float().mean().item()
    return hits


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(48, 10)
y = (x[:, 0] > 0).long()
for step in range(6):
    model.train()
    loss = F.cross_entropy(model(x), y)
    hits = probe(model, x, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(hits)
