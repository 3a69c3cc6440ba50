"""clipping by value, in a trainer class with hooks."""
import torch
from torch import nn


class Loop:
    def __init__(self, model, opt):
        self.model, self.opt = model, opt

    def before_step(self):
        pass

    def after_step(self):
        nn.utils.clip_grad_value_(self.model.parameters(), 0.5)  # EXPECT: clip-without-effect
        pass

    def one(self, x, y):
        self.opt.zero_grad()
        loss = nn.functional.mse_loss(self.model(x), y)
        loss.backward()
        self.before_step()
        self.opt.step()
        self.after_step()
        return loss.item()


torch.manual_seed(37)
model = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 2))
loop = Loop(model, torch.optim.SGD(model.parameters(), lr=0.05))
for i in range(50):
    x = torch.randn(12, 3)
    loop.one(x, x[:, :2] ** 2)
print("looped")
