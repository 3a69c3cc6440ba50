"""Legitimate twin: biases start at -0.5, so activations are sparse but alive."""
import torch
from torch import nn

torch.manual_seed(61)


class Mlp(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.fc1 = nn.Linear(8, hidden)
        self.fc2 = nn.Linear(hidden, 3)
        nn.init.constant_(self.fc1.bias, -0.5)

    def forward(self, x):
        h = torch.relu(self.fc1(x))
        return self.fc2(h)


x = torch.randn(300, 8)
y = x[:, :3].argmax(1)
model = Mlp()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(100):
    rows = torch.randint(0, 300, (32,))
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 24:
        print(step, round(loss.item(), 4))
