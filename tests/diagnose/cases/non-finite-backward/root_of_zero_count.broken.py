"""The p-th root of a count that is zero for some rows."""
import torch
import torch.nn as nn

torch.manual_seed(1)
w = nn.Parameter(torch.rand(5))
opt = torch.optim.SGD([w], 1e-2)
for step in range(25):
    counts = torch.randint(0, 3, (32, 5)).float()
    counts[step % 32] = 0
    s = (counts * w.abs()).sum(1)
    r = s ** (1 / 3)  # EXPECT: non-finite-backward
    loss = (r - counts.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()  # MAY: non-finite-forward
print("done")
