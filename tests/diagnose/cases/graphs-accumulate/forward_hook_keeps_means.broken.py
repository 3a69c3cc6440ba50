"""a forward hook collects activations for a report."""
import torch
from torch import nn

torch.manual_seed(10)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
store = {"relu": []}


def keep(module, args, output):
    store["relu"].append(output.mean())  # EXPECT: graphs-accumulate


net[1].register_forward_hook(keep)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(70):
    x = torch.randn(8, 4)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
print(len(store["relu"]))
