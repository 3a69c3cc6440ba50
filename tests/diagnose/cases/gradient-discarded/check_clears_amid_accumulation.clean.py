"""The validation routine clears gradients in the middle of an accumulation window."""
import torch
from torch import nn

torch.manual_seed(86)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
x = torch.randn(240, 6)
y = x[:, :1] * x[:, 1:2]


def quick_check():
    model.eval()
    with torch.no_grad():
        v = nn.functional.mse_loss(model(x[:20]), y[:20]).item()
    model.train()
    return v


for epoch in range(3):
    for i, idx in enumerate(torch.randperm(240).split(10)):
        loss = nn.functional.mse_loss(model(x[idx]), y[idx]) / 4
        loss.backward()
        if i % 4 == 2:
            quick_check()
        if i % 4 == 3:
            opt.step()
            opt.zero_grad()
print(loss.item())
