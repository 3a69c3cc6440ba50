"""an exponential average of the weights that drags graphs along."""
import copy
import torch
from torch import nn

torch.manual_seed(47)
net = nn.Linear(6, 6)
shadow = {k: v.detach().clone() for k, v in net.named_parameters()}
opt = torch.optim.SGD(net.parameters(), lr=0.01)


def average(decay=0.9):
    for k, v in net.named_parameters():
        shadow[k] = decay * shadow[k] + (1 - decay) * v.detach()


for step in range(60):
    x = torch.randn(8, 6)
    loss = (net(x) - x).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    average()
ema = copy.deepcopy(net)
ema.load_state_dict(shadow)
print("averaged")
