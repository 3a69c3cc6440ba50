"""Must stay silent: LBFGS calls its closure many times per step; each call clears and fills the gradients."""
import torch
from torch import nn

torch.manual_seed(106)
x = torch.linspace(-3, 3, 80).unsqueeze(1)
y = torch.sin(x) + 0.1 * torch.randn_like(x)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=6, history_size=8, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss


for epoch in range(12):
    loss = optimizer.step(closure)
    if epoch % 3 == 2:
        print(epoch, round(loss.item(), 5))
