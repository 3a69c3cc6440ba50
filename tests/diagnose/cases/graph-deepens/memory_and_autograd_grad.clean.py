"""The memory is cut off from what was written to it."""
import torch
from torch import nn

torch.manual_seed(44)


class MemoryNet(nn.Module):
    def __init__(self, d=6):
        super().__init__()
        self.write, self.read = nn.Linear(2 * d, d), nn.Linear(d, 1)
        self.memory = torch.zeros(1, d)

    def forward(self, x):
        new = torch.tanh(self.write(torch.cat([x, self.memory.expand(len(x), -1)], 1)))
        self.memory = 0.5 * self.memory + 0.5 * new.detach().mean(0, keepdim=True)
        return self.read(new)


net = MemoryNet()
for p in net.write.parameters():
    p.requires_grad_(False)
shift = nn.Parameter(torch.zeros(6))
opt = torch.optim.SGD([shift, *net.read.parameters()], lr=0.01)
params = opt.param_groups[0]["params"]
for _ in range(12):
    x = torch.randn(10, 6)
    loss = (net(x + shift)[:, 0] - x[:, 0]).square().mean()
    for p, g in zip(params, torch.autograd.grad(loss, params)):
        p.grad = g
    opt.step()
print(f"{loss.item():.3f}")
