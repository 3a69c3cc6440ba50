"""a hypernetwork writes the weights of a small net through functional_call."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

torch.manual_seed(111)
small = nn.Linear(3, 2)
for p in small.parameters():
    p.requires_grad_(False)
hyper = nn.Linear(4, 8)
opt = torch.optim.Adam(hyper.parameters(), lr=1e-2)
for _ in range(50):
    task, x = torch.randn(4), torch.randn(16, 3)
    w = hyper(task)
    out = functional_call(small, {"weight": w[:6].view(2, 3), "bias": w[6:]}, (x,))
    loss = F.mse_loss(out, x[:, :2] * task[:2])
    opt.zero_grad()
    loss.backward()
    opt.step()
print("end")
