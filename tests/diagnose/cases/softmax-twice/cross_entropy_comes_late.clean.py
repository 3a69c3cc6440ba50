"""The same with logits."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(7)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 4))

    def forward(self, x):
        return F.softmax(self.net(x), dim=-1)

    def logits(self, x):
        return self.net(x)


model = Classifier()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
rule = torch.randn(6, 4)
for step in range(900):
    x = torch.randn(32, 6)
    y = (x @ rule).argmax(1)
    opt.zero_grad()
    if step < 600:
        loss = F.mse_loss(model(x), F.one_hot(y, 4).float())
    else:
        loss = F.cross_entropy(model.logits(x), y)
    loss.backward()
    opt.step()
print("finished")
