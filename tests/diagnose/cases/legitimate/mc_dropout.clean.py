"""Must stay silent: Monte-Carlo dropout samples predictions in train mode without gradients, on purpose."""
import torch
from torch import nn

torch.manual_seed(117)
model = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Dropout(0.2), nn.Linear(48, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.rand(120, 1) * 4 - 2
y = x.pow(3) * 0.2 + 0.1 * torch.randn_like(x)
for step in range(60):
    rows = torch.randint(0, 120, (30,))
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def predict_with_uncertainty(model, points, samples=30):
    model.train()
    with torch.no_grad():
        draws = torch.stack([model(points) for _ in range(samples)])
    return draws.mean(0), draws.std(0)


mean, spread = predict_with_uncertainty(model, torch.linspace(-3, 3, 7).unsqueeze(1))
print("loss", round(loss.item(), 4), "spread", [round(s, 3) for s in spread.flatten().tolist()])
