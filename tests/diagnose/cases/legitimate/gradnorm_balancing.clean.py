"""Task weights from the norms of each task's gradient at the shared layer, updated by hand every step."""
import torch
import torch.nn as nn

torch.manual_seed(9)
shared = nn.Linear(5, 16)
heads = nn.ModuleList([nn.Linear(16, 1) for _ in range(2)])
opt = torch.optim.Adam([*shared.parameters(), *heads.parameters()], 1e-3)
weights = torch.ones(2)
first = None
for step in range(60):
    x = torch.randn(32, 5)
    targets = [x.sum(1, keepdim=True), 10 * x.prod(1, keepdim=True)]
    h = shared(x).tanh()
    losses = torch.stack([(head(h) - t).pow(2).mean() for head, t in zip(heads, targets)])
    if first is None:
        first = losses.detach()
    norms = torch.stack([torch.autograd.grad(w * l, shared.weight, retain_graph=True)[0].norm() for w, l in zip(weights, losses)])
    rate = (losses.detach() / first) ** 0.5
    goal = norms.mean() * rate / rate.mean()
    weights = (weights * (goal / (norms + 1e-8)).clamp(0.8, 1.25)).clamp(0.1, 10)
    weights = 2 * weights / weights.sum()
    opt.zero_grad()
    (weights * losses).sum().backward()
    opt.step()
print([round(w, 3) for w in weights.tolist()])
