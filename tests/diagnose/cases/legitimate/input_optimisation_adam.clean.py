"""Must stay silent: activation maximisation; a trained classifier's input is optimised, the weights collect unused gradients."""
import torch
from torch import nn

torch.manual_seed(173)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(40):
    x = torch.randn(32, 12)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
dream = torch.zeros(1, 12, requires_grad=True)
dream_optimizer = torch.optim.Adam([dream], lr=0.05)
for step in range(40):
    dream_optimizer.zero_grad()
    objective = -model(dream)[0, 1] + 0.05 * dream.pow(2).sum()
    objective.backward()
    dream_optimizer.step()
print("loss", round(loss.item(), 4), "dream", dream.detach().argmax().item())
