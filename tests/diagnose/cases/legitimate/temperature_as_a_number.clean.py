"""The temperature of an actor-critic is a number in the actor's loss, and learns from a loss of its own; the sum is differentiated."""
import torch
from torch import nn

torch.manual_seed(89)
actor, log_alpha = nn.Linear(4, 3), nn.Parameter(torch.zeros(()))
opt = torch.optim.Adam([*actor.parameters(), log_alpha], lr=5e-3)
for step in range(60):
    s = torch.randn(32, 4)
    logp = actor(s).log_softmax(1)
    entropy = -(logp.exp() * logp).sum(1).mean()
    alpha = log_alpha.exp().item()
    loss = -(logp.exp() * s[:, :3]).sum(1).mean() - alpha * entropy + log_alpha * (entropy.detach() - 0.8)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print("alpha", round(log_alpha.item(), 1) > -9)
