"""Each head's loss is propagated on its own through the shared trunk; the graph is kept for all of them."""
import torch
import torch.nn as nn

torch.manual_seed(2)
trunk, heads = nn.Linear(5, 16), nn.ModuleList([nn.Linear(16, 1) for _ in range(3)])
opt = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], 5e-3)
for step in range(40):
    x = torch.randn(32, 5)
    h = torch.relu(trunk(x))
    opt.zero_grad()
    for i, head in enumerate(heads):
        loss = (head(h)[:, 0] - x[:, i]).pow(2).mean()
        loss.backward(retain_graph=True)
    opt.step()
print(round(loss.item(), 2) >= 0)
