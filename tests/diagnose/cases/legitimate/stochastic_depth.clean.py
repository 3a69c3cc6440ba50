"""Must stay silent: residual blocks are left out at random in training and all used, scaled, in evaluation."""

import torch
from torch import nn

torch.manual_seed(60)


class DropPath(nn.Module):
    def __init__(self, block, survival):
        super().__init__()
        self.block, self.survival = block, survival

    def forward(self, x):
        if self.training:
            return x + self.block(x) if torch.rand(()) < self.survival else x
        return x + self.survival * self.block(x)


def block(width):
    return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))


width, depth = 12, 6
net = nn.Sequential(
    nn.Linear(7, width),
    *[DropPath(block(width), 1 - 0.6 * i / depth) for i in range(1, depth + 1)],
    nn.Linear(width, 1),
)
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=60)
x = torch.randn(120, 7)
y = (x[:, :2].prod(1, keepdim=True)).tanh()
for step in range(60):
    net.train()
    rows = torch.randint(0, 90, (24,))
    loss = nn.functional.huber_loss(net(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 20 == 19:
        net.eval()
        with torch.inference_mode():
            print(step, nn.functional.huber_loss(net(x[90:]), y[90:]).item())
