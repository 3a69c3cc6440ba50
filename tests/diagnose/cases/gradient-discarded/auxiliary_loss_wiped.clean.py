"""Legitimate twin: a saliency map of the inputs is taken every step and its by-product in the weights is cleared."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(17)


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(5, 16, batch_first=True)
        self.length = nn.Linear(16, 1)
        self.label = nn.Linear(16, 3)

    def forward(self, x):
        _, h = self.gru(x)
        return self.length(h[-1]).squeeze(1), self.label(h[-1])


model = MultiTask()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
x = torch.randn(90, 6, 5)
length, label = x.abs().sum((1, 2)) / 10, x[:, 0, :3].argmax(1)


def saliency(batch):
    probe = batch.clone().requires_grad_()
    model(probe)[1].max(1).values.sum().backward()
    model.zero_grad()
    return probe.grad.abs().mean((0, 1))


for it in range(40):
    rows = torch.randperm(90)[:30]
    focus = saliency(x[rows])
    guess, logits = model(x[rows])
    loss_length = F.smooth_l1_loss(guess, length[rows])
    loss_label = F.cross_entropy(logits, label[rows])
    opt.zero_grad()
    (loss_length + loss_label).backward()
    opt.step()
    if it % 10 == 0:
        print(it, round(loss_length.item(), 4), round(loss_label.item(), 4))
print("focus", focus)
