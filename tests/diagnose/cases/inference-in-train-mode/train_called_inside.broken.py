"""eval() is undone by a reset of the model inside the evaluation loop."""
import torch
from torch import nn

torch.manual_seed(42)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 16, num_layers=2, dropout=0.4, batch_first=True)
        self.out = nn.Linear(16, 3)

    def reset(self):
        self.train()
        self.state = None
        return self

    def forward(self, x):
        h, self.state = self.gru(x, self.state)
        return self.out(h)


model = Recurrent()
opt = torch.optim.Adam(model.parameters(), 1e-2)
seq = torch.randn(12, 20, 3).cumsum(1) / 5


def evaluate():
    model.eval()
    model.reset()
    with torch.no_grad():
        loss = (model(seq[8:, :-1]) - seq[8:, 1:]).pow(2).mean()  # EXPECT: inference-in-train-mode
    model.train()
    return loss.item()


for epoch in range(8):
    for part in seq[:8].split(4):
        model.reset()
        loss = (model(part[:, :-1]) - part[:, 1:]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    v = evaluate()
print(v > 0)
