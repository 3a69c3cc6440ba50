"""step() slipped out of the batch loop: every batch is cleared unused, only the last one of an epoch counts."""
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
optimizer = torch.optim.Adagrad(model.parameters(), lr=1e-2)
for epoch in range(8):
    for rows in torch.randperm(130).split(13):
        optimizer.zero_grad()  # EXPECT: gradient-discarded
        loss = mse(model(inputs[rows]), targets[rows])
        loss.backward()  # ALSO: gradient-discarded
    optimizer.step()
    print("epoch", epoch, "loss", round(loss.item(), 4))
