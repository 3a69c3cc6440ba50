"""retain_graph=True was added to the only backward() of a step "to be safe"; no second pass ever uses the graph."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(10, 24), nn.Tanh())
        self.kind = nn.Linear(24, 3)
        self.size = nn.Linear(24, 1)

    def forward(self, x):
        h = self.encoder(x)
        return self.kind(h), self.size(h)


x = torch.randn(160, 10)
kind, size = x[:, :3].argmax(1), x[:, 3:4] * 2
loader = DataLoader(TensorDataset(x, kind, size), batch_size=20, shuffle=True)
model = TwoHeads()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for xb, kb, sb in loader:
        optimizer.zero_grad()
        kind_out, size_out = model(xb)
        kind_loss, size_loss = F.cross_entropy(kind_out, kb), F.mse_loss(size_out, sb)
        (kind_loss + size_loss).backward(retain_graph=True)  # EXPECT: graph-retained-unused
        optimizer.step()
    print("epoch", epoch, round(kind_loss.item(), 4), round(size_loss.item(), 4))
