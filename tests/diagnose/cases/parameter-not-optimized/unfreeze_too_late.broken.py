"""The backbone is unfrozen after the optimizer was built from what required a gradient."""
import torch
from torch import nn

torch.manual_seed(6)
backbone = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
head = nn.Linear(16, 3)
model = nn.Sequential(backbone, head)
for p in backbone.parameters():
    p.requires_grad_(False)
opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=5e-3)  # EXPECT: parameter-not-optimized
for epoch in range(6):
    if epoch == 2:
        for p in backbone.parameters():
            p.requires_grad_(True)
    for _ in range(10):
        x = torch.randn(32, 6)
        loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
        opt.zero_grad()
        loss.backward()
        opt.step()
print(f"{loss.item():.3f}")
