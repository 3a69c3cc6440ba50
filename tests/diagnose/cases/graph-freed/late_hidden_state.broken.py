"""From the second epoch on the hidden state is no longer detached."""
import torch
import torch.nn as nn

torch.manual_seed(6)
cell, out = nn.GRUCell(3, 8), nn.Linear(8, 1)
opt = torch.optim.SGD([*cell.parameters(), *out.parameters()], 1e-2)
h = torch.zeros(4, 8)
for step in range(260):
    x = torch.randn(4, 3)
    h = cell(x, h if step >= 250 else h.detach())  # EXPECT-ERROR: graph-freed
    loss = (out(h) - x[:, :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("done")
