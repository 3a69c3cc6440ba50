"""predict() detaches every output, but only after the graph was built: the forward itself should have been under no_grad."""
import torch
from torch import nn

torch.manual_seed(24)


class Ensemble(nn.Module):
    def __init__(self, members=3):
        super().__init__()
        self.members = nn.ModuleList(
            nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Dropout(0.1), nn.Linear(24, 1)) for _ in range(members))

    def forward(self, x):
        return torch.stack([member(x) for member in self.members]).mean(0)


class Regression:
    def __init__(self):
        self.model = Ensemble()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)

    def fit(self, x, y, steps=30):
        self.scale, self.shift = y.std(), y.mean()
        y = (y - self.shift) / self.scale
        self.model.train()
        for _ in range(steps):
            idx = torch.randint(0, len(x), (32,))
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x[idx]), y[idx]).backward()
            self.optimizer.step()

    def predict(self, x):
        self.model.eval()
        outputs = []
        for batch in x.split(16):
            out = self.model(batch) * self.scale + self.shift  # EXPECT: graph-built-unused
            outputs.append(out.detach())
        return torch.cat(outputs)


x = torch.randn(400, 6)
y = 5 * x[:, :1].sin() + x[:, 1:2] + 20
regression = Regression()
regression.fit(x[:160], y[:160])
print("test error", (regression.predict(x[160:]) - y[160:]).abs().mean().item())
print("one more", regression.model(x[:1]).item())
