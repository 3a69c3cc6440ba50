"""From epoch 20 on the logger's snapshot leaves recording off; the optimizer steps with what gradients there are."""
import torch
from torch import nn

torch.manual_seed(5)
x, y = torch.randn(320, 7), torch.randint(0, 3, (320,))
model = nn.Sequential(nn.Linear(7, 18), nn.ReLU(), nn.Linear(18, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.05)


class Logger:
    def __init__(self):
        self.norms = []

    def snapshot(self, model):
        torch.set_grad_enabled(False)
        total = torch.zeros(())
        for p in model.parameters():
            total += p.square().sum()
        self.norms.append(total.sqrt().item())
        torch.set_grad_enabled(True)


logger = Logger()
for epoch in range(40):
    for rows in torch.randperm(320).split(16):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        opt.zero_grad()
        if loss.requires_grad:
            loss.backward()
        opt.step()
    if epoch >= 19:
        logger.snapshot(model)
print(len(logger.norms))
