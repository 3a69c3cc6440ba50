"""Legitimate twin: validate() remembers the mode it found and restores it."""
import torch
from torch import nn

torch.manual_seed(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 8, 3, padding=1)
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).mean(2))


def validate(model, x, y):
    model.eval()
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    accuracy = (model(x).argmax(1) == y).float().mean().item()
    torch.set_grad_enabled(before)
    model.train()
    return accuracy


x = torch.randn(240, 2, 10)
y = (x[:, 0].mean(1) > 0).long() + (x[:, 1].mean(1) > 0).long()
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(4):
    for idx in torch.randperm(200).split(20):
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "loss", round(loss.item(), 4), "accuracy", validate(model, x[200:], y[200:]))
