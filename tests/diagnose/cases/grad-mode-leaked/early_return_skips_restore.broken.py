"""evaluate() restores recording on its last line, but returns early when the loss is good enough."""
import torch
from torch import nn

torch.manual_seed(13)


def evaluate(model, batches, good_enough=5.0):
    torch.set_grad_enabled(False)  # EXPECT-ERROR: grad-mode-leaked
    total = 0.0
    for seq, target in batches:
        total += nn.functional.mse_loss(model(seq), target).item()
    mean = total / len(batches)
    if mean < good_enough:
        return mean
    print("still bad:", mean)
    torch.set_grad_enabled(True)
    return mean


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(1, 12, batch_first=True)
        self.out = nn.Linear(12, 1)

    def forward(self, seq):
        return self.out(self.rnn(seq)[0][:, -1])


t = torch.arange(60).float()
series = torch.sin(t / 4).unfold(0, 11, 1).unsqueeze(-1)
batches = list(zip(series[:, :10].split(10), series[:, 10].split(10)))
model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for seq, target in batches[:4]:
        opt.zero_grad()
        nn.functional.mse_loss(model(seq), target).backward()
        opt.step()
    print("epoch", epoch, "validation", round(evaluate(model, batches[4:]), 4))
