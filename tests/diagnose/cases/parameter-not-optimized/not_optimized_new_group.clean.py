"""A head for a new task is added to the model while training goes on; the optimizer never hears of it."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)
body = nn.Linear(6, 16)
heads = nn.ModuleDict({"a": nn.Linear(16, 2)})
opt = torch.optim.Adam([*body.parameters(), *heads.parameters()], 1e-2)
for step in range(80):
    if step == 30:
        heads["b"] = nn.Linear(16, 2)
        opt.add_param_group({"params": heads["b"].parameters()})
    x = torch.randn(32, 6)
    h = body(x).relu()
    loss = sum(F.cross_entropy(head(h), (x[:, i] > 0).long()) for i, head in enumerate(heads.values()))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(round(loss.item(), 3))
