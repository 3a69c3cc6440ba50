"""Must stay silent: hooks that edit gradients: masked weights, noise, and a clamp on an activation's gradient."""
import torch
from torch import nn

torch.manual_seed(174)


class Masked(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        mask = (torch.rand(outputs, inputs) < 0.6).float()
        with torch.no_grad():
            self.linear.weight.mul_(mask)
        self.linear.weight.register_hook(lambda grad: grad * mask)

    def forward(self, x):
        return self.linear(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Masked(8, 24), nn.Linear(24, 2)
        self.second.bias.register_hook(lambda grad: grad + 0.001 * torch.randn_like(grad))

    def forward(self, x):
        h = torch.relu(self.first(x))
        if h.requires_grad:
            h.register_hook(lambda grad: torch.nan_to_num(grad).clamp(-0.05, 0.05))
        return self.second(h)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
for step in range(50):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > x[:, 1]).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4), "kept weights", int((model.first.linear.weight != 0).sum()))
