"""Legitimate twin: the context is the mean of the detached output."""
import torch
from torch import nn

torch.manual_seed(31)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 5)
        self.context = torch.zeros(5)

    def forward(self, x):
        return self.fc(x) + self.context


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(self, x):
        out = self.model(x)
        loss = (out - x.sum(1, keepdim=True)).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.model.context = 0.5 * out.detach().mean(0)
        return loss.item()


trainer = Trainer(Model())
for step in range(30):
    loss = trainer.step(torch.randn(6, 3))
print("loss", round(loss, 4))
