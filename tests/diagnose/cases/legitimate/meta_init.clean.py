"""A model that is built on the meta device, counted, and then materialised and trained."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        return x + torch.relu(self.fc(self.norm(x)))


with torch.device("meta"):
    shadow = nn.Sequential(nn.Linear(4, 16), Block(16), nn.Linear(16, 1))
print(sum(p.numel() for p in shadow.parameters()))
out = shadow(torch.zeros(2, 4, device="meta"))
print(out.shape, out.device)
loss = out.sum()
loss.backward()
print(shadow[0].weight.grad.shape)
torch.manual_seed(9)
model = shadow.to_empty(device="cpu")
for p in model.parameters():
    p.grad = None
for m in model.modules():
    if hasattr(m, "reset_parameters"):
        m.reset_parameters()
opt = torch.optim.Adam(model.parameters(), 1e-2)
for i in range(30):
    x = torch.randn(16, 4)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
