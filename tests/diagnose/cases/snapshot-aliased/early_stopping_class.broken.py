"""An EarlyStopping helper stores state_dict().copy(), a copy of the dictionary but not of the tensors."""
import torch
from torch import nn

torch.manual_seed(92)


class EarlyStopping:
    def __init__(self, patience=4):
        self.patience, self.bad, self.best, self.state = patience, 0, None, None

    def update(self, score, model):
        if self.best is None or score < self.best:
            self.best, self.bad = score, 0
            self.state = model.state_dict().copy()  # EXPECT: snapshot-aliased
        else:
            self.bad += 1
        return self.bad >= self.patience

    def restore(self, model):
        model.load_state_dict(self.state)  # ALSO: snapshot-aliased


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 12, batch_first=True)
        self.head = nn.Linear(12, 1)

    def forward(self, x):
        states, _ = self.gru(x)
        return self.head(states[:, -1])


def sample(n):
    phase = torch.rand(n, 1) * 6
    wave = torch.sin(phase + torch.linspace(0, 4, 9)) + 0.2 * torch.randn(n, 9)
    return wave[:, :8, None], wave[:, 8:]


model, stopper = Forecaster(), EarlyStopping()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
held_x, held_y = sample(40)
for step in range(60):
    x, y = sample(16)
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        score = nn.functional.mse_loss(model(held_x), held_y).item()
    if stopper.update(score, model):
        break
stopper.restore(model)
print("stopped at", step, "best", round(stopper.best, 4))
