"""The loss of the validation, under no_grad, compares a column with a row."""
import torch
from torch import nn

torch.manual_seed(14)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
mse = nn.MSELoss()
xs = torch.randn(300, 4)
ys = xs.prod(1)
train, val = slice(0, 240), slice(240, 300)


def validate():
    model.eval()
    with torch.no_grad():
        pred = model(xs[val])
        error = mse(pred, ys[val])  # EXPECT: loss-broadcast
    model.train()
    return error.item()


for step in range(400):
    opt.zero_grad()
    loss = mse(model(xs[train]).squeeze(1), ys[train])
    loss.backward()
    opt.step()
    if step % 130 == 129:
        print(step, loss.item(), validate())
