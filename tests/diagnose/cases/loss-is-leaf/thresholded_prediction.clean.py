"""Legitimate twin: the count is a metric; a Parameter is itself a backward root, for the ascent of a multiplier."""
import torch
from torch import nn

torch.manual_seed(46)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 12, batch_first=True)
        self.out = nn.Linear(12, 1)

    def forward(self, x):
        hidden, _ = self.rnn(x)
        return self.out(hidden[:, -1]).squeeze(1)


def error_rate(logits, target):
    decision = (torch.sigmoid(logits) > 0.5).float()
    return (decision - target).abs().mean()


x = torch.randn(120, 5, 3)
target = (x.sum((1, 2)) > 0).float()
model = Detector()
multiplier = nn.Parameter(torch.zeros(()))
opt = torch.optim.RMSprop(model.parameters(), lr=1e-2)
dual_opt = torch.optim.SGD([multiplier], lr=0.02, maximize=True)
for step in range(45):
    rows = torch.randperm(120)[:40]
    opt.zero_grad()
    logits = model(x[rows])
    bce = nn.functional.binary_cross_entropy_with_logits(logits, target[rows])
    spread = logits.pow(2).mean() - 4.0
    loss = bce + multiplier.detach() * spread
    loss.backward()
    opt.step()
    dual_opt.zero_grad()
    multiplier.backward(spread.detach())
    dual_opt.step()
    with torch.no_grad():
        multiplier.clamp_(min=0)
    if step % 15 == 0:
        print(step, "error", error_rate(logits, target[rows]).item(), "multiplier", multiplier.item())
