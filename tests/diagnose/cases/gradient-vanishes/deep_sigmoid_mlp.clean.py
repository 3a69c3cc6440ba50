"""Legitimate twin: as many layers with residual connections and tanh; every layer gets a gradient."""
import torch
from torch import nn

torch.manual_seed(41)


class DeepNet(nn.Module):
    def __init__(self, width=16, depth=14):
        super().__init__()
        self.inp = nn.Linear(6, width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.out = nn.Linear(width, 3)

    def forward(self, x):
        x = torch.tanh(self.inp(x))
        for layer in self.hidden:
            x = x + 0.3 * torch.tanh(layer(x))
        return self.out(x)


x = torch.randn(240, 6)
y = x[:, :3].argmax(1)
model = DeepNet()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(90):
    batch = torch.randint(0, 240, (32,))
    loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 29:
        first, last = model.inp.weight.grad.norm(), model.out.weight.grad.norm()
        print(step, round(loss.item(), 4), "first/last", (first / last).item())
