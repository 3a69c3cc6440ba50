"""Must stay silent: conditional computation two experts."""
import torch
from torch import nn
torch.manual_seed(46)
experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(4))
router = nn.Linear(4, 4)
opt = torch.optim.Adam([*experts.parameters(), *router.parameters()], 1e-2)
for _ in range(60):
    x = torch.randn(32, 4)
    w = router(x).softmax(1)
    top, idx = w.topk(1)
    out = torch.zeros_like(x)
    for i, e in enumerate(experts):
        m = idx.squeeze(1) == i
        if m.any():
            out[m] = top[m] * e(x[m])
    loss = (out - x.roll(1, 1)).pow(2).mean() + 0.01 * (w.mean(0) ** 2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("switch")
