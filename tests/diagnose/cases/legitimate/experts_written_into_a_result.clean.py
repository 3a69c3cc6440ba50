"""Must stay silent: mixture of experts with top-1 routing, a load-balancing loss and an auxiliary z-loss."""
import torch
from torch import nn

torch.manual_seed(7)


class MoE(nn.Module):
    def __init__(self, d=8, n=4):
        super().__init__()
        self.router = nn.Linear(d, n)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(d, 16), nn.GELU(), nn.Linear(16, d)) for _ in range(n))

    def forward(self, x):
        logits = self.router(x)
        p = logits.softmax(-1)
        top, idx = p.max(-1)
        out = torch.zeros_like(x)
        for i, e in enumerate(self.experts):
            m = idx == i
            if m.any():
                out[m] = top[m].unsqueeze(1) * e(x[m])
        frac = torch.nn.functional.one_hot(idx, len(self.experts)).float().mean(0)
        return out, (frac * p.mean(0)).sum() * len(self.experts), logits.logsumexp(-1).pow(2).mean()


net, head = MoE(), nn.Linear(8, 3)
opt = torch.optim.AdamW([*net.parameters(), *head.parameters()], lr=3e-3)
for _ in range(80):
    x = torch.randn(24, 8)
    h, balance, z = net(x)
    loss = nn.functional.cross_entropy(head(x + h), x[:, :3].argmax(1)) + 0.01 * balance + 1e-3 * z
    opt.zero_grad()
    loss.backward()
    opt.step()
print("routed")
