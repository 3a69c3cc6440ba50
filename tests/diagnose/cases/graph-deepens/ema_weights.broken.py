"""The averaged weights are part of the loss and are averaged with recording on."""
import torch
from torch import nn

torch.manual_seed(36)
net = nn.Linear(5, 5)
opt = torch.optim.SGD(net.parameters(), lr=0.02)
anchor = {n: p.detach().clone() for n, p in net.named_parameters()}
x = torch.randn(50, 5)
for step in range(20):
    pull = sum((p - anchor[n]).pow(2).sum() for n, p in net.named_parameters())
    loss = (net(x) - x.flip(0)).pow(2).mean() + 0.1 * pull
    opt.zero_grad()
    loss.backward(retain_graph=True)  # MAY: graph-retained-unused
    for n, p in net.named_parameters():
        anchor[n] = anchor[n] + 0.01 * (p.clone() - anchor[n])  # EXPECT: graph-deepens
    opt.step()
print(step)
