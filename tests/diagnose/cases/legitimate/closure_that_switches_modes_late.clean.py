"""after a long training with Adam LBFGS refines it: its closure, called again and again in each step, looks at a score in eval mode now and then."""
import torch
from torch import nn

torch.manual_seed(317)
surface = nn.Sequential(nn.Linear(2, 9), nn.Softplus(), nn.Linear(9, 1))
points = torch.rand(48, 2)
height = (4 * points[:, :1]).cos() * points[:, 1:]
rough = torch.optim.Adam(surface.parameters(), lr=0.01)
for _ in range(310):
    rough.zero_grad()
    nn.functional.mse_loss(surface(points), height).backward()
    rough.step()

fine = torch.optim.LBFGS(surface.parameters(), max_iter=14, history_size=6, line_search_fn="strong_wolfe")
scores = []


def closure():
    fine.zero_grad()
    loss = nn.functional.mse_loss(surface(points), height)
    loss.backward()
    if len(scores) < 9 and loss.item() < 1.0:
        surface.eval()
        with torch.no_grad():
            scores.append((surface(points) - height).abs().max().item())
        surface.train()
    return loss


for _ in range(12):
    loss = fine.step(closure)
print(len(scores), loss.item() < 1.0)
