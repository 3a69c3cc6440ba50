"""Must stay silent: the loss retains its graph at every step for a penalty that goes through it at every eighth."""
import torch
from torch import nn

torch.manual_seed(57)
encoder, head = nn.Sequential(nn.Linear(5, 12), nn.Tanh()), nn.Linear(12, 1)
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-2)
for step in range(50):
    x = torch.randn(16, 5)
    h = encoder(x)
    loss = (head(h) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    if step % 8 == 7:
        (0.01 * h.pow(2).mean()).backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
