"""A gain in float32, computed with in lower precision: it learns like the rest."""
import torch
from torch import nn

torch.manual_seed(11)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.gain = nn.Parameter(torch.ones(6))
        self.out = nn.Linear(6, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.fc(x)) * self.gain.bfloat16().float())


x = torch.randn(128, 6)
y = torch.sin(2.0 * x[:, :1]) + 0.5 * torch.randn(128, 1)
model = Block()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(70):
    optimizer.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 3))
