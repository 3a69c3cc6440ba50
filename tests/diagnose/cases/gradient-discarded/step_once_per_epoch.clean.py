"""Legitimate twin: a learning-rate finder on a copy of the model, which is thrown away with its gradients, then ordinary training."""
import copy
import torch
from torch import nn

torch.manual_seed(40)


class Forecaster(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.rnn = nn.RNN(1, hidden, batch_first=True)
        self.read = nn.Linear(hidden, 1)

    def forward(self, series):
        out, _ = self.rnn(series)
        return self.read(out[:, -1])


t = torch.arange(140) * 0.2
wave = torch.sin(t) + 0.05 * torch.randn(140)
windows = wave.unfold(0, 11, 1).unsqueeze(2)
inputs, targets = windows[:, :10], windows[:, 10]
model = Forecaster()
mse = nn.MSELoss()


def find_lr(model):
    trial = copy.deepcopy(model)
    best = (float("inf"), None)
    for lr in (1e-4, 1e-3, 1e-2):
        opt = torch.optim.Adagrad(trial.parameters(), lr=lr)
        for rows in torch.arange(60).split(20):
            opt.zero_grad()
            loss = mse(trial(inputs[rows]), targets[rows])
            loss.backward()
            opt.step()
        best = min(best, (loss.item(), lr))
    return best[1]


optimizer = torch.optim.Adagrad(model.parameters(), lr=find_lr(model))
for epoch in range(8):
    for rows in torch.randperm(130).split(13):
        optimizer.zero_grad()
        loss = mse(model(inputs[rows]), targets[rows])
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "loss", round(loss.item(), 4))
