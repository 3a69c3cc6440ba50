"""after training, one single pass per test point is taken as the prediction while dropout is still sampling."""
import torch
from torch import nn

torch.manual_seed(13)


class UncertainRegressor(nn.Module):
    def __init__(self, p=0.15):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Dropout(p), nn.Linear(40, 40), nn.Tanh(), nn.Dropout(p))
        self.out = nn.Linear(40, 1)

    def forward(self, x):
        return self.out(self.net(x))


def fit(model, x, y, steps=80):
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(steps):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def predict(model, x):
    with torch.no_grad():
        return model(x)  # EXPECT: inference-in-train-mode


x = torch.rand(64, 1) * 4 - 2
y = torch.sin(2 * x) + 0.1 * torch.randn(64, 1)
model = UncertainRegressor()
print("training loss", round(fit(model, x, y), 4))
grid = torch.linspace(-3, 3, 13).unsqueeze(1)
print("prediction", [round(v, 2) for v in predict(model, grid).flatten().tolist()])
