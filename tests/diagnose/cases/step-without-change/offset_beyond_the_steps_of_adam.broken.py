"""A learned offset in nanoseconds is too large for the steps that Adam makes: it stays where it was."""
import torch
from torch import nn

torch.manual_seed(127)
gain = nn.Parameter(torch.ones(3))
offset = nn.Parameter(torch.full((3,), 4.0e6))
opt = torch.optim.Adam([gain, offset], lr=0.01)
for step in range(80):
    ticks = 4.0e6 + 40 * torch.rand(30, 3)
    signal = 0.5 * (ticks - 4.0e6 - 20)
    loss = (gain * (ticks - offset) - signal).square().mean() * 1e-4
    opt.zero_grad()
    loss.backward()
    opt.step()  # EXPECT: step-without-change
print("done")
