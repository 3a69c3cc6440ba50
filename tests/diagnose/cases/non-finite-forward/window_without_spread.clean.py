"""Twin: eps in the denominator."""
import torch
from torch import nn

torch.manual_seed(43)
series = torch.cumsum(torch.randn(500), 0) * 0.1
series[300:340] = series[300]


class Normalised(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.lin = nn.Linear(window, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, w):
        mu = w.mean(1, keepdim=True)
        sd = w.std(1, keepdim=True)
        z = (w - mu) / (sd + 1e-3)
        return self.out(torch.tanh(self.lin(z)))


model = Normalised(10)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for start in range(0, 480, 8):
    rows = torch.stack([series[s : s + 11] for s in range(start, start + 8)])
    step_up = (rows[:, 10:] - rows[:, 9:10]) * 5
    loss = nn.functional.mse_loss(model(rows[:, :10]), step_up)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("loss", loss.item())
