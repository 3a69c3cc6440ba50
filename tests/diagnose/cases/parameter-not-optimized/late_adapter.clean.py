"""Later in training an adapter is put into the network; the optimizer was made before."""
import torch
from torch import nn

torch.manual_seed(16)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(10, 10)
        self.adapter = None

    def forward(self, x):
        h = torch.tanh(self.lin(x))
        return h if self.adapter is None else h + self.adapter(h)


net = nn.Sequential(Block(), Block(), nn.Linear(10, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(60, 10)
y = x[:, :1].sin()
for step in range(60):
    if step == 15:
        for m in net.modules():
            if isinstance(m, Block):
                m.adapter = nn.Linear(10, 10)
                opt.add_param_group({"params": m.adapter.parameters()})
    loss = (net(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(step)
