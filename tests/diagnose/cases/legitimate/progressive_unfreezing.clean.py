"""the trunk is frozen for twenty steps, then trained with a group that is added to the optimizer."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(108)
trunk, head = nn.Linear(6, 12), nn.Linear(12, 3)
trunk.requires_grad_(False)
opt = torch.optim.Adam(head.parameters(), lr=1e-2)
for step in range(60):
    if step == 20:
        trunk.requires_grad_(True)
        opt.add_param_group({"params": trunk.parameters(), "lr": 1e-3})
    x = torch.randn(24, 6)
    loss = F.cross_entropy(head(torch.relu(trunk(x))), x[:, :3].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
print("end")
