"""set_mode() is called with False after hundreds of steps and never again with True; the layer depends on self.training by hand."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(64)


class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(5, 16), nn.Linear(16, 1)

    def forward(self, x):
        if self.training:
            x = x + 0.2 * torch.randn_like(x)
        return self.fc2(torch.tanh(self.fc1(x)))


def set_mode(model, training):
    model.train(training)  # EXPECT: training-in-eval-mode


def fit(steps):
    for _ in range(steps):
        rows = torch.randint(0, 100, (16,))
        loss = F.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # ALSO: training-in-eval-mode
    return loss.item()


x = torch.randn(120, 5)
y = x.sum(1, keepdim=True).sin()
model = Noisy()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
set_mode(model, True)
print("first", fit(420))
set_mode(model, False)
with torch.no_grad():
    print("held out", F.mse_loss(model(x[100:]), y[100:]).item())
print("second", fit(80))
