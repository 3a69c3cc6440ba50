"""Two calls of torch.autograd.backward over one trunk: the first keeps the graph for the second."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 32), nn.ReLU())
        self.kind, self.size = nn.Linear(32, 3), nn.Linear(32, 1)

    def forward(self, x):
        h = self.trunk(x)
        return {"kind": self.kind(h), "size": self.size(h).squeeze(1)}


x = torch.randn(160, 10)
kind, size = x[:, :3].argmax(1), x.norm(dim=1)
model = TwoHeads()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=1e-3)
for epoch in range(3):
    for rows in torch.randperm(160).split(32):
        optimizer.zero_grad()
        out = model(x[rows])
        kind_loss = F.cross_entropy(out["kind"], kind[rows])
        size_loss = F.mse_loss(out["size"], size[rows])
        torch.autograd.backward(kind_loss, retain_graph=True)
        torch.autograd.backward(0.1 * size_loss)
        optimizer.step()
    print(epoch, round(kind_loss.item(), 3), round(size_loss.item(), 3))
