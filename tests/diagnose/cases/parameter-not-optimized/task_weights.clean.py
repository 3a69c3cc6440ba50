"""The weights of the tasks are given to the optimizer with the model's parameters."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(10)
trunk = nn.Sequential(nn.Linear(8, 24), nn.ReLU())
heads = nn.ModuleDict({"depth": nn.Linear(24, 1), "label": nn.Linear(24, 3)})
log_variances = nn.Parameter(torch.zeros(2))
model = nn.ModuleList([trunk, heads])
optimizer = torch.optim.SGD([*model.parameters(), log_variances], lr=0.02, momentum=0.9)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)

x = torch.randn(60, 8)
loader = DataLoader(TensorDataset(x, x[:, :1] ** 2, x[:, :3].argmax(1)), batch_size=15)


def losses(batch: torch.Tensor, depth: torch.Tensor, label: torch.Tensor) -> dict[str, torch.Tensor]:
    h = trunk(batch)
    return {
        "depth": nn.functional.mse_loss(heads["depth"](h), depth),
        "label": nn.functional.cross_entropy(heads["label"](h), label),
    }


for epoch in range(6):
    for batch in loader:
        parts = torch.stack(list(losses(*batch).values()))
        total = (torch.exp(-log_variances) * parts + log_variances).sum()
        optimizer.zero_grad()
        log_variances.grad = None
        total.backward()
        optimizer.step()
    scheduler.step()
print("total", total.item(), "log variances", log_variances.tolist())
