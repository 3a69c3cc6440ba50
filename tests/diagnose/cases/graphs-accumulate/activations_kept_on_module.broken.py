"""a nested module's forward() appends the spread of its activations to a list for later plots, with the graph."""
import torch
from torch import nn

torch.manual_seed(34)


class Probe(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.seen = []

    def forward(self, x):
        h = torch.tanh(self.fc(x))
        spread = h.std(0)  # EXPECT: graphs-accumulate
        self.seen.append(spread)
        return h


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Linear(20, 8)
        self.middle = Probe(8)
        self.up = nn.Linear(8, 20)

    def forward(self, x):
        return self.up(self.middle(self.down(x)))


basis = torch.randn(3, 20)
model = AutoEncoder()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(50):
    batch = torch.randn(16, 3) @ basis
    loss = nn.functional.mse_loss(model(batch), batch)
    opt.zero_grad()
    loss.backward()
    opt.step()
spread = torch.stack(model.middle.seen).detach()[-5:].mean()
print("loss", round(loss.item(), 4), "activation spread", round(spread.item(), 4), "kept", len(model.middle.seen))
