"""A later stage subtracts a row from a column."""
import torch
from torch import nn

torch.manual_seed(209)
trunk = nn.Sequential(nn.Linear(5, 20), nn.SiLU())
heads = nn.ModuleDict({"a": nn.Linear(20, 2), "b": nn.Linear(20, 1)})
opt = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=1e-3)


def stage_a(x):
    return nn.functional.mse_loss(heads["a"](trunk(x)), x[:, :2])


def stage_b(x):
    value = x.pow(2).sum(1)
    return (heads["b"](trunk(x)) - value).pow(2).mean()  # EXPECT: loss-broadcast


plan = [stage_a] * 310 + [stage_b] * 150
for stage in plan:
    opt.zero_grad()
    loss = stage(torch.randn(24, 5))
    loss.backward()
    opt.step()
print(loss.item())
