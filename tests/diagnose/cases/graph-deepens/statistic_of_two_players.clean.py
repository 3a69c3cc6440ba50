"""Two gradients per round, of an actor and a critic, with one shared running statistic."""
import torch
from torch import nn

torch.manual_seed(71)
actor, critic = nn.Linear(5, 3), nn.Linear(5, 1)
oa, oc = torch.optim.SGD(actor.parameters(), lr=0.01), torch.optim.SGD(critic.parameters(), lr=0.01)
running = torch.zeros(())
for it in range(60):
    s = torch.randn(16, 5)
    v = critic(s)[:, 0]
    running = running + 0.05 * (v.mean().detach() - running)
    lc = (v - running - s[:, 0]).square().mean()
    la = -(actor(s).log_softmax(1)[:, 0] * (v - running).detach()).mean()
    for opt, net, loss in ((oc, critic, lc), (oa, actor, la)):
        for p, g in zip(net.parameters(), torch.autograd.grad(loss, list(net.parameters()))):
            p.grad = g
        opt.step()
print("ok")
