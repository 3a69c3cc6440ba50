"""Legitimate twin: the unowned module is a teacher, which only moves as a running average of the student."""
import copy
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(73)


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.GRU(3, 10, batch_first=True)
        self.bridge = nn.Linear(10, 14)
        self.decoder = nn.Linear(14, 3)

    def forward(self, x):
        _, h = self.encoder(x)
        return self.decoder(torch.tanh(self.bridge(h[-1])))


model = Seq2Seq()
teacher = copy.deepcopy(model)
parts = (model.encoder, model.bridge, model.decoder)
optimizers = [torch.optim.Adam(part.parameters(), lr=5e-3) for part in parts]
x = torch.randn(100, 6, 3).cumsum(1)
for it in range(50):
    rows = torch.randint(0, 100, (25,))
    guess = model(x[rows, :5])
    loss = F.smooth_l1_loss(guess, x[rows, 5])
    with torch.no_grad():
        steady = teacher(x[rows, :5])
    loss = loss + 0.1 * F.mse_loss(guess, steady)
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    with torch.no_grad():
        for old, new in zip(teacher.parameters(), model.parameters()):
            old.lerp_(new, 0.05)
    if it % 10 == 9:
        print(it, "loss", round(loss.item(), 4))
