"""Parameters that nothing is computed from: they are asked for their device. One is empty, the other is called a dummy."""
import torch
from torch import nn

torch.manual_seed(15)


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.out, self.dummy = nn.Linear(8, 1), nn.Parameter(torch.zeros(1))

    def forward(self, h):
        return self.out(h + torch.zeros(1, device=self.dummy.device))


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.LSTMCell(1, 8), Head()
        self.where = nn.Parameter(torch.empty(0))

    def forward(self, x):
        h = c = torch.zeros(len(x), 8).to(self.where.device)
        outputs = []
        for x_t in x.split(1, dim=1):
            h, c = self.cell(x_t, (h, c))
            outputs.append(self.head(h))
        return torch.cat(outputs, dim=1)


net = Sequence()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(40):
    x = torch.sin(torch.rand(8, 1) * 6 + torch.linspace(0, 3, 12))
    loss = nn.functional.mse_loss(net(x[:, :-1]), x[:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
