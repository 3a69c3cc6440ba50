"""Must stay silent: gumbel annealed temperature."""
import math
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(12)
enc, dec = nn.Linear(10, 6), nn.Linear(6, 10)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], 1e-2)
x = torch.eye(10)
for step in range(60):
    tau = max(0.5, math.exp(-0.01 * step))
    z = F.gumbel_softmax(enc(x), tau=tau, hard=True)
    loss = F.cross_entropy(dec(z), torch.arange(10))
    opt.zero_grad()
    loss.backward()
    opt.step()
print("gumbel")
