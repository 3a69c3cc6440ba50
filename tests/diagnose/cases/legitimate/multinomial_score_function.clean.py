"""Must stay silent: tokens are drawn by multinomial, embedded again, and learnt from by their log-probability."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(8)
gen, emb, reader = nn.GRUCell(6, 6), nn.Embedding(10, 6), nn.Linear(6, 1)
out = nn.Linear(6, 10)
opt = torch.optim.Adam([p for m in (gen, emb, reader, out) for p in m.parameters()], 1e-3)
baseline = 0.0
for _ in range(30):
    h, x, logp = torch.randn(16, 6), torch.zeros(16, 6), 0.0
    goal = h[:, :1].clone()
    for _ in range(3):
        h = gen(x, h)
        lp = F.log_softmax(out(h), 1)
        tok = torch.multinomial(lp.exp(), 1)
        logp = logp + lp.gather(1, tok).squeeze(1)
        x = emb(tok.squeeze(1))
    err = (reader(x) - goal).pow(2).squeeze(1)
    cost = err.detach()
    loss = err.mean() + ((cost - baseline) * logp).mean()
    baseline = 0.9 * baseline + 0.1 * cost.mean().item()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
