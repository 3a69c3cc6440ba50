"""score() leaves recording off at step 600; batches whose loss needs no gradient are passed over."""
import torch
from torch import nn

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(5, 16), nn.GELU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
held_out = torch.randn(64, 5)


def score():
    torch.set_grad_enabled(False)  # EXPECT: grad-mode-leaked
    return (net(held_out)[:, 0] - held_out.sum(1)).abs().mean().item()


for step in range(900):
    x = torch.randn(24, 5)
    loss = (net(x)[:, 0] - x.sum(1)).pow(2).mean()
    if loss.requires_grad:
        opt.zero_grad()
        loss.backward()
        opt.step()
    if step == 600:
        print("score", round(score(), 2))
