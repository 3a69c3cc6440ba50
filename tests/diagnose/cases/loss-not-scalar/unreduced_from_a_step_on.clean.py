"""It is reduced there, too."""
import torch
from torch import nn

torch.manual_seed(104)
net = nn.Linear(5, 3)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
plain = nn.CrossEntropyLoss()
weighted = nn.CrossEntropyLoss(reduction="none")
for step in range(330):
    x = torch.randn(8, 5)
    y = x[:, :3].argmax(1)
    if step < 300:
        loss = plain(net(x), y)
    else:
        loss = weighted(net(x), y).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
