"""Legitimate twin: the averages are updated under no_grad and are in the loss as constants."""
import torch
from torch import nn

torch.manual_seed(3)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 20)
        self.fc2 = nn.Linear(20, 3)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


x = torch.randn(200, 8)
y = x[:, :3].argmax(1)
model = MLP()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
average = {name: p.detach().clone() for name, p in model.named_parameters()}
for step in range(40):
    idx = torch.randint(0, 200, (32,))
    loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
    for name, p in model.named_parameters():
        with torch.no_grad():
            average[name] = average[name].lerp(p, 0.1)
        loss = loss + 0.01 * (p - average[name]).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print("step", step, "loss", round(loss.item(), 4))
