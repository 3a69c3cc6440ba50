"""the loss counts wrong decisions (prob > 0.5), has no history, and requires_grad_() makes backward() run."""
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
    decision = (torch.sigmoid(logits) > 0.5).float()  # ALSO: loss-is-leaf
    return (decision - target).abs().mean()


x = torch.randn(120, 5, 3)
target = (x.sum((1, 2)) > 0).float()
model = Detector()
opt = torch.optim.RMSprop(model.parameters(), lr=1e-2)
for step in range(45):
    rows = torch.randperm(120)[:40]
    opt.zero_grad()
    loss = error_rate(model(x[rows]), target[rows])
    loss.requires_grad_()  # EXPECT: loss-is-leaf
    loss.backward()
    opt.step()  # MAY: step-without-gradient
    if step % 15 == 0:
        print(step, "error", loss.item())
