"""Weights are rounded from step 350 on, and get no gradient from then on."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(21)


class QLinear(nn.Linear):
    quantise = False

    def forward(self, x):
        w = self.weight
        if self.quantise:
            q = torch.round(w * 16) / 16
            w = q
        return F.linear(x, w, self.bias)


net = nn.Sequential(QLinear(6, 16), nn.ReLU(), QLinear(16, 3))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(520):
    if step == 350:
        for m in net.modules():
            if isinstance(m, QLinear):
                m.quantise = True
    x = torch.randn(32, 6)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()  # EXPECT: gradient-vanishes
    opt.step()
print(loss.item())
