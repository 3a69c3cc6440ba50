"""Must stay silent: maml second order."""
import torch
from torch import nn
from torch.func import functional_call
torch.manual_seed(2)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for it in range(12):
    opt.zero_grad()
    for task in range(3):
        fast = dict(net.named_parameters())
        for _ in range(2):
            x = torch.rand(8, 1)
            loss = (functional_call(net, fast, (x,)) - torch.sin(x + task)).pow(2).mean()
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = {k: p - 0.1 * g for (k, p), g in zip(fast.items(), grads)}
        x = torch.rand(8, 1)
        outer = (functional_call(net, fast, (x,)) - torch.sin(x + task)).pow(2).mean()
        (outer / 3).backward()
    opt.step()
print("maml")
