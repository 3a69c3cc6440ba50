"""Must stay silent: tbptt detach."""
import torch
from torch import nn
torch.manual_seed(21)
rnn, out = nn.LSTM(2, 12), nn.Linear(12, 2)
opt = torch.optim.Adam([*rnn.parameters(), *out.parameters()], 5e-3)
seq = torch.randn(200, 4, 2).cumsum(0) / 10
state = None
for i in range(0, 190, 10):
    chunk, nxt = seq[i : i + 10], seq[i + 1 : i + 11]
    h, state = rnn(chunk, state)
    state = tuple(s.detach() for s in state)
    loss = (out(h) - nxt).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("tbptt")
