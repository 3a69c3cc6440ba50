"""A hypernetwork writes the weights of another net; the main net's weights are plain tensors."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(19)
hyper = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 3 * 4 + 4 + 4 + 1))
opt = torch.optim.Adam(hyper.parameters(), 3e-3)
for it in range(100):
    task = torch.rand(2)
    w = hyper(task)
    w1, b1, w2, b2 = w[:12].view(4, 3), w[12:16], w[16:20].view(1, 4), w[20:]
    x = torch.randn(16, 3)
    y = task[0] * x.sum(1, keepdim=True) + task[1]
    loss = F.mse_loss(F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
