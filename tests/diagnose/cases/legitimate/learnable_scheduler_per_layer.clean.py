"""layer-wise rates, warm-up from zero and a head with its own group."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(105)
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 12), nn.ReLU(), nn.Linear(12, 2))
groups = [{"params": m.parameters(), "lr": 1e-3 * 2**i} for i, m in enumerate(m for m in net if isinstance(m, nn.Linear))]
opt = torch.optim.AdamW(groups)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, s / 10))
for _ in range(50):
    x = torch.randn(16, 6)
    loss = F.cross_entropy(net(x), (x[:, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    sched.step()
print("end")
