"""the last states are averaged, but all of them are the live weights"""
import torch
from torch import nn

torch.manual_seed(406)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), 0.05)
states = []
for epoch in range(40):
    x = torch.randn(32, 5)
    opt.zero_grad()
    (net(x)[:, 0] - x[:, 0]).square().mean().backward()
    opt.step()
    if epoch >= 30:
        states.append(net.state_dict())  # EXPECT: snapshot-aliased
net.load_state_dict({k: torch.stack([s[k] for s in states]).mean(0) for k in states[0]})
print(net[0].weight.mean().item())
