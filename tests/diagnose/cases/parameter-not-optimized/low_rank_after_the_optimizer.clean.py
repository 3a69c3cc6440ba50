"""LoRA where the adapters were attached after the optimizer saw the model."""
import torch
from torch import nn

torch.manual_seed(5)


class LoRA(nn.Module):
    def __init__(self, base, r=2):
        super().__init__()
        self.base = base
        base.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(r, base.in_features) * 0.1)
        self.b = nn.Parameter(torch.zeros(base.out_features, r))

    def forward(self, x):
        return self.base(x) + x @ self.a.T @ self.b.T


model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))
for i in (0, 2):
    model[i] = LoRA(model[i])
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for _ in range(60):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
print("adapted")
