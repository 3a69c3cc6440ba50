"""Must stay silent: expand targets pairwise."""
import torch
from torch import nn
torch.manual_seed(37)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), 0.05)
x = torch.randn(20, 4)
rank = x.sum(1)
for _ in range(20):
    s = net(x).squeeze(1)
    diff = s[:, None] - s[None, :]
    want = (rank[:, None] > rank[None, :]).float()
    loss = nn.functional.binary_cross_entropy_with_logits(diff, want)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("ranknet")
