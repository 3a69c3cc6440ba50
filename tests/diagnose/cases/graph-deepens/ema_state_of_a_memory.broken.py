"""a memory bank updated by a running average of features, kept with its graph and used in the loss."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(48)
enc = nn.Linear(6, 4)
opt = torch.optim.SGD(enc.parameters(), lr=0.05)
memory = torch.zeros(4)
for step in range(25):
    x = torch.randn(16, 6)
    feat = enc(x).mean(0)
    memory = 0.8 * memory + 0.2 * feat  # EXPECT: graph-deepens
    loss = (memory - 1).pow(2).sum()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    with torch.no_grad():
        for p in enc.parameters():
            p.data = p.data - 0.05 * p.grad
print("end")
