"""Learned prompt tokens are copied into a fresh tensor's .data."""
import torch
from torch import nn


class Prompted(nn.Module):
    def __init__(self):
        super().__init__()
        self.prompt = nn.Parameter(torch.randn(2, 6))
        self.body = nn.GRU(6, 10, batch_first=True)
        self.head = nn.Linear(10, 2)

    def forward(self, x):
        full = torch.zeros(x.shape[0], 2 + x.shape[1], 6)
        full[:, :2] = self.prompt.data  # EXPECT: path-cut
        full[:, 2:] = x
        return self.head(self.body(full)[0][:, -1])


torch.manual_seed(0)
net = Prompted()
opt = torch.optim.Adam(net.parameters(), 1e-2)
for _ in range(40):
    x = torch.randn(8, 4, 6)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
