"""Must stay silent: a hypernetwork makes all weights of the main network; functional_call."""
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(1)
main = nn.Linear(3, 2)
shapes = {k: v.shape for k, v in main.named_parameters()}
hyper = nn.Linear(5, sum(s.numel() for s in shapes.values()))
opt = torch.optim.Adam(hyper.parameters(), lr=1e-2)
for _ in range(50):
    code = torch.randn(5)
    flat, weights, at = hyper(code), {}, 0
    for k, s in shapes.items():
        weights[k] = flat[at : at + s.numel()].view(s)
        at += s.numel()
    x = torch.randn(8, 3)
    loss = (functional_call(main, weights, (x,)) - code[:2]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("generated")
