"""The gate of each expert is turned into a Python number before it weighs the expert's output."""
import torch
import torch.nn as nn


class Mixture(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        self.experts = nn.ModuleList([nn.Linear(4, 1) for _ in range(n)])
        self.gate = nn.Parameter(torch.zeros(n))

    def forward(self, x):
        w = self.gate.softmax(0)
        return sum(float(w[i]) * e(x) for i, e in enumerate(self.experts))  # EXPECT: path-cut


torch.manual_seed(9)
model = Mixture()
opt = torch.optim.Adam(model.parameters(), 1e-2)
for step in range(60):
    x = torch.randn(32, 4)
    loss = (model(x)[:, 0] - x[:, 0].abs()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print([round(g, 2) for g in model.gate.tolist()])
